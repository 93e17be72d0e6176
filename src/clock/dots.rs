//! Sets of updates, gaps allowed.

use core::fmt;

use super::by_replica::ByReplica;
use super::{Dot, Ranges, ReplicaId, Version};

/// A set of updates, kept as ranges per replica.
///
/// Unlike a [`Version`] it may have gaps: it tells what a delta brings or what is still missing.
/// All operations are linear in the number of ranges, never in the number of updates.
#[derive(Clone, PartialEq, Eq, Default, Hash)]
pub struct Dots {
    // No replica maps to an empty set.
    runs: ByReplica<Ranges>,
}

impl Dots {
    /// The empty set.
    pub const fn new() -> Dots {
        Dots {
            runs: ByReplica::new(),
        }
    }

    /// Whether there is no dot.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// How many dots, capped at `u64::MAX`.
    pub fn len(&self) -> u64 {
        let len = self.runs.values().map(Ranges::len);
        len.fold(0, u64::saturating_add)
    }

    /// Whether `dot` is in the set. O(log r + log ranges).
    pub fn contains(&self, dot: Dot) -> bool {
        self.runs
            .get(dot.replica)
            .is_some_and(|runs| runs.contains(dot.counter))
    }

    /// Adds one dot.
    pub fn insert(&mut self, dot: Dot) {
        self.runs.entry(dot.replica).insert(dot.counter);
    }

    /// The ranges `(replica, first, last)` in ascending order, both ends included.
    pub fn ranges(&self) -> impl Iterator<Item = (ReplicaId, u64, u64)> + '_ {
        self.runs.iter().flat_map(|(id, runs)| {
            runs.runs()
                .iter()
                .map(move |&(first, last)| (id, first, last))
        })
    }

    /// Every dot in ascending order. The caller bounds the number.
    pub fn iter(&self) -> impl Iterator<Item = Dot> + '_ {
        self.runs
            .iter()
            .flat_map(|(id, runs)| runs.iter().map(move |counter| Dot::new(id, counter)))
    }

    pub(crate) fn of(&self, replica: ReplicaId) -> Option<&Ranges> {
        self.runs.get(replica)
    }

    pub(crate) fn by_replica(&self) -> impl Iterator<Item = (ReplicaId, &Ranges)> {
        self.runs.iter()
    }

    pub(crate) fn replicas(&self) -> impl Iterator<Item = ReplicaId> + '_ {
        self.runs.iter().map(|(id, _)| id)
    }

    /// Sets the dots of `replica`, replacing what was there.
    pub(crate) fn put(&mut self, replica: ReplicaId, runs: Ranges) {
        if runs.is_empty() {
            self.runs.remove(replica);
        } else {
            self.runs.insert(replica, runs);
        }
    }

    /// Adds a range; `first..=last` must not be empty.
    pub(crate) fn add(&mut self, replica: ReplicaId, first: u64, last: u64) {
        self.runs.entry(replica).add(first, last);
    }

    pub(crate) fn union_with(&mut self, other: &Dots) {
        self.runs
            .join(&other.runs, |mine, theirs| mine.union_with(theirs));
    }

    /// This set without `other`.
    pub fn difference(&self, other: &Dots) -> Dots {
        self.zip(other, |mine, theirs| {
            theirs.map_or(mine.clone(), |cut| mine.difference(cut))
        })
    }

    /// What both sets hold.
    pub fn intersection(&self, other: &Dots) -> Dots {
        let common = |mine: &Ranges, theirs: Option<&Ranges>| {
            theirs.map_or(Ranges::default(), |theirs| mine.intersection(theirs))
        };
        self.zip(other, common)
    }

    /// What either set holds.
    pub fn union(&self, other: &Dots) -> Dots {
        let mut all = self.clone();
        all.union_with(other);
        all
    }

    fn zip(&self, other: &Dots, op: impl Fn(&Ranges, Option<&Ranges>) -> Ranges) -> Dots {
        let mut theirs = other.runs.cursor();
        self.map(|id, mine| op(mine, theirs.get(id)))
    }

    /// This set without what `version` covers. O(ranges).
    pub fn beyond(&self, version: &Version) -> Dots {
        let mut known = version.cursor();
        self.map(|id, runs| match known.get(id) {
            None => runs.clone(),
            Some(seen) => runs.difference(&Ranges::span(0, *seen)),
        })
    }

    /// The part of this set that `version` covers. O(ranges).
    pub fn within(&self, version: &Version) -> Dots {
        let mut known = version.cursor();
        self.map(|id, runs| match known.get(id) {
            None => Ranges::new(),
            Some(seen) => runs.intersection(&Ranges::span(0, *seen)),
        })
    }

    fn map(&self, mut runs_of: impl FnMut(ReplicaId, &Ranges) -> Ranges) -> Dots {
        let mut out = Dots::new();
        for (id, mine) in self.runs.iter() {
            let runs = runs_of(id, mine);
            if !runs.is_empty() {
                out.runs.insert(id, runs);
            }
        }
        out
    }

    /// Whether every dot is covered by `version`.
    pub fn is_within(&self, version: &Version) -> bool {
        let mut known = version.cursor();
        self.runs.iter().all(|(id, runs)| {
            let seen = known.get(id).copied().unwrap_or(0);
            runs.last().is_none_or(|last| last <= seen)
        })
    }

    /// Whether every dot of this set is in `other` too.
    pub fn is_subset(&self, other: &Dots) -> bool {
        self.difference(other).is_empty()
    }
}

impl From<Dot> for Dots {
    fn from(dot: Dot) -> Dots {
        let run = Ranges::span(dot.counter, dot.counter);
        Dots {
            runs: ByReplica::one(dot.replica, run),
        }
    }
}

impl From<&Version> for Dots {
    fn from(version: &Version) -> Dots {
        let mut all = Dots::new();
        for (id, seen) in version.iter() {
            all.runs.insert(id, Ranges::span(1, seen));
        }
        all
    }
}

impl FromIterator<Dot> for Dots {
    fn from_iter<I: IntoIterator<Item = Dot>>(dots: I) -> Dots {
        let mut all = Dots::new();
        dots.into_iter().for_each(|dot| all.insert(dot));
        all
    }
}

impl fmt::Debug for Dots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut set = f.debug_set();
        for (id, first, last) in self.ranges() {
            match first == last {
                true => set.entry(&format_args!("{id:?}:{first}")),
                false => set.entry(&format_args!("{id:?}:{first}..={last}")),
            };
        }
        set.finish()
    }
}
