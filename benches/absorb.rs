//! What a one-element delta costs in sets of 1,000 to 1,000,000 elements, beside a full merge.
//!
//! `cargo bench --bench absorb`. The first two groups must grow like a logarithm, the last one
//! linearly.

use divan::Bencher;

use commute::codec::Limits;
use commute::{Delta, OrSet, Replica, ReplicaId};

type Set = OrSet<u64>;

const SIZES: [u64; 4] = [1_000, 10_000, 100_000, 1_000_000];

fn main() {
    divan::main();
}

/// Two equal replicas of a set.
fn pair(size: u64) -> (Replica<Set>, Replica<Set>) {
    let mut a = Replica::<Set>::new(ReplicaId::from(1));
    let filled = a.edit(|set| set.extend((0..size).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15))));
    assert_eq!(filled, Ok(()));
    let b = a.fork_as(ReplicaId::from(2));
    (a, b)
}

fn toggle(set: &mut Replica<Set>) -> Delta<Set> {
    let changed = set.update(|set| match set.contains(&1) {
        true => set.remove(&1),
        false => set.insert(1),
    });
    changed.map_or_else(|_| Delta::empty(), |(_, delta)| delta)
}

#[divan::bench(args = SIZES)]
fn absorb_one_element(bencher: Bencher<'_, '_>, size: u64) {
    let (mut a, mut b) = pair(size);
    bencher
        .with_inputs(|| toggle(&mut a))
        .bench_local_values(|delta| b.absorb(&delta));
}

#[divan::bench(args = SIZES)]
fn decode_and_absorb_one_element(bencher: Bencher<'_, '_>, size: u64) {
    let (mut a, mut b) = pair(size);
    bencher
        .with_inputs(|| toggle(&mut a).to_bytes())
        .bench_local_values(|bytes| {
            Delta::from_bytes(&bytes, &Limits::default()).map(|delta| b.absorb(&delta))
        });
}

#[divan::bench(args = SIZES, sample_count = 5, sample_size = 1)]
fn merge_full_state(bencher: Bencher<'_, '_>, size: u64) {
    let (mut a, b) = pair(size);
    bencher
        .with_inputs(|| {
            drop(toggle(&mut a));
            (b.fork_as(ReplicaId::from(3)), a.fork_as(ReplicaId::from(4)))
        })
        .bench_local_values(|(mut mine, theirs)| (mine.merge(&theirs), mine, theirs));
}
