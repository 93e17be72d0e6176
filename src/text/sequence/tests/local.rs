//! Local edits against `String`: text, positions in every unit, rollback.

use quickcheck::{QuickCheck, TestResult};

use super::{Random, entry, text_of};
use crate::kernel::{IndexError, IndexFault, Unit};
use crate::text::sequence::{LocalError, Sequence};
use crate::text::units::{Chars, Locate, Utf8, Utf16};

/// A sequence and the `String` it should be.
struct Pair {
    sequence: Sequence,
    model: Vec<char>,
    counter: u64,
}

impl Pair {
    fn new() -> Self {
        Self {
            sequence: Sequence::new(),
            model: Vec::new(),
            counter: 0,
        }
    }

    fn edit(&mut self, random: &mut Random) {
        self.counter += 1;
        let first = entry(1, self.counter, 0);
        let at = random.below(self.model.len() + 1);
        if random.below(3) == 0 {
            let end = (at + random.below(40)).min(self.model.len());
            self.sequence.delete(Chars(at), Chars(end), first).unwrap();
            self.model.drain(at..end);
        } else {
            let len = [0, 1, 1, 3, 300, 700][random.below(6)];
            let text = random.text(len);
            self.sequence.insert(Chars(at), &text, first).unwrap();
            self.model.splice(at..at, text.chars());
        }
    }

    fn check(&self) {
        self.sequence.tree.assert_sound();
        let model: String = self.model.iter().collect();
        assert_eq!(text_of(&self.sequence), model);
        assert!(self.sequence.chars().eq(self.model.iter().copied()));
        assert_eq!(self.sequence.len(), Chars(self.model.len()));
        assert_eq!(self.sequence.len_in(Unit::Utf8), model.len());
        assert_eq!(
            self.sequence.len_in(Unit::Utf16),
            model.encode_utf16().count()
        );
    }
}

#[test]
fn edits_do_what_they_do_to_a_string() {
    fn check(seed: u64) -> TestResult {
        let mut random = Random(seed);
        let mut pair = Pair::new();
        for _ in 0..60 {
            pair.edit(&mut random);
            pair.check();
            let from = random.below(pair.model.len() + 1);
            let to = from + random.below(pair.model.len() + 1 - from);
            let expect: String = pair.model[from..to].iter().collect();
            assert_eq!(pair.sequence.slice(Chars(from), Chars(to)), Ok(expect));
        }
        TestResult::passed()
    }
    QuickCheck::new()
        .tests(40)
        .quickcheck(check as fn(u64) -> TestResult);
}

#[test]
fn rollback_restores_text_runs_records_and_clock() {
    fn check(seed: u64) -> TestResult {
        let mut random = Random(seed);
        let mut pair = Pair::new();
        for _ in 0..20 {
            pair.edit(&mut random);
            let (model, counter) = (pair.model.clone(), pair.counter);
            let runs: Vec<_> = pair.sequence.runs().collect();
            let records: Vec<_> = pair.sequence.record_runs().collect();
            let counts = (pair.sequence.clock(), pair.sequence.element_count());
            pair.sequence.begin();
            for _ in 0..random.below(6) {
                pair.edit(&mut random);
            }
            pair.sequence.rollback();
            (pair.model, pair.counter) = (model, counter);
            pair.check();
            assert_eq!(pair.sequence.runs().collect::<Vec<_>>(), runs);
            assert_eq!(pair.sequence.record_runs().collect::<Vec<_>>(), records);
            assert_eq!(
                (pair.sequence.clock(), pair.sequence.element_count()),
                counts
            );
        }
        TestResult::passed()
    }
    QuickCheck::new()
        .tests(40)
        .quickcheck(check as fn(u64) -> TestResult);
}

#[test]
fn positions_convert_exactly_or_not_at_all() {
    fn check(seed: u64) -> TestResult {
        let mut random = Random(seed);
        let mut pair = Pair::new();
        for _ in 0..12 {
            pair.edit(&mut random);
        }
        let (mut utf8, mut utf16) = (0, 0);
        for at in 0..=pair.model.len() {
            let sequence = &pair.sequence;
            assert_eq!(Utf8::from_chars(Chars(at), sequence), Ok(Utf8(utf8)));
            assert_eq!(Utf16::from_chars(Chars(at), sequence), Ok(Utf16(utf16)));
            assert_eq!(Utf8(utf8).to_chars(sequence), Ok(Chars(at)));
            assert_eq!(Utf16(utf16).to_chars(sequence), Ok(Chars(at)));
            let Some(c) = pair.model.get(at) else { break };
            for inside in utf8 + 1..utf8 + c.len_utf8() {
                let fault = Utf8(inside).to_chars(sequence).unwrap_err().fault;
                assert_eq!(fault, IndexFault::InsideCharacter);
            }
            for inside in utf16 + 1..utf16 + c.len_utf16() {
                let fault = Utf16(inside).to_chars(sequence).unwrap_err().fault;
                assert_eq!(fault, IndexFault::InsideCharacter);
            }
            utf8 += c.len_utf8();
            utf16 += c.len_utf16();
        }
        let behind = Utf8(utf8 + 1).to_chars(&pair.sequence).unwrap_err();
        let (fault, unit) = (IndexFault::OutOfRange, Unit::Utf8);
        assert_eq!(
            behind,
            IndexError {
                fault,
                index: utf8 + 1,
                len: utf8,
                unit
            }
        );
        TestResult::passed()
    }
    QuickCheck::new()
        .tests(25)
        .quickcheck(check as fn(u64) -> TestResult);
}

#[test]
fn an_edit_that_cannot_be_made_changes_nothing() {
    let mut sequence = Sequence::new();
    sequence.insert(Chars(0), "abc", entry(1, 5, 0)).unwrap();
    let out = |index, len| {
        let (fault, unit) = (IndexFault::OutOfRange, Unit::Chars);
        LocalError::Index(IndexError {
            fault,
            index,
            len,
            unit,
        })
    };
    assert_eq!(
        sequence.insert(Chars(4), "x", entry(1, 6, 0)),
        Err(out(4, 3))
    );
    assert_eq!(
        sequence.delete(Chars(1), Chars(4), entry(1, 6, 0)),
        Err(out(4, 3))
    );
    assert_eq!(
        sequence.delete(Chars(2), Chars(1), entry(1, 6, 0)),
        Err(out(2, 1))
    );
    let old = entry(1, 5, 4);
    assert_eq!(
        sequence.insert(Chars(0), "x", old),
        Err(LocalError::NameNotNew(old))
    );
    let last = entry(1, 6, u32::MAX - 1);
    assert_eq!(
        sequence.insert(Chars(0), "xy", last),
        Err(LocalError::NamesExhausted)
    );
    assert_eq!(sequence.insert(Chars(0), "", entry(1, 6, 0)), Ok(None));
    assert_eq!(
        sequence.delete(Chars(1), Chars(1), entry(1, 6, 0)),
        Ok(vec![])
    );
    assert_eq!(
        (text_of(&sequence).as_str(), sequence.record_count()),
        ("abc", 0)
    );
    sequence.clock = u64::MAX - 2;
    assert_eq!(
        sequence.insert(Chars(0), "xy", entry(1, 6, 0)),
        Err(LocalError::LamportExhausted)
    );
    sequence.insert(Chars(0), "x", entry(1, 6, 0)).unwrap();
    assert_eq!(sequence.clock(), u64::MAX - 1);
}
