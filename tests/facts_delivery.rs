//! Delivery, identity and persistence of sets, maps and registers: inputs that broke other libraries,
//! with the right answers. The number is the row of the list they were collected in.
#![expect(clippy::unwrap_used, reason = "in helpers of tests")]

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

use commute::env::SplitMix64;
use commute::replica::WaitingLimits;
use commute::text::Chars;
use commute::{
    Applied, Delta, Dot, Dots, Limits, LwwRegister, MergeError, MvRegister, OrMap, OrSet, Replica,
    ReplicaId, Replicated, Stamp, State, Text,
};

type Groups = OrMap<u8, OrSet<u64>>;
type Set = OrSet<u64>;

fn replica<S: Replicated>(id: u128) -> Replica<S> {
    Replica::new(ReplicaId::from(id))
}

fn put(map: &mut Replica<Groups>, key: u8, value: u64) -> Delta<Groups> {
    map.update(|map| map.entry(key).insert(value)).unwrap().1
}

fn insert(set: &mut Replica<Set>, value: u64) -> Delta<Set> {
    set.update(|set| set.insert(value)).unwrap().1
}

fn remove(set: &mut Replica<Set>, value: u64) -> Delta<Set> {
    set.update(|set| set.remove(&value)).unwrap().1
}

#[test]
fn row_10_the_second_update_waits_for_the_first() {
    let [mut a, mut b] = [1, 2].map(replica::<Groups>);
    let (first, second) = (put(&mut a, 1, 10), put(&mut a, 2, 20));
    let missing = Dots::from(Dot::new(a.id(), 1));
    assert_eq!(b.absorb(&second), Ok(Applied::Waiting(missing)));
    assert!(b.is_empty());
    assert_eq!(b.absorb(&first), Ok(Applied::New));
    assert_eq!((b.view(), b.waiting()), (a.view(), 0));
}

#[test]
fn row_13_a_removal_that_waits_outlives_the_key_around_it() {
    let [mut a, mut b, mut c] = [1, 2, 3].map(replica::<Groups>);
    let _ = put(&mut a, 7, 1);
    let added = put(&mut b, 7, 2);
    c.absorb(&added).unwrap();
    let (_, removed) = c.update(|map| map.entry(7).remove(&2)).unwrap();
    assert!(matches!(a.absorb(&removed), Ok(Applied::Waiting(_))));
    a.edit(|map| map.remove(&7)).unwrap();
    assert_eq!(a.absorb(&added), Ok(Applied::New));
    assert!(a.is_empty() && a.waiting() == 0);
    c.absorb(&a.delta_since(c.version())).unwrap();
    assert_eq!(a, c);
}

#[test]
fn row_15_a_replica_that_was_away_brings_nothing_back() {
    let mut a = replica::<Groups>(1);
    let _ = put(&mut a, 7, 1);
    let (mut b, mut c) = (a.fork_as(ReplicaId::from(2)), a.fork_as(ReplicaId::from(3)));
    a.edit(|map| map.remove(&7)).unwrap();
    b.merge(&a).unwrap();
    // Who removed it is forgotten everywhere but in the states.
    a.drop_ledger();
    b.drop_ledger();
    assert_eq!(a.merge(&c), Ok(Applied::Duplicate));
    let answer = c.delta_since(b.version());
    assert_eq!(b.absorb(&answer), Ok(Applied::Duplicate));
    assert!(a.is_empty() && b.is_empty());
    assert_eq!(c.absorb(&b.delta_since(c.version())), Ok(Applied::New));
    assert!(c.is_empty());
}

#[test]
fn row_22_a_hundred_thousand_items_added_and_removed_leave_nothing() {
    let mut actors: Vec<Replica<Set>> = (1..=3).map(replica).collect();
    for item in 0..100_000 {
        let adding = item as usize % 3;
        let removing = (adding + 1) % 3;
        let add = insert(&mut actors[adding], item);
        assert_eq!(actors[removing].absorb(&add), Ok(Applied::New));
        let removal = remove(&mut actors[removing], item);
        assert_eq!(actors[adding].absorb(&removal), Ok(Applied::New));
        let third = (adding + 2) % 3;
        let mut both = add;
        both.merge(&removal).unwrap();
        assert_eq!(actors[third].absorb(&both), Ok(Applied::New));
    }
    for actor in &actors {
        assert!(actor.is_empty() && actor.waiting() == 0);
        assert_eq!(actor.entries(), 0);
        assert!(actor.to_bytes().len() < 150, "{}", actor.to_bytes().len());
        let beside = actor.save().len();
        assert!(beside < 64 * 1024, "records are bounded: {beside}");
        assert_eq!(actor, &actors[0]);
    }
}

#[test]
fn row_18_batches_of_which_one_is_lost_and_a_full_state_later() {
    let [mut a, mut b, mut c] = [1, 2, 3].map(replica::<Set>);
    let mut batches = Vec::new();
    for round in 0..6 {
        let mut batch = insert(&mut a, round);
        batch.merge(&insert(&mut a, 100 + round)).unwrap();
        let (_, removed) = a.update(|set| set.remove(&round)).unwrap();
        batch.merge(&removed).unwrap();
        batches.push(batch);
        let theirs = insert(&mut b, 200 + round);
        c.absorb(&theirs).unwrap();
    }
    for (round, batch) in batches.iter().enumerate().filter(|(round, _)| *round != 2) {
        let applied = b.absorb(batch).unwrap();
        assert_eq!(applied == Applied::New, round < 2, "round {round}");
        c.absorb(batch).unwrap();
    }
    assert_eq!((b.len(), c.len(), b.waiting()), (8, 8, 3));
    c.merge(&a).unwrap();
    b.merge(&c).unwrap();
    a.absorb(&b.delta_since(a.version())).unwrap();
    let history: BTreeSet<u64> = (100..106).chain(200..206).collect();
    assert!(
        [&a, &b, &c]
            .iter()
            .all(|set| set.view() == history && set.waiting() == 0)
    );
    assert!(a == b && b == c);
}

#[test]
fn row_19_an_interval_with_a_gap_before_it_waits() {
    let mut a = replica::<Set>(1);
    let deltas: Vec<_> = (1..=8).map(|value| insert(&mut a, value)).collect();
    let mut b = replica::<Set>(2);
    deltas[..3]
        .iter()
        .for_each(|delta| drop(b.absorb(delta).unwrap()));
    let upto = |counter| [(a.id(), counter)].into_iter().collect();
    let later = a.delta_since(&upto(5));
    let missing: Dots = [4, 5]
        .map(|counter| Dot::new(a.id(), counter))
        .into_iter()
        .collect();
    assert_eq!(b.absorb(&later), Ok(Applied::Waiting(missing)));
    assert_eq!(b.len(), 3);
    assert_eq!(
        b.absorb(&a.delta_since(&upto(3)).beyond(&upto(3))),
        Ok(Applied::New)
    );
    assert_eq!(b, a);
}

#[test]
fn row_23_a_delta_of_nothing_is_neutral() {
    let mut a = replica::<Groups>(1);
    let mut group = put(&mut a, 1, 1);
    let _ = put(&mut a, 2, 2);
    group.merge(&put(&mut a, 3, 3)).unwrap();
    let (mut before, mut after) = (Delta::empty(), group.clone());
    before.merge(&group).unwrap();
    after.merge(&Delta::empty()).unwrap();
    assert!(before == group && after == group);
    assert_eq!(a.absorb(&Delta::empty()), Ok(Applied::Duplicate));
    let ((), nothing) = a.update(|_| Ok(())).unwrap();
    assert!(nothing.is_empty() && nothing == Delta::empty());
}

#[test]
fn row_79_what_was_lost_and_shuffled_is_there_after_all_came_again() {
    let mut random = SplitMix64::new(79);
    let mut below = |bound: usize| random.next_u64() as usize % bound;
    let mut writers = [1, 2].map(replica::<Groups>);
    let mut deltas = Vec::new();
    for _ in 0..500 {
        let at = below(2);
        let (key, value) = (below(4) as u8, below(5) as u64);
        let delta = match below(5) {
            0 => writers[at].update(|map| map.remove(&key)).unwrap().1,
            1 => {
                let removed = writers[at].update(|map| map.entry(key).remove(&value));
                removed.unwrap().1
            }
            _ => put(&mut writers[at], key, value),
        };
        if below(3) == 0 {
            let answer = writers[at].delta_since(writers[1 - at].version());
            writers[1 - at].absorb(&answer).unwrap();
        }
        deltas.push(delta);
    }
    let mut reader = replica::<Groups>(3);
    // A third is lost; the others come in any order.
    let mut order: Vec<usize> = (0..deltas.len()).filter(|_| below(3) > 0).collect();
    (1..order.len()).for_each(|at| order.swap(at, below(at + 1)));
    for at in order {
        reader.absorb(&deltas[at]).unwrap();
    }
    assert!(reader.waiting() > 0);
    deltas
        .iter()
        .for_each(|delta| drop(reader.absorb(delta).unwrap()));
    let [mut a, b] = writers;
    a.merge(&b).unwrap();
    assert_eq!((reader.view(), reader.waiting()), (a.view(), 0));
    assert_eq!(reader.to_bytes(), a.to_bytes());
}

#[test]
fn row_87_the_same_input_has_the_same_winner_a_thousand_times() {
    let winner = || {
        let [mut a, mut b] = [1, 2].map(replica::<LwwRegister<u8>>);
        a.edit(|register| register.set(10, Stamp::from_millis(5)))
            .unwrap();
        b.edit(|register| register.set(20, Stamp::from_millis(5)))
            .unwrap();
        a.merge(&b).unwrap();
        (a.value().copied(), a.to_bytes())
    };
    let first = winner();
    assert_eq!(first.0, Some(20));
    assert!((0..1_000).all(|_| winner() == first));
}

/// Both refuse, and stay as they were.
fn twins<S: Replicated>(make: impl Fn(&mut Replica<S>, u8)) {
    let mut twins = [1, 2].map(|content| {
        let mut one = replica::<S>(1);
        make(&mut one, content);
        one
    });
    let before = twins.each_ref().map(|one| one.to_bytes());
    let reused = || {
        Err(MergeError::IdentityReused {
            replica: ReplicaId::from(1),
        })
    };
    let [a, b] = &mut twins;
    let nothing = commute::Version::new();
    assert_eq!((a.merge(b), b.merge(a)), (reused(), reused()));
    assert_eq!(a.absorb(&b.delta_since(&nothing)), reused());
    assert_eq!(b.absorb(&a.delta_since(&nothing)), reused());
    assert_eq!(twins.each_ref().map(|one| one.to_bytes()), before);
}

#[test]
fn row_89_one_id_with_two_contents_is_refused_both_ways() {
    twins::<Text>(|text, n| {
        let word = ["aaa", "bbb"][usize::from(n - 1)];
        text.edit(|text| text.insert(Chars(0), word)).unwrap();
    });
    twins::<Set>(|set, n| drop(insert(set, n.into())));
    twins::<Groups>(|map, n| drop(put(map, n, 1)));
    twins::<MvRegister<u8>>(|register, n| register.edit(|register| register.set(n)).unwrap());
}

#[test]
fn row_90_from_every_version_of_a_diamond_the_answer_leads_to_its_end() {
    let mut top = replica::<Groups>(1);
    let _ = put(&mut top, 1, 1);
    let (mut left, mut right) = (
        top.fork_as(ReplicaId::from(2)),
        top.fork_as(ReplicaId::from(3)),
    );
    let _ = put(&mut left, 1, 2);
    right.edit(|map| map.remove(&1)).unwrap();
    let mut end = left.fork_as(ReplicaId::from(4));
    end.merge(&right).unwrap();
    let _ = put(&mut end, 1, 3);
    let none = replica::<Groups>(5);
    for from in [none, top, left, right] {
        for forget in [false, true] {
            let mut source = end.fork_as(ReplicaId::from(6));
            if forget {
                source.drop_ledger();
            }
            let mut one = from.fork_as(ReplicaId::from(7));
            let answer = source.delta_since(one.version());
            assert_eq!(one.absorb(&answer), Ok(Applied::New));
            assert_eq!(one.to_bytes(), end.to_bytes());
        }
    }
    assert_eq!(end.get(&1).map(|set| set.view()), Some([2, 3].into()));
}

#[test]
fn row_93_a_save_that_was_cut_is_refused_at_every_byte() {
    let (mut a, mut b) = (replica::<Groups>(1), replica::<Groups>(2));
    let _ = put(&mut a, 1, 1);
    let waits = put(&mut a, 2, 2);
    let _ = put(&mut b, 3, 3);
    b.absorb(&waits).unwrap();
    let saved = b.save();
    let resume = |bytes| Replica::<Groups>::resume(bytes, &Default::default());
    assert!((0..saved.len()).all(|len| resume(&saved[..len]).is_err()));
    let again = resume(&saved).unwrap();
    assert_eq!((&again, again.waiting()), (&b, 1));
}

#[test]
fn row_97_one_round_brings_all_that_is_missing() {
    let (mut a, mut b) = (replica::<Set>(1), replica::<Set>(2));
    let first = insert(&mut b, 1);
    a.absorb(&first).unwrap();
    (2..=10).for_each(|value| drop(insert(&mut b, value)));
    assert_eq!(a.absorb(&b.delta_since(a.version())), Ok(Applied::New));
    assert_eq!(a, b);
    assert!(b.delta_since(a.version()).is_empty() && a.delta_since(b.version()).is_empty());
}

#[test]
fn row_101_a_fork_answers_as_its_original_what_was_removed() {
    let mut a = replica::<Groups>(1);
    let _ = (put(&mut a, 1, 1), put(&mut a, 2, 2));
    let old = a.fork_as(ReplicaId::from(9));
    a.edit(|map| map.remove(&1)).unwrap();
    let fork = a.fork_as(ReplicaId::from(2));
    let answer = fork.delta_since(old.version());
    assert_eq!(answer, a.delta_since(old.version()));
    let mut then = old.fork_as(ReplicaId::from(3));
    then.absorb(&answer).unwrap();
    assert_eq!(then.view().into_keys().collect::<Vec<_>>(), [2]);
    assert_eq!(then, a);
}

#[test]
fn row_110_a_panic_in_an_update_leaves_no_trace_and_the_next_one_works() {
    let shared = Mutex::new(replica::<Groups>(1));
    let lock = || shared.lock().unwrap_or_else(PoisonError::into_inner);
    let _ = put(&mut lock(), 1, 1);
    let before = lock().to_bytes();
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let done = lock().edit(|map| {
            map.entry(1).insert(2)?;
            map.remove(&1)?;
            assert!(map.contains_key(&1), "which is not so");
            Ok(())
        });
        drop(done);
    }));
    assert!(panicked.is_err() && shared.is_poisoned());
    assert_eq!(lock().to_bytes(), before);
    let next = put(&mut lock(), 2, 2);
    assert_eq!(next.claims(), &Dots::from(Dot::new(ReplicaId::from(1), 2)));
    assert_eq!(lock().len(), 2);
}

#[test]
fn row_2_concurrent_versions_have_no_order_and_both_values_stay() {
    let [mut a, mut b] = [1, 2].map(replica::<MvRegister<u64>>);
    a.edit(|register| register.set(1)).unwrap();
    b.edit(|register| register.set(2)).unwrap();
    assert_eq!(a.version().partial_cmp(b.version()), None);
    a.merge(&b).unwrap();
    assert_eq!(a.view(), [1, 2]);
    assert!(a.version() > b.version());
}

#[test]
fn row_37_ids_that_begin_alike_are_two_and_what_was_removed_stays_so() {
    let id = |last| {
        let mut bytes = [7; 16];
        bytes[15] = last;
        ReplicaId::from_bytes(bytes)
    };
    let [mut a, mut b] = [1, 2].map(|last| Replica::<OrSet<u64>>::new(id(last)));
    a.edit(|set| set.insert(1)).unwrap();
    b.edit(|set| set.insert(2)).unwrap();
    a.merge(&b).unwrap();
    assert_eq!((a.len(), a.version().len()), (2, 2));
    let older = a.state().clone();
    a.edit(|set| set.remove(&2)).unwrap();
    assert_eq!(a.merge(&older), Ok(Applied::Duplicate));
    assert!(!a.contains(&2));
}

/// A neighbour of row 93: what a save may hold is not bounded by the limits of a new replica.
#[test]
fn a_save_with_more_that_waits_than_a_new_replica_keeps_is_read() {
    let [mut a, mut b] = [1, 2].map(replica::<Set>);
    b.set_waiting_limits(WaitingLimits::new(10_000, 1 << 30));
    let deltas: Vec<_> = (0..4_200).map(|n| insert(&mut a, n)).collect();
    for delta in &deltas[1..] {
        b.absorb(delta).unwrap();
    }
    assert_eq!(b.waiting(), 4_199);
    let mut again = Replica::<Set>::resume(&b.save(), &Limits::default()).unwrap();
    assert_eq!(again.waiting(), WaitingLimits::default().deltas_max);
    again.absorb(&a.delta_since(again.version())).unwrap();
    assert_eq!((again.view(), again.waiting()), (a.view(), 0));
}

/// A neighbour of row 89: what waits for an update of the id that edits here now was made by another
/// user of the id.
#[test]
fn what_waits_for_an_own_update_is_refused_once_that_is_made() {
    let mut other = replica::<Set>(1);
    let _ = insert(&mut other, 1);
    let second = insert(&mut other, 2);
    let mut state = State::<Set>::new();
    assert!(matches!(state.absorb(&second), Ok(Applied::Waiting(_))));
    let mut own = Replica::from_state(state, ReplicaId::from(1));
    let _ = insert(&mut own, 3);
    let _ = insert(&mut own, 4);
    assert_eq!(own.waiting(), 0);
    let replica = ReplicaId::from(1);
    assert_eq!(
        own.take_rejected(),
        [MergeError::IdentityReused { replica }]
    );
    let again = Replica::<Set>::resume(&own.save(), &Limits::default()).unwrap();
    assert_eq!(again.view(), BTreeSet::from([3, 4]));
}

/// Deltas that claim the same update differ by what else they bring; the save has one order of them.
#[test]
fn a_save_does_not_hang_on_the_order_in_which_waiting_deltas_came() {
    let mut a = replica::<Set>(1);
    let deltas: Vec<_> = (0..4).map(|n| insert(&mut a, n)).collect();
    let mut group = deltas[1].clone();
    group.merge(&deltas[2]).unwrap();
    let saved = [[&group, &deltas[1]], [&deltas[1], &group]].map(|order| {
        let mut b = replica::<Set>(2);
        for delta in order {
            b.absorb(delta).unwrap();
        }
        assert_eq!(b.waiting(), 2);
        b.save()
    });
    assert_eq!(saved[0], saved[1]);
    let again = Replica::<Set>::resume(&saved[0], &Limits::default()).unwrap();
    assert_eq!(again.save(), saved[0]);
}
