//! One replica of a session, with its link and what has arrived before it was wanted.

use std::collections::BTreeMap;
use std::error::Error;
use std::time::Duration;

use commute::codec::Limits;
use commute::env::{Env, SystemEnv};
use commute::{Applied, Delta, Dot, Replica, ReplicaId, State, Version};

use crate::log::Log;
use crate::network::{Link, Weather};
use crate::page::Document;

/// Why the tour cannot go on. It may cross from one thread to another.
pub type Failure = Box<dyn Error + Send + Sync>;

/// What became of the deltas that reached a replica, and how long that took.
#[derive(Clone, Copy, Default, Debug)]
pub struct Merged {
    /// Brought something new.
    pub new: u64,
    /// Brought nothing.
    pub duplicates: u64,
    /// Came before their past and waited.
    pub waited: u64,
    /// How many waited at once, at most.
    pub waiting_max: usize,
    /// Answers to `delta_since`.
    pub answers: u64,
    /// Updates sent again because no replica could give a fitting answer.
    pub again: u64,
    /// Replicas that came late and were given a state whole.
    pub joined: u64,
    /// Bytes of all these.
    pub repair_bytes: u64,
    /// Time spent on decoding and merging.
    pub time: Duration,
}

impl Merged {
    /// Counts what became of one delta.
    pub fn count(&mut self, applied: &Applied, waiting: usize) {
        match applied {
            Applied::Duplicate => self.duplicates += 1,
            Applied::Waiting(_) => self.waited += 1,
            _ => self.new += 1,
        }
        self.waiting_max = self.waiting_max.max(waiting);
    }

    /// Both together.
    pub fn add(&mut self, other: &Merged) {
        self.new += other.new;
        self.duplicates += other.duplicates;
        self.waited += other.waited;
        self.waiting_max = self.waiting_max.max(other.waiting_max);
        self.answers += other.answers;
        self.again += other.again;
        self.joined += other.joined;
        self.repair_bytes += other.repair_bytes;
        self.time += other.time;
    }
}

/// A replica of an agent.
pub struct Peer<D: Document> {
    /// What it holds.
    pub replica: Replica<D>,
    /// Whose it is.
    pub agent: usize,
    /// How many patches it has applied itself.
    pub keystrokes: u64,
    /// What is on its way to it.
    pub link: Link,
    /// How its merging went.
    pub merged: Merged,
    /// Arrived, by name and order of arrival: nothing is absorbed before the recorded author had
    /// it, because the recorded positions belong to exactly what the author saw.
    inbox: BTreeMap<(Dot, u64), usize>,
    arrived: u64,
}

impl<D: Document> Peer<D> {
    /// An empty replica.
    pub fn new(id: u64, agent: usize, weather: Weather) -> Peer<D> {
        Peer {
            agent,
            keystrokes: 0,
            replica: Replica::new(ReplicaId::from(u128::from(id))),
            link: Link::new(weather, id),
            merged: Merged::default(),
            inbox: BTreeMap::new(),
            arrived: 0,
        }
    }

    /// Takes what has arrived before the edit number `edit` (`None`: all that still travels).
    ///
    /// What is known already, by a second copy or an earlier answer, is merged once more: that it
    /// changes nothing is part of the promise.
    pub fn collect(&mut self, edit: Option<usize>, log: &Log) -> Result<(), Failure> {
        while let Some(number) = match edit {
            Some(edit) => self.link.receive(edit),
            None => self.link.receive_at_last(),
        } {
            let dot = log.dot(number);
            if self.replica.version().contains(dot) {
                self.absorb_numbers(&[number], log)?;
            } else {
                self.arrived += 1;
                self.inbox.insert((dot, self.arrived), number);
            }
        }
        Ok(())
    }

    /// How much of `past` is neither known nor in the inbox.
    pub fn not_arrived(&self, past: &Version) -> usize {
        let missing = past.difference(self.replica.version());
        let mut arrived: Vec<Dot> = Vec::new();
        for (id, first, last) in missing.ranges() {
            let range = (Dot::new(id, first), 0)..=(Dot::new(id, last), u64::MAX);
            arrived.extend(self.inbox.range(range).map(|((dot, _), _)| *dot));
        }
        // Ascending, so that second copies stand together.
        arrived.dedup();
        missing.len() as usize - arrived.len()
    }

    /// Absorbs, in the order of arrival, what the inbox has of `past`.
    pub fn absorb_arrived(&mut self, past: &Version, log: &Log) -> Result<(), Failure> {
        let mut wanted = Vec::new();
        for (id, first, last) in past.difference(self.replica.version()).ranges() {
            let range = (Dot::new(id, first), 0)..=(Dot::new(id, last), u64::MAX);
            wanted.extend(self.inbox.range(range).map(|(&key, &number)| (key, number)));
        }
        wanted
            .iter()
            .for_each(|(key, _)| _ = self.inbox.remove(key));
        wanted.sort_unstable_by_key(|((_, arrival), _)| *arrival);
        let numbers: Vec<usize> = wanted.into_iter().map(|(_, number)| number).collect();
        self.absorb_numbers(&numbers, log)
    }

    /// Absorbs updates as they came from the wire.
    pub fn absorb_numbers(&mut self, numbers: &[usize], log: &Log) -> Result<(), Failure> {
        let started = SystemEnv::new().now();
        for number in numbers {
            let applied = self.replica.absorb(&log.decode(*number)?)?;
            self.merged.count(&applied, self.replica.waiting());
        }
        self.merged.time += SystemEnv::new().now().saturating_since(started);
        Ok(())
    }

    /// Starts from the whole state of another replica, as one who joins late does.
    pub fn join(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let started = SystemEnv::new().now();
        let state = State::from_bytes(bytes, &Limits::default())?;
        self.replica = Replica::from_state(state, self.replica.id());
        self.merged.joined += 1;
        self.merged.repair_bytes += bytes.len() as u64;
        self.merged.time += SystemEnv::new().now().saturating_since(started);
        Ok(())
    }

    /// Absorbs a delta that was asked for.
    pub fn absorb_repair(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let started = SystemEnv::new().now();
        let delta = Delta::from_bytes(bytes, &Limits::default())?;
        let applied = self.replica.absorb(&delta)?;
        self.merged.count(&applied, self.replica.waiting());
        self.merged.repair_bytes += bytes.len() as u64;
        self.merged.time += SystemEnv::new().now().saturating_since(started);
        Ok(())
    }

    /// Whether nothing that had waited turned out wrong.
    pub fn check_rejected(&mut self) -> Result<(), Failure> {
        match self.replica.take_rejected().into_iter().next() {
            Some(error) => Err(error.into()),
            None => Ok(()),
        }
    }
}
