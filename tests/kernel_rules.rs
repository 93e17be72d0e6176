//! The rules of the causal kernel that one small story each can show.
#![expect(clippy::unwrap_used, reason = "in helpers of tests")]

mod suite;

use std::collections::{BTreeMap, BTreeSet};

use commute::codec::Limits;
use commute::text::Chars;
use commute::{
    Applied, Delta, Dot, Dots, EditError, GCounter, MergeError, OrSet, Replica, ReplicaId,
    Replicated, State, Text, Version,
};
use suite::board::Board;
use suite::registers::{Nested, Registers, Tallies};

type Set = OrSet<u8>;

fn replica(id: u128) -> Replica<Set> {
    Replica::new(ReplicaId::from(id))
}

fn insert(replica: &mut Replica<Set>, value: u8) -> Delta<Set> {
    replica.update(|set| set.insert(value)).unwrap().1
}

fn remove(replica: &mut Replica<Set>, value: u8) -> Delta<Set> {
    replica.update(|set| set.remove(&value)).unwrap().1
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

#[test]
fn r7_a_duplicate_may_name_deaths_that_are_not_known_here() {
    let (mut a, mut b) = (replica(1), replica(2));
    let mut group = insert(&mut a, 0);
    let v = a.version().clone();
    group.merge(&insert(&mut a, 0)).unwrap();
    let before = group.beyond(&v);
    let only = insert(&mut b, 1);
    let mut both = only.clone();
    both.merge(&before).unwrap();
    // What a peer with all of `a` lacks of it: b's update, with the death that a:2 brought.
    let rest = both.beyond(a.version());
    assert_eq!(rest.claims(), only.claims());
    let mut c = replica(3);
    assert_eq!(c.absorb(&only), Ok(Applied::New));
    assert_eq!(c.absorb(&rest), Ok(Applied::Duplicate));
}

#[test]
fn r1_each_of_an_updates_entries_dies_alone() {
    let (mut a, mut b) = (replica(1), replica(2));
    let (_, three) = a.update(|set| set.extend([1, 2, 3])).unwrap();
    assert_eq!(b.absorb(&three), Ok(Applied::New));
    let second = remove(&mut a, 2);
    assert_eq!(b.absorb(&second), Ok(Applied::New));
    assert!(b.contains(&1) && !b.contains(&2) && b.contains(&3));
    assert_eq!(b, a);
}

/// The same when states are joined: what of an update is left tells nothing of the rest.
#[test]
fn r1_nor_do_the_others_live_on_because_one_does() {
    let (mut a, mut b) = (replica(1), replica(2));
    let (_, three) = a.update(|set| set.extend([1, 2, 3])).unwrap();
    assert_eq!(b.absorb(&three), Ok(Applied::New));
    let _ = (insert(&mut a, 4), remove(&mut b, 2));
    assert_eq!(a.merge(b.state()), Ok(Applied::New));
    assert!(!a.contains(&2) && [1, 3, 4].iter().all(|value| a.contains(value)));
    assert_eq!(b.merge(a.state()), Ok(Applied::New));
    assert_eq!(a, b);
}

#[test]
fn r1_an_update_that_kills_the_first_and_the_last_spares_what_is_between() {
    let (mut a, mut b) = (replica(1), replica(2));
    let (_, three) = a.update(|set| set.extend([1, 2, 3])).unwrap();
    let (_, ends) = a.update(|set| set.remove(&1).and(set.remove(&3))).unwrap();
    for delta in [three, ends] {
        assert_eq!(b.absorb(&delta), Ok(Applied::New));
    }
    assert!(!b.contains(&1) && b.contains(&2) && !b.contains(&3));
    assert_eq!(b, a);
}

#[test]
fn r3_an_update_without_effect_has_no_dot() {
    let mut a = replica(1);
    let nothing = remove(&mut a, 1);
    assert!(nothing.is_empty() && a.version().is_empty());
    let (_, undone) = a
        .update(|set| {
            set.insert(1)?;
            set.remove(&1)
        })
        .unwrap();
    assert!(undone.is_empty() && a.version().is_empty());
    let again = (insert(&mut a, 1), insert(&mut a, 1)).1;
    assert_eq!(
        again.claims(),
        &dots(&[(1, 2)]),
        "adding what is there is an update"
    );
}

#[test]
fn r4_a_removal_leaves_nothing_in_the_state() {
    let (mut a, mut b) = (replica(1), replica(1));
    let _ = insert(&mut a, 1);
    let _ = remove(&mut a, 1);
    let _ = insert(&mut b, 2);
    let _ = remove(&mut b, 2);
    assert_eq!(a.to_bytes().len(), b.to_bytes().len());
    assert_eq!(a.entries(), 0);
    for round in 0..100 {
        let _ = insert(&mut a, round);
        let _ = remove(&mut a, round);
    }
    // One byte more for the larger counters, in version and heads.
    assert!(a.to_bytes().len() <= b.to_bytes().len() + 4);
}

#[test]
fn r5_heads_are_the_updates_that_nobody_has_seen() {
    let (mut a, mut b) = (replica(1), replica(2));
    let first = insert(&mut a, 1);
    assert_eq!(b.absorb(&first), Ok(Applied::New));
    let (x, y) = (insert(&mut a, 2), insert(&mut b, 3));
    assert_eq!(a.absorb(&y), Ok(Applied::New));
    assert_eq!(b.absorb(&x), Ok(Applied::New));
    assert_eq!(a.heads(), &dots(&[(1, 2), (2, 1)]));
    assert_eq!(b.heads(), a.heads());
    let _ = insert(&mut a, 4);
    assert_eq!(a.heads(), &dots(&[(1, 3)]));
}

#[test]
fn r6_an_update_needs_the_heads_its_author_had_and_an_answer_all_of_its_base() {
    let (mut a, mut b) = (replica(1), replica(2));
    let x = insert(&mut a, 1);
    assert!(x.needs().is_empty());
    assert_eq!(insert(&mut a, 2).needs(), dots(&[(1, 1)]));
    assert_eq!(b.absorb(&x), Ok(Applied::New));
    let y = insert(&mut b, 3);
    assert_eq!(y.needs(), dots(&[(1, 1)]));
    assert_eq!(a.absorb(&y), Ok(Applied::New));
    assert_eq!(insert(&mut a, 4).needs(), dots(&[(1, 2), (2, 1)]));
    assert_eq!(a.delta_since(b.version()).needs(), dots(&[(1, 1), (2, 1)]));
    assert!(a.delta_since(&Version::new()).needs().is_empty());
}

#[test]
fn r6_a_killer_waits_for_what_its_target_killed() {
    let (mut a, mut b) = (replica(1), replica(2));
    let first = insert(&mut a, 1);
    let _second = insert(&mut a, 1);
    let third = remove(&mut a, 1);
    assert_eq!(b.absorb(&first), Ok(Applied::New));
    assert_eq!(b.absorb(&third), Ok(Applied::Waiting(dots(&[(1, 2)]))));
    assert!(b.contains(&1));
    assert_eq!(b.absorb(&a.delta_since(b.version())), Ok(Applied::New));
    assert!(b.is_empty() && b.waiting() == 0);
}

#[test]
fn r7_groups_that_need_each_other_are_integrated_together() {
    let (mut a, mut b) = (replica(1), replica(2));
    let [first, second, third] = [1, 2, 3].map(|value| insert(&mut a, value));
    let mut outer = first.clone();
    outer.merge(&third).unwrap();
    let mut inner = second.clone();
    inner.merge(&insert(&mut a, 4)).unwrap();
    assert_eq!(outer.needs(), dots(&[(1, 2)]));
    assert_eq!(inner.needs(), dots(&[(1, 1), (1, 3)]));
    assert_eq!(
        b.absorb(&inner),
        Ok(Applied::Waiting(dots(&[(1, 1), (1, 3)])))
    );
    assert_eq!(b.absorb(&outer), Ok(Applied::New));
    assert_eq!(b.waiting(), 0);
    assert_eq!(b, a);
}

#[test]
fn r9_what_waits_is_no_part_of_the_state_and_may_be_dropped() {
    let (mut a, mut b) = (replica(1), replica(2));
    let _first = insert(&mut a, 1);
    let second = insert(&mut a, 2);
    let before = (b.to_bytes(), b.digest());
    assert!(matches!(b.absorb(&second), Ok(Applied::Waiting(_))));
    assert_eq!((b.to_bytes(), b.digest()), before);
    b.drop_waiting();
    assert_eq!(b.absorb(&a.delta_since(b.version())), Ok(Applied::New));
    assert_eq!(b, a);
}

#[test]
fn r10_an_unknown_update_of_my_own_is_refused() {
    let (mut a, mut clone) = (replica(1), replica(1));
    let ours = insert(&mut a, 1);
    let stranger = Err(MergeError::IdentityReused { replica: a.id() });
    assert_eq!(clone.absorb(&ours), stranger);
    assert_eq!(clone.merge(a.state()), stranger);
    assert!(clone.version().is_empty() && clone.waiting() == 0);
    assert!(!insert(&mut clone, 2).is_empty(), "it stays usable");
}

#[test]
fn r11_the_receiver_of_a_full_state_knows_who_killed_only_what_the_sender_knew() {
    let (mut a, mut b, mut c) = (replica(1), replica(2), replica(3));
    let first = insert(&mut a, 1);
    assert_eq!(b.absorb(&first), Ok(Applied::New));
    let _ = remove(&mut a, 1);
    a.drop_ledger();
    assert_eq!(c.merge(a.state()), Ok(Applied::New));
    assert_eq!(b.absorb(&c.delta_since(b.version())), Ok(Applied::New));
    assert!(b.is_empty());
    assert_eq!(b, a);
}

/// The same for one that has something of its own, so that it cannot take the state over whole.
#[test]
fn r11_nor_does_one_that_joins_it_with_its_own() {
    let (mut a, mut b, mut c) = (replica(1), replica(2), replica(3));
    let first = insert(&mut a, 1);
    assert_eq!(b.absorb(&first), Ok(Applied::New));
    let _ = remove(&mut a, 1);
    a.drop_ledger();
    let _ = insert(&mut c, 2);
    assert_eq!(c.merge(a.state()), Ok(Applied::New));
    assert_eq!(b.absorb(&c.delta_since(b.version())), Ok(Applied::New));
    assert!(!b.contains(&1));
    assert_eq!(b, c);
}

#[test]
fn r12_records_may_be_dropped_at_any_time() {
    let (mut a, mut b, mut c) = (replica(1), replica(2), replica(3));
    let first = insert(&mut a, 1);
    for other in [&mut b, &mut c] {
        assert_eq!(other.absorb(&first), Ok(Applied::New));
    }
    let _ = remove(&mut a, 1);
    let exact = a.delta_since(b.version());
    assert_eq!(b.absorb(&exact), Ok(Applied::New));
    a.drop_ledger();
    let fallback = a.delta_since(c.version());
    assert_ne!(fallback, exact);
    assert_eq!(c.absorb(&fallback), Ok(Applied::New));
    assert_eq!(c, b);
}

#[test]
fn r12_an_answer_without_records_kills_single_entries_of_an_update() {
    let (mut a, mut b) = (replica(1), replica(2));
    let (_, two) = a.update(|set| set.extend([1, 2])).unwrap();
    assert_eq!(b.absorb(&two), Ok(Applied::New));
    let _ = remove(&mut a, 1);
    a.drop_ledger();
    assert_eq!(b.absorb(&a.delta_since(b.version())), Ok(Applied::New));
    assert!(!b.contains(&1) && b.contains(&2));
    assert_eq!(b, a);
}

#[test]
fn r12_an_answer_without_records_spares_what_it_does_not_bring() {
    let (mut a, mut b) = (replica(1), replica(2));
    let _ = (insert(&mut a, 1), insert(&mut a, 2));
    assert_eq!(b.merge(a.state()), Ok(Applied::New));
    let _ = remove(&mut a, 2);
    a.drop_ledger();
    assert_eq!(b.absorb(&a.delta_since(b.version())), Ok(Applied::New));
    assert!(b.contains(&1) && !b.contains(&2));
    assert_eq!(b, a);
}

#[test]
fn r14_grouping_order_is_irrelevant_and_gaps_stay() {
    let mut a = replica(1);
    let list = [1, 2, 3, 4].map(|value| insert(&mut a, value));
    let mut forward = list[0].clone();
    forward.merge(&list[1]).unwrap();
    forward.merge(&list[3]).unwrap();
    let mut backward = list[3].clone();
    backward.merge(&list[1]).unwrap();
    backward.merge(&list[0]).unwrap();
    assert_eq!(forward, backward);
    assert_eq!(forward.claims(), &dots(&[(1, 1), (1, 2), (1, 4)]));
    assert_eq!(forward.needs(), dots(&[(1, 3)]));
}

#[test]
fn r16_what_a_peer_lacks_of_a_delta_is_as_good_for_it() {
    let (mut a, mut b) = (replica(1), replica(2));
    let first = insert(&mut a, 1);
    assert_eq!(b.absorb(&first), Ok(Applied::New));
    let _ = remove(&mut a, 1);
    let _ = insert(&mut a, 2);
    let whole = a.delta_since(&Version::new());
    let rest = whole.beyond(b.version());
    assert_eq!(rest.claims(), &dots(&[(1, 2), (1, 3)]));
    assert_eq!(b.absorb(&rest), Ok(Applied::New));
    assert_eq!(b, a);
}

#[test]
fn r17_an_answer_that_reaches_another_waits_there_for_its_base() {
    let (base, _, answer) = answer_with_a_base();
    let mut c = replica(3);
    assert_eq!(c.absorb(&answer), Ok(Applied::Waiting(dots(&[(1, 1)]))));
    assert!(c.is_empty());
    assert_eq!(c.absorb(&base), Ok(Applied::New));
    assert_eq!(c.len(), 2);
}

#[test]
fn r18_an_answer_to_an_equal_version_is_empty() {
    let (mut a, mut b) = (replica(1), replica(2));
    let first = insert(&mut a, 1);
    assert_eq!(b.absorb(&first), Ok(Applied::New));
    assert!(a.delta_since(b.version()).is_empty());
    assert_eq!(b.absorb(&Delta::empty()), Ok(Applied::Duplicate));
}

#[test]
fn r20_an_update_of_two_fields_shows_whole_or_not_at_all() {
    let mut a = Replica::<Board>::new(ReplicaId::from(1));
    let mut b = Replica::<Board>::new(ReplicaId::from(2));
    let (_, first) = a.update(|board| board.count().add(1)).unwrap();
    let (_, second) = a
        .update(|board| {
            board.set().insert(7)?;
            board.count().add(1)
        })
        .unwrap();
    assert!(matches!(b.absorb(&second), Ok(Applied::Waiting(_))));
    assert_eq!(b.view(), (BTreeSet::new(), 0));
    assert_eq!(b.absorb(&first), Ok(Applied::New));
    assert_eq!(b.view(), (BTreeSet::from([7]), 2));
    let (_, removal) = b.update(|board| board.set().remove(&7)).unwrap();
    assert_eq!(a.absorb(&removal), Ok(Applied::New));
    assert_eq!(
        a.view(),
        (BTreeSet::new(), 2),
        "the other entry of the update stays"
    );
}

#[test]
fn r21_a_failed_update_is_undone_in_all_fields() {
    let mut a = Replica::<Board>::new(ReplicaId::from(1));
    a.edit(|board| board.set().insert(1)).unwrap();
    let before = a.to_bytes();
    let failed = a.edit(|board| {
        board.set().clear()?;
        board.set().insert(2)?;
        board.count().add(u64::MAX)?;
        board.count().add(1)
    });
    assert_eq!(failed, Err(EditError::CounterOverflow));
    assert_eq!(a.to_bytes(), before);
    assert_eq!(a.view(), (BTreeSet::from([1]), 0));
}

#[test]
fn r22_removing_a_key_leaves_what_was_counted_concurrently() {
    let mut a = Replica::<Tallies>::new(ReplicaId::from(1));
    let mut b = Replica::<Tallies>::new(ReplicaId::from(2));
    let (_, five) = a.update(|map| map.add(0, 5)).unwrap();
    assert_eq!(b.absorb(&five), Ok(Applied::New));
    let (_, removal) = a.update(|map| map.remove(0)).unwrap();
    let (_, three) = b.update(|map| map.add(0, 3)).unwrap();
    assert_eq!(a.absorb(&three), Ok(Applied::New));
    assert_eq!(b.absorb(&removal), Ok(Applied::New));
    for replica in [&a, &b] {
        assert_eq!(replica.view(), BTreeMap::from([(0, vec![3])]));
    }
}

#[test]
fn r22_removing_an_outer_key_leaves_an_inner_one_that_was_set_concurrently() {
    let mut a = Replica::<Nested>::new(ReplicaId::from(1));
    let mut b = Replica::<Nested>::new(ReplicaId::from(2));
    let (_, both) = a.update(|map| map.write(0, 1, 10)).unwrap();
    assert_eq!(b.absorb(&both), Ok(Applied::New));
    let (_, removal) = a.update(|map| map.remove(0)).unwrap();
    let (_, write) = b.update(|map| map.write(0, 2, 20)).unwrap();
    assert_eq!(a.absorb(&write), Ok(Applied::New));
    assert_eq!(b.absorb(&removal), Ok(Applied::New));
    for replica in [&a, &b] {
        let inner = BTreeMap::from([(2, vec![20])]);
        assert_eq!(replica.view(), BTreeMap::from([(0, inner)]));
    }
}

#[test]
fn r22_an_overwrite_after_a_reset_leaves_one_value() {
    let mut a = Replica::<Registers>::new(ReplicaId::from(1));
    let mut b = Replica::<Registers>::new(ReplicaId::from(2));
    let (_, first) = a.update(|map| map.write(0, 1)).unwrap();
    let (_, reset) = a.update(|map| map.clear()).unwrap();
    let (_, last) = a.update(|map| map.write(0, 2)).unwrap();
    assert_eq!(b.absorb(&first), Ok(Applied::New));
    assert!(matches!(b.absorb(&last), Ok(Applied::Waiting(_))));
    assert_eq!(b.absorb(&reset), Ok(Applied::New));
    assert_eq!(b.view(), BTreeMap::from([(0, vec![2])]));
}

#[test]
fn r27_a_deletion_in_a_text_claims_itself_alone() {
    let mut a = Replica::<Text>::new(ReplicaId::from(1));
    let mut b = Replica::<Text>::new(ReplicaId::from(2));
    let (_, typed) = a.update(|text| text.insert(Chars(0), "x")).unwrap();
    let (_, deleted) = a.update(|text| text.delete(Chars(0)..Chars(1))).unwrap();
    assert_eq!(deleted.claims(), &dots(&[(1, 2)]));
    let missing = Applied::Waiting(dots(&[(1, 1)]));
    assert_eq!(b.absorb(&deleted), Ok(missing));
    assert_eq!(b.absorb(&typed), Ok(Applied::New));
    assert!(b.is_empty());
    assert_eq!(b, a);
}

#[test]
fn r29_what_is_typed_has_a_higher_lamport_time_than_all_that_was_received() {
    let mut a = Replica::<Text>::new(ReplicaId::from(1));
    let mut b = Replica::<Text>::new(ReplicaId::from(2));
    let (_, first) = b.update(|text| text.insert(Chars(0), "xy")).unwrap();
    assert_eq!(a.absorb(&first), Ok(Applied::New));
    let (_, mine) = a.update(|text| text.insert(Chars(1), "!")).unwrap();
    assert_eq!(a.to_string(), "x!y");
    assert_eq!(b.absorb(&mine), Ok(Applied::New));
    assert_eq!(b.to_string(), "x!y");
    let stored = a.to_bytes();
    assert_eq!(
        State::<Text>::from_bytes(&stored, &Limits::default()).as_ref(),
        Ok(a.state())
    );
}

#[test]
fn r38_loading_bytes_takes_a_new_id_and_what_was_sent_before_comes_back() {
    let (mut a, mut b) = (replica(1), replica(2));
    let _ = insert(&mut a, 1);
    let stored = a.to_bytes();
    let _ = remove(&mut a, 1);
    assert_eq!(b.merge(a.state()), Ok(Applied::New));
    let state = State::from_bytes(&stored, &Limits::default()).unwrap();
    let mut a = Replica::from_state(state, ReplicaId::from(3));
    let _ = insert(&mut a, 2);
    assert_eq!(a.absorb(&b.delta_since(a.version())), Ok(Applied::New));
    assert_eq!(b.absorb(&a.delta_since(b.version())), Ok(Applied::New));
    assert!(!a.contains(&1) && a.contains(&2));
    assert_eq!(a, b);
}

/// Two replicas that edit under one id.
fn clones() -> (Replica<Set>, Replica<Set>) {
    (replica(1), replica(1))
}

fn reused<T>() -> Result<T, MergeError> {
    Err(MergeError::IdentityReused {
        replica: ReplicaId::from(1),
    })
}

#[test]
fn r39_a_one_live_update_with_two_contents_is_refused_by_whoever_meets_both() {
    let (mut p, mut q) = clones();
    let (of_p, of_q) = (insert(&mut p, 1), insert(&mut q, 2));
    let mut peer = replica(9);
    assert_eq!(peer.absorb(&of_p), Ok(Applied::New));
    assert_eq!(peer.absorb(&of_q), reused());
    assert_eq!(peer.merge(q.state()), reused());
    assert_eq!(of_p.clone().merge(&of_q), reused());
    assert_eq!(peer, p);
}

#[test]
fn r39_b_the_clone_that_is_behind_learns_at_its_first_contact() {
    let (mut p, mut q) = clones();
    let _ = insert(&mut p, 1);
    let mut peer = replica(9);
    assert_eq!(peer.merge(p.state()), Ok(Applied::New));
    assert_eq!(q.absorb(&peer.delta_since(q.version())), reused());
    assert_eq!(q.merge(peer.state()), reused());
    assert!(!insert(&mut q, 2).is_empty());
}

#[test]
fn r39_c_equal_versions_with_unequal_digests_are_found_on_both_sides() {
    let (mut p, mut q) = clones();
    let _ = insert(&mut p, 1);
    let _ = insert(&mut q, 2);
    assert_eq!(p.version(), q.version());
    assert_ne!(p.digest(), q.digest());
    assert_eq!(p.merge(q.state()), reused());
    assert_eq!(q.merge(p.state()), reused());
}

#[test]
fn r39_d_seals_find_two_histories_that_left_nothing() {
    let (mut p, mut q) = clones();
    let (add, removal) = (insert(&mut p, 1), remove(&mut p, 1));
    let _ = insert(&mut q, 2);
    let _ = remove(&mut q, 2);
    assert_eq!((p.version(), p.view()), (q.version(), q.view()));
    assert_ne!(p.digest(), q.digest());
    let mut peer = replica(9);
    assert_eq!(peer.absorb(&add), Ok(Applied::New));
    assert_eq!(peer.absorb(&removal), Ok(Applied::New));
    assert_eq!(peer.merge(q.state()), reused());
    assert_eq!(q.merge(peer.state()), reused());
    assert_eq!(peer.absorb(&q.delta_since(&Version::new())), reused());
}

#[test]
fn r14_grouping_order_is_irrelevant_for_rows_that_newer_ones_replaced() {
    let mut a = Replica::<GCounter>::new(ReplicaId::from(1));
    let mut b = Replica::<GCounter>::new(ReplicaId::from(2));
    let [first, second, third] = [1, 2, 3].map(|n| a.update(|count| count.add(n)).unwrap().1);
    let mut whole = b.update(|count| count.add(1)).unwrap().1;
    whole.merge(&second).unwrap();
    whole.merge(&third).unwrap();
    let rest = whole.beyond(a.version());

    let mut left = rest.clone();
    left.merge(&second).unwrap();
    left.merge(&first).unwrap();
    let mut both = first;
    both.merge(&second).unwrap();
    let mut right = rest;
    right.merge(&both).unwrap();
    assert_eq!(left, right);
}

#[test]
fn r39_e_a_third_peer_finds_a_covered_update_by_the_seal_before_the_next() {
    let (mut p, mut clone, mut c) = (replica(1), replica(1), replica(3));
    let other = insert(&mut clone, 7);
    assert_eq!(c.absorb(&other), Ok(Applied::New));
    let _ = insert(&mut p, 1);
    let second = insert(&mut p, 2);
    let before = c.to_bytes();
    let reused = Err(MergeError::IdentityReused { replica: p.id() });
    assert_eq!(c.absorb(&second), reused, "an update");
    assert_eq!(c.absorb(&p.delta_since(c.version())), reused, "an answer");
    assert_eq!(c.merge(&p), reused, "a whole state");
    assert_eq!(c.to_bytes(), before);
    c.edit(|set| set.insert(9)).unwrap();
}
