//! Flags that replicas switch on and off, and disabling wins.
//!
//! Held are the operations that none had seen: the flag is on if all of them enable.

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
    Right "C-FLG-3" Control (2, 4) "disabling wins";
    AnyOn "Z-FLG-8" Mutant (2, 4) "enabling wins where disabling should, by votes";
    NoVotesOn "Z-FLG-9" Mutant (2, 4) "on from the start";
    FirstVote "Z-FLG-10" Mutant (2, 4) "the first replica decides";
    Majority "Z-FLG-11" Mutant (3, 5) "the majority decides";
}

/// A flag that disabling wins, with one fault: the operations that none had seen.
#[derive(Clone, PartialEq, Debug)]
pub struct Votes {
    fault: Fault,
    me: ReplicaId,
    context: Context,
    last: BTreeMap<Dot, bool>,
}

impl Subject for Votes {
    type Op = bool;
    type View = bool;

    fn new(me: ReplicaId) -> Self {
        Votes {
            fault: Fault::chosen(),
            me,
            context: Context::default(),
            last: BTreeMap::new(),
        }
    }

    fn duplicate(&self) -> Self {
        self.clone()
    }

    fn choose(&self, source: &mut Source<'_>) -> Option<bool> {
        Some(source.below(2) == 0)
    }

    fn perform(&mut self, on: &bool) -> Outcome {
        self.last.clear();
        self.last.insert(self.context.mint(self.me), *on);
        Outcome::Done
    }

    fn view(&self) -> bool {
        let mut last = self.last.values();
        let on = last.clone().filter(|on| **on).count();
        match self.fault {
            // Wrong: enabling wins.
            Fault::AnyOn => on > 0,
            // Wrong: on from the start.
            Fault::NoVotesOn => on == self.last.len(),
            // Wrong: decided by the names of replicas.
            Fault::FirstVote => last.next().copied().unwrap_or(false),
            // Wrong: decided by how many there are.
            Fault::Majority => 2 * on > self.last.len(),
            _ => on == self.last.len() && on > 0,
        }
    }

    fn fingerprint(&self, out: &mut Fingerprint) {
        (self.me, &self.context, &self.last).hash(out);
    }
}

impl StateBased for Votes {
    fn merge(&mut self, other: &Self) -> Result<(), Rejected> {
        let stays = |dot: &Dot| other.last.contains_key(dot) || !other.context.has(*dot);
        self.last.retain(|dot, _| stays(dot));
        let new = other
            .last
            .iter()
            .filter(|(dot, _)| !self.context.has(**dot));
        self.last.extend(new.map(|(dot, on)| (*dot, *on)));
        self.context.join(&other.context);
        Ok(())
    }

    fn same_state(&self, other: &Self) -> bool {
        self.last == other.last && self.context == other.context
    }
}

impl Persisted for Votes {
    fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.context.put(&mut out);
        out.push(self.last.len() as u8);
        for (dot, on) in &self.last {
            put_dot(&mut out, *dot);
            out.push(u8::from(*on));
        }
        out
    }

    fn decode(bytes: &[u8], me: ReplicaId) -> Result<Self, Rejected> {
        let mut from = Reader(bytes);
        let context = Context::read(&mut from)?;
        let last = from.ascending(|from| Ok((from.dot()?, from.bool()?)))?;
        from.end()?;
        match last.keys().all(|dot| context.has(*dot)) {
            true => Ok(Votes {
                fault: Fault::chosen(),
                me,
                context,
                last,
            }),
            false => Err(Rejected::new("a dot that was not seen")),
        }
    }
}

impl Specified for Votes {
    fn check(seen: &Seen<'_, bool>, got: &bool) -> Verdict {
        meaning::disable_wins(seen, got)
    }
}

fn votes() -> Capabilities<Votes> {
    Capabilities::new().state().specified()
}

fn stored() -> Capabilities<Votes> {
    votes().encoded()
}

pub fn entries() -> Vec<Entry> {
    let capabilities = |fault: Fault| match fault {
        Fault::Right => stored,
        _ => votes,
    };
    let entry = |fault: &Fault| fault.entry(capabilities(*fault));
    ALL.iter().map(entry).collect()
}
