//! One term of a lease, without I/O: the transactions it consists of and what their outcomes mean.
//!
//! Rule: a grant creates the record, so the revision that created it is the token; renewal and
//! release are guarded by that revision and by the id of the acquisition.
//! Source: Gray and Cheriton 1989; the local deadline counts from before the request was sent.

use core::num::NonZeroU32;
use core::time::Duration;

use super::{FencingToken, LeaseError, Lost, TokenDomain};
use crate::env::{Env, MonoTime};
use crate::store::{
    Capabilities, Conflict, Guard, Key, MonotoneTokens, Outcome, Transaction, TransactionId, Value,
};

/// How long a lease lasts, and how careful its holder is.
///
/// # Examples
/// ```
/// use commute::coord::LeaseOptions;
/// use core::time::Duration;
///
/// let options = LeaseOptions { ttl: Duration::from_secs(3), ..LeaseOptions::default() };
/// assert!(options.believed() < options.ttl);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeaseOptions {
    /// How long the store keeps a grant that is not renewed, by its own clock.
    pub ttl: Duration,
    /// How far the rate of either clock may be off, in millionths; at most a million.
    pub clock_error_ppm: u32,
    /// How much earlier than computed the holder stops.
    pub margin: Duration,
    /// How often an unknown outcome is asked for.
    pub asked_max: NonZeroU32,
}

impl Default for LeaseOptions {
    /// 10 seconds, clocks off by at most 0.1 %, a margin of half a second, 5 questions.
    fn default() -> Self {
        Self {
            ttl: Duration::from_secs(10),
            clock_error_ppm: 1000,
            margin: Duration::from_millis(500),
            asked_max: const { NonZeroU32::new(5).unwrap() },
        }
    }
}

impl LeaseOptions {
    /// How long after sending a request the holder believes in the grant it brought:
    /// `ttl * (1 - e) / (1 + e) - margin`, e = clock error; zero if nothing is left.
    pub fn believed(&self) -> Duration {
        let million = 1_000_000_u128;
        let error = u128::from(self.clock_error_ppm).min(million);
        let nanos = self.ttl.as_nanos().saturating_mul(million - error) / (million + error);
        let nanos = u64::try_from(nanos).unwrap_or(u64::MAX);
        Duration::from_nanos(nanos).saturating_sub(self.margin)
    }

    /// Checks that a lease with these options makes sense on such a store.
    pub(super) fn check(&self, capabilities: &Capabilities) -> Result<(), LeaseError> {
        if self.believed().is_zero() {
            return Err(LeaseError::NoTimeLeft);
        }
        let lacks = if !capabilities.linearizable_commit {
            "linearizable commit"
        } else if capabilities.monotone_tokens == MonotoneTokens::No {
            "monotone revisions"
        } else if capabilities.ttl.is_none() {
            "time to live"
        } else {
            return Ok(());
        };
        Err(LeaseError::Unsupported { lacks })
    }
}

/// A request of a lease that is being made.
pub(super) struct Acquisition {
    domain: TokenDomain,
    id: Value,
    options: LeaseOptions,
    /// Before the request was sent.
    sent: MonoTime,
}

impl Acquisition {
    pub(super) fn new(
        domain: TokenDomain,
        options: &LeaseOptions,
        env: &impl Env,
    ) -> Result<Self, LeaseError> {
        let id = Value::from(env.random_u128()?.to_le_bytes());
        Ok(Self {
            domain,
            id,
            options: *options,
            sent: env.now(),
        })
    }

    pub(super) fn transaction(&self, id: TransactionId) -> Transaction {
        let key = record(&self.domain);
        let txn = Transaction::new(id).guard(Guard::absent(key.clone()));
        txn.put_for(key, &self.id, self.options.ttl)
    }

    pub(super) fn decided(self, outcome: Outcome) -> Result<Term, LeaseError> {
        match outcome {
            Outcome::Committed { revision } => Ok(Term {
                token: FencingToken::of_grant(self.domain, revision),
                id: self.id,
                until: self.sent.saturating_add(self.options.believed()),
                options: self.options,
                lost: None,
            }),
            Outcome::Conflict(Conflict { revision, .. }) => {
                Err(LeaseError::Held { since: revision })
            }
            // Not applied, or not known to be: to have no lease is always safe.
            Outcome::Fenced { .. } | Outcome::Unknown => Err(LeaseError::Lost(Lost::Gone)),
        }
    }
}

/// A granted term, as its holder sees it.
pub(super) struct Term {
    pub(super) token: FencingToken,
    id: Value,
    pub(super) options: LeaseOptions,
    until: MonoTime,
    lost: Option<Lost>,
}

/// Where the record of a lease lies: apart from the data, which may well have the same name.
fn record(domain: &TokenDomain) -> Key {
    Key::from(format!("lease/{}", domain.name()))
}

impl Term {
    /// Until when the holder believes in it, unless it is known to be lost.
    pub(super) fn until(&self) -> MonoTime {
        self.until
    }

    /// Why it must not be used any more.
    pub(super) fn lost(&self, now: MonoTime) -> Option<Lost> {
        self.lost
            .or((now >= self.until).then_some(Lost::DeadlinePassed))
    }

    /// Once lost it stays lost: whoever was told has stopped working.
    pub(super) fn usable(&mut self, now: MonoTime) -> Result<(), LeaseError> {
        self.lost = self.lost(now);
        self.lost.map_or(Ok(()), |lost| Err(LeaseError::Lost(lost)))
    }

    /// That the record is still the one of this term.
    pub(super) fn guard(&self) -> Guard {
        Guard::created(record(self.token.domain()), self.token.grant())
    }

    fn guarded(&self, id: TransactionId) -> Transaction {
        let own_id = Guard::value(record(self.token.domain()), &self.id);
        Transaction::new(id).guard(self.guard()).guard(own_id)
    }

    pub(super) fn renewal(&self, id: TransactionId) -> Transaction {
        self.guarded(id)
            .put_for(record(self.token.domain()), &self.id, self.options.ttl)
    }

    pub(super) fn release(&self, id: TransactionId) -> Transaction {
        self.guarded(id).delete(record(self.token.domain()))
    }

    /// Takes the outcome of a renewal that was first sent after `sent`.
    pub(super) fn renewed(
        &mut self,
        outcome: Outcome,
        sent: MonoTime,
        now: MonoTime,
    ) -> Result<(), LeaseError> {
        match outcome {
            Outcome::Committed { .. } => {
                // Before the deadline moves: it may have passed while the request was under way.
                self.usable(now)?;
                self.until = self.until.max(sent.saturating_add(self.options.believed()));
                Ok(())
            }
            Outcome::Conflict(conflict) => {
                self.lose(match conflict.entry {
                    Some(entry) => Lost::Superseded { by: entry.created },
                    None => Lost::Gone,
                });
                self.usable(now)
            }
            // Not applied, or not known to be: to stop is always safe.
            Outcome::Fenced { .. } | Outcome::Unknown => {
                self.lose(Lost::Gone);
                self.usable(now)
            }
        }
    }

    pub(super) fn lose(&mut self, lost: Lost) {
        self.lost = self.lost.or(Some(lost));
    }
}
