//! What the running update changed in one shape, to be replayed backwards if it fails.

use alloc::boxed::Box;
use alloc::vec::Vec;

/// An undo list that costs one word while it is empty, since every small set has one.
#[derive(Clone, Debug)]
#[expect(
    clippy::box_collection,
    reason = "one word instead of three in every small set"
)]
pub(crate) struct Journal<U>(Option<Box<Vec<U>>>);

impl<U> Journal<U> {
    pub(crate) const fn new() -> Journal<U> {
        Journal(None)
    }

    pub(crate) fn push(&mut self, undo: U) {
        self.0
            .get_or_insert_with(|| Box::new(Vec::new()))
            .push(undo);
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &U> {
        self.0.iter().flat_map(|list| list.iter())
    }

    /// Empties the list and returns what it held, oldest first.
    pub(crate) fn take(&mut self) -> Vec<U> {
        self.0.take().map(|list| *list).unwrap_or_default()
    }
}

impl<U> Default for Journal<U> {
    fn default() -> Journal<U> {
        Journal::new()
    }
}
