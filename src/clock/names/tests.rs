//! Sets of entries against plain sets.

use super::*;
use alloc::collections::BTreeSet;

fn entry(replica: u64, counter: u64, index: u32) -> EntryId {
    EntryId::new(
        Dot::new(ReplicaId::from(u128::from(replica)), counter),
        index,
    )
}

/// A pseudo-random set over 2 replicas, 5 updates and 4 indices.
fn set(seed: u64) -> BTreeSet<EntryId> {
    let mut bits = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ seed.rotate_left(31);
    let mut out = BTreeSet::new();
    for replica in 1..=2 {
        for counter in 1..=5 {
            for index in 0..4 {
                bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                if bits >> 61 < 4 {
                    out.insert(entry(replica, counter, index));
                }
            }
        }
    }
    out
}

fn same(names: &Names, entries: &BTreeSet<EntryId>) {
    let listed: BTreeSet<EntryId> = names.iter().collect();
    assert_eq!(&listed, entries);
    assert_eq!(
        names,
        &entries.iter().copied().collect::<Names>(),
        "not canonical"
    );
    assert_eq!(names.len(), entries.len() as u64);
}

#[test]
fn blocks_may_be_added_in_any_order() {
    let mut random = crate::env::SplitMix64::new(3);
    for _ in 0..2000 {
        let (mut names, mut entries) = (Names::new(), BTreeSet::new());
        for _ in 0..8 {
            let (first, index) = (1 + random.below(6), random.below(6) as u32);
            if random.below(2) == 0 {
                let count = 1 + random.below(3) as u32;
                names.push_stride(entry(1, first, 0).dot, index, count);
                entries.extend((0..count).map(|n| entry(1, first, index + 2 * n)));
            } else {
                let last = first + random.below(3);
                names.push_column(entry(1, 1, 0).dot.replica, first, last, index);
                entries.extend((first..=last).map(|counter| entry(1, counter, index)));
            }
            same(&names, &entries);
        }
    }
}

#[test]
fn algebra_agrees_with_plain_sets() {
    for seed in 0..400 {
        let (p, q) = (set(seed), set(seed + 1000));
        let (x, y): (Names, Names) = (p.iter().copied().collect(), q.iter().copied().collect());
        same(&x, &p);
        same(&x.union(&y), &(&p | &q));
        same(&x.intersection(&y), &(&p & &q));
        same(&x.difference(&y), &(&p - &q));
        let dots: Dots = q.iter().take(4).map(|entry| entry.dot).collect();
        same(
            &x.restrict(&dots),
            &p.iter().copied().filter(|e| dots.contains(e.dot)).collect(),
        );
        same(
            &x.without(&dots),
            &p.iter()
                .copied()
                .filter(|e| !dots.contains(e.dot))
                .collect(),
        );
        assert_eq!(x.is_disjoint(&y), p.is_disjoint(&q));
        let beyond = |entry: &&EntryId| !dots.contains(entry.dot);
        assert_eq!(
            x.is_subset_beyond(&dots, &y),
            p.iter().filter(beyond).all(|entry| q.contains(entry))
        );
        assert!(x.union(&y).weight() <= x.weight() + y.weight() + x.weight_with(&y));
        assert!(x.without(&dots).weight() <= x.weight_cut(&dots));
        assert_eq!(Names::union_of(&[&x, &y, &x]), Some(x.union(&y)));
        assert!(set(7).iter().all(|e| x.contains(*e) == p.contains(e)));
    }
}

#[test]
fn typing_and_pasting_are_one_block_each() {
    let typed: Names = (1..=10_000).map(|n| entry(1, n, 0)).collect();
    assert_eq!(typed.blocks.values().flatten().count(), 1);
    let mut pasted = Names::new();
    pasted.push_stride(Dot::new(ReplicaId::from(1), 4), 0, 10_000);
    assert_eq!(pasted.len(), 10_000);
    assert!(pasted.contains(entry(1, 4, 19_998)) && !pasted.contains(entry(1, 4, 1)));
}

#[test]
fn a_block_may_be_added_anywhere() {
    let mut names = Names::new();
    names.push_column(ReplicaId::from(1), 5, 9, 1);
    names.push_column(ReplicaId::from(1), 2, 6, 0);
    names.push_column(ReplicaId::from(1), 1, 1, 0);
    let want = (1..=6)
        .map(|n| entry(1, n, 0))
        .chain((5..=9).map(|n| entry(1, n, 1)));
    same(&names, &want.collect());
}

#[test]
fn extreme_counters_do_not_overflow() {
    let mut names = Names::new();
    names.push_column(ReplicaId::from(1), 1, u64::MAX, 3);
    assert_eq!(names.len(), u64::MAX);
    assert!(names.difference(&names).is_empty());
    assert_eq!(names.union(&names), names);
}
