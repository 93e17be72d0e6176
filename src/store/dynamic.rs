//! [`DynStore`]: the boxed twin of [`Store`], for a backend chosen at run time.

use core::future::Future;
use core::pin::Pin;
use std::sync::Arc;

use super::{
    Capabilities, Commit, Contention, Key, Outcome, Range, Revision, Scan, Snapshot, Store,
    StoreError, Transaction, Watch,
};

/// A boxed future.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// [`Store`] with boxed futures; every store is one, and `Arc<dyn DynStore>` is a store again.
///
/// # Examples
/// ```
/// use commute::env::SimEnv;
/// use commute::store::{DynStore, MemoryStore, Store};
/// use std::sync::Arc;
///
/// let env = SimEnv::new(1);
/// let store: Arc<dyn DynStore> = Arc::new(MemoryStore::new(env.clone())?);
/// let snapshot = env.run(store.read(&["a".into()], &[]))??;
/// assert_eq!(snapshot.entries, [None]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait DynStore: Send + Sync {
    /// [`Store::capabilities`].
    fn boxed_capabilities(&self) -> Capabilities;

    /// [`Store::contention`].
    fn boxed_contention(&self) -> Option<&Contention>;

    /// [`Store::read`].
    fn boxed_read<'a>(
        &'a self,
        keys: &'a [Key],
        scans: &'a [Scan],
    ) -> BoxFuture<'a, Result<Snapshot, StoreError>>;

    /// [`Store::commit`].
    fn boxed_commit<'a>(
        &'a self,
        txn: &'a Transaction,
    ) -> BoxFuture<'a, Result<Outcome, StoreError>>;

    /// [`Store::watch`].
    fn boxed_watch<'a>(
        &'a self,
        range: Range,
        after: Revision,
    ) -> BoxFuture<'a, Result<BoxWatch, StoreError>>;
}

/// The boxed twin of [`Watch`].
pub trait DynWatch: Send {
    /// [`Watch::next`].
    fn boxed_next(&mut self) -> BoxFuture<'_, Result<Commit, StoreError>>;
}

/// A watch of a [`DynStore`].
pub struct BoxWatch(Box<dyn DynWatch>);

impl core::fmt::Debug for BoxWatch {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("BoxWatch").finish_non_exhaustive()
    }
}

impl<W: Watch> DynWatch for W {
    fn boxed_next(&mut self) -> BoxFuture<'_, Result<Commit, StoreError>> {
        Box::pin(self.next())
    }
}

impl Watch for BoxWatch {
    fn next(&mut self) -> impl Future<Output = Result<Commit, StoreError>> + Send {
        self.0.boxed_next()
    }
}

impl<S> DynStore for S
where
    S: Store,
    S::Watch: 'static,
{
    fn boxed_capabilities(&self) -> Capabilities {
        self.capabilities()
    }

    fn boxed_contention(&self) -> Option<&Contention> {
        self.contention()
    }

    fn boxed_read<'a>(
        &'a self,
        keys: &'a [Key],
        scans: &'a [Scan],
    ) -> BoxFuture<'a, Result<Snapshot, StoreError>> {
        Box::pin(self.read(keys, scans))
    }

    fn boxed_commit<'a>(
        &'a self,
        txn: &'a Transaction,
    ) -> BoxFuture<'a, Result<Outcome, StoreError>> {
        Box::pin(self.commit(txn))
    }

    fn boxed_watch<'a>(
        &'a self,
        range: Range,
        after: Revision,
    ) -> BoxFuture<'a, Result<BoxWatch, StoreError>> {
        Box::pin(async move {
            let watch = self.watch(range, after).await?;
            Ok(BoxWatch(Box::new(watch)))
        })
    }
}

impl Store for Arc<dyn DynStore> {
    type Watch = BoxWatch;

    fn capabilities(&self) -> Capabilities {
        (**self).boxed_capabilities()
    }

    fn contention(&self) -> Option<&Contention> {
        (**self).boxed_contention()
    }

    async fn read(&self, keys: &[Key], scans: &[Scan]) -> Result<Snapshot, StoreError> {
        (**self).boxed_read(keys, scans).await
    }

    async fn commit(&self, txn: &Transaction) -> Result<Outcome, StoreError> {
        (**self).boxed_commit(txn).await
    }

    fn watch(
        &self,
        range: Range,
        after: Revision,
    ) -> impl Future<Output = Result<Self::Watch, StoreError>> + Send {
        (**self).boxed_watch(range, after)
    }
}
