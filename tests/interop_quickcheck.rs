//! Arbitrary ids and clocks are valid, meet each other, and shrink to valid ones.
#![cfg(feature = "quickcheck")]

use std::collections::BTreeSet;

use commute::quickcheck::{Arbitrary, Gen, quickcheck};
use commute::{Dot, Dots, EntryId, Lamport, ReplicaId, Version};

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
