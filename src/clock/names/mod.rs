//! Sets of entries, compressed so that kill lists and exceptions stay small.

#[cfg(test)]
mod tests;

use alloc::vec::Vec;
use core::fmt;

use smallvec::SmallVec;

use super::by_replica::ByReplica;
use super::{Dot, Dots, EntryId, Ranges, ReplicaId};

/// A set of entries: per replica, blocks of consecutive updates that contribute the same indices.
///
/// The form is canonical (neighbouring blocks differ), and never a lexicographic range of
/// `(dot, index)`: such a range would name entries that nobody meant. Typing and adding one by one
/// is one block whatever its length, and so is a paste.
#[derive(Clone, PartialEq, Eq, Default, Hash)]
pub struct Names {
    // No replica maps to an empty list.
    blocks: ByReplica<Blocks>,
}

// One is the rule.
type Blocks = SmallVec<[Block; 1]>;

/// The updates `first..=last`, each with the same entries.
#[derive(Clone, PartialEq, Eq, Debug, Hash)]
pub(crate) struct Block {
    pub(crate) first: u64,
    pub(crate) last: u64,
    pub(crate) indices: Indices,
}

/// A set of entry indices within an update, halved and parted by parity.
#[derive(Clone, PartialEq, Eq, Default, Debug, Hash)]
pub(crate) struct Indices {
    pub(crate) even: Ranges,
    pub(crate) odd: Ranges,
}

static NO_INDICES: Indices = Indices {
    even: Ranges::new(),
    odd: Ranges::new(),
};

impl Indices {
    /// How many ranges, the block itself counted as one.
    fn weight(&self) -> u64 {
        (self.even.runs().len() + self.odd.runs().len() + 1) as u64
    }

    fn is_disjoint(&self, other: &Indices) -> bool {
        self.even.is_disjoint(&other.even) && self.odd.is_disjoint(&other.odd)
    }

    fn is_subset(&self, other: &Indices) -> bool {
        self.even.is_subset(&other.even) && self.odd.is_subset(&other.odd)
    }

    fn is_empty(&self) -> bool {
        self.even.is_empty() && self.odd.is_empty()
    }

    fn len(&self) -> u64 {
        self.even.len().saturating_add(self.odd.len())
    }

    fn contains(&self, index: u32) -> bool {
        let half = u64::from(index >> 1);
        if index & 1 == 0 {
            self.even.contains(half)
        } else {
            self.odd.contains(half)
        }
    }

    fn insert(&mut self, index: u32) {
        let half = u64::from(index >> 1);
        if index & 1 == 0 {
            self.even.insert(half)
        } else {
            self.odd.insert(half)
        }
    }

    /// Adds `other` in place. O(ranges of `other` * log ranges), and what must move.
    fn add(&mut self, other: &Indices) {
        let add = |mine: &mut Ranges, theirs: &Ranges| {
            let runs = theirs.runs().iter();
            runs.for_each(|&(first, last)| mine.add(first, last));
        };
        add(&mut self.even, &other.even);
        add(&mut self.odd, &other.odd);
    }

    fn zip(&self, other: &Indices, op: fn(&Ranges, &Ranges) -> Ranges) -> Indices {
        Indices {
            even: op(&self.even, &other.even),
            odd: op(&self.odd, &other.odd),
        }
    }

    fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        let even = self.even.iter().map(|half| (half as u32) << 1);
        let odd = self.odd.iter().map(|half| (half as u32) << 1 | 1);
        even.chain(odd)
    }
}

type Op = fn(&Ranges, &Ranges) -> Ranges;

impl Names {
    /// The empty set.
    pub const fn new() -> Names {
        Names {
            blocks: ByReplica::new(),
        }
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// How many entries, capped at `u64::MAX`.
    pub fn len(&self) -> u64 {
        let size = |b: &Block| {
            (b.last - b.first)
                .saturating_add(1)
                .saturating_mul(b.indices.len())
        };
        let blocks = self.blocks.values().flatten();
        blocks.map(size).fold(0, u64::saturating_add)
    }

    /// Whether `entry` is in the set. O(log blocks).
    pub fn contains(&self, entry: EntryId) -> bool {
        let Some(blocks) = self.blocks.get(entry.dot.replica) else {
            return false;
        };
        let at = blocks.partition_point(|block| block.last < entry.dot.counter);
        let here = |block: &Block| block.first <= entry.dot.counter;
        blocks
            .get(at)
            .is_some_and(|block| here(block) && block.indices.contains(entry.index))
    }

    /// The set of `entries`, in any order. O(n log n).
    pub fn from_entries(mut entries: Vec<EntryId>) -> Names {
        entries.sort_unstable();
        let mut names = Names::new();
        entries.into_iter().for_each(|entry| names.push(entry));
        names
    }

    /// Adds `entry`, which must not lie before the last one of its replica. Amortised O(log r).
    pub(crate) fn push(&mut self, entry: EntryId) {
        let blocks = self.blocks.entry(entry.dot.replica);
        let counter = entry.dot.counter;
        match blocks.last_mut() {
            Some(last) if last.first == counter => last.indices.insert(entry.index),
            Some(last) if last.last == counter => {
                if last.indices.contains(entry.index) {
                    return;
                }
                let mut indices = last.indices.clone();
                indices.insert(entry.index);
                last.last -= 1;
                blocks.push(Block {
                    first: counter,
                    last: counter,
                    indices,
                });
            }
            _ => {
                let mut indices = Indices::default();
                indices.insert(entry.index);
                blocks.push(Block {
                    first: counter,
                    last: counter,
                    indices,
                });
            }
        }
        coalesce_tail(blocks);
    }

    /// Adds the entries `index, index + 2, .. ` (`count` of them) of one update.
    pub(crate) fn push_stride(&mut self, dot: Dot, index: u32, count: u32) {
        let half = u64::from(index >> 1);
        let span = Ranges::span(half, half + u64::from(count.max(1)) - 1);
        let indices = match index & 1 {
            0 => Indices {
                even: span,
                odd: Ranges::default(),
            },
            _ => Indices {
                even: Ranges::default(),
                odd: span,
            },
        };
        self.add_block(
            dot.replica,
            Block {
                first: dot.counter,
                last: dot.counter,
                indices,
            },
        );
    }

    /// Adds entry `index` of each of the updates `first..=last`.
    pub(crate) fn push_column(&mut self, replica: ReplicaId, first: u64, last: u64, index: u32) {
        let mut indices = Indices::default();
        indices.insert(index);
        self.add_block(
            replica,
            Block {
                first,
                last,
                indices,
            },
        );
    }

    fn add_block(&mut self, replica: ReplicaId, block: Block) {
        let blocks = self.blocks.entry(replica);
        if blocks.last().is_none_or(|last| last.last < block.first) {
            blocks.push(block);
            coalesce_tail(blocks);
            return;
        }
        // Only what the block overlaps can change, and what then touches it: a part names first
        // its elements and then its records, so all records start again at its first update.
        let start = blocks.partition_point(|old| old.last < block.first);
        let end = blocks.partition_point(|old| old.first <= block.last);
        let merged = match &mut blocks[start..end] {
            [same] if (same.first, same.last) == (block.first, block.last) => {
                same.indices.add(&block.indices);
                1
            }
            overlapped => {
                let merged = combine(overlapped, &[block], Ranges::union);
                let count = merged.len();
                blocks.drain(start..end);
                blocks.insert_many(start, merged);
                count
            }
        };
        coalesce_at(blocks, start + merged);
        coalesce_at(blocks, start);
    }

    /// Appends a decoded block; `false` if it is empty, out of order or not canonical.
    pub(crate) fn push_block(&mut self, replica: ReplicaId, block: Block) -> bool {
        let blocks = self.blocks.entry(replica);
        let fits = match blocks.last() {
            Some(last) => {
                let touches = last.last.checked_add(1) == Some(block.first);
                last.last < block.first && !(touches && last.indices == block.indices)
            }
            None => true,
        };
        let ok = fits && block.first <= block.last && !block.indices.is_empty();
        blocks.push(block);
        ok
    }

    pub(crate) fn by_replica(&self) -> impl Iterator<Item = (ReplicaId, &[Block])> {
        self.blocks
            .iter()
            .map(|(id, blocks)| (id, blocks.as_slice()))
    }

    pub(crate) fn replicas(&self) -> impl Iterator<Item = ReplicaId> + '_ {
        self.blocks.iter().map(|(id, _)| id)
    }

    /// Every entry, ascending by update. The caller bounds the number.
    pub fn iter(&self) -> impl Iterator<Item = EntryId> + '_ {
        self.blocks.iter().flat_map(|(replica, blocks)| {
            blocks.iter().flat_map(move |block| {
                (block.first..=block.last).flat_map(move |counter| {
                    let dot = Dot { replica, counter };
                    block
                        .indices
                        .iter()
                        .map(move |index| EntryId { dot, index })
                })
            })
        })
    }

    /// The updates that created these entries.
    pub fn dots(&self) -> Dots {
        let mut dots = Dots::new();
        for (id, blocks) in self.blocks.iter() {
            let mut runs = Ranges::default();
            blocks
                .iter()
                .for_each(|block| runs.push(block.first, block.last));
            dots.put(id, runs);
        }
        dots
    }

    /// What either set holds. O(blocks).
    pub fn union(&self, other: &Names) -> Names {
        let mut all = self.clone();
        all.union_with(other);
        all
    }

    pub(crate) fn union_with(&mut self, other: &Names) {
        self.blocks.join(&other.blocks, |mine, theirs| {
            *mine = combine(mine, theirs, Ranges::union);
        });
    }

    /// This set without `other`. O(blocks).
    pub fn difference(&self, other: &Names) -> Names {
        self.zip(other, Ranges::difference)
    }

    /// What both sets hold. O(blocks).
    pub fn intersection(&self, other: &Names) -> Names {
        self.zip(other, Ranges::intersection)
    }

    /// How many blocks and ranges of indices: what it weighs in memory and bytes.
    pub(crate) fn weight(&self) -> u64 {
        let blocks = self.blocks.values().flatten();
        blocks.map(|block| block.indices.weight()).sum()
    }

    /// What combining with `other` weighs at most, beside what lies apart from it. O(blocks).
    ///
    /// Many ranges of indices over a wide block, crossed by many narrow blocks, weigh as much as the
    /// product of both; honest sets never do, so what comes from outside is asked first.
    pub(crate) fn weight_with(&self, other: &Names) -> u64 {
        let common = self.blocks.iter().filter_map(|(id, mine)| {
            let stretches = Stretches::new(mine, other.blocks.get(id)?);
            Some(stretches.map(|s| s.mine.weight() + s.theirs.weight()))
        });
        common.flatten().fold(0, u64::saturating_add)
    }

    /// What [`restrict`](Names::restrict) to `dots`, or to all but these, weighs at most.
    pub(crate) fn weight_cut(&self, dots: &Dots) -> u64 {
        let parts = self.blocks.iter().filter_map(|(id, blocks)| {
            let parts = pieces(blocks, dots.of(id)?);
            Some(parts.map(|(_, _, indices)| 2 * indices.weight()))
        });
        parts.flatten().fold(self.weight(), u64::saturating_add)
    }

    /// What any of `sets` holds; `None` if that weighs far more than the sets do.
    pub(crate) fn union_of(sets: &[&Names]) -> Option<Names> {
        let most = Names::most(sets.iter().copied());
        fn unite(sets: &[&Names], most: u64) -> Option<Names> {
            match sets {
                [] => Some(Names::new()),
                [one] => Some((*one).clone()),
                _ => {
                    let (left, right) = sets.split_at(sets.len() / 2);
                    let (mut all, more) = (unite(left, most)?, unite(right, most)?);
                    (all.weight_with(&more) <= most).then(|| {
                        all.union_with(&more);
                        all
                    })
                }
            }
        }
        unite(sets, most)
    }

    /// What a combination of `sets` may weigh before it counts as an attack.
    pub(crate) fn most<'n>(sets: impl Iterator<Item = &'n Names>) -> u64 {
        let weight = sets.map(Names::weight).fold(0, u64::saturating_add);
        weight.saturating_mul(8).saturating_add(4096)
    }

    /// Whether no entry is in both. O(blocks) and the shorter lists of ranges.
    pub(crate) fn is_disjoint(&self, other: &Names) -> bool {
        self.blocks.iter().all(|(id, mine)| {
            let theirs = other.blocks.get(id).map_or(&[][..], Blocks::as_slice);
            Stretches::new(mine, theirs).all(|s| s.mine.is_disjoint(s.theirs))
        })
    }

    /// Whether `other` holds every entry whose update is not in `dots`. O(blocks + ranges).
    pub(crate) fn is_subset_beyond(&self, dots: &Dots, other: &Names) -> bool {
        let rest = self.dots().difference(dots);
        self.blocks.iter().all(|(id, mine)| {
            let theirs = other.blocks.get(id).map_or(&[][..], Blocks::as_slice);
            let Some(runs) = rest.of(id) else {
                return true;
            };
            pieces(mine, runs).all(|(first, last, indices)| covers(theirs, first, last, indices))
        })
    }

    fn zip(&self, other: &Names, op: Op) -> Names {
        let mut out = Names::new();
        let mut cursor = other.blocks.cursor();
        for (id, mine) in self.blocks.iter() {
            let theirs = cursor.get(id).map_or(&[][..], Blocks::as_slice);
            out.put(id, combine(mine, theirs, op));
        }
        out
    }

    fn put(&mut self, replica: ReplicaId, blocks: Blocks) {
        if !blocks.is_empty() {
            self.blocks.insert(replica, blocks);
        }
    }

    /// The entries whose update is in `dots`.
    pub fn restrict(&self, dots: &Dots) -> Names {
        let mut out = Names::new();
        for (id, blocks) in self.blocks.iter() {
            if let Some(runs) = dots.of(id) {
                out.put(id, restrict(blocks, runs));
            }
        }
        out
    }

    /// The entries whose update is not in `dots`.
    pub fn without(&self, dots: &Dots) -> Names {
        self.restrict(&self.dots().difference(dots))
    }
}

fn coalesce_tail(blocks: &mut Blocks) {
    coalesce_at(blocks, blocks.len().saturating_sub(1));
}

/// Makes one block of the one at `at` and the one before it, if they are both there and alike.
fn coalesce_at(blocks: &mut Blocks, at: usize) {
    let Some([before, block]) = at.checked_sub(1).and_then(|i| blocks.get_mut(i..=at)) else {
        return;
    };
    if before.last.checked_add(1) == Some(block.first) && before.indices == block.indices {
        before.last = block.last;
        blocks.remove(at);
    }
}

/// The parts of `blocks` whose updates lie in `runs`.
fn pieces<'b>(
    blocks: &'b [Block],
    runs: &'b Ranges,
) -> impl Iterator<Item = (u64, u64, &'b Indices)> {
    runs.runs().iter().flat_map(move |&(first, last)| {
        let at = blocks.partition_point(|block| block.last < first);
        let within = blocks[at..].iter().take_while(move |b| b.first <= last);
        within.map(move |b| (b.first.max(first), b.last.min(last), &b.indices))
    })
}

/// Whether `blocks` hold `indices` of each of the updates `first..=last`.
fn covers(blocks: &[Block], first: u64, last: u64, indices: &Indices) -> bool {
    let mut next = first;
    let at = blocks.partition_point(|block| block.last < first);
    for block in &blocks[at..] {
        if block.first > next || !indices.is_subset(&block.indices) {
            return false;
        }
        if block.last >= last {
            return true;
        }
        next = block.last + 1;
    }
    false
}

fn restrict(blocks: &[Block], runs: &Ranges) -> Blocks {
    let mut out = Blocks::new();
    for (first, last, indices) in pieces(blocks, runs) {
        out.push(Block {
            first,
            last,
            indices: indices.clone(),
        });
        coalesce_tail(&mut out);
    }
    out
}

/// Combines two lists of blocks update by update.
fn combine(a: &[Block], b: &[Block], op: Op) -> Blocks {
    let mut out = Blocks::new();
    for stretch in Stretches::new(a, b) {
        let indices = stretch.mine.zip(stretch.theirs, op);
        if !indices.is_empty() {
            out.push(Block {
                first: stretch.first,
                last: stretch.last,
                indices,
            });
            coalesce_tail(&mut out);
        }
    }
    out
}

/// Updates over which neither of two lists of blocks changes.
struct Stretch<'b> {
    first: u64,
    last: u64,
    mine: &'b Indices,
    theirs: &'b Indices,
}

/// The stretches of two lists of blocks, ascending.
struct Stretches<'b> {
    mine: &'b [Block],
    theirs: &'b [Block],
    // The first update not yet covered.
    at: Option<u64>,
}

impl<'b> Stretches<'b> {
    fn new(mine: &'b [Block], theirs: &'b [Block]) -> Stretches<'b> {
        Stretches {
            mine,
            theirs,
            at: Some(0),
        }
    }
}

impl<'b> Iterator for Stretches<'b> {
    type Item = Stretch<'b>;

    fn next(&mut self) -> Option<Stretch<'b>> {
        let at = self.at?;
        for blocks in [&mut self.mine, &mut self.theirs] {
            while let [block, rest @ ..] = *blocks
                && block.last < at
            {
                *blocks = rest;
            }
        }
        let (x, y) = (self.mine.first(), self.theirs.first());
        let starts = [x, y].into_iter().flatten().map(|block| block.first);
        let first = starts.min()?.max(at);
        let (mine, mine_ends) = stretch(x, first);
        let (theirs, theirs_end) = stretch(y, first);
        let last = mine_ends.min(theirs_end);
        self.at = last.checked_add(1);
        Some(Stretch {
            first,
            last,
            mine,
            theirs,
        })
    }
}

/// What `block` contributes at `first`, and the last update up to which that stays so.
fn stretch(block: Option<&Block>, first: u64) -> (&Indices, u64) {
    match block {
        None => (&NO_INDICES, u64::MAX),
        Some(block) if block.first > first => (&NO_INDICES, block.first - 1),
        Some(block) => (&block.indices, block.last),
    }
}

impl From<EntryId> for Names {
    fn from(entry: EntryId) -> Names {
        let mut one = Names::new();
        one.push(entry);
        one
    }
}

impl FromIterator<EntryId> for Names {
    fn from_iter<I: IntoIterator<Item = EntryId>>(entries: I) -> Names {
        Names::from_entries(entries.into_iter().collect())
    }
}

impl fmt::Debug for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut set = f.debug_set();
        for (id, blocks) in self.blocks.iter() {
            for block in blocks {
                let indices: Vec<u32> = block.indices.iter().take(8).collect();
                set.entry(&format_args!(
                    "{id:?}:{}..={}.{indices:?}",
                    block.first, block.last
                ));
            }
        }
        set.finish()
    }
}
