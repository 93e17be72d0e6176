//! The ids that name elements: replica, update (dot), entry.
//!
//! One update is one [`Dot`]; what it creates is named by an [`EntryId`] within it.

/// The 128-bit identity of a replica, ordered as the number it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ReplicaId {
    hi: u64,
    lo: u64,
}

impl From<u128> for ReplicaId {
    fn from(id: u128) -> Self {
        Self {
            hi: (id >> 64) as u64,
            lo: id as u64,
        }
    }
}

impl From<ReplicaId> for u128 {
    fn from(id: ReplicaId) -> Self {
        (u128::from(id.hi) << 64) | u128::from(id.lo)
    }
}

/// The name of one update: the `counter`-th of `replica`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Dot {
    /// Who made the update.
    pub replica: ReplicaId,
    /// Its number among the updates of this replica.
    pub counter: u64,
}

/// The name of one entry: the update that made it, and its index in there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct EntryId {
    /// The update.
    pub dot: Dot,
    /// The entry's index among what the update made.
    pub index: u32,
}
