//! Local edits: by visible position, under names that the kernel hands out.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::delta::DeleteRun;
use super::journal::Undo;
use super::records::Record;
use super::{Sequence, out_of_range};
use crate::clock::EntryId;
use crate::kernel::{IndexError, Unit};
use crate::text::name_run::{Chain, NameRun};
use crate::text::run_tree::Spot;
use crate::text::run_tree::run::{MIXED_MAX, Run, Size};
use crate::text::units::Chars;

/// The longest run of one width that is put into the tree at once, in elements.
const PIECE_MAX: u32 = 1 << 28;

/// What a local insert made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Inserted {
    /// The names of the new elements.
    pub names: NameRun,
    /// The Lamport time of the first.
    pub lamport: u64,
    /// The element they were put behind; `None` is the start.
    pub origin: Option<EntryId>,
}

/// Why a local edit cannot be made; nothing has changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum LocalError {
    /// A position is none.
    Index(IndexError),
    /// The update has no more names for this many entries.
    NamesExhausted,
    /// The Lamport time of this sequence is used up.
    LamportExhausted,
    /// The name is not greater than those that its replica has used here.
    NameNotNew(EntryId),
}

impl fmt::Display for LocalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Index(error) => error.fmt(f),
            Self::NamesExhausted => f.write_str("the update has no names left"),
            Self::LamportExhausted => f.write_str("the sequence has no lamport times left"),
            Self::NameNotNew(id) => write!(f, "{id:?} is not greater than names used before"),
        }
    }
}

impl core::error::Error for LocalError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Index(error) => Some(error),
            _ => None,
        }
    }
}

impl From<LocalError> for crate::kernel::EditError {
    fn from(error: LocalError) -> Self {
        match error {
            LocalError::Index(error) => Self::Index(error),
            LocalError::NamesExhausted | LocalError::NameNotNew(_) => Self::TooManyEntries,
            LocalError::LamportExhausted => Self::LamportExhausted,
        }
    }
}

impl From<IndexError> for LocalError {
    fn from(error: IndexError) -> Self {
        Self::Index(error)
    }
}

impl Sequence {
    /// Inserts `text` before the visible position `at`.
    ///
    /// The elements are named `first` and on by even indices; `first` must be greater than all
    /// names of elements and records its replica has here. `None` if `text` is empty.
    ///
    /// # Errors
    /// [`LocalError`]; nothing has changed.
    ///
    /// # Complexity
    /// O(log n + length); O(length) besides the rope next to the last edit.
    pub fn insert(
        &mut self,
        at: Chars,
        text: &str,
        first: EntryId,
    ) -> Result<Option<Inserted>, LocalError> {
        let len = self.len();
        if at > len {
            return Err(out_of_range(at.0, len.0, Unit::Chars).into());
        }
        let size = Size::of(text);
        let Some(names) = self.new_names(size.chars, first)? else {
            return Ok(None);
        };
        let (lamport, clock) = self.next_lamports(names.len())?;
        let author = self.tree.intern(first.dot.replica);
        let (spot, offset) = self.after_visible(at);
        let origin = offset.checked_sub(1).map(|last| {
            let run = self.tree.at(spot.leaf, spot.run);
            self.id(run.author, run.names.nth(last))
        });
        let tail = self.tree.author(author).tail;
        self.weave(
            spot,
            offset,
            Woven {
                author,
                names,
                lamport,
            },
            Some((text, size)),
        );
        if let Some(journal) = &mut self.journal {
            journal.steps.push(Undo::Insert {
                author,
                names,
                tail,
            });
        }
        self.clock = clock;
        Ok(Some(Inserted {
            names,
            lamport,
            origin,
        }))
    }

    /// Deletes the visible characters between two positions.
    ///
    /// The records are named `first` and on by even indices, in document order of what they
    /// hide; `first` as in [`Sequence::insert`].
    ///
    /// # Errors
    /// [`LocalError`]; nothing has changed.
    ///
    /// # Complexity
    /// O(log n) a run, + length.
    pub fn delete(
        &mut self,
        from: Chars,
        to: Chars,
        first: EntryId,
    ) -> Result<Vec<DeleteRun>, LocalError> {
        let len = self.len();
        if to > len || from > to {
            let (index, len) = if to > len {
                (to.0, len.0)
            } else {
                (from.0, to.0)
            };
            return Err(out_of_range(index, len, Unit::Chars).into());
        }
        let Some(names) = self.new_names(to.0 - from.0, first)? else {
            return Ok(Vec::new());
        };
        let author = self.tree.intern(first.dot.replica);
        let mark = self.records.mark(author);
        let kept = self.keep_text(from, to)?;
        let (mut made, mut targets) = (Vec::new(), Vec::new());
        let mut done = 0;
        while done < names.len() {
            let Some(spot) = self.tree.find(from.0, Unit::Chars) else {
                break;
            };
            let run = *self.tree.at(spot.leaf, spot.run);
            let offset = (from.0 - spot.before.chars) as u32;
            let len = (run.len() - offset).min(names.len() - done);
            let record = Record {
                names: names.part(done, len),
                author: run.author,
                targets: run.names.part(offset, len),
                lamport: run.lamport + u64::from(offset),
                backward: false,
            };
            self.hide(spot, offset, len);
            self.records.push(author, record);
            made.push(self.delete_run(author, &record));
            if self.journal.is_some() {
                targets.push((record.author, record.targets));
            }
            done += len;
        }
        if let (Some(journal), Some(text)) = (&mut self.journal, kept) {
            journal.steps.push(Undo::Delete {
                author,
                mark,
                targets,
                text,
            });
        }
        Ok(made)
    }

    fn keep_text(&self, from: Chars, to: Chars) -> Result<Option<String>, IndexError> {
        if self.journal.is_some() {
            self.slice(from, to).map(Some)
        } else {
            Ok(None)
        }
    }

    fn new_names(&self, len: usize, first: EntryId) -> Result<Option<NameRun>, LocalError> {
        if len == 0 {
            return Ok(None);
        }
        let len = u32::try_from(len).map_err(|_| LocalError::NamesExhausted)?;
        let names = NameRun::new(first.into(), len, Chain::Indices);
        let names = names.ok_or(LocalError::NamesExhausted)?;
        if let Some(author) = self.tree.author_of(first.dot.replica) {
            let element = self.tree.author(author).tail.map(|(name, _)| name);
            if element.max(self.records.tail(author)) >= Some(names.first()) {
                return Err(LocalError::NameNotNew(first));
            }
        }
        Ok(Some(names))
    }

    /// The next Lamport time, and the last of `len` from there.
    //= Kernel rule R29: 1 + max over all elements of this sequence.
    fn next_lamports(&self, len: u32) -> Result<(u64, u64), LocalError> {
        let last = self
            .clock
            .checked_add(u64::from(len))
            .filter(|last| *last < u64::MAX);
        last.map(|last| (self.clock + 1, last))
            .ok_or(LocalError::LamportExhausted)
    }

    /// The run of the visible element left of `at`, and how many of its elements lie left.
    //= Kernel rule R30: the origin is the nearest visible element; the new one has the
    //= greatest id and lands directly right of it.
    fn after_visible(&mut self, at: Chars) -> (Spot, u32) {
        let left = at.0.checked_sub(1).and_then(|left| {
            let spot = self.tree.find(left, Unit::Chars)?;
            Some((spot, (at.0 - spot.before.chars) as u32))
        });
        left.unwrap_or_else(|| {
            let start = self.tree.start();
            (self.tree.spot(start), 0)
        })
    }

    /// Puts new elements behind `offset` elements of the run at `spot`, in pieces that the tree
    /// can hold.
    pub(super) fn weave(
        &mut self,
        spot: Spot,
        offset: u32,
        new: Woven,
        text: Option<(&str, Size)>,
    ) {
        let max = text.map_or(PIECE_MAX, |(_, size)| piece_max(size));
        let (mut spot, mut offset, mut done) = (spot, offset, 0);
        let mut rest = text;
        while done < new.names.len() {
            let len = (new.names.len() - done).min(max);
            let piece = rest.map(|(text, size)| cut(text, size, len));
            let run = Run {
                names: new.names.part(done, len),
                lamport: new.lamport + u64::from(done),
                author: new.author,
                bytes: 0,
                utf16: 0,
                hidden: true,
            };
            match piece {
                Some((text, size, more)) => {
                    self.weave_run(spot, offset, run.show(size), text);
                    rest = Some(more);
                }
                None => self.weave_run(spot, offset, run, ""),
            }
            done += len;
            if done < new.names.len()
                && let Some((at, last)) = self.tree.locate(new.author, new.names.nth(done - 1))
            {
                (spot, offset) = (self.tree.spot(at), last + 1);
            }
        }
        let last = new.lamport + u64::from(new.names.len() - 1);
        self.tree
            .set_tail(new.author, Some((new.names.last(), last)));
        self.elements += u64::from(new.names.len());
    }

    fn weave_run(&mut self, spot: Spot, offset: u32, new: Run, text: &str) {
        if offset == 0 {
            self.text_insert(spot.before.bytes, text);
            return self.tree.replace(spot, 0, &[new], 0);
        }
        let run = *self.tree.at(spot.leaf, spot.run);
        let left = self.size_within(&run, spot.before, offset);
        let before = spot.before.plus(left);
        self.text_insert(before.bytes, text);
        if offset < run.len() {
            let right = run.part(offset, run.len() - offset, run.size().minus(left));
            self.tree
                .replace(spot, 1, &[run.part(0, offset, left), new, right], 1);
        } else if let Some(joined) = run.join(&new) {
            self.tree.grow(spot, joined);
        } else {
            self.tree.replace(
                Spot {
                    run: spot.run + 1,
                    before,
                    ..spot
                },
                0,
                &[new],
                0,
            );
        }
    }

    pub(super) fn text_insert(&mut self, byte: usize, text: &str) {
        if !text.is_empty() {
            self.text.insert(byte, text);
        }
    }
}

/// Elements to put in.
#[derive(Clone, Copy)]
pub(super) struct Woven {
    pub(super) author: u32,
    pub(super) names: NameRun,
    pub(super) lamport: u64,
}

/// How many elements of a text of this size may be one run.
pub(super) fn piece_max(size: Size) -> u32 {
    let one_width = size.utf16 == size.chars || size.utf16 == 2 * size.chars;
    if one_width { PIECE_MAX } else { MIXED_MAX }
}

/// The first `len` characters, and the rest; `None` if there are less.
pub(super) fn take_chars(text: &str, len: u32) -> Option<(&str, &str)> {
    let len = len as usize;
    if text.len() < len {
        return None;
    }
    if text.as_bytes()[..len].is_ascii() {
        return Some(text.split_at(len));
    }
    let mut ends = text.char_indices().map(|(at, _)| at).chain([text.len()]);
    ends.nth(len).map(|end| text.split_at(end))
}

/// The first `len` characters, their size, and the rest.
fn cut(text: &str, size: Size, len: u32) -> (&str, Size, (&str, Size)) {
    let (head, rest) = take_chars(text, len).unwrap_or((text, ""));
    let part = if rest.is_empty() {
        size
    } else {
        Size::of(head)
    };
    (head, part, (rest, size.minus(part)))
}
