//! What must hold of the tree after every step, for tests.

use core::sync::atomic::{AtomicU64, Ordering};

use super::run::{Run, Size};
use super::{Gap, NONE, RunTree};

/// A count that keeps the tree `Sync`.
#[derive(Debug, Default)]
pub(crate) struct Steps(AtomicU64);

impl Steps {
    pub(super) fn add(&self, steps: usize) {
        self.0.fetch_add(steps as u64, Ordering::Relaxed);
    }

    /// The count so far; it starts again from 0.
    pub(crate) fn take(&self) -> u64 {
        self.0.swap(0, Ordering::Relaxed)
    }
}

impl Clone for Steps {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl RunTree {
    /// Panics if a link, sum, least key, name map or limit is wrong.
    pub(crate) fn assert_sound(&self) {
        let mut leaves = Vec::new();
        let total = self.assert_node(self.root, self.height, NONE, &mut leaves);
        assert_eq!(total, self.total);
        let mut prev = NONE;
        for (i, &leaf) in leaves.iter().enumerate() {
            let node = self.leaf(leaf);
            assert_eq!(node.prev, prev);
            assert_eq!(node.next, leaves.get(i + 1).copied().unwrap_or(NONE));
            prev = leaf;
        }
        let runs: Vec<&Run> = self.iter().collect();
        assert_eq!(runs.len(), self.runs);
        assert_eq!(
            self.authors.iter().map(|a| a.index.len()).sum::<usize>(),
            self.runs
        );
        for (author, known) in self.authors.iter().enumerate() {
            assert_eq!(self.by_id.get(&known.id), Some(&(author as u32)));
            assert_eq!(known.tail, self.last_of(author as u32));
        }
        if let Some(spot) = self.cursor {
            let at = Gap {
                leaf: spot.leaf,
                run: spot.run,
            };
            let mut plain = self.clone();
            plain.cursor = None;
            assert_eq!(plain.before(at), spot.before);
        }
    }

    fn assert_node(&self, node: u32, height: u32, parent: u32, leaves: &mut Vec<u32>) -> Size {
        if height == 0 {
            let leaf = self.leaf(node);
            assert_eq!(leaf.parent, parent);
            assert!(leaf.runs.len() <= super::LEAF_MAX);
            assert!(parent == NONE || !leaf.runs.is_empty());
            for run in &leaf.runs {
                assert!(run.is_measurable());
                let index = &self.authors[run.author as usize].index;
                assert_eq!(index.get(&run.names.first()), Some(&node));
            }
            leaves.push(node);
            return leaf.size();
        }
        let inner = self.inner(node);
        assert_eq!(inner.parent, parent);
        assert!(inner.kids.len() <= super::INNER_MAX && !inner.kids.is_empty());
        assert_eq!(inner.low, height == 1);
        let mut size = Size::default();
        for (kid, sum) in inner.kids.iter().zip(&inner.sums) {
            let found = self.assert_node(*kid, height - 1, node, leaves);
            assert_eq!(found, sum.size);
            let real = if inner.low {
                self.sum_of_leaf(*kid)
            } else {
                self.sum_of_inner(*kid)
            };
            assert_eq!(real.min, sum.min);
            size = size.plus(found);
        }
        size
    }
}
