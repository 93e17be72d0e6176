//! Registers that keep all values that were written last.
//!
//! Merge: a write stays if both sides hold it or the side without it has not seen it. A write
//! replaces all that is held. Source: Shapiro et al. 2011, section 3.2.2.

use std::collections::BTreeMap;
use std::hash::Hash;

use commute::testkit::{
    Capabilities, Fingerprint, Outcome, Persisted, Rejected, Seen, Source, Specified, StateBased,
    Subject, Verdict,
};
use commute::{Dot, ReplicaId};

use crate::bytes::{Reader, put_dot};
use crate::dotted::Context;
use crate::entry::Entry;
use crate::faults::faults;
use crate::meaning;

faults! {
    Right "C-MV-1" Control (2, 4) "all that was written last";
    SameValueHides "Z-REG-7" Mutant (2, 4) "writing a shown value hides siblings";
    Collapses "Z-REG-8" Mutant (2, 4) "equal values become one";
    DotAsClock "Z-REG-9" Mutant (2, 4) "the dot is taken for the clock";
    KeepsSiblings "Z-REG-10" Mutant (2, 4) "a write keeps siblings";
    KeepsOne "Z-REG-11" Mutant (2, 4) "siblings are cut to one";
    KeepsTwo "Z-MV-1" Mutant (3, 5) "siblings are cut to two";
    KeepsThree "Z-MV-7" Mutant (3, 5) "siblings are cut to three, which takes four replicas";
    HashOrder "Z-MV-2" Mutant (2, 4) "siblings are shown in hash order";
    DropsOwn "Z-MV-3" Mutant (2, 4) "a write replaces own ones only";
    ViewSet "Z-MV-4" Mutant (2, 4) "equal siblings are shown once";
    TakesFromAhead "Z-MV-5" Mutant (2, 4) "merge takes newer states only";
    MergesFirst "Z-MV-6" Mutant (3, 5) "merge takes one sibling";
}

/// A register with one fault.
#[derive(Clone, PartialEq, Debug)]
pub struct Many {
    fault: Fault,
    me: ReplicaId,
    context: Context,
    held: BTreeMap<Dot, u8>,
}

impl Many {
    fn has_seen(&self, dot: Dot) -> bool {
        match self.fault {
            // Wrong: what a write had seen of others is not known.
            Fault::DotAsClock => {
                let mut held = self.held.keys();
                held.any(|mine| mine.replica == dot.replica && mine.counter >= dot.counter)
            }
            _ => self.context.has(dot),
        }
    }

    fn join(&mut self, other: &Self) {
        let mut held = std::mem::take(&mut self.held);
        let new: Vec<(Dot, u8)> = {
            let mine = Many {
                fault: self.fault,
                me: self.me,
                context: self.context.clone(),
                held: held.clone(),
            };
            let theirs = other.held.iter().filter(|(dot, _)| !mine.has_seen(**dot));
            let theirs = theirs.map(|(dot, value)| (*dot, *value));
            match self.fault {
                // Wrong: there may be more than one.
                Fault::MergesFirst => theirs.take(1).collect(),
                _ => theirs.collect(),
            }
        };
        held.retain(|dot, _| other.held.contains_key(dot) || !other.has_seen(*dot));
        for (dot, value) in new {
            let known = held.values().any(|one| *one == value);
            // Wrong: two writes of one value are two writes.
            if self.fault != Fault::Collapses || !known {
                held.insert(dot, value);
            }
        }
        self.held = held;
        self.context.join(&other.context);
    }

    fn truncate(&mut self, most: usize) {
        while self.held.len() > most {
            self.held.pop_last();
        }
    }
}

impl Subject for Many {
    type Op = u8;
    type View = Vec<u8>;

    fn new(me: ReplicaId) -> Self {
        Many {
            fault: Fault::chosen(),
            me,
            context: Context::default(),
            held: BTreeMap::new(),
        }
    }

    fn duplicate(&self) -> Self {
        self.clone()
    }

    fn choose(&self, source: &mut Source<'_>) -> Option<u8> {
        Some(source.below(2) as u8)
    }

    fn perform(&mut self, value: &u8) -> Outcome {
        let dot = self.context.mint(self.me);
        match self.fault {
            // Wrong: its old dot may be replaced elsewhere.
            Fault::SameValueHides if self.held.values().any(|one| one == value) => {
                self.held.retain(|_, one| one == value);
                return Outcome::Done;
            }
            // Wrong: a write replaces what it has seen.
            Fault::KeepsSiblings => {}
            // Wrong: it replaces the siblings of other replicas, too.
            Fault::DropsOwn => {
                let me = self.me;
                self.held.retain(|dot, _| dot.replica != me);
            }
            _ => self.held.clear(),
        }
        self.held.insert(dot, *value);
        Outcome::Done
    }

    fn view(&self) -> Vec<u8> {
        let mut values: Vec<u8> = self.held.values().copied().collect();
        values.sort_unstable();
        match self.fault {
            Fault::HashOrder => in_hash_order(values),
            // Wrong: two writes of one value are two writes.
            Fault::ViewSet => {
                values.dedup();
                values
            }
            _ => values,
        }
    }

    fn fingerprint(&self, out: &mut Fingerprint) {
        (self.me, &self.context, &self.held).hash(out);
    }
}

impl StateBased for Many {
    fn merge(&mut self, other: &Self) -> Result<(), Rejected> {
        // Wrong: neither need be ahead.
        if self.fault == Fault::TakesFromAhead && !other.context.includes(&self.context) {
            return Ok(());
        }
        self.join(other);
        match self.fault {
            // Wrong: room for so many only.
            Fault::KeepsOne => self.truncate(1),
            Fault::KeepsTwo => self.truncate(2),
            Fault::KeepsThree => self.truncate(3),
            _ => {}
        }
        Ok(())
    }

    fn same_state(&self, other: &Self) -> bool {
        self.held == other.held && self.context == other.context
    }
}

impl Persisted for Many {
    fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.context.put(&mut out);
        out.push(self.held.len() as u8);
        for (dot, value) in &self.held {
            put_dot(&mut out, *dot);
            out.push(*value);
        }
        out
    }

    fn decode(bytes: &[u8], me: ReplicaId) -> Result<Self, Rejected> {
        let mut from = Reader(bytes);
        let context = Context::read(&mut from)?;
        let held = from.ascending(|from| Ok((from.dot()?, from.u8()?)))?;
        from.end()?;
        match held.keys().all(|dot| context.has(*dot)) {
            true => Ok(Many {
                fault: Fault::chosen(),
                me,
                context,
                held,
            }),
            false => Err(Rejected::new("a dot that was not seen")),
        }
    }
}

impl Specified for Many {
    fn check(seen: &Seen<'_, u8>, got: &Vec<u8>) -> Verdict {
        meaning::siblings(seen, got)
    }
}

#[allow(
    clippy::disallowed_methods,
    reason = "an order that differs from run to run is the fault"
)]
fn in_hash_order(values: Vec<u8>) -> Vec<u8> {
    let mut all = std::collections::HashMap::new();
    all.extend(values.into_iter().enumerate());
    all.into_values().collect()
}

fn many() -> Capabilities<Many> {
    Capabilities::new().state().specified()
}

fn stored() -> Capabilities<Many> {
    many().encoded()
}

pub fn entries() -> Vec<Entry> {
    let capabilities = |fault: Fault| match fault {
        Fault::Right => stored,
        _ => many,
    };
    let entry = |fault: &Fault| {
        let entry = fault.entry(capabilities(*fault));
        match fault {
            Fault::HashOrder => entry.unsteady(),
            _ => entry,
        }
    };
    ALL.iter().map(entry).collect()
}
