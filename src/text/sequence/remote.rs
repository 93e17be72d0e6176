//! Absorbing a part that another replica made.
//!
//! Rule: all or nothing; [`check`](super::check) looks at the part whole before anything
//! changes. What is known already is passed over. Then elements go in by Lamport time (an
//! origin is always earlier than what names it), then records.
//! Source: kernel rules R27, R28; Roh et al. 2011 (RGA), section 5.
//! Complexity: O(log n) a run, + size of the text.

use alloc::vec::Vec;

use super::Sequence;
use super::check::PartError;
use super::delta::{DeleteRun, InsertRun, Part};
use super::local::Woven;
use super::records::Record;
use crate::clock::EntryId;
use crate::text::name_run::NameRun;
use crate::text::run_tree::run::{Key, Size};
use crate::text::run_tree::{Gap, Spot};

impl Sequence {
    /// Takes in what other replicas made. Known elements and records are passed over.
    ///
    /// # Errors
    /// [`PartError`]; nothing has changed.
    ///
    /// # Complexity
    /// O(log n) a run, + size of the text.
    pub fn absorb(&mut self, part: &Part) -> Result<(), PartError> {
        self.check(part)?;
        self.absorb_checked(part);
        Ok(())
    }

    /// Takes in a part that [`Sequence::check`] has found good since the last change here.
    ///
    /// Two steps, so that a caller can check all parts of an update before it changes any.
    pub(crate) fn absorb_checked(&mut self, part: &Part) {
        for run in in_order(&part.inserts) {
            self.integrate(run);
        }
        for run in records_in_order(&part.deletes) {
            self.apply(run);
        }
    }

    /// Puts in the unknown elements of a checked run.
    fn integrate(&mut self, run: &InsertRun) {
        let author = self.tree.intern(run.replica);
        let tail = self.tree.author(author).tail;
        let known = tail.map_or(0, |(name, _)| run.names.count_upto(name));
        let Some(len) = run.names.len().checked_sub(known).filter(|len| *len > 0) else {
            return;
        };
        let names = run.names.part(known, len);
        let lamport = run.lamport + u64::from(known);
        let origin = match known.checked_sub(1) {
            Some(last) => Some(run.names.nth(last).at(run.replica)),
            None => run.origin,
        };
        let text = run.text.as_deref().map(|text| {
            let start = text
                .char_indices()
                .nth(known as usize)
                .map_or(text.len(), |(at, _)| at);
            let text = &text[start..];
            (text, Size::of(text))
        });
        let (spot, offset) = self.place(origin, Key { lamport, author });
        self.weave(
            spot,
            offset,
            Woven {
                author,
                names,
                lamport,
            },
            text,
        );
        self.clock = self.clock.max(lamport + u64::from(len - 1));
    }

    /// Where an element goes: behind how many elements of which run.
    //= Roh et al. 2011 (RGA), section 5: right of the origin, past all with a greater id.
    fn place(&mut self, origin: Option<EntryId>, key: Key) -> (Spot, u32) {
        let mut right = self.tree.start();
        if let Some((at, offset)) = origin.and_then(|origin| self.locate(origin)) {
            let run = self.tree.at(at.leaf, at.run);
            let next = Key {
                lamport: run.lamport + u64::from(offset) + 1,
                author: run.author,
            };
            if offset + 1 < run.len() && self.tree.compare(next, key).is_lt() {
                return (self.tree.spot(at), offset + 1);
            }
            right = Gap {
                run: at.run + 1,
                ..at
            };
        }
        let gap = self
            .tree
            .smaller_right(right, key)
            .unwrap_or_else(|| self.tree.end());
        let gap = self.tree.leftmost(gap);
        match gap.run.checked_sub(1) {
            None => (self.tree.spot(gap), 0),
            Some(run) => {
                let at = Gap { run, ..gap };
                (self.tree.spot(at), self.tree.at(at.leaf, at.run).len())
            }
        }
    }

    /// Keeps the unknown records of a checked run and hides what they name.
    fn apply(&mut self, run: &DeleteRun) {
        let author = self.tree.intern(run.replica);
        let known = self
            .records
            .tail(author)
            .map_or(0, |name| run.names.count_upto(name));
        let Some(len) = run.names.len().checked_sub(known).filter(|len| *len > 0) else {
            return;
        };
        let target = self.tree.intern(run.target_replica);
        let backward = run.backward && run.names.len() > 1;
        let start = if backward { 0 } else { known };
        let targets = run.targets.part(start, len);
        let mut pieces = self.hide_all(target, targets);
        if backward {
            pieces.reverse();
        }
        let mut done = known;
        for (targets, lamport) in pieces {
            let names = run.names.part(done, targets.len());
            let backward = backward && targets.len() > 1;
            let record = Record {
                names,
                author: target,
                targets,
                lamport,
                backward,
            };
            self.records.push(author, record);
            done += targets.len();
        }
    }

    /// Hides elements that are here; gives them back in pieces with their Lamport times.
    fn hide_all(&mut self, author: u32, targets: NameRun) -> Vec<(NameRun, u64)> {
        let mut pieces = Vec::new();
        let mut done = 0;
        while done < targets.len() {
            let Some((at, offset)) = self.tree.locate(author, targets.nth(done)) else {
                debug_assert!(false, "targets are checked");
                break;
            };
            let found = *self.tree.at(at.leaf, at.run);
            let rest = found.names.part(offset, found.len() - offset);
            let len = rest.common(&targets.part(done, targets.len() - done));
            if !found.hidden {
                let spot = self.tree.spot(at);
                self.hide(spot, offset, len);
            }
            pieces.push((targets.part(done, len), found.lamport + u64::from(offset)));
            done += len;
        }
        pieces
    }
}

/// Origins before what names them: by Lamport time.
pub(super) fn in_order(runs: &[InsertRun]) -> Vec<&InsertRun> {
    let mut runs: Vec<_> = runs.iter().collect();
    runs.sort_by_key(|run| (run.lamport, run.replica, run.names.first()));
    runs
}

pub(super) fn records_in_order(runs: &[DeleteRun]) -> Vec<&DeleteRun> {
    let mut runs: Vec<_> = runs.iter().collect();
    runs.sort_by_key(|run| (run.replica, run.names.first()));
    runs
}
