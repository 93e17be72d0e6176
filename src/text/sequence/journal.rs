//! Undoing the local edits of an update that fails.
//!
//! Rule: between [`Sequence::begin`] and [`Sequence::settle`] every local edit leaves behind
//! what takes it back; [`Sequence::rollback`] does so in reverse order. Nothing may be
//! absorbed meanwhile. Space and time: O(size of the update), a log n a run.

use alloc::string::String;
use alloc::vec::Vec;

use super::Sequence;
use super::records::Record;
use crate::text::name_run::{Name, NameRun};
use crate::text::run_tree::run::{Run, Size};

/// What takes one edit back.
#[derive(Clone)]
pub(super) enum Undo {
    Insert {
        author: u32,
        names: NameRun,
        tail: Option<(Name, u64)>,
    },
    Delete {
        author: u32,
        mark: (usize, Option<Record>),
        targets: Vec<(u32, NameRun)>,
        text: String,
    },
}

/// The edits since `begin`.
#[derive(Clone)]
pub(super) struct Journal {
    clock: u64,
    pub(super) steps: Vec<Undo>,
}

impl Sequence {
    /// Starts to write down how local edits are undone. What was written before is settled.
    pub fn begin(&mut self) {
        self.journal = Some(Journal {
            clock: self.clock,
            steps: Vec::new(),
        });
    }

    /// Begins unless edits are being written down already.
    pub fn begin_if_settled(&mut self) {
        if self.journal.is_none() {
            self.begin();
        }
    }

    /// Keeps the edits since [`Sequence::begin`].
    pub fn settle(&mut self) {
        self.journal = None;
    }

    /// Takes back the edits since [`Sequence::begin`]: text, elements, records and clock are
    /// what they were.
    ///
    /// # Complexity
    /// O(size of the edits + a log n a run).
    pub fn rollback(&mut self) {
        let Some(journal) = self.journal.take() else {
            return;
        };
        for step in journal.steps.into_iter().rev() {
            match step {
                Undo::Insert {
                    author,
                    names,
                    tail,
                } => {
                    self.remove(author, names);
                    self.tree.set_tail(author, tail);
                }
                Undo::Delete {
                    author,
                    mark,
                    targets,
                    text,
                } => {
                    self.records.cut(author, mark);
                    self.show(&targets, &text);
                }
            }
        }
        self.clock = journal.clock;
    }

    /// Takes elements out as if they had never been.
    fn remove(&mut self, author: u32, names: NameRun) {
        let mut done = 0;
        while let Some((at, offset)) = self.next_piece(author, names, done) {
            let spot = self.tree.spot(at);
            let run = *self.tree.at(at.leaf, at.run);
            let rest = run.names.part(offset, run.len() - offset);
            let len = rest.common(&names.part(done, names.len() - done));
            let left = self.size_within(&run, spot.before, offset);
            let upto = self.size_within(&run, spot.before, offset + len);
            self.text
                .delete(spot.before.bytes + left.bytes..spot.before.bytes + upto.bytes);
            let mut kept = [Run::BLANK; 2];
            let mut count = 0;
            if offset > 0 {
                kept[count] = run.part(0, offset, left);
                count += 1;
            }
            if offset + len < run.len() {
                let end = offset + len;
                kept[count] = run.part(end, run.len() - end, run.size().minus(upto));
                count += 1;
            }
            self.tree.replace(spot, 1, &kept[..count], 0);
            self.elements -= u64::from(len);
            done += len;
        }
    }

    /// Shows hidden elements again, in document order, with the text they had.
    fn show(&mut self, targets: &[(u32, NameRun)], text: &str) {
        let mut rest = text;
        for &(author, names) in targets {
            let mut done = 0;
            while let Some((at, offset)) = self.next_piece(author, names, done) {
                let spot = self.tree.spot(at);
                let run = *self.tree.at(at.leaf, at.run);
                let after = run.names.part(offset, run.len() - offset);
                let len = after.common(&names.part(done, names.len() - done));
                let ends = rest.char_indices().nth(len as usize);
                let (head, more) = rest.split_at(ends.map_or(rest.len(), |(end, _)| end));
                self.text_insert(spot.before.bytes, head);
                let shown = run.part(offset, len, Size::default()).show(Size::of(head));
                self.change(spot, offset, shown, Size::default(), Size::default());
                rest = more;
                done += len;
            }
        }
    }

    fn next_piece(
        &self,
        author: u32,
        names: NameRun,
        done: u32,
    ) -> Option<(crate::text::run_tree::Gap, u32)> {
        if done == names.len() {
            return None;
        }
        self.tree.locate(author, names.nth(done))
    }
}
