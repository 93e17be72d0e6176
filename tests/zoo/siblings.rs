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
use crate::entry::Kind::{Control, Mutant};
use crate::entry::{Entry, entry};
use crate::meaning;

pub const RIGHT: u8 = 0;
const SAME_VALUE_HIDES: u8 = 7;
const COLLAPSES: u8 = 8;
const DOT_AS_CLOCK: u8 = 9;
const KEEPS_SIBLINGS: u8 = 10;
const KEEPS_ONE: u8 = 11;
const KEEPS_TWO: u8 = 12;
const HASH_ORDER: u8 = 13;
const DROPS_OWN: u8 = 14;
const VIEW_SET: u8 = 15;
const TAKES_FROM_AHEAD: u8 = 16;
const MERGES_FIRST: u8 = 17;

/// A register with fault `F`.
#[derive(Clone, PartialEq, Hash, Debug)]
pub struct Many<const F: u8> {
    me: ReplicaId,
    context: Context,
    held: BTreeMap<Dot, u8>,
}

impl<const F: u8> Many<F> {
    fn has_seen(&self, dot: Dot) -> bool {
        match F {
            // Wrong: what a write had seen of others is not known.
            DOT_AS_CLOCK => {
                let mut held = self.held.keys();
                held.any(|mine| mine.replica == dot.replica && mine.counter >= dot.counter)
            }
            _ => self.context.has(dot),
        }
    }

    fn join(&mut self, other: &Self) {
        let mut held = std::mem::take(&mut self.held);
        let new: Vec<(Dot, u8)> = {
            let mine = Many::<F> {
                me: self.me,
                context: self.context.clone(),
                held: held.clone(),
            };
            let theirs = other.held.iter().filter(|(dot, _)| !mine.has_seen(**dot));
            let theirs = theirs.map(|(dot, value)| (*dot, *value));
            match F {
                // Wrong: there may be more than one.
                MERGES_FIRST => theirs.take(1).collect(),
                _ => theirs.collect(),
            }
        };
        held.retain(|dot, _| other.held.contains_key(dot) || !other.has_seen(*dot));
        for (dot, value) in new {
            let known = held.values().any(|one| *one == value);
            // Wrong: two writes of one value are two writes.
            if F != COLLAPSES || !known {
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

impl<const F: u8> Subject for Many<F> {
    type Op = u8;
    type View = Vec<u8>;

    fn new(me: ReplicaId) -> Self {
        Many {
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
        match F {
            // Wrong: its old dot may be replaced elsewhere.
            SAME_VALUE_HIDES if self.held.values().any(|one| one == value) => {
                self.held.retain(|_, one| one == value);
                return Outcome::Done;
            }
            // Wrong: a write replaces what it has seen.
            KEEPS_SIBLINGS => {}
            // Wrong: it replaces the siblings of other replicas, too.
            DROPS_OWN => {
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
        match F {
            HASH_ORDER => in_hash_order(values),
            // Wrong: two writes of one value are two writes.
            VIEW_SET => {
                values.dedup();
                values
            }
            _ => values,
        }
    }

    fn fingerprint(&self, out: &mut Fingerprint) {
        self.hash(out);
    }
}

impl<const F: u8> StateBased for Many<F> {
    fn merge(&mut self, other: &Self) -> Result<(), Rejected> {
        // Wrong: neither need be ahead.
        if F == TAKES_FROM_AHEAD && !other.context.includes(&self.context) {
            return Ok(());
        }
        self.join(other);
        match F {
            // Wrong: room for one, or for two.
            KEEPS_ONE => self.truncate(1),
            KEEPS_TWO => self.truncate(2),
            _ => {}
        }
        Ok(())
    }

    fn same_state(&self, other: &Self) -> bool {
        self.held == other.held && self.context == other.context
    }
}

impl<const F: u8> Persisted for Many<F> {
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
            true => Ok(Many { me, context, held }),
            false => Err(Rejected::new("a dot that was not seen")),
        }
    }
}

impl<const F: u8> Specified for Many<F> {
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

fn many<const F: u8>() -> Capabilities<Many<F>> {
    Capabilities::new().state().specified()
}

fn stored() -> Capabilities<Many<RIGHT>> {
    many().encoded()
}

#[rustfmt::skip]
pub fn entries() -> Vec<Entry> {
    vec![
        entry("Z-REG-7", Mutant, "writing a shown value hides siblings", many::<SAME_VALUE_HIDES>),
        entry("Z-REG-8", Mutant, "equal values become one", many::<COLLAPSES>),
        entry("Z-REG-9", Mutant, "the dot is taken for the clock", many::<DOT_AS_CLOCK>),
        entry("Z-REG-10", Mutant, "a write keeps siblings", many::<KEEPS_SIBLINGS>),
        entry("Z-REG-11", Mutant, "siblings are cut to one", many::<KEEPS_ONE>),
        entry("Z-MV-1", Mutant, "siblings are cut to two", many::<KEEPS_TWO>).scope(3, 5),
        entry("Z-MV-2", Mutant, "siblings are shown in hash order", many::<HASH_ORDER>).unsteady(),
        entry("Z-MV-3", Mutant, "a write replaces own ones only", many::<DROPS_OWN>),
        entry("Z-MV-4", Mutant, "equal siblings are shown once", many::<VIEW_SET>),
        entry("Z-MV-5", Mutant, "merge takes newer states only", many::<TAKES_FROM_AHEAD>),
        entry("Z-MV-6", Mutant, "merge takes one sibling", many::<MERGES_FIRST>).scope(3, 5),
        entry("C-MV-1", Control, "all that was written last", stored),
    ]
}
