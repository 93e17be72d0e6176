//! Range reads: no phantoms, no conflict beyond where the read stopped, no guess about what was
//! forgotten.
#![allow(clippy::unwrap_used)]

use commute::env::SimEnv;
use commute::store::{
    Guard, MemoryOptions, MemoryStore, Outcome, Range, Scan, StoreError, TransactOptions,
    Transaction, TransactionId, TxError, transact_blocking,
};

fn store() -> (SimEnv, MemoryStore) {
    let env = SimEnv::new(3);
    let store = MemoryStore::new(env.clone()).unwrap();
    for key in ["a1", "a3", "a5", "a7"] {
        store.put(key, key).unwrap();
    }
    (env, store)
}

/// Runs a transaction that scans and writes, while `meddle` commits once after the scan; returns
/// the number of attempts.
fn attempts(
    scan: impl Fn(&commute::store::BlockingTx<'_, MemoryStore>) -> Result<(), TxError>,
    meddle: impl Fn(&MemoryStore),
) -> u32 {
    let (env, store) = store();
    let mut first = true;
    let done = transact_blocking(&store, &env, &TransactOptions::default(), |tx| {
        scan(&tx)?;
        if core::mem::take(&mut first) {
            meddle(&store);
        }
        tx.put("out", "x");
        Ok::<_, TxError>(())
    });
    done.unwrap().attempts
}

#[test]
fn a_record_created_changed_or_deleted_in_a_scanned_range_conflicts() {
    let all =
        |tx: &commute::store::BlockingTx<'_, MemoryStore>| tx.scan(Range::prefix("a")).map(|_| ());
    assert_eq!(attempts(all, |store| drop(store.put("a4", "phantom"))), 2);
    assert_eq!(attempts(all, |store| drop(store.put("a3", "changed"))), 2);
    assert_eq!(attempts(all, |store| drop(store.delete("a3"))), 2);
    assert_eq!(attempts(all, |store| drop(store.put("b", "outside"))), 1);
}

#[test]
fn an_empty_range_is_guarded_too() {
    let none = |tx: &commute::store::BlockingTx<'_, MemoryStore>| {
        assert!(tx.scan(Range::between("x", "y"))?.len() < 2);
        Ok(())
    };
    assert_eq!(attempts(none, |store| drop(store.put("x", "phantom"))), 2);
    assert_eq!(attempts(none, |store| drop(store.put("y", "outside"))), 1);
}

#[test]
fn a_scan_that_stopped_early_conflicts_only_up_to_where_it_stopped() {
    let two = |tx: &commute::store::BlockingTx<'_, MemoryStore>| {
        let found = tx.scan_first(Range::prefix("a"), 2)?;
        assert_eq!(found.len(), 2);
        Ok(())
    };
    assert_eq!(
        attempts(two, |store| drop(store.put("a3\0", "just behind"))),
        1
    );
    assert_eq!(attempts(two, |store| drop(store.delete("a5"))), 1);
    assert_eq!(
        attempts(two, |store| drop(store.put("a3", "the last one"))),
        2
    );
    assert_eq!(
        attempts(two, |store| drop(store.put("a2", "in between"))),
        2
    );
    assert_eq!(attempts(two, |store| drop(store.put("a", "before"))), 2);
}

#[test]
fn own_deletions_do_not_widen_what_an_early_stop_guards_nor_starve_it() {
    let two = |tx: &commute::store::BlockingTx<'_, MemoryStore>| {
        tx.delete("a1");
        let found = tx.scan_first(Range::prefix("a"), 2)?;
        let keys: Vec<_> = found.iter().map(|(key, _)| key.as_str().unwrap()).collect();
        assert_eq!(keys, ["a3", "a5"]);
        Ok(())
    };
    assert_eq!(attempts(two, |store| drop(store.put("a6", "behind"))), 1);
    let own = |tx: &commute::store::BlockingTx<'_, MemoryStore>| {
        tx.put("a2", "own");
        let found = tx.scan_first(Range::prefix("a"), 2)?;
        let keys: Vec<_> = found.iter().map(|(key, _)| key.as_str().unwrap()).collect();
        assert!(keys == ["a1", "a2"] || keys == ["a1", "a11"], "{keys:?}");
        Ok(())
    };
    // The store was read up to a3, but the closure has seen nothing behind a2.
    assert_eq!(attempts(own, |store| drop(store.put("a3", "unseen"))), 1);
    assert_eq!(attempts(own, |store| drop(store.put("a11", "seen"))), 2);
}

#[test]
fn a_scan_of_nothing_guards_nothing() {
    let none = |tx: &commute::store::BlockingTx<'_, MemoryStore>| {
        assert_eq!(tx.scan_first(Range::all(), 0)?, []);
        Ok(())
    };
    assert_eq!(attempts(none, |store| drop(store.put("a1", "x"))), 1);
}

#[test]
fn the_same_scan_with_a_greater_limit_later_guards_more() {
    let grow = |tx: &commute::store::BlockingTx<'_, MemoryStore>| {
        tx.scan_first(Range::prefix("a"), 1)?;
        let all = tx.scan(Range::prefix("a"))?;
        assert!(all.len() >= 3);
        Ok(())
    };
    assert_eq!(attempts(grow, |store| drop(store.delete("a7"))), 2);
}

#[test]
fn scans_see_the_own_writes_of_the_transaction_in_order() {
    let (env, store) = store();
    let done = transact_blocking(&store, &env, &TransactOptions::default(), |tx| {
        tx.put("a2", "own");
        tx.delete("a3");
        tx.put("a5", "changed");
        tx.put("b", "outside");
        tx.scan(Range::prefix("a"))
    });
    let found = done.unwrap().value;
    let shown: Vec<_> = found
        .iter()
        .map(|(k, v)| (k.as_str().unwrap(), v.as_str().unwrap()))
        .collect();
    assert_eq!(
        shown,
        [("a1", "a1"), ("a2", "own"), ("a5", "changed"), ("a7", "a7")]
    );
}

#[test]
fn a_range_guard_names_the_record_and_commit_it_lost_to() {
    let (env, store) = store();
    let since = store.revision();
    store.put("b", "outside").unwrap();
    let deletion = store.delete("a3").unwrap();
    store.put("c", "outside").unwrap();
    let guarded = Transaction::new(TransactionId::random(&env).unwrap())
        .guard(Guard::unchanged(Range::prefix("a"), since))
        .put("out", "x");
    let Outcome::Conflict(lost) = store.commit_blocking(&guarded).unwrap() else {
        panic!("a deletion went unnoticed");
    };
    assert_eq!(
        (lost.key.as_str(), lost.entry, lost.revision),
        (Ok("a3"), None, deletion)
    );
}

#[test]
fn a_guard_that_reaches_back_behind_forgotten_deletions_is_an_error() {
    let env = SimEnv::new(3);
    let options = MemoryOptions {
        history_changes_max: 2,
        ..MemoryOptions::default()
    };
    let store = MemoryStore::with_options(env.clone(), options).unwrap();
    store.put("a", "1").unwrap();
    let since = store.revision();
    let deletion = store.delete("a").unwrap();
    let guarded = || {
        Transaction::new(TransactionId::random(&env).unwrap())
            .guard(Guard::unchanged(Range::all(), since))
    };
    assert!(matches!(
        store.commit_blocking(&guarded()),
        Ok(Outcome::Conflict(_))
    ));
    store.put("b", "1").unwrap();
    store.put("b", "2").unwrap();
    store.delete("b").unwrap();
    let wide = Transaction::new(TransactionId::random(&env).unwrap())
        .guard(Guard::unchanged(Range::prefix("a"), since));
    let refused = store.commit_blocking(&wide);
    assert!(matches!(refused, Err(StoreError::Compacted { oldest }) if oldest > deletion));
    let recent = Transaction::new(TransactionId::random(&env).unwrap())
        .guard(Guard::unchanged(Range::prefix("a"), deletion));
    assert!(matches!(
        store.commit_blocking(&recent),
        Ok(Outcome::Committed { .. })
    ));
}

#[test]
fn a_scan_reports_the_part_it_has_seen() {
    let (_, store) = store();
    let scans = [
        Scan::first(Range::prefix("a"), 2),
        Scan::first(Range::prefix("a"), 9),
    ];
    let snapshot = store.read_blocking(&[], &scans).unwrap();
    assert!(snapshot.scans[0].seen.contains(&"a3".into()));
    assert!(!snapshot.scans[0].seen.contains(&"a3\0".into()));
    assert_eq!(snapshot.scans[1].seen, Range::prefix("a"));
    let empty = store
        .read_blocking(&[], &[Scan::new(Range::between("z", "a"))])
        .unwrap();
    assert_eq!(empty.scans[0].entries, []);
}
