//! The two sets of one content, and the operations that both have.

use commute::{Delta, OrSet, Replica, ReplicaId};
use crdts::{CmRDT, Orswot};

pub type Ours = Replica<OrSet<u64>>;
pub type Peer = Orswot<u64, u64>;

/// The elements of one timed batch, which is one update of ours.
pub const BATCH: u64 = 1_000;

/// Element `n`: all over the range, no two alike.
pub fn element(n: u64) -> u64 {
    n.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

pub fn id(n: u64) -> ReplicaId {
    ReplicaId::from(u128::from(n) << 64 | u128::from(element(n)))
}

/// Our set of elements `0..size`, in updates of a thousand.
pub fn ours(size: u64) -> Ours {
    let mut set = Ours::new(id(1));
    for first in (0..size).step_by(BATCH as usize) {
        insert(&mut set, first..size.min(first + BATCH));
    }
    set
}

/// The peer's set of elements `0..size`, an operation for each.
pub fn peer(size: u64) -> Peer {
    let mut set = Peer::new();
    peer_insert(&mut set, 1, 0..size);
    set
}

/// One update.
pub fn insert(set: &mut Ours, elements: impl Iterator<Item = u64>) {
    set.edit(|view| view.extend(elements.map(element)))
        .expect("room for more");
}

/// One update.
pub fn remove(set: &mut Ours, mut elements: impl Iterator<Item = u64>) {
    set.edit(|view| elements.try_for_each(|n| view.remove(&element(n)).map(drop)))
        .expect("removals cannot fail");
}

pub fn insert_one(set: &mut Ours, n: u64) -> Delta<OrSet<u64>> {
    set.update(|view| view.insert(element(n)))
        .expect("room for more")
        .1
}

pub fn remove_one(set: &mut Ours, n: u64) -> Delta<OrSet<u64>> {
    set.update(|view| view.remove(&element(n)))
        .expect("removals cannot fail")
        .1
}

pub fn peer_insert(set: &mut Peer, actor: u64, elements: impl Iterator<Item = u64>) {
    for n in elements {
        let context = set.read_ctx().derive_add_ctx(actor);
        set.apply(set.add(element(n), context));
    }
}

/// One operation.
pub fn peer_insert_all(set: &mut Peer, actor: u64, elements: impl Iterator<Item = u64>) {
    let context = set.read_ctx().derive_add_ctx(actor);
    set.apply(set.add_all(elements.map(element), context));
}

pub fn peer_remove(set: &mut Peer, elements: impl Iterator<Item = u64>) {
    for n in elements {
        let n = element(n);
        let context = set.contains(&n).derive_rm_ctx();
        set.apply(set.rm(n, context));
    }
}
