//! Who looks on while deltas are included.

use alloc::vec::Vec;

use crate::clock::Names;
use crate::kernel::{Replicated, Watched};

/// Hears of every step of a merge.
pub(super) trait Feed<S: Replicated> {
    /// `part` is about to be included, and `dead` to die.
    fn before(&mut self, value: &S, part: &S::Part, dead: &Names);
}

/// Costs nothing.
pub(super) struct Nobody;

impl<S: Replicated> Feed<S> for Nobody {
    fn before(&mut self, _: &S, _: &S::Part, _: &Names) {}
}

/// Collects what changes in the view.
pub(super) struct Watcher<S: Watched> {
    before: S::Before,
}

impl<S: Watched> Watcher<S> {
    pub fn new() -> Watcher<S> {
        Watcher {
            before: S::Before::default(),
        }
    }

    pub fn changes(self, value: &S) -> Vec<S::Change> {
        value.changes(self.before)
    }
}

impl<S: Watched> Feed<S> for Watcher<S> {
    fn before(&mut self, value: &S, part: &S::Part, dead: &Names) {
        value.remember(part, dead, &mut self.before);
    }
}
