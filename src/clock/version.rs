//! Version vectors.

use core::cmp::Ordering;
use core::fmt;

use super::by_replica::{ByReplica, Cursor};
use super::{Dot, Dots, Ranges, ReplicaId};

/// A version vector: of each replica, how many of its updates are included.
///
/// A version is always *causally closed*: it claims an update only together with everything its
/// author had seen. So it has no gaps, and a replica's state is a function of its version: equal
/// versions mean equal bytes. Two versions may be concurrent, hence `PartialOrd` and no `Ord`.
///
/// # Examples
/// ```
/// use commute::{Dot, ReplicaId, Version};
/// let (a, b) = (ReplicaId::from(1), ReplicaId::from(2));
/// let left = Version::from_iter([(a, 3)]);
/// let right = Version::from_iter([(b, 1)]);
/// assert!(left.contains(Dot::new(a, 2)));
/// assert_eq!(left.partial_cmp(&right), None);
/// ```
#[derive(Clone, PartialEq, Eq, Default, Hash)]
pub struct Version {
    // No replica maps to 0.
    seen: ByReplica<u64>,
}

impl Version {
    /// The version of an empty replica.
    pub const fn new() -> Version {
        Version {
            seen: ByReplica::new(),
        }
    }

    /// How many updates of `replica` are included. O(log r).
    pub fn get(&self, replica: ReplicaId) -> u64 {
        self.seen.get(replica).copied().unwrap_or(0)
    }

    /// Whether the update `dot` is included. O(log r).
    pub fn contains(&self, dot: Dot) -> bool {
        dot.counter <= self.get(dot.replica)
    }

    /// Whether every update of `other` is included.
    pub fn includes(&self, other: &Version) -> bool {
        let mut mine = self.cursor();
        other
            .iter()
            .all(|(id, seen)| mine.get(id).is_some_and(|mine| seen <= *mine))
    }

    /// Whether nothing is included.
    pub fn is_empty(&self) -> bool {
        self.seen.is_empty()
    }

    /// The number of replicas of which something is included.
    pub fn len(&self) -> usize {
        self.seen.len()
    }

    /// `(replica, number of its updates)` in ascending order of replicas.
    pub fn iter(&self) -> impl Iterator<Item = (ReplicaId, u64)> + '_ {
        self.seen.iter().map(|(id, &seen)| (id, seen))
    }

    /// Includes everything `other` includes. O(r).
    pub fn join(&mut self, other: &Version) {
        self.seen
            .join(&other.seen, |mine, theirs| *mine = (*mine).max(*theirs));
    }

    /// What both versions include.
    pub fn meet(&self, other: &Version) -> Version {
        let mut theirs = other.cursor();
        let both = |(id, seen): (ReplicaId, u64)| Some((id, seen.min(*theirs.get(id)?)));
        self.iter().filter_map(both).collect()
    }

    /// The updates included here and not in `other`.
    pub fn difference(&self, other: &Version) -> Dots {
        let mut dots = Dots::new();
        let mut known = other.cursor();
        for (id, seen) in self.iter() {
            let theirs = known.get(id).copied().unwrap_or(0);
            if theirs < seen {
                dots.put(id, Ranges::span(theirs + 1, seen));
            }
        }
        dots
    }

    /// To look up many replicas in ascending order.
    pub(crate) fn cursor(&self) -> Cursor<'_, u64> {
        self.seen.cursor()
    }

    pub(crate) fn raise(&mut self, replica: ReplicaId, seen: u64) {
        if seen == 0 {
            return;
        }
        let mine = self.seen.entry(replica);
        *mine = seen.max(*mine);
    }

    /// Includes `dots`, which close every gap they touch.
    pub(crate) fn include(&mut self, dots: &Dots) {
        for (id, runs) in dots.by_replica() {
            debug_assert!(runs.difference(&Ranges::span(0, self.get(id))).runs().len() <= 1);
            self.raise(id, runs.last().unwrap_or(0));
        }
    }
}

impl FromIterator<(ReplicaId, u64)> for Version {
    fn from_iter<I: IntoIterator<Item = (ReplicaId, u64)>>(counters: I) -> Version {
        let mut version = Version::new();
        counters
            .into_iter()
            .for_each(|(id, seen)| version.raise(id, seen));
        version
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Version) -> Option<Ordering> {
        match (self.includes(other), other.includes(self)) {
            (true, true) => Some(Ordering::Equal),
            (true, false) => Some(Ordering::Greater),
            (false, true) => Some(Ordering::Less),
            (false, false) => None,
        }
    }
}

impl fmt::Debug for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.seen.iter()).finish()
    }
}
