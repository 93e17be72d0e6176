//! What an exhaustive search has checked already, so that what many systems share is checked once.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::super::fingerprint::Fingerprint;
use super::joins::Kept;
use super::{Hashing, World};

/// Joins are forgotten when there are so many.
const JOINS_MAX: usize = 1 << 18;

/// What keeps the laws, and joins that were made for them.
#[derive(Default)]
pub(crate) struct Memo {
    /// Fingerprints of replicas, of pairs of replicas, and of the ends of systems.
    checked: RefCell<HashSet<u128, Hashing>>,
    joins: RefCell<HashMap<(u128, u128), Rc<Kept>, Hashing>>,
    /// Fingerprints of two states that were found equal.
    alike: RefCell<HashSet<(u128, u128), Hashing>>,
}

impl Memo {
    pub(super) fn join_of(&self, a: u128, b: u128) -> Option<Rc<Kept>> {
        self.joins.borrow().get(&(a, b)).cloned()
    }

    pub(super) fn keep_join(&self, a: u128, b: u128, join: &Rc<Kept>) {
        let mut joins = self.joins.borrow_mut();
        if joins.len() >= JOINS_MAX {
            joins.clear();
        }
        joins.insert((a, b), Rc::clone(join));
    }

    pub(super) fn knows_alike(&self, a: u128, b: u128) -> bool {
        self.alike.borrow().contains(&(a, b))
    }

    /// `true`, for who has just found them equal; in views alone it is not to be kept.
    pub(super) fn keep_alike(&self, a: u128, b: u128, in_views: bool) -> bool {
        if !in_views {
            self.alike.borrow_mut().insert((a, b));
        }
        true
    }
}

impl World {
    /// Whether the replicas at these places are new together, as they are now; always so without a
    /// memo.
    pub(super) fn is_new(&self, places: &[usize]) -> bool {
        if self.memo.is_none() {
            return true;
        }
        let mut out = Fingerprint::new();
        for &at in places {
            out.number(at as u64);
            out.nested(self.print_at(at));
        }
        self.is_new_as(out)
    }

    /// Whether what `out` has taken in is new.
    ///
    /// What hangs on the history of the system itself, the order in which elements were shown, is
    /// not of the replicas alone: with such a specification nothing is known.
    pub(super) fn is_new_as(&self, mut out: Fingerprint) -> bool {
        let Some(memo) = &self.memo else {
            return true;
        };
        if !self.orders.borrow().is_empty() {
            return true;
        }
        out.number(u64::from(self.collected));
        memo.checked.borrow_mut().insert(out.value())
    }
}
