//! A memory store at the other end of an imagined network, which delays, loses and tampers.
#![allow(clippy::unwrap_used)]

use commute::env::SimEnv;
use commute::store::{
    BlockingStore, Capabilities, Guard, Key, MemoryStore, MemoryWatch, Outcome, Range, Revision,
    Scan, Snapshot, Store, StoreError, Transaction,
};
use core::time::Duration;
use std::sync::{Arc, Mutex};

/// What happens to the commits that pass by.
#[derive(Clone, Copy, Default)]
pub(crate) struct Faults {
    /// The clock moves this much before and after each is applied.
    pub(crate) delay: Duration,
    /// The next ones are answered `Unknown`.
    pub(crate) unknown: u32,
    /// Then these are certainly not sent.
    pub(crate) unsent: u32,
    /// Those without an answer are not applied but kept.
    pub(crate) held_back: bool,
    /// Guards that are left out.
    pub(crate) drops: Option<fn(&Guard) -> bool>,
}

/// A store at the other end of a network.
#[derive(Clone)]
pub(crate) struct Remote {
    pub(crate) inner: MemoryStore,
    pub(crate) env: SimEnv,
    pub(crate) faults: Arc<Mutex<Faults>>,
    pub(crate) kept: Arc<Mutex<Vec<Transaction>>>,
    pub(crate) capabilities: Capabilities,
}

impl Remote {
    pub(crate) fn new(inner: &MemoryStore, env: &SimEnv) -> Self {
        Self {
            inner: inner.clone(),
            env: env.clone(),
            faults: Arc::default(),
            kept: Arc::default(),
            capabilities: inner.capabilities(),
        }
    }

    pub(crate) fn set(&self, faults: Faults) {
        *self.faults.lock().unwrap() = faults;
    }
}

impl Store for Remote {
    type Watch = MemoryWatch;

    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    async fn read(&self, keys: &[Key], scans: &[Scan]) -> Result<Snapshot, StoreError> {
        self.inner.read_blocking(keys, scans)
    }

    async fn commit(&self, txn: &Transaction) -> Result<Outcome, StoreError> {
        self.commit_blocking(txn)
    }

    async fn watch(&self, range: Range, after: Revision) -> Result<MemoryWatch, StoreError> {
        self.inner.watch_blocking(range, after)
    }
}

impl BlockingStore for Remote {
    fn read_blocking(&self, keys: &[Key], scans: &[Scan]) -> Result<Snapshot, StoreError> {
        self.inner.read_blocking(keys, scans)
    }

    fn commit_blocking(&self, txn: &Transaction) -> Result<Outcome, StoreError> {
        let faults = *self.faults.lock().unwrap();
        self.env.advance(faults.delay);
        if faults.unknown == 0 && faults.unsent > 0 {
            self.faults.lock().unwrap().unsent -= 1;
            return Err(StoreError::RevisionsExhausted);
        }
        let mut sent = Transaction::new(txn.id());
        for guard in txn
            .guards()
            .iter()
            .filter(|g| !faults.drops.is_some_and(|d| d(g)))
        {
            sent = sent.guard(guard.clone());
        }
        for write in txn.writes() {
            sent = sent.write(write.clone());
        }
        let answer = if faults.unknown > 0 && faults.held_back {
            self.kept.lock().unwrap().push(sent);
            Ok(Outcome::Unknown)
        } else {
            self.inner.commit_blocking(&sent)
        };
        self.env.advance(faults.delay);
        if faults.unknown > 0 {
            self.faults.lock().unwrap().unknown -= 1;
            return Ok(Outcome::Unknown);
        }
        answer
    }
}
