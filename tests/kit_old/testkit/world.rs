//! A system of replicas that performs steps and keeps its own account of what happened.

use std::collections::BTreeMap;

use commute::codec::Limits;
use commute::kernel::EditError;
use commute::{Delta, Dot, Replica, ReplicaId, State};

use super::log::{Event, Events, Log};
use super::mail::{Held, Message};
use super::rng::Rng;
use super::step::{Step, Verb};
use super::subject::{Source, Subject};

/// A law that does not hold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Broken {
    pub law: &'static str,
    pub what: String,
}

pub type Checked<T = ()> = Result<T, Broken>;

/// `holds`, or `law` is broken.
///
/// # Errors
/// [`Broken`] if not.
pub fn ensure(law: &'static str, holds: bool, what: impl FnOnce() -> String) -> Checked {
    match holds {
        true => Ok(()),
        false => Err(Broken { law, what: what() }),
    }
}

/// `got` must be `expected`.
///
/// # Errors
/// [`Broken`] if not.
pub fn same<T: PartialEq + std::fmt::Debug>(law: &'static str, got: &T, expected: &T) -> Checked {
    ensure(law, got == expected, || {
        format!("got {got:?}\n      expected {expected:?}")
    })
}

/// How often something happened, so that no fault is tested that never occurs.
pub type Marks = BTreeMap<&'static str, u64>;

/// How much is checked.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// The costly laws are checked after every so many steps.
    pub every: usize,
    /// How many random choices of states and deltas they are checked with.
    pub draws: usize,
}

/// One place where a replica runs; crashes give it a new identity.
pub struct Node<S: Subject> {
    pub replica: Replica<S>,
    /// What it must include.
    pub seen: Events,
    /// What must be waiting.
    pub waiting: Vec<Held<S>>,
    saved: Option<(Vec<u8>, Events)>,
    pub sent: u32,
}

/// A state of the run without anything waiting.
pub struct Sample<S: Subject> {
    pub state: State<S>,
    pub seen: Events,
}

impl<S: Subject> Clone for Sample<S> {
    fn clone(&self) -> Sample<S> {
        Sample {
            state: self.state.clone(),
            seen: self.seen.clone(),
        }
    }
}

/// Samples kept for the laws about several states.
const SAMPLES_MAX: usize = 16;

/// The whole system.
pub struct World<S: Subject> {
    pub nodes: Vec<Node<S>>,
    pub log: Log<S::Op>,
    /// All updates and answers ever made, with their senders.
    pub pool: Vec<(usize, Held<S>)>,
    pub mail: BTreeMap<(usize, u32), Message<S>>,
    /// The bytes of each set of events that was ever included.
    pub canon: BTreeMap<Events, Vec<u8>>,
    pub samples: Vec<Sample<S>>,
    pub memory: S::Memory,
    pub marks: Marks,
    pub rng: Rng,
    /// One line per step, if it is to be told.
    pub story: Option<Vec<String>>,
    sides: u32,
    ids: u32,
    serial: u64,
}

impl<S: Subject> World<S> {
    pub fn new(replicas: u32) -> World<S> {
        let mut world = World {
            nodes: Vec::new(),
            log: Log::new(),
            pool: Vec::new(),
            mail: BTreeMap::new(),
            canon: BTreeMap::new(),
            samples: Vec::new(),
            memory: S::Memory::default(),
            marks: Marks::new(),
            rng: Rng::new(u64::from(replicas)),
            story: None,
            sides: 0,
            ids: 0,
            serial: 0,
        };
        for _ in 0..replicas {
            let node = Node {
                replica: Replica::new(world.fresh_id()),
                seen: Events::default(),
                waiting: Vec::new(),
                saved: None,
                sent: 0,
            };
            world.nodes.push(node);
        }
        world
    }

    /// Ids in an order that is not that of their making.
    fn fresh_id(&mut self) -> ReplicaId {
        self.ids += 1;
        ReplicaId::from(u128::from(self.ids * 7 % 1009))
    }

    pub fn mark(&mut self, what: &'static str) {
        *self.marks.entry(what).or_default() += 1;
    }

    pub fn tell(&mut self, line: impl FnOnce() -> String) {
        if let Some(story) = &mut self.story {
            story.push(line());
        }
    }

    pub fn node(&self, number: u32) -> usize {
        number as usize % self.nodes.len()
    }

    pub fn reachable(&self, a: usize, b: usize) -> bool {
        self.sides >> a & 1 == self.sides >> b & 1
    }

    /// Performs one step and returns the replicas that it may have changed.
    ///
    /// # Errors
    /// [`Broken`] if what the step returns is wrong.
    pub fn perform(&mut self, step: Step) -> Checked<Vec<usize>> {
        let at = self.node(step.at);
        let [a, b] = step.args;
        let other = self.node(a);
        match step.verb {
            Verb::Do => self.update(at, a)?,
            Verb::Fail => self.fail(at, a)?,
            Verb::Pull => self.pull(at, a)?,
            Verb::State | Verb::StateBytes => self.send_state(at, step.verb == Verb::StateBytes)?,
            Verb::Answer => self.send_answer(at, other, false)?,
            Verb::AnswerBytes => self.send_answer(at, other, true)?,
            Verb::Update => self.send_update(at, a, false)?,
            Verb::UpdateBytes => self.send_update(at, a, true)?,
            Verb::Group => self.send_group(at, a, false)?,
            Verb::Cut => self.send_group(at, a, true)?,
            Verb::Take => self.take(at, other, b, false)?,
            Verb::Again => self.take(at, other, b, true)?,
            Verb::Lose => self.lose(at, a),
            Verb::Split => {
                self.sides = a;
                self.mark("partition");
            }
            Verb::Heal => self.sides = 0,
            Verb::Save => self.save(at),
            Verb::Crash => self.crash(at)?,
            Verb::Resume => self.resume(at)?,
            Verb::Sync => return self.sync(at, other).map(|()| vec![other]),
            Verb::Relay => {
                let last = self.node(b);
                self.sync(at, other)?;
                self.sync(other, last)?;
                return Ok(vec![other, last]);
            }
            Verb::Merge => return self.merge(at, other).map(|()| vec![other]),
            Verb::Forget => {
                self.nodes[at].replica.drop_ledger();
                self.mark("forgot who removed what");
            }
            Verb::Discard => self.discard(at),
        }
        Ok(vec![at])
    }

    /// One to three operations in one update.
    fn act(
        edit: &mut S::Edit<'_>,
        source: &mut Source,
        ops: &mut Vec<S::Op>,
    ) -> Result<(), EditError> {
        let count = match source.below(6) {
            4 => 2,
            5 => 3,
            _ => 1,
        };
        for _ in 0..count {
            ops.extend(S::act(edit, source)?);
        }
        Ok(())
    }

    fn source(&mut self, choice: u32) -> Source {
        let first = self.serial;
        self.serial += 8;
        Source::new(u64::from(choice), first)
    }

    fn update(&mut self, at: usize, choice: u32) -> Checked {
        let mut source = self.source(choice);
        let node = &mut self.nodes[at];
        let before = node.replica.state().clone();
        let mut ops = Vec::new();
        let result = node
            .replica
            .update(|edit| Self::act(edit, &mut source, &mut ops));
        let ((), delta) = result.map_err(|error| Broken {
            law: "an operation that is possible succeeds",
            what: format!("{error} in {ops:?}"),
        })?;
        if delta.is_empty() {
            self.mark("update without effect");
            let after = self.nodes[at].replica.to_bytes();
            return same("no dot without an effect", &after, &before.to_bytes());
        }
        let dot = Dot::new(
            node.replica.id(),
            before.version().get(node.replica.id()) + 1,
        );
        same(
            "an update has one dot, the next",
            delta.claims(),
            &dot.into(),
        )?;
        let past = node.seen.clone();
        self.tell(|| format!("makes {dot:?} {ops:?}"));
        let number = self.log.push(Event { dot, ops, past });
        self.nodes[at].seen.insert(number);
        self.mark("update");
        let held = self.hold(delta)?;
        let mut joined = before;
        let applied = joined.absorb(&held.delta);
        let what = || format!("{applied:?}");
        ensure(
            "an update's delta does what the update did",
            applied.is_ok(),
            what,
        )?;
        let (got, expected) = (joined.to_bytes(), self.nodes[at].replica.to_bytes());
        same(
            "an update's delta does what the update did",
            &got,
            &expected,
        )?;
        self.pool.push((at, held));
        Ok(())
    }

    fn fail(&mut self, at: usize, choice: u32) -> Checked {
        let mut source = self.source(choice);
        let node = &mut self.nodes[at];
        let before = node.replica.to_bytes();
        let mut ops = Vec::new();
        let result: Result<((), Delta<S>), EditError> = node.replica.update(|edit| {
            Self::act(edit, &mut source, &mut ops)?;
            Err(EditError::CounterExhausted)
        });
        ensure("a failed update fails", result.is_err(), String::new)?;
        self.mark("failed update");
        let after = self.nodes[at].replica.to_bytes();
        same("a failed update leaves no trace", &after, &before)
    }

    fn save(&mut self, at: usize) {
        let node = &mut self.nodes[at];
        node.saved = Some((node.replica.to_bytes(), node.seen.clone()));
    }

    fn crash(&mut self, at: usize) -> Checked {
        let id = self.fresh_id();
        let node = &mut self.nodes[at];
        let lost = node.saved.as_ref().map(|(_, seen)| seen) != Some(&node.seen);
        let (state, seen) = match &node.saved {
            Some((bytes, seen)) => (State::from_bytes(bytes, &Limits::default()), seen.clone()),
            None => (Ok(State::new()), Events::default()),
        };
        let state = state.map_err(|error| Broken {
            law: "stored bytes can be read",
            what: format!("{error:?}"),
        })?;
        node.replica = Replica::from_state(state, id);
        node.seen = seen;
        node.waiting.clear();
        if lost {
            self.mark("crash that lost something");
        }
        self.tell(|| format!("is {id:?} now"));
        Ok(())
    }

    fn resume(&mut self, at: usize) -> Checked {
        let law = "a resumed save is the same replica";
        let node = &mut self.nodes[at];
        let bytes = node.replica.save();
        let resumed = Replica::<S>::resume(&bytes, &Limits::default());
        let resumed = resumed.map_err(|error| Broken {
            law,
            what: format!("{error:?}"),
        })?;
        same(law, &resumed.id(), &node.replica.id())?;
        same(law, &resumed.save(), &bytes)?;
        node.replica = resumed;
        let kept = !node.waiting.is_empty();
        self.mark("resumed");
        if kept {
            self.mark("resumed with something waiting");
        }
        Ok(())
    }

    pub fn discard(&mut self, at: usize) {
        self.nodes[at].replica.drop_waiting();
        if !self.nodes[at].waiting.is_empty() {
            self.mark("waiting deltas dropped");
        }
        self.nodes[at].waiting.clear();
    }

    /// A copy of what replica `at` includes.
    pub fn sample(&self, at: usize) -> Sample<S> {
        let mut state = self.nodes[at].replica.state().clone();
        state.drop_waiting();
        Sample {
            state,
            seen: self.nodes[at].seen.clone(),
        }
    }

    /// How much has happened; a step that leaves it as it is did nothing.
    pub fn progress(&self) -> (u64, usize, u32) {
        let sent = self.nodes.iter().map(|node| node.sent).sum();
        (self.marks.values().sum(), self.pool.len(), sent)
    }

    /// Draws from here on depend only on what has happened, so that deleting a step without effect
    /// changes nothing.
    pub fn reseed(&mut self) {
        let (marks, pool, sent) = self.progress();
        self.rng = Rng::new(marks << 32 | (pool as u64) << 16 | u64::from(sent));
    }

    /// Keeps a sample in the place of a random older one.
    pub fn keep(&mut self, sample: Sample<S>) {
        match self.samples.len() < SAMPLES_MAX {
            true => self.samples.push(sample),
            false => {
                let place = self.rng.index(SAMPLES_MAX);
                self.samples[place] = sample;
            }
        }
    }
}
