//! [`MemoryStore`]: records in an ordered map behind one lock.
//!
//! Space: the records; a bounded history for watchers and range guards; a bounded number of results
//! for repeated commits; the floors of all fence domains.

use core::future::{Future, ready};
use std::sync::Arc;
use std::sync::Mutex;

use super::state::State;
use super::watch::MemoryWatch;
use crate::coord::{Floor, TokenDomain};
use crate::env::{Env, MonoTime, lock};
use crate::store::{
    BlockingStore, Capabilities, Contention, Entry, Guard, Incarnation, Key, MonotoneTokens,
    Outcome, Range, Revision, Scan, Snapshot, Store, StoreError, StoreLimits, Transaction,
    TransactionId, TtlCapability, TtlClock, Value, Write,
};

/// How a [`MemoryStore`] is bounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryOptions {
    /// How big a request may be.
    pub limits: StoreLimits,
    /// How many recent changes are remembered for watchers and range guards.
    pub history_changes_max: usize,
    /// How many bytes of recent changes are remembered.
    pub history_bytes_max: usize,
    /// How many results are kept to answer repeated commits; an id whose result was dropped is
    /// decided anew.
    pub outcomes_retained: usize,
    /// The counter of the empty store.
    pub first_counter: u64,
}

impl Default for MemoryOptions {
    /// 65 536 changes, 64 MiB of them, 65 536 results, counting from 0.
    fn default() -> Self {
        Self {
            limits: StoreLimits::default(),
            history_changes_max: 1 << 16,
            history_bytes_max: 64 << 20,
            outcomes_retained: 1 << 16,
            first_counter: 0,
        }
    }
}

/// A [`Store`] in memory. Clones are handles on the same store.
///
/// Every call is available blocking and without a runtime; the futures of the [`Store`] trait are
/// ready at once, except a watch's.
///
/// # Guarantees
/// Those of [`Store`]. Every store is an incarnation of its own. Expired records are deleted, each
/// by a commit with its own revision, before any other request is looked at; a waiting watch brings
/// that about when it is due, nothing else does in the background.
///
/// # Complexity
/// n = records, h = remembered deletions. Reads and writes of one record: O(log n). Scans and range
/// guards: O(log n + records in the range + remembered deletions in the range). One lock is held
/// meanwhile.
///
/// # Examples
/// ```
/// use commute::env::SystemEnv;
/// use commute::store::{MemoryStore, Outcome};
///
/// let store = MemoryStore::new(SystemEnv::new())?;
/// let Outcome::Committed { revision } = store.compare_and_set("a", None, "1")? else { panic!() };
/// store.compare_and_set("a", Some(revision), "2")?;
/// // Somebody who still believes in the first revision is told what it lost to.
/// let late = store.compare_and_set("a", Some(revision), "3")?;
/// let Outcome::Conflict(lost) = late else { panic!() };
/// assert_eq!(lost.entry.unwrap().value.as_str(), Ok("2"));
/// # Ok::<(), commute::store::StoreError>(())
/// ```
#[derive(Clone)]
pub struct MemoryStore {
    shared: Arc<Shared>,
}

struct Shared {
    env: Arc<dyn Env>,
    limits: StoreLimits,
    outcomes_retained: usize,
    contention: Contention,
    state: Mutex<State>,
}

impl core::fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("MemoryStore")
            .field("contention", self.contention())
            .finish_non_exhaustive()
    }
}

impl MemoryStore {
    /// An empty store with default options.
    ///
    /// # Errors
    /// [`StoreError::Randomness`] if there are no random bytes for its incarnation.
    pub fn new(env: impl Env + 'static) -> Result<Self, StoreError> {
        Self::with_options(env, MemoryOptions::default())
    }

    /// An empty store.
    ///
    /// # Errors
    /// [`StoreError::Randomness`] if there are no random bytes for its incarnation.
    pub fn with_options(
        env: impl Env + 'static,
        options: MemoryOptions,
    ) -> Result<Self, StoreError> {
        let incarnation = Incarnation::from_bits(env.random_u128()?);
        let shared = Shared {
            env: Arc::new(env),
            limits: options.limits,
            outcomes_retained: options.outcomes_retained,
            contention: Contention::default(),
            state: Mutex::new(State::new(incarnation, &options)),
        };
        Ok(Self {
            shared: Arc::new(shared),
        })
    }

    pub(super) fn env(&self) -> &dyn Env {
        &*self.shared.env
    }

    /// Runs `f` on the state after everything due has expired, then wakes the watches.
    pub(super) fn with_state<R>(&self, f: impl FnOnce(&mut State, MonoTime) -> R) -> R {
        let (result, woken) = {
            let mut state = lock(&self.shared.state);
            let before = state.revision();
            let now = self.shared.env.now();
            state.expire(now);
            let result = f(&mut state, now);
            let changed = state.revision() != before;
            (result, changed.then(|| state.take_waiting()))
        };
        woken
            .into_iter()
            .flatten()
            .for_each(|(_, waker)| waker.wake());
        result
    }

    /// The newest revision.
    pub fn revision(&self) -> Revision {
        self.with_state(|state, _| state.revision())
    }

    /// How often transactions got in each other's way.
    pub fn contention(&self) -> &Contention {
        &self.shared.contention
    }

    /// The floor of a fence domain, `None` if no token of it was seen.
    pub fn floor(&self, domain: impl Into<TokenDomain>) -> Option<Floor> {
        let domain = domain.into();
        self.with_state(|state, _| state.floor(&domain).cloned())
    }

    /// Reads records and ranges, all as of one revision.
    ///
    /// # Errors
    /// [`StoreError::LimitExceeded`].
    pub fn read_blocking(&self, keys: &[Key], scans: &[Scan]) -> Result<Snapshot, StoreError> {
        self.shared.limits.read(keys, scans)?;
        Ok(self.with_state(|state, _| state.read(keys, scans)))
    }

    /// Applies a transaction if all its guards hold.
    ///
    /// # Errors
    /// [`StoreError`] if it is malformed or cannot be applied; nothing was changed.
    pub fn commit_blocking(&self, txn: &Transaction) -> Result<Outcome, StoreError> {
        self.shared.limits.transaction(txn)?;
        let (outcome, replayed) = self.with_state(|state, now| state.commit(txn, now))?;
        let contention = self.contention();
        match &outcome {
            _ if replayed => contention.count_replay(),
            Outcome::Committed { .. } => contention.count_commit(),
            Outcome::Conflict(_) => contention.count_conflict(),
            Outcome::Fenced { .. } => contention.count_fenced(),
            Outcome::Unknown => {}
        }
        Ok(outcome)
    }

    /// Delivers every commit after revision `after` that changes a record of `range`.
    ///
    /// # Errors
    /// [`StoreError::Compacted`] if the store no longer remembers all of them,
    /// [`StoreError::OtherIncarnation`] or [`StoreError::FutureRevision`] if `after` is not of its
    /// past, [`StoreError::LimitExceeded`].
    ///
    /// # Examples
    /// ```
    /// use commute::env::SystemEnv;
    /// use commute::store::{MemoryStore, Range};
    ///
    /// let store = MemoryStore::new(SystemEnv::new())?;
    /// let mut watch = store.watch_blocking(Range::prefix("a"), store.revision())?;
    /// let first = store.put("a1", "x")?;
    /// store.put("b1", "y")?;
    /// assert_eq!(watch.next_blocking()?.revision, first);
    /// assert_eq!(watch.try_next()?, None);
    /// # Ok::<(), commute::store::StoreError>(())
    /// ```
    pub fn watch_blocking(&self, range: Range, after: Revision) -> Result<MemoryWatch, StoreError> {
        self.shared.limits.range(&range)?;
        let id = self.with_state(|state, _| {
            state.own_past(after)?;
            state.next_commit(&range, after.counter())?;
            Ok::<_, StoreError>(state.new_watch())
        })?;
        Ok(MemoryWatch::new(self.clone(), id, range, after.counter()))
    }

    /// The record of `key`.
    ///
    /// # Errors
    /// [`StoreError::LimitExceeded`].
    pub fn get(&self, key: impl Into<Key>) -> Result<Option<Entry>, StoreError> {
        Ok(self
            .read_blocking(&[key.into()], &[])?
            .entries
            .pop()
            .flatten())
    }

    /// Sets a record without looking at what it was.
    ///
    /// # Errors
    /// [`StoreError`]; nothing was changed.
    pub fn put(
        &self,
        key: impl Into<Key>,
        value: impl Into<Value>,
    ) -> Result<Revision, StoreError> {
        self.write_blindly(Write::Put {
            key: key.into(),
            value: value.into(),
            ttl: None,
        })
    }

    /// Deletes a record, whatever it was.
    ///
    /// # Errors
    /// [`StoreError`]; nothing was changed.
    pub fn delete(&self, key: impl Into<Key>) -> Result<Revision, StoreError> {
        self.write_blindly(Write::Delete { key: key.into() })
    }

    /// Sets a record if its last change is `expected`, or, with `None`, if there is no such record.
    ///
    /// # Errors
    /// [`StoreError`]; nothing was changed.
    pub fn compare_and_set(
        &self,
        key: impl Into<Key>,
        expected: Option<Revision>,
        value: impl Into<Value>,
    ) -> Result<Outcome, StoreError> {
        let key = key.into();
        let guard = match expected {
            Some(revision) => Guard::revision(&key, revision),
            None => Guard::absent(&key),
        };
        let txn = Transaction::new(TransactionId::random(self.env())?);
        self.commit_blocking(&txn.guard(guard).put(key, value))
    }

    fn write_blindly(&self, write: Write) -> Result<Revision, StoreError> {
        self.shared.limits.write(&write)?;
        let revision = self.with_state(|state, now| state.write_blindly(&[write], now))?;
        self.contention().count_commit();
        Ok(revision)
    }
}

impl Store for MemoryStore {
    type Watch = MemoryWatch;

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            linearizable_commit: true,
            monotone_tokens: MonotoneTokens::ProcessOnly,
            ttl: Some(TtlCapability {
                min: core::time::Duration::ZERO,
                granularity: core::time::Duration::ZERO,
                resets_on_failover: false,
                clock: TtlClock::StoreMonotonic,
            }),
            unknown_outcomes: false,
            outcomes_retained: self.shared.outcomes_retained,
        }
    }

    fn contention(&self) -> Option<&Contention> {
        Some(&self.shared.contention)
    }

    fn read(
        &self,
        keys: &[Key],
        scans: &[Scan],
    ) -> impl Future<Output = Result<Snapshot, StoreError>> + Send {
        ready(self.read_blocking(keys, scans))
    }

    fn commit(
        &self,
        txn: &Transaction,
    ) -> impl Future<Output = Result<Outcome, StoreError>> + Send {
        ready(self.commit_blocking(txn))
    }

    fn watch(
        &self,
        range: Range,
        after: Revision,
    ) -> impl Future<Output = Result<MemoryWatch, StoreError>> + Send {
        ready(self.watch_blocking(range, after))
    }
}

impl BlockingStore for MemoryStore {
    fn read_blocking(&self, keys: &[Key], scans: &[Scan]) -> Result<Snapshot, StoreError> {
        Self::read_blocking(self, keys, scans)
    }

    fn commit_blocking(&self, txn: &Transaction) -> Result<Outcome, StoreError> {
        Self::commit_blocking(self, txn)
    }
}
