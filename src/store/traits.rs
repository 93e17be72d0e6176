//! The [`Store`] trait: the waist between everything that keeps records and everything that uses
//! them.

use core::future::Future;

use super::{
    Capabilities, Commit, Contention, Key, Outcome, Range, Revision, Scan, Snapshot, StoreError,
    Transaction,
};

/// A versioned store of records with atomic, guarded commits.
///
/// # Guarantees
/// Commits are linearizable and take effect in the order of their revisions. Whatever one `read`
/// returns was true at one revision. An error means that nothing was applied; a commit of which
/// that is not known ends in [`Outcome::Unknown`]. Committing a transaction again returns the
/// result of the first time, as long as the store retains it ([`Capabilities::outcomes_retained`]).
pub trait Store: Send + Sync {
    /// The watch it hands out.
    type Watch: Watch;

    /// What the store promises.
    fn capabilities(&self) -> Capabilities;

    /// Counters of the store, if it keeps any.
    fn contention(&self) -> Option<&Contention> {
        None
    }

    /// Reads records and ranges, all as of one revision.
    ///
    /// # Errors
    /// [`StoreError::LimitExceeded`].
    fn read(
        &self,
        keys: &[Key],
        scans: &[Scan],
    ) -> impl Future<Output = Result<Snapshot, StoreError>> + Send;

    /// Applies a transaction if all its guards hold.
    ///
    /// # Errors
    /// [`StoreError`] if it is malformed or cannot be applied; nothing was changed.
    fn commit(&self, txn: &Transaction)
    -> impl Future<Output = Result<Outcome, StoreError>> + Send;

    /// Delivers every commit after revision `after` that changes a record of `range`.
    ///
    /// # Errors
    /// [`StoreError::Compacted`] if the store no longer remembers all of them,
    /// [`StoreError::OtherIncarnation`] or [`StoreError::FutureRevision`] if `after` is not of its
    /// past.
    fn watch(
        &self,
        range: Range,
        after: Revision,
    ) -> impl Future<Output = Result<Self::Watch, StoreError>> + Send;
}

/// A stream of commits.
pub trait Watch: Send {
    /// Waits for the next commit: each once, in order, none left out.
    ///
    /// A call that is dropped before it is ready loses nothing.
    ///
    /// # Errors
    /// [`StoreError::Compacted`] if the reader was too slow; read again and watch from there.
    fn next(&mut self) -> impl Future<Output = Result<Commit, StoreError>> + Send;
}

/// A store whose calls may block the thread and need no executor to make progress.
///
/// A trait of its own rather than a parked thread around [`Store`]: the futures of a network client
/// may need the very thread that would be parked, so only the store itself can promise this.
pub trait BlockingStore: Store {
    /// [`Store::read`], blocking.
    ///
    /// # Errors
    /// As there.
    fn read_blocking(&self, keys: &[Key], scans: &[Scan]) -> Result<Snapshot, StoreError>;

    /// [`Store::commit`], blocking.
    ///
    /// # Errors
    /// As there.
    fn commit_blocking(&self, txn: &Transaction) -> Result<Outcome, StoreError>;
}
