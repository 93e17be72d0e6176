//! `OrSet` beside `crdts::Orswot`: the same elements, the same work, the same run.

use std::collections::BTreeMap;
use std::hint::black_box;

use commute::State;
use commute::codec::Limits;
use commute_peers::heap::held;
use commute_peers::marks::Marks;
use commute_peers::rounds::{best, seconds};
use crdts::CvRDT;

use crate::sets::{
    BATCH, Ours, Peer, element, id, insert, insert_one, ours, peer, peer_insert, peer_insert_all,
    peer_remove, remove, remove_one,
};

pub fn measure(marks: &mut Marks, quick: bool) {
    let sizes: &[u64] = match quick {
        true => &[1_000, 100_000],
        false => &[1_000, 100_000, 1_000_000],
    };
    for &size in sizes {
        let rounds = match (quick, size) {
            (_, 1_000_000) => 5,
            (true, 100_000) => 8,
            _ => 30,
        };
        let mut sets = Sets::new(marks, size);
        sets.edits(marks, rounds);
        sets.reads(marks, rounds);
        sets.merges(marks, rounds.min(10));
    }
}

struct Sets {
    size: u64,
    name: String,
    ours: Ours,
    peer: Peer,
    std: BTreeMap<u64, u64>,
}

impl Sets {
    fn new(marks: &mut Marks, size: u64) -> Sets {
        let (ours, our_bytes) = held(|| ours(size));
        let (peer, peer_bytes) = held(|| peer(size));
        let std = (0..size).map(|n| (element(n), n)).collect();
        let name = format!("types.or_set.{size}");
        marks.at_most(
            &format!("{name}.heap_per_orswot"),
            our_bytes as f64 / peer_bytes as f64,
            0.6,
        );
        marks.info(
            &format!("{name}.heap_bytes_per_element"),
            our_bytes as f64 / size as f64,
        );
        Sets {
            size,
            name,
            ours,
            peer,
            std,
        }
    }

    fn name(&self, what: &str) -> String {
        format!("{}.{what}", self.name)
    }

    /// A batch of new elements goes in and out again.
    fn edits(&mut self, marks: &mut Marks, rounds: u32) {
        let new = self.size..self.size + BATCH;
        // Elements all over the set, removed and put back.
        let step = (self.size / BATCH) as usize;
        let old = || (0..self.size).step_by(step).take(BATCH as usize);
        let times = best(rounds, || {
            let mine = seconds(|| insert(&mut self.ours, new.clone()));
            remove(&mut self.ours, new.clone());
            let my_removal = seconds(|| remove(&mut self.ours, old()));
            insert(&mut self.ours, old());
            let single = seconds(|| {
                new.clone()
                    .for_each(|n| drop(insert_one(&mut self.ours, n)))
            });
            let single_removal = seconds(|| {
                new.clone()
                    .for_each(|n| drop(remove_one(&mut self.ours, n)))
            });
            let theirs = seconds(|| peer_insert(&mut self.peer, 1, new.clone()));
            peer_remove(&mut self.peer, new.clone());
            let their_removal = seconds(|| peer_remove(&mut self.peer, old()));
            peer_insert(&mut self.peer, 1, old());
            let all = seconds(|| peer_insert_all(&mut self.peer, 1, new.clone()));
            peer_remove(&mut self.peer, new.clone());
            let std = seconds(|| self.std.extend(new.clone().map(|n| (element(n), n))));
            self.std.retain(|_, n| *n < self.size);
            [
                mine,
                my_removal,
                single,
                single_removal,
                theirs,
                their_removal,
                all,
                std,
            ]
        });
        let [
            mine,
            my_removal,
            single,
            single_removal,
            theirs,
            their_removal,
            all,
            std,
        ] = times;
        marks.at_least(&self.name("insert_speed"), theirs / mine, 5.0);
        marks.at_least(&self.name("remove_speed"), their_removal / my_removal, 5.0);
        marks.at_most(&self.name("insert_per_btree_map"), mine / std, 4.0);
        // What our set could reach at most.
        marks.info(&self.name("insert_speed.of_btree_map"), theirs / std);
        marks.info(&self.name("insert_speed.both_in_one_update"), all / mine);
        marks.info(&self.name("insert_speed.an_update_each"), theirs / single);
        marks.info(
            &self.name("remove_speed.an_update_each"),
            their_removal / single_removal,
        );
        marks.info(&self.name("insert.ns"), mine * 1e9 / BATCH as f64);
        marks.info(
            &self.name("insert.an_update_each.ns"),
            single * 1e9 / BATCH as f64,
        );
    }

    fn reads(&mut self, marks: &mut Marks, rounds: u32) {
        let step = (self.size / BATCH) as usize;
        let some = || {
            let all = (0..self.size).step_by(step).take(BATCH as usize);
            all.map(element)
        };
        let times = best(rounds, || {
            [
                seconds(|| some().filter(|n| self.ours.contains(n)).count()),
                seconds(|| some().filter(|n| self.peer.contains(n).val).count()),
                seconds(|| self.ours.iter().fold(0, |sum: u64, n| sum.wrapping_add(*n))),
                seconds(|| {
                    let all = self.peer.iter();
                    all.fold(0, |sum: u64, n| sum.wrapping_add(*n.val))
                }),
                seconds(|| self.ours.state().clone()),
                seconds(|| {
                    let mut copy = self.ours.fork_as(id(2));
                    drop(insert_one(&mut copy, self.size));
                    copy
                }),
                seconds(|| self.peer.clone()),
            ]
        });
        let [
            contains,
            their_contains,
            iterate,
            their_iterate,
            share,
            copy,
            their_copy,
        ] = times;
        marks.info(&self.name("contains_speed"), their_contains / contains);
        marks.info(&self.name("iterate_speed"), their_iterate / iterate);
        marks.info(&self.name("duplicate_speed"), their_copy / share);
        marks.info(&self.name("duplicate_and_change_speed"), their_copy / copy);
    }

    fn merges(&mut self, marks: &mut Marks, rounds: u32) {
        let apart = Apart::new(self);
        let mut absorbing = self.ours.fork_as(id(5));
        let mut sending = self.ours.fork_as(id(6));
        drop(insert_one(&mut absorbing, self.size + 1));
        drop(insert_one(&mut sending, self.size + 2));
        let mut round = 0;
        let times = best(rounds, || {
            round += 1;
            let fresh = |n: u64| self.size + BATCH * (2 * round + n);
            let deltas: Vec<_> = (fresh(0)..fresh(1))
                .map(|n| insert_one(&mut sending, n))
                .collect();
            absorbing.merge(&self.ours).expect("honest");
            let absorb = seconds(|| {
                deltas.iter().for_each(|delta| {
                    black_box(absorbing.absorb(delta).expect("honest"));
                });
            });
            let (mut same, other) = (apart.copy(), apart.copy());
            let equal = seconds(|| same.merge(&other));
            let (mut peer_same, other) = (apart.peer.clone(), apart.peer.clone());
            let peer_equal = seconds(|| peer_same.merge(other));
            let mut mine = apart.copy();
            let merge = seconds(|| mine.merge(&apart.other));
            let (mut peer_mine, other) = (apart.peer.clone(), apart.peer_other.clone());
            let peer_merge = seconds(|| peer_mine.merge(other));
            assert_eq!(mine.len(), peer_mine.read().val.len());
            [absorb / BATCH as f64, equal, peer_equal, merge, peer_merge]
        });
        let [absorb, equal, peer_equal, merge, peer_merge] = times;
        marks.at_least(&self.name("merge_speed"), peer_merge / merge, 3.0);
        marks.info(&self.name("merge_of_equals_speed"), peer_equal / equal);
        let speed = peer_merge.min(peer_equal) / absorb;
        match self.size {
            100_000 => marks.at_least(&self.name("absorb_one_per_full_merge"), speed, 1_000.0),
            _ => marks.info(&self.name("absorb_one_per_full_merge"), speed),
        }
        marks.info(&self.name("absorb_one.ns"), absorb * 1e9);
    }
}

/// Two states that differ in one element of a hundred: each side has removed a quarter of these and
/// added a quarter.
struct Apart {
    bytes: Vec<u8>,
    other: State<commute::OrSet<u64>>,
    peer: Peer,
    peer_other: Peer,
}

impl Apart {
    fn new(sets: &Sets) -> Apart {
        let share = (sets.size / 400).max(1);
        let new = |side: u64| sets.size + 10 * BATCH + side * share;
        let (mut a, mut b) = (sets.ours.fork_as(id(3)), sets.ours.fork_as(id(4)));
        let (mut peer, mut peer_other) = (sets.peer.clone(), sets.peer.clone());
        for (side, (set, peer)) in [(&mut a, &mut peer), (&mut b, &mut peer_other)]
            .into_iter()
            .enumerate()
        {
            let side = side as u64;
            insert(set, new(side)..new(side + 1));
            remove(set, side * share..(side + 1) * share);
            peer_insert(peer, 3 + side, new(side)..new(side + 1));
            peer_remove(peer, side * share..(side + 1) * share);
        }
        Apart {
            bytes: a.state().to_bytes(),
            other: b.into_state(),
            peer,
            peer_other,
        }
    }

    /// A state that shares nothing with any other.
    fn copy(&self) -> State<commute::OrSet<u64>> {
        State::from_bytes(&self.bytes, &Limits::default()).expect("honest")
    }
}
