//! [`Lease`]: one holder at a time by the store's clock; what its holder believes is another thing.
//!
//! Limits: one request at a time per lease; an unknown outcome is asked for a bounded number of
//! times. A lease that is dropped, or whose acquisition is dropped half-way, is free after its time
//! to live.

use core::fmt;
use std::sync::{Arc, Mutex};

use super::ask::{Ask, Settled};
use super::term::{Acquisition, Term};
use super::{FencingToken, LeaseError, LeaseOptions, Lost, TokenDomain};
use crate::env::{Env, MonoTime, lock};
use crate::store::{BlockingStore, Guard, Outcome, Store, Transaction, TransactionId};

/// A granted lease.
///
/// It lowers the number of wasted attempts; **it does not keep others out.** Its holder may be
/// paused for longer than the lease lasts and wake without knowing. What keeps a late write out is
/// the check at the resource: hand [`token`](Lease::token) to a
/// [`FencedResource`](super::FencedResource), or put [`guard`](Lease::guard) or [`Guard::fence`]
/// into the transaction that writes.
///
/// # Guarantees
/// Terms do not overlap by the store's clock. A renewal or release touches only the term it belongs
/// to. [`believes_valid`](Lease::believes_valid) turns false at a local deadline that is counted
/// from before the last successful request was sent, whatever the network does, and stays false.
/// Dropping it does not give it back, since that takes a request: it is then free after its time to
/// live.
///
/// # Examples
/// ```
/// use commute::coord::{Lease, LeaseError, LeaseOptions};
/// use commute::env::SimEnv;
/// use commute::store::MemoryStore;
///
/// let env = SimEnv::new(1);
/// let store = MemoryStore::new(env.clone())?;
/// let options = LeaseOptions::default();
/// let first = Lease::acquire_blocking(&store, &env, "printer", &options)?;
/// let second = Lease::acquire_blocking(&store, &env, "printer", &options);
/// assert!(matches!(second, Err(LeaseError::Held { .. })));
///
/// env.advance(options.ttl); // the first holder is paused; its lease ends
/// assert!(!first.believes_valid());
/// let second = Lease::acquire_blocking(&store, &env, "printer", &options)?;
/// assert!(first.token().try_cmp(second.token())?.is_lt());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub struct Lease<S, E> {
    store: S,
    env: E,
    term: Arc<Mutex<Term>>,
    token: FencingToken,
}

/// What a release found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Released {
    /// The lease was held until now.
    Now,
    /// It had ended before.
    AlreadyGone,
}

fn known(settled: Settled) -> Result<Outcome, LeaseError> {
    match settled {
        Settled::Known(answer) => Ok(answer?),
        Settled::Unknown(id) => Err(LeaseError::Unknown { id }),
    }
}

impl<S: Store + Clone, E: Env + Clone> Lease<S, E> {
    /// Asks for the lease of `domain` once. Its record is the key `lease/` and the name of the domain.
    ///
    /// # Errors
    /// [`LeaseError::Held`] if somebody has it; [`LeaseError::Unknown`] if it may have been
    /// granted, [`LeaseError::Lost`] if the answer came too late: in both cases it is free again
    /// after its time to live; [`LeaseError::NoTimeLeft`], [`LeaseError::Unsupported`],
    /// [`LeaseError::Store`].
    pub async fn acquire(
        store: &S,
        env: &E,
        domain: impl Into<TokenDomain>,
        options: &LeaseOptions,
    ) -> Result<Self, LeaseError> {
        options.check(&store.capabilities())?;
        let acquisition = Acquisition::new(domain.into(), options, env)?;
        let txn = acquisition.transaction(TransactionId::random(env)?);
        let settled = Ask::new(txn, options.asked_max).settle(store, env).await;
        Self::granted(store, env, acquisition, settled)
    }

    /// Extends the term by another time to live.
    ///
    /// # Errors
    /// [`LeaseError::Lost`]: stop working, it stays lost. [`LeaseError::Unknown`]: neither renewed
    /// nor lost; the old deadline still counts, and another renewal may be tried before it.
    /// [`LeaseError::Store`].
    pub async fn renew(&mut self) -> Result<(), LeaseError> {
        let (sent, ask) = self.renewal()?;
        let settled = ask.settle(&self.store, &self.env).await;
        self.renewed(sent, settled)
    }

    /// Gives the lease back.
    ///
    /// # Errors
    /// [`LeaseError::Unknown`] or [`LeaseError::Store`] if it may still be held; it is then free
    /// after its time to live.
    pub async fn release(self) -> Result<Released, LeaseError> {
        let ask = self.ending()?;
        released(ask.settle(&self.store, &self.env).await)
    }
}

impl<S: BlockingStore + Clone, E: Env + Clone> Lease<S, E> {
    /// [`acquire`](Self::acquire), blocking.
    ///
    /// # Errors
    /// As there.
    pub fn acquire_blocking(
        store: &S,
        env: &E,
        domain: impl Into<TokenDomain>,
        options: &LeaseOptions,
    ) -> Result<Self, LeaseError> {
        options.check(&store.capabilities())?;
        let acquisition = Acquisition::new(domain.into(), options, env)?;
        let txn = acquisition.transaction(TransactionId::random(env)?);
        let settled = Ask::new(txn, options.asked_max).settle_blocking(store, env);
        Self::granted(store, env, acquisition, settled)
    }

    /// [`renew`](Self::renew), blocking.
    ///
    /// # Errors
    /// As there.
    pub fn renew_blocking(&mut self) -> Result<(), LeaseError> {
        let (sent, ask) = self.renewal()?;
        let settled = ask.settle_blocking(&self.store, &self.env);
        self.renewed(sent, settled)
    }

    /// [`release`](Self::release), blocking.
    ///
    /// # Errors
    /// As there.
    pub fn release_blocking(self) -> Result<Released, LeaseError> {
        let ask = self.ending()?;
        released(ask.settle_blocking(&self.store, &self.env))
    }
}

fn released(settled: Settled) -> Result<Released, LeaseError> {
    match known(settled)? {
        Outcome::Committed { .. } => Ok(Released::Now),
        _ => Ok(Released::AlreadyGone),
    }
}

impl<S: Clone, E: Env + Clone> Lease<S, E> {
    fn granted(
        store: &S,
        env: &E,
        acquisition: Acquisition,
        settled: Settled,
    ) -> Result<Self, LeaseError> {
        let mut term = acquisition.decided(known(settled)?)?;
        term.usable(env.now())?;
        let token = term.token.clone();
        let term = Arc::new(Mutex::new(term));
        Ok(Self {
            store: store.clone(),
            env: env.clone(),
            term,
            token,
        })
    }

    fn renewal(&self) -> Result<(MonoTime, Ask), LeaseError> {
        let sent = self.env.now();
        lock(&self.term).usable(sent)?;
        let ask = self.ask(Term::renewal)?;
        Ok((sent, ask))
    }

    /// After this no holder believes in the term.
    fn ending(&self) -> Result<Ask, LeaseError> {
        lock(&self.term).lose(Lost::Gone);
        self.ask(Term::release)
    }

    fn ask(&self, what: fn(&Term, TransactionId) -> Transaction) -> Result<Ask, LeaseError> {
        let id = TransactionId::random(&self.env)?;
        let term = lock(&self.term);
        Ok(Ask::new(what(&term, id), term.options.asked_max))
    }

    fn renewed(&self, sent: MonoTime, settled: Settled) -> Result<(), LeaseError> {
        let outcome = known(settled);
        let mut term = lock(&self.term);
        match outcome {
            Ok(outcome) => term.renewed(outcome, sent, self.env.now()),
            Err(error) => {
                if let LeaseError::Lost(lost) = &error {
                    term.lose(*lost);
                }
                Err(error)
            }
        }
    }

    /// What the holder hands to the resources it changes.
    pub fn token(&self) -> &FencingToken {
        &self.token
    }

    /// A guard that holds while the store still has this term: for transactions on the same store,
    /// the check and the write are then one step.
    pub fn guard(&self) -> Guard {
        lock(&self.term).guard()
    }

    /// Whether the holder has no reason to think it lost. It may be lost all the same.
    pub fn believes_valid(&self) -> bool {
        self.signal().lost().is_none()
    }

    /// The local deadline.
    pub fn believes_valid_until(&self) -> MonoTime {
        lock(&self.term).until()
    }

    /// A handle that tells others when to stop.
    pub fn signal(&self) -> LossSignal<E> {
        LossSignal {
            env: self.env.clone(),
            term: Arc::clone(&self.term),
        }
    }
}

impl<S, E> fmt::Debug for Lease<S, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lease")
            .field("token", &self.token)
            .finish_non_exhaustive()
    }
}

/// Tells when a [`Lease`] is lost, by the local clock and not by a failing request.
///
/// # Examples
/// ```
/// use commute::coord::{Lease, LeaseOptions, Lost};
/// use commute::env::{Env, SimEnv};
/// use commute::store::MemoryStore;
///
/// let env = SimEnv::new(1);
/// let store = MemoryStore::new(env.clone())?;
/// let lease = Lease::acquire_blocking(&store, &env, "job", &LeaseOptions::default())?;
/// let until = lease.believes_valid_until();
/// assert_eq!(env.run(lease.signal().wait())?, Lost::DeadlinePassed);
/// assert_eq!(env.now(), until);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct LossSignal<E> {
    env: E,
    term: Arc<Mutex<Term>>,
}

impl<E: Env> LossSignal<E> {
    /// Why the lease must not be used any more, `None` while it is believed valid.
    pub fn lost(&self) -> Option<Lost> {
        lock(&self.term).lost(self.env.now())
    }

    /// Waits until the lease is lost. A renewal moves the deadline; a loss that is learnt of
    /// earlier is reported by [`lost`](Self::lost) at once, and here at the deadline.
    pub async fn wait(&self) -> Lost {
        loop {
            if let Some(lost) = self.lost() {
                return lost;
            }
            let until = lock(&self.term).until();
            self.env.sleep_until(until).await;
        }
    }

    /// [`wait`](Self::wait), blocking.
    pub fn wait_blocking(&self) -> Lost {
        loop {
            if let Some(lost) = self.lost() {
                return lost;
            }
            let until = lock(&self.term).until();
            self.env.sleep_until_blocking(until);
        }
    }
}

impl<E> fmt::Debug for LossSignal<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LossSignal").finish_non_exhaustive()
    }
}
