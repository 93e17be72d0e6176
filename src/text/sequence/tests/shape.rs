//! How many runs, and how many steps: nothing explodes, nothing is quadratic.

use super::{Random, entry, replica, text_of};
use crate::clock::EntryId;
use crate::text::sequence::{Part, Sequence};
use crate::text::units::Chars;

/// Types one character per update of `author`.
fn typed(sequence: &mut Sequence, author: u128, counters: core::ops::RangeInclusive<u64>) {
    for counter in counters {
        let at = sequence.len();
        sequence.insert(at, "x", entry(author, counter, 0)).unwrap();
    }
}

fn shape(sequence: &Sequence) -> (usize, usize) {
    sequence.tree.assert_sound();
    assert!(sequence.run_count() >= sequence.runs().count());
    (sequence.run_count(), sequence.record_run_count())
}

#[test]
fn typing_and_pasting_are_one_run_each() {
    let mut sequence = Sequence::new();
    typed(&mut sequence, 1, 1..=10_000);
    assert_eq!(shape(&sequence), (1, 0));
    let paste = "p".repeat(5_000);
    sequence
        .insert(Chars(500), &paste, entry(1, 10_001, 0))
        .unwrap();
    assert_eq!(shape(&sequence), (3, 0));
    for counter in 0..1_000 {
        let at = Chars(5_500 + counter as usize);
        sequence
            .insert(at, "y", entry(1, 10_002 + counter, 0))
            .unwrap();
    }
    assert_eq!(shape(&sequence), (4, 0));
}

#[test]
fn a_jump_of_the_counter_costs_a_run_and_no_more() {
    let mut sequence = Sequence::new();
    for burst in 0..100 {
        typed(&mut sequence, 1, burst * 1_000 + 1..=burst * 1_000 + 50);
    }
    assert_eq!(shape(&sequence), (100, 0));
}

#[test]
fn backspacing_and_the_delete_key_are_one_run_of_records() {
    let mut sequence = Sequence::new();
    typed(&mut sequence, 1, 1..=3_000);
    for counter in 3_001..=4_000 {
        let end = sequence.len().0;
        sequence
            .delete(Chars(end - 1), Chars(end), entry(1, counter, 0))
            .unwrap();
    }
    assert_eq!(shape(&sequence), (2, 1));
    for counter in 5_001..=6_000 {
        sequence
            .delete(Chars(500), Chars(501), entry(1, counter, 0))
            .unwrap();
    }
    assert_eq!(shape(&sequence), (4, 2));
    sequence
        .delete(Chars(0), Chars(1_000), entry(1, 7_000, 0))
        .unwrap();
    assert_eq!(shape(&sequence), (1, 4));
    assert!(sequence.is_empty());
}

#[test]
fn two_who_type_in_turn_make_a_run_a_turn() {
    let (mut a, mut b) = (Sequence::new(), Sequence::new());
    a.insert(Chars(0), "<>", entry(1, 1, 0)).unwrap();
    pass(&a, &mut b, 1, 1);
    let (mut from_a, mut from_b) = (2, 1);
    for turn in 0..100 {
        for i in 0..10 {
            let at = Chars(1 + turn * 10 + i);
            a.insert(at, "a", entry(1, from_a + i as u64, 0)).unwrap();
        }
        pass(&a, &mut b, 1, from_a);
        for i in 0..10 {
            let end = b.len();
            b.insert(end, "b", entry(2, from_b + i, 0)).unwrap();
        }
        pass(&b, &mut a, 2, from_b);
        (from_a, from_b) = (from_a + 10, from_b + 10);
    }
    assert_eq!(
        text_of(&a),
        format!("<{}>{}", "a".repeat(1_000), "b".repeat(1_000))
    );
    assert_eq!(text_of(&a), text_of(&b));
    assert!(shape(&a).0 <= 203, "{:?}", shape(&a));
    assert!(shape(&b).0 <= 203, "{:?}", shape(&b));
}

fn pass(from: &Sequence, to: &mut Sequence, author: u128, since: u64) {
    let mut part = Part::default();
    from.part(replica(author), since, u64::MAX, &mut part);
    to.absorb(&part).unwrap();
}

#[test]
fn emptied_documents_give_their_nodes_back() {
    let mut sequence = Sequence::new();
    let mut random = Random(3);
    typed(&mut sequence, 1, 1..=4_000);
    for counter in 4_001..=8_000 {
        let at = random.below(sequence.len().0);
        sequence
            .delete(Chars(at), Chars(at + 1), entry(1, counter, 0))
            .unwrap();
    }
    // Neighbours are joined within a leaf; across leaves only when the leaves are.
    assert!(shape(&sequence).0 <= 20, "{:?}", shape(&sequence));
    assert_eq!(sequence.runs().count(), 1);
}

/// Steps an operation, for `n` operations.
fn steps(sequence: &Sequence, n: u64) -> u64 {
    sequence.tree.steps.take() / n
}

/// Edits at a place, `n` times, then takes the result to another replica and back out again.
fn cost(n: u64, place: impl Fn(&mut Random, usize) -> usize) -> [u64; 4] {
    let mut random = Random(n);
    let (mut a, mut b) = (Sequence::new(), Sequence::new());
    let edit = |sequence: &mut Sequence, first: EntryId, random: &mut Random| {
        let at = place(random, sequence.len().0);
        sequence.insert(Chars(at), "x", first).unwrap();
    };
    for counter in 1..=n {
        edit(&mut a, entry(1, counter, 0), &mut random);
        edit(&mut b, entry(2, counter, 0), &mut random);
    }
    let inserted = steps(&a, n);
    let mut part = Part::default();
    a.part(replica(1), 0, u64::MAX, &mut part);
    let extracted = steps(&a, n);
    steps(&b, n);
    b.absorb(&part).unwrap();
    let merged = steps(&b, n);
    pass(&b, &mut a, 2, 0);
    assert_eq!(text_of(&a), text_of(&b));
    assert!(a.runs().eq(b.runs()));
    shape(&a);
    steps(&b, n);
    for counter in n + 1..=2 * n {
        let len = b.len().0;
        let at = place(&mut random, len - 1);
        b.delete(Chars(at), Chars(at + 1), entry(2, counter, 0))
            .unwrap();
    }
    [inserted, extracted, merged, steps(&b, n)]
}

/// With nodes as small as they are in tests, a tree of 10,000 runs is about 8 levels high.
#[test]
fn no_edit_pattern_is_quadratic() {
    type Place = fn(&mut Random, usize) -> usize;
    let places: [(&str, Place); 4] = [
        ("front", |_, _| 0),
        ("end", |_, len| len),
        ("middle", |_, len| len / 2),
        ("random", |random, len| random.below(len + 1)),
    ];
    for (name, place) in places {
        let (small, large) = (cost(2_000, place), cost(16_000, place));
        for (small, large) in small.into_iter().zip(large) {
            assert!(
                large <= 2 * small + 20,
                "{name}: {small} -> {large} steps an operation"
            );
            assert!(large < 400, "{name}: {large} steps an operation");
        }
    }
}

#[test]
fn a_storm_of_siblings_at_one_place_is_not_quadratic() {
    let storm = |n: u64| {
        // Each part names the start as its origin and is earlier than all that came before.
        let mut sequence = Sequence::new();
        let mut rows = Vec::new();
        for author in 1..=n {
            let mut other = Sequence::new();
            other.clock = n - author;
            other
                .insert(Chars(0), "x", entry(u128::from(author), 1, 0))
                .unwrap();
            let mut part = Part::default();
            other.part(replica(u128::from(author)), 0, u64::MAX, &mut part);
            rows.push(part);
        }
        for part in &rows {
            sequence.absorb(part).unwrap();
        }
        sequence.tree.assert_sound();
        steps(&sequence, n)
    };
    let (small, large) = (storm(500), storm(4_000));
    assert!(
        large <= 2 * small + 20,
        "{small} -> {large} steps an insert"
    );
}
