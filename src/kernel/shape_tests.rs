//! What every shape must do, asked of each through [`Replicated`] and [`Part`] alone.

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Debug;

use super::{DotFun, DotMap, DotSet, Latest, MergeError, Part, Place, Replicated, Update};
use crate::clock::{Dot, Dots, EntryId, Names, ReplicaId, Version};
use crate::codec::{Decoder, Encoder, Limits};

fn id(number: u128) -> ReplicaId {
    ReplicaId::from(number)
}

/// A kind of shape and what may be done to it.
struct Case<S> {
    /// Makes one entry; a second call makes another one in the place of the first.
    edit: fn(&mut S, &mut Update),
    /// Makes an entry elsewhere, so that more than one is live.
    beside: fn(&mut S, &mut Update),
    /// As `edit`, with another payload; `None` where there are no payloads.
    otherwise: Option<fn(&mut S, &mut Update)>,
    /// Whether a later entry of a replica replaces the older one without a kill.
    replaces: bool,
}

/// A value, what its updates made, and their version.
struct Made<S: Replicated> {
    value: S,
    parts: Vec<S::Part>,
    killed: Vec<Names>,
    version: Version,
}

impl<S: Replicated> Made<S> {
    fn new() -> Made<S> {
        Made {
            value: S::empty(Place::Removable),
            parts: Vec::new(),
            killed: Vec::new(),
            version: Version::default(),
        }
    }

    fn by(mut self, replica: u128, edit: fn(&mut S, &mut Update)) -> Made<S> {
        let dot = Dot::new(id(replica), self.version.get(id(replica)) + 1);
        let mut update = Update::new(dot);
        edit(&mut self.value, &mut update);
        self.parts.push(self.value.publish(&update));
        self.killed.push(update.into_killed());
        let news = [(dot.replica, dot.counter)];
        self.version.join(&news.into_iter().collect());
        self
    }

    fn names(&self) -> Names {
        let mut names = Names::new();
        self.value.names(&Dots::from(&self.version), &mut names);
        names
    }
}

fn bytes_of<S: Replicated>(value: &S, version: &Version) -> Vec<u8> {
    let mut encoder = Encoder::new(version.iter().map(|(id, _)| id).collect());
    encoder.table();
    encoder.version(version);
    value.encode(&mut encoder, Place::Removable);
    encoder.into_bytes()
}

fn read<S: Replicated>(bytes: &[u8]) -> S {
    let mut decoder = Decoder::new(bytes, &Limits::default());
    decoder.table().unwrap();
    decoder.version().unwrap();
    let value = S::decode(&mut decoder, Place::Removable).unwrap();
    decoder.finish().unwrap();
    value
}

fn read_part<P: Part>(part: &P) -> P {
    let mut encoder = Encoder::new((1..=3).map(id).collect());
    encoder.table();
    part.encode(&mut encoder, Place::Removable);
    let bytes = encoder.into_bytes();
    let mut decoder = Decoder::new(&bytes, &Limits::default());
    decoder.table().unwrap();
    let read = P::decode(&mut decoder, Place::Removable).unwrap();
    decoder.finish().unwrap();
    read
}

fn names_of<P: Part>(part: &P) -> Names {
    let mut names = Names::new();
    part.names(&mut names);
    names
}

fn entry(replica: u128, counter: u64, index: u32) -> EntryId {
    EntryId::new(Dot::new(id(replica), counter), index)
}

impl<S: Replicated + Clone> Case<S>
where
    S::View: PartialEq + Debug,
{
    fn check(&self) {
        self.nothing_is_there_at_first();
        self.one_entry_is_there();
        self.parts_are_fragments();
        self.what_is_unpublished_is_undone();
        self.both_routes_of_the_join_agree();
        self.another_payload_is_another_identity();
    }

    fn nothing_is_there_at_first(&self) {
        let none = Made::<S>::new();
        assert!(none.value.is_bottom() && !none.value.visible());
        assert_eq!(none.value.entries(), 0);
        assert!(none.names().is_empty());
        let part = none.value.part(&Dots::from(&none.version));
        assert!(part.is_empty() && part == S::Part::default());
        assert_eq!(part.entries(), 0);
    }

    fn one_entry_is_there(&self) {
        let none = Version::default();
        let one = Made::<S>::new().by(1, self.edit);
        let expected = Names::from(entry(1, 1, 1));
        assert!(one.value.visible() && !one.value.is_bottom());
        assert_eq!(one.value.entries(), 1);
        assert_eq!(one.names(), expected);
        assert_eq!(one.value.part(&Dots::from(&one.version)), one.parts[0]);
        let other = Dots::from(Dot::new(id(2), 1));
        assert!(one.value.part(&other).is_empty());
        let part = &one.parts[0];
        assert_eq!((part.entries(), names_of(part)), (1, expected.clone()));
        assert!(!part.is_empty());
        assert_eq!(one.value.check(part, &one.version), Ok(1));
        assert_eq!(S::empty(Place::Removable).check(part, &none), Ok(0));
        assert_eq!(one.value.check_kill(&expected), Ok(()));
        assert_eq!(
            one.value.check_join(&one.version, &one.value, &one.version),
            Ok(1)
        );
        let mut killed = one.value.clone();
        killed.kill(&Names::from(entry(2, 1, 1)));
        assert_eq!(killed.entries(), 1, "another entry was killed");
        killed.kill(&expected);
        assert!(killed.is_bottom() && killed.entries() == 0 && !killed.visible());
        let bytes = bytes_of(&one.value, &one.version);
        assert_eq!(bytes_of(&read::<S>(&bytes), &one.version), bytes);
        assert_eq!(read::<S>(&bytes).view(), one.value.view());
        // What was read knows its entries, too.
        let mut read = read::<S>(&bytes);
        read.kill(&expected);
        assert!(read.is_bottom());
    }

    fn parts_are_fragments(&self) {
        let two = Made::<S>::new().by(1, self.edit).by(2, self.beside);
        let all = two.value.part(&Dots::from(&two.version));
        let [first, second] = &two.parts[..] else {
            panic!("two parts")
        };
        assert_eq!(read_part(&all), all);
        assert_eq!(all.entries(), two.value.entries());
        let mut replicas = BTreeSet::new();
        all.replicas(&mut replicas);
        assert_eq!(replicas, [id(1), id(2)].into());
        let mut joined = first.clone();
        joined.union(second.clone()).unwrap();
        joined.union(first.clone()).unwrap();
        assert_eq!(joined, all);
        let mut less = all.clone();
        less.restrict(&Dots::from(Dot::new(id(1), 1)));
        assert_eq!(less, *first);
        let mut left = all.clone();
        left.remove(&names_of(first));
        assert_eq!(left, if self.replaces { all } else { second.clone() });
        let content = |part: &S::Part| {
            let mut out = Vec::new();
            part.content(&mut out);
            out
        };
        assert!(!content(first).is_empty());
    }

    fn what_is_unpublished_is_undone(&self) {
        let made = Made::<S>::new().by(1, self.edit).by(2, self.beside);
        let before = bytes_of(&made.value, &made.version);
        let mut value = made.value;
        let mut update = Update::new(Dot::new(id(1), 2));
        (self.edit)(&mut value, &mut update);
        (self.beside)(&mut value, &mut update);
        (self.edit)(&mut value, &mut update);
        value.rollback();
        assert_eq!(bytes_of(&value, &made.version), before);
        value.rollback();
        assert_eq!(bytes_of(&value, &made.version), before);
        // The index goes back, too.
        let mut names = Names::new();
        value.names(&Dots::from(&made.version), &mut names);
        assert_eq!(names.len(), value.entries());
        let mut empty = S::empty(Place::Removable);
        (self.edit)(&mut empty, &mut Update::new(Dot::new(id(1), 1)));
        empty.rollback();
        assert!(empty.is_bottom() && !empty.visible());
    }

    /// A has one entry, which B has seen and replaced; C made one beside it.
    fn both_routes_of_the_join_agree(&self) {
        let a = Made::<S>::new().by(1, self.edit);
        let b = Made::<S>::new().by(1, self.edit).by(1, self.edit);
        let c = Made::<S>::new().by(3, self.beside);
        for (mine, theirs) in [(&a, &b), (&b, &a), (&a, &c), (&c, &b), (&b, &b)] {
            let mut whole = mine.value.clone();
            let common = whole.check_join(&mine.version, &theirs.value, &theirs.version);
            let mut both = theirs.names().intersection(&mine.names());
            assert_eq!(common, Ok(both.len()));
            whole.join(&mine.version, &theirs.value, &theirs.version);
            let mut version = mine.version.clone();
            version.join(&theirs.version);
            let mut pieces = mine.value.clone();
            let new = theirs.version.difference(&mine.version);
            let part = theirs.value.part(&Dots::from(&theirs.version));
            pieces.check(&part, &mine.version).unwrap();
            // Dead is what they have seen and do not have.
            both = mine.names().difference(&theirs.names());
            both = both.restrict(&Dots::from(&theirs.version));
            pieces.kill(&both);
            pieces.adopt(part, &mine.version);
            let bytes = bytes_of(&whole, &version);
            assert_eq!(bytes_of(&pieces, &version), bytes);
            let mut names = Names::new();
            whole.names(&Dots::from(&version), &mut names);
            assert_eq!(names.len(), whole.entries());
            assert!(new.is_empty() || whole.entries() > 0);
        }
        // What is known already is not adopted: it is dead.
        let mut none = S::empty(Place::Removable);
        none.adopt(a.parts[0].clone(), &a.version);
        assert!(none.is_bottom());
        // A kill list is needed but where the newer entry replaces the older one.
        assert_eq!(b.killed[1].is_empty(), self.replaces);
        assert_eq!(b.value.entries(), 1);
        assert_eq!(b.names(), Names::from(entry(1, 2, 1)));
        let mut dead = S::empty(Place::Removable);
        dead.join(&b.version, &a.value, &a.version);
        assert!(dead.is_bottom());
    }

    fn another_payload_is_another_identity(&self) {
        let Some(otherwise) = self.otherwise else {
            return;
        };
        let a = Made::<S>::new().by(1, self.edit);
        let b = Made::<S>::new().by(1, otherwise);
        let twice = Err(MergeError::IdentityReused { replica: id(1) });
        assert_eq!(a.value.check(&b.parts[0], &a.version), twice);
        assert_eq!(a.value.check_join(&a.version, &b.value, &b.version), twice);
        let mut part = a.parts[0].clone();
        assert_eq!(part.union(b.parts[0].clone()), twice.map(drop));
        let content = |part: &S::Part| {
            let mut out = Vec::new();
            part.content(&mut out);
            out
        };
        assert_ne!(content(&a.parts[0]), content(&b.parts[0]));
        assert_ne!(a.parts[0], b.parts[0]);
        assert_ne!(a.value.view(), b.value.view());
    }
}

#[test]
fn sets_of_entries() {
    let add = |set: &mut DotSet, update: &mut Update| {
        set.add(update).unwrap();
    };
    // Without `clear`, as a concurrent addition stands beside.
    let beside = |set: &mut DotSet, update: &mut Update| {
        let mut other = DotSet::empty(Place::Removable);
        other.add(update).unwrap();
        let part = other.publish(update);
        set.adopt(part, &Version::default());
    };
    let case = Case {
        edit: add,
        beside,
        otherwise: None,
        replaces: false,
    };
    case.nothing_is_there_at_first();
    case.one_entry_is_there();
    case.parts_are_fragments();
    case.both_routes_of_the_join_agree();
    let undone = Case {
        beside: add,
        ..case
    };
    undone.what_is_unpublished_is_undone();
}

#[test]
fn entries_with_payloads() {
    fn set(shape: &mut DotFun<u64>, update: &mut Update, value: u64) {
        shape.kill_if(update, |_, held| *held != 5);
        shape.add(value, update).unwrap();
    }
    Case::<DotFun<u64>> {
        edit: |shape, update| set(shape, update, 1),
        beside: |shape, update| {
            shape.add(5, update).unwrap();
        },
        otherwise: Some(|shape, update| set(shape, update, 2)),
        replaces: false,
    }
    .check();
}

#[test]
fn newest_rows() {
    Case::<Latest<u64>> {
        edit: |rows, update| rows.set(1, update).unwrap(),
        beside: |rows, update| rows.set(5, update).unwrap(),
        otherwise: Some(|rows, update| rows.set(2, update).unwrap()),
        replaces: true,
    }
    .check();
}

type Map = DotMap<String, DotFun<u64>>;

fn set(map: &mut Map, key: &str, value: u64, update: &mut Update) {
    let child = map.child(key.into());
    child.kill_if(update, |_, _| true);
    child.add(value, update).unwrap();
}

#[test]
fn keys_with_a_shape_each() {
    Case::<Map> {
        edit: |map, update| set(map, "a", 1, update),
        beside: |map, update| set(map, "b", 5, update),
        otherwise: Some(|map, update| set(map, "a", 2, update)),
        replaces: false,
    }
    .check();
}

#[test]
fn one_map_in_another() {
    type Outer = DotMap<u8, Map>;
    Case::<Outer> {
        edit: |map, update| set(map.child(7), "a", 1, update),
        beside: |map, update| set(map.child(7), "b", 5, update),
        otherwise: Some(|map, update| set(map.child(7), "a", 2, update)),
        replaces: false,
    }
    .check();
}

#[test]
fn a_key_is_there_as_long_as_its_value_is() {
    let two = Made::<Map>::new()
        .by(1, |map, update| set(map, "a", 1, update))
        .by(1, |map, update| set(map, "b", 2, update));
    let mut map = two.value;
    assert_eq!((map.len(), map.is_empty()), (2, false));
    let mut update = Update::new(Dot::new(id(1), 3));
    assert_eq!(map.remove("c", &mut update), Ok(false));
    assert_eq!(map.remove("a", &mut update), Ok(true));
    assert_eq!(map.remove("a", &mut update), Ok(false));
    assert_eq!((map.len(), map.is_empty()), (1, false));
    assert!(map.get("a").is_none() && map.get("b").is_some());
    assert_eq!(
        map.iter().map(|(key, _)| key.as_str()).collect::<Vec<_>>(),
        ["b"]
    );
    super::Removable::reset(&mut map, &mut update).unwrap();
    assert_eq!((map.len(), map.is_empty(), map.visible()), (0, true, false));
    map.rollback();
    assert_eq!((map.len(), map.entries()), (2, 2));
    let mut update = Update::new(Dot::new(id(1), 3));
    super::Removable::reset(&mut map, &mut update).unwrap();
    let part = map.publish(&update);
    assert!(part.is_empty() && map.is_bottom() && map.entries() == 0);
    assert_eq!(update.into_killed().len(), 2);
}
