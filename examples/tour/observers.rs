//! Those who only listen: everything over the lossy network, and now and then a question.

use std::ops::Range;

use commute::codec::Limits;
use commute::env::{Env, SystemEnv};
use commute::{Delta, State};

use crate::log::Log;
use crate::network::{Link, Traffic, Weather};
use crate::page::Document;
use crate::parallel::in_parallel;
use crate::peer::{Failure, Merged};
use crate::replay::Replay;

/// Without an identity, since it never edits.
struct Observer<D: Document> {
    state: State<D>,
    link: Link,
    merged: Merged,
}

/// One observer for each agent.
pub struct Observers<D: Document> {
    all: Vec<Observer<D>>,
}

impl<D: Document> Observer<D> {
    fn new(seed: u64) -> Observer<D> {
        Observer {
            state: State::new(),
            link: Link::new(Weather::STORM, seed),
            merged: Merged::default(),
        }
    }

    /// Hears the updates in `numbers` as they are made.
    fn hear(&mut self, numbers: Range<usize>, log: &Log) -> Result<(), Failure> {
        let started = SystemEnv::new().now();
        for number in numbers {
            while let Some(arrived) = self.link.receive(number) {
                self.absorb(arrived, log)?;
            }
            self.link.send(number, number);
        }
        self.merged.time += SystemEnv::new().now().saturating_since(started);
        Ok(())
    }

    /// Hears what is still on its way.
    fn hear_the_rest(&mut self, log: &Log) -> Result<(), Failure> {
        while let Some(arrived) = self.link.receive_at_last() {
            self.absorb(arrived, log)?;
        }
        Ok(())
    }

    fn absorb(&mut self, number: usize, log: &Log) -> Result<(), Failure> {
        let applied = self.state.absorb(&log.decode(number)?)?;
        self.merged.count(&applied, self.state.waiting());
        Ok(())
    }

    /// "What do I lack?" One answer brings whatever was lost.
    fn ask(&mut self, source: &State<D>) -> Result<(), Failure> {
        let started = SystemEnv::new().now();
        // This answer or a later one brings what waits as well, all at once and not one by one.
        self.state.drop_waiting();
        let answer = source.delta_since(self.state.version());
        if !answer.is_empty() {
            let bytes = answer.to_bytes();
            let _ = self
                .state
                .absorb(&Delta::from_bytes(&bytes, &Limits::default())?)?;
            self.merged.answers += 1;
            self.merged.repair_bytes += bytes.len() as u64;
        }
        self.merged.time += SystemEnv::new().now().saturating_since(started);
        Ok(())
    }
}

impl<D: Document> Observers<D> {
    /// As many observers that know nothing.
    pub fn new(count: usize) -> Observers<D> {
        // Other seeds than those of the replicas' links.
        let seeds = (0..count as u64).map(|at| u64::MAX - at);
        let all = seeds.map(Observer::new).collect();
        Observers { all }
    }

    /// All hear the same updates, each over its own link; then each asks its agent's replica.
    pub fn hear(&mut self, numbers: Range<usize>, replay: &Replay<D>) -> Result<(), Failure> {
        in_parallel(&mut self.all, |agent, observer| {
            observer.hear(numbers.clone(), replay.log())?;
            observer.ask(replay.peer_of(agent).replica.state())
        })
    }

    /// All hear what is still on its way, and are repaired by one last answer.
    pub fn finish(&mut self, replay: &Replay<D>) -> Result<(), Failure> {
        in_parallel(&mut self.all, |agent, observer| {
            observer.hear_the_rest(replay.log())?;
            observer.ask(replay.peer_of(agent).replica.state())?;
            match observer.state.take_rejected().into_iter().next() {
                Some(error) => Err(error.into()),
                None => Ok(()),
            }
        })
    }

    /// What they hold.
    pub fn states(&self) -> impl Iterator<Item = &State<D>> {
        self.all.iter().map(|observer| &observer.state)
    }

    /// What the network did, and how the merging went.
    pub fn totals(&self) -> (Traffic, Merged) {
        let (mut traffic, mut merged) = (Traffic::default(), Merged::default());
        for observer in &self.all {
            traffic.add(observer.link.traffic());
            merged.add(&observer.merged);
        }
        (traffic, merged)
    }
}
