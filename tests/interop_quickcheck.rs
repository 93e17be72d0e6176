//! Arbitrary ids and clocks are valid, meet each other, and shrink to valid ones.
#![cfg(feature = "quickcheck")]

use std::collections::BTreeSet;

use commute::quickcheck::{Arbitrary, Gen, quickcheck};
use commute::{Dot, Dots, EntryId, Lamport, Names, ReplicaId, Stamp, Version};

fn canonical_version(version: &Version) -> bool {
    version.iter().all(|(_, seen)| seen > 0)
}

fn canonical_dots(dots: &Dots) -> bool {
    let ranges: Vec<_> = dots.ranges().collect();
    let apart = |pair: &[(ReplicaId, u64, u64)]| {
        let ((a, _, last), (b, first, _)) = (pair[0], pair[1]);
        a < b || a == b && last + 1 < first
    };
    ranges
        .iter()
        .all(|(_, first, last)| 1 <= *first && first <= last)
        && ranges.windows(2).all(apart)
}

quickcheck! {
    fn dots_count_from_one(dot: Dot, entry: EntryId) -> bool {
        let shrunk = dot.shrink().all(|dot| dot.counter > 0);
        shrunk && dot.counter > 0 && entry.dot.counter > 0
    }

    fn versions_are_canonical(version: Version) -> bool {
        canonical_version(&version) && version.shrink().all(|small| canonical_version(&small))
    }

    fn sets_of_dots_are_canonical(dots: Dots) -> bool {
        canonical_dots(&dots) && dots.shrink().all(|small| canonical_dots(&small))
    }

    fn join_is_the_least_upper_bound(a: Version, b: Version) -> bool {
        let mut join = a.clone();
        join.join(&b);
        join.includes(&a) && join.includes(&b) && a.includes(&a.meet(&b)) && {
            let mut other = b.clone();
            other.join(&a);
            other == join
        }
    }

    fn a_version_and_its_difference_make_it_whole(a: Version, b: Version) -> bool {
        let new = a.difference(&b);
        new.is_within(&a) && new.within(&b).is_empty() && Dots::from(&a).beyond(&b) == new
    }

    fn set_algebra(a: Dots, b: Dots) -> bool {
        a.union(&b) == b.union(&a)
            && a.difference(&b).intersection(&b).is_empty()
            && a.difference(&b).union(&a.intersection(&b)) == a
    }

    fn names_hold_their_entries(names: Names, stamp: Stamp) -> bool {
        let counted = |names: &Names| names.iter().take(100).all(|entry| names.contains(entry));
        let smaller = stamp.shrink().all(|small| small < stamp);
        counted(&names) && names.shrink().take(10).all(|small| counted(&small)) && smaller
    }

    fn ids_are_texts(id: ReplicaId) -> bool {
        id.to_string().parse() == Ok(id)
    }

    fn lamport_shrinks_downwards(time: Lamport) -> bool {
        time.shrink().all(|small| small < time)
    }
}

#[test]
fn small_ids_are_frequent_and_others_occur() {
    let mut g = Gen::from_size_and_seed(10, 1);
    let ids: Vec<ReplicaId> = (0..1000).map(|_| ReplicaId::arbitrary(&mut g)).collect();
    let small = ids.iter().filter(|id| **id <= ReplicaId::from(5)).count();
    assert!((600..900).contains(&small), "{small}");
    assert!(ids.iter().collect::<BTreeSet<_>>().len() > 100);
}

#[test]
fn a_failing_dot_shrinks_to_the_least_that_fails() {
    let mut dot = Dot::new(ReplicaId::MAX, 1000);
    let fails = |dot: &Dot| dot.counter >= 3 && dot.replica >= ReplicaId::from(2);
    while let Some(smaller) = dot.shrink().find(fails) {
        dot = smaller;
    }
    assert_eq!(dot, Dot::new(ReplicaId::from(2), 3));
}

#[cfg(feature = "testkit")]
mod kit {
    use std::collections::BTreeMap;

    use super::*;
    use commute::interop::quickcheck_kit::States;
    use commute::testkit::spec::{CounterOp, FlagOp, MapOp, RegisterOp, SetOp};
    use commute::testkit::{
        BoundedOp, LwwOp, Outcome, Rejected, Schedule, Source, StateBased, Subject, Verb,
    };
    use commute::{OrSet, Replica};

    quickcheck! {
        fn a_schedule_is_its_text(schedule: Schedule) -> bool {
            schedule.to_string().parse() == Ok(schedule)
        }

        fn what_a_schedule_shrinks_to_is_smaller(schedule: Schedule) -> bool {
            let size = |schedule: &Schedule| {
                let steps = schedule.steps.iter();
                let numbers = steps.map(|step| {
                    u64::from(step.at) + u64::from(step.args[0]) + u64::from(step.args[1])
                });
                let sum: u64 = numbers.sum();
                (schedule.steps.len(), schedule.replicas, sum)
            };
            schedule.shrink().all(|small| size(&small) < size(&schedule))
        }

        fn merging_sets_commutes(states: States<Replica<OrSet<u8>>, 2>) -> bool {
            merging_commutes(states)
        }

        fn states_come_from_their_schedule(states: States<Replica<OrSet<u8>>, 3>) -> bool {
            let again = States::<Replica<OrSet<u8>>, 3>::of(states.schedule().clone());
            let mut pairs = states.iter().zip(again.iter());
            pairs.all(|(a, b)| a.same_state(b)) && states.schedule() == again.schedule()
        }

        fn operations_shrink_to_others(
            set: SetOp<u8>,
            counter: CounterOp,
            flag: FlagOp,
            register: RegisterOp<u8>,
            map: MapOp<u8, u8>,
            last: LwwOp<u8>,
            bounded: BoundedOp
        ) -> bool {
            set.shrink().all(|small| small != set)
                && counter.shrink().all(|small| small != counter)
                && flag.shrink().all(|small| small != flag)
                && register.shrink().all(|small| small != register)
                && map.shrink().all(|small| small != map)
                && last.shrink().all(|small| small != last)
                && bounded.shrink().all(|small| small != bounded)
        }
    }

    fn merging_commutes<T: StateBased>(states: States<T, 2>) -> bool {
        let [mut a, mut b] = states.into_array();
        let (x, y) = (a.duplicate(), b.duplicate());
        a.merge(&y).is_ok() && b.merge(&x).is_ok() && a.same_state(&b)
    }

    /// A count whose merge takes the other side's.
    #[derive(Clone, Debug)]
    struct Count {
        me: ReplicaId,
        of: BTreeMap<ReplicaId, u64>,
    }

    impl Subject for Count {
        type Op = u64;
        type View = u64;

        fn new(me: ReplicaId) -> Count {
            let of = BTreeMap::new();
            Count { me, of }
        }

        fn duplicate(&self) -> Count {
            self.clone()
        }

        fn choose(&self, source: &mut Source<'_>) -> Option<u64> {
            Some(1 + source.below(3))
        }

        fn perform(&mut self, amount: &u64) -> Outcome {
            *self.of.entry(self.me).or_default() += amount;
            Outcome::Done
        }

        fn view(&self) -> u64 {
            self.of.values().sum()
        }
    }

    impl StateBased for Count {
        fn merge(&mut self, other: &Count) -> Result<(), Rejected> {
            let theirs = other.of.iter().map(|(id, count)| (*id, *count));
            self.of.extend(theirs);
            Ok(())
        }

        fn same_state(&self, other: &Count) -> bool {
            self.of == other.of
        }
    }

    #[test]
    fn a_failing_property_shrinks_to_a_small_schedule() {
        let mut g = Gen::from_size_and_seed(60, 1);
        let fails = |states: &States<Count, 2>| !merging_commutes(states.clone());
        let drawn = (0..100).map(|_| States::<Count, 2>::arbitrary(&mut g));
        let mut states = drawn
            .filter(fails)
            .max_by_key(|states| states.schedule().steps.len());
        let mut small = states.take().expect("a schedule that fails");
        assert!(small.schedule().steps.len() > 10);
        while let Some(smaller) = small.shrink().find(fails) {
            small = smaller;
        }
        // One side has an old count of the other.
        assert_eq!(
            small.schedule().to_string(),
            "k1 n2 | 0:do 0 | 0>1 | 0:do 0"
        );
        assert!(format!("{small:?}").contains("k1 n2 | 0:do 0 | 0>1 | 0:do 0"));
    }

    #[test]
    fn schedules_of_all_verbs_are_drawn() {
        let mut g = Gen::from_size_and_seed(40, 1);
        let drawn: Vec<Schedule> = (0..200).map(|_| Schedule::arbitrary(&mut g)).collect();
        assert!(
            drawn
                .iter()
                .all(|schedule| (1..=40).contains(&schedule.steps.len()))
        );
        // The step `clone` is in schedules of its own only.
        for verb in Verb::ALL.iter().filter(|verb| **verb != Verb::Clone) {
            let has = |schedule: &Schedule| schedule.steps.iter().any(|step| step.verb == *verb);
            assert!(drawn.iter().any(has), "{}", verb.name());
        }
    }
}
