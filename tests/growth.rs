//! Costs that must not grow with the state, counted in comparisons instead of time.
#![allow(clippy::unwrap_used, reason = "a test stops where it fails")]

use std::cell::Cell;
use std::cmp::Ordering;

use commute::codec::Key;
use commute::{Limits, OrSet, Replica, ReplicaId, State};

thread_local! {
    static COMPARISONS: Cell<u64> = const { Cell::new(0) };
}

/// A key that counts how often it is compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Counted(u32);

impl PartialOrd for Counted {
    fn partial_cmp(&self, other: &Counted) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Counted {
    fn cmp(&self, other: &Counted) -> Ordering {
        COMPARISONS.with(|count| count.set(count.get() + 1));
        self.0.cmp(&other.0)
    }
}

impl Key for Counted {
    fn encode(&self, out: &mut Vec<u8>) {
        self.0.encode(out);
    }

    fn decode(bytes: &[u8]) -> Option<Counted> {
        u32::decode(bytes).map(Counted)
    }
}

fn comparisons(work: impl FnOnce()) -> u64 {
    let before = COMPARISONS.with(Cell::get);
    work();
    COMPARISONS.with(Cell::get) - before
}

/// Comparisons for an insert and a removal, made at one replica of `size` elements and absorbed by
/// another one.
fn costs(size: u32) -> [u64; 4] {
    let mut a = Replica::<OrSet<Counted>>::new(ReplicaId::from(1));
    a.edit(|set| set.extend((0..size).map(|n| Counted(n * 2))))
        .unwrap();
    let mut b = a.fork_as(ReplicaId::from(2));
    // A fork shares its state until one side changes: that one copies it once.
    let (_, apart) = a.update(|set| set.insert(Counted(1))).unwrap();
    b.absorb(&apart).unwrap();
    let middle = Counted(size + 1);
    let mut delta = None;
    let insert = comparisons(|| delta = Some(a.update(|set| set.insert(middle)).unwrap().1));
    let bytes = delta.as_ref().map(|delta| delta.to_bytes().len()).unwrap();
    assert!(
        bytes < 100,
        "a one-element delta in a set of {size} takes {bytes} bytes"
    );
    let absorb_insert = comparisons(|| drop(b.absorb(delta.as_ref().unwrap()).unwrap()));
    let remove = comparisons(|| delta = Some(a.update(|set| set.remove(&middle)).unwrap().1));
    let absorb_remove = comparisons(|| drop(b.absorb(delta.as_ref().unwrap()).unwrap()));
    assert_eq!((a.len(), &a), (size as usize + 1, &b));
    [insert, absorb_insert, remove, absorb_remove]
}

#[test]
fn one_element_costs_a_logarithm_of_the_set() {
    let small = costs(1_000);
    let large = costs(100_000);
    // A B-tree of 100 times the size is two levels deeper.
    for (small, large) in small.into_iter().zip(large) {
        assert!(
            large <= 2 * small + 40,
            "{small} comparisons at 1,000, {large} at 100,000"
        );
    }
}

/// Comparisons for reading a state of `size` elements, for joining two halves of it, and for an answer
/// with half of it.
fn whole_costs(size: u32) -> [u64; 3] {
    let [mut a, mut b] = [1, 2].map(|id| Replica::<OrSet<Counted>>::new(ReplicaId::from(id)));
    let halves = [(&mut a, 0), (&mut b, 1)];
    for (half, from) in halves {
        let values = (from..size).step_by(2).map(Counted);
        half.edit(|set| set.extend(values)).unwrap();
    }
    let answer = b.delta_since(a.version());
    let absorbed = comparisons(|| {
        let mut other = a.fork_as(ReplicaId::from(3));
        let _ = other.absorb(&answer).unwrap();
    });
    let merged = comparisons(|| drop(a.merge(&b).unwrap()));
    let bytes = a.to_bytes();
    let read = comparisons(|| {
        let state = State::<OrSet<Counted>>::from_bytes(&bytes, &Limits::default());
        assert_eq!(state.unwrap().len(), size as usize);
    });
    [read, merged, absorbed]
}

#[test]
fn row_113_whole_states_cost_twice_as_much_where_they_are_twice_as_large() {
    let (small, large) = (whole_costs(4_000), whole_costs(8_000));
    for (small, large) in small.into_iter().zip(large) {
        assert!(
            small > 4_000 && large * 2 < small * 5,
            "{small} and {large}"
        );
    }
}
