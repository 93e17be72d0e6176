//! [`DynStore`]: the boxed twin of [`Store`], for a backend chosen at run time.

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use std::sync::Arc;

use super::{
    Capabilities, Commit, Contention, Key, Outcome, Range, Revision, Scan, Snapshot, Store,
    StoreError, Transaction, Watch,
};

type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Any [`Store`], with boxed futures; clones are handles on the same store.
///
/// A type of its own rather than `Arc<dyn ..>`: futures over a trait object's lifetime are not seen
/// to be `Send` (<https://github.com/rust-lang/rust/issues/102211>).
///
/// # Examples
/// ```
/// use commute::env::SimEnv;
/// use commute::store::{DynStore, MemoryStore, Store};
///
/// let env = SimEnv::new(1);
/// let store = DynStore::new(MemoryStore::new(env.clone())?);
/// let snapshot = env.run(store.read(&["a".into()], &[]))??;
/// assert_eq!(snapshot.entries, [None]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct DynStore(Arc<dyn BoxedStore>);

/// A watch of a [`DynStore`].
pub struct DynWatch(Box<dyn BoxedWatch>);

impl DynStore {
    /// Hides the type of `store`.
    pub fn new<S>(store: S) -> Self
    where
        S: Store + 'static,
        S::Watch: 'static,
    {
        Self(Arc::new(store))
    }
}

impl fmt::Debug for DynStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DynStore").finish_non_exhaustive()
    }
}

impl fmt::Debug for DynWatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DynWatch").finish_non_exhaustive()
    }
}

trait BoxedStore: Send + Sync {
    fn capabilities(&self) -> Capabilities;

    fn contention(&self) -> Option<&Contention>;

    fn read<'a>(
        &'a self,
        keys: &'a [Key],
        scans: &'a [Scan],
    ) -> BoxFuture<'a, Result<Snapshot, StoreError>>;

    fn commit<'a>(&'a self, txn: &'a Transaction) -> BoxFuture<'a, Result<Outcome, StoreError>>;

    fn watch(
        &self,
        range: Range,
        after: Revision,
    ) -> BoxFuture<'_, Result<Box<dyn BoxedWatch>, StoreError>>;
}

trait BoxedWatch: Send {
    fn next(&mut self) -> BoxFuture<'_, Result<Commit, StoreError>>;
}

impl<W: Watch> BoxedWatch for W {
    fn next(&mut self) -> BoxFuture<'_, Result<Commit, StoreError>> {
        Box::pin(Watch::next(self))
    }
}

impl<S> BoxedStore for S
where
    S: Store,
    S::Watch: 'static,
{
    fn capabilities(&self) -> Capabilities {
        Store::capabilities(self)
    }

    fn contention(&self) -> Option<&Contention> {
        Store::contention(self)
    }

    fn read<'a>(
        &'a self,
        keys: &'a [Key],
        scans: &'a [Scan],
    ) -> BoxFuture<'a, Result<Snapshot, StoreError>> {
        Box::pin(Store::read(self, keys, scans))
    }

    fn commit<'a>(&'a self, txn: &'a Transaction) -> BoxFuture<'a, Result<Outcome, StoreError>> {
        Box::pin(Store::commit(self, txn))
    }

    fn watch(
        &self,
        range: Range,
        after: Revision,
    ) -> BoxFuture<'_, Result<Box<dyn BoxedWatch>, StoreError>> {
        Box::pin(async move {
            let watch = Store::watch(self, range, after).await?;
            Ok(Box::new(watch) as Box<dyn BoxedWatch>)
        })
    }
}

impl Store for DynStore {
    type Watch = DynWatch;

    fn capabilities(&self) -> Capabilities {
        self.0.capabilities()
    }

    fn contention(&self) -> Option<&Contention> {
        self.0.contention()
    }

    async fn read(&self, keys: &[Key], scans: &[Scan]) -> Result<Snapshot, StoreError> {
        self.0.read(keys, scans).await
    }

    async fn commit(&self, txn: &Transaction) -> Result<Outcome, StoreError> {
        self.0.commit(txn).await
    }

    async fn watch(&self, range: Range, after: Revision) -> Result<DynWatch, StoreError> {
        self.0.watch(range, after).await.map(DynWatch)
    }
}

impl Watch for DynWatch {
    async fn next(&mut self) -> Result<Commit, StoreError> {
        self.0.next().await
    }
}
