//! [`MemoryWatch`]: a position in the history of a memory store.

use core::future::{Future, poll_fn};
use core::task::{Context, Poll};

use super::MemoryStore;
use crate::env::{MonoTime, Sleep, block_on};
use crate::store::{Commit, Range, StoreError, Watch};

/// A watch of a [`MemoryStore`].
///
/// It keeps a position, not a queue: a slow reader costs nothing, and is told
/// [`StoreError::Compacted`] once the bounded history has left it behind.
#[must_use]
pub struct MemoryWatch {
    store: MemoryStore,
    id: u64,
    range: Range,
    after: u64,
    sleep: Option<(MonoTime, Sleep)>,
}

impl core::fmt::Debug for MemoryWatch {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let mut debug = f.debug_struct("MemoryWatch");
        debug
            .field("range", &self.range)
            .field("after", &self.after)
            .finish_non_exhaustive()
    }
}

enum Next {
    Found(Result<Commit, StoreError>),
    /// Nothing yet; a record will expire then.
    Wait(Option<MonoTime>),
}

impl MemoryWatch {
    pub(super) fn new(store: MemoryStore, id: u64, range: Range, after: u64) -> Self {
        Self {
            store,
            id,
            range,
            after,
            sleep: None,
        }
    }

    /// The next commit if there is one already.
    ///
    /// # Errors
    /// [`StoreError::Compacted`] if the reader was too slow.
    pub fn try_next(&mut self) -> Result<Option<Commit>, StoreError> {
        match self.advance(None) {
            Next::Found(found) => found.map(Some),
            Next::Wait(_) => Ok(None),
        }
    }

    /// Waits for the next commit, blocking the thread.
    ///
    /// # Errors
    /// [`StoreError::Compacted`] if the reader was too slow.
    pub fn next_blocking(&mut self) -> Result<Commit, StoreError> {
        block_on(self.next())
    }

    fn advance(&mut self, context: Option<&Context<'_>>) -> Next {
        let (id, range, after) = (self.id, &self.range, self.after);
        let mut waker = context.map(|context| context.waker().clone());
        let (next, seen) = self.store.with_state(|state, _| {
            let next = match state.next_commit(range, after) {
                Ok(None) => {
                    waker = waker.take().and_then(|waker| state.wait(id, waker));
                    Next::Wait(state.next_expiry())
                }
                Ok(Some(commit)) => Next::Found(Ok(commit)),
                Err(error) => Next::Found(Err(error)),
            };
            (next, state.revision().counter())
        });
        // What a waker runs when it is dropped may use the store.
        drop(waker);
        match &next {
            Next::Found(Ok(commit)) => self.after = commit.revision.counter(),
            Next::Found(Err(_)) => {}
            Next::Wait(_) => self.after = seen,
        }
        next
    }

    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Result<Commit, StoreError>> {
        loop {
            let due = match self.advance(Some(context)) {
                Next::Found(found) => return Poll::Ready(found),
                Next::Wait(due) => due,
            };
            let Some(due) = due else {
                self.sleep = None;
                return Poll::Pending;
            };
            let sleep = match self.sleep.take() {
                Some((until, sleep)) if until == due => sleep,
                _ => self.store.env().sleep_until(due),
            };
            let (_, sleep) = self.sleep.insert((due, sleep));
            if sleep.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
            self.sleep = None;
        }
    }
}

impl Watch for MemoryWatch {
    fn next(&mut self) -> impl Future<Output = Result<Commit, StoreError>> + Send {
        poll_fn(|context| self.poll_next(context))
    }
}

impl Drop for MemoryWatch {
    fn drop(&mut self) {
        let id = self.id;
        // As above: not dropped before the lock is.
        drop(self.store.with_state(|state, _| state.forget_watch(id)));
    }
}
