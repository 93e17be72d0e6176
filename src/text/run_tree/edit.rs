//! Changing the tree: runs are replaced a few at a time, joined with their neighbours, and the
//! sums, least keys, name maps and node sizes follow.
//!
//! Leaves split when full and take in a neighbour when three quarters empty; inner nodes split
//! when full and go when empty, and a root with one child gives way to it.

use alloc::vec::Vec;

use super::run::{Key, Run, Size};
use super::{Gap, INNER_MAX, Inner, LEAF_MAX, Leaf, NONE, RunTree, Spot, Sum};
use crate::clock::ReplicaId;

/// At most three runs and their two neighbours, joined where they chain.
struct Joined {
    runs: [Run; 5],
    len: usize,
}

impl Joined {
    fn push(&mut self, run: Run) {
        if let Some(last) = self.len.checked_sub(1)
            && let Some(joined) = self.runs[last].join(&run)
        {
            self.runs[last] = joined;
            return;
        }
        self.runs[self.len] = run;
        self.len += 1;
    }
}

impl RunTree {
    /// Replaces `count` runs from `spot` by `with` (at most three), joining what chains.
    ///
    /// The cursor goes to the run that holds `with[focus]`, or near it.
    pub(crate) fn replace(&mut self, spot: Spot, count: usize, with: &[Run], focus: usize) {
        let runs = &self.leaf(spot.leaf).runs;
        let (mut from, mut to, mut before) = (spot.run, spot.run + count, spot.before);
        let mut list = Joined {
            runs: [Run::BLANK; 5],
            len: 0,
        };
        if let Some(prev) = from.checked_sub(1) {
            (from, before) = (prev, before.minus(runs[prev].size()));
            list.push(runs[prev]);
        }
        let mut focused = 0;
        for (i, run) in with.iter().enumerate() {
            list.push(*run);
            if i == focus {
                focused = list.len - 1;
            }
        }
        if let Some(next) = runs.get(to) {
            list.push(*next);
            to += 1;
        }
        let list = &list.runs[..list.len];
        for run in &list[..focused.min(list.len())] {
            before = before.plus(run.size());
        }
        self.cursor = None;
        if self.splice(spot.leaf, from, to - from, list) && focused < list.len() {
            self.cursor = Some(Spot {
                leaf: spot.leaf,
                run: from + focused,
                before,
            });
        }
    }

    /// Replaces runs as they are; says whether the leaf still is what it was otherwise.
    fn splice(&mut self, leaf: u32, from: usize, count: usize, with: &[Run]) -> bool {
        let node = &mut self.leaves[leaf as usize];
        let old: [Run; 5] =
            core::array::from_fn(|i| *node.runs[from..from + count].get(i).unwrap_or(&Run::BLANK));
        let old = &old[..count];
        if count == with.len() {
            node.runs[from..from + count].copy_from_slice(with);
        } else {
            node.runs.splice(from..from + count, with.iter().copied());
        }
        self.runs = self.runs + with.len() - count;
        let moved = self.reindex(leaf, old, with);
        let total = |runs: &[Run]| {
            runs.iter()
                .fold(Size::default(), |sum, r| sum.plus(r.size()))
        };
        let least = moved.then(|| self.least(self.leaf(leaf).runs.iter().map(Run::key)));
        self.resum(leaf, total(old), total(with), least);
        let len = self.leaf(leaf).runs.len();
        if len > LEAF_MAX {
            self.split_leaf(leaf);
        } else if len < LEAF_MAX / 4 && count > with.len() {
            return self.shrink_leaf(leaf);
        }
        len <= LEAF_MAX
    }

    /// Brings the name maps up to date; says whether any run starts elsewhere than before.
    fn reindex(&mut self, leaf: u32, old: &[Run], new: &[Run]) -> bool {
        let name = |run: &Run| (run.author, run.names.first());
        let mut moved = false;
        for run in old
            .iter()
            .filter(|run| new.iter().all(|other| name(other) != name(run)))
        {
            self.authors[run.author as usize]
                .index
                .remove(&run.names.first());
            moved = true;
        }
        for run in new
            .iter()
            .filter(|run| old.iter().all(|other| name(other) != name(run)))
        {
            self.authors[run.author as usize]
                .index
                .insert(run.names.first(), leaf);
            moved = true;
        }
        moved
    }

    /// Tells the ancestors of a leaf how its size and its least key changed.
    fn resum(&mut self, leaf: u32, old: Size, new: Size, mut least: Option<Key>) {
        self.total = self.total.plus(new).minus(old);
        if old == new && least.is_none() {
            return;
        }
        let (mut child, mut parent) = (leaf, self.leaf(leaf).parent);
        while parent != NONE {
            let slot = self.slot(parent, child);
            let sum = &mut self.inners[parent as usize].sums[slot];
            sum.size = sum.size.plus(new).minus(old);
            if let Some(min) = least {
                least = (sum.min != min).then_some(min);
                sum.min = min;
            }
            if least.is_some() {
                least = Some(self.least(self.inner(parent).sums.iter().map(|sum| sum.min)));
            }
            (child, parent) = (parent, self.inner(parent).parent);
        }
    }

    pub(super) fn sum_of_leaf(&self, leaf: u32) -> Sum {
        let node = self.leaf(leaf);
        Sum {
            size: node.size(),
            min: self.least(node.runs.iter().map(Run::key)),
        }
    }

    pub(super) fn sum_of_inner(&self, inner: u32) -> Sum {
        let sums = &self.inner(inner).sums;
        Sum {
            size: sums
                .iter()
                .fold(Size::default(), |all, sum| all.plus(sum.size)),
            min: self.least(sums.iter().map(|sum| sum.min)),
        }
    }

    fn add_leaf(&mut self, leaf: Leaf) -> u32 {
        if let Some(free) = self.free_leaves.pop() {
            self.leaves[free as usize] = leaf;
            return free;
        }
        self.leaves.push(leaf);
        (self.leaves.len() - 1) as u32
    }

    fn add_inner(&mut self, inner: Inner) -> u32 {
        if let Some(free) = self.free_inners.pop() {
            self.inners[free as usize] = inner;
            return free;
        }
        self.inners.push(inner);
        (self.inners.len() - 1) as u32
    }

    fn reindex_leaf(&mut self, leaf: u32, from: usize) {
        let runs = &self.leaves[leaf as usize].runs[from..];
        for run in runs {
            self.authors[run.author as usize]
                .index
                .insert(run.names.first(), leaf);
        }
        self.step(runs.len());
    }

    fn split_leaf(&mut self, leaf: u32) {
        let node = &mut self.leaves[leaf as usize];
        let half = node.runs.len() / 2;
        let upper = node.runs.split_off(half);
        let (parent, next) = (node.parent, node.next);
        let new = self.add_leaf(Leaf {
            runs: upper,
            parent,
            prev: leaf,
            next,
        });
        self.leaves[leaf as usize].next = new;
        if next != NONE {
            self.leaves[next as usize].prev = new;
        }
        self.reindex_leaf(new, 0);
        let sums = (self.sum_of_leaf(leaf), self.sum_of_leaf(new));
        self.add_kid(parent, (leaf, sums.0), (new, sums.1), true);
    }

    /// Puts `new` right of `kid` into `parent`, or both under a new root.
    fn add_kid(&mut self, parent: u32, kid: (u32, Sum), new: (u32, Sum), low: bool) {
        if parent == NONE {
            let (kids, sums) = (alloc::vec![kid.0, new.0], alloc::vec![kid.1, new.1]);
            let root = self.add_inner(Inner {
                kids,
                sums,
                parent: NONE,
                low,
            });
            self.set_parent(kid.0, low, root);
            self.set_parent(new.0, low, root);
            self.root = root;
            self.height += 1;
            return;
        }
        let slot = self.slot(parent, kid.0);
        let inner = &mut self.inners[parent as usize];
        inner.sums[slot] = kid.1;
        inner.kids.insert(slot + 1, new.0);
        inner.sums.insert(slot + 1, new.1);
        if inner.kids.len() > INNER_MAX {
            self.split_inner(parent);
        }
    }

    fn set_parent(&mut self, node: u32, is_leaf: bool, parent: u32) {
        if is_leaf {
            self.leaves[node as usize].parent = parent;
        } else {
            self.inners[node as usize].parent = parent;
        }
    }

    fn split_inner(&mut self, inner: u32) {
        let node = &mut self.inners[inner as usize];
        let half = node.kids.len() / 2;
        let (kids, sums) = (node.kids.split_off(half), node.sums.split_off(half));
        let (parent, low) = (node.parent, node.low);
        let moved = kids.clone();
        let new = self.add_inner(Inner {
            kids,
            sums,
            parent,
            low,
        });
        for kid in moved {
            self.set_parent(kid, low, new);
        }
        let sums = (self.sum_of_inner(inner), self.sum_of_inner(new));
        self.add_kid(parent, (inner, sums.0), (new, sums.1), false);
    }

    /// Removes an empty leaf, or joins a nearly empty one with neighbours of the same parent;
    /// says whether neither was needed.
    fn shrink_leaf(&mut self, mut leaf: u32) -> bool {
        let mut untouched = true;
        loop {
            let Leaf {
                parent,
                prev,
                next,
                ref runs,
            } = self.leaves[leaf as usize];
            let len = runs.len();
            if parent == NONE || len >= LEAF_MAX / 4 {
                return untouched;
            }
            if len == 0 {
                self.drop_leaf(leaf);
                return false;
            }
            let fits = |other: u32| {
                other != NONE && {
                    let other = self.leaf(other);
                    other.parent == parent && other.runs.len() + len <= LEAF_MAX * 3 / 4
                }
            };
            if fits(next) {
                self.merge_leaves(leaf, next);
            } else if fits(prev) {
                self.merge_leaves(prev, leaf);
                leaf = prev;
            } else {
                return untouched;
            }
            untouched = false;
        }
    }

    fn merge_leaves(&mut self, left: u32, right: u32) {
        let moved = core::mem::take(&mut self.leaves[right as usize].runs);
        let into = &mut self.leaves[left as usize].runs;
        let mut from = into.len();
        let border = into
            .last()
            .zip(moved.first())
            .and_then(|(last, next)| last.join(next));
        let rest = if let Some(joined) = border {
            from -= 1;
            into[from] = joined;
            self.runs -= 1;
            let gone = moved[0];
            self.authors[gone.author as usize]
                .index
                .remove(&gone.names.first());
            &moved[1..]
        } else {
            &moved[..]
        };
        self.leaves[left as usize].runs.extend_from_slice(rest);
        self.reindex_leaf(left, from);
        let parent = self.leaf(left).parent;
        let (slot, sum) = (self.slot(parent, left), self.sum_of_leaf(left));
        self.inners[parent as usize].sums[slot] = sum;
        self.drop_leaf(right);
    }

    /// Takes out a leaf without runs.
    fn drop_leaf(&mut self, leaf: u32) {
        let Leaf {
            parent, prev, next, ..
        } = self.leaves[leaf as usize];
        if prev != NONE {
            self.leaves[prev as usize].next = next;
        }
        if next != NONE {
            self.leaves[next as usize].prev = prev;
        }
        self.free_leaves.push(leaf);
        self.drop_kid(parent, leaf);
    }

    fn drop_kid(&mut self, parent: u32, kid: u32) {
        let slot = self.slot(parent, kid);
        let inner = &mut self.inners[parent as usize];
        inner.kids.remove(slot);
        inner.sums.remove(slot);
        let above = inner.parent;
        match (inner.kids.as_slice(), above) {
            ([], NONE) => self.clear_nodes(),
            ([], _) => {
                self.free_inners.push(parent);
                self.drop_kid(above, parent);
            }
            ([_], NONE) => self.lower_root(),
            (kids, above) if above != NONE && kids.len() <= INNER_MAX / 4 => {
                self.shrink_inner(parent);
            }
            _ => {}
        }
    }

    /// Joins a nearly empty inner node with a neighbour of the same parent.
    fn shrink_inner(&mut self, inner: u32) {
        let above = self.inner(inner).parent;
        let slot = self.slot(above, inner);
        let kids = &self.inner(above).kids;
        let len = self.inner(inner).kids.len();
        let fits = |other: &u32| self.inner(*other).kids.len() + len <= INNER_MAX * 3 / 4;
        let next = kids.get(slot + 1).copied().filter(fits);
        let prev = slot.checked_sub(1).map(|slot| kids[slot]).filter(fits);
        let (left, right) = match (prev, next) {
            (_, Some(next)) => (inner, next),
            (Some(prev), None) => (prev, inner),
            (None, None) => return,
        };
        let from = &mut self.inners[right as usize];
        let (kids, sums) = (
            core::mem::take(&mut from.kids),
            core::mem::take(&mut from.sums),
        );
        let low = from.low;
        for kid in &kids {
            self.set_parent(*kid, low, left);
        }
        let into = &mut self.inners[left as usize];
        into.kids.extend(kids);
        into.sums.extend(sums);
        let sum = self.sum_of_inner(left);
        let slot = self.slot(above, left);
        self.inners[above as usize].sums[slot] = sum;
        self.free_inners.push(right);
        self.drop_kid(above, right);
    }

    /// While the root has one child, that child is the root.
    fn lower_root(&mut self) {
        while self.height > 0
            && let [kid] = self.inner(self.root).kids[..]
        {
            self.free_inners.push(self.root);
            let low = self.inner(self.root).low;
            self.set_parent(kid, low, NONE);
            self.root = kid;
            self.height -= 1;
        }
    }

    fn clear_nodes(&mut self) {
        self.leaves = alloc::vec![Leaf::new(Vec::new())];
        self.inners.clear();
        self.free_leaves.clear();
        self.free_inners.clear();
        (self.root, self.height) = (0, 0);
    }

    /// Builds the tree over runs in document order whose names are unique.
    ///
    /// `runs` name the replicas by their places in `ids`, which must be distinct.
    ///
    /// # Complexity
    /// O(r) for the nodes; the name maps are sorted, O(r log r) unless they come in order.
    pub(crate) fn build(ids: &[ReplicaId], runs: &[Run]) -> Self {
        let mut tree = Self::new();
        let mut names: Vec<Vec<_>> = ids.iter().map(|_| Vec::new()).collect();
        let mut row: Vec<(u32, Sum)> = Vec::new();
        for id in ids {
            tree.intern(*id);
        }
        for (number, part) in runs.chunks(LEAF_MAX * 3 / 4).enumerate() {
            let leaf = number as u32;
            for run in part {
                names[run.author as usize].push((run.names.first(), leaf));
            }
            let node = Leaf {
                prev: leaf.wrapping_sub(1),
                ..Leaf::new(part.to_vec())
            };
            if number == 0 {
                tree.leaves[0] = node;
            } else {
                tree.leaves[number - 1].next = leaf;
                tree.leaves.push(node);
            }
            row.push((leaf, tree.sum_of_leaf(leaf)));
        }
        tree.total = row
            .iter()
            .fold(Size::default(), |all, (_, sum)| all.plus(sum.size));
        tree.runs = runs.len();
        for (author, names) in tree.authors.iter_mut().zip(names) {
            author.index = names.into_iter().collect();
        }
        tree.build_inners(row);
        for author in 0..tree.authors.len() as u32 {
            let tail = tree.last_of(author);
            tree.set_tail(author, tail);
        }
        tree
    }

    fn build_inners(&mut self, mut row: Vec<(u32, Sum)>) {
        let mut low = true;
        while row.len() > 1 {
            let mut above = Vec::with_capacity(row.len() / (INNER_MAX / 2));
            for part in row.chunks(INNER_MAX * 3 / 4) {
                let (kids, sums) = part.iter().copied().unzip();
                let inner = self.add_inner(Inner {
                    kids,
                    sums,
                    parent: NONE,
                    low,
                });
                for (kid, _) in part {
                    self.set_parent(*kid, low, inner);
                }
                above.push((inner, self.sum_of_inner(inner)));
            }
            (row, low) = (above, false);
            self.root = row[0].0;
            self.height += 1;
        }
    }

    /// The visible run at `at` grows by `more` elements whose text has this size; the caller
    /// has asked [`Run::join`].
    pub(crate) fn grow(&mut self, spot: Spot, joined: Run) {
        let run = &mut self.leaves[spot.leaf as usize].runs[spot.run];
        let old = run.size();
        *run = joined;
        self.cursor = Some(spot);
        self.resum(spot.leaf, old, joined.size(), None);
    }

    /// The spot of a run, with what is visible before it; the cursor goes there.
    pub(crate) fn spot(&mut self, at: Gap) -> Spot {
        let spot = Spot {
            leaf: at.leaf,
            run: at.run,
            before: self.before(at),
        };
        if at.run < self.leaf(at.leaf).runs.len() {
            self.cursor = Some(spot);
        }
        spot
    }
}
