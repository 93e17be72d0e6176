//! The engine against the pure rule, against `String`, and against the clock of tree steps.

mod engine;
mod hostile;
mod local;
mod shape;

use super::Sequence;
use crate::clock::{Dot, EntryId, ReplicaId};

/// Random numbers from one seed (SplitMix64; Steele et al. 2014).
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(super) fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    pub(super) fn text(&mut self, len: usize) -> String {
        let scripts = ['a', 'b', '\u{e9}', '\u{6f22}', '\u{1f309}', '\u{301}'];
        let kinds = [1, 2, 6][self.below(3)];
        (0..len).map(|_| scripts[self.below(kinds)]).collect()
    }
}

pub(super) fn replica(id: u128) -> ReplicaId {
    ReplicaId::from(id)
}

pub(super) fn entry(id: u128, counter: u64, index: u32) -> EntryId {
    EntryId {
        dot: Dot {
            replica: replica(id),
            counter,
        },
        index,
    }
}

pub(super) fn text_of(sequence: &Sequence) -> String {
    sequence.chunks().collect()
}

#[test]
fn a_sequence_may_cross_threads() {
    fn crosses<T: Send + Sync + 'static>() {}
    crosses::<Sequence>();
}
