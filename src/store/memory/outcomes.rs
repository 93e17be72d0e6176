//! The results of recent transactions, so that a repeated commit gets the first one again.
//!
//! Refusals are kept like commits: a request that was delivered twice must not be refused first and
//! applied later, when its author has long gone on under a new id.

use std::collections::{BTreeMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::store::{Outcome, StoreError, Transaction, TransactionId};

pub(super) struct Outcomes {
    by_id: BTreeMap<TransactionId, (u64, Outcome)>,
    order: VecDeque<TransactionId>,
    max: usize,
}

impl Outcomes {
    pub(super) fn new(max: usize) -> Self {
        Self {
            by_id: BTreeMap::new(),
            order: VecDeque::new(),
            max,
        }
    }

    /// The first result of `txn`, if it is retained.
    pub(super) fn find(&self, txn: &Transaction) -> Result<Option<Outcome>, StoreError> {
        match self.by_id.get(&txn.id()) {
            None => Ok(None),
            Some((print, outcome)) if *print == fingerprint(txn) => Ok(Some(outcome.clone())),
            Some(_) => Err(StoreError::TransactionIdReused { id: txn.id() }),
        }
    }

    pub(super) fn retain(&mut self, txn: &Transaction, outcome: &Outcome) {
        self.by_id
            .insert(txn.id(), (fingerprint(txn), outcome.clone()));
        self.order.push_back(txn.id());
        if self.order.len() > self.max
            && let Some(oldest) = self.order.pop_front()
        {
            self.by_id.remove(&oldest);
        }
    }
}

/// A hash of the content; it never leaves the process.
fn fingerprint(txn: &Transaction) -> u64 {
    let mut hasher = DefaultHasher::new();
    txn.hash(&mut hasher);
    hasher.finish()
}
