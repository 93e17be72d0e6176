//! What a waker runs when it is dropped must not find the store locked.
#![allow(clippy::unwrap_used, reason = "a test stops where it fails")]

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

use commute::env::SimEnv;
use commute::store::{MemoryStore, Range, Watch};

/// A task that reads the store when its last waker goes.
struct Task(MemoryStore);

impl Wake for Task {
    fn wake(self: Arc<Task>) {}
}

impl Drop for Task {
    fn drop(&mut self) {
        self.0.revision();
    }
}

fn poll_once(watch: &mut impl Watch, waker: Waker) {
    let mut next = pin!(watch.next());
    assert!(matches!(
        next.as_mut().poll(&mut Context::from_waker(&waker)),
        Poll::Pending
    ));
}

fn ends(work: impl FnOnce() + Send + 'static) {
    let (done, ended) = channel();
    thread::spawn(move || {
        work();
        done.send(()).unwrap();
    });
    assert_eq!(ended.recv_timeout(Duration::from_secs(5)), Ok(()));
}

#[test]
fn a_waker_that_is_replaced_may_use_the_store_when_it_is_dropped() {
    ends(|| {
        let store = MemoryStore::new(SimEnv::new(1)).unwrap();
        let mut watch = store
            .watch_blocking(Range::all(), store.revision())
            .unwrap();
        poll_once(&mut watch, Arc::new(Task(store.clone())).into());
        poll_once(&mut watch, Waker::noop().clone());
    });
}

#[test]
fn a_waker_of_a_dropped_watch_may_use_the_store_when_it_is_dropped() {
    ends(|| {
        let store = MemoryStore::new(SimEnv::new(1)).unwrap();
        let mut watch = store
            .watch_blocking(Range::all(), store.revision())
            .unwrap();
        poll_once(&mut watch, Arc::new(Task(store.clone())).into());
        drop(watch);
    });
}
