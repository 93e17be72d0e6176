//! A set with gravestones, and what goes wrong in removing them.
//!
//! Rule: an element that was removed stays, hidden, until all have seen that; then both go.

use std::collections::{BTreeMap, BTreeSet};

use commute::testkit::{
    Applied, Capabilities, Collecting, Delivery, OpBased, Outcome, Persisted, Rejected, Seen,
    Source, Specified, StateBased, Subject, Verdict,
};
use commute::{Dot, Dots, ReplicaId, Version};

use crate::bytes::{Reader, put_dot, put_u64};
use crate::entry::Entry;
use crate::faults::faults;

faults! {
    Right "graves" Control (2, 6) "nothing is wrong";
    CollectsAll "graves-early" Equivalent (2, 5) "gravestones go at once: who has seen an element knows it";
    ForgetsSeen "Z-GC-2" Mutant (2, 6) "what was collected is not known to have been there";
    StonesOnly "Z-GC-3" Mutant (2, 5) "gravestones go, what they hide stays";
    LiveToo "Z-GC-4" Mutant (2, 4) "what all have seen goes, removed or not";
    NeverCollects "Z-GC-5" Mutant (2, 5) "nothing is ever collected";
    HiddenStays "Z-GC-6" Mutant (2, 5) "the elements go, their gravestones stay";
    BeyondTaken "Z-GC-7" Mutant (2, 5) "a cut beyond what was seen is taken at its word";
    OwnOnly "Z-GC-9" Mutant (2, 5) "only own operations are collected";
    Refuses "Z-GC-10" Mutant (2, 4) "a cut that covers everything seen is refused";
    MergeRevives "Z-GC-11" Mutant (2, 6) "a merge brings back elements, without their gravestones";
}

pub fn entries() -> Vec<Entry> {
    let capabilities = || {
        let base = Capabilities::<Graves>::new().state().operations();
        base.encoded().collecting().specified()
    };
    ALL.iter().map(|fault| fault.entry(capabilities)).collect()
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Op {
    Add,
    /// Removes the oldest of those that it shows.
    Remove(Dot),
}

/// An operation and its name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Message {
    dot: Dot,
    op: Op,
}

/// The set at one replica. Its elements are the names of their adds.
#[derive(Clone, Debug)]
pub struct Graves {
    fault: Fault,
    me: ReplicaId,
    made: u64,
    elements: BTreeSet<Dot>,
    /// What was removed, by which operations.
    stones: BTreeMap<Dot, BTreeSet<Dot>>,
    seen: Dots,
    outbox: Vec<Message>,
}

impl Graves {
    fn apply(&mut self, message: &Message) {
        let new = !self.seen.contains(message.dot);
        self.seen.insert(message.dot);
        match message.op {
            Op::Add if new || self.fault == Fault::ForgetsSeen => {
                self.elements.insert(message.dot);
            }
            Op::Remove(target) if new => {
                self.bury(target, message.dot);
            }
            _ => {}
        }
    }

    fn bury(&mut self, target: Dot, by: Dot) {
        if self.elements.contains(&target) {
            self.stones.entry(target).or_default().insert(by);
        }
    }

    fn shown(&self) -> BTreeSet<Dot> {
        let hidden = |dot: &Dot| self.stones.contains_key(dot);
        let shown = self.elements.iter().filter(|dot| !hidden(dot));
        shown.copied().collect()
    }

    /// Whether the removal of `target` is within `cut`.
    fn is_stable(&self, cut: &Dots, target: Dot) -> bool {
        let by = self.stones.get(&target);
        let mut by = by.into_iter().flatten();
        by.any(|dot| cut.contains(*dot)) && cut.contains(target)
    }
}

impl Subject for Graves {
    type Op = Op;
    type View = BTreeSet<Dot>;

    fn new(me: ReplicaId) -> Graves {
        Graves {
            fault: Fault::chosen(),
            me,
            made: 0,
            elements: BTreeSet::new(),
            stones: BTreeMap::new(),
            seen: Dots::new(),
            outbox: Vec::new(),
        }
    }

    fn name() -> String {
        Fault::chosen().id().into()
    }

    fn duplicate(&self) -> Graves {
        self.clone()
    }

    fn choose(&self, source: &mut Source<'_>) -> Option<Op> {
        let first = self.shown().first().copied();
        match (source.below(2), first) {
            (1, Some(first)) => Some(Op::Remove(first)),
            _ => Some(Op::Add),
        }
    }

    fn perform(&mut self, op: &Op) -> Outcome {
        if let Op::Remove(target) = op
            && !self.shown().contains(target)
        {
            return Outcome::Nothing;
        }
        self.made += 1;
        let message = Message {
            dot: Dot::new(self.me, self.made),
            op: *op,
        };
        self.apply(&message);
        self.outbox.push(message);
        Outcome::Done
    }

    fn view(&self) -> BTreeSet<Dot> {
        self.shown()
    }
}

impl OpBased for Graves {
    type Message = Message;
    const NEEDS: Delivery = Delivery::Causal;
    const DUPLICATES: bool = true;

    fn outbox(&mut self) -> Vec<Message> {
        std::mem::take(&mut self.outbox)
    }

    fn receive(&mut self, message: &Message) -> Result<Applied, Rejected> {
        let known = self.seen.contains(message.dot);
        self.apply(message);
        Ok(match known {
            true => Applied::Duplicate,
            false => Applied::New,
        })
    }
}

impl StateBased for Graves {
    fn merge(&mut self, other: &Graves) -> Result<(), Rejected> {
        let revives = self.fault == Fault::MergeRevives;
        let new = |dot: &&Dot| revives || !self.seen.contains(**dot);
        let new: Vec<Dot> = other.elements.iter().filter(new).copied().collect();
        // What the other one has seen and has not got it has collected.
        let gone = |dot: &Dot| other.seen.contains(*dot) && !other.elements.contains(dot);
        if self.fault != Fault::ForgetsSeen {
            self.elements.retain(|dot| !gone(dot));
            self.stones.retain(|dot, _| !gone(dot));
        }
        self.elements.extend(new);
        for (target, by) in &other.stones {
            if !revives || self.stones.contains_key(target) || !self.seen.contains(*target) {
                by.iter().for_each(|by| self.bury(*target, *by));
            }
        }
        self.seen = self.seen.union(&other.seen);
        Ok(())
    }

    fn same_state(&self, other: &Graves) -> bool {
        self.elements == other.elements && self.stones == other.stones && self.seen == other.seen
    }
}

impl Collecting for Graves {
    fn collect(&mut self, stable: &Version) -> Result<(), Rejected> {
        let mut cut = Dots::from(stable);
        let within = cut.is_subset(&self.seen);
        match self.fault {
            Fault::NeverCollects => return Ok(()),
            Fault::CollectsAll => cut = self.seen.clone(),
            Fault::BeyondTaken if !within => self.elements.retain(|dot| cut.contains(*dot)),
            Fault::Refuses if cut == self.seen => return Err(Rejected::new("all of it")),
            _ if !within => return Err(Rejected::new("beyond what this replica has seen")),
            _ => {}
        }
        let all = self.elements.iter().copied();
        let gone: BTreeSet<Dot> = match self.fault {
            Fault::LiveToo => all.filter(|dot| cut.contains(*dot)).collect(),
            Fault::OwnOnly => {
                let own = all.filter(|dot| dot.replica == self.me);
                own.filter(|dot| self.is_stable(&cut, *dot)).collect()
            }
            _ => all.filter(|dot| self.is_stable(&cut, *dot)).collect(),
        };
        if self.fault != Fault::StonesOnly {
            self.elements.retain(|dot| !gone.contains(dot));
        }
        if self.fault != Fault::HiddenStays {
            self.stones.retain(|dot, _| !gone.contains(dot));
        }
        Ok(())
    }

    fn size_max(&self, _: usize) -> usize {
        let ids = self.seen.ranges().count();
        NUMBER * 3 + self.shown().len() * DOT + ids * (DOT + NUMBER)
    }
}

const NUMBER: usize = 8;
const DOT: usize = 16 + NUMBER;

impl Persisted for Graves {
    fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put_u64(&mut out, self.elements.len() as u64);
        self.elements.iter().for_each(|dot| put_dot(&mut out, *dot));
        put_u64(&mut out, self.stones.len() as u64);
        for (target, by) in &self.stones {
            put_dot(&mut out, *target);
            put_u64(&mut out, by.len() as u64);
            by.iter().for_each(|dot| put_dot(&mut out, *dot));
        }
        put_u64(&mut out, self.seen.ranges().count() as u64);
        for (id, first, last) in self.seen.ranges() {
            put_dot(&mut out, Dot::new(id, first));
            put_u64(&mut out, last);
        }
        out
    }

    fn decode(bytes: &[u8], replica: ReplicaId) -> Result<Graves, Rejected> {
        let mut graves = Graves::new(replica);
        let mut reader = Reader(bytes);
        for _ in 0..reader.u64()? {
            graves.elements.insert(reader.dot()?);
        }
        for _ in 0..reader.u64()? {
            let target = reader.dot()?;
            let mut by = BTreeSet::new();
            for _ in 0..reader.u64()? {
                by.insert(reader.dot()?);
            }
            graves.stones.insert(target, by);
        }
        for _ in 0..reader.u64()? {
            let (first, last) = (reader.dot()?, reader.u64()?);
            // A run as long as the bytes could hold elements is longer than any of a test.
            if last < first.counter || last - first.counter > 1 << 10 {
                return Err(Rejected::new("no run of operations"));
            }
            for counter in first.counter..=last {
                graves.seen.insert(Dot::new(first.replica, counter));
            }
        }
        let own = graves.seen.iter().filter(|dot| dot.replica == replica);
        graves.made = own.count() as u64;
        match graves.encode() == bytes {
            true => Ok(graves),
            false => Err(Rejected::new("not as it is written")),
        }
    }
}

impl Specified for Graves {
    fn check(seen: &Seen<'_, Op>, got: &BTreeSet<Dot>) -> Verdict {
        let removed = seen.iter().filter_map(|one| match one.op() {
            Op::Remove(target) => Some(*target),
            Op::Add => None,
        });
        let removed: BTreeSet<Dot> = removed.collect();
        let adds = seen.iter().filter(|one| *one.op() == Op::Add).count();
        let right = got.len() + removed.len() == adds && got.is_disjoint(&removed);
        match right {
            true => Verdict::Right,
            false => Verdict::wrong(
                format!(
                    "{} elements, none of {removed:?}",
                    adds.saturating_sub(removed.len())
                ),
                "what was added and not removed",
            ),
        }
    }
}
