//! arbitrary: whatever a fuzzer hands in becomes valid values, and all kinds of them.
#![cfg(feature = "arbitrary")]

use std::collections::BTreeSet;

use arbitrary::{Arbitrary, Unstructured};
use commute::env::SplitMix64;
use commute::{Digest, Dot, Dots, EntryId, Lamport, Names, ReplicaId, Stamp, Version};

/// What becomes of many inputs, of which some are short.
fn drawn<T: for<'a> Arbitrary<'a>>() -> Vec<T> {
    let mut random = SplitMix64::new(1);
    let inputs = (0..2_000).map(|at| {
        let len = if at % 4 == 0 { at / 4 % 40 } else { 400 };
        let bytes: Vec<u8> = (0..len).map(|_| random.next_u64() as u8).collect();
        T::arbitrary(&mut Unstructured::new(&bytes)).ok()
    });
    inputs.flatten().collect()
}

#[test]
fn counters_are_from_1_and_mostly_meet() {
    let dots = drawn::<Dot>();
    assert!(dots.iter().all(|dot| dot.counter > 0));
    assert!(dots.iter().any(|dot| dot.counter == u64::MAX));
    let small = dots
        .iter()
        .filter(|dot| dot.replica <= ReplicaId::from(5) && dot.counter <= 10);
    assert!(small.count() > dots.len() / 2);
    assert!(dots.iter().any(|dot| dot.replica > ReplicaId::from(5)));
    let indices: BTreeSet<u32> = drawn::<EntryId>().iter().map(|entry| entry.index).collect();
    assert!(indices.contains(&0) && indices.contains(&u32::MAX) && indices.len() > 20);
    assert!(drawn::<Lamport>().contains(&Lamport::new(0)));
    assert!(drawn::<Stamp>().contains(&Stamp::from_millis(3)));
    assert!(drawn::<Digest>().iter().collect::<BTreeSet<_>>().len() > 1_000);
}

#[test]
fn clocks_are_canonical() {
    for version in drawn::<Version>() {
        assert!(version.iter().all(|(_, seen)| seen > 0));
        let bytes = version.to_bytes();
        assert_eq!(
            Version::from_bytes(&bytes, &Default::default()).unwrap(),
            version
        );
    }
    let all = drawn::<Dots>();
    for dots in &all {
        let ranges: Vec<_> = dots.ranges().collect();
        assert!(
            ranges
                .iter()
                .all(|(_, first, last)| 1 <= *first && first <= last)
        );
        let apart = |pair: &[(ReplicaId, u64, u64)]| {
            let ((a, _, last), (b, first, _)) = (pair[0], pair[1]);
            a < b || a == b && last + 1 < first
        };
        assert!(ranges.windows(2).all(apart));
    }
    let gaps = |dots: &Dots| {
        dots.ranges().count()
            > dots
                .ranges()
                .map(|(id, ..)| id)
                .collect::<BTreeSet<_>>()
                .len()
    };
    assert!(all.iter().any(gaps) && all.iter().any(Dots::is_empty));
    for names in drawn::<Names>() {
        let entries: Vec<EntryId> = names.iter().take(50).collect();
        assert!(
            entries
                .iter()
                .all(|entry| names.contains(*entry) && entry.dot.counter > 0)
        );
    }
}

#[cfg(feature = "testkit")]
mod kit {
    use super::*;
    use commute::testkit::spec::{CounterOp, FlagOp, MapOp, RegisterOp, SetOp};
    use commute::testkit::{BoundedOp, LwwOp, Random, Schedule, Verb};
    use commute::{OrSet, Replica};

    #[test]
    fn schedules_have_all_verbs_and_replay() {
        let all = drawn::<Schedule>();
        let has = |schedule: &Schedule, verb| schedule.steps.iter().any(|step| step.verb == verb);
        // The step `clone` is in schedules of its own only.
        for verb in Verb::ALL.iter().filter(|verb| **verb != Verb::Clone) {
            assert!(
                all.iter().any(|schedule| has(schedule, *verb)),
                "{}",
                verb.name()
            );
        }
        assert!(
            all.iter()
                .all(|schedule| (1..=100).contains(&schedule.steps.len()))
        );
        for schedule in all.iter().take(100) {
            assert_eq!(schedule.to_string().parse().as_ref(), Ok(schedule));
            let search = Random::new::<Replica<OrSet<u8>>>().state().delta();
            search.specified().replay(schedule.clone()).unwrap_clean();
        }
    }

    #[test]
    fn what_is_left_of_the_input_is_the_schedule() {
        let long = |byte| Schedule::arbitrary_take_rest(Unstructured::new(&[byte; 2_000])).unwrap();
        let steps = [long(1).steps.len(), long(77).steps.len()];
        assert!(
            steps.iter().all(|steps| (50..=100).contains(steps)),
            "{steps:?}"
        );
        let short = Schedule::arbitrary_take_rest(Unstructured::new(&[])).unwrap();
        assert_eq!(short.steps.len(), 1);
    }

    /// How many kinds of values there are among many.
    fn kinds<T: for<'a> Arbitrary<'a>>() -> usize {
        let kinds = drawn::<T>();
        let kinds = kinds.iter().map(std::mem::discriminant);
        kinds.collect::<std::collections::HashSet<_>>().len()
    }

    #[test]
    fn operations_of_every_kind_are_drawn() {
        assert_eq!(kinds::<SetOp<u8>>(), 3);
        assert_eq!(kinds::<CounterOp>(), 2);
        assert_eq!(kinds::<BoundedOp>(), 3);
        assert_eq!(kinds::<FlagOp>(), 2);
        assert_eq!(kinds::<RegisterOp<u8>>(), 2);
        assert_eq!(kinds::<MapOp<u8, u8>>(), 3);
        let clocks = drawn::<LwwOp<u8>>().into_iter().map(|op| op.clock);
        assert!(clocks.collect::<BTreeSet<_>>().len() > 100);
    }
}
