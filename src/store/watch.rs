//! What a watch delivers: [`Commit`]s made of [`Change`]s.

use super::{Entry, Key, Revision};

/// One record that a commit changed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// It was created or its content set.
    Put {
        /// The record.
        key: Key,
        /// The record after the commit.
        entry: Entry,
    },
    /// It was deleted.
    Deleted {
        /// The record.
        key: Key,
        /// Whether the store deleted it because its time to live had ended.
        expired: bool,
    },
}

impl Change {
    /// The record.
    pub fn key(&self) -> &Key {
        match self {
            Self::Put { key, .. } | Self::Deleted { key, .. } => key,
        }
    }
}

/// What one commit changed, as far as the watched range goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// The commit.
    pub revision: Revision,
    /// The records it changed; never empty.
    pub changes: Vec<Change>,
}
