//! The update that is being made.

use alloc::vec::Vec;
use core::ops::Deref;

use super::EditError;
use crate::clock::{Dot, EntryId, Names};

/// The running update: its dot, the names it has given, and what older entries it has killed.
///
/// Edit views carry it; a shape asks it for names and tells it of kills.
#[derive(Debug)]
pub struct Update {
    dot: Dot,
    sequence_entries: u32,
    other_entries: u32,
    killed: Vec<EntryId>,
}

/// At most this many entries of a kind in one update.
const ENTRIES_MAX: u32 = 1 << 31;

impl Update {
    pub(crate) fn new(dot: Dot) -> Update {
        Update {
            dot,
            sequence_entries: 0,
            other_entries: 0,
            killed: Vec::new(),
        }
    }

    /// The name of this update.
    pub fn dot(&self) -> Dot {
        self.dot
    }

    /// Whether this update created `entry`.
    pub fn owns(&self, entry: EntryId) -> bool {
        entry.dot == self.dot
    }

    /// A name for a new entry outside sequences: index 1, 3, 5, ...
    ///
    /// # Errors
    /// [`EditError::TooManyEntries`] after 2^31 of them.
    pub fn entry(&mut self) -> Result<EntryId, EditError> {
        if self.other_entries == ENTRIES_MAX {
            return Err(EditError::TooManyEntries);
        }
        let index = self.other_entries * 2 + 1;
        self.other_entries += 1;
        Ok(EntryId {
            dot: self.dot,
            index,
        })
    }

    /// Names for `count` new entries of a sequence: index 0, 2, 4, ...; returns the first.
    ///
    /// # Errors
    /// [`EditError::TooManyEntries`] beyond 2^31 of them.
    pub fn sequence_entries(&mut self, count: usize) -> Result<EntryId, EditError> {
        let count = u32::try_from(count).map_err(|_| EditError::TooManyEntries)?;
        let total = self
            .sequence_entries
            .checked_add(count)
            .filter(|all| *all <= ENTRIES_MAX);
        let total = total.ok_or(EditError::TooManyEntries)?;
        let first = EntryId {
            dot: self.dot,
            index: self.sequence_entries.wrapping_mul(2),
        };
        self.sequence_entries = total;
        Ok(first)
    }

    /// Notes that this update killed `entry`; entries of its own simply vanish.
    pub fn kill(&mut self, entry: EntryId) {
        if !self.owns(entry) {
            self.killed.push(entry);
        }
    }

    pub(crate) fn into_killed(self) -> Names {
        Names::from_entries(self.killed)
    }

    pub(crate) fn killed(&self) -> &[EntryId] {
        &self.killed
    }
}

/// An edit view: a replicated value inside the update that changes it.
///
/// It derefs to the value, so an update reads its own writes.
#[derive(Debug)]
pub struct EditView<'a, S> {
    pub(crate) state: &'a mut S,
    pub(crate) update: &'a mut Update,
}

impl<'a, S> EditView<'a, S> {
    /// The view of `state` within `update`.
    pub fn new(state: &'a mut S, update: &'a mut Update) -> EditView<'a, S> {
        EditView { state, update }
    }
}

impl<S> Deref for EditView<'_, S> {
    type Target = S;

    fn deref(&self) -> &S {
        self.state
    }
}
