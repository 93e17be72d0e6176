//! The story of 33 and 34: a paused holder's late write is refused at the resource, whoever it is
//! that checks, and without the check the same story loses an update.
#![allow(clippy::unwrap_used)]

mod accounts;

use accounts::{Access, Account};
use commute::coord::{
    DifferentDomain, Established, EstablishedKey, FenceError, FencedCell, FencedError, FencedKey,
    FencedResource, FencingToken, Gate, Lease, LeaseOptions,
};
use commute::env::{SimEnv, SplitMix64};
use commute::store::{
    Guard, Limit, MemoryOptions, MemoryStore, Outcome, StoreError, StoreLimits, TransactError,
    TransactOptions, Transaction, TransactionId, TxError, Value, transact_blocking,
};
use quickcheck::QuickCheck;
use std::sync::Mutex;

fn setup() -> (SimEnv, MemoryStore) {
    let env = SimEnv::new(34);
    let store = MemoryStore::new(env.clone()).unwrap();
    (env, store)
}

fn acquire(store: &MemoryStore, env: &SimEnv, domain: &str) -> Lease<MemoryStore, SimEnv> {
    Lease::acquire_blocking(store, env, domain, &LeaseOptions::default()).unwrap()
}

fn pause(env: &SimEnv) {
    env.advance(LeaseOptions::default().ttl);
}

/// Two tokens of one domain, in the order they were granted.
fn two_tokens(env: &SimEnv, store: &MemoryStore, domain: &str) -> (FencingToken, FencingToken) {
    let first = acquire(store, env, domain).token().clone();
    pause(env);
    let second = acquire(store, env, domain).token().clone();
    pause(env);
    (first, second)
}

fn txn(env: &SimEnv) -> Transaction {
    Transaction::new(TransactionId::random(env).unwrap())
}

fn number(value: Option<Value>) -> i64 {
    value.map_or(0, |value| value.as_str().unwrap().parse().unwrap())
}

impl Account for FencedKey<'_, MemoryStore, SimEnv> {
    fn enter(&self, token: &FencingToken) -> Option<Box<dyn Access + '_>> {
        Some(Box::new(self.establish_blocking(token).ok()?))
    }
}

impl Access for EstablishedKey<'_, MemoryStore, SimEnv> {
    fn read(&mut self) -> Option<i64> {
        self.read_blocking().ok().map(number)
    }

    fn write(&mut self, balance: i64) -> bool {
        self.write_blocking(Some(balance.to_string().into()))
            .is_ok()
    }
}

/// Data in a store, read outside and written blindly inside a transaction: only its fence guard
/// protects it. Without the guard it is a mutant.
struct InTransactions {
    env: SimEnv,
    store: MemoryStore,
    fenced: bool,
}

impl Account for InTransactions {
    fn enter(&self, token: &FencingToken) -> Option<Box<dyn Access + '_>> {
        if self.fenced {
            let establish = txn(&self.env).guard(Guard::fence(token));
            let outcome = self.store.commit_blocking(&establish).unwrap();
            if !matches!(outcome, Outcome::Committed { .. }) {
                return None;
            }
        }
        Some(Box::new(InTransaction {
            account: self,
            token: token.clone(),
        }))
    }
}

struct InTransaction<'a> {
    account: &'a InTransactions,
    token: FencingToken,
}

impl Access for InTransaction<'_> {
    fn read(&mut self) -> Option<i64> {
        Some(number(
            self.account
                .store
                .get("balance")
                .unwrap()
                .map(|entry| entry.value),
        ))
    }

    fn write(&mut self, balance: i64) -> bool {
        let InTransactions { env, store, fenced } = self.account;
        let written = transact_blocking(store, env, &TransactOptions::default(), |tx| {
            if *fenced {
                tx.guard_fence(&self.token);
            }
            tx.put("balance", balance.to_string());
            Ok::<_, TxError>(())
        });
        written.is_ok()
    }
}

/// The mutant that remembers the highest token it has *written*, without establishing it first.
#[derive(Default)]
struct HighestWritten(Mutex<(Option<FencingToken>, i64)>);

impl Account for HighestWritten {
    fn enter(&self, token: &FencingToken) -> Option<Box<dyn Access + '_>> {
        Some(Box::new((self, token.clone())))
    }
}

impl Access for (&HighestWritten, FencingToken) {
    fn read(&mut self) -> Option<i64> {
        Some(self.0.0.lock().unwrap().1)
    }

    fn write(&mut self, balance: i64) -> bool {
        let mut inner = self.0.0.lock().unwrap();
        if inner
            .0
            .as_ref()
            .is_some_and(|highest| self.1.try_cmp(highest).unwrap().is_lt())
        {
            return false;
        }
        *inner = (Some(self.1.clone()), balance);
        true
    }
}

struct Told {
    late_write: bool,
    holder_write: bool,
    update_lost: bool,
}

/// 33 reads and is paused, its lease ends, 34 is granted and reads; then both write.
fn story(account: &dyn Account, env: &SimEnv, store: &MemoryStore, late_first: bool) -> Told {
    let first = acquire(store, env, "lock");
    let mut late = account.enter(first.token()).unwrap();
    assert!(late.write(100));
    let late_read = late.read().unwrap();
    pause(env);
    assert!(!first.believes_valid(), "it would know, if it looked");

    let second = acquire(store, env, "lock");
    let mut access = account.enter(second.token()).unwrap();
    let read = access.read().unwrap();
    let (late_write, holder_write);
    if late_first {
        late_write = late.write(late_read - 30);
        holder_write = access.write(read - 50);
    } else {
        holder_write = access.write(read - 50);
        late_write = late.write(late_read - 30);
    }
    pause(env);

    let third = acquire(store, env, "lock");
    let balance = account.enter(third.token()).unwrap().read().unwrap();
    let expected = 100 - if late_write { 30 } else { 0 } - if holder_write { 50 } else { 0 };
    Told {
        late_write,
        holder_write,
        update_lost: balance != expected,
    }
}

#[test]
fn the_late_write_is_refused_and_no_update_is_lost() {
    for late_first in [true, false] {
        let (env, store) = setup();
        let cell = FencedCell::new("lock", 0);
        let key = FencedKey::new(&store, &env, "balance");
        let in_transactions = InTransactions {
            env: env.clone(),
            store: store.clone(),
            fenced: true,
        };
        let accounts: [&dyn Account; 3] = [&cell, &key, &in_transactions];
        for account in accounts {
            let told = story(account, &env, &store, late_first);
            assert!(!told.late_write && told.holder_write && !told.update_lost);
            pause(&env);
        }
    }
}

#[test]
fn the_story_notices_resources_that_do_not_fence() {
    for late_first in [true, false] {
        let (env, store) = setup();
        let mutant = InTransactions {
            env: env.clone(),
            store: store.clone(),
            fenced: false,
        };
        let told = story(&mutant, &env, &store, late_first);
        assert!(told.late_write && told.update_lost, "no fence");

        // Remembering the highest token helps only once the new holder has written.
        let (env, store) = setup();
        let told = story(&HighestWritten::default(), &env, &store, late_first);
        assert_eq!(
            (told.late_write, told.update_lost),
            (late_first, late_first),
            "no establish"
        );
    }
}

/// What a random run did and found.
#[derive(Default)]
struct Run {
    lost: bool,
    zombie_writes: u32,
    zombie_refused: u32,
    holder_refused: u32,
}

/// Three clients add one each time they hold the lease; anywhere between two steps they may be
/// paused for longer than it lasts.
fn random_run(seed: u64, fenced: bool) -> Run {
    let mut random = SplitMix64::new(seed);
    let (env, store) = setup();
    let cell = FencedCell::new("lock", 0);
    let mutant = InTransactions {
        env: env.clone(),
        store: store.clone(),
        fenced: false,
    };
    let account: &dyn Account = if fenced { &cell } else { &mutant };
    let mut run = Run::default();
    let mut acknowledged = 0;
    type Step<'a> = (
        Lease<MemoryStore, SimEnv>,
        Option<(Box<dyn Access + 'a>, Option<i64>)>,
    );
    let mut clients: [Option<Step<'_>>; 3] = [None, None, None];
    for _ in 0..120 {
        env.advance(LeaseOptions::default().ttl * random.below(6) as u32 / 10);
        let client = &mut clients[random.below(3) as usize];
        *client = match client.take() {
            None => {
                let asked = Lease::acquire_blocking(&store, &env, "lock", &LeaseOptions::default());
                asked.ok().map(|lease| (lease, None))
            }
            Some((lease, None)) => account
                .enter(lease.token())
                .map(|access| (lease, Some((access, None)))),
            Some((lease, Some((mut access, None)))) => {
                let read = access.read();
                read.map(|read| (lease, Some((access, Some(read)))))
            }
            Some((lease, Some((mut access, Some(read))))) => {
                let live = store.get("lease/lock").unwrap();
                let holds =
                    live.is_some_and(|entry| entry.created.counter() == lease.token().counter());
                let accepted = access.write(read + 1);
                acknowledged += i64::from(accepted);
                run.zombie_writes += u32::from(!holds);
                run.zombie_refused += u32::from(!holds && !accepted);
                run.holder_refused += u32::from(holds && !accepted);
                if random.below(2) == 0 {
                    None
                } else {
                    Some((lease, Some((access, None))))
                }
            }
        };
    }
    pause(&env);
    let last = acquire(&store, &env, "lock");
    let total = account.enter(last.token()).unwrap().read().unwrap();
    run.lost = total != acknowledged;
    run
}

fn nothing_is_lost(seed: u64) -> bool {
    let run = random_run(seed, true);
    !run.lost && run.holder_refused == 0
}

#[test]
fn paused_holders_never_make_a_fenced_resource_lose_an_update() {
    QuickCheck::new()
        .tests(300)
        .quickcheck(nothing_is_lost as fn(u64) -> bool);
    let runs: Vec<Run> = (0..50).map(|seed| random_run(seed, true)).collect();
    let zombies: u32 = runs.iter().map(|run| run.zombie_writes).sum();
    let refused: u32 = runs.iter().map(|run| run.zombie_refused).sum();
    assert!(
        zombies > 50 && refused > 20,
        "{zombies} late writes, {refused} refused"
    );
    assert!(
        (0..50).any(|seed| random_run(seed, false).lost),
        "the mutant goes unnoticed"
    );
}

#[test]
fn equal_tokens_have_no_order_so_a_write_must_match_the_version() {
    let (env, store) = setup();
    let lease = acquire(&store, &env, "lock");
    let cell = FencedCell::new("lock", 1);
    let mut one = cell.establish_blocking(lease.token()).unwrap();
    let mut other = cell.establish_blocking(lease.token()).unwrap();
    one.write_blocking(2).unwrap();
    assert_eq!(
        other.write_blocking(3),
        Err(FencedError::Stale { lost_to: None })
    );
    assert_eq!(other.read_blocking(), Ok(2));
    other.write_blocking(4).unwrap();
    other.write_blocking(5).unwrap();
    assert_eq!(one.read_blocking(), Ok(5));

    let key = FencedKey::new(&store, &env, "data");
    let mut one = key.establish_blocking(lease.token()).unwrap();
    let mut other = key.establish_blocking(lease.token()).unwrap();
    one.write_blocking(Some("2".into())).unwrap();
    let Err(FencedError::Stale {
        lost_to: Some(lost),
    }) = other.write_blocking(None)
    else {
        panic!("an unordered write was accepted");
    };
    assert_eq!(lost.entry.unwrap().value.as_str(), Ok("2"));
    assert_eq!(other.read_blocking(), Ok(Some("2".into())));
    other.write_blocking(None).unwrap();
    other.write_blocking(Some("3".into())).unwrap();
    assert_eq!(store.get("data").unwrap().unwrap().value.as_str(), Ok("3"));
}

#[test]
fn a_lost_holder_can_neither_establish_nor_read_a_cell() {
    let (env, store) = setup();
    let (old, new) = two_tokens(&env, &store, "lock");
    let cell = FencedCell::new("lock", 1);
    let mut late = cell.establish_blocking(&old).unwrap();
    cell.establish_blocking(&new).unwrap();
    let refused = cell.establish_blocking(&old).map(|_| ());
    let Err(FencedError::Fence(FenceError::Fenced { floor })) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(floor.counter(), new.counter());
    let fenced = FencedError::Fence(FenceError::Fenced { floor });
    assert_eq!(late.read_blocking(), Err(fenced.clone()));
    assert_eq!(late.write_blocking(2), Err(fenced));
}

#[test]
fn tokens_of_another_domain_or_incarnation_are_refused_not_compared() {
    let (env, store) = setup();
    let restored = MemoryStore::new(env.clone()).unwrap();
    let (_, token) = two_tokens(&env, &store, "lock");
    let (_, other_domain) = two_tokens(&env, &store, "other");
    let (_, other_life) = two_tokens(&env, &restored, "lock");

    let cell = FencedCell::new("lock", 1);
    cell.establish_blocking(&token).unwrap();
    for foreign in [&other_domain, &other_life] {
        let refused = cell.establish_blocking(foreign).map(|_| ());
        assert!(matches!(
            refused,
            Err(FencedError::Fence(FenceError::DifferentDomain(_)))
        ));
    }

    let fence = |token: &FencingToken| txn(&env).guard(Guard::fence(token)).put("x", "1");
    let _ = store.commit_blocking(&fence(&token)).unwrap();
    let floor = store.floor("lock");
    assert_eq!(
        store.commit_blocking(&fence(&other_life)),
        Err(StoreError::OtherIncarnation {
            expected: token.incarnation(),
            found: other_life.incarnation()
        })
    );
    assert_eq!(store.floor("lock"), floor);
    assert_eq!(store.floor("other"), None);
}

#[test]
fn a_gate_is_resumed_from_the_bytes_of_its_last_token() {
    let (env, store) = setup();
    let (old, new) = two_tokens(&env, &store, "lock");
    let saved = new.to_bytes();
    let mut gate = Gate::new("lock");
    gate.establish(&FencingToken::from_bytes(&saved).unwrap())
        .unwrap();
    assert!(matches!(
        gate.establish(&old),
        Err(FenceError::Fenced { .. })
    ));
    assert_eq!(gate.establish(&new), Ok(()));
    let foreign = Gate::new("another").establish(&new);
    assert!(matches!(
        foreign,
        Err(FenceError::DifferentDomain(DifferentDomain::Domain { .. }))
    ));
}

#[test]
fn a_fence_guard_raises_the_floor_only_with_its_commit() {
    let (env, store) = setup();
    let (old, new) = two_tokens(&env, &store, "lock");
    let before = store.revision();
    let refused = txn(&env)
        .guard(Guard::fence(&new))
        .guard(Guard::present("none"));
    assert!(matches!(
        store.commit_blocking(&refused),
        Ok(Outcome::Conflict(_))
    ));
    assert_eq!((store.floor("lock"), store.revision()), (None, before));

    let establish = txn(&env).guard(Guard::fence(&new));
    let Outcome::Committed { revision } = store.commit_blocking(&establish).unwrap() else {
        panic!("not established");
    };
    assert_eq!(
        revision.counter(),
        before.counter() + 1,
        "raising a floor is a commit"
    );
    let floor = store.floor("lock").unwrap();
    assert_eq!(floor.counter(), new.counter());

    let late = txn(&env).guard(Guard::fence(&old)).put("x", "late");
    assert_eq!(store.commit_blocking(&late), Ok(Outcome::Fenced { floor }));
    assert_eq!(store.get("x").unwrap(), None);
    assert_eq!(store.contention().fenced(), 1);

    // The same token again is no change.
    let again = txn(&env).guard(Guard::fence(&new));
    assert_eq!(
        store.commit_blocking(&again),
        Ok(Outcome::Committed { revision })
    );
}

#[test]
fn several_tokens_of_one_domain_must_rise_within_a_transaction() {
    let (env, store) = setup();
    let (old, new) = two_tokens(&env, &store, "lock");
    let falling = txn(&env)
        .guard(Guard::fence(&new))
        .guard(Guard::fence(&old));
    assert!(matches!(
        store.commit_blocking(&falling),
        Ok(Outcome::Fenced { .. })
    ));
    assert_eq!(store.floor("lock"), None);
    let rising = txn(&env)
        .guard(Guard::fence(&old))
        .guard(Guard::fence(&new));
    assert!(matches!(
        store.commit_blocking(&rising),
        Ok(Outcome::Committed { .. })
    ));
    assert_eq!(store.floor("lock").unwrap().counter(), new.counter());
}

#[test]
fn a_fenced_transaction_is_not_retried() {
    let (env, store) = setup();
    let (old, new) = two_tokens(&env, &store, "lock");
    let _ = store
        .commit_blocking(&txn(&env).guard(Guard::fence(&new)))
        .unwrap();
    let mut runs = 0;
    let failed = transact_blocking(&store, &env, &TransactOptions::default(), |tx| {
        runs += 1;
        tx.guard_fence(&old);
        tx.put("x", "late");
        Ok::<_, TxError>(())
    });
    let floor = store.floor("lock").unwrap();
    assert_eq!(failed, Err(TransactError::Fenced { floor }));
    assert_eq!(runs, 1);
}

#[test]
fn floors_are_bounded_and_never_forgotten() {
    let env = SimEnv::new(1);
    let limits = StoreLimits {
        fence_domains_max: 2,
        ..StoreLimits::default()
    };
    let options = MemoryOptions {
        limits,
        history_changes_max: 1,
        ..MemoryOptions::default()
    };
    let store = MemoryStore::with_options(env.clone(), options).unwrap();
    let (old, new) = two_tokens(&env, &store, "a");
    let (_, b) = two_tokens(&env, &store, "b");
    let (_, c) = two_tokens(&env, &store, "c");
    let _ = store
        .commit_blocking(&txn(&env).guard(Guard::fence(&new)))
        .unwrap();
    let _ = store
        .commit_blocking(&txn(&env).guard(Guard::fence(&b)))
        .unwrap();
    let refused = store.commit_blocking(&txn(&env).guard(Guard::fence(&c)).put("x", "1"));
    let limit = Limit::FenceDomains;
    assert_eq!(
        refused,
        Err(StoreError::LimitExceeded {
            limit,
            max: 2,
            found: 3
        })
    );
    assert_eq!(store.get("x").unwrap(), None);
    (0..10).for_each(|n| drop(store.put("noise", n.to_string())));
    let late = store
        .commit_blocking(&txn(&env).guard(Guard::fence(&old)))
        .unwrap();
    assert!(matches!(late, Outcome::Fenced { .. }));
}

#[test]
fn the_guard_of_the_lease_itself_leaves_no_window() {
    let (env, store) = setup();
    let mut lease = acquire(&store, &env, "lock");
    lease.renew_blocking().unwrap();
    let write = |lease: &Lease<MemoryStore, SimEnv>, value: &str| {
        store
            .commit_blocking(&txn(&env).guard(lease.guard()).put("x", value))
            .unwrap()
    };
    assert!(matches!(write(&lease, "1"), Outcome::Committed { .. }));
    pause(&env);
    assert!(
        matches!(write(&lease, "2"), Outcome::Conflict(_)),
        "expired, not granted again"
    );
    let next = acquire(&store, &env, "lock");
    let Outcome::Conflict(lost) = write(&lease, "3") else {
        panic!("a late write passed")
    };
    assert_eq!(lost.revision.counter(), next.token().counter());
    assert!(matches!(write(&next, "4"), Outcome::Committed { .. }));
    assert_eq!(store.get("x").unwrap().unwrap().value.as_str(), Ok("4"));
}

#[test]
fn the_asynchronous_front_of_a_fenced_key_does_the_same() {
    let (env, store) = setup();
    let (old, new) = two_tokens(&env, &store, "lock");
    let key = FencedKey::new(&store, &env, "data");
    let run = async {
        let mut late = key.establish(&old).await?;
        late.write(Some("old".into())).await?;
        let mut access = key.establish(&new).await?;
        let refused = late.write(Some("late".into())).await;
        assert!(matches!(
            refused,
            Err(FencedError::Fence(FenceError::Fenced { .. }))
        ));
        access.write(Some("new".into())).await?;
        access.read().await
    };
    assert_eq!(env.run(run).unwrap().unwrap(), Some("new".into()));
}
