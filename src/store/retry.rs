//! How a transaction is repeated, without I/O: the machine that both fronts drive.
//!
//! Rule: a conflict is tried again after a pause drawn from a growing window ("full jitter"), an
//! unknown outcome is asked for again under the same id, everything else ends it.
//! Source: Brooker 2015, "Exponential backoff and jitter". Limits: attempts and deadline.

use core::num::NonZeroU32;
use core::time::Duration;

use super::attempt::{Attempt, Failure};
use super::{
    Conflict, Contention, Outcome, Revision, StoreError, TransactError, Transaction, TransactionId,
};
use crate::env::{Env, MonoTime, scale};

/// How long and how often `transact` and `transact_blocking` try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransactOptions {
    /// How often the closure is run; also how often one commit is sent while its outcome is
    /// unknown.
    pub attempts_max: NonZeroU32,
    /// After this long no further attempt is started; `None` for no such bound.
    pub deadline: Option<Duration>,
    /// The pause after the first conflict is drawn from zero up to this; the window doubles each
    /// time.
    pub backoff_base: Duration,
    /// The greatest window.
    pub backoff_cap: Duration,
}

impl Default for TransactOptions {
    /// 64 attempts within 10 seconds, pauses up to 100 microseconds at first and 50 ms later.
    fn default() -> Self {
        Self {
            attempts_max: const { NonZeroU32::new(64).unwrap() },
            deadline: Some(Duration::from_secs(10)),
            backoff_base: Duration::from_micros(100),
            backoff_cap: Duration::from_millis(50),
        }
    }
}

/// A transaction that took effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transacted<T> {
    /// What the closure returned.
    pub value: T,
    /// The commit; if nothing was written, the revision at which everything read was true.
    pub revision: Revision,
    /// How often the closure ran.
    pub attempts: u32,
}

pub(crate) enum Step<T, E> {
    /// Run the closure.
    Attempt,
    /// Commit this.
    Commit(Pending<T>),
    /// Wait until then, then ask again.
    Sleep(MonoTime),
    Done(Result<Transacted<T>, TransactError<E>>),
}

/// A transaction whose outcome is not known yet, and what its closure returned.
pub(crate) struct Pending<T> {
    value: T,
    pub(crate) txn: Transaction,
}

pub(crate) struct Retry<'a, En: ?Sized, T> {
    env: &'a En,
    options: TransactOptions,
    contention: Option<&'a Contention>,
    started: MonoTime,
    attempts: u32,
    lost_to: Option<Conflict>,
    unknown: Option<Pending<T>>,
    unknown_commits: u32,
}

impl<'a, En: Env + ?Sized, T> Retry<'a, En, T> {
    pub(crate) fn new(
        env: &'a En,
        options: &TransactOptions,
        contention: Option<&'a Contention>,
    ) -> Self {
        Self {
            env,
            options: *options,
            contention,
            started: env.now(),
            attempts: 0,
            lost_to: None,
            unknown: None,
            unknown_commits: 0,
        }
    }

    /// What to do at the start and after a pause.
    pub(crate) fn next<E>(&mut self) -> Step<T, E> {
        if let Some(pending) = self.unknown.take() {
            return Step::Commit(pending);
        }
        let spent = self.env.now().saturating_since(self.started);
        let late = self
            .options
            .deadline
            .is_some_and(|deadline| spent >= deadline);
        // The first attempt is made in any case.
        if late && self.attempts > 0 {
            let (attempts, lost_to) = (self.attempts, self.lost_to.take());
            return Step::Done(Err(TransactError::Deadline { attempts, lost_to }));
        }
        if self.attempts > 0
            && let Some(contention) = self.contention
        {
            contention.count_retry();
        }
        self.attempts += 1;
        Step::Attempt
    }

    /// What to do after the closure has run.
    pub(crate) fn ran<E>(&mut self, mut attempt: Attempt, result: Result<T, E>) -> Step<T, E> {
        match attempt.take_failure() {
            Some(Failure::Torn(conflict)) => return self.again(Some(conflict)),
            Some(Failure::Store(error)) => return Step::Done(Err(TransactError::Store(error))),
            Some(Failure::Ended) | None => {}
        }
        let value = match result {
            Ok(value) => value,
            Err(error) => return Step::Done(Err(TransactError::User(error))),
        };
        if let Some(revision) = attempt.read_only() {
            return Step::Done(Ok(Transacted {
                value,
                revision,
                attempts: self.attempts,
            }));
        }
        match TransactionId::random(self.env) {
            Ok(id) => {
                self.unknown_commits = 0;
                let txn = attempt.into_transaction(id);
                Step::Commit(Pending { value, txn })
            }
            Err(cause) => Step::Done(Err(TransactError::Store(cause.into()))),
        }
    }

    /// What to do after the commit was answered.
    pub(crate) fn committed<E>(
        &mut self,
        pending: Pending<T>,
        answer: Result<Outcome, StoreError>,
    ) -> Step<T, E> {
        match answer {
            Ok(Outcome::Committed { revision }) => Step::Done(Ok(Transacted {
                value: pending.value,
                revision,
                attempts: self.attempts,
            })),
            Ok(Outcome::Conflict(conflict)) => self.again(Some(conflict)),
            Ok(Outcome::Fenced { floor }) => Step::Done(Err(TransactError::Fenced { floor })),
            Ok(Outcome::Unknown) => self.ask_again(pending),
            // This request was not applied, but an earlier one with the same id may have been.
            Err(_) if self.unknown_commits > 0 => self.ask_again(pending),
            // The history no longer reaches back to the reads: read again.
            Err(StoreError::Compacted { .. }) => self.again(None),
            Err(error) => Step::Done(Err(TransactError::Store(error))),
        }
    }

    fn ask_again<E>(&mut self, pending: Pending<T>) -> Step<T, E> {
        self.unknown_commits += 1;
        let spent = self.env.now().saturating_since(self.started);
        let late = self
            .options
            .deadline
            .is_some_and(|deadline| spent >= deadline);
        if late || self.unknown_commits >= self.options.attempts_max.get() {
            return Step::Done(Err(TransactError::Unknown {
                id: pending.txn.id(),
            }));
        }
        self.unknown = Some(pending);
        self.pause(self.unknown_commits)
    }

    fn again<E>(&mut self, lost_to: Option<Conflict>) -> Step<T, E> {
        self.lost_to = lost_to.or(self.lost_to.take());
        if self.attempts >= self.options.attempts_max.get() {
            let (attempts, lost_to) = (self.attempts, self.lost_to.take());
            return Step::Done(Err(TransactError::Conflict { attempts, lost_to }));
        }
        self.pause(self.attempts)
    }

    fn pause<E>(&self, round: u32) -> Step<T, E> {
        let doubled = 1_u32
            .checked_shl(round.saturating_sub(1))
            .unwrap_or(u32::MAX);
        let window = self.options.backoff_base.saturating_mul(doubled);
        let window = window.min(self.options.backoff_cap);
        let bits = match self.env.random_u64() {
            Ok(bits) => bits,
            Err(cause) => return Step::Done(Err(TransactError::Store(cause.into()))),
        };
        let nanos = u64::try_from(window.as_nanos()).unwrap_or(u64::MAX);
        let pause = Duration::from_nanos(scale(bits, nanos.saturating_add(1)));
        let until = self.env.now().saturating_add(pause);
        let last = self
            .options
            .deadline
            .map(|deadline| self.started.saturating_add(deadline));
        Step::Sleep(last.map_or(until, |last| until.min(last)))
    }
}
