//! A watch brings every commit once and in order, or says that it cannot; expiry is a commit too.
#![allow(clippy::unwrap_used)]

use commute::env::{Env, SimEnv, SplitMix64};
use commute::store::{
    Change, Commit, DynStore, MemoryOptions, MemoryStore, Range, Revision, Store, StoreError,
    Transaction, TransactionId, Watch,
};
use core::future::Future;
use core::pin::pin;
use core::task::{Context, Waker};
use core::time::Duration;
use quickcheck::QuickCheck;
use std::collections::BTreeMap;
use std::sync::Arc;

fn put_for(env: &SimEnv, store: &MemoryStore, key: &str, ttl: Duration) -> Revision {
    let id = TransactionId::random(env).unwrap();
    let _ = store
        .commit_blocking(&Transaction::new(id).put_for(key, "v", ttl))
        .unwrap();
    store.revision()
}

fn store() -> (SimEnv, MemoryStore) {
    let env = SimEnv::new(5);
    let store = MemoryStore::new(env.clone()).unwrap();
    (env, store)
}

/// Random puts, deletions and expiries: a watch from any point, applied to a copy of that point,
/// gives the store; its revisions are those that touched the range, each once.
fn watch_rebuilds_the_store(seed: u64) -> bool {
    let mut random = SplitMix64::new(seed);
    let env = SimEnv::new(seed);
    let store = MemoryStore::new(env.clone()).unwrap();
    let range = Range::prefix("a");
    let start = random.below(60);
    let mut copy = BTreeMap::new();
    let mut watch = None;
    let mut last = None;
    for step in 0..80 {
        if step == start {
            let scan = commute::store::Scan::new(range.clone());
            let mut snapshot = store.read_blocking(&[], &[scan]).unwrap();
            copy = snapshot.scans.remove(0).entries.into_iter().collect();
            last = Some(snapshot.revision);
            watch = Some(
                store
                    .watch_blocking(range.clone(), snapshot.revision)
                    .unwrap(),
            );
        }
        let key = format!(
            "{}{}",
            if random.below(3) == 0 { "b" } else { "a" },
            random.below(5)
        );
        match random.below(4) {
            0 => drop(store.delete(&key).unwrap()),
            1 => drop(put_for(
                &env,
                &store,
                &key,
                Duration::from_secs(1 + random.below(5)),
            )),
            2 => env.advance(Duration::from_secs(random.below(3))),
            _ => drop(store.put(&key, step.to_string()).unwrap()),
        }
        // Sometimes read at once, sometimes let commits pile up.
        while let Some(watch) = watch.as_mut().filter(|_| random.below(4) > 0) {
            let Some(Commit { revision, changes }) = watch.try_next().unwrap() else {
                break;
            };
            assert!(!changes.is_empty());
            assert!(
                last.replace(revision)
                    .is_some_and(|before| before < revision)
            );
            apply(&mut copy, changes, revision);
        }
    }
    let mut watch = watch.unwrap();
    while let Some(Commit { revision, changes }) = watch.try_next().unwrap() {
        apply(&mut copy, changes, revision);
    }
    let scan = commute::store::Scan::new(range);
    let now = store
        .read_blocking(&[], &[scan])
        .unwrap()
        .scans
        .remove(0)
        .entries;
    now == copy.into_iter().collect::<Vec<_>>()
}

fn apply(
    copy: &mut BTreeMap<commute::store::Key, commute::store::Entry>,
    changes: Vec<Change>,
    revision: Revision,
) {
    for change in changes {
        match change {
            Change::Put { key, entry } => {
                assert_eq!(entry.modified, revision);
                copy.insert(key, entry);
            }
            Change::Deleted { key, .. } => {
                assert!(
                    copy.remove(&key).is_some(),
                    "a deletion of what was not there"
                );
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_watch_from_any_revision_rebuilds_the_store() {
    QuickCheck::new()
        .tests(300)
        .quickcheck(watch_rebuilds_the_store as fn(u64) -> bool);
}

#[test]
fn a_watch_behind_the_bounded_history_is_told_so() {
    let env = SimEnv::new(5);
    let options = MemoryOptions {
        history_changes_max: 3,
        ..MemoryOptions::default()
    };
    let store = MemoryStore::with_options(env, options).unwrap();
    let start = store.revision();
    let mut slow = store.watch_blocking(Range::all(), start).unwrap();
    let revisions: Vec<_> = (0..5)
        .map(|n| store.put("a", n.to_string()).unwrap())
        .collect();
    let oldest = revisions[1];
    assert_eq!(slow.try_next(), Err(StoreError::Compacted { oldest }));
    assert_eq!(
        slow.try_next(),
        Err(StoreError::Compacted { oldest }),
        "it stays so"
    );
    let refused = store.watch_blocking(Range::all(), start).map(|_| ());
    assert_eq!(refused, Err(StoreError::Compacted { oldest }));
    let mut watch = store.watch_blocking(Range::all(), oldest).unwrap();
    for revision in &revisions[2..] {
        assert_eq!(watch.try_next().unwrap().unwrap().revision, *revision);
    }
    assert_eq!(watch.try_next(), Ok(None));
}

#[test]
fn the_history_is_bounded_in_bytes_too() {
    let env = SimEnv::new(5);
    let options = MemoryOptions {
        history_bytes_max: 1000,
        ..MemoryOptions::default()
    };
    let store = MemoryStore::with_options(env, options).unwrap();
    let start = store.revision();
    store.put("a", vec![0; 400]).unwrap();
    store.put("a", vec![0; 400]).unwrap();
    assert!(store.watch_blocking(Range::all(), start).is_ok());
    store.put("a", vec![0; 400]).unwrap();
    assert!(matches!(
        store.watch_blocking(Range::all(), start),
        Err(StoreError::Compacted { .. })
    ));
    // Even a single change that does not fit is forgotten rather than kept beyond the bound.
    let before = store.revision();
    store.put("a", vec![0; 2000]).unwrap();
    assert!(store.watch_blocking(Range::all(), before).is_err());
    assert!(store.watch_blocking(Range::all(), store.revision()).is_ok());
}

#[test]
fn an_idle_watch_of_a_quiet_range_is_not_left_behind_while_it_is_polled() {
    let env = SimEnv::new(5);
    let options = MemoryOptions {
        history_changes_max: 2,
        ..MemoryOptions::default()
    };
    let store = MemoryStore::with_options(env, options).unwrap();
    let mut watch = store
        .watch_blocking(Range::prefix("quiet"), store.revision())
        .unwrap();
    for n in 0..10 {
        store.put("loud", n.to_string()).unwrap();
        assert_eq!(watch.try_next(), Ok(None));
    }
    let revision = store.put("quiet", "x").unwrap();
    assert_eq!(watch.try_next().unwrap().unwrap().revision, revision);
}

#[test]
fn a_watch_from_elsewhere_or_ahead_is_an_error() {
    let (env, store) = store();
    let at = store.put("a", "1").unwrap();
    let foreign = MemoryStore::new(env).unwrap().revision();
    assert!(matches!(
        store.watch_blocking(Range::all(), foreign),
        Err(StoreError::OtherIncarnation { .. })
    ));
    let ahead = Revision::new(at.incarnation(), at.counter() + 1);
    assert!(matches!(
        store.watch_blocking(Range::all(), ahead),
        Err(StoreError::FutureRevision { .. })
    ));
}

#[test]
fn the_store_deletes_by_its_own_clock_as_a_commit_with_a_revision() {
    let (env, store) = store();
    let ttl = Duration::from_secs(10);
    let put = put_for(&env, &store, "a", ttl);
    env.advance(ttl - Duration::from_nanos(1));
    assert!(store.get("a").unwrap().is_some());
    env.advance(Duration::from_nanos(1));
    assert_eq!(store.get("a").unwrap(), None);
    let expiry = store.revision();
    assert_eq!(expiry.counter(), put.counter() + 1);
    let mut watch = store.watch_blocking(Range::all(), put).unwrap();
    let changes = vec![Change::Deleted {
        key: "a".into(),
        expired: true,
    }];
    assert_eq!(
        watch.try_next(),
        Ok(Some(Commit {
            revision: expiry,
            changes
        }))
    );
}

#[test]
fn a_later_put_or_deletion_ends_the_earlier_time_to_live() {
    let (env, store) = store();
    let second = Duration::from_secs(1);
    put_for(&env, &store, "kept", second);
    store.put("kept", "for ever").unwrap();
    put_for(&env, &store, "renewed", second);
    put_for(&env, &store, "renewed", 3 * second);
    put_for(&env, &store, "anew", second);
    store.delete("anew").unwrap();
    store.put("anew", "x").unwrap();
    let before = store.revision();
    env.advance(2 * second);
    for key in ["kept", "renewed", "anew"] {
        assert!(store.get(key).unwrap().is_some(), "{key}");
    }
    assert_eq!(store.revision(), before);
    env.advance(second);
    assert_eq!(store.get("renewed").unwrap(), None);
}

#[test]
fn a_step_of_the_wall_clock_expires_nothing() {
    let (env, store) = store();
    put_for(&env, &store, "a", Duration::from_secs(10));
    env.set_wall(commute::env::WallTime::from_unix(Duration::from_secs(
        1 << 40,
    )));
    assert!(store.get("a").unwrap().is_some());
}

#[test]
fn a_waiting_watch_is_woken_by_a_commit_and_by_an_expiry() {
    let (env, store) = store();
    let mut watch = store
        .watch_blocking(Range::prefix("a"), store.revision())
        .unwrap();
    let mut next = pin!(watch.next());
    let woken = Arc::new(Count::default());
    let waker = Waker::from(Arc::clone(&woken));
    let mut context = Context::from_waker(&waker);
    assert!(next.as_mut().poll(&mut context).is_pending());
    let revision = store.put("a", "1").unwrap();
    assert_eq!(woken.get(), 1);
    let core::task::Poll::Ready(Ok(commit)) = next.as_mut().poll(&mut context) else {
        panic!("still waiting");
    };
    assert_eq!(commit.revision, revision);

    put_for(&env, &store, "a", Duration::from_secs(5));
    let mut watch = store
        .watch_blocking(Range::prefix("a"), store.revision())
        .unwrap();
    // The clock jumps to the expiry because nothing else can happen.
    let commit = env.run(watch.next()).unwrap().unwrap();
    assert_eq!(env.now().since_origin(), Duration::from_secs(5));
    assert_eq!(
        commit.changes,
        [Change::Deleted {
            key: "a".into(),
            expired: true
        }]
    );
}

#[derive(Default)]
struct Count(std::sync::atomic::AtomicUsize);

impl Count {
    fn get(&self) -> usize {
        self.0.load(std::sync::atomic::Ordering::SeqCst)
    }
}

impl std::task::Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
    }
}

#[test]
fn a_call_that_is_dropped_while_it_waits_loses_nothing() {
    let (_, store) = store();
    let mut watch = store
        .watch_blocking(Range::all(), store.revision())
        .unwrap();
    let mut context = Context::from_waker(Waker::noop());
    for n in 0..3 {
        assert!(pin!(watch.next()).poll(&mut context).is_pending());
        let revision = store.put("a", n.to_string()).unwrap();
        assert_eq!(watch.next_blocking().unwrap().revision, revision);
    }
}

#[test]
fn a_blocked_thread_is_woken_by_every_commit_of_another() {
    let (_, store) = store();
    let mut watch = store
        .watch_blocking(Range::all(), store.revision())
        .unwrap();
    std::thread::scope(|scope| {
        let reader = scope.spawn(move || -> Vec<u64> {
            (0..50)
                .map(|_| watch.next_blocking().unwrap().revision.counter())
                .collect()
        });
        for n in 0..50 {
            store.put("a", n.to_string()).unwrap();
        }
        assert_eq!(reader.join().unwrap(), (1..=50).collect::<Vec<u64>>());
    });
}

#[test]
fn the_boxed_twin_watches_the_same_store() {
    let (env, store) = store();
    let boxed = DynStore::new(store.clone());
    let mut watch = env
        .run(boxed.watch(Range::all(), store.revision()))
        .unwrap()
        .unwrap();
    let revision = store.put("a", "1").unwrap();
    assert_eq!(env.run(watch.next()).unwrap().unwrap().revision, revision);
    assert_eq!(boxed.capabilities(), store.capabilities());
    assert_eq!(boxed.contention().unwrap().commits(), 1);
}
