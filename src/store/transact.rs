//! [`transact`] and [`transact_blocking`]: run a closure as one atomic step.
//!
//! Rule: optimistic (Kung and Robinson 1981). Reads are remembered and writes kept back; the commit
//! applies the writes if nothing that was read has changed. Writes without a read never conflict.

use core::future::Future;
use core::time::Duration;
use std::sync::{Arc, Mutex};

use super::attempt::{Attempt, Wanted};
use super::retry::{Retry, Step};
use super::{
    BlockingStore, Key, Range, Scan, Store, TransactError, TransactOptions, Transacted, TxError,
    Value,
};
use crate::coord::FencingToken;
use crate::env::{Env, lock};

/// Runs `run` until its reads and writes take effect as one atomic step.
///
/// The closure may run several times and should have no effect of its own; each time it is given a
/// new [`Tx`]. If it returns an error, nothing is written and nothing tried again.
///
/// # Guarantees
/// Transactions are serializable in the order of their revisions. The closure never sees a state
/// that did not exist: all its reads are of one revision, or it is made to start again.
///
/// # Errors
/// [`TransactError`]; nothing was written, except perhaps with [`TransactError::Unknown`].
///
/// # Complexity
/// One request for each record or range read, one for the commit. While others commit, a read of a
/// range, of a missing or of a changed record repeats all reads so far in one request.
///
/// # Examples
/// ```
/// use commute::env::SimEnv;
/// use commute::store::{MemoryStore, TransactOptions, TxError, transact};
///
/// let env = SimEnv::new(1);
/// let store = MemoryStore::new(env.clone())?;
/// store.put("from", "here")?;
/// let options = TransactOptions::default();
/// let moved = transact(&store, &env, &options, |tx| async move {
///     if let Some(value) = tx.get("from").await? {
///         tx.put("to", value);
///         tx.delete("from");
///     }
///     Ok::<_, TxError>(())
/// });
/// env.run(moved)??; // on any executor: `moved.await?`
/// assert_eq!(store.get("to")?.unwrap().value.as_str(), Ok("here"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub async fn transact<'a, S, En, F, Fut, T, E>(
    store: &'a S,
    env: &'a En,
    options: &TransactOptions,
    mut run: F,
) -> Result<Transacted<T>, TransactError<E>>
where
    S: Store,
    En: Env + ?Sized,
    F: FnMut(Tx<'a, S>) -> Fut,
    Fut: Future<Output = Result<T, E>>,
{
    let mut retry = Retry::new(env, options, store.contention());
    let mut step = retry.next();
    loop {
        step = match step {
            Step::Attempt => {
                let tx = Tx {
                    store,
                    attempt: Arc::default(),
                };
                let attempt = Arc::clone(&tx.attempt);
                let result = run(tx).await;
                retry.ran(close(&attempt), result)
            }
            Step::Commit(pending) => {
                let answer = store.commit(&pending.txn).await;
                retry.committed(pending, answer)
            }
            Step::Sleep(until) => {
                env.sleep_until(until).await;
                retry.next()
            }
            Step::Done(result) => return result,
        };
    }
}

/// Runs `run` until its reads and writes take effect as one atomic step, blocking the thread.
///
/// The twin of [`transact`], for stores that need no executor.
///
/// # Errors
/// [`TransactError`]; nothing was written, except perhaps with [`TransactError::Unknown`].
///
/// # Examples
/// ```
/// use commute::env::SystemEnv;
/// use commute::store::{MemoryStore, TransactOptions, TxError, transact_blocking};
///
/// let env = SystemEnv::new();
/// let store = MemoryStore::new(env)?;
/// let done = transact_blocking(&store, &env, &TransactOptions::default(), |tx| {
///     let visits = tx.get("visits")?.map_or(0, |value| value.len());
///     tx.put("visits", vec![b'|'; visits + 1]);
///     Ok::<_, TxError>(visits + 1)
/// })?;
/// assert_eq!((done.value, done.attempts), (1, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn transact_blocking<'a, S, En, F, T, E>(
    store: &'a S,
    env: &'a En,
    options: &TransactOptions,
    mut run: F,
) -> Result<Transacted<T>, TransactError<E>>
where
    S: BlockingStore,
    En: Env + ?Sized,
    F: FnMut(BlockingTx<'a, S>) -> Result<T, E>,
{
    let mut retry = Retry::new(env, options, store.contention());
    let mut step = retry.next();
    loop {
        step = match step {
            Step::Attempt => {
                let tx = BlockingTx {
                    store,
                    attempt: Arc::default(),
                };
                let attempt = Arc::clone(&tx.attempt);
                let result = run(tx);
                retry.ran(close(&attempt), result)
            }
            Step::Commit(pending) => {
                let answer = store.commit_blocking(&pending.txn);
                retry.committed(pending, answer)
            }
            Step::Sleep(until) => {
                env.sleep_until_blocking(until);
                retry.next()
            }
            Step::Done(result) => return result,
        };
    }
}

/// Takes the attempt away from handles that outlive it.
fn close(attempt: &Mutex<Attempt>) -> Attempt {
    core::mem::replace(&mut *lock(attempt), Attempt::ended())
}

macro_rules! transaction_handle {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        pub struct $name<'a, S> {
            store: &'a S,
            attempt: Arc<Mutex<Attempt>>,
        }

        impl<S> Clone for $name<'_, S> {
            fn clone(&self) -> Self {
                Self { store: self.store, attempt: Arc::clone(&self.attempt) }
            }
        }

        impl<S> core::fmt::Debug for $name<'_, S> {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }

        impl<S> $name<'_, S> {
            /// Sets a record at the commit; a later write of this transaction replaces this one.
            ///
            /// A record that is written but not read carries no guard: nobody can make it conflict.
            pub fn put(&self, key: impl Into<Key>, value: impl Into<Value>) {
                lock(&self.attempt).put(key.into(), value.into(), None);
            }

            /// Sets a record for `ttl` by the store's clock, counted from the commit.
            pub fn put_for(&self, key: impl Into<Key>, value: impl Into<Value>, ttl: Duration) {
                lock(&self.attempt).put(key.into(), value.into(), Some(ttl));
            }

            /// Deletes a record at the commit.
            pub fn delete(&self, key: impl Into<Key>) {
                lock(&self.attempt).delete(key.into());
            }

            /// Lets the commit through only if `token` is not below the floor of its domain, which
            /// is raised to it.
            pub fn guard_fence(&self, token: &FencingToken) {
                lock(&self.attempt).fence(token.clone());
            }
        }
    };
}

transaction_handle! {
    /// The handle of one attempt of [`transact`]; clones are handles on the same attempt.
    Tx
}

transaction_handle! {
    /// The handle of one attempt of [`transact_blocking`]; clones are handles on the same attempt.
    BlockingTx
}

impl<S: Store> Tx<'_, S> {
    /// The value of a record, as this transaction has written it, else as it is stored.
    ///
    /// # Errors
    /// [`TxError`]: return it from the closure.
    pub async fn get(&self, key: impl Into<Key>) -> Result<Option<Value>, TxError> {
        let key = key.into();
        self.fetch(&Wanted::Key(key.clone())).await?;
        Ok(lock(&self.attempt).value(&key))
    }

    /// All records of a range, with this transaction's own writes.
    ///
    /// # Errors
    /// [`TxError`]: return it from the closure.
    pub async fn scan(&self, range: Range) -> Result<Vec<(Key, Value)>, TxError> {
        self.records(Scan::new(range)).await
    }

    /// The first `limit` records of a range; changes behind the last one returned do not conflict.
    ///
    /// # Errors
    /// [`TxError`]: return it from the closure.
    pub async fn scan_first(
        &self,
        range: Range,
        limit: usize,
    ) -> Result<Vec<(Key, Value)>, TxError> {
        self.records(Scan::first(range, limit)).await
    }

    async fn records(&self, scan: Scan) -> Result<Vec<(Key, Value)>, TxError> {
        let fetched = lock(&self.attempt).widened(&scan);
        self.fetch(&Wanted::Scan(fetched.clone())).await?;
        Ok(lock(&self.attempt).records(&fetched, scan.limit()))
    }

    async fn fetch(&self, wanted: &Wanted) -> Result<(), TxError> {
        let mut next = lock(&self.attempt).begin(wanted)?;
        while let Some(request) = next {
            let answer = self.store.read(&request.keys, &request.scans).await;
            let mut attempt = lock(&self.attempt);
            next = match answer {
                Ok(answer) => attempt.absorb(wanted, request, answer)?,
                Err(error) => return Err(attempt.fail(error)),
            };
        }
        Ok(())
    }
}

impl<S: BlockingStore> BlockingTx<'_, S> {
    /// The value of a record, as this transaction has written it, else as it is stored.
    ///
    /// # Errors
    /// [`TxError`]: return it from the closure.
    pub fn get(&self, key: impl Into<Key>) -> Result<Option<Value>, TxError> {
        let key = key.into();
        self.fetch(&Wanted::Key(key.clone()))?;
        Ok(lock(&self.attempt).value(&key))
    }

    /// All records of a range, with this transaction's own writes.
    ///
    /// # Errors
    /// [`TxError`]: return it from the closure.
    pub fn scan(&self, range: Range) -> Result<Vec<(Key, Value)>, TxError> {
        self.records(Scan::new(range))
    }

    /// The first `limit` records of a range; changes behind the last one returned do not conflict.
    ///
    /// # Errors
    /// [`TxError`]: return it from the closure.
    pub fn scan_first(&self, range: Range, limit: usize) -> Result<Vec<(Key, Value)>, TxError> {
        self.records(Scan::first(range, limit))
    }

    fn records(&self, scan: Scan) -> Result<Vec<(Key, Value)>, TxError> {
        let fetched = lock(&self.attempt).widened(&scan);
        self.fetch(&Wanted::Scan(fetched.clone()))?;
        Ok(lock(&self.attempt).records(&fetched, scan.limit()))
    }

    fn fetch(&self, wanted: &Wanted) -> Result<(), TxError> {
        let mut next = lock(&self.attempt).begin(wanted)?;
        while let Some(request) = next {
            let answer = self.store.read_blocking(&request.keys, &request.scans);
            let mut attempt = lock(&self.attempt);
            next = match answer {
                Ok(answer) => attempt.absorb(wanted, request, answer)?,
                Err(error) => return Err(attempt.fail(error)),
            };
        }
        Ok(())
    }
}
