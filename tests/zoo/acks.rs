//! A counter that adds up what all have acknowledged, by acknowledgements of its own.
//!
//! Rule: an acknowledgement counts once all that its author did before it is there. Two replicas.

use std::collections::BTreeMap;

use commute::testkit::{
    Applied, Capabilities, Delivery, OpBased, Outcome, Rejected, Seen, Source, Specified, Subject,
    Verdict,
};
use commute::{Dot, Dots, ReplicaId};

use crate::entry::Entry;
use crate::faults::{faults, founder};

faults! {
    Right "acks" Control (2, 6) "sums of what all have acknowledged";
    // A inc, inc; B clears having seen the first, sees the second, acks; the ack -> A, the clear -> A.
    WithoutOwn "H14" Hard (2, 6) "an acknowledgement counts before what its author did";
}

pub fn entries() -> Vec<Entry> {
    let capabilities = || Capabilities::<Tally>::new().operations().specified();
    ALL.iter()
        .map(|fault| fault.entry(capabilities).on_two())
        .collect()
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Op {
    Inc,
    Clear,
    Ack,
}

/// An operation, its name, and all that its author had seen.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Message {
    dot: Dot,
    op: Op,
    seen: Dots,
}

#[derive(Clone, Debug)]
pub struct Tally {
    fault: Fault,
    me: ReplicaId,
    made: u64,
    /// The greatest of those that were added up holds the sum.
    amounts: BTreeMap<Dot, u64>,
    cleared: Dots,
    seen: Dots,
    acks: BTreeMap<ReplicaId, Dots>,
    outbox: Vec<Message>,
}

impl Tally {
    fn apply(&mut self, message: &Message) {
        let Message { dot, op, seen } = message;
        self.seen.insert(*dot);
        match op {
            Op::Inc if !self.cleared.contains(*dot) => drop(self.amounts.insert(*dot, 1)),
            Op::Inc => {}
            Op::Clear => {
                self.cleared = self.cleared.union(seen);
                self.amounts.retain(|dot, _| !seen.contains(*dot));
            }
            Op::Ack => {
                let acked = self.acks.entry(dot.replica).or_default();
                *acked = acked.union(seen);
            }
        }
        self.add_up();
    }

    /// Who joins later only reads.
    fn is_member(&self) -> bool {
        [1, 2].map(founder).contains(&self.me)
    }

    /// Of each replica, what all have acknowledged becomes one sum.
    fn add_up(&mut self) {
        if !self.is_member() {
            return;
        }
        for other in [1, 2].map(founder).into_iter().filter(|id| *id != self.me) {
            let acked = self.acks.get(&other).cloned().unwrap_or_default();
            let mut own = acked.iter().filter(|dot| dot.replica == other);
            if self.fault != Fault::WithoutOwn && !own.all(|dot| self.seen.contains(dot)) {
                continue;
            }
            let stable = |dot: &Dot| acked.contains(*dot) && self.seen.contains(*dot);
            let mut last: Option<(Dot, u64)> = None;
            let mut amounts = BTreeMap::new();
            for (dot, amount) in &self.amounts {
                let with = last.filter(|(other, _)| other.replica == dot.replica && stable(dot));
                let before = with.map_or(0, |(other, sum)| {
                    amounts.remove(&other);
                    sum
                });
                amounts.insert(*dot, before + amount);
                last = stable(dot).then_some((*dot, before + amount));
            }
            self.amounts = amounts;
        }
    }
}

impl Subject for Tally {
    type Op = Op;
    type View = u64;

    fn new(me: ReplicaId) -> Tally {
        Tally {
            fault: Fault::chosen(),
            me,
            made: 0,
            amounts: BTreeMap::new(),
            cleared: Dots::new(),
            seen: Dots::new(),
            acks: BTreeMap::new(),
            outbox: Vec::new(),
        }
    }

    fn name() -> String {
        Fault::chosen().id().into()
    }

    fn duplicate(&self) -> Tally {
        self.clone()
    }

    fn choose(&self, source: &mut Source<'_>) -> Option<Op> {
        let member = self.is_member();
        let ops = [Op::Inc, Op::Inc, Op::Clear, Op::Ack];
        source.pick(&ops).copied().filter(|_| member)
    }

    fn perform(&mut self, op: &Op) -> Outcome {
        self.made += 1;
        let message = Message {
            dot: Dot::new(self.me, self.made),
            op: *op,
            seen: self.seen.clone(),
        };
        self.apply(&message);
        self.outbox.push(message);
        Outcome::Done
    }

    fn view(&self) -> u64 {
        self.amounts.values().sum()
    }
}

impl OpBased for Tally {
    type Message = Message;
    const NEEDS: Delivery = Delivery::Any;
    const DUPLICATES: bool = true;

    fn outbox(&mut self) -> Vec<Message> {
        std::mem::take(&mut self.outbox)
    }

    fn receive(&mut self, message: &Message) -> Result<Applied, Rejected> {
        if self.seen.contains(message.dot) {
            return Ok(Applied::Duplicate);
        }
        self.apply(message);
        Ok(Applied::New)
    }
}

impl Specified for Tally {
    fn check(seen: &Seen<'_, Op>, got: &u64) -> Verdict {
        let of = |op: Op| seen.iter().filter(move |one| *one.op() == op);
        let cleared = |inc: &_| of(Op::Clear).any(|clear| seen.happened_before(inc, clear));
        let expected = of(Op::Inc).filter(|inc| !cleared(inc)).count() as u64;
        Verdict::equal(got, &expected, || "increments no clearing had seen".into())
    }
}
