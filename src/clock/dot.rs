//! Names of updates and of the entries they create.

use core::fmt;

use super::ReplicaId;

/// The name of one update: the `counter`-th update of `replica`, counted from 1.
///
/// Source: Preguica et al. 2010, arXiv:1011.5808 (dotted version vectors).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Dot {
    /// Who made the update.
    pub replica: ReplicaId,
    /// Which of its updates, from 1.
    pub counter: u64,
}

impl Dot {
    /// The `counter`-th update of `replica`.
    pub const fn new(replica: ReplicaId, counter: u64) -> Dot {
        Dot { replica, counter }
    }
}

impl fmt::Debug for Dot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}:{}", self.replica, self.counter)
    }
}

impl fmt::Display for Dot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.replica, self.counter)
    }
}

/// The name of one entry: the update that created it, and which of that update's entries it is.
///
/// Entries of sequences have even indices, all others odd ones, each in order of creation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntryId {
    /// The update that created the entry.
    pub dot: Dot,
    /// Which entry of that update.
    pub index: u32,
}

impl EntryId {
    /// Entry `index` of the update `dot`.
    pub const fn new(dot: Dot, index: u32) -> EntryId {
        EntryId { dot, index }
    }
}

impl fmt::Debug for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}.{}", self.dot, self.index)
    }
}
