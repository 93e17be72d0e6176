//! A counter that can be cleared, by a log of operations, and what goes wrong in sending them.
//!
//! Rule: the sum of the amounts that no known clearing had seen. An operation waits for all that
//! its author had seen.

use std::collections::BTreeMap;

use commute::testkit::{
    Applied, Capabilities, Delivery, DeltaBased, OpBased, Outcome, Persisted, Rejected, Seen,
    Source, Specified, StateBased, Subject, Verdict, Versioned,
};
use commute::{Dot, Dots, ReplicaId};

use crate::entry::Entry;
use crate::faults::faults;

faults! {
    Right "tally" Control (2, 5) "nothing is wrong";
    OffByOne "Z-SYNC-1" Mutant (2, 4) "an answer starts one operation too late";
    ClearsOmitted "Z-SYNC-2" Mutant (2, 4) "an answer leaves out what clears";
    GapIgnored "Z-SYNC-3" Mutant (2, 4) "a gap is taken silently, and counted as seen";
    CountedTwice "Z-SYNC-4" Mutant (2, 3) "what comes twice is counted twice";
    NeverWoken "Z-SYNC-5" Mutant (2, 5) "what waits is never looked at again";
    WokenOnce "Z-SYNC-6" Mutant (2, 6) "what waits is looked at once, in the order it came";
    WokenEarly "Z-SYNC-7" Mutant (2, 5) "all that waits is taken when one of it is ready";
    Early "Z-SYNC-8" Mutant (2, 4) "a message is applied before its past";
    OwnAgain "Z-SYNC-9" Mutant (2, 4) "an own message that comes back is applied again";
    CounterLost "Z-SYNC-10" Mutant (2, 4) "a restart counts its operations from 1, under the old id";
    ResumeForgets "Z-SYNC-11" Mutant (2, 4) "what is saved leaves out the number of own operations";
    OutboxDrops "Z-SYNC-12" Mutant (2, 3) "clearing is not sent";
    GroupLoses "Z-SYNC-13" Mutant (2, 4) "a group of two is the first of them";
    NewestWaits "Z-SYNC-14" Mutant (2, 6) "only the newest of what waits is kept";
    NeverShrinks "Z-SYNC-15" Mutant (2, 3) "an answer holds everything, whatever is known";
    WaitingSeen "Z-SYNC-16" Mutant (2, 4) "what waits is named as seen";
    WaitingSaved "Z-SYNC-17" Mutant (2, 5) "what waits is saved as if it were included";
    SecondHalf "Z-SYNC-18" Mutant (2, 4) "an answer holds the newer half only";
    MergeTakesTurn "Z-SYNC-19" Mutant (2, 4) "a merge takes the longer log";
    ReadyDropped "Z-SYNC-20" Mutant (2, 6) "of several that are ready only one is taken";
    ForeignOnly "Z-SYNC-21" Mutant (3, 4) "an answer holds own operations only";
    AckLost "Z-SYNC-22" Mutant (2, 3) "a duplicate is answered as refused";
    WaitsForever "Z-SYNC-23" Mutant (2, 4) "what waits and then comes another way is never dropped";
    ClearsAll "Z-SYNC-24" Mutant (2, 4) "clearing takes all that is there, seen or not";
    ClearsLater "Z-SYNC-25" Mutant (2, 5) "an amount that comes after a clearing is dropped";
}

pub fn entries() -> Vec<Entry> {
    let capabilities = || {
        let base = Capabilities::<Tally>::new().state().delta().operations();
        base.encoded().versioned().specified()
    };
    ALL.iter().map(|fault| fault.entry(capabilities)).collect()
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Op {
    Add(u8),
    Clear,
}

/// An operation, its name, and all that its author had seen.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Message {
    dot: Dot,
    past: Dots,
    op: Op,
}

/// Several of them, and what must be there first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Batch {
    base: Dots,
    list: Vec<Message>,
}

impl Batch {
    fn dots(&self) -> Dots {
        self.list.iter().map(|message| message.dot).collect()
    }

    /// What must be there besides the batch itself.
    fn needs(&self) -> Dots {
        let pasts = self.list.iter().map(|message| &message.past);
        let needs = pasts.fold(self.base.clone(), |all, past| all.union(past));
        needs.difference(&self.dots())
    }
}

/// The counter at one replica.
#[derive(Clone, Debug)]
pub struct Tally {
    fault: Fault,
    me: ReplicaId,
    made: u64,
    last: Option<Dot>,
    log: BTreeMap<Dot, (Dots, Op)>,
    seen: Dots,
    sum: u64,
    waiting: Vec<Batch>,
    outbox: Vec<Batch>,
}

impl Tally {
    /// The amounts that no clearing had seen.
    fn standing(&self) -> u64 {
        let clears = self.log.values().filter(|(_, op)| *op == Op::Clear);
        let cleared = clears.fold(Dots::new(), |all, (past, _)| all.union(past));
        let amount = |(dot, (_, op)): (&Dot, &(Dots, Op))| match op {
            Op::Add(amount) if !cleared.contains(*dot) => u64::from(*amount),
            _ => 0,
        };
        self.log.iter().map(amount).sum()
    }

    fn apply(&mut self, message: &Message) {
        let Message { dot, past, op } = message.clone();
        let before = self.standing();
        let cleared = self.log.values().any(|(_, op)| *op == Op::Clear);
        self.log.insert(dot, (past.clone(), op));
        self.seen.insert(dot);
        if self.fault == Fault::GapIgnored {
            self.seen = self.seen.union(&past);
        }
        match (self.fault, op) {
            (Fault::ClearsAll, Op::Clear) => self.sum = 0,
            (Fault::ClearsLater, Op::Add(_)) if cleared && dot.replica != self.me => {}
            _ => self.sum = (self.sum + self.standing()).saturating_sub(before),
        }
    }

    fn ready(&self, batch: &Batch) -> bool {
        batch.needs().is_subset(&self.seen)
    }

    fn known(&self, batch: &Batch) -> bool {
        batch.dots().is_subset(&self.seen)
    }

    fn take_all(&mut self, batch: &Batch) {
        for message in &batch.list {
            if !self.seen.contains(message.dot) {
                self.apply(message);
            }
        }
        let own = self.seen.iter().filter(|dot| dot.replica == self.me);
        self.made = own.map(|dot| dot.counter).fold(self.made, u64::max);
    }

    /// Takes in what waits and is ready, alone or together with others.
    fn wake(&mut self) {
        match self.fault {
            Fault::NeverWoken => {}
            Fault::WokenOnce => {
                let mut left = Vec::new();
                for batch in std::mem::take(&mut self.waiting) {
                    match self.ready(&batch) {
                        true => self.take_all(&batch),
                        false => left.push(batch),
                    }
                }
                self.waiting = left;
            }
            Fault::WokenEarly => {
                if self.waiting.iter().any(|batch| self.ready(batch)) {
                    let all = std::mem::take(&mut self.waiting);
                    all.iter().for_each(|batch| self.take_all(batch));
                }
            }
            Fault::ReadyDropped => {
                let (ready, rest): (Vec<_>, Vec<_>) = std::mem::take(&mut self.waiting)
                    .into_iter()
                    .partition(|batch| self.ready(batch));
                self.waiting = rest;
                ready.iter().take(1).for_each(|batch| self.take_all(batch));
            }
            _ => while self.wake_most() {},
        }
        if self.fault != Fault::WaitsForever {
            let seen = self.seen.clone();
            self.waiting.retain(|batch| !batch.dots().is_subset(&seen));
        }
    }

    /// Takes in the greatest part of what waits that needs nothing else.
    fn wake_most(&mut self) -> bool {
        let mut chosen = self.waiting.clone();
        if self.fault == Fault::WaitsForever {
            chosen.retain(|batch| !self.known(batch));
        }
        loop {
            let there = chosen
                .iter()
                .fold(self.seen.clone(), |all, one| all.union(&one.dots()));
            let before = chosen.len();
            chosen.retain(|batch| batch.needs().is_subset(&there));
            if chosen.len() == before {
                break;
            }
        }
        chosen.iter().for_each(|batch| self.take_all(batch));
        self.waiting.retain(|batch| !chosen.contains(batch));
        !chosen.is_empty()
    }

    fn arrive(&mut self, batch: &Batch) -> Result<Applied, Rejected> {
        let own = batch
            .list
            .iter()
            .any(|message| message.dot.replica == self.me);
        if self.known(batch) {
            match self.fault {
                Fault::CountedTwice => self.count_again(&batch.list),
                Fault::OwnAgain if own => self.count_again(&batch.list),
                Fault::AckLost => return Err(Rejected::new("it is there already")),
                _ => {}
            }
            return Ok(Applied::Duplicate);
        }
        if self.ready(batch) || matches!(self.fault, Fault::Early | Fault::GapIgnored) {
            self.take_all(batch);
            self.wake();
            return Ok(Applied::New);
        }
        if self.fault == Fault::NewestWaits {
            self.waiting.clear();
        }
        if !self.waiting.contains(batch) {
            self.waiting.push(batch.clone());
        }
        self.wake();
        match self.known(batch) {
            true => Ok(Applied::New),
            false => Ok(Applied::Waiting),
        }
    }

    fn count_again(&mut self, messages: &[Message]) {
        for message in messages {
            if let Op::Add(amount) = message.op {
                self.sum += u64::from(amount);
            }
        }
    }

    fn batch(&self, base: Dots, of: impl Fn(&Dot) -> bool) -> Batch {
        let log = self.log.iter().filter(|(dot, _)| of(dot));
        let list = log.map(|(dot, (past, op))| Message {
            dot: *dot,
            past: past.clone(),
            op: *op,
        });
        Batch {
            base,
            list: list.collect(),
        }
    }

    fn whole(&self) -> Batch {
        self.batch(Dots::new(), |_| true)
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
            last: None,
            log: BTreeMap::new(),
            seen: Dots::new(),
            sum: 0,
            waiting: Vec::new(),
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
        source.pick(&[Op::Add(1), Op::Clear]).copied()
    }

    fn perform(&mut self, op: &Op) -> Outcome {
        self.made += 1;
        let message = Message {
            dot: Dot::new(self.me, self.made),
            past: self.seen.clone(),
            op: *op,
        };
        self.apply(&message);
        if self.fault != Fault::OutboxDrops || *op != Op::Clear {
            self.outbox.push(Batch {
                base: message.past.clone(),
                list: vec![message],
            });
        }
        self.last = Some(Dot::new(self.me, self.made));
        // Of an id used twice: what waits under it was never made here.
        let (me, seen) = (self.me, &self.seen);
        let known = |dot: Dot| dot.replica != me || seen.contains(dot);
        self.waiting.retain(|batch| batch.dots().iter().all(known));
        Outcome::Done
    }

    fn view(&self) -> u64 {
        self.sum
    }
}

impl StateBased for Tally {
    fn merge(&mut self, other: &Tally) -> Result<(), Rejected> {
        if self.fault == Fault::MergeTakesTurn {
            if self.seen.len() < other.seen.len() {
                (self.log, self.seen) = (other.log.clone(), other.seen.clone());
                self.sum = other.sum;
            }
            return Ok(());
        }
        self.take_all(&other.whole());
        self.wake();
        Ok(())
    }

    fn same_state(&self, other: &Tally) -> bool {
        self.log == other.log && self.sum == other.sum
    }
}

impl DeltaBased for Tally {
    type Delta = Batch;
    type Seen = Dots;

    fn seen(&self) -> Dots {
        let waiting = self.waiting.iter();
        match self.fault {
            Fault::WaitingSeen => {
                waiting.fold(self.seen.clone(), |all, one| all.union(&one.dots()))
            }
            _ => self.seen.clone(),
        }
    }

    fn delta_since(&self, seen: &Dots) -> Batch {
        let before = |dot: &Dot| Dot::new(dot.replica, dot.counter.saturating_sub(1));
        let base = self.seen.intersection(seen);
        let mut answer = match self.fault {
            Fault::OffByOne => self.batch(base, |dot| {
                let first = seen.iter().all(|other| other.replica != dot.replica);
                !seen.contains(*dot) && (first || !seen.contains(before(dot)))
            }),
            Fault::NeverShrinks => self.whole(),
            Fault::ForeignOnly => {
                self.batch(base, |dot| !seen.contains(*dot) && dot.replica == self.me)
            }
            _ => self.batch(base, |dot| !seen.contains(*dot)),
        };
        match self.fault {
            Fault::ClearsOmitted => answer.list.retain(|message| message.op != Op::Clear),
            Fault::SecondHalf => drop(answer.list.drain(..answer.list.len() / 2)),
            _ => {}
        }
        answer
    }

    fn absorb(&mut self, delta: &Batch) -> Result<Applied, Rejected> {
        self.arrive(delta)
    }

    fn group(a: &Batch, b: &Batch) -> Option<Batch> {
        Some(grouped(a, b))
    }

    fn beyond(delta: &Batch, seen: &Dots) -> Option<Batch> {
        let mut beyond = delta.clone();
        beyond.base = delta.base.union(&delta.dots().intersection(seen));
        beyond.list.retain(|message| !seen.contains(message.dot));
        Some(beyond)
    }
}

/// Both as one, in the order of names.
fn grouped(a: &Batch, b: &Batch) -> Batch {
    let mut all = a.clone();
    if Fault::chosen() != Fault::GroupLoses {
        all.list.extend(b.list.iter().cloned());
        all.base = all.base.union(&b.base);
    }
    all.list.sort_by_key(|message| message.dot);
    all.list.dedup();
    all.base = all.base.difference(&all.dots());
    all
}

impl OpBased for Tally {
    type Message = Batch;
    const NEEDS: Delivery = Delivery::Causal;
    const DUPLICATES: bool = true;
    const DETECTS: bool = true;

    fn outbox(&mut self) -> Vec<Batch> {
        std::mem::take(&mut self.outbox)
    }

    fn receive(&mut self, message: &Batch) -> Result<Applied, Rejected> {
        self.arrive(message)
    }

    fn group(a: &Batch, b: &Batch) -> Option<Batch> {
        Some(grouped(a, b))
    }
}

impl Versioned for Tally {
    fn included(&self) -> Dots {
        self.seen.clone()
    }

    fn heads(&self) -> Dots {
        let pasts = self.log.values().map(|(past, _)| past);
        pasts.fold(self.seen.clone(), |heads, past| heads.difference(past))
    }

    fn last_update(&self) -> Option<Dot> {
        self.last
    }

    fn waiting(&self) -> usize {
        self.waiting.len()
    }

    fn missing(&self) -> Dots {
        let waiting = self.waiting.iter();
        let needs = waiting
            .clone()
            .fold(Dots::new(), |all, one| all.union(&one.needs()));
        let held = waiting.fold(self.seen.clone(), |all, one| all.union(&one.dots()));
        needs.difference(&held)
    }

    fn drop_waiting(&mut self) {
        self.waiting.clear();
    }

    fn drop_records(&mut self) {}
}

/// Of a message: the id and counter of its name, its past as ranges, its operation.
fn write(out: &mut Vec<u8>, message: &Message) {
    let ranges: Vec<_> = message.past.ranges().collect();
    let id = |id: ReplicaId| u128::from(id).to_be_bytes();
    out.extend(id(message.dot.replica));
    out.push(message.dot.counter as u8);
    out.push(ranges.len() as u8);
    for (replica, first, last) in ranges {
        out.extend(id(replica));
        out.extend([first as u8, last as u8]);
    }
    out.push(match message.op {
        Op::Add(amount) => amount + 1,
        Op::Clear => 0,
    });
}

fn read_dot(bytes: &mut &[u8]) -> Option<Dot> {
    let (id, rest) = bytes.split_first_chunk::<16>()?;
    let (counter, rest) = rest.split_first()?;
    *bytes = rest;
    Some(Dot::new(
        u128::from_be_bytes(*id).into(),
        u64::from(*counter),
    ))
}

fn read(bytes: &mut &[u8]) -> Option<Message> {
    let dot = read_dot(bytes)?;
    let (count, rest) = bytes.split_first()?;
    *bytes = rest;
    let mut past = Dots::new();
    for _ in 0..*count {
        let first = read_dot(bytes)?;
        let (last, rest) = bytes.split_first()?;
        *bytes = rest;
        let all = first.counter..=u64::from(*last);
        all.for_each(|counter| past.insert(Dot::new(first.replica, counter)));
    }
    let (op, rest) = bytes.split_first()?;
    *bytes = rest;
    let op = op.checked_sub(1).map_or(Op::Clear, Op::Add);
    Some(Message { dot, past, op })
}

impl Persisted for Tally {
    fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut all = self.whole();
        if self.fault == Fault::WaitingSaved {
            all = self
                .waiting
                .iter()
                .fold(all, |all, waiting| grouped(&all, waiting));
        }
        all.list
            .iter()
            .for_each(|message| write(&mut bytes, message));
        bytes
    }

    fn decode(mut bytes: &[u8], replica: ReplicaId) -> Result<Tally, Rejected> {
        let whole = bytes;
        let mut tally = Tally::new(replica);
        let mut list = Vec::new();
        while !bytes.is_empty() {
            let message = read(&mut bytes).ok_or_else(|| Rejected::new("cut short"))?;
            list.push(message);
        }
        let all = Batch {
            base: Dots::new(),
            list,
        };
        if !tally.ready(&all) {
            return Err(Rejected::new("without its past"));
        }
        tally.take_all(&all);
        let own = tally.seen.iter().filter(|dot| dot.replica == replica);
        tally.made = own.count() as u64;
        if tally.fault == Fault::CounterLost {
            tally.me = tally.seen.iter().next().map_or(replica, |dot| dot.replica);
        }
        match tally.encode() == whole {
            true => Ok(tally),
            false => Err(Rejected::new("not as it is written")),
        }
    }

    fn resume(bytes: &[u8], replica: ReplicaId) -> Result<Tally, Rejected> {
        let mut tally = Tally::decode(bytes, replica)?;
        if tally.fault == Fault::ResumeForgets {
            tally.made = 0;
        }
        Ok(tally)
    }
}

impl Specified for Tally {
    fn check(seen: &Seen<'_, Op>, got: &u64) -> Verdict {
        let clears: Vec<_> = seen.iter().filter(|one| *one.op() == Op::Clear).collect();
        let amounts = seen.iter().map(|one| match one.op() {
            Op::Add(amount) if !clears.iter().any(|clear| seen.happened_before(one, clear)) => {
                u64::from(*amount)
            }
            _ => 0,
        });
        let sum: u64 = amounts.sum();
        Verdict::equal(got, &sum, || "amounts that no clearing had seen".into())
    }
}
