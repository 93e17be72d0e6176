//! Sets of numbers as sorted, disjoint, non-adjacent inclusive ranges.

use smallvec::SmallVec;

/// A set of `u64` in its one canonical form: ascending ranges with a gap between any two.
#[derive(Clone, PartialEq, Eq, Default, Debug, Hash)]
pub(crate) struct Ranges {
    // One range is the rule.
    runs: SmallVec<[(u64, u64); 1]>,
}

impl Ranges {
    pub(crate) const fn new() -> Ranges {
        Ranges {
            runs: SmallVec::new_const(),
        }
    }

    pub(crate) fn span(first: u64, last: u64) -> Ranges {
        debug_assert!(first <= last);
        Ranges {
            runs: SmallVec::from_buf([(first, last)]),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    pub(crate) fn runs(&self) -> &[(u64, u64)] {
        &self.runs
    }

    pub(crate) fn first(&self) -> Option<u64> {
        self.runs.first().map(|run| run.0)
    }

    pub(crate) fn last(&self) -> Option<u64> {
        self.runs.last().map(|run| run.1)
    }

    /// How many numbers, capped at `u64::MAX`.
    pub(crate) fn len(&self) -> u64 {
        let size = |&(first, last): &(u64, u64)| (last - first).saturating_add(1);
        self.runs.iter().map(size).fold(0, u64::saturating_add)
    }

    pub(crate) fn contains(&self, number: u64) -> bool {
        let at = self.runs.partition_point(|run| run.1 < number);
        self.runs.get(at).is_some_and(|run| run.0 <= number)
    }

    /// Appends `first..=last`, none of which may lie before the last number already here.
    pub(crate) fn push(&mut self, first: u64, last: u64) {
        debug_assert!(first <= last);
        match self.runs.last_mut() {
            Some(run) if first <= run.1.saturating_add(1) => run.1 = run.1.max(last),
            _ => self.runs.push((first, last)),
        }
    }

    /// Adds one number, wherever it belongs.
    pub(crate) fn insert(&mut self, number: u64) {
        self.add(number, number);
    }

    /// Adds `first..=last`, wherever it belongs. O(log ranges), and what must move.
    pub(crate) fn add(&mut self, mut first: u64, mut last: u64) {
        if self.runs.last().is_none_or(|run| run.0 <= first) {
            self.push(first, last);
            return;
        }
        let start = self
            .runs
            .partition_point(|run| run.1 < first.saturating_sub(1));
        let end = self
            .runs
            .partition_point(|run| run.0 <= last.saturating_add(1));
        if let [leftmost, ..] = &self.runs[start..end] {
            first = first.min(leftmost.0);
        }
        if let [.., rightmost] = &self.runs[start..end] {
            last = last.max(rightmost.1);
        }
        match start == end {
            true => self.runs.insert(start, (first, last)),
            false => {
                self.runs[start] = (first, last);
                self.runs.drain(start + 1..end);
            }
        }
    }

    pub(crate) fn union(&self, other: &Ranges) -> Ranges {
        let mut all = Ranges {
            runs: SmallVec::with_capacity(self.runs.len().max(other.runs.len())),
        };
        let (mut a, mut b) = (self.runs.iter().peekable(), other.runs.iter().peekable());
        loop {
            let next = match (a.peek(), b.peek()) {
                (Some(x), Some(y)) if x.0 <= y.0 => a.next(),
                (_, Some(_)) => b.next(),
                (_, None) => a.next(),
            };
            let Some(&(first, last)) = next else {
                return all;
            };
            all.push(first, last);
        }
    }

    pub(crate) fn union_with(&mut self, other: &Ranges) {
        match other.runs() {
            [] => {}
            [(first, last)] => self.add(*first, *last),
            _ => *self = self.union(other),
        }
    }

    /// What both hold. The shorter side is walked, so a long one costs only what it contributes.
    pub(crate) fn intersection(&self, other: &Ranges) -> Ranges {
        if self.runs.len() > other.runs.len() {
            return other.intersection(self);
        }
        let mut common = Ranges::default();
        let mut rest = &other.runs[..];
        for &(first, last) in &self.runs {
            rest = &rest[skip(rest, first)..];
            for run in rest.iter().take_while(|run| run.0 <= last) {
                common.push(first.max(run.0), last.min(run.1));
            }
        }
        common
    }

    /// Whether any of `first..=last` is in the set.
    pub(crate) fn intersects(&self, first: u64, last: u64) -> bool {
        let at = self.runs.partition_point(|run| run.1 < first);
        self.runs.get(at).is_some_and(|run| run.0 <= last)
    }

    /// Whether no number is in both. O(shorter * log longer).
    pub(crate) fn is_disjoint(&self, other: &Ranges) -> bool {
        if self.runs.len() > other.runs.len() {
            return other.is_disjoint(self);
        }
        let mut runs = self.runs.iter();
        !runs.any(|&(first, last)| other.intersects(first, last))
    }

    /// Whether every number is in `other` too. O(shorter * log longer).
    pub(crate) fn is_subset(&self, other: &Ranges) -> bool {
        if self.runs.len() > other.runs.len() {
            return self.is_disjoint(&Ranges::span(0, u64::MAX).difference(other));
        }
        self.runs.iter().all(|&(first, last)| {
            let at = other.runs.partition_point(|run| run.1 < first);
            let around = |run: &(u64, u64)| run.0 <= first && last <= run.1;
            other.runs.get(at).is_some_and(around)
        })
    }

    pub(crate) fn difference(&self, other: &Ranges) -> Ranges {
        let mut rest = Ranges::default();
        let mut j = 0;
        for &(mut first, last) in &self.runs {
            j += skip(&other.runs[j..], first);
            let mut at = j;
            loop {
                match other.runs.get(at) {
                    Some(cut) if cut.0 <= last => {
                        if first < cut.0 {
                            rest.push(first, cut.0 - 1);
                        }
                        if cut.1 >= last {
                            break;
                        }
                        first = cut.1 + 1;
                        at += 1;
                    }
                    _ => {
                        rest.push(first, last);
                        break;
                    }
                }
            }
        }
        rest
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        self.runs.iter().flat_map(|&(first, last)| first..=last)
    }
}

/// How many of `runs` end before `number`; cheap if few do.
fn skip(runs: &[(u64, u64)], number: u64) -> usize {
    let ends_before = |run: &(u64, u64)| run.1 < number;
    let mut bound = 1;
    while runs.get(bound - 1).is_some_and(ends_before) {
        bound *= 2;
    }
    let known = bound / 2;
    known + runs[known..bound.min(runs.len())].partition_point(ends_before)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeSet;

    /// All sets over 0..8, as bits.
    fn set(bits: u32) -> (Ranges, BTreeSet<u64>) {
        let numbers: BTreeSet<u64> = (0..8).filter(|n| bits >> n & 1 == 1).collect();
        let mut ranges = Ranges::default();
        numbers.iter().rev().for_each(|&n| ranges.insert(n));
        (ranges, numbers)
    }

    fn same(ranges: &Ranges, numbers: &BTreeSet<u64>) {
        assert!(
            ranges.iter().eq(numbers.iter().copied()),
            "{ranges:?} is not {numbers:?}"
        );
        assert!(
            ranges.runs.windows(2).all(|w| w[0].1 + 1 < w[1].0),
            "{ranges:?} is not canonical"
        );
        assert_eq!(ranges.len(), numbers.len() as u64);
    }

    #[test]
    fn algebra_agrees_with_plain_sets() {
        for a in 0..256 {
            let (x, p) = set(a);
            same(&x, &p);
            assert!((0..9).all(|n| x.contains(n) == p.contains(&n)));
            for b in 0..256 {
                let (y, q) = set(b);
                same(&x.union(&y), &(&p | &q));
                let mut sum = x.clone();
                y.runs()
                    .iter()
                    .for_each(|&(first, last)| sum.add(first, last));
                same(&sum, &(&p | &q));
                let mut joined = x.clone();
                joined.union_with(&y);
                same(&joined, &(&p | &q));
                same(&x.intersection(&y), &(&p & &q));
                same(&x.difference(&y), &(&p - &q));
                assert_eq!(x.is_subset(&y), p.is_subset(&q));
                assert_eq!(x.is_disjoint(&y), p.is_disjoint(&q));
            }
        }
    }

    #[test]
    fn the_greatest_number_does_not_overflow() {
        let all = Ranges::span(0, u64::MAX);
        assert_eq!(all.len(), u64::MAX);
        assert_eq!(
            all.difference(&Ranges::span(1, u64::MAX)),
            Ranges::span(0, 0)
        );
        assert_eq!(all.union(&Ranges::span(u64::MAX, u64::MAX)), all);
        assert!(all.difference(&all).is_empty());
    }
}
