//! What an update costs must not grow with the number of replicas, nor reading with more than the bytes,
//! counted in bytes instead of time.
#![allow(clippy::unwrap_used, reason = "a test stops where it fails")]

use commute::{GCounter, Limits, LwwMap, Replica, ReplicaId, Stamp, State, Version};

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

#[test]
fn row_111_a_document_of_100_000_keys_is_read_in_20_times_its_bytes() {
    let mut a = Replica::<LwwMap<String, String>>::new(ReplicaId::from(1));
    let pairs = (0..100_000).map(|n| (format!("key {n:05}"), format!("the value of key {n:05}")));
    a.edit(|map| map.extend(pairs, Stamp::from_millis(1)))
        .unwrap();
    let bytes = a.to_bytes();
    let read = || State::<LwwMap<String, String>>::from_bytes(&bytes, &Limits::default()).unwrap();
    let (state, peak) = heap::peak(read);
    assert_eq!(state.len(), 100_000);
    assert!(peak <= 20 * bytes.len(), "{peak} bytes for {}", bytes.len());
}
