//! Interleaved transactions are serializable, and conflict no more than they have to.
//!
//! Several clients run real `transact` futures over a store that gives way before every request; a
//! seeded scheduler decides who goes on. Reads and writes are recorded, and the dependency graph of
//! the history (Adya 1999: write-read, write-write, read-write) must have no cycle.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use commute::env::{SimEnv, SplitMix64};
use commute::store::{
    Capabilities, Contention, Guard, Key, MemoryStore, MemoryWatch, Outcome, Range, Revision, Scan,
    Snapshot, Store, StoreError, TransactOptions, Transaction, Tx, TxError, Value, transact,
};
use core::cell::RefCell;
use core::future::{Future, poll_fn};
use core::num::NonZeroU32;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use quickcheck::QuickCheck;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

/// Which guards a mutant leaves out.
type Drops = fn(&Guard) -> bool;

/// A store that gives way before every request, checks every refusal, and may be made to misbehave.
struct Stepped {
    inner: MemoryStore,
    drops: Drops,
    written: Mutex<BTreeMap<u64, Vec<Key>>>,
    refusals: Mutex<u64>,
}

impl Stepped {
    fn new(env: &SimEnv, drops: Drops) -> Self {
        let inner = MemoryStore::new(env.clone()).unwrap();
        Self {
            inner,
            drops,
            written: Mutex::default(),
            refusals: Mutex::default(),
        }
    }

    fn put(&self, key: &str, value: &str) {
        let revision = self.inner.put(key, value).unwrap();
        self.written
            .lock()
            .unwrap()
            .insert(revision.counter(), vec![key.into()]);
    }

    /// A conflict names a record that a guard covers and that the named commit really changed,
    /// after the revision the guard knew.
    fn check_refusal(&self, txn: &Transaction, lost: &commute::store::Conflict) {
        let known = txn.guards().iter().find_map(|guard| match guard {
            Guard::Revision { key, revision } if *key == lost.key => Some(revision.counter()),
            Guard::Absent { key } if *key == lost.key => Some(0),
            Guard::Unchanged { range, since } if range.contains(&lost.key) => Some(since.counter()),
            _ => None,
        });
        assert!(known.expect("a guarded record") < lost.revision.counter());
        let written = self.written.lock().unwrap();
        assert!(
            written[&lost.revision.counter()].contains(&lost.key),
            "it changed then"
        );
        assert_eq!(self.inner.get(&lost.key).unwrap(), lost.entry);
        *self.refusals.lock().unwrap() += 1;
    }
}

async fn give_way() {
    let mut waited = false;
    poll_fn(|_| {
        if core::mem::replace(&mut waited, true) {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
}

impl Store for Stepped {
    type Watch = MemoryWatch;

    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    fn contention(&self) -> Option<&Contention> {
        Some(self.inner.contention())
    }

    async fn read(&self, keys: &[Key], scans: &[Scan]) -> Result<Snapshot, StoreError> {
        give_way().await;
        self.inner.read_blocking(keys, scans)
    }

    async fn commit(&self, txn: &Transaction) -> Result<Outcome, StoreError> {
        give_way().await;
        let mut kept = Transaction::new(txn.id());
        for guard in txn.guards().iter().filter(|guard| !(self.drops)(guard)) {
            kept = kept.guard(guard.clone());
        }
        for write in txn.writes() {
            kept = kept.write(write.clone());
        }
        let outcome = self.inner.commit_blocking(&kept)?;
        match &outcome {
            Outcome::Committed { revision } => {
                let keys = txn
                    .writes()
                    .iter()
                    .map(|write| write.key().clone())
                    .collect();
                self.written
                    .lock()
                    .unwrap()
                    .insert(revision.counter(), keys);
            }
            Outcome::Conflict(lost) => self.check_refusal(txn, lost),
            other => panic!("{other:?}"),
        }
        Ok(outcome)
    }

    async fn watch(&self, range: Range, after: Revision) -> Result<MemoryWatch, StoreError> {
        self.inner.watch_blocking(range, after)
    }
}

fn patient() -> TransactOptions {
    TransactOptions {
        attempts_max: NonZeroU32::MAX,
        deadline: None,
        backoff_base: Duration::ZERO,
        backoff_cap: Duration::ZERO,
    }
}

type Client<'a> = Pin<Box<dyn Future<Output = ()> + 'a>>;

/// Runs the clients to their end, one step of a random one at a time.
fn schedule(random: &mut SplitMix64, mut clients: Vec<Client<'_>>) {
    let mut context = Context::from_waker(Waker::noop());
    while !clients.is_empty() {
        let chosen = random.below(clients.len() as u64) as usize;
        if clients[chosen].as_mut().poll(&mut context).is_ready() {
            drop(clients.swap_remove(chosen));
        }
    }
}

/// What one committed transaction read and wrote; values are unique, so they name their writer.
struct Done {
    revision: u64,
    reads: Vec<(Key, Option<Value>)>,
    writes: Vec<(Key, Value)>,
}

/// Whether the dependency graph of the history has no cycle.
fn serializable(history: &[Done]) -> bool {
    // Per record: its versions in commit order, and who wrote each.
    let mut versions: BTreeMap<&Key, BTreeMap<u64, (usize, &Value)>> = BTreeMap::new();
    for (txn, done) in history.iter().enumerate() {
        for (key, value) in &done.writes {
            versions
                .entry(key)
                .or_default()
                .insert(done.revision, (txn, value));
        }
    }
    let mut edges = vec![BTreeSet::new(); history.len()];
    for chain in versions.values() {
        let writers: Vec<usize> = chain.values().map(|(txn, _)| *txn).collect();
        for pair in writers.windows(2) {
            edges[pair[0]].insert(pair[1]);
        }
    }
    for (reader, done) in history.iter().enumerate() {
        for (key, read) in &done.reads {
            let Some(chain) = versions.get(key) else {
                continue;
            };
            let mut after = 0;
            if let Some(value) = read {
                let found = chain.iter().find(|(_, (_, written))| *written == value);
                let (revision, (writer, _)) = found.expect("a value that somebody wrote");
                after = *revision;
                if *writer != reader {
                    edges[*writer].insert(reader);
                }
            }
            if let Some((_, (next, _))) = chain.range(after + 1..).next()
                && *next != reader
            {
                edges[reader].insert(*next);
            }
        }
    }
    acyclic(&edges)
}

/// Kahn 1962: all nodes can be taken away, each when nothing leads to it any more.
fn acyclic(edges: &[BTreeSet<usize>]) -> bool {
    let mut incoming = vec![0; edges.len()];
    edges.iter().flatten().for_each(|to| incoming[*to] += 1);
    let mut free: Vec<usize> = (0..edges.len())
        .filter(|node| incoming[*node] == 0)
        .collect();
    let mut taken = 0;
    while let Some(node) = free.pop() {
        taken += 1;
        for to in &edges[node] {
            incoming[*to] -= 1;
            if incoming[*to] == 0 {
                free.push(*to);
            }
        }
    }
    taken == edges.len()
}

/// What one client does in one transaction, decided before it runs so that retries repeat it.
struct Plan {
    reads: Vec<Key>,
    scan: Option<usize>,
    writes: Vec<(Key, Value)>,
}

fn key(n: u64) -> Key {
    Key::from(format!("k{n}"))
}

fn plan(random: &mut SplitMix64, id: String) -> Plan {
    let reads = (0..1 + random.below(3))
        .map(|_| key(random.below(6)))
        .collect();
    let scan = (random.below(3) == 0).then(|| 1 + random.below(6) as usize);
    let mut writes: Vec<Key> = (0..random.below(3)).map(|_| key(random.below(6))).collect();
    writes.sort_unstable();
    writes.dedup();
    Plan {
        reads,
        scan,
        writes: writes.into_iter().map(|k| (k, Value::from(&id))).collect(),
    }
}

/// Runs the plan; returns what it read. A scan counts as reading every record it looked at.
async fn follow(tx: Tx<'_, Stepped>, plan: &Plan) -> Result<Vec<(Key, Option<Value>)>, TxError> {
    let mut reads = Vec::new();
    for key in &plan.reads {
        reads.push((key.clone(), tx.get(key).await?));
    }
    if let Some(limit) = plan.scan {
        let found: BTreeMap<Key, Value> = tx
            .scan_first(Range::prefix("k"), limit)
            .await?
            .into_iter()
            .collect();
        let last = found.last_key_value().map(|(key, _)| key.clone());
        let stopped = found.len() == limit;
        for n in (0..6)
            .map(key)
            .filter(|n| !stopped || last.as_ref().is_some_and(|l| n <= l))
        {
            let value = found.get(&n).cloned();
            reads.push((n, value));
        }
    }
    for (key, value) in &plan.writes {
        tx.put(key, value);
    }
    Ok(reads)
}

/// Random transactions of four clients over six records, which do not exist at first.
fn history(seed: u64, drops: Drops) -> (Vec<Done>, u64) {
    let env = SimEnv::new(seed);
    let store = Stepped::new(&env, drops);
    let mut random = SplitMix64::new(seed);
    let history = RefCell::new(Vec::new());
    let options = patient();
    let mut clients: Vec<Client<'_>> = Vec::new();
    for client in 0..4 {
        let plans: Vec<Plan> = (0..8)
            .map(|n| plan(&mut random, format!("{client}.{n}")))
            .collect();
        let (store, env, history, options) = (&store, &env, &history, &options);
        clients.push(Box::pin(async move {
            for plan in &plans {
                let run = |tx| follow(tx, plan);
                let done = transact(store, env, options, run).await.unwrap();
                let (revision, reads) = (done.revision.counter(), done.value);
                history.borrow_mut().push(Done {
                    revision,
                    reads,
                    writes: plan.writes.clone(),
                });
            }
        }));
    }
    schedule(&mut random, clients);
    let retries = store.inner.contention().retries();
    (history.into_inner(), retries)
}

fn histories_are_serializable(seed: u64) -> bool {
    let (history, _) = history(seed, |_| false);
    history.len() == 32 && serializable(&history)
}

#[test]
fn random_interleavings_are_serializable() {
    QuickCheck::new()
        .tests(300)
        .quickcheck(histories_are_serializable as fn(u64) -> bool);
    let retries: u64 = (0..20).map(|seed| history(seed, |_| false).1).sum();
    assert!(retries > 100, "the clients hardly met: {retries}");
}

#[test]
fn the_checker_notices_a_store_that_skips_a_kind_of_guard() {
    let mutants: [(&str, Drops); 3] = [
        ("revision", |guard| matches!(guard, Guard::Revision { .. })),
        ("absent", |guard| matches!(guard, Guard::Absent { .. })),
        ("range", |guard| matches!(guard, Guard::Unchanged { .. })),
    ];
    for (name, drops) in mutants {
        let caught = (0..300).any(|seed| !serializable(&history(seed, drops).0));
        assert!(caught, "a store without {name} guards passes");
    }
}

fn transfers_keep_the_sum(seed: u64) -> bool {
    let env = SimEnv::new(seed);
    let store = Stepped::new(&env, |_| false);
    (0..5).for_each(|n| store.put(&format!("k{n}"), "100"));
    let mut random = SplitMix64::new(seed);
    let options = patient();
    let number = |value: Option<Value>| value.unwrap().as_str().unwrap().parse::<u64>().unwrap();
    let mut clients: Vec<Client<'_>> = Vec::new();
    for client in 0..4 {
        let mut random = SplitMix64::new(random.next_u64());
        let (store, env, options) = (&store, &env, &options);
        clients.push(Box::pin(async move {
            for _ in 0..10 {
                let from = random.below(5);
                let to = (from + 1 + random.below(4)) % 5;
                let amount = random.below(60);
                let done = transact(store, env, options, |tx| async move {
                    if client == 0 {
                        let all = tx.scan(Range::prefix("k")).await?;
                        return Ok(all.into_iter().map(|(_, v)| number(Some(v))).sum());
                    }
                    let a = number(tx.get(key(from)).await?);
                    let b = number(tx.get(key(to)).await?);
                    if a >= amount {
                        tx.put(key(from), (a - amount).to_string());
                        tx.put(key(to), (b + amount).to_string());
                    }
                    Ok::<u64, TxError>(500)
                });
                assert_eq!(done.await.unwrap().value, 500);
            }
        }));
    }
    schedule(&mut random, clients);
    (0..5)
        .map(|n| number(store.inner.get(key(n)).unwrap().map(|e| e.value)))
        .sum::<u64>()
        == 500
}

#[test]
fn random_transfers_keep_the_sum_also_as_seen_by_readers() {
    QuickCheck::new()
        .tests(200)
        .quickcheck(transfers_keep_the_sum as fn(u64) -> bool);
}

#[test]
fn blind_writes_never_conflict() {
    let env = SimEnv::new(1);
    let store = Stepped::new(&env, |_| false);
    let options = patient();
    let mut clients: Vec<Client<'_>> = Vec::new();
    for client in 0..4 {
        let (store, env, options) = (&store, &env, &options);
        clients.push(Box::pin(async move {
            for n in 0..50 {
                let done = transact(store, env, options, |tx| async move {
                    (0..4).for_each(|k| tx.put(key(k), format!("{client}.{n}")));
                    Ok::<_, TxError>(())
                });
                assert_eq!(done.await.unwrap().attempts, 1);
            }
        }));
    }
    schedule(&mut SplitMix64::new(1), clients);
    let contention = store.inner.contention();
    assert_eq!(
        (
            contention.commits(),
            contention.conflicts(),
            contention.retries()
        ),
        (200, 0, 0)
    );
}

#[test]
fn transactions_with_disjoint_keys_never_retry() {
    for seed in 0..20 {
        let env = SimEnv::new(seed);
        let store = Stepped::new(&env, |_| false);
        let options = patient();
        let mut clients: Vec<Client<'_>> = Vec::new();
        for client in 0..4 {
            let (store, env, options) = (&store, &env, &options);
            clients.push(Box::pin(async move {
                for n in 0..20 {
                    let done = transact(store, env, options, |tx| async move {
                        let own = |k: u64| Key::from(format!("{client}/{k}"));
                        tx.scan(Range::prefix(format!("{client}/"))).await?;
                        for k in 0..3 {
                            tx.get(own((n + k) % 5)).await?;
                        }
                        tx.put(own(n % 5), n.to_string());
                        tx.delete(own((n + 1) % 5));
                        Ok::<_, TxError>(())
                    });
                    assert_eq!(done.await.unwrap().attempts, 1);
                }
            }));
        }
        schedule(&mut SplitMix64::new(seed), clients);
        assert_eq!(store.inner.contention().conflicts(), 0);
        assert_eq!(store.inner.contention().retries(), 0);
    }
}

/// `t` clients increment `m` uniform records out of `k`; returns (commits, attempts that failed).
fn uniform(t: u64, m: u64, k: u64, seed: u64) -> (u64, u64) {
    let env = SimEnv::new(seed);
    let store = Stepped::new(&env, |_| false);
    (0..k).for_each(|n| store.put(&format!("k{n}"), "0"));
    let options = patient();
    let mut seeds = SplitMix64::new(seed);
    let mut clients: Vec<Client<'_>> = Vec::new();
    for _ in 0..t {
        let mut random = SplitMix64::new(seeds.next_u64());
        let (store, env, options) = (&store, &env, &options);
        clients.push(Box::pin(async move {
            for _ in 0..500 {
                let mut chosen = BTreeSet::new();
                while (chosen.len() as u64) < m {
                    chosen.insert(random.below(k));
                }
                let done = transact(store, env, options, |tx| {
                    let chosen = &chosen;
                    async move {
                        for n in chosen {
                            let old = tx.get(key(*n)).await?.unwrap();
                            let new = old.as_str().unwrap().parse::<u64>().unwrap() + 1;
                            tx.put(key(*n), new.to_string());
                        }
                        Ok::<_, TxError>(())
                    }
                });
                done.await.unwrap();
            }
        }));
    }
    schedule(&mut seeds, clients);
    assert!(
        *store.refusals.lock().unwrap() > 0,
        "no refusal was checked"
    );
    let total: u64 = (0..k)
        .map(|n| store.inner.get(key(n)).unwrap().unwrap())
        .map(|entry| entry.value.as_str().unwrap().parse::<u64>().unwrap())
        .sum();
    assert_eq!(total, t * 500 * m, "no increment was lost");
    (t * 500, store.inner.contention().retries())
}

#[test]
fn the_share_of_conflicts_among_uniform_keys_is_bounded() {
    for (t, m, k) in [(2, 2, 100), (4, 4, 1000), (8, 4, 2000), (3, 8, 2000)] {
        let (commits, failed) = uniform(t, m, k, 11);
        let share = failed as f64 / (commits + failed) as f64;
        let bound = 2.0 * (t - 1) as f64 * (m * m) as f64 / k as f64;
        assert!(
            share < bound,
            "{t} clients, {m} of {k} keys: {share} is not below {bound}"
        );
    }
}
