//! Every guard holds or refuses, a refusal says what it lost to, and bad input changes nothing.
#![allow(clippy::unwrap_used)]

use commute::env::{Env, SimEnv};
use commute::store::{
    Conflict, Guard, Incarnation, Limit, MemoryOptions, MemoryStore, Outcome, Range, Revision,
    StoreError, StoreLimits, Transaction, TransactionId,
};
use core::time::Duration;

fn store() -> (SimEnv, MemoryStore) {
    let env = SimEnv::new(7);
    let store = MemoryStore::new(env.clone()).unwrap();
    (env, store)
}

fn txn(env: &SimEnv) -> Transaction {
    Transaction::new(TransactionId::random(env).unwrap())
}

fn committed(outcome: Outcome) -> Revision {
    match outcome {
        Outcome::Committed { revision } => revision,
        other => panic!("not committed: {other:?}"),
    }
}

fn conflict(outcome: Outcome) -> Conflict {
    match outcome {
        Outcome::Conflict(conflict) => conflict,
        other => panic!("no conflict: {other:?}"),
    }
}

#[test]
fn each_guard_holds_exactly_when_it_says() {
    let (env, store) = store();
    let first = store.put("a", "1").unwrap();
    let second = store.put("a", "2").unwrap();
    let cases = [
        (Guard::revision("a", second), true),
        (Guard::revision("a", first), false),
        (Guard::created("a", first), true),
        (Guard::created("a", second), false),
        (Guard::absent("b"), true),
        (Guard::absent("a"), false),
        (Guard::present("a"), true),
        (Guard::present("b"), false),
        (Guard::value("a", "2"), true),
        (Guard::value("a", "1"), false),
        (Guard::value("b", ""), false),
        (Guard::unchanged(Range::prefix("a"), second), true),
        (Guard::unchanged(Range::prefix("a"), first), false),
        (Guard::unchanged(Range::prefix("b"), first), true),
        (Guard::unchanged(Range::between("b", "a"), first), true),
    ];
    for (guard, holds) in cases {
        let outcome = store.commit_blocking(&txn(&env).guard(guard.clone()));
        let held = matches!(outcome, Ok(Outcome::Committed { .. }));
        assert_eq!(held, holds, "{guard:?}");
    }
}

#[test]
fn one_failing_guard_keeps_all_writes_back() {
    let (env, store) = store();
    let at = store.put("a", "1").unwrap();
    let refused = txn(&env)
        .guard(Guard::revision("a", at))
        .guard(Guard::present("b"))
        .put("a", "2")
        .put("c", "3");
    let lost = conflict(store.commit_blocking(&refused).unwrap());
    assert_eq!(lost.key.as_str(), Ok("b"));
    assert_eq!(store.get("a").unwrap().unwrap().modified, at);
    assert_eq!(store.get("c").unwrap(), None);
    assert_eq!(store.revision(), at);
}

#[test]
fn a_refusal_returns_key_value_and_revision_it_lost_to() {
    let (_, store) = store();
    let first = store.put("a", "1").unwrap();
    let winner = store.put("a", "2").unwrap();
    store.put("unrelated", "x").unwrap();
    let lost = conflict(store.compare_and_set("a", Some(first), "3").unwrap());
    assert_eq!(lost.key.as_str(), Ok("a"));
    assert_eq!(lost.revision, winner);
    assert_eq!(lost.entry.unwrap().value.as_str(), Ok("2"));

    let deletion = store.delete("a").unwrap();
    store.put("unrelated", "y").unwrap();
    let lost = conflict(store.compare_and_set("a", Some(winner), "3").unwrap());
    assert_eq!((lost.entry, lost.revision), (None, deletion));
}

#[test]
fn deleting_and_creating_anew_is_no_way_back_to_an_old_revision() {
    let (_, store) = store();
    let old = store.put("a", "same").unwrap();
    store.delete("a").unwrap();
    let new = store.put("a", "same").unwrap();
    assert!(old < new);
    let lost = conflict(store.compare_and_set("a", Some(old), "x").unwrap());
    assert_eq!(lost.revision, new);
    let entry = store.get("a").unwrap().unwrap();
    assert_eq!((entry.created, entry.modified), (new, new));
}

#[test]
fn a_blind_write_is_never_refused_and_an_empty_effect_uses_no_revision() {
    let (env, store) = store();
    let first = store.put("a", "1").unwrap();
    let blind = txn(&env).put("a", "2").put("b", "3").delete("none");
    let second = committed(store.commit_blocking(&blind).unwrap());
    assert_eq!(second.counter(), first.counter() + 1);
    assert_eq!(store.delete("none").unwrap(), second);
    assert_eq!(store.revision(), second);
    assert_eq!(store.contention().conflicts(), 0);
}

#[test]
fn revisions_of_another_incarnation_are_an_error_in_every_guard() {
    let (env, store) = store();
    let at = store.put("a", "1").unwrap();
    let other = MemoryStore::new(env.clone()).unwrap();
    let foreign = other.put("a", "1").unwrap();
    assert_ne!(at.incarnation(), foreign.incarnation());
    assert_eq!(at.partial_cmp(&foreign), None);
    for guard in [
        Guard::revision("a", foreign),
        Guard::created("a", foreign),
        Guard::unchanged(Range::all(), foreign),
    ] {
        // An error even where another guard already fails.
        let refused = txn(&env)
            .guard(Guard::absent("a"))
            .guard(guard)
            .put("a", "2");
        let expected = at.incarnation();
        let found = foreign.incarnation();
        assert_eq!(
            store.commit_blocking(&refused),
            Err(StoreError::OtherIncarnation { expected, found })
        );
    }
    assert_eq!(store.get("a").unwrap().unwrap().modified, at);
}

#[test]
fn a_revision_from_the_future_is_an_error() {
    let (env, store) = store();
    let newest = store.put("a", "1").unwrap();
    let found = Revision::new(newest.incarnation(), newest.counter() + 1);
    let ahead = txn(&env)
        .guard(Guard::unchanged(Range::all(), found))
        .put("a", "2");
    let refused = store.commit_blocking(&ahead);
    assert_eq!(refused, Err(StoreError::FutureRevision { newest, found }));
}

#[test]
fn the_last_revision_is_used_and_then_there_is_an_error_and_no_wrap() {
    let env = SimEnv::new(1);
    let options = MemoryOptions {
        first_counter: u64::MAX - 1,
        ..MemoryOptions::default()
    };
    let store = MemoryStore::with_options(env.clone(), options).unwrap();
    let ttl = Duration::from_secs(1);
    let last = committed(
        store
            .commit_blocking(&txn(&env).put_for("a", "1", ttl))
            .unwrap(),
    );
    assert_eq!(last.counter(), u64::MAX);
    let refused = txn(&env).put("a", "2");
    assert_eq!(
        store.commit_blocking(&refused),
        Err(StoreError::RevisionsExhausted)
    );
    assert_eq!(store.put("b", "2"), Err(StoreError::RevisionsExhausted));
    // Expiry would need a revision too; what cannot be deleted stays.
    env.advance(ttl);
    assert_eq!(store.get("a").unwrap().unwrap().value.as_str(), Ok("1"));
    assert_eq!(store.revision(), last);
    // What changes nothing is still answered.
    let check = txn(&env).guard(Guard::present("a"));
    assert_eq!(committed(store.commit_blocking(&check).unwrap()), last);
}

#[test]
fn every_limit_is_enforced_and_leaves_the_store_untouched() {
    let env = SimEnv::new(1);
    let limits = StoreLimits {
        key_bytes_max: 3,
        value_bytes_max: 4,
        operations_max: 2,
        ..StoreLimits::default()
    };
    let options = MemoryOptions {
        limits,
        ..MemoryOptions::default()
    };
    let store = MemoryStore::with_options(env.clone(), options).unwrap();
    let at = store.put("abc", "1234").unwrap();
    let exceeded = |limit, max, found| StoreError::LimitExceeded { limit, max, found };
    let key = exceeded(Limit::KeyBytes, 3, 4);
    let value = exceeded(Limit::ValueBytes, 4, 5);
    let operations = exceeded(Limit::Operations, 2, 3);
    let too_much = [
        (txn(&env).put("abcd", ""), &key),
        (txn(&env).delete("abcd"), &key),
        (txn(&env).guard(Guard::absent("abcd")), &key),
        (txn(&env).put("a", "12345"), &value),
        (txn(&env).guard(Guard::value("a", "12345")), &value),
        (
            txn(&env).put("a", "").put("b", "").put("c", ""),
            &operations,
        ),
        (
            txn(&env)
                .guard(Guard::absent("x"))
                .put("a", "")
                .put("b", ""),
            &operations,
        ),
    ];
    for (txn, error) in &too_much {
        assert_eq!(store.commit_blocking(txn).as_ref(), Err(*error), "{txn:?}");
    }
    assert_eq!(store.put("abcd", ""), Err(key.clone()));
    assert_eq!(store.delete("abcd"), Err(key.clone()));
    assert_eq!(store.get("abcd"), Err(key));
    let keys = ["a".into(), "b".into(), "c".into()];
    assert_eq!(store.read_blocking(&keys, &[]), Err(operations));
    let range = Range::from("abcde");
    assert!(matches!(
        store.watch_blocking(range, at),
        Err(StoreError::LimitExceeded {
            limit: Limit::KeyBytes,
            max: 4,
            found: 5
        })
    ));
    assert_eq!(store.revision(), at);
}

#[test]
fn one_key_written_twice_and_a_zero_ttl_are_errors() {
    let (env, store) = store();
    let twice = txn(&env).put("a", "1").put("b", "2").delete("a");
    let key = "a".into();
    assert_eq!(
        store.commit_blocking(&twice),
        Err(StoreError::DuplicateWrite { key })
    );
    let zero = txn(&env).put_for("a", "1", Duration::ZERO);
    let key = "a".into();
    assert_eq!(
        store.commit_blocking(&zero),
        Err(StoreError::ZeroTtl { key })
    );
    assert_eq!(store.revision().counter(), 0);
}

#[test]
fn committing_an_id_again_returns_the_first_result() {
    let (env, store) = store();
    let create = txn(&env).guard(Guard::absent("a")).put("a", "1");
    let first = store.commit_blocking(&create).unwrap();
    store.delete("a").unwrap();
    assert_eq!(store.commit_blocking(&create).unwrap(), first);
    assert_eq!(store.get("a").unwrap(), None, "not applied a second time");

    // A refusal stays one, even when the guard would hold by now.
    let refused = txn(&env).guard(Guard::present("a")).put("b", "1");
    let lost = store.commit_blocking(&refused).unwrap();
    store.put("a", "2").unwrap();
    assert_eq!(store.commit_blocking(&refused).unwrap(), lost);
    assert_eq!(store.get("b").unwrap(), None);
    assert_eq!(store.contention().replays(), 2);
}

#[test]
fn an_error_is_not_a_result_and_the_id_stays_free() {
    let env = SimEnv::new(1);
    let limits = StoreLimits {
        operations_max: 1,
        ..StoreLimits::default()
    };
    let options = MemoryOptions {
        limits,
        ..MemoryOptions::default()
    };
    let store = MemoryStore::with_options(env.clone(), options).unwrap();
    let id = TransactionId::random(&env).unwrap();
    let big = Transaction::new(id).put("a", "1").put("b", "2");
    assert!(store.commit_blocking(&big).is_err());
    committed(
        store
            .commit_blocking(&Transaction::new(id).put("a", "1"))
            .unwrap(),
    );
}

#[test]
fn an_id_used_for_another_transaction_is_an_error() {
    let (env, store) = store();
    let id = TransactionId::random(&env).unwrap();
    committed(
        store
            .commit_blocking(&Transaction::new(id).put("a", "1"))
            .unwrap(),
    );
    let other = Transaction::new(id).put("a", "2");
    assert_eq!(
        store.commit_blocking(&other),
        Err(StoreError::TransactionIdReused { id })
    );
    assert_eq!(store.get("a").unwrap().unwrap().value.as_str(), Ok("1"));
}

#[test]
fn results_are_retained_up_to_the_stated_number() {
    let env = SimEnv::new(1);
    let options = MemoryOptions {
        outcomes_retained: 2,
        ..MemoryOptions::default()
    };
    let store = MemoryStore::with_options(env.clone(), options).unwrap();
    let txns: Vec<Transaction> = (0..3).map(|n| txn(&env).put("a", n.to_string())).collect();
    let first: Vec<Outcome> = txns
        .iter()
        .map(|txn| store.commit_blocking(txn).unwrap())
        .collect();
    assert_eq!(store.commit_blocking(&txns[1]).unwrap(), first[1]);
    assert_eq!(store.commit_blocking(&txns[2]).unwrap(), first[2]);
    assert_ne!(
        store.commit_blocking(&txns[0]).unwrap(),
        first[0],
        "decided anew"
    );
}

#[test]
fn the_incarnation_is_random_and_survives_in_display() {
    let env = SimEnv::new(1);
    let expected = Incarnation::from_bits(SimEnv::new(1).random_u128().unwrap());
    let store = MemoryStore::new(env).unwrap();
    assert_eq!(store.revision().incarnation(), expected);
    assert_eq!(expected.to_string(), format!("{:032x}", expected.bits()));
}
