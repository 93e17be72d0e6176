//! What an exhaustive search has checked already, so that what many systems share is checked once.

use std::cell::RefCell;
use std::collections::HashSet;

use super::super::fingerprint::Fingerprint;
use super::{Hashing, World};

/// Fingerprints of replicas, and of pairs of replicas, that keep the laws.
#[derive(Default)]
pub(crate) struct Memo {
    checked: RefCell<HashSet<u128, Hashing>>,
}

impl World {
    /// Whether the replicas at these places are new together, as they are now; always so without a
    /// memo.
    ///
    /// What hangs on the history of the system itself, the order in which elements were shown, is
    /// not of the replicas alone: with such a specification nothing is known.
    pub(super) fn is_new(&self, places: &[usize]) -> bool {
        let Some(memo) = &self.memo else {
            return true;
        };
        if !self.orders.borrow().is_empty() {
            return true;
        }
        let mut out = Fingerprint::new();
        out.number(u64::from(self.collected));
        for &at in places {
            out.number(at as u64);
            out.nested(self.print_at(at));
        }
        memo.checked.borrow_mut().insert(out.value())
    }
}
