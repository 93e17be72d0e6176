//! [`Outcome`]: what became of a transaction, and what a refused one lost to.

use core::fmt;

use super::{Entry, Key, Revision};
use crate::coord::Floor;

/// What became of a transaction.
///
/// An error beside it, [`StoreError`](super::StoreError), means that it certainly was not applied.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub enum Outcome {
    /// All of it was applied.
    Committed {
        /// The commit. A transaction that changed nothing returns the revision it was checked at.
        revision: Revision,
    },
    /// Nothing was applied: a guard did not hold.
    Conflict(Conflict),
    /// Nothing was applied: a fencing token is below the floor of its domain.
    Fenced {
        /// The floor.
        floor: Floor,
    },
    /// It is not known whether it was applied. Commit the same transaction again to find out; never
    /// try again under a new id.
    Unknown,
}

/// What a refused transaction lost to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The record on which a guard failed; for a range guard the first one found changed.
    pub key: Key,
    /// The record as it is now, `None` if it does not exist.
    pub entry: Option<Entry>,
    /// The commit that was lost to: the one that wrote the present content, or deleted the record.
    /// If the record does not exist and the store remembers no deletion, the revision of the
    /// refusal.
    pub revision: Revision,
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = if self.entry.is_some() {
            "has changed"
        } else {
            "is absent"
        };
        write!(
            f,
            "key {} {state} as of revision {}",
            self.key, self.revision
        )
    }
}
