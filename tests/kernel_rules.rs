//! The rules of the causal kernel that one small story each can show.

use commute::{Applied, Delta, Dot, Dots, OrSet, Replica, ReplicaId};

type Set = OrSet<u8>;

fn replica(id: u128) -> Replica<Set> {
    Replica::new(ReplicaId::from(id))
}

fn insert(replica: &mut Replica<Set>, value: u8) -> Delta<Set> {
    replica.update(|set| set.insert(value)).unwrap().1
}

fn dots(list: &[(u128, u64)]) -> Dots {
    let dot = |&(id, counter): &(u128, u64)| Dot::new(ReplicaId::from(id), counter);
    list.iter().map(dot).collect()
}

/// An answer of `b` that brings `b`'s only update and builds on one of `a`, with that of `a`.
fn answer_with_a_base() -> (Delta<Set>, Delta<Set>, Delta<Set>) {
    let (mut a, mut b) = (replica(1), replica(2));
    let base = insert(&mut a, 0);
    let only = insert(&mut b, 1);
    let before = a.version().clone();
    assert_eq!(b.absorb(&base), Ok(Applied::New));
    (base, only, b.delta_since(&before))
}

#[test]
fn r7_what_is_included_already_is_a_duplicate_whatever_it_needs() {
    let (_, only, answer) = answer_with_a_base();
    let mut c = replica(3);
    assert_eq!(c.absorb(&only), Ok(Applied::New));
    assert_eq!(answer.needs(), dots(&[(1, 1)]));
    assert_eq!(c.absorb(&answer), Ok(Applied::Duplicate));
    assert_eq!(c.waiting(), 0);
}

#[test]
fn r7_a_waiting_delta_that_others_bring_waits_no_more() {
    let (_, only, answer) = answer_with_a_base();
    let mut c = replica(3);
    assert_eq!(c.absorb(&answer), Ok(Applied::Waiting(dots(&[(1, 1)]))));
    assert_eq!(c.absorb(&only), Ok(Applied::New));
    assert_eq!(c.waiting(), 0);
    assert!(c.missing().is_empty());
}
