//! Counters, maps and registers: increments beside std, merges beside `crdts`.

use std::collections::BTreeMap;
use std::hint::black_box;

use commute::{GCounter, MvRegister, OrMap, PnCounter, Replica};
use commute_peers::marks::Marks;
use commute_peers::rounds::{best, seconds};
use crdts::{CmRDT, MVReg, Map};

use crate::pairs::Pair;
use crate::sets::{BATCH, element, id};

const REPLICAS: u64 = 1_000;

pub fn measure(marks: &mut Marks, quick: bool) {
    let rounds = if quick { 20 } else { 100 };
    increments(marks, rounds);
    counters(marks, rounds);
    registers(marks, rounds);
    for keys in [1_000, 10_000] {
        maps(marks, keys, rounds / 2);
    }
}

fn increments(marks: &mut Marks, rounds: u32) {
    let mut grow = Replica::<GCounter>::new(id(1));
    let mut both = Replica::<PnCounter>::new(id(1));
    let mut std = BTreeMap::from([(id(1), 0_u64)]);
    let mut peer = crdts::GCounter::<u64>::new();
    let times = best(50 * rounds, || {
        [
            seconds(|| grow.edit(|n| (0..BATCH).try_for_each(|_| n.add(black_box(1))))),
            seconds(|| both.edit(|n| (0..BATCH).try_for_each(|_| n.add(black_box(1))))),
            seconds(|| {
                for _ in 0..BATCH {
                    if let Some(total) = std.get_mut(&black_box(id(1))) {
                        *total += black_box(1);
                    }
                }
            }),
            seconds(|| {
                (0..BATCH).for_each(|_| peer.apply(peer.inc(black_box(1))));
            }),
            seconds(|| {
                (0..BATCH).for_each(|_| grow.edit(|n| n.add(black_box(1))).expect("room"));
            }),
        ]
    });
    let [grow, both, std, peer, single] = times;
    marks.at_most("types.g_counter.add_per_get_mut", grow / std, 4.0);
    marks.at_most("types.pn_counter.add_per_get_mut", both / std, 4.0);
    marks.info("types.g_counter.add.ns", grow * 1e9 / BATCH as f64);
    marks.info("types.g_counter.add_speed", peer / grow);
    marks.info("types.g_counter.add_speed.an_update_each", peer / single);
}

/// Both have counted at each of a thousand replicas, and each goes on at ten of them.
fn counters(marks: &mut Marks, rounds: u32) {
    let mut grow = Replica::<GCounter>::new(id(0));
    let mut both = Replica::<PnCounter>::new(id(0));
    let (mut peer_grow, mut peer_both) = (crdts::GCounter::new(), crdts::PNCounter::new());
    for n in 1..=REPLICAS {
        grow = grow.fork_as(id(n));
        both = both.fork_as(id(n));
        grow.edit(|count| count.add(n)).expect("room");
        both.edit(|count| count.subtract(n)).expect("room");
        peer_grow.apply(peer_grow.inc_many(n, n));
        peer_both.apply(peer_both.dec_many(n, n));
    }
    let (mut grow, mut both) = ([grow.fork_as(id(0)), grow], [both.fork_as(id(0)), both]);
    let mut peer_grow = [peer_grow.clone(), peer_grow];
    let mut peer_both = [peer_both.clone(), peer_both];
    for side in 0..2 {
        for n in (1 + side as u64..=REPLICAS).step_by(100) {
            grow[side] = grow[side].fork_as(id(n));
            both[side] = both[side].fork_as(id(n));
            grow[side].edit(|count| count.add(1)).expect("room");
            both[side].edit(|count| count.subtract(1)).expect("room");
            peer_grow[side].apply(peer_grow[side].inc(n));
            peer_both[side].apply(peer_both[side].dec(n));
        }
    }
    Pair::new(grow.each_ref(), peer_grow.each_ref()).compare(
        marks,
        "types.g_counter.merge_speed",
        rounds,
    );
    Pair::new(both.each_ref(), peer_both.each_ref()).compare(
        marks,
        "types.pn_counter.merge_speed",
        rounds,
    );
}

/// A hundred replicas have written concurrently; each side misses ten of the writes.
fn registers(marks: &mut Marks, rounds: u32) {
    let (a, b) = (id(1_001), id(1_002));
    let mut ours = [
        Replica::<MvRegister<u64>>::new(a),
        Replica::<MvRegister<u64>>::new(b),
    ];
    let mut peers = [MVReg::<u64, u64>::new(), MVReg::new()];
    for n in 1..=100 {
        let mut one = Replica::<MvRegister<u64>>::new(id(n));
        one.edit(|register| register.set(n)).expect("room");
        let peer = MVReg::<u64, u64>::new();
        let write = peer.write(n, peer.read_ctx().derive_add_ctx(n));
        for side in 0..2 {
            if n % 10 != side as u64 {
                ours[side].merge(&one).expect("honest");
                peers[side].apply(write.clone());
            }
        }
    }
    Pair::new(ours.each_ref(), peers.each_ref()).compare(
        marks,
        "types.mv_register.merge_speed",
        rounds,
    );
}

/// Maps of registers, of which each side has written one of two hundred.
fn maps(marks: &mut Marks, keys: u64, rounds: u32) {
    let mut ours = Replica::<OrMap<u64, MvRegister<u64>>>::new(id(1));
    let mut peer = Map::<u64, MVReg<u64, u64>, u64>::new();
    let write = |peer: &mut Map<u64, MVReg<u64, u64>, u64>, actor: u64, n: u64| {
        let context = peer.read_ctx().derive_add_ctx(actor);
        let op = peer.update(element(n), context, |register, context| {
            register.write(n, context)
        });
        peer.apply(op);
    };
    for n in 0..keys {
        ours.edit(|map| map.entry(element(n)).set(n)).expect("room");
        write(&mut peer, 1, n);
    }
    let mut ours = [ours.fork_as(id(2)), ours.fork_as(id(3))];
    let mut peers = [peer.clone(), peer];
    for side in 0..2 {
        for n in (side as u64..keys).step_by(200) {
            ours[side]
                .edit(|map| map.entry(element(n)).set(n + 1))
                .expect("room");
            write(&mut peers[side], 2 + side as u64, n);
        }
    }
    Pair::new(ours.each_ref(), peers.each_ref()).compare(
        marks,
        &format!("types.or_map.{keys}.merge_speed"),
        rounds,
    );
}
