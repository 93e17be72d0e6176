//! Bad parts and bad lists: an error and no change, never a panic.

use quickcheck::{QuickCheck, TestResult};

use super::{Random, entry, replica, text_of};
use crate::text::name_run::{Chain, Name, NameRun};
use crate::text::sequence::{
    BuildError, DeleteRun, ElementRun, InsertRun, Part, PartError, Sequence,
};
use crate::text::units::Chars;

fn names(counter: u64, index: u32, len: u32, chain: Chain) -> NameRun {
    NameRun::new(Name { counter, index }, len, chain).unwrap()
}

/// "abcd" by 1 of which "bc" is hidden by 2.
fn sample() -> Sequence {
    let mut sequence = Sequence::new();
    sequence.insert(Chars(0), "abcd", entry(1, 3, 0)).unwrap();
    sequence.delete(Chars(1), Chars(3), entry(2, 1, 0)).unwrap();
    sequence
}

fn insert(author: u128, names: NameRun, lamport: u64, text: Option<&str>) -> InsertRun {
    let text = text.map(String::from);
    InsertRun {
        replica: replica(author),
        names,
        lamport,
        origin: None,
        text,
    }
}

fn delete(author: u128, names: NameRun, target: u128, targets: NameRun) -> DeleteRun {
    let (replica, target_replica) = (replica(author), replica(target));
    DeleteRun {
        replica,
        names,
        target_replica,
        targets,
        backward: false,
    }
}

fn refused(inserts: Vec<InsertRun>, deletes: Vec<DeleteRun>) -> PartError {
    let mut sequence = sample();
    let error = sequence.absorb(&Part { inserts, deletes }).unwrap_err();
    assert!(sequence.runs().eq(sample().runs()));
    assert!(sequence.record_runs().eq(sample().record_runs()));
    assert_eq!(text_of(&sequence), "ad");
    error
}

#[test]
fn each_fault_of_a_part_is_named_and_changes_nothing() {
    let one = |counter, index| names(counter, index, 1, Chain::Dots);
    let good = insert(4, one(1, 0), 1, Some("x"));
    let with = |run: InsertRun| refused(vec![good.clone(), run], vec![]);
    let id = entry(3, 1, 0);
    assert_eq!(
        with(insert(3, one(1, 1), 9, None)),
        PartError::OddIndex(entry(3, 1, 1))
    );
    assert_eq!(with(insert(3, one(1, 0), 0, None)), PartError::Lamport(id));
    assert_eq!(
        with(insert(3, one(1, 0), u64::MAX, None)),
        PartError::Lamport(id)
    );
    let two = names(1, 0, 2, Chain::Dots);
    assert_eq!(
        with(insert(3, two, u64::MAX - 1, None)),
        PartError::Lamport(id)
    );
    assert_eq!(
        with(insert(1, one(4, 0), 4, Some("x"))),
        PartError::Lamport(entry(1, 4, 0))
    );
    assert_eq!(
        with(insert(3, two, 9, Some("x"))),
        PartError::TextLength(id)
    );
    assert_eq!(
        with(insert(1, one(2, 0), 9, None)),
        PartError::OutOfOrder(entry(1, 2, 0))
    );
    let origin = Some(entry(1, 3, 8));
    let run = InsertRun {
        origin,
        ..insert(3, one(1, 0), 9, None)
    };
    assert_eq!(with(run), PartError::UnknownOrigin(entry(1, 3, 8)));
    let origin = Some(entry(1, 3, 6));
    let run = InsertRun {
        origin,
        ..insert(0, one(1, 0), 4, None)
    };
    assert_eq!(with(run), PartError::NotAfterOrigin(entry(0, 1, 0)));
    assert_eq!(
        with(insert(2, one(1, 0), 9, Some("x"))),
        PartError::UsedTwice(entry(2, 1, 0))
    );
    assert_eq!(
        with(insert(3, one(1, 0), 9, None)),
        PartError::NotTargeted(id)
    );

    let with = |run: DeleteRun| refused(vec![good.clone()], vec![run]);
    let targets = names(3, 0, 2, Chain::Indices);
    let run = delete(3, one(1, 0), 1, targets);
    assert_eq!(with(run), PartError::TargetLength(id));
    let run = delete(3, one(1, 3), 1, one(3, 0));
    assert_eq!(with(run), PartError::OddIndex(entry(3, 1, 3)));
    let run = delete(3, two, 1, names(3, 6, 2, Chain::Indices));
    assert_eq!(with(run), PartError::UnknownTarget(entry(1, 3, 8)));
    let run = delete(3, one(1, 0), 9, one(3, 0));
    assert_eq!(with(run), PartError::UnknownTarget(entry(9, 3, 0)));
    let run = delete(2, one(0, 0), 1, one(3, 0));
    assert_eq!(with(run), PartError::OutOfOrder(entry(2, 0, 0)));
    let run = delete(1, one(3, 6), 1, one(3, 0));
    assert_eq!(with(run), PartError::UsedTwice(entry(1, 3, 6)));
    let run = delete(4, one(1, 0), 1, one(3, 0));
    assert_eq!(with(run), PartError::UsedTwice(entry(4, 1, 0)));
}

#[test]
fn each_fault_of_the_lists_is_named() {
    let (runs, records): (Vec<_>, Vec<_>) = (sample().runs().collect(), {
        let sequence = sample();
        sequence.record_runs().collect()
    });
    let build = |runs: &[ElementRun], text: &str, records: &[DeleteRun], clock| {
        Sequence::build(runs, text, records, clock)
            .map(drop)
            .unwrap_err()
    };
    assert!(Sequence::build(&runs, "ad", &records, 4).is_ok());
    assert_eq!(build(&runs, "ad", &records, 5), BuildError::Clock);
    assert_eq!(build(&[], "", &[], 1), BuildError::Clock);
    assert!(Sequence::build(&[], "", &[], 0).is_ok());
    assert_eq!(
        build(&runs, "ad", &records, 3),
        BuildError::Lamport(entry(1, 3, 6))
    );
    assert_eq!(build(&runs, "ad", &records, u64::MAX), BuildError::Clock);
    assert_eq!(build(&runs, "a", &records, 4), BuildError::TextLength);
    assert_eq!(build(&runs, "adx", &records, 4), BuildError::TextLength);
    assert_eq!(
        build(&runs, "ad", &[], 4),
        BuildError::NotTargeted(entry(1, 3, 2))
    );
    let part = DeleteRun {
        names: records[0].names.part(0, 1),
        ..records[0]
    };
    let part = DeleteRun {
        targets: records[0].targets.part(0, 1),
        ..part
    };
    assert_eq!(
        build(&runs, "ad", &[part], 4),
        BuildError::NotTargeted(entry(1, 3, 2))
    );
    let twice = [runs[0], runs[1], runs[2], runs[0]];
    assert_eq!(
        build(&twice, "ada", &records, 4),
        BuildError::UsedTwice(entry(1, 3, 0))
    );
    let twice = [records[0], records[0]];
    assert_eq!(
        build(&runs, "ad", &twice, 4),
        BuildError::UsedTwice(entry(2, 1, 0))
    );
    let shown = [
        runs[0],
        ElementRun {
            visible: true,
            ..runs[1]
        },
        runs[2],
    ];
    assert_eq!(
        build(&shown, "abcd", &records, 4),
        BuildError::NotHidden(entry(1, 3, 2))
    );
    let late = [
        runs[0],
        runs[1],
        ElementRun {
            lamport: 3,
            ..runs[2]
        },
    ];
    assert_eq!(
        build(&late, "ad", &records, 4),
        BuildError::Lamport(entry(1, 3, 6))
    );
    let odd = [DeleteRun {
        names: names(1, 1, 2, Chain::Indices),
        ..records[0]
    }];
    assert_eq!(
        build(&runs, "ad", &odd, 4),
        BuildError::OddIndex(entry(2, 1, 1))
    );
    let long = [DeleteRun {
        names: names(1, 0, 3, Chain::Indices),
        ..records[0]
    }];
    assert_eq!(
        build(&runs, "ad", &long, 4),
        BuildError::TargetLength(entry(2, 1, 0))
    );
    let far = names(3, 6, 2, Chain::Indices);
    let far = [DeleteRun {
        targets: far,
        ..records[0]
    }];
    assert_eq!(
        build(&runs, "ad", &far, 4),
        BuildError::UnknownTarget(entry(2, 1, 0))
    );
    let own = [DeleteRun {
        replica: replica(1),
        names: names(3, 2, 2, Chain::Indices),
        ..far[0]
    }];
    assert_eq!(
        build(&runs, "ad", &own, 4),
        BuildError::UsedTwice(entry(1, 3, 2))
    );
}

/// A few bits of a run are something else.
fn spoil(random: &mut Random, names: &mut NameRun) {
    let name = names.first();
    let counter = name.counter.wrapping_add(random.next() % 5).wrapping_sub(2);
    let index = name
        .index
        .wrapping_add((random.next() % 5) as u32)
        .wrapping_sub(2);
    let len = names
        .len()
        .wrapping_add((random.next() % 3) as u32)
        .wrapping_sub(1);
    let chain = if random.below(2) == 0 {
        Chain::Dots
    } else {
        Chain::Indices
    };
    let [counter, index] = match random.below(3) {
        0 => [counter, u64::from(name.index)],
        1 => [name.counter, u64::from(index)],
        _ => [
            [0, u64::MAX][random.below(2)],
            [0, u64::from(u32::MAX)][random.below(2)],
        ],
    };
    let name = Name {
        counter,
        index: index as u32,
    };
    let len = if random.below(8) == 0 { u32::MAX } else { len };
    if let Some(new) = NameRun::new(name, len, chain) {
        *names = new;
    }
}

fn document(random: &mut Random) -> Sequence {
    let mut sequence = Sequence::new();
    for counter in 1..40 {
        let first = entry(1 + u128::from(counter % 3), counter, 0);
        let at = random.below(sequence.len().0 + 1);
        let end = (at + random.below(5)).min(sequence.len().0);
        if random.below(3) == 0 {
            sequence.delete(Chars(at), Chars(end), first).unwrap();
        } else {
            let len = 1 + random.below(6);
            let text = random.text(len);
            sequence.insert(Chars(at), &text, first).unwrap();
        }
    }
    sequence
}

#[test]
fn spoiled_parts_are_refused_or_absorbed_soundly() {
    fn check(seed: u64) -> TestResult {
        let mut random = Random(seed);
        let source = document(&mut random);
        let mut part = Part::default();
        let mut target = Sequence::new();
        for author in 1..4 {
            source.part(replica(author), random.next() % 20, u64::MAX, &mut part);
        }
        for _ in 0..1 + random.below(2) {
            let (i, d) = (
                random.below(part.inserts.len()),
                random.below(part.deletes.len()),
            );
            match (
                random.below(6),
                part.inserts.get_mut(i),
                part.deletes.get_mut(d),
            ) {
                (0, Some(run), _) => spoil(&mut random, &mut run.names),
                (1, Some(run), _) => run.lamport = random.next() % 60,
                (2, Some(run), _) => run.replica = replica(u128::from(random.next() % 4)),
                (3, _, Some(run)) => spoil(&mut random, &mut run.names),
                (4, _, Some(run)) => spoil(&mut random, &mut run.targets),
                (_, _, Some(run)) => run.backward = !run.backward,
                _ => {}
            }
        }
        let taken = target.absorb(&part).is_ok();
        target.tree.assert_sound();
        assert!(taken || target.element_count() == 0);
        rebuild(&target);
        TestResult::passed()
    }
    QuickCheck::new()
        .tests(600)
        .quickcheck(check as fn(u64) -> TestResult);
}

fn rebuild(sequence: &Sequence) {
    let runs: Vec<_> = sequence.runs().collect();
    let records: Vec<_> = sequence.record_runs().collect();
    let text = text_of(sequence);
    let again = Sequence::build(&runs, &text, &records, sequence.clock()).unwrap();
    again.tree.assert_sound();
    assert!(again.runs().eq(runs.iter().copied()));
    assert!(again.record_runs().eq(records.iter().copied()));
    assert_eq!(text_of(&again), text);
}

#[test]
fn spoiled_lists_are_refused_or_built_soundly() {
    fn check(seed: u64) -> TestResult {
        let mut random = Random(seed);
        let source = document(&mut random);
        let mut runs: Vec<_> = source.runs().collect();
        let mut records: Vec<_> = source.record_runs().collect();
        let (i, d) = (random.below(runs.len()), random.below(records.len()));
        match (random.below(7), runs.get_mut(i), records.get_mut(d)) {
            (0, Some(run), _) => spoil(&mut random, &mut run.names),
            (1, Some(run), _) => run.lamport = random.next() % 60,
            (2, Some(run), _) => run.replica = replica(u128::from(random.next() % 4)),
            (3, Some(run), _) => run.visible = !run.visible,
            (4, _, Some(run)) => spoil(&mut random, &mut run.names),
            (5, _, Some(run)) => spoil(&mut random, &mut run.targets),
            (_, _, Some(run)) => run.replica = replica(u128::from(random.next() % 4)),
            _ => {}
        }
        let text = text_of(&source);
        if let Ok(built) = Sequence::build(&runs, &text, &records, source.clock()) {
            built.tree.assert_sound();
            rebuild(&built);
        }
        TestResult::passed()
    }
    QuickCheck::new()
        .tests(600)
        .quickcheck(check as fn(u64) -> TestResult);
}
