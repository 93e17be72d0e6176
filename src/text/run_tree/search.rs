//! Finding runs: by position, by name, by the next smaller key, and in order.

use super::run::{Key, Run, Size};
use super::{Gap, Leaf, NONE, RunTree, Spot};
use crate::kernel::Unit;
use crate::text::name_run::Name;

impl RunTree {
    /// The visible run that holds the unit at `at`; `None` at the end and behind it.
    pub(crate) fn find(&self, at: usize, unit: Unit) -> Option<Spot> {
        if at >= self.total.get(unit) {
            return None;
        }
        self.find_near(at, unit).or_else(|| self.descend(at, unit))
    }

    /// Looks around the cursor, within its leaf.
    fn find_near(&self, at: usize, unit: Unit) -> Option<Spot> {
        let mut spot = self.cursor?;
        let runs = &self.leaf(spot.leaf).runs;
        while at < spot.before.get(unit) {
            spot.run = spot.run.checked_sub(1)?;
            spot.before = spot.before.minus(runs[spot.run].size());
            self.step(1);
        }
        loop {
            let size = runs.get(spot.run)?.size();
            self.step(1);
            if at < spot.before.get(unit) + size.get(unit) {
                return Some(spot);
            }
            spot.before = spot.before.plus(size);
            spot.run += 1;
        }
    }

    fn descend(&self, at: usize, unit: Unit) -> Option<Spot> {
        let mut node = self.root;
        let mut before = Size::default();
        for _ in 0..self.height {
            let inner = self.inner(node);
            let mut sums = inner.sums.iter();
            let slot = sums.position(|sum| {
                let here = at < before.get(unit) + sum.size.get(unit);
                if !here {
                    before = before.plus(sum.size);
                }
                here
            })?;
            self.step(slot + 1);
            node = inner.kids[slot];
        }
        for (run, size) in self.leaf(node).runs.iter().map(Run::size).enumerate() {
            self.step(1);
            if at < before.get(unit) + size.get(unit) {
                return Some(Spot {
                    leaf: node,
                    run,
                    before,
                });
            }
            before = before.plus(size);
        }
        None
    }

    /// The run that holds the element `name` of `author`, and its offset in there.
    pub(crate) fn locate(&self, author: u32, name: Name) -> Option<(Gap, u32)> {
        if let Some(Spot { leaf, run, .. }) = self.cursor {
            let near = self
                .leaf(leaf)
                .runs
                .get(run)
                .filter(|run| run.author == author);
            if let Some(offset) = near.and_then(|run| run.names.offset_of(name)) {
                return Some((Gap { leaf, run }, offset));
            }
        }
        let index = &self.authors.get(author as usize)?.index;
        let (first, &leaf) = index.range(..=name).next_back()?;
        let run = self.run_of(leaf, author, *first)?;
        let offset = self.at(leaf, run).names.offset_of(name)?;
        Some((Gap { leaf, run }, offset))
    }

    /// The place in `leaf` of the run that starts with `first`.
    fn run_of(&self, leaf: u32, author: u32, first: Name) -> Option<usize> {
        let mut runs = self.leaf(leaf).runs.iter();
        let found = runs.position(|run| run.author == author && run.names.first() == first);
        self.step(1 + found.unwrap_or(0));
        found
    }

    /// The runs of `author` in order of names, from the one that holds or precedes `from`.
    pub(crate) fn runs_of(&self, author: u32, from: Name) -> impl Iterator<Item = Gap> + '_ {
        let index = self
            .authors
            .get(author as usize)
            .map(|author| &author.index);
        index.into_iter().flat_map(move |index| {
            let start = index
                .range(..=from)
                .next_back()
                .map_or(from, |(first, _)| *first);
            index.range(start..).filter_map(move |(first, &leaf)| {
                let run = self.run_of(leaf, author, *first)?;
                Some(Gap { leaf, run })
            })
        })
    }

    /// The last element of `author` by its runs.
    pub(crate) fn last_of(&self, author: u32) -> Option<(Name, u64)> {
        let (first, &leaf) = self.authors.get(author as usize)?.index.last_key_value()?;
        let run = self.at(leaf, self.run_of(leaf, author, *first)?);
        Some((run.names.last(), run.lamport + u64::from(run.len() - 1)))
    }

    /// The visible size before a place.
    pub(crate) fn before(&self, at: Gap) -> Size {
        if let Some(spot) = self.cursor
            && spot.leaf == at.leaf
        {
            return self.before_near(spot, at.run);
        }
        let mut size = Size::default();
        for run in &self.leaf(at.leaf).runs[..at.run] {
            size = size.plus(run.size());
        }
        self.step(at.run);
        let (mut child, mut parent) = (at.leaf, self.leaf(at.leaf).parent);
        while parent != NONE {
            let inner = self.inner(parent);
            let slot = self.slot(parent, child);
            for sum in &inner.sums[..slot] {
                size = size.plus(sum.size);
            }
            (child, parent) = (parent, inner.parent);
        }
        size
    }

    fn before_near(&self, mut spot: Spot, run: usize) -> Size {
        let runs = &self.leaf(spot.leaf).runs;
        while spot.run < run {
            spot.before = spot.before.plus(runs[spot.run].size());
            spot.run += 1;
        }
        while spot.run > run {
            spot.run -= 1;
            spot.before = spot.before.minus(runs[spot.run].size());
        }
        spot.before
    }

    /// Which child of `parent` this is.
    pub(super) fn slot(&self, parent: u32, child: u32) -> usize {
        let kids = &self.inner(parent).kids;
        let found = kids.iter().position(|kid| *kid == child);
        debug_assert!(found.is_some(), "a node is a child of its parent");
        let slot = found.unwrap_or(0);
        self.step(slot + 1);
        slot
    }

    /// The first run at or right of `at` that starts with a smaller key.
    pub(crate) fn smaller_right(&self, at: Gap, key: Key) -> Option<Gap> {
        let below = |run: &Run| self.less(run.key(), key);
        let here = &self.leaf(at.leaf).runs[at.run..];
        if let Some(more) = here.iter().position(below) {
            self.step(more + 1);
            return Some(Gap {
                leaf: at.leaf,
                run: at.run + more,
            });
        }
        self.step(here.len() + 1);
        let (mut child, mut parent) = (at.leaf, self.leaf(at.leaf).parent);
        while parent != NONE {
            let inner = self.inner(parent);
            let slot = self.slot(parent, child);
            let rest = &inner.sums[slot + 1..];
            if let Some(more) = rest.iter().position(|sum| self.less(sum.min, key)) {
                return self.first_smaller(inner.kids[slot + 1 + more], inner.low, key);
            }
            (child, parent) = (parent, inner.parent);
        }
        None
    }

    fn first_smaller(&self, mut node: u32, mut low: bool, key: Key) -> Option<Gap> {
        while !low {
            let inner = self.inner(node);
            let slot = inner.sums.iter().position(|sum| self.less(sum.min, key))?;
            self.step(slot + 1);
            (node, low) = (inner.kids[slot], inner.low);
        }
        let run = self
            .leaf(node)
            .runs
            .iter()
            .position(|run| self.less(run.key(), key))?;
        self.step(run + 1);
        Some(Gap { leaf: node, run })
    }

    /// The last run left of `at` that starts with a smaller key.
    pub(crate) fn smaller_left(&self, at: Gap, key: Key) -> Option<Gap> {
        let below = |run: &Run| self.less(run.key(), key);
        if let Some(run) = self.leaf(at.leaf).runs[..at.run].iter().rposition(below) {
            self.step(at.run - run);
            return Some(Gap { leaf: at.leaf, run });
        }
        self.step(at.run + 1);
        let (mut child, mut parent) = (at.leaf, self.leaf(at.leaf).parent);
        while parent != NONE {
            let inner = self.inner(parent);
            let slot = self.slot(parent, child);
            let rest = &inner.sums[..slot];
            if let Some(slot) = rest.iter().rposition(|sum| self.less(sum.min, key)) {
                return self.last_smaller(inner.kids[slot], inner.low, key);
            }
            (child, parent) = (parent, inner.parent);
        }
        None
    }

    fn last_smaller(&self, mut node: u32, mut low: bool, key: Key) -> Option<Gap> {
        while !low {
            let inner = self.inner(node);
            let slot = inner.sums.iter().rposition(|sum| self.less(sum.min, key))?;
            self.step(inner.sums.len() - slot);
            (node, low) = (inner.kids[slot], inner.low);
        }
        let runs = &self.leaf(node).runs;
        let run = runs.iter().rposition(|run| self.less(run.key(), key))?;
        self.step(runs.len() - run);
        Some(Gap { leaf: node, run })
    }

    /// The place behind the last run.
    pub(crate) fn end(&self) -> Gap {
        let mut node = self.root;
        for _ in 0..self.height {
            node = self.inner(node).kids.last().copied().unwrap_or(node);
        }
        Gap {
            leaf: node,
            run: self.leaf(node).runs.len(),
        }
    }

    /// The place before the first run.
    pub(crate) fn start(&self) -> Gap {
        let mut node = self.root;
        for _ in 0..self.height {
            node = self.inner(node).kids.first().copied().unwrap_or(node);
        }
        Gap { leaf: node, run: 0 }
    }

    /// The same place, at the end of a leaf rather than at the start of the next.
    pub(crate) fn leftmost(&self, at: Gap) -> Gap {
        let prev = self.leaf(at.leaf).prev;
        if at.run > 0 || prev == NONE {
            return at;
        }
        Gap {
            leaf: prev,
            run: self.leaf(prev).runs.len(),
        }
    }

    /// All runs in document order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Run> + '_ {
        let next = |leaf: &&Leaf| (leaf.next != NONE).then(|| self.leaf(leaf.next));
        let first = self.leaf(self.start().leaf);
        core::iter::successors(Some(first), next).flat_map(|leaf| leaf.runs.iter())
    }
}
