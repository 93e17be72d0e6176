//! The run tree: element runs in document order, found by position and by name.
//!
//! A B+tree in two arenas (leaves of runs, inner nodes of sums) with `u32` links. An inner node
//! keeps for each child the visible size and the least key below it; the least keys answer
//! both questions of the RGA rule, "the next smaller id to the right" (where an insert
//! lands) and "the next smaller id to the left" (its origin), without visiting what is passed.
//! Beside it, an ordered map per replica from the first name of each run to its leaf.
//!
//! Source: `sequence` (the rule); B+tree with counts as in Knuth, vol. 3, section 6.2.3.
//! Space: 48 bytes a run, about 40 for its place in the map, 40 a leaf for sums.
//! Complexity: r runs; every search and edit is O(log r), O(1) near the last edit.

#[cfg(test)]
mod check;
mod edit;
pub(crate) mod run;
mod search;

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::cmp::Ordering;

use self::run::{Key, Run, Size};
use super::name_run::Name;
use crate::clock::ReplicaId;

/// The most runs in a leaf; few in unit tests, so that small histories make tall trees.
const LEAF_MAX: usize = if cfg!(test) { 8 } else { 32 };
/// The most children of an inner node.
const INNER_MAX: usize = if cfg!(test) { 4 } else { 32 };
/// No node.
const NONE: u32 = u32::MAX;

#[derive(Clone, Debug)]
struct Leaf {
    runs: Vec<Run>,
    parent: u32,
    prev: u32,
    next: u32,
}

impl Leaf {
    fn new(runs: Vec<Run>) -> Self {
        Self {
            runs,
            parent: NONE,
            prev: NONE,
            next: NONE,
        }
    }

    fn size(&self) -> Size {
        self.runs
            .iter()
            .fold(Size::default(), |sum, run| sum.plus(run.size()))
    }
}

/// What an inner node knows of a child.
#[derive(Clone, Copy, Debug)]
struct Sum {
    size: Size,
    min: Key,
}

#[derive(Clone, Debug)]
struct Inner {
    kids: Vec<u32>,
    sums: Vec<Sum>,
    parent: u32,
    /// Whether the children are leaves.
    low: bool,
}

/// A replica that has elements or records here.
#[derive(Clone, Debug)]
pub(crate) struct Author {
    pub(crate) id: ReplicaId,
    /// First name of each of its runs -> leaf.
    index: BTreeMap<Name, u32>,
    /// Its last element: greatest name, greatest Lamport time.
    pub(crate) tail: Option<(Name, u64)>,
}

/// A run in the tree and the visible size before it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spot {
    pub(crate) leaf: u32,
    pub(crate) run: usize,
    pub(crate) before: Size,
}

/// A place between runs: before `run` of `leaf`, which may be one behind the last.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Gap {
    pub(crate) leaf: u32,
    pub(crate) run: usize,
}

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct RunTree {
    leaves: Vec<Leaf>,
    inners: Vec<Inner>,
    free_leaves: Vec<u32>,
    free_inners: Vec<u32>,
    root: u32,
    /// Inner levels; 0 if the root is a leaf.
    height: u32,
    total: Size,
    runs: usize,
    authors: Vec<Author>,
    by_id: BTreeMap<ReplicaId, u32>,
    cursor: Option<Spot>,
    /// Nodes and runs looked at.
    #[cfg(test)]
    pub(crate) steps: check::Steps,
}

impl RunTree {
    /// The tree without runs.
    pub(crate) fn new() -> Self {
        Self {
            leaves: alloc::vec![Leaf::new(Vec::new())],
            inners: Vec::new(),
            free_leaves: Vec::new(),
            free_inners: Vec::new(),
            root: 0,
            height: 0,
            total: Size::default(),
            runs: 0,
            authors: Vec::new(),
            by_id: BTreeMap::new(),
            cursor: None,
            #[cfg(test)]
            steps: check::Steps::default(),
        }
    }

    /// The size of the visible text.
    pub(crate) fn size(&self) -> Size {
        self.total
    }

    /// How many runs it holds.
    pub(crate) fn run_count(&self) -> usize {
        self.runs
    }

    /// The replica with this number.
    pub(crate) fn author(&self, author: u32) -> &Author {
        &self.authors[author as usize]
    }

    /// The number of a replica, if it is known.
    pub(crate) fn author_of(&self, id: ReplicaId) -> Option<u32> {
        self.by_id.get(&id).copied()
    }

    /// The replicas with their numbers, in order of their ids.
    pub(crate) fn authors_by_id(&self) -> impl Iterator<Item = (ReplicaId, u32)> + '_ {
        self.by_id.iter().map(|(id, author)| (*id, *author))
    }

    /// The number of a replica, given to it now if it is new.
    pub(crate) fn intern(&mut self, id: ReplicaId) -> u32 {
        let next = self.authors.len() as u32;
        let author = *self.by_id.entry(id).or_insert(next);
        if author == next {
            self.authors.push(Author {
                id,
                index: BTreeMap::new(),
                tail: None,
            });
        }
        author
    }

    /// Says which element of `author` is its last.
    pub(crate) fn set_tail(&mut self, author: u32, tail: Option<(Name, u64)>) {
        self.authors[author as usize].tail = tail;
    }

    /// The order of two elements: Lamport time, then 128-bit replica id.
    pub(crate) fn compare(&self, a: Key, b: Key) -> Ordering {
        let id = |key: Key| {
            self.authors
                .get(key.author as usize)
                .map(|author| author.id)
        };
        a.lamport.cmp(&b.lamport).then_with(|| id(a).cmp(&id(b)))
    }

    fn less(&self, a: Key, b: Key) -> bool {
        self.compare(a, b) == Ordering::Less
    }

    fn least(&self, keys: impl Iterator<Item = Key>) -> Key {
        keys.fold(
            Key::NONE,
            |min, key| if self.less(key, min) { key } else { min },
        )
    }

    fn leaf(&self, leaf: u32) -> &Leaf {
        &self.leaves[leaf as usize]
    }

    fn inner(&self, inner: u32) -> &Inner {
        &self.inners[inner as usize]
    }

    /// The run at a spot.
    pub(crate) fn at(&self, leaf: u32, run: usize) -> &Run {
        &self.leaves[leaf as usize].runs[run]
    }

    /// Counts what is looked at, in tests.
    #[inline]
    fn step(&self, steps: usize) {
        #[cfg(test)]
        self.steps.add(steps);
        #[cfg(not(test))]
        let _ = steps;
    }
}
