//! Structs of replicated values: one version, one atomic update across the fields.
#![cfg(feature = "derive")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]
#![warn(missing_docs)]

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use commute::codec::{DecodeErrorKind, Limits};
use commute::kernel::{DotMap, Removable, ShapeKind};
use commute::{
    Applied, Delta, EditError, GCounter, OrSet, PnCounter, Replica, ReplicaId, Replicated, State,
};

/// Who takes part, and how often.
#[derive(Debug, Replicated)]
pub struct Votes {
    /// Their names.
    pub voters: OrSet<String>,
    /// How many votes.
    pub cast: GCounter,
}

/// The least struct there is.
#[derive(Debug, Replicated)]
pub struct Counted {
    /// The only field.
    pub only: GCounter,
}

#[test]
fn one_field_is_enough() {
    let (mut a, mut b) = (replica::<Counted>(1), replica::<Counted>(2));
    a.edit(|counted| counted.only().add(1)).unwrap();
    b.edit(|counted| counted.only().add(2)).unwrap();
    let _ = a.merge(&b).unwrap();
    assert_eq!(a.view(), CountedView { only: 3 });
}

/// A board with a part of every kind.
#[derive(Debug, Replicated)]
pub struct Board {
    tags: OrSet<String>,
    score: PnCounter,
    votes: Votes,
}

fn replica<S: Replicated>(id: u128) -> Replica<S> {
    Replica::new(ReplicaId::from(id))
}

fn set<const N: usize>(words: [&str; N]) -> BTreeSet<String> {
    words.into_iter().map(String::from).collect()
}

fn kind_of<T: std::fmt::Debug>(result: Result<T, commute::codec::DecodeError>) -> DecodeErrorKind {
    result.unwrap_err().kind
}

fn fill(board: &mut BoardEdit<'_>) -> Result<(), EditError> {
    board.tags().insert("new".into())?;
    board.score().subtract(2)?;
    board.votes().voters().insert("ann".into())?;
    board.votes().cast().add(3)
}

#[test]
fn one_update_changes_many_fields_at_once() {
    let (mut a, mut b) = (replica::<Board>(1), replica::<Board>(2));
    let ((), delta) = a.update(fill).unwrap();
    assert_eq!(delta.claims().len(), 1);
    let (_, later) = a.update(|board| board.tags().remove("new")).unwrap();

    assert!(matches!(b.absorb(&later), Ok(Applied::Waiting(_))));
    assert_eq!(b.view(), replica::<Board>(3).view());
    assert_eq!(b.absorb(&delta), Ok(Applied::New));
    assert_eq!(b.to_bytes(), a.to_bytes());
    assert_eq!(
        b.view(),
        BoardView {
            tags: set([]),
            score: -2,
            votes: VotesView {
                voters: set(["ann"]),
                cast: 3
            },
        }
    );
}

#[test]
fn concurrent_edits_of_different_fields_both_count_by_every_route() {
    let mut a = replica::<Board>(1);
    a.edit(fill).unwrap();
    let mut b = a.fork_as(ReplicaId::from(2));
    let (_, from_a) = a.update(|board| board.tags().remove("new")).unwrap();
    let (_, from_b) = b
        .update(|board| {
            board.tags().insert("new".into())?;
            board.votes().cast().add(1)
        })
        .unwrap();
    let mut whole = a.fork_as(ReplicaId::from(3));
    let _ = whole.merge(&b).unwrap();
    let mut group = from_a.clone();
    group.merge(&from_b).unwrap();
    let mut c = replica::<Board>(4);
    let _ = c.absorb(&a.delta_since(c.version())).unwrap();
    let _ = c.absorb(&group).unwrap();
    let _ = a.absorb(&from_b).unwrap();
    let _ = b.absorb(&from_a).unwrap();
    for other in [&b, &whole, &c] {
        assert_eq!(a.to_bytes(), other.to_bytes());
    }
    assert!(a.tags.contains("new"), "add wins");
    assert_eq!(a.votes.cast.value(), 4);
}

#[test]
fn an_update_reads_its_own_writes() {
    let mut a = replica::<Board>(1);
    a.edit(|board| {
        fill(board)?;
        assert!(board.tags.contains("new"));
        assert_eq!(board.votes().cast.value(), 3);
        let mut votes = board.votes();
        votes.cast().add(1)?;
        assert_eq!(votes.cast.value(), 4);
        Ok(())
    })
    .unwrap();
}

#[test]
fn a_failed_update_changes_no_field() {
    let mut a = replica::<Board>(1);
    a.edit(fill).unwrap();
    let before = a.save();
    let failed: Result<(), _> = a.edit(|board| {
        board.tags().clear()?;
        board.votes().voters().insert("bob".into())?;
        board.votes().cast().add(u64::MAX)
    });
    assert_eq!(failed, Err(EditError::CounterOverflow));
    assert_eq!(a.save(), before);

    let panicked = catch_unwind(AssertUnwindSafe(|| {
        a.edit(|board| -> Result<(), EditError> {
            board.score().add(9)?;
            board.votes().voters().clear()?;
            panic!("in the middle of an update")
        })
    }));
    assert!(panicked.is_err());
    assert_eq!(a.save(), before);
    let ((), delta) = a.update(|board| board.score().add(1)).unwrap();
    assert_eq!(delta.claims().len(), 1);
}

#[test]
fn an_update_without_effect_mints_no_dot() {
    let mut a = replica::<Board>(1);
    let (_, delta) = a.update(|board| board.tags().remove("absent")).unwrap();
    assert!(delta.is_empty() && a.version().is_empty());
}

#[test]
fn bytes_round_trip() {
    let mut a = replica::<Board>(1);
    let ((), delta) = a.update(fill).unwrap();
    let limits = Limits::default();
    assert_eq!(Delta::from_bytes(&delta.to_bytes(), &limits), Ok(delta));
    assert_eq!(
        State::<Board>::from_bytes(&a.to_bytes(), &limits).as_ref(),
        Ok(a.state())
    );
    let empty = State::<Board>::new();
    assert_eq!(State::from_bytes(&empty.to_bytes(), &limits), Ok(empty));
    assert_eq!(Board::kind(commute::kernel::Place::Kept), ShapeKind::Struct);
}

mod reordered {
    use super::*;

    #[derive(Debug, Replicated)]
    pub(super) struct Board {
        votes: super::Votes,
        tags: OrSet<String>,
        score: PnCounter,
    }

    #[test]
    fn the_order_of_fields_in_the_source_is_free() {
        let (mut a, mut b) = (replica::<super::Board>(1), replica::<Board>(1));
        let ((), x) = a.update(fill).unwrap();
        let ((), y) = b
            .update(|board| {
                board.tags().insert("new".into())?;
                board.score().subtract(2)?;
                board.votes().voters().insert("ann".into())?;
                board.votes().cast().add(3)
            })
            .unwrap();
        assert_eq!(x.to_bytes(), y.to_bytes());
        assert_eq!(a.to_bytes(), b.to_bytes());
    }
}

mod grown {
    use super::*;

    /// A later version: one field renamed, one new.
    #[derive(Debug, Replicated)]
    pub(super) struct Votes {
        // The hash of `voters`.
        #[replicated(tag = 0x0278_d723)]
        people: OrSet<String>,
        cast: GCounter,
        pub(super) blank: GCounter,
    }

    #[test]
    fn a_tag_outlives_a_name_and_an_unknown_field_is_kept() {
        let (mut old, mut new) = (replica::<super::Votes>(1), replica::<Votes>(2));
        old.edit(|votes| votes.voters().insert("ann".into()))
            .unwrap();
        let limits = Limits::default();
        let answer = old.delta_since(new.version()).to_bytes();
        let answer = Delta::from_bytes(&answer, &limits).unwrap();
        assert_eq!(new.absorb(&answer), Ok(Applied::New));
        assert!(new.people.contains("ann"), "the tag outlives the name");
        assert_eq!(
            new.to_bytes(),
            old.to_bytes(),
            "an empty field leaves no trace"
        );

        let (_, delta) = new
            .update(|votes| {
                votes.people().insert("bob".into())?;
                votes.blank().add(1)
            })
            .unwrap();
        let read = Delta::<super::Votes>::from_bytes(&delta.to_bytes(), &limits).unwrap();
        assert_eq!(old.absorb(&read), Ok(Applied::New));
        assert_eq!(old.to_bytes(), new.to_bytes());
        let back = State::<Votes>::from_bytes(&old.to_bytes(), &limits).unwrap();
        assert_eq!(back.view(), new.view());
    }
}

mod reshaped {
    use super::*;

    #[derive(Debug, Replicated)]
    pub(super) struct Votes {
        voters: GCounter,
        cast: GCounter,
    }

    #[test]
    fn a_field_of_another_shape_is_refused() {
        let mut a = replica::<super::Votes>(1);
        let (_, delta) = a
            .update(|votes| votes.voters().insert("ann".into()))
            .unwrap();
        let mismatch = DecodeErrorKind::ShapeMismatch {
            expected: ShapeKind::Latest as u8,
            found: ShapeKind::DotMap as u8,
        };
        let limits = Limits::default();
        assert_eq!(
            kind_of(Delta::<Votes>::from_bytes(&delta.to_bytes(), &limits)),
            mismatch
        );
        assert_eq!(
            kind_of(State::<Votes>::from_bytes(&a.to_bytes(), &limits)),
            mismatch
        );
    }
}

/// A struct of which every field can be removed can itself be removed.
#[derive(Debug, Replicated)]
struct Labels {
    #[replicated(tag = 1)]
    red: OrSet<u8>,
    #[replicated(tag = 2)]
    r#type: OrSet<u8>,
}

#[test]
fn a_struct_of_removable_fields_is_removable() {
    fn removable<S: Removable>() {}
    removable::<Labels>();
    removable::<DotMap<String, Labels>>();

    let mut a = replica::<Labels>(1);
    a.edit(|labels| labels.red().insert(1)).unwrap();
    a.edit(|labels| labels.r#type().insert(2)).unwrap();
    let mut b = a.fork_as(ReplicaId::from(2));
    a.edit(|labels| labels.state.reset(labels.update)).unwrap();
    b.edit(|labels| labels.red().insert(3)).unwrap();
    let _ = a.merge(&b).unwrap();
    assert!(a.red.iter().eq(&[3]) && a.r#type.is_empty());
}

#[test]
fn the_bytes_of_a_field_are_pinned() {
    let mut a = replica::<Labels>(1);
    a.edit(|labels| labels.r#type().insert(7)).unwrap();
    let bytes = a.to_bytes();
    // Section 4, 11 bytes: a struct of 1 field; tag 2, 7 bytes: a map of sets, 1 key of 1 byte,
    // a single entry.
    let section = [4, 11, 5, 1, 2, 7, 4, 1, 1, 1, 7, 0, 1];
    let found = bytes.windows(section.len()).any(|window| window == section);
    assert!(found, "{bytes:?}");
}

#[test]
fn compile_errors_are_clear() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/*.rs");
}

/// A struct under a key, and what of it a removal takes back.
#[derive(Debug, Replicated)]
struct Card {
    title: commute::LwwRegister<String>,
    votes: PnCounter,
    labels: OrSet<String>,
}

#[test]
fn a_struct_under_a_key_is_reset_as_far_as_it_was_seen() {
    let mut a = Replica::<commute::OrMap<String, Card>>::new(ReplicaId::from(1));
    a.edit(|cards| {
        let mut card = cards.entry("c".into());
        card.title()
            .set("one".into(), commute::Stamp::from_millis(1))?;
        card.votes().add(2)?;
        card.labels().insert("red".into()).map(drop)
    })
    .unwrap();
    let mut b = a.fork_as(ReplicaId::from(2));
    a.edit(|cards| cards.remove("c").map(drop)).unwrap();
    assert!(a.is_empty());
    b.edit(|cards| cards.entry("c".into()).votes().add(3))
        .unwrap();
    a.merge(&b).unwrap();
    b.merge(&a).unwrap();
    let expected = CardView {
        title: None,
        votes: 3,
        labels: [].into(),
    };
    assert_eq!(a.get("c").map(Replicated::view), Some(expected));
    assert_eq!(a.to_bytes(), b.to_bytes());
}
