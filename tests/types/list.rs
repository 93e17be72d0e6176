//! Lists: what stays, what goes, what is refused.
#![expect(clippy::unwrap_used, reason = "in helpers of tests")]

use crate::pairs::{pair, replica};
use commute::kernel::{IndexError, IndexFault, Unit};
use commute::text::Chars;
use commute::value::Plain;
use commute::{
    EditError, Limits, List, MvRegister, OrMap, OrSet, PnCounter, Replica, ReplicaId, Replicated,
    RwMap, State, Text, Value,
};

/// Both get all of both, by states and by answers; they show the same then.
fn meet<S: Replicated>(a: &mut Replica<S>, b: &mut Replica<S>) {
    let mut c = a.fork_as(ReplicaId::from(100));
    let mut d = b.fork_as(ReplicaId::from(101));
    let answer = b.delta_since(c.version());
    c.absorb(&answer).unwrap();
    let answer = a.delta_since(d.version());
    d.absorb(&answer).unwrap();
    a.merge(b).unwrap();
    b.merge(a).unwrap();
    for other in [&c, &d, b] {
        assert_eq!(a.to_bytes(), other.to_bytes());
    }
    let back = State::<S>::from_bytes(&a.to_bytes(), &Limits::default()).unwrap();
    assert_eq!(back.to_bytes(), a.to_bytes());
}

#[test]
fn a_list_is_edited_by_index() {
    let mut a = replica::<List<String>>(1);
    a.edit(|list| {
        list.push("milk".into())?;
        list.insert(0, "bread".into())?;
        list.extend(["tea", "eggs"].map(String::from))?;
        assert_eq!(list.len(), 4);
        list.remove(2)?;
        list.set(1, "oat milk".into())
    })
    .unwrap();
    let expected = ["bread", "oat milk", "eggs"].map(String::from);
    assert_eq!(**a, expected);
    assert_eq!(a.view(), expected);
    let list: &List<String> = &a;
    assert!(list.into_iter().eq(&expected) && *list == expected.to_vec());
    assert!(*list != expected[..2] && *list != ["bread", "oat milk", "tea"].map(String::from));
    assert_eq!(format!("{:?}", **a), format!("{expected:?}"));
    assert_eq!((a.get(2), a.get(3)), (Some(&"eggs".to_string()), None));
    a.edit(|list| list.delete(0..2)).unwrap();
    assert_eq!(a.view(), ["eggs"]);
    a.edit(|list| list.clear()).unwrap();
    assert!(a.is_empty() && a.iter().next().is_none());
}

#[test]
fn an_index_that_is_none_is_an_error_and_changes_nothing() {
    let mut a = replica::<List<u8>>(1);
    a.edit(|list| list.extend([1, 2])).unwrap();
    let before = a.to_bytes();
    let refused_as = |fault, index| {
        Err(EditError::Index(IndexError {
            fault,
            index,
            len: 2,
            unit: Unit::Elements,
        }))
    };
    let refused = |index| refused_as(IndexFault::OutOfRange, index);
    assert_eq!(a.edit(|list| list.insert(3, 0)), refused(3));
    assert_eq!(a.edit(|list| list.set(2, 0)), refused(2));
    assert_eq!(a.edit(|list| list.remove(2)), refused(2));
    assert_eq!(a.edit(|list| list.remove(usize::MAX)), refused(usize::MAX));
    assert_eq!(a.edit(|list| list.delete(1..3)), refused(3));
    #[expect(clippy::reversed_empty_ranges, reason = "what is refused")]
    let reversed = a.edit(|list| list.delete(2..1));
    assert_eq!(reversed, refused_as(IndexFault::Backwards, 2));
    let late = a.edit(|list| {
        list.push(3)?;
        list.remove(0)?;
        list.set(0, 9)?;
        list.remove(7)
    });
    assert!(late.is_err());
    assert_eq!(a.to_bytes(), before);
    assert_eq!(a.view(), [1, 2]);
    let nothing = a.update(|list| list.delete(1..1)).unwrap().1;
    assert!(nothing.is_empty());
}

#[test]
fn concurrent_insertions_stay_in_one_piece_each() {
    let [mut a, mut b] = pair::<List<u8>>(|list| list.extend([0, 9]));
    a.edit(|list| list.insert(1, 1)).unwrap();
    a.edit(|list| list.insert(2, 2)).unwrap();
    b.edit(|list| list.insert(1, 5)).unwrap();
    b.edit(|list| list.insert(2, 6)).unwrap();
    meet(&mut a, &mut b);
    assert!([[0, 1, 2, 5, 6, 9], [0, 5, 6, 1, 2, 9]].contains(&a.view().try_into().unwrap()));
}

#[test]
fn a_deletion_wins_over_a_concurrent_write() {
    let [mut a, mut b] = pair::<List<u8>>(|list| list.extend([1, 2, 3]));
    a.edit(|list| list.remove(1)).unwrap();
    b.edit(|list| list.set(1, 20)).unwrap();
    meet(&mut a, &mut b);
    assert_eq!(a.view(), [1, 3]);
    assert_eq!(
        a.hidden().map(|(_, value)| *value).collect::<Vec<_>>(),
        [20]
    );
    // What stays hidden is reset by whoever clears and sees it.
    let hidden = a.to_bytes().len();
    b.edit(|list| list.clear()).unwrap();
    a.edit(|list| list.clear()).unwrap();
    meet(&mut a, &mut b);
    assert!(a.is_empty() && a.hidden().next().is_none());
    assert!(a.to_bytes().len() < hidden + 80);
}

#[test]
fn concurrent_writes_of_one_element_are_a_conflict() {
    let [mut a, mut b] = pair::<List<String>>(|list| list.push("x".into()));
    a.edit(|list| list.set(0, "a".into())).unwrap();
    b.edit(|list| list.set(0, "b".into())).unwrap();
    meet(&mut a, &mut b);
    assert_eq!(a.view(), ["b"]);
    assert_eq!(a.conflicts(0).collect::<Vec<_>>(), ["a"]);
    a.edit(|list| list.set(0, "ab".into())).unwrap();
    meet(&mut a, &mut b);
    assert_eq!(b.view(), ["ab"]);
    assert_eq!((b.conflicts(0).count(), b.conflicts(1).count()), (0, 0));
}

#[test]
fn nested_values_are_edited_in_place() {
    let [mut a, mut b] = pair::<List<Text>>(|list| {
        list.push_empty()?.insert(Chars(0), "one")?;
        list.push_empty()?;
        list.insert_empty(0)?.insert(Chars(0), "zero")
    });
    assert_eq!(a.view(), ["zero", "one", ""]);
    assert_eq!(a.get(2).map(Text::to_string), Some(String::new()));
    a.edit(|list| list.edit(1)?.insert(Chars(0), "<")).unwrap();
    b.edit(|list| list.edit(1)?.insert(Chars(3), ">")).unwrap();
    b.edit(|list| list.remove(0)).unwrap();
    a.edit(|list| list.edit(0)?.insert(Chars(4), "!")).unwrap();
    meet(&mut a, &mut b);
    assert_eq!(a.view(), ["<one>", ""]);
    assert!(a.edit(|list| list.edit(2).map(drop)).is_err());
}

#[test]
fn a_list_stands_in_maps_and_lists() {
    type Deep = OrMap<String, List<List<OrMap<u8, PnCounter>>>>;
    let [mut a, mut b] = pair::<Deep>(|map| {
        let mut outer = map.entry("k".into());
        let mut inner = outer.push_empty()?;
        inner.push_empty()?.entry(1).add(5)
    });
    a.edit(|map| map.remove("k").map(drop)).unwrap();
    b.edit(|map| {
        let mut outer = map.entry("k".into());
        let mut inner = outer.edit(0)?;
        inner.edit(0)?.entry(1).add(3)
    })
    .unwrap();
    b.edit(|map| map.entry("k".into()).push_empty().map(drop))
        .unwrap();
    meet(&mut a, &mut b);
    // The removal deletes the elements it has seen; the one pushed concurrently stays.
    assert_eq!(a.get("k").map(|list| list.len()), Some(1));
    assert!(a.get("k").unwrap().get(0).unwrap().is_empty());
}

/// Row 42: one rule for values and for what is nested.
#[test]
fn row_42_a_deletion_in_a_list_wins_over_every_update() {
    let [mut a, mut b] = pair::<List<MvRegister<u8>>>(|list| list.push_empty()?.set(1));
    a.edit(|list| list.remove(0)).unwrap();
    b.edit(|list| list.edit(0)?.set(2)).unwrap();
    meet(&mut a, &mut b);
    assert!(a.is_empty());
    let [mut a, mut b] = pair::<List<OrSet<u8>>>(|list| list.push_empty()?.insert(1).map(drop));
    a.edit(|list| list.edit(0)?.insert(2).map(drop)).unwrap();
    b.edit(|list| list.remove(0)).unwrap();
    meet(&mut a, &mut b);
    assert!(a.is_empty());
}

/// Row 57: one element deleted by two replicas.
#[test]
fn row_57_two_deletions_of_one_element_are_one() {
    let [mut a, mut b] = pair::<List<char>>(|list| list.extend(['a', 'b', 'c']));
    a.edit(|list| list.remove(0)).unwrap();
    b.edit(|list| list.remove(0)).unwrap();
    meet(&mut a, &mut b);
    assert_eq!(a.view(), ['b', 'c']);
}

/// Section 1.5: a deletion that comes before what it deletes.
#[test]
fn measured_a_deletion_may_come_first() {
    let mut a = replica::<List<char>>(1);
    let insert = a.update(|list| list.push('x')).unwrap().1;
    let mut b = replica::<List<char>>(2);
    b.absorb(&insert).unwrap();
    let delete = b.update(|list| list.remove(0)).unwrap().1;
    let (mut c, mut d) = (replica::<List<char>>(3), replica::<List<char>>(4));
    c.absorb(&delete).unwrap();
    c.absorb(&insert).unwrap();
    d.absorb(&insert).unwrap();
    d.absorb(&delete).unwrap();
    assert!(c.is_empty() && d.is_empty());
    assert_eq!(c.to_bytes(), d.to_bytes());
}

/// Section 1.5: appends and insertions into the middle grow with the number of elements only.
#[test]
fn measured_bytes_grow_with_the_number_of_elements() {
    let bytes = |count: usize| {
        let mut a = replica::<List<u64>>(1);
        (0..count).for_each(|at| a.edit(|list| list.insert(at / 2, 7)).unwrap());
        a.to_bytes().len()
    };
    let (small, large) = (bytes(200), bytes(400));
    assert!(large < small * 21 / 10, "{small} {large}");
}

#[cfg(feature = "derive")]
mod derived {
    use super::*;
    use commute::value::Plain;
    use commute::{RwMap, Value};
    use std::collections::BTreeMap;

    #[derive(Replicated)]
    struct Task {
        title: Text,
        steps: List<String>,
        votes: PnCounter,
    }

    #[derive(Replicated)]
    struct Board {
        tasks: List<Task>,
        owners: RwMap<String, Task>,
        extra: Value,
    }

    #[test]
    fn lists_maps_and_values_stand_in_structs_and_structs_in_them() {
        let [mut a, mut b] = pair::<Board>(|board| {
            let mut tasks = board.tasks();
            let mut task = tasks.push_empty()?;
            task.title().insert(Chars(0), "Plan")?;
            task.votes().add(1)?;
            board.extra().map()?.entry("color").set("red")
        });
        a.edit(|board| {
            board.tasks().edit(0)?.steps().push("write".into())?;
            board.owners().entry("Ann".into())?.votes().add(2)
        })
        .unwrap();
        b.edit(|board| {
            board.tasks().edit(0)?.votes().add(4)?;
            board
                .tasks()
                .insert_empty(0)?
                .steps()
                .push("think".into())?;
            board.owners().remove("Ann")?;
            board.extra().map()?.remove("color").map(drop)
        })
        .unwrap();
        meet(&mut a, &mut b);
        let shown: Vec<(String, Vec<String>, i128)> = a
            .view()
            .tasks
            .into_iter()
            .map(|task| (task.title, task.steps, task.votes))
            .collect();
        let expected = [
            (String::new(), vec!["think".to_string()], 0),
            ("Plan".to_string(), vec!["write".to_string()], 5),
        ];
        assert_eq!(shown, expected);
        assert!(a.owners.is_empty() && a.owners.conflicts().count() == 1);
        assert_eq!(a.extra, Plain::Map(BTreeMap::new()));
    }
}

/// What was written within an element while the key above it was removed: the key is gone, and all
/// types under which a list stands tell what it was.
#[test]
fn what_was_written_within_a_list_can_be_read_though_its_key_was_removed() {
    type Edit<S> = fn(&mut <S as Replicated>::Edit<'_>) -> Result<(), EditError>;
    fn apart<S: Replicated>([make, remove, write]: [Edit<S>; 3]) -> Replica<S> {
        let mut a = Replica::<S>::new(ReplicaId::from(1));
        a.edit(make).unwrap();
        let mut b = a.fork_as(ReplicaId::from(2));
        a.edit(remove).unwrap();
        b.edit(write).unwrap();
        a.merge(&b).unwrap();
        a
    }
    let map = apart::<OrMap<u8, List<Text>>>([
        |map| map.entry(1).push_empty()?.push_str("tea"),
        |map| map.remove(&1).map(drop),
        |map| map.entry(1).edit(0)?.push_str("pot"),
    ]);
    assert!(map.is_empty() && map.get(&1).is_none());
    let mut hidden = map.hidden().flat_map(|(_, list)| list.hidden());
    assert_eq!(hidden.next().map(|it| it.1.to_string()), Some("pot".into()));

    let map = apart::<RwMap<u8, List<Text>>>([
        |map| map.entry(1)?.push_empty()?.push_str("tea"),
        |map| map.remove(&1).map(drop),
        |map| map.entry(1)?.edit(0)?.push_str("pot"),
    ]);
    assert!(map.is_empty() && map.conflicts().next().is_none());
    let mut hidden = map.hidden().flat_map(|(_, list)| list.hidden());
    assert_eq!(hidden.next().map(|it| it.1.to_string()), Some("pot".into()));

    let value = apart::<Value>([
        |value| {
            value.list()?.push("tea")?;
            value.list()?.edit(0)?.text()?.push_str("x")
        },
        |value| value.set("none"),
        |value| value.list()?.edit(0)?.set("pot"),
    ]);
    assert_eq!(
        (value.view(), value.conflicts()),
        (Plain::from("none"), vec![])
    );
    assert_eq!(value.hidden(), [Plain::from("pot")]);
}
