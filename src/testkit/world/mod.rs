//! A system of replicas that performs steps and keeps its own account of what happened.

mod algebra;
mod codec;
mod deliver;
mod faults;
mod joins;
mod laws;
mod luck;
mod memo;
mod parcel;
mod perform;
mod print;
mod send;
mod settle;
mod versioned;

use std::cell::Cell;
use std::collections::HashMap;
use std::rc::Rc;

use super::coverage::{Coverage, Mark};
use super::erased::{DynSubject, DynView};
use super::events::{Events, Log, OpId};
use super::failure::Broken;
use super::fingerprint::Fingerprint;
use super::law::{Law, Laws};
use super::seen::Orders;
use super::step::Verb;
use super::story::{Deed, Line, Story};
use super::table::Table;

use crate::clock::ReplicaId;
use luck::{Choice, Luck};
pub(crate) use memo::Memo;
pub(crate) use parcel::{Cargo, Parcel};

/// How many sets of operations a run of the usual length sees.
const CANON: usize = 28;
/// Replicas beyond this number do not join.
const REPLICAS_MAX: usize = 64;

/// The name of what is in flight: its sender and its number.
type Letter = (u32, u32);

pub(crate) type Checked<T = ()> = Result<T, Box<Broken>>;

/// A broken law, at replica `at`.
pub(crate) fn broken(
    law: Law,
    at: Option<usize>,
    got: impl Into<String>,
    expected: impl Into<String>,
) -> Box<Broken> {
    Box::new(Broken {
        law,
        at,
        got: got.into(),
        expected: expected.into(),
        why: String::new(),
    })
}

/// How a state came about; decides which law a difference breaks.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Via(u8);

impl Via {
    pub const OPS: Via = Via(1);
    pub const STATE: Via = Via(2);
    pub const DELTA: Via = Via(4);
    pub const COLLECTED: Via = Via(8);

    pub fn add(&mut self, other: Via) {
        self.0 |= other.0;
    }

    pub fn has(self, other: Via) -> bool {
        self.0 & other.0 == other.0
    }
}

/// One place where a replica runs; restarts give it a new identity.
pub(crate) struct Node {
    pub subject: DynSubject,
    pub id: ReplicaId,
    pub incarnation: u16,
    /// Operations done in this incarnation.
    pub done: u32,
    /// What it must include.
    pub seen: Events,
    /// What it keeps until the past is there.
    pub waiting: Vec<Rc<Parcel>>,
    pub saved: Option<Rc<Saved>>,
    pub down: bool,
    pub via: Via,
    /// Its fingerprint, once it was asked for.
    print: Cell<Option<u128>>,
    state_print: Cell<Option<u128>>,
}

/// What a replica stored.
pub(crate) struct Saved {
    pub bytes: Vec<u8>,
    pub seen: Events,
    pub via: Via,
}

impl Node {
    fn new(id: ReplicaId, subject: DynSubject) -> Node {
        Node {
            subject,
            id,
            incarnation: 0,
            done: 0,
            seen: Events::default(),
            waiting: Vec::new(),
            saved: None,
            down: false,
            via: Via::default(),
            print: Cell::new(None),
            state_print: Cell::new(None),
        }
    }

    fn duplicate(&self) -> Node {
        Node {
            subject: self.subject.duplicate(),
            id: self.id,
            incarnation: self.incarnation,
            done: self.done,
            seen: self.seen.clone(),
            waiting: self.waiting.clone(),
            saved: self.saved.clone(),
            down: self.down,
            via: self.via,
            print: Cell::new(None),
            state_print: Cell::new(None),
        }
    }
}

/// What was once the state of a set of operations.
pub(crate) struct Canon {
    pub state: Kept,
    pub view: DynView,
    pub via: Via,
}

pub(crate) enum Kept {
    Bytes(Vec<u8>),
    State(DynSubject),
    /// Only the view counts.
    Nothing,
}

impl Kept {
    fn text(&self) -> String {
        match self {
            Kept::State(state) => format!("{state:?}"),
            Kept::Bytes(bytes) => format!("bytes {bytes:02x?}"),
            Kept::Nothing => String::new(),
        }
    }
}

type Hashing = std::hash::BuildHasherDefault<Fingerprint>;

/// How thoroughly a run is checked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    pub laws: Laws,
    /// The costly laws are checked at one of so many steps; 1 for all of them.
    pub every: u64,
    /// Whether states of all times are compared, not only those that exist at once.
    pub history: bool,
}

/// The whole system.
pub(crate) struct World {
    pub can: Rc<Table>,
    pub effort: Effort,
    pub nodes: Vec<Rc<Node>>,
    pub log: Log,
    /// What carries each operation: its messages, its delta.
    pub carriers: Rc<Vec<Rc<Parcel>>>,
    /// In flight, by sender and number.
    pub mail: Vec<(Letter, Rc<Parcel>)>,
    pub sent: Rc<Vec<u32>>,
    /// Bit k is the side of replica k.
    pub sides: u64,
    /// Whether an id is used twice; then only that it is noticed is checked.
    pub cloned: bool,
    /// Whether anything was collected.
    pub collected: bool,
    canon: HashMap<Events, Canon, Hashing>,
    /// Older states for the laws about several.
    samples: Vec<Rc<Node>>,
    pub orders: Orders,
    /// What was checked in other systems of the same search.
    pub memo: Option<Rc<Memo>>,
    pub coverage: Coverage,
    pub story: Option<Story>,
    /// Where in the schedule it is, from 1.
    pub step: usize,
    luck: Luck,
    ids: u32,
    /// Whether fingerprints of operations are needed.
    pub prints: bool,
    /// What was chosen and shown, if two runs are to be compared.
    pub trace: Option<Vec<Traced>>,
}

/// What must be the same when a schedule is run again.
pub(crate) enum Traced {
    Op(u128),
    View(DynView),
    State(DynSubject),
    Bytes(Vec<u8>),
}

impl World {
    pub fn new(can: Rc<Table>, replicas: u32, effort: Effort) -> World {
        let mut world = World {
            can,
            effort,
            nodes: Vec::new(),
            log: Log::new(),
            carriers: Rc::default(),
            mail: Vec::new(),
            sent: Rc::default(),
            sides: 0,
            cloned: false,
            collected: false,
            canon: HashMap::with_capacity_and_hasher(CANON, Hashing::default()),
            samples: Vec::new(),
            orders: Orders::default(),
            memo: None,
            coverage: Coverage::new(),
            story: None,
            step: 0,
            luck: Luck::new(u64::from(replicas)),
            ids: 0,
            prints: false,
            trace: None,
        };
        for _ in 0..replicas.max(1) {
            world.add_node();
        }
        world
    }

    fn add_node(&mut self) {
        let id = self.fresh_id();
        let subject = (self.can.make)(id);
        self.nodes.push(Rc::new(Node::new(id, subject)));
        Rc::make_mut(&mut self.sent).push(0);
    }

    /// A system that goes on from here; what is the same is shared.
    pub fn fork(&self) -> World {
        World {
            can: Rc::clone(&self.can),
            effort: self.effort,
            nodes: self.nodes.clone(),
            log: self.log.clone(),
            carriers: Rc::clone(&self.carriers),
            mail: self.mail.clone(),
            sent: Rc::clone(&self.sent),
            sides: self.sides,
            cloned: self.cloned,
            collected: self.collected,
            canon: HashMap::default(),
            samples: Vec::new(),
            orders: self.orders.clone(),
            memo: self.memo.clone(),
            coverage: Coverage::new(),
            story: None,
            step: self.step,
            luck: self.luck.clone(),
            ids: self.ids,
            prints: self.prints,
            trace: None,
        }
    }

    /// The id of copies on which laws are tried.
    pub fn observer() -> ReplicaId {
        ReplicaId::from(u128::MAX)
    }

    /// Ids in an order that is not that of their making.
    fn fresh_id(&mut self) -> ReplicaId {
        self.ids += 1;
        // All numbers below 1009, then all of the next 1009, and so on: none comes twice.
        let (block, place) = (self.ids / 1009, self.ids % 1009);
        let id = block * 1009 + place * 389 % 1009;
        // One that is the first if it is cut to 32 bits; 64 bits are as many as some types take.
        let id = match self.ids {
            3 => 1 << 40 | 389,
            _ => u64::from(id),
        };
        ReplicaId::from(u128::from(id))
    }

    pub fn mark(&mut self, mark: Mark) {
        self.coverage.mark(mark);
    }

    pub fn tell(&mut self, deed: impl FnOnce() -> Deed) {
        let step = self.step;
        if let Some(story) = &mut self.story {
            story.lines.push(Line { step, deed: deed() });
        }
    }

    fn note(&mut self, at: usize, text: impl FnOnce() -> String) {
        self.tell(|| Deed::Noted {
            at: Some(at),
            text: text(),
        });
    }

    pub fn place(&self, number: u32) -> usize {
        number as usize % self.nodes.len()
    }

    /// To change a replica; a shared one is copied first.
    pub fn node_mut(&mut self, at: usize) -> &mut Node {
        let node = &mut self.nodes[at];
        if Rc::get_mut(node).is_none() {
            *node = Rc::new(node.duplicate());
        }
        match Rc::get_mut(node) {
            Some(node) => {
                node.print.set(None);
                node.state_print.set(None);
                node
            }
            None => unreachable!("a copy made just now is not shared"),
        }
    }

    pub fn reachable(&self, a: usize, b: usize) -> bool {
        self.sides >> (a % 64) & 1 == self.sides >> (b % 64) & 1
    }

    /// The name of the next operation of replica `at`.
    fn next_op(&self, at: usize) -> OpId {
        let node = &self.nodes[at];
        OpId {
            replica: at as u16,
            incarnation: node.incarnation,
            number: node.done + 1,
        }
    }

    /// A chance of one in `Effort::every`, for costly checks.
    fn costly(&self) -> bool {
        let every = self.effort.every;
        every <= 1 || self.luck.of(Choice::Costly, 0).below(every) == 0
    }

    fn wants(&self, law: Law) -> bool {
        self.effort.laws.has(law)
    }

    /// Draws from here on depend only on what has happened, so that leaving out a step without
    /// effect changes nothing.
    pub fn reseed(&mut self) {
        let mut seed = 0_u64;
        for node in &self.nodes {
            seed = seed.wrapping_mul(31).wrapping_add(u64::from(node.done));
            seed = seed.wrapping_mul(31).wrapping_add(node.seen.len() as u64);
        }
        let sent: u32 = self.sent.iter().sum();
        self.luck = Luck::new(seed << 16 ^ u64::from(sent));
    }

    /// Checks what must hold after a step that may have changed replica `at`.
    pub fn check_step(&mut self, verb: Verb, at: usize) -> Checked {
        self.reseed();
        match self.nodes[at].down {
            true => Ok(()),
            false => self.check(at, verb),
        }
    }
}
