//! Two states of a type and of its peer that have gone apart, to be merged.

use commute::codec::Limits;
use commute::kernel::Replicated;
use commute::{Replica, State};
use commute_peers::marks::Marks;
use commute_peers::rounds::{best, seconds};
use crdts::CvRDT;

/// Ours and theirs, each from both sides.
pub struct Pair<S: Replicated, P> {
    bytes: Vec<u8>,
    other: State<S>,
    peer: P,
    peer_other: P,
}

impl<S: Replicated, P: CvRDT + Clone> Pair<S, P> {
    pub fn new(ours: [&Replica<S>; 2], theirs: [&P; 2]) -> Pair<S, P> {
        Pair {
            bytes: ours[0].state().to_bytes(),
            other: State::from_bytes(&ours[1].state().to_bytes(), &Limits::default())
                .expect("honest"),
            peer: theirs[0].clone(),
            peer_other: theirs[1].clone(),
        }
    }

    /// How many times as fast as theirs our merge is.
    pub fn compare(&self, marks: &mut Marks, name: &str, rounds: u32) {
        let times = best(rounds, || {
            let mut mine = State::<S>::from_bytes(&self.bytes, &Limits::default()).expect("honest");
            let merge = seconds(|| mine.merge(&self.other).expect("honest"));
            let (mut peer, other) = (self.peer.clone(), self.peer_other.clone());
            [merge, seconds(|| peer.merge(other))]
        });
        let [merge, peer_merge] = times;
        marks.at_least(name, peer_merge / merge, 5.0);
        marks.info(&format!("{name}.us"), merge * 1e6);
    }
}
