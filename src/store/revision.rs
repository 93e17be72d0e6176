//! [`Revision`]: the store's own time, one number per commit, never used twice.

use core::cmp::Ordering;
use core::fmt;

/// The identity of one life of a store: 128 random bits.
///
/// A store that was restored from a backup, or an in-memory store of a process that was started
/// again, is another incarnation: its revisions say nothing about those of the first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Incarnation {
    // Two words: a u128 would make every revision a quarter larger by its alignment.
    high: u64,
    low: u64,
}

impl Incarnation {
    /// The incarnation with these bits; only a store that starts a new life should draw them.
    pub const fn from_bits(bits: u128) -> Self {
        Self {
            high: (bits >> 64) as u64,
            low: bits as u64,
        }
    }

    /// The bits.
    pub const fn bits(self) -> u128 {
        (self.high as u128) << 64 | self.low as u128
    }
}

impl fmt::Debug for Incarnation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.bits())
    }
}

impl fmt::Display for Incarnation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.bits())
    }
}

/// A point in the history of a store.
///
/// # Guarantees
/// Within one incarnation revisions strictly increase in commit order and are never used again,
/// also after a key was deleted and created anew. Revisions of different incarnations have no
/// order: `partial_cmp` is `None`.
///
/// # Examples
/// ```
/// use commute::store::{Incarnation, Revision};
///
/// let life = Incarnation::from_bits(1);
/// let restored = Incarnation::from_bits(2);
/// assert!(Revision::new(life, 4) < Revision::new(life, 5));
/// assert_eq!(Revision::new(life, 4).partial_cmp(&Revision::new(restored, 5)), None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Revision {
    incarnation: Incarnation,
    counter: u64,
}

impl Revision {
    /// The `counter`-th commit of `incarnation`; number 0 is the empty store before the first one.
    ///
    /// For implementors of [`Store`](super::Store); everybody else is given revisions.
    pub const fn new(incarnation: Incarnation, counter: u64) -> Self {
        Self {
            incarnation,
            counter,
        }
    }

    /// The life of the store this revision belongs to.
    pub const fn incarnation(self) -> Incarnation {
        self.incarnation
    }

    /// The place in the order of commits.
    pub const fn counter(self) -> u64 {
        self.counter
    }
}

impl PartialOrd for Revision {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (self.incarnation == other.incarnation).then(|| self.counter.cmp(&other.counter))
    }
}

impl fmt::Debug for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{:08x}", self.counter, self.incarnation.high >> 32)
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}
