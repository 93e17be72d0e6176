//! A set that becomes bytes, and what goes wrong in bytes.
//!
//! Rule: an element is in the set while an add of it stands that no known removal had seen; the
//! names of all adds are kept as one count per replica.
//! Source: Bieniusa et al. 2012, "An optimized conflict-free replicated set".

use std::cell::Cell;
use std::collections::BTreeMap;

use commute::testkit::{
    Capabilities, Golden, Outcome, Persisted, Rejected, Seen, Source, Specified, StateBased,
    Subject, Verb, Verdict,
};
use commute::{Dot, ReplicaId};

use crate::entry::Entry;
use crate::faults::faults;

faults! {
    Right "basket" Control (2, 5) "nothing is wrong";
    InsertionOrder "Z-COD-1" Mutant (2, 4) "elements are written in the order they came";
    TrailingAccepted "Z-COD-2" Mutant (2, 3) "bytes after the end are ignored";
    ContextLost "Z-COD-3" Mutant (2, 5) "the context is not written";
    CheckIgnored "Z-COD-4" Mutant (2, 3) "the last byte, a check sum, is not looked at";
    PanicsShort "Z-COD-5" Mutant (2, 3) "bytes that are cut short panic";
    TrustsCount "Z-COD-6" Mutant (2, 3) "memory is taken for as many elements as are claimed";
    LooseFlag "Z-COD-7" Mutant (2, 3) "a flag is true for anything but zero";
    CounterLost "Z-COD-8" Mutant (2, 5) "the own count is taken from what is left in the set";
    KeepsSender "Z-COD-9" Mutant (2, 3) "the writer's id is in the bytes, and the reader takes it";
    TakesFirstId "Z-COD-10" Hard (2, 5) "the reader goes on under the first id it finds";
    SkipsUnknown "Z-COD-11" Mutant (2, 3) "elements that are not known are skipped";
    OrderUnchecked "Z-COD-12" Mutant (2, 4) "the order of elements is not checked";
    Unsteady "Z-COD-13" Mutant (2, 3) "the same state is written in two ways by turns";
    NumbersCut "Z-COD-14" Mutant (2, 5) "counts beyond 3 are cut";
    LooseNumbers "Z-COD-15" Mutant (2, 4) "a number may be spelled with zeros before it";
    BeyondContext "Z-COD-16" Mutant (2, 4) "elements that the context does not cover are read";
    EmptyRead "Z-COD-17" Mutant (2, 3) "no bytes at all are read as an empty set";
    IdsCut "Z-COD-18" Mutant (2, 4) "ids are written modulo 7";
    FlagLost "Z-COD-19" Mutant (2, 4) "the mark that the set was locked is not written";
    Renumbered "Z-COD-21" Mutant (2, 3) "the format is another one than that of the last release";
    OneBitIgnored "Z-COD-20" Mutant (2, 4) "the highest bit of an element is ignored";
}

pub fn entries() -> Vec<Entry> {
    let capabilities = || {
        let base = Capabilities::<Basket>::new().state().encoded().specified();
        base.golden(last_release())
    };
    let entry = |fault: &Fault| match fault {
        Fault::TakesFirstId => {
            let verbs = [Verb::Do, Verb::Merge, Verb::Resume];
            fault.entry(capabilities).hunted(&verbs)
        }
        _ => fault.entry(capabilities),
    };
    ALL.iter().map(entry).collect()
}

/// What the last release wrote, for faults that keep the format else; without elements it is the
/// same for most of them.
fn last_release() -> Golden {
    match Fault::chosen() {
        Fault::Right | Fault::Renumbered => Golden::new()
            .with(
                "v1, empty",
                &[0, 0, 0],
                "View { elements: [], locked: false }",
            )
            .with(
                "v1, locked",
                &[0, 0, 1],
                "View { elements: [], locked: true }",
            ),
        _ => Golden::new(),
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Op {
    Add(u8),
    Remove(u8),
    /// Locks the set for show; once locked it stays so.
    Lock,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct View {
    elements: Vec<u8>,
    locked: bool,
}

/// The set at one replica.
#[derive(Clone, Debug)]
pub struct Basket {
    fault: Fault,
    me: ReplicaId,
    made: u64,
    /// In the order in which they came.
    elements: Vec<(u8, Dot)>,
    context: BTreeMap<ReplicaId, u64>,
    locked: bool,
    written: Cell<bool>,
}

impl Basket {
    fn covers(&self, dot: Dot) -> bool {
        self.context
            .get(&dot.replica)
            .is_some_and(|seen| dot.counter <= *seen)
    }

    fn cover(&mut self, dot: Dot) {
        let seen = self.context.entry(dot.replica).or_default();
        *seen = dot.counter.max(*seen);
    }

    fn sorted(&self) -> Vec<(u8, Dot)> {
        let mut elements = self.elements.clone();
        elements.sort();
        elements
    }
}

impl Subject for Basket {
    type Op = Op;
    type View = View;

    fn new(me: ReplicaId) -> Basket {
        Basket {
            fault: Fault::chosen(),
            me,
            made: 0,
            elements: Vec::new(),
            context: BTreeMap::new(),
            locked: false,
            written: Cell::new(false),
        }
    }

    fn name() -> String {
        Fault::chosen().id().into()
    }

    fn duplicate(&self) -> Basket {
        self.clone()
    }

    fn choose(&self, source: &mut Source<'_>) -> Option<Op> {
        let all = [
            Op::Add(0),
            Op::Add(1),
            Op::Remove(0),
            Op::Remove(1),
            Op::Lock,
        ];
        source.pick(&all).cloned()
    }

    fn perform(&mut self, op: &Op) -> Outcome {
        let before = self.elements.len();
        match op {
            Op::Add(e) => {
                self.made += 1;
                let dot = Dot::new(self.me, self.made);
                self.elements.retain(|(other, _)| other != e);
                self.elements.push((*e, dot));
                self.cover(dot);
            }
            Op::Remove(e) => {
                self.elements.retain(|(other, _)| other != e);
                if self.elements.len() == before {
                    return Outcome::Nothing;
                }
            }
            Op::Lock if self.locked => return Outcome::Nothing,
            Op::Lock => self.locked = true,
        }
        Outcome::Done
    }

    fn view(&self) -> View {
        let mut elements: Vec<u8> = self.elements.iter().map(|(e, _)| *e).collect();
        elements.sort_unstable();
        elements.dedup();
        View {
            elements,
            locked: self.locked,
        }
    }

    fn invariant(&self) -> Result<(), String> {
        match self.elements.iter().find(|(_, dot)| !self.covers(*dot)) {
            Some((_, dot)) => Err(format!("{dot} is beyond the context")),
            None => Ok(()),
        }
    }
}

impl StateBased for Basket {
    fn merge(&mut self, other: &Basket) -> Result<(), Rejected> {
        let theirs = &other.elements;
        let gone = |one: &(u8, Dot)| other.covers(one.1) && !theirs.contains(one);
        let mut elements = self.elements.clone();
        elements.retain(|one| !gone(one));
        let new = theirs.iter().filter(|one| !self.covers(one.1));
        elements.extend(new.copied());
        self.elements = elements;
        for (id, seen) in &other.context {
            self.cover(Dot::new(*id, *seen));
        }
        self.locked |= other.locked;
        Ok(())
    }

    fn same_state(&self, other: &Basket) -> bool {
        let same = self.sorted() == other.sorted() && self.context == other.context;
        same && self.locked == other.locked
    }
}

/// A number, low bits first, seven to a byte.
fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Takes bytes from the front.
struct Reader<'a> {
    bytes: &'a [u8],
    fault: Fault,
}

impl Reader<'_> {
    fn byte(&mut self) -> Result<u8, Rejected> {
        if self.fault == Fault::PanicsShort {
            assert!(!self.bytes.is_empty(), "index 0 is out of bounds");
        }
        let (first, rest) = self.bytes.split_first().ok_or_else(short)?;
        self.bytes = rest;
        Ok(*first)
    }

    fn number(&mut self) -> Result<u64, Rejected> {
        let mut number = 0;
        for shift in (0..63).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                let padded = byte == 0 && shift > 0;
                return match padded && self.fault != Fault::LooseNumbers {
                    true => Err(Rejected::new("a number with zeros before it")),
                    false => Ok(number),
                };
            }
        }
        Err(Rejected::new("a number too great"))
    }

    fn id(&mut self) -> Result<ReplicaId, Rejected> {
        let id = self.number()?;
        Ok(u128::from(id).into())
    }

    fn dot(&mut self) -> Result<Dot, Rejected> {
        let id = self.id()?;
        match self.number()? {
            0 => Err(Rejected::new("counts start at 1")),
            counter => Ok(Dot::new(id, counter)),
        }
    }

    fn count(&mut self) -> Result<u64, Rejected> {
        let count = self.number()?;
        if self.fault == Fault::TrustsCount {
            // What an allocation of any claimed size comes to.
            assert!(count < 1 << 10, "memory allocation failed");
        }
        match count <= self.bytes.len() as u64 || self.fault == Fault::TrustsCount {
            true => Ok(count),
            false => Err(short()),
        }
    }
}

fn short() -> Rejected {
    Rejected::new("cut short")
}

fn check_sum(bytes: &[u8]) -> u8 {
    bytes.iter().fold(7, |sum, byte| sum.rotate_left(1) ^ byte)
}

impl Basket {
    fn write_dot(&self, out: &mut Vec<u8>, dot: Dot) {
        let id = u128::from(dot.replica) as u64;
        match self.fault {
            Fault::IdsCut => put(out, id % 7),
            _ => put(out, id),
        }
        match self.fault {
            Fault::NumbersCut => put(out, dot.counter.min(3)),
            _ => put(out, dot.counter),
        }
    }

    fn write_elements(&self, out: &mut Vec<u8>) {
        let elements = match self.fault {
            Fault::InsertionOrder => self.elements.clone(),
            _ => self.sorted(),
        };
        put(out, elements.len() as u64);
        for (e, dot) in elements {
            out.push(e);
            self.write_dot(out, dot);
        }
    }

    fn read_elements(&mut self, reader: &mut Reader<'_>) -> Result<(), Rejected> {
        for _ in 0..reader.count()? {
            let mut e = reader.byte()?;
            let dot = reader.dot()?;
            if self.fault == Fault::OneBitIgnored {
                e &= 0x7f;
            }
            let order = self.elements.last().is_none_or(|last| *last < (e, dot));
            let free = matches!(self.fault, Fault::OrderUnchecked | Fault::InsertionOrder);
            if !order && !free {
                return Err(Rejected::new("not in ascending order"));
            }
            match e {
                0 | 1 => self.elements.push((e, dot)),
                _ if self.fault == Fault::SkipsUnknown => {}
                _ => return Err(Rejected::new("no such element")),
            }
        }
        Ok(())
    }

    fn read_context(&mut self, reader: &mut Reader<'_>) -> Result<(), Rejected> {
        if self.fault == Fault::ContextLost {
            let dots: Vec<Dot> = self.elements.iter().map(|(_, dot)| *dot).collect();
            dots.into_iter().for_each(|dot| self.cover(dot));
            return Ok(());
        }
        for _ in 0..reader.count()? {
            let dot = reader.dot()?;
            if self
                .context
                .last_key_value()
                .is_some_and(|(last, _)| *last >= dot.replica)
            {
                return Err(Rejected::new("not in ascending order"));
            }
            self.context.insert(dot.replica, dot.counter);
        }
        match self.invariant() {
            Err(what) if self.fault != Fault::BeyondContext => Err(Rejected(what)),
            _ => Ok(()),
        }
    }

    fn read_flag(&mut self, reader: &mut Reader<'_>) -> Result<(), Rejected> {
        self.locked = match (reader.byte()?, self.fault) {
            (0, _) => false,
            (2, Fault::Renumbered) => true,
            (_, Fault::Renumbered) => return Err(Rejected::new("neither true nor false")),
            (1, _) | (_, Fault::LooseFlag) => true,
            _ => return Err(Rejected::new("neither true nor false")),
        };
        Ok(())
    }

    /// Goes on under an id.
    fn settle_in(&mut self) {
        let own = self
            .elements
            .iter()
            .filter(|(_, dot)| dot.replica == self.me);
        self.made = match self.fault {
            Fault::CounterLost => own.map(|(_, dot)| dot.counter).max().unwrap_or(0),
            _ => self.context.get(&self.me).copied().unwrap_or(0),
        };
        if let (Fault::TakesFirstId, Some((id, seen))) = (self.fault, self.context.iter().next()) {
            (self.me, self.made) = (*id, *seen);
        }
    }
}

impl Persisted for Basket {
    fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.write_elements(&mut out);
        if self.fault != Fault::ContextLost {
            put(&mut out, self.context.len() as u64);
            for (id, seen) in &self.context {
                self.write_dot(&mut out, Dot::new(*id, *seen));
            }
        }
        match self.fault {
            // True was 1 in the last release.
            Fault::Renumbered => out.push(2 * u8::from(self.locked)),
            _ => out.push(u8::from(self.locked && self.fault != Fault::FlagLost)),
        }
        match self.fault {
            Fault::KeepsSender => put(&mut out, u128::from(self.me) as u64),
            Fault::Unsteady => {
                self.written.set(!self.written.get());
                out.push(u8::from(self.written.get()));
            }
            _ => {}
        }
        let sum = check_sum(&out);
        if self.fault == Fault::CheckIgnored {
            out.push(sum);
        }
        out
    }

    fn decode(bytes: &[u8], replica: ReplicaId) -> Result<Basket, Rejected> {
        let mut basket = Basket::new(replica);
        let mut reader = Reader {
            bytes,
            fault: basket.fault,
        };
        if basket.fault == Fault::EmptyRead && bytes.is_empty() {
            return Ok(basket);
        }
        basket.read_elements(&mut reader)?;
        basket.read_context(&mut reader)?;
        basket.read_flag(&mut reader)?;
        match basket.fault {
            Fault::KeepsSender => basket.me = reader.id()?,
            Fault::Unsteady | Fault::CheckIgnored => drop(reader.byte()?),
            _ => {}
        }
        basket.settle_in();
        match reader.bytes.is_empty() || basket.fault == Fault::TrailingAccepted {
            true => Ok(basket),
            false => Err(Rejected::new("bytes after the end")),
        }
    }
}

impl Specified for Basket {
    fn check(seen: &Seen<'_, Op>, got: &View) -> Verdict {
        let mut elements = Vec::new();
        for e in 0..2 {
            let removals = seen.iter().filter(|one| *one.op() == Op::Remove(e));
            let removals: Vec<_> = removals.collect();
            let mut adds = seen.iter().filter(|one| *one.op() == Op::Add(e));
            if adds.any(|add| !removals.iter().any(|one| seen.happened_before(add, one))) {
                elements.push(e);
            }
        }
        let locked = seen.iter().any(|one| *one.op() == Op::Lock);
        let expected = View { elements, locked };
        Verdict::equal(got, &expected, || {
            "adds that no seen removal had seen".into()
        })
    }
}
