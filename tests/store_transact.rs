//! Transactions retry within bounds, see one state only, and never guess about a lost reply.
#![allow(clippy::unwrap_used)]

use commute::env::{Env, SimEnv, SplitMix64};
use commute::store::{
    BlockingStore, Capabilities, DynStore, Key, MemoryStore, MemoryWatch, Outcome, Range, Revision,
    Scan, Snapshot, Store, StoreError, TransactError, TransactOptions, Transaction, TxError,
    transact, transact_blocking,
};
use core::num::NonZeroU32;
use core::time::Duration;
use quickcheck::QuickCheck;
use std::sync::Mutex;

fn store() -> (SimEnv, MemoryStore) {
    let env = SimEnv::new(9);
    let store = MemoryStore::new(env.clone()).unwrap();
    (env, store)
}

fn number(value: Option<commute::store::Value>) -> u64 {
    value.map_or(0, |value| value.as_str().unwrap().parse().unwrap())
}

fn attempts_max(n: u32) -> TransactOptions {
    TransactOptions {
        attempts_max: NonZeroU32::new(n).unwrap(),
        ..TransactOptions::default()
    }
}

#[test]
fn a_closure_never_sees_two_states_mixed() {
    let (env, store) = store();
    store.put("x", "1").unwrap();
    store.put("y", "1").unwrap();
    let mut seen = Vec::new();
    let done = transact_blocking(&store, &env, &TransactOptions::default(), |tx| {
        let x = number(tx.get("x")?);
        if seen.is_empty() {
            seen.push((x, 0));
            // Both change between the two reads.
            store.put("x", "2").unwrap();
            store.put("y", "2").unwrap();
        }
        let y = number(tx.get("y")?);
        seen.push((x, y));
        Ok::<_, TxError>((x, y))
    });
    let done = done.unwrap();
    assert_eq!((done.value, done.attempts), ((2, 2), 2));
    assert_eq!(seen, [(1, 0), (2, 2)], "no (1, 2)");
    assert_eq!(store.contention().retries(), 1);
}

#[test]
fn absence_and_ranges_are_part_of_the_one_state() {
    type Read = fn(&commute::store::BlockingTx<'_, MemoryStore>) -> Result<bool, TxError>;
    let reads: [Read; 3] = [
        |tx| Ok(tx.get("moved/b")?.is_some()),
        |tx| Ok(!tx.scan(Range::prefix("moved/"))?.is_empty()),
        |tx| Ok(!tx.scan_first(Range::prefix("moved/"), 1)?.is_empty()),
    ];
    for read in reads {
        let (env, store) = store();
        store.put("a", "here").unwrap();
        let mut first = true;
        let done = transact_blocking(&store, &env, &TransactOptions::default(), |tx| {
            let here = tx.get("a")?.is_some();
            if core::mem::take(&mut first) {
                store.delete("a").unwrap();
                store.put("moved/b", "there").unwrap();
            }
            let there = read(&tx)?;
            assert!(here != there, "in both places or in none");
            Ok::<_, TxError>(there)
        });
        let done = done.unwrap();
        assert_eq!((done.value, done.attempts), (true, 2));
    }
}

#[test]
fn unrelated_commits_between_reads_cost_no_retry() {
    let (env, store) = store();
    store.put("x", "1").unwrap();
    store.put("y", "2").unwrap();
    let done = transact_blocking(&store, &env, &TransactOptions::default(), |tx| {
        let x = number(tx.get("x")?);
        store.put("noise", "1").unwrap();
        let y = number(tx.get("y")?);
        store.put("noise", "2").unwrap();
        let absent = tx.get("absent")?;
        store.put("noise", "3").unwrap();
        let scanned = tx.scan(Range::between("x", "z"))?.len();
        tx.put("sum", (x + y).to_string());
        Ok::<_, TxError>((absent, scanned))
    });
    let done = done.unwrap();
    assert_eq!((done.value, done.attempts), ((None, 2), 1));
    assert_eq!(store.contention().conflicts(), 0);
}

#[test]
fn many_reads_among_many_commits_are_still_one_state() {
    let (env, store) = store();
    for n in (0..600).step_by(2) {
        store.put(format!("k{n:03}"), "0").unwrap();
    }
    let done = transact_blocking(&store, &env, &TransactOptions::default(), |tx| {
        let mut present = 0;
        for n in 0..600 {
            // Every second record is missing, so every second read is made with all others again.
            present += u64::from(tx.get(format!("k{n:03}"))?.is_some());
            store.put("noise", n.to_string()).unwrap();
        }
        tx.put("present", present.to_string());
        Ok::<_, TxError>(present)
    });
    let done = done.unwrap();
    assert_eq!((done.value, done.attempts), (300, 1));
}

#[test]
fn reads_see_own_writes_and_blind_writes_carry_no_guard() {
    let (env, store) = store();
    store.put("a", "old").unwrap();
    let done = transact_blocking(&store, &env, &TransactOptions::default(), |tx| {
        tx.put("a", "own");
        assert_eq!(tx.get("a")?.unwrap().as_str(), Ok("own"));
        tx.delete("a");
        assert_eq!(tx.get("a")?, None);
        tx.put("a", "last");
        store.put("a", "meddled").unwrap();
        Ok::<_, TxError>(())
    });
    assert_eq!(done.unwrap().attempts, 1);
    assert_eq!(store.get("a").unwrap().unwrap().value.as_str(), Ok("last"));
}

#[test]
fn an_error_of_the_closure_writes_nothing_and_is_not_retried() {
    let (env, store) = store();
    let before = store.revision();
    let mut runs = 0;
    let failed = transact_blocking(&store, &env, &TransactOptions::default(), |tx| {
        runs += 1;
        tx.put("a", "1");
        tx.get("b").map_err(|_| "store")?;
        Err::<(), _>("mine")
    });
    assert_eq!(failed, Err(TransactError::User("mine")));
    assert_eq!((runs, store.revision()), (1, before));
}

#[test]
fn a_swallowed_conflict_is_retried_all_the_same() {
    let (env, store) = store();
    store.put("x", "1").unwrap();
    store.put("y", "1").unwrap();
    let mut runs = 0;
    let done = transact_blocking(&store, &env, &TransactOptions::default(), |tx| {
        runs += 1;
        let x = number(tx.get("x")?);
        if runs == 1 {
            store.put("x", "2").unwrap();
            store.put("y", "2").unwrap();
        }
        let y = tx.get("y").map_or(99, number);
        tx.put("out", format!("{x}{y}"));
        Ok::<_, TxError>(())
    });
    assert_eq!(done.unwrap().attempts, 2);
    assert_eq!(store.get("out").unwrap().unwrap().value.as_str(), Ok("22"));
}

#[test]
fn attempts_are_bounded_and_the_error_says_what_was_lost_to() {
    let (env, store) = store();
    let mut runs = 0;
    let failed = transact_blocking(&store, &env, &attempts_max(5), |tx| {
        runs += 1;
        let n = number(tx.get("hot")?);
        store.put("hot", runs.to_string()).unwrap();
        tx.put("hot", (n + 1).to_string());
        Ok::<_, TxError>(())
    });
    let Err(TransactError::Conflict {
        attempts: 5,
        lost_to: Some(lost_to),
    }) = failed
    else {
        panic!("{failed:?}");
    };
    let entry = store.get("hot").unwrap().unwrap();
    assert_eq!(lost_to.key.as_str(), Ok("hot"));
    assert_eq!(
        (lost_to.revision, lost_to.entry),
        (entry.modified, Some(entry))
    );
    assert_eq!(runs, 5);
    assert_eq!(store.contention().conflicts(), 5);
    assert_eq!(store.contention().retries(), 4);
}

#[test]
fn pauses_stay_within_their_windows_and_the_deadline() {
    let (env, store) = store();
    let options = TransactOptions {
        attempts_max: NonZeroU32::MAX,
        deadline: Some(Duration::from_millis(200)),
        backoff_base: Duration::from_millis(1),
        backoff_cap: Duration::from_millis(16),
    };
    let mut starts = Vec::new();
    let failed = transact_blocking(&store, &env, &options, |tx| {
        starts.push(env.now());
        tx.get("hot")?;
        store.put("hot", "x").unwrap();
        tx.put("hot", "y");
        Ok::<_, TxError>(())
    });
    let Err(TransactError::Deadline {
        attempts,
        lost_to: Some(_),
    }) = failed
    else {
        panic!("{failed:?}");
    };
    assert_eq!(attempts as usize, starts.len());
    assert_eq!(env.now().since_origin(), Duration::from_millis(200));
    let pauses: Vec<Duration> = starts
        .windows(2)
        .map(|pair| pair[1].saturating_since(pair[0]))
        .collect();
    for (round, pause) in pauses.iter().enumerate() {
        let window = Duration::from_millis(1 << round.min(4));
        assert!(*pause <= window, "round {round}: {pause:?}");
    }
    let longest = pauses.iter().max().unwrap();
    let shortest = pauses.iter().skip(4).min().unwrap();
    assert!(
        *longest > Duration::from_millis(8) && *shortest < Duration::from_millis(8),
        "jitter"
    );
}

#[test]
fn a_read_only_transaction_commits_nothing_and_returns_its_revision() {
    let (env, store) = store();
    let at = store.put("a", "1").unwrap();
    let done = transact_blocking(&store, &env, &TransactOptions::default(), |tx| {
        let value = number(tx.get("a")?);
        store.put("a", "2").unwrap();
        Ok::<_, TxError>(value)
    });
    let done = done.unwrap();
    assert_eq!((done.value, done.revision, done.attempts), (1, at, 1));
    assert_eq!(store.contention().commits(), 2, "the two puts");
}

#[test]
fn a_handle_that_outlives_its_attempt_is_dead() {
    let (env, store) = store();
    let mut kept = None;
    let done = transact_blocking(&store, &env, &TransactOptions::default(), |tx| {
        kept = Some(tx.clone());
        tx.put("a", "1");
        Ok::<_, TxError>(())
    });
    let revision = done.unwrap().revision;
    let kept = kept.unwrap();
    kept.put("a", "2");
    assert_eq!(kept.get("a"), Err(TxError::Ended));
    assert_eq!(store.revision(), revision);
}

#[test]
fn a_store_error_ends_it_whatever_the_closure_returns() {
    let (env, store) = store();
    let long = "k".repeat(5000);
    let failed = transact_blocking(&store, &env, &TransactOptions::default(), |tx| {
        let refused = tx.get(&long);
        assert!(matches!(
            refused,
            Err(TxError::Store(StoreError::LimitExceeded { .. }))
        ));
        tx.put("a", "1");
        Ok::<_, TxError>(())
    });
    assert!(matches!(
        failed,
        Err(TransactError::Store(StoreError::LimitExceeded { .. }))
    ));
    assert_eq!(store.get("a").unwrap(), None);
}

#[test]
fn forgotten_history_is_read_again_and_not_taken_for_unchanged() {
    let env = SimEnv::new(9);
    let options = commute::store::MemoryOptions {
        history_changes_max: 1,
        ..commute::store::MemoryOptions::default()
    };
    let store = MemoryStore::with_options(env.clone(), options).unwrap();
    store.put("a/1", "x").unwrap();
    let mut first = true;
    let done = transact_blocking(&store, &env, &TransactOptions::default(), |tx| {
        let count = tx.scan(Range::prefix("a/"))?.len();
        if core::mem::take(&mut first) {
            store.delete("a/1").unwrap();
            store.put("b", "x").unwrap();
        }
        tx.put("count", count.to_string());
        Ok::<_, TxError>(count)
    });
    let done = done.unwrap();
    assert_eq!((done.value, done.attempts), (0, 2));
}

#[test]
fn the_asynchronous_front_does_the_same_on_a_boxed_store() {
    let (env, store) = store();
    let boxed = DynStore::new(store.clone());
    let first = Mutex::new(true);
    let options = TransactOptions::default();
    let run = transact(&boxed, &env, &options, |tx| {
        let (first, store) = (&first, &store);
        async move {
            let n = number(tx.get("n").await?);
            if core::mem::take(&mut *first.lock().unwrap()) {
                store.put("n", "40").unwrap();
            }
            let all = tx.scan_first(Range::all(), 10).await?.len();
            tx.put("n", (n + 2).to_string());
            Ok::<_, TxError>(all)
        }
    });
    fn is_send<T: Send>(value: T) -> T {
        value
    }
    let done = env.run(is_send(run)).unwrap().unwrap();
    assert_eq!((done.value, done.attempts), (1, 2));
    assert_eq!(number(Some(store.get("n").unwrap().unwrap().value)), 42);
}

/// A store whose replies get lost, before or after the request took effect, or that fails to send.
struct Lossy {
    inner: MemoryStore,
    random: Mutex<SplitMix64>,
    lost: Mutex<u64>,
    /// Out of 4 requests this many get no answer.
    rate: u64,
}

impl Lossy {
    fn new(inner: &MemoryStore, seed: u64, rate: u64) -> Self {
        let random = Mutex::new(SplitMix64::new(seed));
        Self {
            inner: inner.clone(),
            random,
            lost: Mutex::new(0),
            rate,
        }
    }
}

impl Store for Lossy {
    type Watch = MemoryWatch;

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            unknown_outcomes: true,
            ..self.inner.capabilities()
        }
    }

    async fn read(&self, keys: &[Key], scans: &[Scan]) -> Result<Snapshot, StoreError> {
        self.read_blocking(keys, scans)
    }

    async fn commit(&self, txn: &Transaction) -> Result<Outcome, StoreError> {
        self.commit_blocking(txn)
    }

    async fn watch(&self, range: Range, after: Revision) -> Result<MemoryWatch, StoreError> {
        self.inner.watch_blocking(range, after)
    }
}

impl BlockingStore for Lossy {
    fn read_blocking(&self, keys: &[Key], scans: &[Scan]) -> Result<Snapshot, StoreError> {
        self.inner.read_blocking(keys, scans)
    }

    fn commit_blocking(&self, txn: &Transaction) -> Result<Outcome, StoreError> {
        let (loses, applies) = {
            let mut random = self.random.lock().unwrap();
            (random.below(4) < self.rate, random.below(3))
        };
        if !loses {
            return self.inner.commit_blocking(txn);
        }
        *self.lost.lock().unwrap() += 1;
        match applies {
            0 => Ok(Outcome::Unknown),
            1 => self.inner.commit_blocking(txn).map(|_| Outcome::Unknown),
            // Certainly not sent this time, which says nothing about an earlier time.
            _ if self.rate < 4 => {
                let _ = self.inner.commit_blocking(txn)?;
                Ok(Outcome::Unknown)
            }
            _ => Err(StoreError::RevisionsExhausted),
        }
    }
}

/// Twenty increments through lost replies; returns the sum and how many replies were lost.
fn increments(seed: u64) -> (u64, u64) {
    let env = SimEnv::new(seed);
    let store = MemoryStore::new(env.clone()).unwrap();
    let lossy = Lossy::new(&store, seed, 2);
    for _ in 0..20 {
        let done = transact_blocking(&lossy, &env, &TransactOptions::default(), |tx| {
            let n = number(tx.get("n")?);
            tx.put("n", (n + 1).to_string());
            Ok::<_, TxError>(())
        });
        done.unwrap();
    }
    let lost = *lossy.lost.lock().unwrap();
    (number(Some(store.get("n").unwrap().unwrap().value)), lost)
}

#[test]
fn a_lost_reply_neither_loses_nor_doubles_a_commit() {
    fn counts_each_once(seed: u64) -> bool {
        increments(seed).0 == 20
    }
    QuickCheck::new()
        .tests(100)
        .quickcheck(counts_each_once as fn(u64) -> bool);
    assert!(increments(1).1 > 5, "hardly a reply was lost");
}

#[test]
fn an_outcome_that_stays_unknown_is_its_own_error() {
    for seed in 0..20 {
        let (env, store) = store();
        let lossy = Lossy::new(&store, seed, 4);
        let mut runs = 0;
        let failed = transact_blocking(&lossy, &env, &attempts_max(3), |tx| {
            runs += 1;
            tx.put("n", "1");
            Ok::<_, TxError>(())
        });
        let lost = *lossy.lost.lock().unwrap();
        match failed {
            // Asked three times; an error after an unknown outcome does not make it known.
            Err(TransactError::Unknown { .. }) => assert_eq!(lost, 3),
            Err(TransactError::Store(_)) => assert_eq!((lost, store.get("n")), (1, Ok(None))),
            other => panic!("{other:?}"),
        }
        assert_eq!(runs, 1, "never tried again under a new id");
    }
}

#[test]
fn real_threads_keep_the_sum() {
    let (env, store) = store();
    let keys: Vec<String> = (0..4).map(|n| format!("account/{n}")).collect();
    for key in &keys {
        store.put(key, "100").unwrap();
    }
    let options = TransactOptions {
        deadline: None,
        ..attempts_max(100_000)
    };
    std::thread::scope(|scope| {
        for thread in 0..3 {
            let (env, store, keys, options) = (&env, &store, &keys, &options);
            scope.spawn(move || {
                let mut random = SplitMix64::new(thread);
                for _ in 0..200 {
                    let from = random.below(4) as usize;
                    let to = (from + 1 + random.below(3) as usize) % 4;
                    let done = transact_blocking(store, env, options, |tx| {
                        let a = number(tx.get(&keys[from])?);
                        let b = number(tx.get(&keys[to])?);
                        if a > 0 {
                            tx.put(&keys[from], (a - 1).to_string());
                            tx.put(&keys[to], (b + 1).to_string());
                        }
                        let all = tx.scan(Range::prefix("account/"))?;
                        let sum: u64 = all.into_iter().map(|(_, v)| number(Some(v))).sum();
                        assert_eq!(sum, 400);
                        Ok::<_, TxError>(())
                    });
                    done.unwrap();
                }
            });
        }
    });
    let sum: u64 = keys
        .iter()
        .map(|key| number(Some(store.get(key).unwrap().unwrap().value)))
        .sum();
    assert_eq!(sum, 400);
}

#[test]
fn handles_and_stores_are_send_and_sync() {
    fn check<T: Send + Sync>() {}
    check::<MemoryStore>();
    check::<SimEnv>();
    check::<commute::store::Tx<'_, MemoryStore>>();
    check::<commute::store::BlockingTx<'_, MemoryStore>>();
    check::<commute::coord::Lease<MemoryStore, SimEnv>>();
    check::<commute::coord::FencedCell<u64>>();
    fn check_send<T: Send>() {}
    check_send::<MemoryWatch>();
}
