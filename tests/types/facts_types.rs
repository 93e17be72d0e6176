//! Registers, flags, sets and maps: inputs that broke other libraries, with the right answers.
//!
//! Tests named `row_N` are rows of the list of known faults that this project keeps; the others are
//! inputs of its measurements.
#![expect(clippy::unwrap_used, reason = "in helpers of tests")]

use std::collections::{BTreeMap, BTreeSet};

use commute::{
    Applied, BoundedCounter, Delta, DwFlag, EditError, EwFlag, GCounter, GSet, List, LwwMap,
    LwwRegister, MaxRegister, MinRegister, MvRegister, OrMap, OrSet, PnCounter, Replica, ReplicaId,
    Replicated, RwSet, Stamp, TwoPhaseSet,
};

fn replica<S: Replicated>(id: u128) -> Replica<S> {
    Replica::new(ReplicaId::from(id))
}

/// `update`, and what it sends.
fn sent<S: Replicated>(
    replica: &mut Replica<S>,
    edit: impl FnOnce(&mut S::Edit<'_>) -> Result<(), EditError>,
) -> Delta<S> {
    replica.update(edit).unwrap().1
}

/// Every order in which these deltas may come, each twice, and the merges of `replicas`.
fn all_ways<S>(make: impl Fn() -> Replica<S>, deltas: &[Delta<S>], right: impl Fn(&Replica<S>))
where
    S: Replicated<View: PartialEq + std::fmt::Debug>,
{
    let count = deltas.len();
    let mut order: Vec<usize> = (0..count).collect();
    let mut bytes = None;
    loop {
        let mut replica = make();
        for at in &order {
            replica.absorb(&deltas[*at]).unwrap();
            replica.absorb(&deltas[*at]).unwrap();
        }
        right(&replica);
        let all = replica.to_bytes();
        assert_eq!(*bytes.get_or_insert(all.clone()), all, "{order:?}");
        // The next permutation.
        let Some(at) = (1..count).rev().find(|at| order[at - 1] < order[*at]) else {
            return;
        };
        let next = (at..count).rev().find(|next| order[*next] > order[at - 1]);
        order.swap(at - 1, next.unwrap());
        order[at..].reverse();
    }
}

#[test]
fn row_1_a_write_that_comes_again_after_a_reset_stays_away() {
    let mut a = replica::<MvRegister<u64>>(1);
    let write = sent(&mut a, |register| register.set(1));
    let reset = sent(&mut a, |register| register.clear());
    assert_eq!(a.absorb(&write), Ok(Applied::Duplicate));
    assert!(a.is_empty());
    all_ways(|| replica(2), &[write, reset], |b| assert!(b.is_empty()));
}

type Groups = OrMap<String, OrSet<u64>>;

fn shown(map: &Groups) -> Vec<(String, Vec<u64>)> {
    let each = map.iter();
    each.map(|(key, set)| (key.clone(), set.iter().copied().collect()))
        .collect()
}

#[test]
fn row_3_a_key_that_is_removed_keeps_what_is_added_concurrently() {
    let mut a = replica::<Groups>(1);
    a.edit(|map| map.entry("k".into()).insert(1).map(drop))
        .unwrap();
    let mut b = a.fork_as(ReplicaId::from(2));
    a.edit(|map| map.remove("k").map(drop)).unwrap();
    b.edit(|map| map.entry("k".into()).insert(2).map(drop))
        .unwrap();
    let mut c = b.fork_as(ReplicaId::from(3));
    c.merge(&a).unwrap();
    a.merge(&b).unwrap();
    b.merge(&a).unwrap();
    for replica in [&a, &b, &c] {
        assert_eq!(shown(replica), [("k".to_string(), vec![2])]);
    }
    assert_eq!(a.to_bytes(), c.to_bytes());
}

type Nested = OrMap<String, OrMap<String, MvRegister<u64>>>;

#[test]
fn row_6_a_removed_map_keeps_the_key_that_is_set_concurrently() {
    let mut a = replica::<Nested>(1);
    a.edit(|map| map.entry("a".into()).entry("b".into()).set(1))
        .unwrap();
    let mut b = a.fork_as(ReplicaId::from(2));
    let removed = sent(&mut a, |map| map.remove("a").map(drop));
    let set = sent(&mut b, |map| map.entry("a".into()).entry("c".into()).set(2));
    a.absorb(&set).unwrap();
    b.absorb(&removed).unwrap();
    let inner = BTreeMap::from([("c".to_string(), vec![2])]);
    let expected = BTreeMap::from([("a".to_string(), inner)]);
    assert_eq!(a.view(), expected);
    assert_eq!(b.view(), expected);
    assert_eq!(a.to_bytes(), b.to_bytes());
}

#[test]
fn row_9_a_key_whose_value_was_emptied_is_gone() {
    let mut a = replica::<Groups>(1);
    a.edit(|map| map.entry("k".into()).insert(1).map(drop))
        .unwrap();
    a.edit(|map| map.entry("k".into()).remove(&1).map(drop))
        .unwrap();
    assert!(!a.contains_key("k") && a.is_empty());
    let mut b = replica::<Groups>(2);
    b.merge(&a).unwrap();
    a.merge(&b).unwrap();
    assert!(b.get("k").is_none());
    assert_eq!(a.to_bytes(), b.to_bytes());
}

type Counts = OrMap<String, PnCounter>;

fn count(map: &Replica<Counts>) -> Option<i128> {
    map.get("k").map(PnCounter::value)
}

#[test]
fn row_14_a_counter_starts_again_from_what_its_removal_had_not_seen() {
    let mut a = replica::<Counts>(1);
    let five = sent(&mut a, |map| map.entry("k".into()).add(5));
    let mut b = replica::<Counts>(2);
    b.absorb(&five).unwrap();
    let removed = sent(&mut a, |map| map.remove("k").map(drop));
    assert_eq!(count(&a), None);
    let three = sent(&mut b, |map| map.entry("k".into()).add(3));
    let deltas = [five, removed, three];
    all_ways(|| replica(3), &deltas, |c| assert_eq!(count(c), Some(3)));
    a.merge(&b).unwrap();
    b.merge(&a).unwrap();
    assert_eq!((count(&a), count(&b)), (Some(3), Some(3)));
    // The own increments of who removes later, too.
    let mut c = replica::<Counts>(4);
    c.edit(|map| map.entry("k".into()).add(7)).unwrap();
    c.merge(&b).unwrap();
    c.edit(|map| map.entry("k".into()).add(1)).unwrap();
    b.edit(|map| map.remove("k").map(drop)).unwrap();
    c.merge(&b).unwrap();
    assert_eq!(count(&c), Some(8));
}

#[test]
fn row_17_deltas_and_states_say_the_same_of_a_key() {
    let mut n1 = replica::<Groups>(1);
    let first = sent(&mut n1, |map| map.entry("b".into()).insert(1).map(drop));
    let mut n2 = replica::<Groups>(2);
    let second = sent(&mut n2, |map| map.entry("b".into()).insert(2).map(drop));
    let removed = sent(&mut n2, |map| map.remove("b").map(drop));
    let expected = [("b".to_string(), vec![1])];
    all_ways(
        || replica(3),
        &[first, second, removed],
        |c| assert_eq!(shown(c), expected),
    );
    let (mut a, mut b) = (
        n1.fork_as(ReplicaId::from(4)),
        n2.fork_as(ReplicaId::from(5)),
    );
    a.merge(&n2).unwrap();
    b.merge(&n1).unwrap();
    assert_eq!(
        (shown(&a), shown(&b)),
        (expected.to_vec(), expected.to_vec())
    );
}

#[test]
fn row_27_a_delta_that_comes_twice_counts_once() {
    let mut a = replica::<Counts>(1);
    let five = sent(&mut a, |map| map.entry("k".into()).add(5));
    let mut b = replica::<Counts>(2);
    assert_eq!(b.absorb(&five), Ok(Applied::New));
    assert_eq!(b.absorb(&five), Ok(Applied::Duplicate));
    assert_eq!(count(&b), Some(5));
}

fn at(millis: u64) -> Stamp {
    Stamp::from_millis(millis)
}

#[test]
fn row_33_equal_stamps_have_one_winner() {
    for ids in [[1, 2], [2, 1]] {
        let [mut a, mut b] = ids.map(replica::<LwwRegister<u64>>);
        a.edit(|register| register.set(10, at(5)).map(drop))
            .unwrap();
        b.edit(|register| register.set(20, at(5)).map(drop))
            .unwrap();
        a.merge(&b).unwrap();
        b.merge(&a).unwrap();
        // The greater id.
        let winner = if ids[0] == 2 { 10 } else { 20 };
        assert_eq!((a.value(), b.value()), (Some(&winner), Some(&winner)));
        assert!(a.is_conflict());
        let losers: Vec<u64> = a.conflicts().copied().collect();
        assert_eq!(losers, [30 - winner]);
    }
}

#[test]
fn row_34_a_fast_clock_does_not_hold_a_register() {
    let mut a = replica::<LwwRegister<u64>>(1);
    let mut b = replica::<LwwRegister<u64>>(2);
    let hour = 3_600_000;
    a.edit(|register| register.set(1, at(hour + 1_000)).map(drop))
        .unwrap();
    b.merge(&a).unwrap();
    let stamp = b.edit(|register| register.set(2, at(2_000))).unwrap();
    assert!(stamp > at(hour) && stamp.millis_ahead_of(at(2_000)) == hour - 1_000);
    a.merge(&b).unwrap();
    assert_eq!((a.value(), a.is_conflict()), (Some(&2), false));
}

#[test]
fn row_35_a_stamp_from_the_future_is_seen_by_the_writer() {
    let day = 86_400_000;
    let mut a = replica::<LwwRegister<u64>>(1);
    a.edit(|register| register.set(1, at(day)).map(drop))
        .unwrap();
    let before = a.to_bytes();
    let refused = a.edit(|register| register.set_within(2, at(1_000), 60_000).map(drop));
    assert_eq!(
        refused,
        Err(EditError::ClockBehind {
            millis: day - 1_000
        })
    );
    assert_eq!(a.to_bytes(), before);
    a.edit(|register| register.set_within(2, at(day), 60_000).map(drop))
        .unwrap();
    assert_eq!(a.value(), Some(&2));
    // The last stamp there is.
    let mut b = replica::<LwwRegister<u64>>(2);
    b.edit(|register| register.set(1, at(u64::MAX)).map(drop))
        .unwrap();
    let refused = b.edit(|register| register.set(2, at(1)).map(drop));
    assert_eq!(refused, Err(EditError::StampExhausted));
    b.edit(|register| register.clear()).unwrap();
    b.edit(|register| register.set(2, at(1)).map(drop)).unwrap();
    assert_eq!(b.value(), Some(&2));
}

#[test]
fn row_77_a_map_and_the_key_beside_it_are_removed() {
    let mut a = replica::<Nested>(1);
    a.edit(|map| map.entry("sub".into()).entry("x".into()).set(1))
        .unwrap();
    let mut b = replica::<Nested>(2);
    b.merge(&a).unwrap();
    let inside = sent(&mut b, |map| {
        map.entry("sub".into()).entry("y".into()).set(2)
    });
    a.absorb(&inside).unwrap();
    let both = sent(&mut b, |map| {
        map.entry("key".into()).entry("z".into()).set(3)?;
        map.remove("sub").map(drop)
    });
    a.absorb(&both).unwrap();
    let removed = sent(&mut a, |map| map.remove("key").map(drop));
    b.absorb(&removed).unwrap();
    assert!(a.is_empty() && b.is_empty());
    assert_eq!(a.to_bytes(), b.to_bytes());
}

#[test]
fn row_78_a_clear_that_comes_before_what_it_clears_is_not_lost() {
    let mut a = replica::<LwwMap<u64, u64>>(1);
    let insert = |key| {
        move |map: &mut commute::kernel::EditView<'_, LwwMap<u64, u64>>| {
            map.insert(key, key, at(1)).map(drop)
        }
    };
    let inserts: Vec<_> = (0..1_000).map(|key| sent(&mut a, insert(key))).collect();
    assert_eq!(a.len(), 1_000);
    let clear = sent(&mut a, |map| map.clear());
    let (late, early): (Vec<_>, Vec<_>) = (0..1_000).partition(|at| at % 10 == 3);
    let mut b = replica::<LwwMap<u64, u64>>(2);
    for at in early {
        b.absorb(&inserts[at]).unwrap();
    }
    b.absorb(&clear).unwrap();
    for at in late {
        b.absorb(&inserts[at]).unwrap();
    }
    assert!(b.is_empty());
    assert_eq!(a.to_bytes(), b.to_bytes());
}

#[test]
fn row_91_the_same_value_written_again_is_a_write() {
    let mut base = replica::<LwwMap<String, u64>>(1);
    base.edit(|map| map.insert("a".into(), 1, at(1)).map(drop))
        .unwrap();
    let mut left = base.fork_as(ReplicaId::from(2));
    let mut right = base.fork_as(ReplicaId::from(3));
    left.edit(|map| map.insert("a".into(), 1, at(3)).map(drop))
        .unwrap();
    right
        .edit(|map| map.insert("a".into(), 0, at(2)).map(drop))
        .unwrap();
    left.merge(&right).unwrap();
    right.merge(&left).unwrap();
    assert_eq!((left.get("a"), right.get("a")), (Some(&1), Some(&1)));
    assert_eq!(left.conflicts("a").collect::<Vec<_>>(), [&0]);
}

#[test]
fn a_register_joined_with_an_older_copy_shows_the_newer_write_only() {
    let mut a = replica::<MvRegister<u64>>(1);
    a.edit(|register| register.set(1)).unwrap();
    let copy = a.fork_as(ReplicaId::from(2));
    a.edit(|register| register.set(2)).unwrap();
    a.merge(&copy).unwrap();
    assert_eq!(a.view(), [2]);
}

#[test]
fn concurrent_values_have_one_order() {
    let writes: Vec<_> = [3, 1, 2]
        .map(|id| {
            let mut writer = replica::<MvRegister<u64>>(id);
            sent(&mut writer, |register| register.set(id as u64))
        })
        .into();
    all_ways(
        || replica(9),
        &writes,
        |all| assert_eq!(all.view(), [1, 2, 3]),
    );
}

#[test]
fn a_stale_copy_does_not_bring_back_what_was_removed() {
    let mut a = replica::<OrMap<String, GCounter>>(1);
    for _ in 0..3 {
        a.edit(|map| map.entry("k".into()).add(1)).unwrap();
    }
    let stale = a.fork_as(ReplicaId::from(2));
    a.edit(|map| map.remove("k").map(drop)).unwrap();
    a.edit(|map| map.entry("k".into()).add(1)).unwrap();
    let mut merged = stale.fork_as(ReplicaId::from(3));
    merged.merge(&a).unwrap();
    a.merge(&stale).unwrap();
    for replica in [&a, &merged] {
        assert_eq!(replica.get("k").map(GCounter::value), Some(1));
    }
}

#[test]
fn a_greatest_value_that_was_removed_leaves_the_next_one() {
    let mut a = replica::<OrMap<String, MaxRegister<u64>>>(1);
    a.edit(|map| map.entry("k".into()).set(9).map(drop))
        .unwrap();
    let mut b = a.fork_as(ReplicaId::from(2));
    // Not the greatest, and not seen by the removal.
    b.edit(|map| map.entry("k".into()).set(4).map(drop))
        .unwrap();
    a.edit(|map| map.remove("k").map(drop)).unwrap();
    a.merge(&b).unwrap();
    assert_eq!(a.get("k").and_then(MaxRegister::value), Some(&4));
    // Where nothing is removed it has no effect.
    let mut alone = replica::<MaxRegister<u64>>(3);
    alone.edit(|register| register.set(9).map(drop)).unwrap();
    let version = alone.version().clone();
    assert_eq!(alone.edit(|register| register.set(4)), Ok(false));
    assert_eq!(*alone.version(), version);
}

#[test]
fn row_38_a_thousand_items_that_came_and_went_leave_nothing() {
    let mut replicas = [1, 2, 3].map(replica::<LwwMap<u64, u64>>);
    for round in 0..300 {
        for (place, replica) in replicas.iter_mut().enumerate() {
            let key = round * 3 + place as u64;
            replica
                .edit(|map| map.insert(key, key, at(round)).map(drop))
                .unwrap();
            replica.edit(|map| map.remove(&key).map(drop)).unwrap();
        }
    }
    let [mut a, b, c] = replicas;
    a.merge(&b).unwrap();
    a.merge(&c).unwrap();
    assert!(a.is_empty());
    assert!(a.to_bytes().len() < 250, "{} bytes", a.to_bytes().len());
    let keys: BTreeSet<u64> = a.iter().map(|(key, _)| *key).collect();
    assert!(keys.is_empty());
}

#[cfg(feature = "derive")]
#[test]
fn row_7_a_counter_a_set_and_a_register_under_one_key() {
    #[derive(Replicated)]
    struct Item {
        n: PnCounter,
        s: OrSet<String>,
        r: MvRegister<u64>,
    }
    let [mut a, mut b] = [1, 2].map(replica::<OrMap<String, Item>>);
    let count = sent(&mut a, |map| map.entry("k".into()).n().add(2));
    let add = sent(&mut a, |map| {
        map.entry("k".into()).s().insert("x".into()).map(drop)
    });
    let write = sent(&mut b, |map| map.entry("k".into()).r().set(7));
    let right = |map: &Replica<OrMap<String, Item>>| {
        let item = map.get("k").unwrap();
        assert_eq!(
            (item.n.value(), item.s.len(), item.r.value()),
            (2, 1, Some(&7))
        );
    };
    a.merge(&b).unwrap();
    right(&a);
    for order in [[&count, &add, &write], [&write, &add, &count]] {
        let mut c = replica::<OrMap<String, Item>>(3);
        order
            .into_iter()
            .for_each(|delta| drop(c.absorb(delta).unwrap()));
        right(&c);
        assert_eq!(c.to_bytes(), a.to_bytes());
    }
}

/// The own edit shows at once, and changes nothing when it comes back.
fn shows_once<S: Replicated>(edit: impl FnOnce(&mut S::Edit<'_>) -> Result<(), EditError>) {
    let mut own = replica::<S>(1);
    let delta = sent(&mut own, edit);
    let after = own.to_bytes();
    assert_eq!(own.absorb(&delta), Ok(Applied::Duplicate));
    assert_eq!(own.to_bytes(), after);
    let mut other = replica::<S>(2);
    assert_eq!(other.absorb(&delta), Ok(Applied::New));
    assert_eq!(other.absorb(&delta), Ok(Applied::Duplicate));
    assert_eq!(other.to_bytes(), after);
}

#[test]
fn row_11_every_type_applies_its_own_edit_once() {
    shows_once::<BoundedCounter>(|count| count.add(1));
    shows_once::<MaxRegister<u64>>(|register| register.set(1).map(drop));
    shows_once::<MinRegister<u64>>(|register| register.set(1).map(drop));
    shows_once::<LwwRegister<u64>>(|register| register.set(1, at(1)).map(drop));
    shows_once::<MvRegister<u64>>(|register| register.set(1));
    shows_once::<EwFlag>(|flag| flag.enable());
    shows_once::<DwFlag>(|flag| flag.disable());
    shows_once::<GSet<u64>>(|set| set.insert(1).map(drop));
    shows_once::<TwoPhaseSet<u64>>(|set| set.insert(1).map(drop));
    shows_once::<RwSet<u64>>(|set| set.remove(&1).map(drop));
    shows_once::<LwwMap<u64, u64>>(|map| map.insert(1, 1, at(1)).map(drop));
    shows_once::<Counts>(|map| map.entry("k".into()).add(5));
    shows_once::<List<u64>>(|list| list.push(1));
}

#[test]
fn row_41_a_map_that_is_replaced_keeps_the_field_that_is_set_concurrently() {
    let mut a = replica::<Nested>(1);
    let mut b = a.fork_as(ReplicaId::from(2));
    a.edit(|map| map.entry("d".into()).entry("a".into()).set(3))
        .unwrap();
    b.edit(|map| {
        map.remove("d")?;
        map.entry("d".into()).entry("a".into()).set(1)?;
        map.entry("d".into()).entry("b".into()).set(4)
    })
    .unwrap();
    a.merge(&b).unwrap();
    b.merge(&a).unwrap();
    let d = BTreeMap::from([("a".to_string(), vec![3, 1]), ("b".to_string(), vec![4])]);
    let expected = BTreeMap::from([("d".to_string(), d)]);
    assert!(**a == expected && **b == expected);
    // As one plain value the other one is not shown, but readable.
    let [mut a, mut b] = [1, 2].map(replica::<LwwMap<String, String>>);
    a.edit(|map| map.insert("d".into(), "a=3".into(), at(1)).map(drop))
        .unwrap();
    b.edit(|map| map.insert("d".into(), "a=1 b=4".into(), at(2)).map(drop))
        .unwrap();
    a.merge(&b).unwrap();
    assert_eq!(a.get("d").map(String::as_str), Some("a=1 b=4"));
}

#[test]
fn row_42_an_update_wins_over_a_removal_under_every_key() {
    // A plain value, a register, a nested map: one rule for keys.
    let mut a = replica::<LwwMap<u64, u64>>(1);
    a.edit(|map| map.insert(1, 1, at(1)).map(drop)).unwrap();
    let mut b = a.fork_as(ReplicaId::from(2));
    a.edit(|map| map.remove(&1).map(drop)).unwrap();
    b.edit(|map| map.insert(1, 2, at(1)).map(drop)).unwrap();
    a.merge(&b).unwrap();
    assert_eq!(a.get(&1), Some(&2));

    let mut a = replica::<Nested>(1);
    a.edit(|map| map.entry("k".into()).entry("x".into()).set(1))
        .unwrap();
    let mut b = a.fork_as(ReplicaId::from(2));
    let mut c = a.fork_as(ReplicaId::from(3));
    a.edit(|map| map.entry("k".into()).remove("x").map(drop))
        .unwrap();
    b.edit(|map| map.remove("k").map(drop)).unwrap();
    c.edit(|map| map.entry("k".into()).entry("x".into()).set(2))
        .unwrap();
    a.merge(&b).unwrap();
    a.merge(&c).unwrap();
    let inner = BTreeMap::from([("x".to_string(), vec![2])]);
    assert!(**a == BTreeMap::from([("k".to_string(), inner)]));

    // In a list, where elements do not come back, the removal wins, as its documentation says.
    let mut a = replica::<List<u64>>(1);
    a.edit(|list| list.extend([1, 9])).unwrap();
    let mut b = a.fork_as(ReplicaId::from(2));
    a.edit(|list| list.remove(0)).unwrap();
    b.edit(|list| list.set(0, 2)).unwrap();
    a.merge(&b).unwrap();
    b.merge(&a).unwrap();
    assert_eq!((a.view(), b.view()), (vec![9], vec![9]));
}

#[test]
fn row_43_a_conflict_is_told_only_where_there_is_one() {
    let [mut a, mut b] = [1, 2].map(replica::<MvRegister<u64>>);
    a.edit(|register| register.set(1)).unwrap();
    b.edit(|register| register.set(1)).unwrap();
    let mut both = a.fork_as(ReplicaId::from(3));
    both.merge(&b).unwrap();
    assert!(both.is_conflict() && both.len() == 2);
    b.edit(|register| register.clear()).unwrap();
    a.merge(&b).unwrap();
    assert_eq!((a.is_conflict(), a.value(), a.len()), (false, Some(&1), 1));
}

#[test]
fn row_83_who_is_called_how_does_not_matter() {
    let shown = |ids: [u128; 2]| {
        let [mut a, mut b] = ids.map(replica::<Groups>);
        a.edit(|map| map.entry("k".into()).extend([1, 2])).unwrap();
        b.merge(&a).unwrap();
        b.edit(|map| map.entry("k".into()).remove(&1).map(drop))
            .unwrap();
        a.edit(|map| map.entry("k".into()).insert(3).map(drop))
            .unwrap();
        b.edit(|map| map.remove("k").map(drop)).unwrap();
        b.edit(|map| map.entry("k".into()).insert(4).map(drop))
            .unwrap();
        a.merge(&b).unwrap();
        a.view()
    };
    let k = BTreeSet::from([3, 4]);
    assert_eq!(shown([1, 2]), BTreeMap::from([("k".to_string(), k)]));
    assert_eq!(shown([1, 2]), shown([2, 1]));
}

/// The same history by its deltas and by states is the same state, not only the same values.
#[test]
fn a_register_under_a_key_is_one_state_by_either_route() {
    let mut a = replica::<OrMap<String, MvRegister<u64>>>(1);
    let one = sent(&mut a, |map| map.entry("k".into()).set(1));
    let mut b = a.fork_as(ReplicaId::from(2));
    let gone = sent(&mut a, |map| map.remove("k").map(drop));
    let two = sent(&mut b, |map| map.entry("k".into()).set(2));
    let mut merged = a.fork_as(ReplicaId::from(3));
    merged.merge(&b).unwrap();
    all_ways(
        || replica(4),
        &[one, gone, two],
        |all| assert_eq!(all.to_bytes(), merged.to_bytes()),
    );
    assert_eq!(merged.get("k").and_then(MvRegister::value), Some(&2));
}
