//! Every form of struct that can be replicated: tuples, newtypes, parameters, local fields.
#![cfg(feature = "derive")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![warn(missing_docs)]

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::marker::PhantomData;

use commute::codec::{Key, Limits};
use commute::kernel::{EditView, Removable};
use commute::text::Chars;
use commute::{
    Applied, Delta, EditError, GCounter, LwwRegister, OrMap, OrSet, PnCounter, Replica, ReplicaId,
    Replicated, Stamp, State, Text,
};

fn replica<S: Replicated>(id: u128) -> Replica<S> {
    Replica::new(ReplicaId::from(id))
}

/// Both ways around by deltas, states and bytes; then both are equal.
fn settle<S: Replicated>(a: &mut Replica<S>, b: &mut Replica<S>) {
    let limits = Limits::default();
    let answer = a.delta_since(b.version()).to_bytes();
    let answer = Delta::from_bytes(&answer, &limits).unwrap();
    assert_eq!(b.absorb(&answer), Ok(Applied::New));
    let state = State::from_bytes(&b.to_bytes(), &limits).unwrap();
    a.merge(&state).unwrap();
    assert_eq!(a.to_bytes(), b.to_bytes());
}

/// Two fields without names.
#[derive(Debug, Replicated)]
pub struct Pair(
    /// What it is called.
    #[replicated(tag = 7)]
    pub OrSet<String>,
    #[replicated(tag = 3)] GCounter,
);

#[test]
fn fields_without_names_are_known_by_their_tags() {
    #[derive(Debug, Replicated)]
    struct Moved(
        #[replicated(tag = 3)] GCounter,
        #[replicated(tag = 7)] OrSet<String>,
    );
    let (mut a, mut b) = (replica::<Pair>(1), replica::<Pair>(2));
    a.edit(|pair| pair.field_0().insert("x".into())).unwrap();
    b.edit(|pair| pair.field_1().add(2)).unwrap();
    settle(&mut a, &mut b);
    assert_eq!(a.view(), PairView(["x".to_string()].into(), 2));
    assert_eq!(format!("{:?}", a.view()), r#"PairView({"x"}, 2)"#);

    let moved = State::<Moved>::from_bytes(&a.to_bytes(), &Limits::default()).unwrap();
    assert_eq!(moved.view(), MovedView(2, ["x".to_string()].into()));
}

/// A newtype.
#[derive(Debug, Replicated)]
pub struct Title(Text);

impl TitleEdit<'_> {
    /// Puts `words` first.
    fn begin_with(&mut self, words: &str) -> Result<(), EditError> {
        self.field_0().insert(Chars(0), words)
    }
}

#[test]
fn a_newtype_has_one_field_without_a_tag() {
    let (mut a, mut b) = (replica::<Title>(1), replica::<Title>(2));
    a.edit(|title| title.begin_with("b")).unwrap();
    b.edit(|title| title.begin_with("a")).unwrap();
    settle(&mut a, &mut b);
    assert_eq!(a.view().0.len(), 2);

    let mut nested = replica::<OrMap<u8, Title>>(1);
    nested
        .edit(|titles| titles.entry(1).begin_with("c"))
        .unwrap();
    assert_eq!(nested.view()[&1], TitleView("c".into()));
}

/// Parameters with and without bounds, a constant, a `where` clause.
#[derive(Debug, Replicated)]
pub struct Group<T, V: Removable, const N: usize>
where
    T: Key,
    V::View: Debug,
{
    /// Who belongs to it.
    members: OrSet<T>,
    /// What each has.
    held: OrMap<[u8; N], V>,
}

/// A parameter that is replicated itself, and one that has no bound at all.
#[derive(Debug, Replicated)]
struct Both<A: Replicated, T>(#[replicated(tag = 1)] A, #[replicated(tag = 2)] OrSet<T>)
where
    OrSet<T>: Debug;

fn fill(group: &mut GroupEdit<'_, u8, PnCounter, 2>) -> Result<(), EditError> {
    group.members().insert(1)?;
    group.held().entry([1, 2]).add(3)
}

/// Edits whatever the parameters are.
fn join<T: Key, V: Removable<View: Debug>>(
    group: &mut GroupEdit<'_, T, V, 2>,
    who: T,
) -> Result<(), EditError> {
    let mut members: EditView<'_, OrSet<T>> = group.members();
    members.insert(who).map(drop)
}

#[test]
fn parameters_are_as_good_as_types() {
    type Many = Group<u8, PnCounter, 2>;
    let (mut a, mut b) = (replica::<Many>(1), replica::<Many>(2));
    a.edit(fill).unwrap();
    b.edit(|group| join(group, 9)).unwrap();
    settle(&mut a, &mut b);
    let expected = GroupView {
        members: BTreeSet::from([1, 9]),
        held: [([1, 2], 3)].into(),
    };
    assert_eq!(a.view(), expected.clone());
    let shown = "GroupView { members: {1, 9}, held: {[1, 2]: 3} }";
    assert_eq!(format!("{expected:?}"), shown);

    let mut both = replica::<Both<GCounter, u8>>(1);
    both.edit(|both| both.field_0().add(1)).unwrap();
    both.edit(|both| both.field_1().insert(4).map(drop))
        .unwrap();
    assert_eq!(both.view(), BothView(1, [4].into()));
}

#[test]
fn a_struct_with_parameters_is_removable_if_its_fields_are() {
    fn removable<S: Removable>() {}
    removable::<Group<String, Pair, 4>>();
    removable::<Both<Text, u8>>();

    let mut a = replica::<OrMap<u8, Group<u8, PnCounter, 2>>>(1);
    a.edit(|groups| fill(&mut groups.entry(1))).unwrap();
    a.edit(|groups| groups.remove(&1).map(drop)).unwrap();
    assert!(a.is_empty() && a.entries() == 0);
}

/// Something that every replica has for itself.
#[derive(Debug, Default, Clone, PartialEq)]
struct Selection(Vec<u32>);

#[derive(Debug, Replicated)]
struct Page {
    body: Text,
    #[replicated(skip)]
    selection: Selection,
    inner: Inner,
}

#[derive(Debug, Replicated)]
struct Inner {
    /// Counts.
    seen: GCounter,
    #[replicated(skip)]
    cache: Option<u64>,
}

fn edit(page: &mut PageEdit<'_>, at: u32) -> Result<(), EditError> {
    page.selection().0.push(at);
    *page.inner().cache() = Some(u64::from(at));
    page.inner().seen().add(1)
}

#[test]
fn local_fields_are_left_alone_by_merges_and_copies() {
    let (mut a, mut b) = (replica::<Page>(1), replica::<Page>(2));
    a.edit(|page| edit(page, 1)).unwrap();
    b.edit(|page| edit(page, 2)).unwrap();
    let snapshot = a.state().clone();
    a.edit(|page| edit(page, 3)).unwrap();
    assert_eq!(snapshot.selection, Selection(vec![1]));
    settle(&mut a, &mut b);
    assert_eq!(
        (a.selection.0.clone(), a.inner.cache),
        (vec![1, 3], Some(3))
    );
    assert_eq!((b.selection.0.clone(), b.inner.cache), (vec![2], Some(2)));

    // A merge that could take over the other state as a whole.
    let mut c = replica::<Page>(3);
    c.edit(|page| {
        page.selection().0.push(9);
        Ok(())
    })
    .unwrap();
    assert!(c.version().is_empty(), "a local change is no update");
    c.merge(&a).unwrap();
    assert_eq!((c.selection.0.clone(), c.inner.cache), (vec![9], None));
    assert_eq!((c.to_bytes(), c.digest()), (a.to_bytes(), a.digest()));

    let fork = c.fork_as(ReplicaId::from(4));
    assert_eq!(fork.selection, c.selection);
    let read = Replica::<Page>::resume(&a.save(), &Limits::default()).unwrap();
    assert_eq!((read.selection.0.len(), read.inner.cache), (0, None));
    assert_eq!(read, a);
}

#[test]
fn local_fields_below_a_map_live_as_long_as_their_key() {
    #[derive(Debug, Replicated)]
    struct Card {
        title: LwwRegister<String>,
        #[replicated(skip)]
        open: bool,
    }
    let write = |card: &mut CardEdit<'_>| {
        *card.open() = true;
        card.title()
            .set("t".into(), Stamp::from_millis(1))
            .map(drop)
    };
    let mut a = replica::<OrMap<u8, Card>>(1);
    a.edit(|cards| write(&mut cards.entry(1))).unwrap();
    let mut b = a.fork_as(ReplicaId::from(2));
    b.edit(|cards| write(&mut cards.entry(2))).unwrap();
    a.merge(&b).unwrap();
    let open = |key: u8| a.get(&key).map(|card| card.open);
    assert_eq!((open(1), open(2)), (Some(true), Some(false)));
    a.edit(|cards| cards.remove(&1)).unwrap();
    a.edit(|cards| {
        cards
            .entry(1)
            .title()
            .set("u".into(), Stamp::from_millis(2))
            .map(drop)
    })
    .unwrap();
    assert_eq!(a.get(&1).map(|card| card.open), Some(false));
}

/// Local fields may depend on parameters, and have any type that can be copied.
#[derive(Debug, Replicated)]
struct Tagged<T: Key>(OrSet<T>, #[replicated(skip)] PhantomData<fn() -> T>);

#[test]
fn a_view_has_no_local_fields() {
    let mut a = replica::<Tagged<u8>>(1);
    a.edit(|tagged| tagged.field_0().insert(1)).unwrap();
    assert_eq!(a.view(), TaggedView([1].into()));
    assert_eq!(a.1, PhantomData);
}

#[cfg(feature = "serde")]
mod serialized {
    use super::*;

    fn json<T: ::serde::Serialize>(value: &T) -> String {
        serde_json::to_string(value).unwrap()
    }

    #[test]
    fn views_serialize_without_being_asked() {
        let mut a = replica::<Page>(1);
        a.edit(|page| edit(page, 1)).unwrap();
        assert_eq!(json(&a.view()), r#"{"body":"","inner":{"seen":1}}"#);
        let mut pair = replica::<Pair>(1);
        pair.edit(|pair| pair.field_0().insert("x".into())).unwrap();
        assert_eq!(json(&pair.view()), r#"[["x"],0]"#);
        let mut title = replica::<Title>(1);
        title.edit(|title| title.begin_with("t")).unwrap();
        assert_eq!(json(&title.view()), r#""t""#);
        let mut both = replica::<Both<GCounter, u8>>(1);
        both.edit(|both| both.field_0().add(1)).unwrap();
        assert_eq!(json(&both.view()), "[1,[]]");
    }

    #[test]
    fn a_raw_name_is_serialized_without_its_prefix() {
        #[derive(Debug, Replicated)]
        struct Raw {
            r#type: GCounter,
        }
        assert_eq!(json(&replica::<Raw>(1).view()), r#"{"type":0}"#);
    }

    /// A key that serde does not know.
    #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
    struct Opaque(u8);

    impl Key for Opaque {
        fn encode(&self, out: &mut Vec<u8>) {
            Key::encode(&self.0, out);
        }
        fn decode(bytes: &[u8]) -> Option<Opaque> {
            Key::decode(bytes).map(Opaque)
        }
    }

    #[test]
    fn a_view_of_what_cannot_be_serialized_is_still_a_view() {
        #[derive(Debug, Replicated)]
        struct Hidden {
            keys: OrSet<Opaque>,
        }
        let mut a = replica::<Hidden>(1);
        a.edit(|hidden| hidden.keys().insert(Opaque(1))).unwrap();
        assert_eq!(a.view().keys, [Opaque(1)].into());
    }

    #[test]
    fn a_view_may_derive_its_own_form() {
        #[derive(Debug, Replicated)]
        #[replicated(view(derive(Eq, ::serde::Serialize), serde(rename_all = "UPPERCASE")))]
        struct Loud {
            votes: GCounter,
        }
        let view = replica::<Loud>(1).view();
        assert_eq!(json(&view), r#"{"VOTES":0}"#);
        fn eq<T: Eq>(_: &T) {}
        eq(&view);
    }
}
