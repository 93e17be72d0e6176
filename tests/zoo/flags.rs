//! Flags that replicas switch on and off, and enabling wins.
//!
//! Held is, of each replica, how often it enabled and whether that still holds. Merge: the larger
//! count; of equal counts, off if either side is off.

use std::collections::BTreeMap;
use std::hash::Hash;

use commute::ReplicaId;
use commute::testkit::{
    Capabilities, Fingerprint, Outcome, Persisted, Rejected, Seen, Source, Specified, StateBased,
    Subject, Verdict,
};

use crate::bytes::{Reader, put_id, put_u64};
use crate::entry::Entry;
use crate::faults::faults;
use crate::meaning;

faults! {
    Right "C-FLG-1" Control (2, 4) "enabling wins";
    OrOnEqual "Z-FLG-1" Mutant (2, 4) "on if either side is, of equal counts";
    SameCount "Z-FLG-2" Mutant (2, 4) "enabling does not count";
    DisablesOwn "Z-FLG-3" Mutant (2, 4) "disabling own enablings only";
    OffWins "Z-FLG-4" Mutant (2, 4) "off if either side is, of any counts";
    LargerOff "Z-FLG-5" Mutant (2, 4) "the state of the smaller count";
    Toggles "Z-FLG-6" Mutant (2, 4) "enabling twice disables";
    Disabling "Z-FLG-7" Mutant (2, 4) "enabling wins where disabling should";
    OverallCount "C-FLG-2" Control (2, 4) "enabling wins, counted overall";
}

/// A flag that enabling wins, with one fault.
#[derive(Clone, PartialEq, Debug)]
pub struct Flag {
    fault: Fault,
    me: ReplicaId,
    slots: BTreeMap<ReplicaId, (u64, bool)>,
}

impl Flag {
    fn enable(&mut self) {
        let overall = self.slots.values().map(|(count, _)| *count).max();
        let slot = self.slots.entry(self.me).or_default();
        slot.0 = match self.fault {
            // Wrong: what was disabled elsewhere cannot be told from what is new.
            Fault::SameCount => 1,
            // Right as well: any count that grows.
            Fault::OverallCount => overall.unwrap_or(0) + 1,
            _ => slot.0 + 1,
        };
        slot.1 = true;
    }

    fn disable(&mut self) {
        for (id, slot) in &mut self.slots {
            // Wrong: what others enabled stays.
            if self.fault != Fault::DisablesOwn || *id == self.me {
                slot.1 = false;
            }
        }
    }
}

fn joined(fault: Fault, mine: (u64, bool), theirs: (u64, bool)) -> (u64, bool) {
    let on = match mine.0.cmp(&theirs.0) {
        // Wrong: a disabled slot was enabled before, with that count.
        std::cmp::Ordering::Equal if fault == Fault::OrOnEqual => mine.1 || theirs.1,
        // Wrong: a disabling that had not seen the newer enabling wins.
        _ if fault == Fault::OffWins => mine.1 && theirs.1,
        std::cmp::Ordering::Equal => mine.1 && theirs.1,
        // Wrong: of different counts, the older one.
        std::cmp::Ordering::Less if fault == Fault::LargerOff => mine.1,
        std::cmp::Ordering::Less => theirs.1,
        std::cmp::Ordering::Greater => mine.1,
    };
    (mine.0.max(theirs.0), on)
}

impl Subject for Flag {
    type Op = bool;
    type View = bool;

    fn new(me: ReplicaId) -> Self {
        Flag {
            fault: Fault::chosen(),
            me,
            slots: BTreeMap::new(),
        }
    }

    fn duplicate(&self) -> Self {
        self.clone()
    }

    fn choose(&self, source: &mut Source<'_>) -> Option<bool> {
        Some(source.below(2) == 0)
    }

    fn perform(&mut self, on: &bool) -> Outcome {
        match *on {
            // Wrong: enabling twice disables.
            true if self.fault == Fault::Toggles && self.view() => self.disable(),
            true => self.enable(),
            false if !self.view() => return Outcome::Nothing,
            false => self.disable(),
        }
        Outcome::Done
    }

    fn view(&self) -> bool {
        self.slots.values().any(|(_, on)| *on)
    }

    fn fingerprint(&self, out: &mut Fingerprint) {
        (self.me, &self.slots).hash(out);
    }
}

impl StateBased for Flag {
    fn merge(&mut self, other: &Self) -> Result<(), Rejected> {
        for (id, theirs) in &other.slots {
            let mine = self.slots.entry(*id).or_insert(*theirs);
            *mine = joined(self.fault, *mine, *theirs);
        }
        Ok(())
    }

    fn same_state(&self, other: &Self) -> bool {
        self.slots == other.slots
    }
}

impl Persisted for Flag {
    fn encode(&self) -> Vec<u8> {
        let mut out = vec![self.slots.len() as u8];
        for (id, (count, on)) in &self.slots {
            put_id(&mut out, *id);
            put_u64(&mut out, *count);
            out.push(u8::from(*on));
        }
        out
    }

    fn decode(bytes: &[u8], me: ReplicaId) -> Result<Self, Rejected> {
        let mut from = Reader(bytes);
        let slots = from.ascending(|from| Ok((from.id()?, (from.u64()?, from.bool()?))))?;
        from.end()?;
        match slots
            .values()
            .all(|(count, _)| (1..1 << 32).contains(count))
        {
            true => Ok(Flag {
                fault: Fault::chosen(),
                me,
                slots,
            }),
            false => Err(Rejected::new("an empty slot, or too much in one")),
        }
    }
}

impl Specified for Flag {
    fn check(seen: &Seen<'_, bool>, got: &bool) -> Verdict {
        meaning::enable_wins(seen, got)
    }
}

fn flag() -> Capabilities<Flag> {
    Capabilities::new().state().specified()
}

fn stored() -> Capabilities<Flag> {
    flag().encoded()
}

fn disabling() -> Capabilities<Flag> {
    Capabilities::new().state().spec(meaning::disable_wins)
}

pub fn entries() -> Vec<Entry> {
    let capabilities = |fault: Fault| match fault {
        Fault::Right => stored,
        Fault::Disabling => disabling,
        _ => flag,
    };
    let entry = |fault: &Fault| fault.entry(capabilities(*fault));
    ALL.iter().map(entry).collect()
}
