//! The updates of a session as their authors keep them: the bytes that went out.

use std::collections::BTreeMap;

use commute::codec::{DecodeError, Limits};
use commute::{Delta, Dot, Dots, ReplicaId, Replicated};

/// Every update made so far, in the order of the recording.
#[derive(Default, Debug)]
pub struct Log {
    updates: Vec<Sent>,
    by_author: BTreeMap<ReplicaId, Vec<usize>>,
    bytes: u64,
}

#[derive(Debug)]
struct Sent {
    dot: Dot,
    bytes: Vec<u8>,
}

impl Log {
    /// Notes a new update; returns its number.
    pub fn push(&mut self, dot: Dot, bytes: Vec<u8>) -> usize {
        let number = self.updates.len();
        self.bytes += bytes.len() as u64;
        self.by_author.entry(dot.replica).or_default().push(number);
        self.updates.push(Sent { dot, bytes });
        number
    }

    /// How many updates there are.
    pub fn len(&self) -> usize {
        self.updates.len()
    }

    /// How many bytes they have.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The name of an update.
    pub fn dot(&self, number: usize) -> Dot {
        self.updates[number].dot
    }

    /// An update as it comes from the wire.
    pub fn decode<D: Replicated>(&self, number: usize) -> Result<Delta<D>, DecodeError> {
        Delta::from_bytes(&self.updates[number].bytes, &Limits::default())
    }

    /// The numbers of `dots`, in the order of the recording.
    pub fn numbers(&self, dots: &Dots) -> Vec<usize> {
        let mut numbers = Vec::new();
        for (author, first, last) in dots.ranges() {
            if let Some(mine) = self.by_author.get(&author) {
                numbers.extend_from_slice(&mine[first as usize - 1..last as usize]);
            }
        }
        numbers.sort_unstable();
        numbers
    }
}
