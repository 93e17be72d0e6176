//! Faults that other libraries shipped in text, each with the input that reveals it and the right
//! answer. `row_NN` are the numbers of the project's list of faults.
#![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

use commute::codec::Limits;
use commute::env::SplitMix64;
use commute::text::{Chars, IndexFault, Position, Utf8, Utf16};
use commute::{Applied, Delta, EditError, Replica, ReplicaId, Text};

type Doc = Replica<Text>;

fn doc(id: u128) -> Doc {
    Replica::new(ReplicaId::from(id))
}

fn insert(doc: &mut Doc, at: usize, text: &str) -> Delta<Text> {
    doc.update(|edit| edit.insert(Chars(at), text)).unwrap().1
}

fn delete(doc: &mut Doc, from: usize, to: usize) -> Delta<Text> {
    doc.update(|edit| edit.delete(Chars(from)..Chars(to)))
        .unwrap()
        .1
}

/// All orders of `items`.
fn permutations<T: Clone>(items: &[T]) -> Vec<Vec<T>> {
    let Some((first, rest)) = items.split_first() else {
        return vec![Vec::new()];
    };
    let mut all = Vec::new();
    for shorter in permutations(rest) {
        for at in 0..=shorter.len() {
            let mut longer = shorter.clone();
            longer.insert(at, first.clone());
            all.push(longer);
        }
    }
    all
}

/// Absorbs `deltas` in every order and checks that all ends are equal; returns the text.
fn in_every_order(deltas: &[Delta<Text>]) -> String {
    let mut ends = permutations(deltas).into_iter().map(|order| {
        let mut end = doc(99);
        for delta in &order {
            end.absorb(delta).unwrap();
        }
        assert_eq!(end.waiting(), 0);
        end
    });
    let first = ends.next().unwrap();
    ends.for_each(|end| assert_eq!(end.to_bytes(), first.to_bytes()));
    first.to_string()
}

#[test]
fn row_47_a_delete_before_its_insert_is_not_lost() {
    let (mut a, mut b, mut c, mut d) = (doc(1), doc(2), doc(3), doc(4));
    let x = insert(&mut a, 0, "x");
    b.absorb(&x).unwrap();
    let gone = delete(&mut b, 0, 1);
    assert!(matches!(c.absorb(&gone), Ok(Applied::Waiting(_))));
    assert_eq!(c.absorb(&x), Ok(Applied::New));
    d.absorb(&x).unwrap();
    d.absorb(&gone).unwrap();
    assert_eq!(c.to_string(), "");
    assert_eq!(c.to_bytes(), d.to_bytes());
}

#[test]
fn row_49_an_insert_between_two_concurrent_ones_lands_between() {
    let (mut a, mut b, mut c) = (doc(1), doc(2), doc(3));
    c.absorb(&insert(&mut a, 0, "A")).unwrap();
    c.absorb(&insert(&mut b, 0, "B")).unwrap();
    let _ = insert(&mut c, 1, "-");
    let text = c.to_string();
    assert_eq!(text.chars().nth(1), Some('-'), "{text}");
}

/// What RGA guarantees: a run typed forwards stays together. What it does not: runs typed backwards,
/// each character before the last one, all hang on one origin and are ordered by time, so two of
/// them interleave.
#[test]
fn row_50_forward_runs_stay_together_and_backward_runs_may_not() {
    let mut forward = Vec::new();
    for (id, word) in [(1, "abc"), (2, "XYZ")] {
        let mut author = doc(id);
        for (at, letter) in word.chars().enumerate() {
            forward.push(insert(&mut author, at, &letter.to_string()));
        }
    }
    let text = in_every_order(&forward[..]);
    assert_eq!(text, "XYZabc");

    let mut backward = Vec::new();
    for (id, word) in [(1, "cba"), (2, "ZYX")] {
        let mut author = doc(id);
        for letter in word.chars() {
            backward.push(insert(&mut author, 0, &letter.to_string()));
        }
    }
    assert_eq!(in_every_order(&backward), "XaYbZc");
}

#[test]
fn row_51_repeated_inserts_at_one_index_come_out_reversed() {
    let mut a = doc(1);
    let _ = insert(&mut a, 0, "XYZ");
    let _ = insert(&mut a, 2, "A");
    let _ = insert(&mut a, 2, "B");
    assert_eq!(a.to_string(), "XYBAZ");
}

#[test]
fn row_53_any_delivery_order_gives_one_text() {
    let (mut a, mut b, mut c) = (doc(1), doc(2), doc(3));
    let first = insert(&mut a, 0, "12");
    b.absorb(&first).unwrap();
    let second = insert(&mut b, 1, "b");
    c.absorb(&first).unwrap();
    c.absorb(&second).unwrap();
    let third = insert(&mut c, 1, "c");
    assert_eq!(in_every_order(&[first, second, third]), "1cb2");
}

#[test]
fn row_54_grouping_in_any_order_equals_applying_one_by_one() {
    let (mut a, mut b) = (doc(1), doc(2));
    let mut deltas = vec![insert(&mut a, 0, "0123456789")];
    b.absorb(&deltas[0]).unwrap();
    deltas.push(insert(&mut a, 9, "far"));
    deltas.push(insert(&mut b, 1, "near"));
    deltas.push(delete(&mut b, 0, 3));
    let want = in_every_order(&deltas);
    for order in permutations(&deltas) {
        let mut group = Delta::empty();
        order.iter().for_each(|delta| group.merge(delta).unwrap());
        let mut end = doc(9);
        end.absorb(&group).unwrap();
        assert_eq!(end.to_string(), want);
    }
}

#[test]
fn row_55_fifteen_replicas_agree_after_random_delivery() {
    let mut random = SplitMix64::new(55);
    let mut below = |n: usize| (random.next_u64() % n.max(1) as u64) as usize;
    let mut docs: Vec<Doc> = (1..=15).map(doc).collect();
    let mut sent = Vec::new();
    for _ in 0..200 {
        let who = below(15);
        let len = docs[who].len::<Chars>().0;
        let delta = match len > 4 && below(3) == 0 {
            true => {
                let from = below(len - 1);
                delete(&mut docs[who], from, from + 1 + below(2))
            }
            false => insert(
                &mut docs[who],
                below(len + 1),
                ["a", "bc", "\u{1F309}"][below(3)],
            ),
        };
        sent.push(delta);
        for _ in 0..10 {
            let (to, what) = (below(15), below(sent.len()));
            docs[to].absorb(&sent[what]).unwrap();
        }
    }
    for doc in &mut docs {
        let start = below(sent.len());
        let around = sent.iter().cycle().skip(start).take(sent.len());
        around.for_each(|delta| drop(doc.absorb(delta).unwrap()));
        assert_eq!(doc.waiting(), 0);
    }
    assert!(docs.iter().all(|doc| doc.to_bytes() == docs[0].to_bytes()));
}

#[test]
fn row_57_two_concurrent_deletes_of_one_character_delete_it_once() {
    let (mut a, mut b) = (doc(1), doc(2));
    let base = insert(&mut a, 0, "abc");
    b.absorb(&base).unwrap();
    let (x, y) = (delete(&mut a, 0, 1), delete(&mut b, 0, 1));
    assert_eq!(in_every_order(&[base, x, y]), "bc");
}

#[test]
fn row_58_ten_thousand_mixed_edits_between_two_replicas() {
    let mut random = SplitMix64::new(58);
    let (mut a, mut b) = (doc(1), doc(2));
    for step in 0..10_000u64 {
        let who = if random.next_u64() & 1 == 0 {
            &mut a
        } else {
            &mut b
        };
        let len = who.len::<Chars>().0 as u64;
        let at = (random.next_u64() % (len + 1)) as usize;
        match random.next_u64() & 1 == 0 && (at as u64) < len {
            true => drop(delete(who, at, at + 1)),
            false => drop(insert(who, at, "x")),
        }
        if step % 100 == 0 {
            a.absorb(&b.delta_since(a.version())).unwrap();
            b.absorb(&a.delta_since(b.version())).unwrap();
            assert_eq!(a.to_string(), b.to_string());
        }
    }
    a.merge(&b).unwrap();
    b.merge(&a).unwrap();
    assert_eq!(a.to_bytes(), b.to_bytes());
}

#[test]
fn row_59_one_unit_of_an_emoji_is_an_error_or_the_whole_character() {
    let eyes = || {
        let mut a = doc(1);
        let _ = insert(&mut a, 0, "\u{1F440}\u{1F440}");
        a
    };
    let mut by_chars = eyes();
    by_chars
        .edit(|text| text.delete(Chars(0)..Chars(1)))
        .unwrap();
    assert_eq!(by_chars.to_string(), "\u{1F440}");
    let inside = |error: EditError| {
        assert!(matches!(error, EditError::Index(e) if e.fault == IndexFault::InsideCharacter));
    };
    inside(
        eyes()
            .edit(|text| text.delete(Utf16(0)..Utf16(1)))
            .unwrap_err(),
    );
    inside(
        eyes()
            .edit(|text| text.delete(Utf8(0)..Utf8(1)))
            .unwrap_err(),
    );
}

#[test]
fn row_61_one_place_in_any_unit() {
    let mut ends = Vec::new();
    for unit in 0..3 {
        let mut a = doc(1);
        let _ = insert(&mut a, 0, "a\u{e9}\u{1F309}z");
        let inserted = match unit {
            0 => a.edit(|text| text.insert(Chars(3), "!")),
            1 => a.edit(|text| text.insert(Utf8(7), "!")),
            _ => a.edit(|text| text.insert(Utf16(4), "!")),
        };
        assert_eq!(inserted, Ok(()));
        ends.push(a.to_bytes());
    }
    assert!(ends.iter().all(|end| *end == ends[0]));
}

#[test]
fn row_62_half_a_surrogate_pair_is_refused_and_nothing_changes() {
    let mut a = doc(1);
    let _ = insert(&mut a, 0, "\u{1F309}");
    let before = a.to_bytes();
    let refused = a.edit(|text| text.delete(Utf16(1)..Utf16(2))).unwrap_err();
    let EditError::Index(error) = refused else {
        panic!("{refused:?}")
    };
    assert_eq!((error.fault, error.index), (IndexFault::InsideCharacter, 1));
    assert_eq!(a.to_bytes(), before);
}

/// Byte, UTF-16 and character position of every character boundary.
fn boundaries(text: &str) -> Vec<(usize, usize, usize)> {
    let mut all = vec![(0, 0, 0)];
    for letter in text.chars() {
        let &(bytes, units, chars) = all.last().unwrap();
        all.push((
            bytes + letter.len_utf8(),
            units + letter.len_utf16(),
            chars + 1,
        ));
    }
    all
}

fn without(text: &str, from: usize, to: usize) -> String {
    format!("{}{}", &text[..from], &text[to..])
}

fn cut<P: Position>(text: &str, from: P, to: P) -> Result<String, EditError> {
    let mut a = doc(1);
    let _ = insert(&mut a, 0, text);
    a.edit(|edit| edit.delete(from..to))?;
    Ok(a.to_string())
}

#[test]
fn row_63_every_range_of_every_short_string_agrees_with_string() {
    let letters = ['a', '\u{e9}', '\u{6f22}', '\u{1F309}'];
    let mut texts = vec![String::new()];
    for _ in 0..3 {
        let longer = texts
            .iter()
            .flat_map(|text| letters.map(|letter| format!("{text}{letter}")));
        texts = longer.collect();
    }
    for text in &texts {
        let all = boundaries(text);
        for (at, from) in all.iter().enumerate() {
            for to in &all[at..] {
                let want = without(text, from.0, to.0);
                assert_eq!(cut(text, Utf8(from.0), Utf8(to.0)).unwrap(), want);
                assert_eq!(cut(text, Utf16(from.1), Utf16(to.1)).unwrap(), want);
                assert_eq!(cut(text, Chars(from.2), Chars(to.2)).unwrap(), want);
            }
        }
        let bytes: Vec<usize> = all.iter().map(|place| place.0).collect();
        let inner = (0..=text.len()).filter(|at| !bytes.contains(at));
        inner.for_each(|at| assert!(cut(text, Utf8(at), Utf8(text.len())).is_err()));
        assert!(cut(text, Chars(0), Chars(4)).is_err());
        assert!(cut(text, Utf16(1), Utf16(0)).is_err());
    }
}

/// Row 65 (the docs must say what an index counts) is held by the doc examples of every method that
/// takes one: each uses a text that is not ASCII.
#[test]
fn row_65_units_differ_and_convert() {
    let mut a = doc(1);
    let _ = insert(&mut a, 0, "\u{e9}\u{1F309}");
    assert_eq!(
        (a.len::<Utf8>(), a.len::<Utf16>(), a.len::<Chars>()),
        (Utf8(6), Utf16(3), Chars(2))
    );
    assert_eq!(a.convert::<Chars, Utf8>(Chars(1)), Ok(Utf8(2)));
}

#[test]
fn row_75_what_waits_is_saved() {
    let (mut a, mut b) = (doc(1), doc(2));
    let (one, two) = (insert(&mut a, 0, "1"), insert(&mut a, 1, "2"));
    assert!(matches!(b.absorb(&two), Ok(Applied::Waiting(_))));
    let mut b = Doc::resume(&b.save(), &Limits::default()).unwrap();
    assert_eq!(b.absorb(&one), Ok(Applied::New));
    assert_eq!((b.to_string(), b.waiting()), ("12".into(), 0));
}

#[test]
fn row_79_random_loss_and_redelivery_leave_nothing_waiting() {
    let mut random = SplitMix64::new(79);
    let (mut a, mut b) = (doc(1), doc(2));
    let mut sent = Vec::new();
    for step in 0..500 {
        let len = a.len::<Chars>().0;
        sent.push(match step % 5 == 4 {
            true => delete(&mut a, len / 2, len / 2 + 1),
            false => insert(&mut a, len / 2, "ab"),
        });
    }
    for _ in 0..400 {
        let what = (random.next_u64() % sent.len() as u64) as usize;
        b.absorb(&sent[what]).unwrap();
    }
    sent.iter()
        .rev()
        .for_each(|delta| drop(b.absorb(delta).unwrap()));
    assert_eq!((b.to_bytes(), b.waiting()), (a.to_bytes(), 0));
}

#[test]
fn row_83_swapping_the_ids_swaps_nothing_but_ties() {
    let run = |x: u128, y: u128| {
        let (mut a, mut b) = (doc(x), doc(y));
        let base = insert(&mut a, 0, "base");
        b.absorb(&base).unwrap();
        let (p, q) = (insert(&mut a, 1, "<"), insert(&mut b, 3, ">"));
        in_every_order(&[base, p, q])
    };
    assert_eq!(run(1, 2), run(2, 1));
    assert_eq!(run(1, 2), "b<as>e");
}

#[test]
fn row_113_state_grows_linearly_with_inserts_into_the_middle() {
    let size = |inserts: usize| {
        let mut a = doc(1);
        for n in 0..inserts {
            let _ = insert(&mut a, n / 2, "x");
        }
        a.to_bytes().len()
    };
    let (small, large) = (size(800), size(1_600));
    assert!(
        large <= small * 5 / 2,
        "{small} bytes for 800 inserts, {large} for 1,600"
    );
    assert!(large < 30_000, "{large} bytes");
}
