//! The types behave as the standard collections do: borrowed keys, iteration, comparison, printing.
#![expect(clippy::unwrap_used, reason = "in helpers of tests")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

use commute::kernel::{EditView, Place, Removable};
use commute::text::Chars;
use commute::{
    BoundedCounter, Delta, DwFlag, EditError, EwFlag, GCounter, GSet, List, LwwMap, LwwRegister,
    MaxRegister, MinRegister, MvRegister, OrMap, OrSet, PnCounter, Replica, ReplicaId, Replicated,
    RwMap, RwSet, Stamp, State, Text, TwoPhaseSet, Value,
};

fn after<S: Replicated>(
    edit: impl FnOnce(&mut S::Edit<'_>) -> Result<(), EditError>,
) -> Replica<S> {
    let mut replica = Replica::<S>::new(ReplicaId::from(1));
    replica.edit(edit).unwrap();
    replica
}

const AT: Stamp = Stamp::from_millis(1);

/// What all sets share; the elements are "a" and "b".
macro_rules! sets {
    ($($name:ident: $set:ident,)*) => { $(
        #[test]
        fn $name() {
            let words = ["b", "a"].map(String::from);
            let replica = after::<$set<String>>(|set| {
                set.extend(words.clone())?;
                assert!(set.contains("a"), "an update reads its own writes");
                Ok(())
            });
            let set: &$set<String> = &replica;
            let plain = BTreeSet::from(words);
            assert_eq!(*set, plain);
            assert_ne!(*set, BTreeSet::from(["a".to_string()]));
            assert!(set.contains("b") && !set.contains("c"));
            assert_eq!((set.len(), set.is_empty()), (2, false));
            assert_eq!([set.first(), set.last()], [Some(&"a".into()), Some(&"b".into())]);
            let same = replica.fork_as(ReplicaId::from(2));
            let other = after::<$set<String>>(|set| set.extend(["a".into()]));
            assert!(*set == **same.state() && *set != **other.state());
            let mut shown = Vec::new();
            for word in set {
                shown.push(word.as_str());
            }
            assert_eq!(shown, ["a", "b"]);
            assert!(set.iter().rev().eq(["b", "a"]));
            let mut both_ends = set.iter();
            assert_eq!(both_ends.next_back().map(String::as_str), Some("b"));
            assert_eq!(both_ends.size_hint(), (0, Some(1)));
            assert_eq!(format!("{both_ends:?}"), r#"["a"]"#);
            assert!(both_ends.clone().eq(["a"]) && both_ends.count() == 1);
            assert_eq!(format!("{set:?}"), r#"{"a", "b"}"#);
            assert_eq!(format!("{:?}", replica.view()), format!("{set:?}"));
        }
    )* };
}

sets! {
    a_grow_only_set_reads_like_a_set: GSet,
    an_add_wins_set_reads_like_a_set: OrSet,
    a_remove_wins_set_reads_like_a_set: RwSet,
    a_two_phase_set_reads_like_a_set: TwoPhaseSet,
}

#[test]
fn sets_are_emptied_as_those_of_the_standard_library() {
    let numbers = || 1..=4;
    let mut kept = after::<OrSet<u8>>(|set| set.extend(numbers()));
    kept.edit(|set| set.retain(|number| number % 2 == 0))
        .unwrap();
    assert_eq!(**kept, BTreeSet::from([2, 4]));
    kept.edit(|set| set.clear()).unwrap();
    assert!(kept.is_empty() && kept.first().is_none());
    let mut removed = after::<RwSet<u8>>(|set| set.extend(numbers()));
    let mut adding = removed.fork_as(ReplicaId::from(2));
    removed.edit(|set| set.clear()).unwrap();
    assert!(removed.is_empty());
    adding.edit(|set| set.extend([1, 9])).unwrap();
    removed.merge(&adding).unwrap();
    assert_eq!(**removed, BTreeSet::from([9]), "what it has not seen stays");
}

#[test]
fn flags_are_set_as_booleans_are() {
    let mut enabled = after::<EwFlag>(|flag| flag.set(true));
    let mut disabled = after::<DwFlag>(|flag| flag.set(true));
    assert!(enabled.is_enabled() && disabled.is_enabled());
    enabled.edit(|flag| flag.set(false)).unwrap();
    disabled.edit(|flag| flag.set(false)).unwrap();
    assert!(!enabled.is_enabled() && !disabled.is_enabled());
}

#[test]
fn a_map_of_plain_values_tells_when_a_value_was_written_and_whether_another_lost() {
    let mut a = after::<LwwMap<u8, u8>>(|map| map.insert(1, 1, AT).map(drop));
    assert_eq!((a.stamp(&1), a.stamp(&2)), (Some(AT), None));
    assert!(!a.is_conflict(&1) && !a.is_conflict(&2));
    let mut b = a.fork_as(ReplicaId::from(2));
    let later = Stamp::from_millis(2);
    a.edit(|map| map.insert(1, 2, later).map(drop)).unwrap();
    b.edit(|map| map.insert(1, 3, later).map(drop)).unwrap();
    a.merge(&b).unwrap();
    assert_eq!((a.stamp(&1), a.is_conflict(&1)), (Some(later), true));
}

#[test]
fn text_grows_and_is_emptied_as_a_string() {
    let mut a = after::<Text>(|text| {
        text.push_str("ab")?;
        text.push_str("c")
    });
    assert_eq!(**a, "abc");
    let same = after::<Text>(|text| text.push_str("abc"));
    assert!(**a.state() == **same.state());
    a.edit(|text| text.clear()).unwrap();
    assert!(a.is_empty() && **a.state() != **same.state());
}

#[test]
fn what_was_removed_is_not_iterated_over() {
    let or = after::<OrSet<String>>(|set| {
        set.extend(["a", "b"].map(String::from))?;
        set.remove("a")?;
        assert!(set.iter().eq(["b"]) && set.len() == 1, "within the update");
        Ok(())
    });
    let two = after::<TwoPhaseSet<String>>(|set| {
        set.extend(["a", "b"].map(String::from))?;
        set.remove("a").map(drop)
    });
    let rw = after::<RwSet<String>>(|set| {
        set.extend(["a", "b"].map(String::from))?;
        set.remove("a").map(drop)
    });
    let plain = BTreeSet::from(["b".to_string()]);
    assert!(**or == plain && **two == plain && **rw == plain);
    assert_eq!(rw.iter().next_back().map(String::as_str), Some("b"));
}

#[test]
fn a_map_of_plain_values_reads_like_a_map() {
    let pairs = [("b", 2), ("a", 1)].map(|(key, value)| (key.to_string(), value));
    let replica = after::<LwwMap<String, u8>>(|map| map.extend(pairs.clone(), AT));
    let map: &LwwMap<String, u8> = &replica;
    let plain = BTreeMap::from(pairs);
    assert_eq!(*map, plain);
    assert_ne!(*map, BTreeMap::from([("a".to_string(), 1)]));
    assert_eq!(map.get("a"), Some(&1));
    assert!(map.contains_key("b") && !map.is_empty() && map.len() == 2);
    assert!(map.keys().eq(["a", "b"]) && map.values().eq(&[1, 2]));
    let mut sum = 0;
    for (_, value) in map {
        sum += value;
    }
    assert_eq!(sum, 3);
    assert_eq!(map.iter().next_back(), Some((&"b".to_string(), &2)));
    assert_eq!(format!("{map:?}"), r#"{"a": 1, "b": 2}"#);
}

#[test]
fn a_map_of_replicated_values_reads_like_a_map_of_their_views() {
    let replica = after::<OrMap<String, OrSet<u8>>>(|map| {
        map.entry("b".into()).insert(2)?;
        map.entry("a".into()).extend([3, 1])?;
        // Nothing to show.
        map.entry("c".into()).insert(1)?;
        map.entry("c".into()).clear()
    });
    let map: &OrMap<String, OrSet<u8>> = &replica;
    let plain = BTreeMap::from([
        ("a".to_string(), BTreeSet::from([1, 3])),
        ("b".to_string(), BTreeSet::from([2])),
    ]);
    assert_eq!(*map, plain);
    let [mut less, mut more, mut other] = [(); 3].map(|()| plain.clone());
    less.remove("b");
    more.insert("c".into(), BTreeSet::new());
    other.insert("b".into(), BTreeSet::from([3]));
    assert!(*map != less && *map != more && *map != other);
    assert!(map.keys().eq(["a", "b"]));
    assert_eq!(map.values().map(OrSet::len).sum::<usize>(), 3);
    let mut sizes = Vec::new();
    for (key, set) in map {
        sizes.push((key.as_str(), set.len()));
    }
    assert_eq!(sizes, [("a", 2), ("b", 1)]);
    assert_eq!(format!("{map:?}"), r#"{"a": {1, 3}, "b": {2}}"#);
    assert!(map.contains_key("a") && map.get("c").is_none() && map.len() == 2);

    let counts = after::<OrMap<u8, PnCounter>>(|map| map.entry(7).subtract(2));
    assert_eq!(**counts, BTreeMap::from([(7, -2)]));
}

#[test]
fn a_map_in_which_removals_win_reads_like_a_map_of_views() {
    let replica = after::<RwMap<String, PnCounter>>(|map| {
        map.entry("b".into())?.add(2)?;
        map.entry("a".into())?.add(1)?;
        map.entry("c".into())?.add(3)?;
        map.remove("c").map(drop)
    });
    let map: &RwMap<String, PnCounter> = &replica;
    assert_eq!(
        *map,
        BTreeMap::from([("a".to_string(), 1), ("b".to_string(), 2)])
    );
    let mut shown = Vec::new();
    for (key, count) in map {
        shown.push((key.as_str(), count.value()));
    }
    assert_eq!(shown, [("a", 1), ("b", 2)]);
    assert!(map.keys().eq(["a", "b"]));
    assert!(map.values().rev().map(PnCounter::value).eq([2, 1]));
    assert_eq!(format!("{map:?}"), r#"{"a": 1, "b": 2}"#);
}

#[test]
fn a_list_reads_like_a_vector() {
    let replica = after::<List<u8>>(|list| {
        list.extend([1, 9, 2, 3])?;
        list.remove(1)
    });
    let list: &List<u8> = &replica;
    assert_eq!(*list, vec![1, 2, 3]);
    let mut sum = 0;
    for value in list {
        sum += value;
    }
    assert_eq!((sum, list.len(), list.is_empty()), (6, 3, false));
    assert_eq!((list.first(), list.last()), (Some(&1), Some(&3)));
    assert!(list.contains(&2) && !list.contains(&9));
    let none = List::<u8>::empty(Place::Kept);
    assert_eq!((none.first(), none.last()), (None, None));
    let mut both_ends = list.iter();
    assert_eq!(
        (both_ends.next(), both_ends.next_back()),
        (Some(&1), Some(&3))
    );
    assert_eq!(both_ends.size_hint(), (0, Some(1)));
    assert!(both_ends.clone().eq(&[2]) && list.iter().rev().eq(&[3, 2, 1]));
    assert_eq!(format!("{list:?}"), "[1, 2, 3]");
}

#[test]
fn values_compare_and_print_as_what_a_user_sees() {
    let up = after::<GCounter>(|count| count.add(3));
    assert!(**up == 3 && **up != 2);
    assert_eq!(format!("{:?} {}", **up, **up), "3 3");
    let both = after::<PnCounter>(|count| count.subtract(3));
    assert!(**both == -3);
    assert_eq!(format!("{:?} {}", **both, **both), "-3 -3");
    let stock = after::<BoundedCounter>(|count| count.add(3));
    assert!(**stock == 3);
    assert_eq!(format!("{:?} {}", **stock, **stock), "3 3");
    let on = after::<EwFlag>(|flag| flag.enable());
    assert!(**on == true);
    assert_eq!(format!("{:?}", **on), "true");
    let off = after::<DwFlag>(|flag| flag.disable());
    assert!(**off == false);
    assert_eq!(format!("{:?}", **off), "false");
    let last = after::<LwwRegister<u8>>(|register| register.set(7, AT).map(drop));
    assert!(**last == Some(7) && **last != None);
    assert_eq!(format!("{:?}", **last), "Some(7)");
    let most = after::<MaxRegister<u8>>(|register| register.set(7).map(drop));
    assert!(**most == Some(7));
    let least = after::<MinRegister<u8>>(|register| register.set(7).map(drop));
    assert!(**least == Some(7));
    assert_eq!(format!("{:?} {:?}", **most, **least), "Some(7) Some(7)");
}

#[test]
fn concurrent_values_are_iterated_over() {
    let mut a = after::<MvRegister<u8>>(|register| register.set(1));
    let mut b = Replica::<MvRegister<u8>>::new(ReplicaId::from(2));
    b.edit(|register| register.set(2)).unwrap();
    a.merge(&b).unwrap();
    let register: &MvRegister<u8> = &a;
    let mut all = Vec::new();
    for value in register {
        all.push(*value);
    }
    assert_eq!(all, [1, 2]);
    assert!(*register == vec![1, 2]);
    assert_eq!(format!("{register:?}"), "[1, 2]");
}

#[test]
fn text_compares_with_strings_on_either_side() {
    let replica = after::<Text>(|text| text.insert(Chars(0), "caf\u{e9}"));
    let (text, plain): (&Text, _) = (&replica, "caf\u{e9}".to_string());
    assert_eq!(*text, plain);
    assert_eq!(plain, *text);
    assert_eq!(*text, *plain);
    assert_eq!(*plain, *text);
    assert_eq!(*text, "caf\u{e9}");
    assert_eq!("caf\u{e9}", *text);
    assert_ne!(*text, "caf");
    assert_ne!("caf\u{e9}s", *text);
    assert_eq!(
        (text.to_string(), format!("{text:?}")),
        (plain.clone(), format!("{plain:?}"))
    );
}

/// With all that a replica of `S` is made of.
fn crosses_threads<S: Replicated>()
where
    for<'a> S::Edit<'a>: Send + Sync,
{
    fn check<T: Send + Sync>() {}
    check::<S>();
    check::<Replica<S>>();
    check::<State<S>>();
    check::<Delta<S>>();
    check::<S::Part>();
}

#[test]
fn everything_crosses_threads() {
    fn view<T: Send + Sync + Debug>(_: T) {}
    fn map_of<V>()
    where
        V: Removable,
        for<'a> EditView<'a, OrMap<u8, V>>: Send + Sync,
    {
        crosses_threads::<OrMap<u8, V>>();
    }
    crosses_threads::<GCounter>();
    crosses_threads::<PnCounter>();
    crosses_threads::<BoundedCounter>();
    crosses_threads::<MaxRegister<u8>>();
    crosses_threads::<MinRegister<u8>>();
    crosses_threads::<LwwRegister<u8>>();
    crosses_threads::<MvRegister<u8>>();
    crosses_threads::<EwFlag>();
    crosses_threads::<DwFlag>();
    crosses_threads::<GSet<u8>>();
    crosses_threads::<OrSet<u8>>();
    crosses_threads::<RwSet<u8>>();
    crosses_threads::<TwoPhaseSet<u8>>();
    crosses_threads::<LwwMap<u8, u8>>();
    crosses_threads::<RwMap<u8, PnCounter>>();
    crosses_threads::<List<u8>>();
    crosses_threads::<Value>();
    crosses_threads::<Text>();
    map_of::<PnCounter>();
    let set = after::<OrSet<u8>>(|set| set.insert(1).map(drop));
    view(set.iter());
    view(set.view());
}
