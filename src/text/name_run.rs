//! Runs of entry names of one replica: how a thousand keystrokes are named in a few bytes.
//!
//! Rule: names chain on (next dot, same index), which is typing, or on (same dot, next even
//! index), which is a paste. A single name chains both ways; its chain is normalised to
//! [`Chain::Dots`], so that equal runs are equal values.
//! Source: kernel rules R1 (amended) and R31. Space: 24 bytes a run. Every operation is O(1).

use crate::clock::{Dot, EntryId, ReplicaId};

/// The distance of two neighbouring sequence entries of one update.
pub(crate) const INDEX_STEP: u32 = 2;

/// An [`EntryId`] without its replica.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Name {
    /// The counter of the update's dot.
    pub counter: u64,
    /// The index within the update.
    pub index: u32,
}

impl Name {
    /// The whole id of this name at `replica`.
    #[must_use]
    pub fn at(self, replica: ReplicaId) -> EntryId {
        EntryId {
            dot: Dot {
                replica,
                counter: self.counter,
            },
            index: self.index,
        }
    }
}

impl From<EntryId> for Name {
    fn from(id: EntryId) -> Self {
        Self {
            counter: id.dot.counter,
            index: id.index,
        }
    }
}

/// How the names of a run follow each other.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Chain {
    /// Consecutive dots, one index: an update per entry.
    Dots,
    /// One dot, consecutive even indices: one update made them all.
    Indices,
}

/// A run of at least one name, ascending.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NameRun {
    first: Name,
    len: u32,
    chain: Chain,
}

impl NameRun {
    /// Fills unused places of fixed arrays.
    pub(crate) const BLANK: Self = Self {
        first: Name {
            counter: 0,
            index: 0,
        },
        len: 1,
        chain: Chain::Dots,
    };

    /// The run of `len` names from `first`; `None` if `len` is 0 or a name would overflow.
    #[must_use]
    pub fn new(first: Name, len: u32, chain: Chain) -> Option<Self> {
        let more = len.checked_sub(1)?;
        match chain {
            Chain::Dots => first.counter.checked_add(u64::from(more)).map(drop)?,
            Chain::Indices => {
                first
                    .index
                    .checked_add(more.checked_mul(INDEX_STEP)?)
                    .map(drop)?;
            }
        }
        Some(Self::sure(first, len, chain))
    }

    /// The run of one name.
    #[must_use]
    pub fn one(name: Name) -> Self {
        Self::sure(name, 1, Chain::Dots)
    }

    fn sure(first: Name, len: u32, chain: Chain) -> Self {
        Self {
            first,
            len,
            chain: if len == 1 { Chain::Dots } else { chain },
        }
    }

    /// The first and least name.
    #[must_use]
    pub fn first(&self) -> Name {
        self.first
    }

    /// The last and greatest name.
    #[must_use]
    pub fn last(&self) -> Name {
        self.nth(self.len - 1)
    }

    /// How many names these are, at least 1.
    #[must_use]
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> u32 {
        self.len
    }

    /// How they chain; `Dots` for a single one.
    #[must_use]
    pub fn chain(&self) -> Chain {
        self.chain
    }

    /// The `offset`-th name; `offset` must be below [`NameRun::len`].
    #[must_use]
    pub fn nth(&self, offset: u32) -> Name {
        debug_assert!(offset < self.len);
        let Name { counter, index } = self.first;
        match self.chain {
            Chain::Dots => Name {
                counter: counter.wrapping_add(u64::from(offset)),
                index,
            },
            Chain::Indices => Name {
                counter,
                index: index.wrapping_add(offset.wrapping_mul(INDEX_STEP)),
            },
        }
    }

    /// Where `name` stands in the run.
    #[must_use]
    pub fn offset_of(&self, name: Name) -> Option<u32> {
        let offset = match self.chain {
            Chain::Dots if name.index == self.first.index => {
                u32::try_from(name.counter.checked_sub(self.first.counter)?).ok()?
            }
            Chain::Indices if name.counter == self.first.counter => {
                let distance = name.index.checked_sub(self.first.index)?;
                if !distance.is_multiple_of(INDEX_STEP) {
                    return None;
                }
                distance / INDEX_STEP
            }
            _ => return None,
        };
        (offset < self.len).then_some(offset)
    }

    /// The `len` names from the `from`-th on; both must lie within the run, `len` above 0.
    #[must_use]
    pub fn part(&self, from: u32, len: u32) -> Self {
        debug_assert!(len > 0 && from + len <= self.len);
        Self::sure(self.nth(from), len, self.chain)
    }

    /// Both runs as one, if `next` goes on where this one ends.
    #[must_use]
    pub fn join(&self, next: &Self) -> Option<Self> {
        let len = self.len.checked_add(next.len)?;
        let last = self.last();
        let chain = if last.counter.checked_add(1) == Some(next.first.counter)
            && last.index == next.first.index
        {
            Chain::Dots
        } else if last.counter == next.first.counter
            && last.index.checked_add(INDEX_STEP) == Some(next.first.index)
        {
            Chain::Indices
        } else {
            return None;
        };
        let fits = |names: &Self| names.len == 1 || names.chain == chain;
        (fits(self) && fits(next)).then(|| Self::sure(self.first, len, chain))
    }

    /// How many of the leading names both runs share, if they start at the same name.
    pub(crate) fn common(&self, other: &Self) -> u32 {
        if self.first != other.first {
            0
        } else if self.len == 1 || other.len == 1 || self.chain == other.chain {
            self.len.min(other.len)
        } else {
            1
        }
    }

    /// The names whose counter lies in `lo..=hi`, as (from, len).
    pub(crate) fn within(&self, lo: u64, hi: u64) -> Option<(u32, u32)> {
        let (first, last) = (self.first.counter, self.last().counter);
        if lo > hi || last < lo || first > hi {
            return None;
        }
        if self.chain == Chain::Indices {
            return Some((0, self.len));
        }
        let from = u32::try_from(lo.saturating_sub(first)).ok()?;
        let end = self.len - u32::try_from(last.saturating_sub(hi)).ok()?;
        Some((from, end - from))
    }

    /// How many of the names are at most `name`.
    pub(crate) fn count_upto(&self, name: Name) -> u32 {
        let Name { counter, index } = self.first;
        let count = match self.chain {
            Chain::Dots if index <= name.index => name
                .counter
                .checked_sub(counter)
                .map(|more| more.saturating_add(1)),
            Chain::Dots => name.counter.checked_sub(counter),
            Chain::Indices if counter < name.counter => Some(u64::MAX),
            Chain::Indices if counter > name.counter => None,
            Chain::Indices => {
                let more = name.index.checked_sub(index);
                more.map(|more| u64::from(more / INDEX_STEP) + 1)
            }
        };
        count.unwrap_or(0).min(u64::from(self.len)) as u32
    }

    /// Whether any name stands in both runs.
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        let (a, b) = (self, other);
        match (a.chain, b.chain) {
            (Chain::Dots, Chain::Dots) => {
                a.first.index == b.first.index
                    && a.first.counter <= b.last().counter
                    && b.first.counter <= a.last().counter
            }
            (Chain::Indices, Chain::Indices) => {
                a.first.counter == b.first.counter
                    && a.first.index % INDEX_STEP == b.first.index % INDEX_STEP
                    && a.first.index <= b.last().index
                    && b.first.index <= a.last().index
            }
            (Chain::Dots, Chain::Indices) => {
                let at = Name {
                    counter: b.first.counter,
                    index: a.first.index,
                };
                a.offset_of(at).is_some() && b.offset_of(at).is_some()
            }
            (Chain::Indices, Chain::Dots) => b.overlaps(a),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(counter: u64, index: u32, len: u32, chain: Chain) -> NameRun {
        NameRun::new(Name { counter, index }, len, chain).unwrap()
    }

    #[test]
    fn single_names_chain_both_ways() {
        let one = run(1, 0, 1, Chain::Indices);
        assert_eq!(one.chain(), Chain::Dots);
        assert_eq!(
            one.join(&run(2, 0, 3, Chain::Dots)),
            Some(run(1, 0, 4, Chain::Dots))
        );
        assert_eq!(
            one.join(&run(1, 2, 3, Chain::Indices)),
            Some(run(1, 0, 4, Chain::Indices))
        );
        assert_eq!(one.join(&run(2, 2, 1, Chain::Dots)), None);
        let paste = run(1, 0, 2, Chain::Indices);
        assert_eq!(paste.join(&run(2, 2, 2, Chain::Dots)), None);
    }

    #[test]
    fn names_that_overflow_are_refused() {
        assert_eq!(
            NameRun::new(
                Name {
                    counter: u64::MAX,
                    index: 0
                },
                2,
                Chain::Dots
            ),
            None
        );
        assert_eq!(
            NameRun::new(
                Name {
                    counter: 1,
                    index: u32::MAX - 1
                },
                2,
                Chain::Indices
            ),
            None
        );
        assert_eq!(
            NameRun::new(
                Name {
                    counter: 1,
                    index: 0
                },
                0,
                Chain::Dots
            ),
            None
        );
        let _ = run(u64::MAX, u32::MAX, 1, Chain::Dots);
    }

    #[test]
    fn offsets_parts_and_overlaps_agree_with_listing_the_names() {
        let mut runs = Vec::new();
        for counter in 1..4 {
            for index in 0..5 {
                for len in 1..4 {
                    runs.push(run(counter, index, len, Chain::Dots));
                    runs.push(run(counter, index, len, Chain::Indices));
                }
            }
        }
        let list = |names: &NameRun| (0..names.len()).map(|i| names.nth(i)).collect::<Vec<_>>();
        for a in &runs {
            for (i, name) in list(a).into_iter().enumerate() {
                assert_eq!(a.offset_of(name), Some(i as u32));
            }
            for b in &runs {
                let upto = list(a).iter().filter(|name| **name <= b.first()).count();
                assert_eq!(a.count_upto(b.first()) as usize, upto);
                let shared = list(a).iter().any(|name| list(b).contains(name));
                assert_eq!(a.overlaps(b), shared, "{a:?} {b:?}");
                let same = list(a)
                    .iter()
                    .zip(list(b))
                    .take_while(|(x, y)| **x == *y)
                    .count();
                assert_eq!(a.common(b) as usize, same);
            }
            for (lo, hi) in [(0, 1), (2, 2), (2, 9), (3, 2), (0, 9), (7, 9)] {
                let inside = |name: &Name| (lo..=hi).contains(&name.counter);
                let want: Vec<_> = list(a).into_iter().filter(inside).collect();
                let got = a.within(lo, hi).map(|(from, len)| list(&a.part(from, len)));
                assert_eq!(got.unwrap_or_default(), want);
            }
        }
    }
}
