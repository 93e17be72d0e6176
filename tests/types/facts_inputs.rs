//! Inputs on which published libraries went wrong when run, with the right answers.
#![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

use commute::text::Chars;
use commute::{Applied, Delta, GCounter, MergeError, OrSet, PnCounter, Replica, ReplicaId, Text};

type Set = OrSet<String>;

fn replica<S: commute::Replicated>(id: u128) -> Replica<S> {
    Replica::new(ReplicaId::from(id))
}

fn add(set: &mut Replica<Set>, value: &str) -> Delta<Set> {
    set.update(|set| set.insert(value.into())).unwrap().1
}

fn remove(set: &mut Replica<Set>, value: &str) -> Delta<Set> {
    set.update(|set| set.remove(value)).unwrap().1
}

fn elements(set: &Replica<Set>) -> Vec<&str> {
    set.iter().map(String::as_str).collect()
}

#[test]
fn a_second_addition_before_the_first_keeps_both() {
    let (mut a, mut b) = (replica::<Set>(1), replica::<Set>(2));
    let (x, y) = (add(&mut a, "x"), add(&mut a, "y"));
    assert!(matches!(b.absorb(&y), Ok(Applied::Waiting(_))));
    assert_eq!(b.absorb(&x), Ok(Applied::New));
    assert_eq!(elements(&b), ["x", "y"]);
}

#[test]
fn two_additions_made_from_one_view_are_both_there() {
    let (mut a, mut b) = (replica::<Set>(1), replica::<Set>(2));
    let both = a.update(|set| {
        set.insert("x".into())?;
        set.insert("y".into())
    });
    b.absorb(&both.unwrap().1).unwrap();
    assert_eq!(elements(&b), ["x", "y"]);
}

#[test]
fn one_id_on_two_replicas_is_an_error_and_never_an_empty_set() {
    let (mut a, mut b) = (replica::<Set>(1), replica::<Set>(1));
    let _ = add(&mut a, "x");
    let _ = add(&mut b, "y");
    let reused = Err(MergeError::IdentityReused { replica: a.id() });
    assert_eq!(a.merge(&b), reused);
    assert_eq!(b.merge(&a), reused);
    assert_eq!((elements(&a), elements(&b)), (vec!["x"], vec!["y"]));
}

#[test]
fn an_addition_concurrent_with_add_and_remove_stays() {
    let (mut a, mut b) = (replica::<Set>(1), replica::<Set>(2));
    let (x, gone, again) = (add(&mut a, "x"), remove(&mut a, "x"), add(&mut b, "x"));
    for order in [
        [&x, &gone, &again],
        [&again, &gone, &x],
        [&gone, &again, &x],
    ] {
        let mut c = replica::<Set>(3);
        order
            .into_iter()
            .for_each(|delta| drop(c.absorb(delta).unwrap()));
        assert_eq!(elements(&c), ["x"]);
    }
}

#[test]
fn a_thousand_removals_from_a_stranger_are_bounded() {
    let (mut stranger, mut b) = (replica::<Set>(1), replica::<Set>(2));
    let _ = add(&mut stranger, "first");
    b.set_waiting_limits(commute::replica::WaitingLimits::new(100, 10_000));
    for n in 0..1_000 {
        let value = n.to_string();
        let _ = add(&mut stranger, &value);
        assert!(matches!(
            b.absorb(&remove(&mut stranger, &value)),
            Ok(Applied::Waiting(_))
        ));
    }
    assert_eq!(b.waiting(), 100);
    b.absorb(&stranger.delta_since(b.version())).unwrap();
    assert_eq!((elements(&b), b.waiting()), (vec!["first"], 0));
}

#[test]
fn a_later_increment_before_an_earlier_one_counts_both() {
    let (mut a, mut b) = (replica::<GCounter>(1), replica::<GCounter>(2));
    let one = a.update(|n| n.add(1)).unwrap().1;
    let ten = a.update(|n| n.add(10)).unwrap().1;
    assert!(matches!(b.absorb(&ten), Ok(Applied::Waiting(_))));
    assert_eq!(b.value(), 0);
    b.absorb(&one).unwrap();
    assert_eq!(b.value(), 11);
}

#[test]
fn a_counter_at_its_limit_reports_it_and_stays() {
    let mut a = replica::<PnCounter>(1);
    a.edit(|n| n.subtract(u64::MAX)).unwrap();
    let before = a.to_bytes();
    assert_eq!(
        a.edit(|n| n.subtract(1)),
        Err(commute::EditError::CounterOverflow)
    );
    assert_eq!((a.to_bytes(), a.value()), (before, -i128::from(u64::MAX)));
    let mut b = replica::<PnCounter>(2);
    b.edit(|n| n.subtract(u64::MAX)).unwrap();
    a.merge(&b).unwrap();
    assert_eq!(a.value(), -2 * i128::from(u64::MAX));
}

#[test]
fn text_that_comes_out_of_order_is_complete() {
    let (mut a, mut b) = (replica::<Text>(1), replica::<Text>(2));
    let first = a.update(|text| text.insert(Chars(0), "a")).unwrap().1;
    let second = a.update(|text| text.insert(Chars(1), "b")).unwrap().1;
    assert!(matches!(b.absorb(&second), Ok(Applied::Waiting(_))));
    b.absorb(&first).unwrap();
    assert_eq!(b.to_string(), "ab");
}

#[test]
fn words_typed_concurrently_do_not_interleave() {
    let (mut a, mut b) = (replica::<Text>(1), replica::<Text>(2));
    for (author, word) in [(&mut a, "hello"), (&mut b, "WORLD")] {
        for (at, letter) in word.chars().enumerate() {
            author
                .edit(|text| text.insert(Chars(at), &letter.to_string()))
                .unwrap();
        }
    }
    a.merge(&b).unwrap();
    assert_eq!(a.to_string(), "WORLDhello");
}

/// Row 11: a local edit shows once, and its delta coming back changes nothing.
#[test]
fn row_11_own_edits_show_once_and_come_back_as_duplicates() {
    let mut set = replica::<Set>(1);
    let delta = add(&mut set, "x");
    assert_eq!((set.len(), set.absorb(&delta)), (1, Ok(Applied::Duplicate)));
    let mut n = replica::<PnCounter>(1);
    let delta = n.update(|n| n.add(5)).unwrap().1;
    assert_eq!((n.absorb(&delta), n.value()), (Ok(Applied::Duplicate), 5));
    let mut n = replica::<GCounter>(1);
    let delta = n.update(|n| n.add(5)).unwrap().1;
    assert_eq!((n.absorb(&delta), n.value()), (Ok(Applied::Duplicate), 5));
    let mut text = replica::<Text>(1);
    let delta = text.update(|text| text.insert(Chars(0), "x")).unwrap().1;
    assert_eq!(
        (text.absorb(&delta), text.to_string()),
        (Ok(Applied::Duplicate), "x".into())
    );
}
