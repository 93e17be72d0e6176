//! Values without a schema, and maps whose removals win: what stays, what shows, what is refused.
#![expect(clippy::unwrap_used, reason = "in helpers of tests")]

use std::collections::BTreeMap;

use crate::pairs::{pair, replica};
use commute::text::Chars;
use commute::value::{DEPTH_MAX, Float, Kind, Plain, Scalar, ValueEdit};
use commute::{
    Applied, Delta, EditError, Limits, List, OrMap, OrSet, PnCounter, Replica, ReplicaId,
    Replicated, RwMap, State, Text, Value,
};

/// Both get all of both, by states and by answers; they show the same then.
fn meet<S: Replicated>(a: &mut Replica<S>, b: &mut Replica<S>) {
    let mut c = a.fork_as(ReplicaId::from(100));
    let mut d = b.fork_as(ReplicaId::from(101));
    c.absorb(&b.delta_since(c.version())).unwrap();
    d.drop_ledger();
    a.drop_ledger();
    d.absorb(&a.delta_since(d.version())).unwrap();
    a.merge(b).unwrap();
    b.merge(a).unwrap();
    for other in [&c, &d, b] {
        assert_eq!(a.to_bytes(), other.to_bytes());
    }
    let back = State::<S>::from_bytes(&a.to_bytes(), &Limits::default()).unwrap();
    assert_eq!(back.to_bytes(), a.to_bytes());
}

/// What a key of the root shows.
fn at(value: &Value, key: &str) -> Option<Plain> {
    let value = value.map()?.get(key)?;
    Some(value.view())
}

#[test]
fn every_kind_is_written_and_read() {
    let mut a = replica::<Value>(1);
    assert_eq!((a.kind(), a.view()), (None, Plain::default()));
    a.edit(|value| value.set(7)).unwrap();
    assert_eq!(
        (a.kind(), a.scalar()),
        (Some(Kind::Scalar), Some(&Scalar::Int(7)))
    );
    a.edit(|value| value.counter()?.add(2)).unwrap();
    assert_eq!((a.view(), a.scalar()), (Plain::from(2), None));
    assert_eq!(a.counter().map(PnCounter::value), Some(2));
    a.edit(|value| value.text()?.insert(Chars(0), "x")).unwrap();
    assert_eq!((a.view(), a.counter().is_none()), (Plain::from("x"), true));
    a.edit(|value| value.list()?.push(1.5)).unwrap();
    assert_eq!((a.view(), a.text().is_none()), (Plain::from([1.5]), true));
    a.edit(|value| value.map()?.entry("k").set(())).unwrap();
    let map = Plain::from([("k", Plain::from(()))]);
    assert_eq!((a.view(), a.list().is_none()), (map.clone(), true));
    assert_eq!(format!("{:?}", **a), format!("{map:?}"));
    a.edit(|value| value.clear()).unwrap();
    assert!(a.kind().is_none() && a.kinds().next().is_none() && a.conflicts().is_empty());
}

#[test]
fn what_is_empty_is_there() {
    let mut a = replica::<Value>(1);
    a.edit(|value| {
        let mut map = value.map()?;
        map.entry("map").map()?;
        map.entry("list").list()?;
        map.entry("text").text()?;
        map.entry("count").counter()?;
        map.entry("nothing").clear()
    })
    .unwrap();
    let mut b = replica::<Value>(2);
    b.merge(&a).unwrap();
    let shown = Plain::from([
        ("map", Plain::Map(BTreeMap::new())),
        ("list", Plain::List(Vec::new())),
        ("text", "".into()),
        ("count", 0.into()),
    ]);
    meet(&mut a, &mut b);
    assert_eq!((a.view(), b.view()), (shown.clone(), shown));
    let map = a.map().unwrap();
    assert!(map.get("map").is_some_and(|value| value.map().is_some()));
    assert!(
        map.get("list")
            .is_some_and(|value| value.list().is_some_and(List::is_empty))
    );
    assert!(
        map.get("text")
            .is_some_and(|value| value.text().is_some_and(Text::is_empty))
    );
    assert!(
        map.get("count")
            .is_some_and(|value| value.counter().is_some())
    );
}

#[test]
fn a_plain_value_is_written_whole() {
    let plain = Plain::from([
        ("a", [Plain::from(1), ["x", "y"].into(), ().into()].into()),
        (
            "b",
            Plain::from([("c", Plain::from(vec![0_u8])), ("d", f64::NAN.into())]),
        ),
    ]);
    let mut a = replica::<Value>(1);
    a.edit(|value| value.set(plain.clone())).unwrap();
    assert_eq!(a.view(), plain);
    assert_eq!(
        a.view().get("a").and_then(|list| list.at(2)),
        Some(&().into())
    );
    a.edit(|value| value.set("new")).unwrap();
    assert_eq!(a.view(), "new".into());
    let float = Float::new(-0.0);
    a.edit(|value| value.set(float)).unwrap();
    assert_eq!(a.view(), 0.0.into());
}

#[test]
fn concurrent_scalars_are_a_conflict() {
    let [mut a, mut b] = pair::<Value>(|value| value.set("x"));
    a.edit(|value| value.set("a")).unwrap();
    b.edit(|value| value.set("b")).unwrap();
    meet(&mut a, &mut b);
    assert!(a.is_conflict());
    assert_eq!((a.view(), a.conflicts()), ("b".into(), vec!["a".into()]));
    b.edit(|value| value.resolve()).unwrap();
    meet(&mut a, &mut b);
    assert_eq!((a.view(), a.conflicts()), ("b".into(), vec![]));
    let nothing = a.update(|value| value.resolve()).unwrap().1;
    assert!(nothing.is_empty());
}

#[test]
fn concurrent_kinds_are_a_conflict_and_the_greatest_shows() {
    let [mut a, mut b] = pair::<Value>(|value| value.set(0));
    let mut c = a.fork_as(ReplicaId::from(3));
    a.edit(|value| value.map()?.entry("k").set(1)).unwrap();
    b.edit(|value| value.set("b")).unwrap();
    c.edit(|value| value.text()?.insert(Chars(0), "c")).unwrap();
    meet(&mut a, &mut b);
    meet(&mut a, &mut c);
    assert_eq!(a.view(), Plain::from([("k", Plain::from(1))]));
    let kinds: Vec<Kind> = a.kinds().collect();
    assert_eq!(kinds, [Kind::Map, Kind::Text, Kind::Scalar]);
    assert_eq!(a.conflicts(), [Plain::from("c"), Plain::from("b")]);
    assert_eq!(a.text().map(Text::to_string), Some("c".into()));
    // A change within does not decide it; `resolve` and `set` do.
    a.edit(|value| value.map()?.entry("l").set(2)).unwrap();
    assert_eq!(a.conflicts().len(), 2);
    a.edit(|value| value.resolve()).unwrap();
    meet(&mut a, &mut c);
    assert!(!c.is_conflict());
    assert_eq!((c.conflicts(), c.kind()), (vec![], Some(Kind::Map)));
    assert_eq!(at(&c, "l"), Some(2.into()));
    a.edit(|value| value.set("all")).unwrap();
    meet(&mut a, &mut c);
    assert_eq!((c.conflicts(), c.view()), (vec![], "all".into()));
}

/// Row 6, for data without a schema.
#[test]
fn row_6_a_removed_map_keeps_the_key_that_is_set_concurrently() {
    let [mut a, mut b] = pair::<Value>(|value| value.map()?.entry("a").map()?.entry("b").set(1));
    a.edit(|value| value.map()?.remove("a").map(drop)).unwrap();
    assert_eq!(at(&a, "a"), None);
    b.edit(|value| value.map()?.entry("a").map()?.entry("c").set(2))
        .unwrap();
    meet(&mut a, &mut b);
    assert_eq!(at(&a, "a"), Some(Plain::from([("c", Plain::from(2))])));
    assert!(a.map().unwrap().get("a").unwrap().conflicts().is_empty());
}

/// Row 7: values of every type in one map.
#[test]
fn row_7_a_map_takes_values_of_every_type() {
    let mut a = replica::<Value>(1);
    a.edit(|value| {
        let mut map = value.map()?;
        map.entry("n").counter()?.add(3)?;
        map.entry("s").list()?.push("x")?;
        map.entry("r").set(true)
    })
    .unwrap();
    let mut b = replica::<Value>(2);
    b.edit(|value| value.map()?.entry("n").counter()?.add(4))
        .unwrap();
    meet(&mut a, &mut b);
    assert_eq!(at(&b, "n"), Some(7.into()));
    assert_eq!(at(&b, "s"), Some(["x"].into()));
    assert_eq!(at(&b, "r"), Some(true.into()));
}

/// Row 14, for data without a schema.
#[test]
fn row_14_a_counter_starts_again_from_what_its_removal_had_not_seen() {
    let [mut a, mut b] = pair::<Value>(|value| value.map()?.entry("k").counter()?.add(5));
    a.edit(|value| value.map()?.remove("k").map(drop)).unwrap();
    b.edit(|value| value.map()?.entry("k").counter()?.add(3))
        .unwrap();
    meet(&mut a, &mut b);
    assert_eq!(at(&a, "k"), Some(3.into()));
}

/// Row 41: an object assigned as a whole while one of its fields is written.
#[test]
fn row_41_an_assigned_object_keeps_the_field_set_concurrently() {
    let [mut a, mut b] = pair::<Value>(|value| value.map()?.entry("d").set([("a", 0.into())]));
    a.edit(|value| value.map()?.entry("d").map()?.entry("a").set(3))
        .unwrap();
    b.edit(|value| {
        let object = [("a", Plain::from(1)), ("b", 4.into())];
        value.map()?.entry("d").set(object)
    })
    .unwrap();
    meet(&mut a, &mut b);
    let shown = Plain::from([("a", Plain::from(1)), ("b", 4.into())]);
    assert_eq!(at(&a, "d"), Some(shown));
    let d = a.map().unwrap().get("d").unwrap();
    let field = d.map().unwrap().get("a").unwrap();
    assert_eq!(field.conflicts(), [Plain::from(3)]);
}

/// Row 42: in maps an update wins over a removal, of scalars and of what is nested; in lists the
/// deletion wins over both.
#[test]
fn row_42_one_rule_for_scalars_and_for_what_is_nested() {
    let [mut a, mut b] = pair::<Value>(|value| {
        let mut map = value.map()?;
        map.entry("s").set(1)?;
        map.entry("n").set([("x", Plain::from(1))])?;
        map.entry("l")
            .set([Plain::from(1), [("x", Plain::from(1))].into()])
    });
    a.edit(|value| {
        let mut map = value.map()?;
        map.remove("s")?;
        map.remove("n")?;
        map.entry("l").list()?.clear()
    })
    .unwrap();
    b.edit(|value| {
        let mut map = value.map()?;
        map.entry("s").set(2)?;
        map.entry("n").map()?.entry("x").set(2)?;
        let mut entry = map.entry("l");
        let mut list = entry.list()?;
        list.edit(0)?.set(2)?;
        list.edit(1)?.map()?.entry("x").set(2)
    })
    .unwrap();
    meet(&mut a, &mut b);
    assert_eq!(at(&a, "s"), Some(2.into()));
    assert_eq!(at(&a, "n"), Some(Plain::from([("x", Plain::from(2))])));
    assert_eq!(at(&a, "l"), Some(Plain::List(Vec::new())));
}

/// Row 77: a map with a map in it, written to by two and removed by both.
#[test]
fn row_77_nothing_is_left_where_both_remove_what_they_have_seen() {
    let [mut a, mut b] = pair::<Value>(|value| value.map()?.entry("sub").map().map(drop));
    b.edit(|value| value.map()?.entry("sub").map()?.entry("x").set(1))
        .unwrap();
    a.merge(&b).unwrap();
    b.edit(|value| value.map()?.entry("key").set(2)).unwrap();
    b.edit(|value| value.map()?.remove("sub").map(drop))
        .unwrap();
    a.merge(&b).unwrap();
    a.edit(|value| value.map()?.remove("key").map(drop))
        .unwrap();
    meet(&mut a, &mut b);
    assert_eq!(b.view(), Plain::Map(BTreeMap::new()));
}

/// Row 78: a map of 1,000 keys is cleared; the clear comes before a tenth of the insertions.
#[test]
fn row_78_a_clear_may_come_before_what_it_clears() {
    let mut a = replica::<Value>(1);
    let key = |number| format!("k{number}");
    let insert = |a: &mut Replica<Value>, number| {
        a.update(|value| value.map()?.entry(key(number)).set(number))
            .unwrap()
            .1
    };
    let inserts: Vec<_> = (0..1_000).map(|number| insert(&mut a, number)).collect();
    let clear = a.update(|value| value.map()?.clear()).unwrap().1;
    let mut b = replica::<Value>(2);
    let (late, early): (Vec<_>, Vec<_>) =
        inserts.iter().enumerate().partition(|(at, _)| at % 10 == 7);
    early
        .iter()
        .for_each(|(_, delta)| drop(b.absorb(delta).unwrap()));
    b.absorb(&clear).unwrap();
    late.iter()
        .for_each(|(_, delta)| drop(b.absorb(delta).unwrap()));
    assert_eq!(b.view(), Plain::Map(BTreeMap::new()));
    assert_eq!(a.to_bytes(), b.to_bytes());
}

/// Row 91: one side writes the same value again, the other one another value.
#[test]
fn row_91_the_same_value_written_again_is_a_write() {
    let [mut a, mut b] = pair::<Value>(|value| value.map()?.entry("a").set(1));
    a.edit(|value| value.map()?.entry("a").set(1)).unwrap();
    b.edit(|value| value.map()?.entry("a").set(0)).unwrap();
    meet(&mut a, &mut b);
    assert_eq!(at(&a, "a"), Some(0.into()));
    let written = a.map().unwrap().get("a").unwrap();
    assert_eq!(written.conflicts(), [Plain::from(1)]);
}

/// `levels` lists around a value.
fn lists(levels: u32) -> Plain {
    (0..levels).fold(Plain::from(1), |inner, _| Plain::List(vec![inner]))
}

/// Goes down by lists and maps in turn, then makes a map.
fn dig(edit: &mut ValueEdit<'_>, levels: u32) -> Result<(), EditError> {
    match levels {
        0 => edit.set(1),
        _ if levels.is_multiple_of(2) => dig(&mut edit.map()?.entry("k"), levels - 1),
        _ => dig(&mut edit.list()?.push_empty()?, levels - 1),
    }
}

#[test]
fn depth_is_limited_in_edits_and_by_limits_in_bytes() {
    let too_deep = Err(EditError::TooDeep {
        levels_max: DEPTH_MAX,
    });
    let mut a = replica::<Value>(1);
    assert_eq!(a.edit(|value| value.set(lists(DEPTH_MAX + 1))), too_deep);
    assert_eq!(a.edit(|value| dig(value, DEPTH_MAX + 1)), too_deep);
    let nested = a.edit(|value| value.list()?.push(lists(DEPTH_MAX)));
    assert_eq!(nested, too_deep);
    let refused = a.edit(|value| value.map()?.entry("k").set(lists(1_000)));
    assert_eq!(refused, too_deep);
    assert!(a.kind().is_none());
    for limit in [DEPTH_MAX + 1, DEPTH_MAX] {
        let mut a = replica::<Value>(1);
        a.edit(|value| value.set(lists(DEPTH_MAX))).unwrap();
        a.edit(|value| dig(value, DEPTH_MAX)).unwrap();
        let limits = Limits::default().depth(limit);
        let read = State::<Value>::from_bytes(&a.to_bytes(), &limits);
        assert_eq!(read.is_ok(), limit > DEPTH_MAX);
    }
    // The root is a level of its own; seven are left for what it stands in.
    type Deep = OrMap<u8, OrMap<u8, OrMap<u8, List<List<List<OrMap<u8, Value>>>>>>>;
    let mut a = replica::<Deep>(1);
    a.edit(|map| {
        let mut map = map.entry(0);
        let mut map = map.entry(0);
        let mut list = map.entry(0);
        let mut list = list.push_empty()?;
        let mut list = list.push_empty()?;
        list.push_empty()?.entry(0).set(lists(DEPTH_MAX))
    })
    .unwrap();
    let (mut a, mut b) = (a, replica::<Deep>(2));
    let _ = b.merge(&a).unwrap();
    meet(&mut a, &mut b);
    let delta = a.delta_since(&commute::Version::new()).to_bytes();
    assert!(commute::Delta::<Deep>::from_bytes(&delta, &Limits::default()).is_ok());
}

#[test]
fn an_update_that_fails_leaves_no_trace() {
    let mut a = replica::<Value>(1);
    a.edit(|value| value.set([("k", Plain::from([1, 2]))]))
        .unwrap();
    let before = a.to_bytes();
    let failed = a.edit(|value| {
        let mut map = value.map()?;
        map.entry("k").list()?.remove(0)?;
        map.entry("k").counter()?.add(1)?;
        map.entry("new")
            .map()?
            .entry("x")
            .text()?
            .insert(Chars(0), "y")?;
        map.remove("k")?;
        value.set("all")?;
        value.list()?.remove(0)
    });
    assert!(failed.is_err());
    assert_eq!(a.to_bytes(), before);
    assert_eq!(at(&a, "k"), Some([1, 2].into()));
}

#[test]
fn a_value_stands_in_structs_maps_and_lists() {
    let [mut a, mut b] = pair::<OrMap<u8, List<Value>>>(|map| map.entry(1).push_empty()?.set("x"));
    a.edit(|map| map.entry(1).edit(0)?.counter()?.add(1))
        .unwrap();
    b.edit(|map| map.remove(&1).map(drop)).unwrap();
    meet(&mut a, &mut b);
    assert!(a.is_empty(), "a deletion of an element wins");
}

#[test]
fn a_value_and_its_only_scalar_are_small() {
    assert!(size_of::<Value>() <= 192, "{}", size_of::<Value>());
}

type Votes = RwMap<String, PnCounter>;

fn votes(map: &Votes) -> Vec<(&str, i128)> {
    let all = map.iter();
    all.map(|(key, votes)| (key.as_str(), votes.value()))
        .collect()
}

fn count(map: &mut Replica<Votes>, amount: u64) {
    map.edit(|map| map.entry("k".into())?.add(amount)).unwrap();
}

#[test]
fn a_removal_wins_and_an_insertion_starts_anew() {
    let [mut a, mut b] = pair::<Votes>(|map| map.entry("k".into())?.add(5));
    a.edit(|map| map.remove("k").map(drop)).unwrap();
    count(&mut b, 3);
    meet(&mut a, &mut b);
    assert!(a.is_empty() && a.get("k").is_none());
    assert_eq!(a.len(), 0);
    let all: &Votes = &b;
    assert!(all.into_iter().next().is_none() && all.values().next().is_none());
    assert!(*all == BTreeMap::<String, i128>::new());
    let hidden: Vec<(&str, i128)> = a
        .conflicts()
        .map(|(k, v)| (k.as_str(), v.value()))
        .collect();
    assert_eq!(hidden, [("k", 3)]);
    count(&mut b, 1);
    meet(&mut a, &mut b);
    assert_eq!((votes(&a), a.conflicts().count()), (vec![("k", 1)], 0));
    assert_eq!(**a, BTreeMap::from([("k".to_string(), 1_i128)]));
    assert_eq!(format!("{:?}", **a), r#"{"k": 1}"#);
}

#[test]
fn what_neither_removal_nor_insertion_has_seen_shows_again() {
    let [mut a, mut b] = pair::<Votes>(|map| map.entry("k".into())?.add(5));
    count(&mut b, 3);
    a.edit(|map| map.remove("k").map(drop)).unwrap();
    count(&mut a, 1);
    meet(&mut a, &mut b);
    assert_eq!(votes(&a), [("k", 4)]);
}

#[test]
fn a_removal_of_what_is_not_there_wins_over_an_insertion() {
    let [mut a, mut b] = pair::<Votes>(|_| Ok(()));
    assert_eq!(a.edit(|map| map.remove("k")), Ok(false));
    count(&mut b, 1);
    meet(&mut a, &mut b);
    assert!(a.is_empty());
}

#[test]
fn a_key_is_there_whatever_its_value_shows() {
    let [mut a, mut b] = pair::<RwMap<u8, OrSet<u8>>>(|map| map.entry(1).map(drop));
    assert!(a.contains_key(&1) && a.get(&1).is_some_and(OrSet::is_empty));
    a.edit(|map| map.entry(1)?.insert(7).map(drop)).unwrap();
    a.edit(|map| map.entry(1)?.remove(&7).map(drop)).unwrap();
    b.edit(|map| map.entry(2).map(drop)).unwrap();
    meet(&mut a, &mut b);
    assert_eq!(a.keys().copied().collect::<Vec<_>>(), [1, 2]);
    a.edit(|map| map.clear()).unwrap();
    meet(&mut a, &mut b);
    assert!(b.is_empty());
}

/// A remove-wins map under a key: what removes it takes back removals, too.
#[test]
fn a_remove_wins_map_stands_in_maps_and_lists() {
    type Deep = OrMap<u8, List<RwMap<u8, PnCounter>>>;
    let [mut a, mut b] = pair::<Deep>(|map| {
        let mut list = map.entry(1);
        let mut inner = list.push_empty()?;
        inner.entry(1)?.add(1)?;
        inner.remove(&1).map(drop)
    });
    a.edit(|map| map.entry(1).edit(0)?.entry(1)?.add(2))
        .unwrap();
    meet(&mut a, &mut b);
    let shown = BTreeMap::from([(1, vec![BTreeMap::from([(1, 2)])])]);
    assert_eq!(b.view(), shown);
    b.edit(|map| map.remove(&1).map(drop)).unwrap();
    meet(&mut a, &mut b);
    assert!(a.is_empty());
}

/// At the root and in a field, where a counter alone would keep totals.
#[test]
fn a_delta_of_a_root_counter_is_read_again() {
    let mut a = replica::<Value>(1);
    let deltas: Vec<Delta<Value>> = (0..2)
        .map(|_| a.update(|value| value.counter()?.add(1)).unwrap().1)
        .collect();
    for delta in &deltas {
        let read = Delta::from_bytes(&delta.to_bytes(), &Limits::default());
        assert_eq!(read.as_ref(), Ok(delta));
    }
    let mut b = replica::<Value>(2);
    assert!(matches!(b.absorb(&deltas[1]), Ok(Applied::Waiting(_))));
    let mut b = Replica::<Value>::resume(&b.save(), &Limits::default()).unwrap();
    b.absorb(&deltas[0]).unwrap();
    assert_eq!(b.view(), Plain::from(2));
}
