//! Committing one transaction until its outcome is known, without I/O.
//!
//! Rule: an unknown outcome is neither success nor failure; the same transaction is committed
//! again, which returns the first result.

use core::num::NonZeroU32;
use core::time::Duration;

use crate::env::Env;
use crate::store::{BlockingStore, Outcome, Store, StoreError, Transaction, TransactionId};

/// The pause before an unknown outcome is asked for again.
const PAUSE: Duration = Duration::from_millis(20);

pub(super) struct Ask {
    txn: Transaction,
    asked: u32,
    asked_max: NonZeroU32,
}

/// The outcome, or that it stays unknown.
pub(super) enum Settled {
    Known(Result<Outcome, StoreError>),
    Unknown(TransactionId),
}

impl Ask {
    pub(super) fn new(txn: Transaction, asked_max: NonZeroU32) -> Self {
        Self {
            txn,
            asked: 0,
            asked_max,
        }
    }

    /// Takes one answer; `None` means to ask again after a pause.
    fn answered(&mut self, answer: Result<Outcome, StoreError>) -> Option<Settled> {
        self.asked += 1;
        let unknown = match &answer {
            Ok(Outcome::Unknown) => true,
            // This request was not applied, but an earlier one may have been.
            Err(_) => self.asked > 1,
            Ok(_) => false,
        };
        if !unknown {
            Some(Settled::Known(answer))
        } else if self.asked >= self.asked_max.get() {
            Some(Settled::Unknown(self.txn.id()))
        } else {
            None
        }
    }

    pub(super) async fn settle(mut self, store: &impl Store, env: &impl Env) -> Settled {
        loop {
            let answer = store.commit(&self.txn).await;
            if let Some(settled) = self.answered(answer) {
                return settled;
            }
            env.sleep_until(env.now().saturating_add(PAUSE)).await;
        }
    }

    pub(super) fn settle_blocking(mut self, store: &impl BlockingStore, env: &impl Env) -> Settled {
        loop {
            let answer = store.commit_blocking(&self.txn);
            if let Some(settled) = self.answered(answer) {
                return settled;
            }
            env.sleep_until_blocking(env.now().saturating_add(PAUSE));
        }
    }
}
