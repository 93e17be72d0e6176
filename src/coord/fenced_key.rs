//! [`FencedKey`]: one record of a store behind the floor that the store keeps.

use core::num::NonZeroU32;

use super::ask::{Ask, Settled};
use super::{Established, FenceError, FencedError, FencedResource, FencingToken};
use crate::env::Env;
use crate::store::{
    BlockingStore, Entry, Guard, Key, Outcome, Revision, Snapshot, Store, Transaction,
    TransactionId, Value,
};

/// How often an unknown outcome is asked for.
const ASKED_MAX: NonZeroU32 = const { NonZeroU32::new(5).unwrap() };

/// A record that only the holder of the newest token may write.
///
/// The floor is the one of the token's domain in the same store, raised and checked in the
/// transaction that writes. Reads are not refused to a lost holder; whatever it makes of them, its
/// write is.
///
/// # Examples
/// ```
/// use commute::coord::{Established, FencedKey, FencedResource, Lease, LeaseOptions};
/// use commute::env::SystemEnv;
/// use commute::store::MemoryStore;
///
/// let env = SystemEnv::new();
/// let store = MemoryStore::new(env)?;
/// let lease = Lease::acquire_blocking(&store, &env, "report", &LeaseOptions::default())?;
///
/// let report = FencedKey::new(&store, &env, "report");
/// let mut access = report.establish_blocking(lease.token())?;
/// assert_eq!(access.read_blocking()?, None);
/// access.write_blocking(Some("done".into()))?;
/// assert_eq!(store.get("report")?.unwrap().value.as_str(), Ok("done"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FencedKey<'s, S, E> {
    store: &'s S,
    env: &'s E,
    key: Key,
}

/// The access of an established holder to a [`FencedKey`].
#[derive(Debug)]
pub struct EstablishedKey<'a, S, E> {
    resource: &'a FencedKey<'a, S, E>,
    token: FencingToken,
    seen: Option<Revision>,
}

fn committed(settled: Settled) -> Result<Revision, FencedError> {
    match settled {
        Settled::Known(answer) => match answer? {
            Outcome::Committed { revision } => Ok(revision),
            Outcome::Conflict(conflict) => Err(FencedError::Stale {
                lost_to: Some(conflict),
            }),
            Outcome::Fenced { floor } => Err(FenceError::Fenced { floor }.into()),
            // A known outcome is not this one.
            Outcome::Unknown => Err(FencedError::Stale { lost_to: None }),
        },
        Settled::Unknown(id) => Err(FencedError::Unknown { id }),
    }
}

fn only(mut snapshot: Snapshot) -> Option<Entry> {
    snapshot.entries.pop().flatten()
}

impl<'s, S: Store, E: Env> FencedKey<'s, S, E> {
    /// The record `key` of `store`.
    pub fn new(store: &'s S, env: &'s E, key: impl Into<Key>) -> Self {
        Self {
            store,
            env,
            key: key.into(),
        }
    }

    /// Raises the floor to `token`: from here on nothing with a lower token is written.
    ///
    /// # Errors
    /// [`FencedError::Fence`] if a later holder was here; the floor stays. [`FencedError`].
    pub async fn establish(
        &self,
        token: &FencingToken,
    ) -> Result<EstablishedKey<'_, S, E>, FencedError> {
        committed(self.floor_raise(token)?.settle(self.store, self.env).await)?;
        let snapshot = self
            .store
            .read(core::slice::from_ref(&self.key), &[])
            .await?;
        Ok(self.established(token, snapshot))
    }

    fn floor_raise(&self, token: &FencingToken) -> Result<Ask, FencedError> {
        let txn = self.transaction()?.guard(Guard::fence(token));
        Ok(Ask::new(txn, ASKED_MAX))
    }

    fn transaction(&self) -> Result<Transaction, FencedError> {
        let id = TransactionId::random(self.env);
        Ok(Transaction::new(
            id.map_err(|cause| FencedError::Store(cause.into()))?,
        ))
    }

    fn established(&self, token: &FencingToken, snapshot: Snapshot) -> EstablishedKey<'_, S, E> {
        let seen = only(snapshot).map(|entry| entry.modified);
        EstablishedKey {
            resource: self,
            token: token.clone(),
            seen,
        }
    }
}

impl<S: Store, E: Env> EstablishedKey<'_, S, E> {
    /// Reads, and remembers the version for the next write; `None` if there is no such record.
    ///
    /// # Errors
    /// [`FencedError::Store`].
    pub async fn read(&mut self) -> Result<Option<Value>, FencedError> {
        let keys = core::slice::from_ref(&self.resource.key);
        let snapshot = self.resource.store.read(keys, &[]).await?;
        Ok(self.see(snapshot))
    }

    /// Writes, or with `None` deletes, if the token is not below the floor and the record is as
    /// this handle saw it last.
    ///
    /// # Errors
    /// [`FencedError`]; nothing was written, except perhaps with [`FencedError::Unknown`].
    pub async fn write(&mut self, value: Option<Value>) -> Result<(), FencedError> {
        let ask = self.change(value.as_ref())?;
        let settled = ask.settle(self.resource.store, self.resource.env).await;
        self.wrote(value.is_some(), settled)
    }

    fn see(&mut self, snapshot: Snapshot) -> Option<Value> {
        let entry = only(snapshot);
        self.seen = entry.as_ref().map(|entry| entry.modified);
        entry.map(|entry| entry.value)
    }

    fn change(&self, value: Option<&Value>) -> Result<Ask, FencedError> {
        let key = &self.resource.key;
        let version = match self.seen {
            Some(revision) => Guard::revision(key, revision),
            None => Guard::absent(key),
        };
        let txn = self
            .resource
            .transaction()?
            .guard(Guard::fence(&self.token))
            .guard(version);
        let txn = match value {
            Some(value) => txn.put(key, value),
            None => txn.delete(key),
        };
        Ok(Ask::new(txn, ASKED_MAX))
    }

    fn wrote(&mut self, exists: bool, settled: Settled) -> Result<(), FencedError> {
        let revision = committed(settled)?;
        self.seen = exists.then_some(revision);
        Ok(())
    }
}

impl<'s, S: BlockingStore, E: Env> FencedResource for FencedKey<'s, S, E> {
    type Value = Option<Value>;

    type Established<'a>
        = EstablishedKey<'a, S, E>
    where
        Self: 'a;

    fn establish_blocking(
        &self,
        token: &FencingToken,
    ) -> Result<EstablishedKey<'_, S, E>, FencedError> {
        committed(
            self.floor_raise(token)?
                .settle_blocking(self.store, self.env),
        )?;
        let keys = core::slice::from_ref(&self.key);
        let snapshot = self.store.read_blocking(keys, &[])?;
        Ok(self.established(token, snapshot))
    }
}

impl<S: BlockingStore, E: Env> Established for EstablishedKey<'_, S, E> {
    type Value = Option<Value>;

    fn read_blocking(&mut self) -> Result<Option<Value>, FencedError> {
        let keys = core::slice::from_ref(&self.resource.key);
        let snapshot = self.resource.store.read_blocking(keys, &[])?;
        Ok(self.see(snapshot))
    }

    fn write_blocking(&mut self, value: Option<Value>) -> Result<(), FencedError> {
        let ask = self.change(value.as_ref())?;
        let settled = ask.settle_blocking(self.resource.store, self.resource.env);
        self.wrote(value.is_some(), settled)
    }
}
