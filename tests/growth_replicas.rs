//! What an update costs must not grow with the number of replicas, counted in bytes instead of time.
#![allow(clippy::unwrap_used, reason = "a test stops where it fails")]

use commute::{GCounter, Replica, ReplicaId, Version};

#[path = "types/hostile/heap.rs"]
#[allow(dead_code, reason = "another test uses the rest")]
mod heap;

#[global_allocator]
static HEAP: heap::Counting = heap::Counting;

fn counter(id: u128) -> Replica<GCounter> {
    Replica::new(ReplicaId::from(id))
}

/// The most bytes held while one update is absorbed into a state that `replicas` made.
fn cost(replicas: u128) -> usize {
    let mut a = counter(1);
    for id in 2..=replicas {
        let mut other = counter(id);
        other.edit(|count| count.add(1)).unwrap();
        a.absorb(&other.delta_since(&Version::new())).unwrap();
    }
    a.edit(|count| count.add(1)).unwrap();
    let mut b = a.fork_as(ReplicaId::from(0));
    let deltas = [0, 1].map(|_| a.update(|count| count.add(1)).unwrap().1);
    // The first makes room in what grows by doubling.
    b.absorb(&deltas[0]).unwrap();
    heap::peak(|| b.absorb(&deltas[1]).unwrap()).1
}

#[test]
fn absorbing_an_update_takes_no_more_memory_where_more_replicas_took_part() {
    let (few, many) = (cost(2), cost(500));
    assert!(
        many <= few + 1024,
        "{few} bytes with 2 replicas, {many} with 500"
    );
}
