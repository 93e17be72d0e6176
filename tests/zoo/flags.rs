//! Flags that replicas switch on and off.
//!
//! [`Flag`] holds, of each replica, how often it enabled and whether that still holds. Merge: the
//! larger count; of equal counts, off if either side is off. [`Votes`] holds the last
//! operations, and is off if any of them disables. Source: Shapiro et al. 2011, section 3.3.

use std::collections::BTreeMap;
use std::hash::Hash;

use commute::testkit::{
    Capabilities, Fingerprint, Outcome, Persisted, Rejected, Seen, Source, Specified, StateBased,
    Subject, Verdict,
};
use commute::{Dot, ReplicaId};

use crate::bytes::{Reader, put_dot, put_id, put_u64};
use crate::dotted::Context;
use crate::entry::Kind::{Control, Mutant};
use crate::entry::{Entry, entry};
use crate::meaning;

pub const RIGHT: u8 = 0;
const OR_ON_EQUAL: u8 = 1;
const SAME_COUNT: u8 = 2;
const DISABLES_OWN: u8 = 3;
const OFF_WINS: u8 = 4;
const LARGER_OFF: u8 = 5;
const OVERALL_COUNT: u8 = 6;
const TOGGLES: u8 = 7;
const ANY_ON: u8 = 8;
const NO_VOTES_ON: u8 = 9;
const FIRST_VOTE: u8 = 10;
const MAJORITY: u8 = 11;

/// A flag that enabling wins, with fault `F`.
#[derive(Clone, PartialEq, Hash, Debug)]
pub struct Flag<const F: u8> {
    me: ReplicaId,
    slots: BTreeMap<ReplicaId, (u64, bool)>,
}

impl<const F: u8> Flag<F> {
    fn enable(&mut self) {
        let overall = self.slots.values().map(|(count, _)| *count).max();
        let slot = self.slots.entry(self.me).or_default();
        slot.0 = match F {
            // Wrong: what was disabled elsewhere cannot be told from what is new.
            SAME_COUNT => 1,
            // Right as well: any count that grows.
            OVERALL_COUNT => overall.unwrap_or(0) + 1,
            _ => slot.0 + 1,
        };
        slot.1 = true;
    }

    fn disable(&mut self) {
        for (id, slot) in &mut self.slots {
            // Wrong: what others enabled stays.
            if F != DISABLES_OWN || *id == self.me {
                slot.1 = false;
            }
        }
    }
}

fn joined<const F: u8>(mine: (u64, bool), theirs: (u64, bool)) -> (u64, bool) {
    let on = match mine.0.cmp(&theirs.0) {
        // Wrong: a disabled slot was enabled before, with that count.
        std::cmp::Ordering::Equal if F == OR_ON_EQUAL => mine.1 || theirs.1,
        // Wrong: a disabling that had not seen the newer enabling wins.
        _ if F == OFF_WINS => mine.1 && theirs.1,
        std::cmp::Ordering::Equal => mine.1 && theirs.1,
        // Wrong: of different counts, the older one.
        std::cmp::Ordering::Less if F == LARGER_OFF => mine.1,
        std::cmp::Ordering::Less => theirs.1,
        std::cmp::Ordering::Greater => mine.1,
    };
    (mine.0.max(theirs.0), on)
}

impl<const F: u8> Subject for Flag<F> {
    type Op = bool;
    type View = bool;

    fn new(me: ReplicaId) -> Self {
        Flag {
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
            true if F == TOGGLES && self.view() => self.disable(),
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
        self.hash(out);
    }
}

impl<const F: u8> StateBased for Flag<F> {
    fn merge(&mut self, other: &Self) -> Result<(), Rejected> {
        for (id, theirs) in &other.slots {
            let mine = self.slots.entry(*id).or_insert(*theirs);
            *mine = joined::<F>(*mine, *theirs);
        }
        Ok(())
    }

    fn same_state(&self, other: &Self) -> bool {
        self.slots == other.slots
    }
}

impl<const F: u8> Persisted for Flag<F> {
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
            true => Ok(Flag { me, slots }),
            false => Err(Rejected::new("an empty slot, or too much in one")),
        }
    }
}

impl<const F: u8> Specified for Flag<F> {
    fn check(seen: &Seen<'_, bool>, got: &bool) -> Verdict {
        meaning::enable_wins(seen, got)
    }
}

/// A flag that disabling wins, with fault `F`: the operations that none had seen.
#[derive(Clone, PartialEq, Hash, Debug)]
pub struct Votes<const F: u8> {
    me: ReplicaId,
    context: Context,
    last: BTreeMap<Dot, bool>,
}

impl<const F: u8> Subject for Votes<F> {
    type Op = bool;
    type View = bool;

    fn new(me: ReplicaId) -> Self {
        Votes {
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
        match F {
            // Wrong: enabling wins.
            ANY_ON => on > 0,
            // Wrong: on from the start.
            NO_VOTES_ON => on == self.last.len(),
            // Wrong: decided by the names of replicas.
            FIRST_VOTE => last.next().copied().unwrap_or(false),
            // Wrong: decided by how many there are.
            MAJORITY => 2 * on > self.last.len(),
            _ => on == self.last.len() && on > 0,
        }
    }

    fn fingerprint(&self, out: &mut Fingerprint) {
        self.hash(out);
    }
}

impl<const F: u8> StateBased for Votes<F> {
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

impl<const F: u8> Persisted for Votes<F> {
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
            true => Ok(Votes { me, context, last }),
            false => Err(Rejected::new("a dot that was not seen")),
        }
    }
}

impl<const F: u8> Specified for Votes<F> {
    fn check(seen: &Seen<'_, bool>, got: &bool) -> Verdict {
        meaning::disable_wins(seen, got)
    }
}

fn flag<const F: u8>() -> Capabilities<Flag<F>> {
    Capabilities::new().state().specified()
}

fn votes<const F: u8>() -> Capabilities<Votes<F>> {
    Capabilities::new().state().specified()
}

fn stored_flag() -> Capabilities<Flag<RIGHT>> {
    flag().encoded()
}

fn stored_votes() -> Capabilities<Votes<RIGHT>> {
    votes().encoded()
}

fn disabling() -> Capabilities<Flag<RIGHT>> {
    Capabilities::new().state().spec(meaning::disable_wins)
}

#[rustfmt::skip]
pub fn entries() -> Vec<Entry> {
    vec![
        entry("Z-FLG-1", Mutant, "on if either side is, of equal counts", flag::<OR_ON_EQUAL>),
        entry("Z-FLG-2", Mutant, "enabling does not count", flag::<SAME_COUNT>),
        entry("Z-FLG-3", Mutant, "disabling own enablings only", flag::<DISABLES_OWN>),
        entry("Z-FLG-4", Mutant, "off if either side is, of any counts", flag::<OFF_WINS>),
        entry("Z-FLG-5", Mutant, "the state of the smaller count", flag::<LARGER_OFF>),
        entry("Z-FLG-6", Mutant, "enabling twice disables", flag::<TOGGLES>),
        entry("Z-FLG-7", Mutant, "enabling wins where disabling should", disabling),
        entry("Z-FLG-8", Mutant, "enabling wins where disabling should, by votes", votes::<ANY_ON>),
        entry("Z-FLG-9", Mutant, "on from the start", votes::<NO_VOTES_ON>),
        entry("Z-FLG-10", Mutant, "the first replica decides", votes::<FIRST_VOTE>),
        entry("Z-FLG-11", Mutant, "the majority decides", votes::<MAJORITY>).scope(3, 5),
        entry("C-FLG-1", Control, "enabling wins", stored_flag),
        entry("C-FLG-2", Control, "enabling wins, counted overall", flag::<OVERALL_COUNT>),
        entry("C-FLG-3", Control, "disabling wins", stored_votes),
    ]
}
