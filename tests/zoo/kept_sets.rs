//! Sets in which additions win, exchanged by deltas, with records of removals until everyone has
//! seen them.
//!
//! A delta is what happened after a version: additions, removals, and the version it leads to. If
//! removals after that version were collected, it is all that is live instead.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::Hash;

use commute::testkit::{
    Applied, Capabilities, Collecting, DeltaBased, Fingerprint, Gaps, Outcome, Persisted, Rejected,
    Seen, Source, Specified, StateBased, Subject, Verdict,
};
use commute::{Dot, ReplicaId, Version};

use crate::bytes::{Reader, put_dot};
use crate::dotted::{Context, context_of};
use crate::entry::Kind::{Control, Mutant};
use crate::entry::{Entry, entry};
use crate::meaning::{self, SetOp};

pub const RIGHT: u8 = 0;
const DELTA_NO_REMOVALS: u8 = 1;
const DELTA_OFF_BY_ONE: u8 = 2;
const DELTA_OWN: u8 = 3;
const IGNORES_GAPS: u8 = 4;
const CLAIMS_TOO_MUCH: u8 = 5;
const CLAIMS_TOO_LITTLE: u8 = 6;
const COLLECTED_DELTA: u8 = 7;
const COLLECTS_LIVE: u8 = 8;
const COLLECTS_ALL: u8 = 9;
const COLLECTS_UNSEEN: u8 = 10;
const FORGETS_VERSION: u8 = 11;
const HALF_INDEX: u8 = 12;
const ABSORB_NO_INDEX: u8 = 13;
const SENDS_ALL: u8 = 14;
const SAYS_NEW: u8 = 15;
const RESURRECTS: u8 = 16;
const ABSORBS_TWICE: u8 = 17;
const REMOVALS_BY_VALUE: u8 = 18;
const NEVER_COLLECTS: u8 = 19;
const LEAKS: u8 = 20;

/// Everything after `since`, up to `until`.
#[derive(Clone, PartialEq, Debug)]
pub struct Delta {
    since: Context,
    until: Context,
    added: BTreeMap<Dot, u8>,
    /// Removed dots, each with the dot of the removal; unless `whole`.
    removed: BTreeMap<Dot, Dot>,
    /// Whether `added` is all that is live, so that the rest is removed.
    whole: bool,
}

/// A set of two elements with fault `F`.
#[derive(Clone, PartialEq, Hash, Debug)]
pub struct Kept<const F: u8> {
    me: ReplicaId,
    version: Context,
    live: BTreeMap<Dot, u8>,
    /// Removed dots that are still told to others, each with the dot of its removal.
    removed: BTreeMap<Dot, Dot>,
    /// Removals up to here are not told any more.
    cut: Context,
    /// The dots of each element.
    index: BTreeMap<u8, BTreeSet<Dot>>,
}

impl<const F: u8> Kept<F> {
    fn insert(&mut self, dot: Dot, element: u8) {
        self.live.insert(dot, element);
        self.index.entry(element).or_default().insert(dot);
    }

    fn drop_dot(&mut self, dot: Dot, removal: Option<Dot>) {
        let Some(element) = self.live.remove(&dot) else {
            return;
        };
        let dots = self.index.entry(element).or_default();
        dots.remove(&dot);
        if dots.is_empty() {
            self.index.remove(&element);
        }
        if let Some(removal) = removal {
            self.removed.insert(dot, removal);
        }
    }

    /// Replaces the dots of `element` by none, or by the new one.
    fn replace(&mut self, element: u8, add: bool) {
        let dots = self.index.get(&element).cloned().unwrap_or_default();
        let new = self.version.mint(self.me);
        for dot in dots {
            self.drop_dot(dot, Some(new));
        }
        if add {
            self.insert(new, element);
        }
    }

    fn rebuild(&mut self) {
        self.index.clear();
        for (dot, element) in &self.live {
            self.index.entry(*element).or_default().insert(*dot);
        }
    }

    /// Takes everything of a delta that is not included here.
    fn take(&mut self, delta: &Delta) {
        for (dot, element) in &delta.added {
            // Wrong: takes what was removed here meanwhile.
            if !self.version.has(*dot) || (F == ABSORBS_TWICE && !self.live.contains_key(dot)) {
                self.insert(*dot, *element);
            }
        }
        if delta.whole {
            let gone = |dot: &&Dot| delta.until.has(**dot) && !delta.added.contains_key(*dot);
            let gone: Vec<Dot> = self.live.keys().filter(gone).copied().collect();
            gone.into_iter().for_each(|dot| self.drop_dot(dot, None));
            // The removals that those were are not known, so nobody can be told them.
            self.cut.join(&delta.until);
        }
        for (dot, removal) in &delta.removed {
            self.take_removal(*dot, *removal);
        }
        match F {
            // Wrong: the same delta is taken for new again.
            CLAIMS_TOO_LITTLE => {}
            _ => self.version.join(&delta.until),
        }
    }

    fn take_removal(&mut self, dot: Dot, removal: Dot) {
        if F == REMOVALS_BY_VALUE {
            // Wrong: other dots of the element were added concurrently.
            let element = self.live.get(&dot).copied();
            let dots = element.and_then(|element| self.index.get(&element).cloned());
            for other in dots.unwrap_or_default() {
                self.drop_dot(other, Some(removal));
            }
        }
        self.drop_dot(dot, None);
        let later = self.removed.get(&dot).is_none_or(|known| removal < *known);
        if later && !self.cut.has(removal) {
            self.removed.insert(dot, removal);
        }
    }

    fn whole(&self, since: &Context) -> Delta {
        Delta {
            since: since.clone(),
            until: self.version.clone(),
            added: self.live.clone(),
            removed: self.removed.clone(),
            whole: true,
        }
    }
}

impl<const F: u8> Subject for Kept<F> {
    type Op = SetOp;
    type View = BTreeSet<u8>;

    fn new(me: ReplicaId) -> Self {
        Kept {
            me,
            version: Context::default(),
            live: BTreeMap::new(),
            removed: BTreeMap::new(),
            cut: Context::default(),
            index: BTreeMap::new(),
        }
    }

    fn duplicate(&self) -> Self {
        self.clone()
    }

    fn choose(&self, source: &mut Source<'_>) -> Option<SetOp> {
        let element = source.below(2) as u8;
        Some(match source.below(2) {
            0 => SetOp::Add(element),
            _ => SetOp::Remove(element),
        })
    }

    fn perform(&mut self, op: &SetOp) -> Outcome {
        match *op {
            SetOp::Add(element) => self.replace(element, true),
            SetOp::Remove(element) if self.index.contains_key(&element) => {
                self.replace(element, false);
            }
            _ => return Outcome::Nothing,
        }
        Outcome::Done
    }

    fn view(&self) -> BTreeSet<u8> {
        match F {
            HALF_INDEX | ABSORB_NO_INDEX => self.live.values().copied().collect(),
            _ => self.index.keys().copied().collect(),
        }
    }

    fn fingerprint(&self, out: &mut Fingerprint) {
        self.hash(out);
    }
}

impl<const F: u8> StateBased for Kept<F> {
    fn merge(&mut self, other: &Self) -> Result<(), Rejected> {
        if F == RESURRECTS {
            // Wrong: what was collected here is new again.
            for (dot, element) in &other.live {
                if !self.live.contains_key(dot) && !self.removed.contains_key(dot) {
                    self.insert(*dot, *element);
                }
            }
        }
        let index = self.index.clone();
        let gone = |dot: &&Dot| other.version.has(**dot) && !other.live.contains_key(*dot);
        let gone: Vec<Dot> = self.live.keys().filter(gone).copied().collect();
        gone.into_iter().for_each(|dot| self.drop_dot(dot, None));
        for (dot, element) in &other.live {
            if !self.version.has(*dot) {
                self.insert(*dot, *element);
            }
        }
        self.cut.join(&other.cut);
        for (dot, removal) in &other.removed {
            self.take_removal(*dot, *removal);
        }
        let cut = &self.cut;
        self.removed.retain(|_, removal| !cut.has(*removal));
        self.version.join(&other.version);
        if F == HALF_INDEX {
            // Wrong: only the dots are merged, so that removals miss what came from others.
            self.index = index;
        }
        Ok(())
    }

    fn same_state(&self, other: &Self) -> bool {
        self.version == other.version && self.live == other.live
    }
}

impl<const F: u8> DeltaBased for Kept<F> {
    type Delta = Delta;
    type Seen = Context;
    const GAPS: Gaps = Gaps::Detected;

    fn seen(&self) -> Context {
        self.version.clone()
    }

    fn delta_since(&self, seen: &Context) -> Delta {
        // Wrong: takes no notice of what was collected after `seen`.
        if F != COLLECTED_DELTA && !seen.includes(&self.cut) {
            return self.whole(seen);
        }
        let beyond = |dot: Dot| match F {
            // Wrong: the first one after it counts as seen.
            DELTA_OFF_BY_ONE => dot.counter > seen.get(dot.replica) + 1,
            // Wrong: everything, always.
            SENDS_ALL => true,
            // Wrong: what third replicas did is claimed and not sent.
            DELTA_OWN => dot.replica == self.me && !seen.has(dot),
            _ => !seen.has(dot),
        };
        let mut until = self.version.clone();
        if F == CLAIMS_TOO_MUCH {
            // Wrong: includes what is not done yet.
            until.mint(self.me);
        }
        let added = self.live.iter().filter(|(dot, _)| beyond(**dot));
        let removed = self.removed.iter().filter(|(_, removal)| beyond(**removal));
        Delta {
            since: seen.clone(),
            until,
            added: added.map(|(dot, element)| (*dot, *element)).collect(),
            removed: match F {
                // Wrong: half of it.
                DELTA_NO_REMOVALS => BTreeMap::new(),
                _ => removed.map(|(dot, removal)| (*dot, *removal)).collect(),
            },
            whole: false,
        }
    }

    fn absorb(&mut self, delta: &Delta) -> Result<Applied, Rejected> {
        // Wrong: what came before `since` is missing and will never be sent again.
        if F != IGNORES_GAPS && !self.version.includes(&delta.since) {
            return Err(Rejected::new("a delta from the future"));
        }
        if F != SAYS_NEW && F != ABSORBS_TWICE && self.version.includes(&delta.until) {
            return Ok(Applied::Duplicate);
        }
        let index = self.index.clone();
        self.take(delta);
        if F == ABSORB_NO_INDEX {
            // Wrong: removals miss what came from others.
            self.index = index;
        }
        Ok(Applied::New)
    }

    fn delta_bound(&self, delta: &Delta) -> Result<(), String> {
        let size = delta.added.len() + delta.removed.len();
        let lacking = self.version.sum() - delta.since.sum().min(self.version.sum());
        match delta.whole || size as u64 <= 2 * lacking + 2 {
            true => Ok(()),
            false => Err(format!("{size} dots for {lacking} updates")),
        }
    }
}

impl<const F: u8> Persisted for Kept<F> {
    fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.version.put(&mut out);
        out.push(self.live.len() as u8);
        for (dot, element) in &self.live {
            put_dot(&mut out, *dot);
            out.push(*element);
        }
        // Wrong: together with never collecting, it grows with every removal.
        if F == LEAKS {
            out.push(self.removed.len() as u8);
            for (dot, removal) in &self.removed {
                put_dot(&mut out, *dot);
                put_dot(&mut out, *removal);
            }
        }
        out
    }

    /// Without the records of removals: whoever lacks some is sent everything.
    fn decode(bytes: &[u8], me: ReplicaId) -> Result<Self, Rejected> {
        let mut from = Reader(bytes);
        let version = Context::read(&mut from)?;
        let live = from.ascending(|from| Ok((from.dot()?, from.u8()?)))?;
        let removed = match F {
            LEAKS => from.ascending(|from| Ok((from.dot()?, from.dot()?)))?,
            _ => BTreeMap::new(),
        };
        from.end()?;
        if !live.keys().all(|dot| version.has(*dot)) {
            return Err(Rejected::new("a dot that was not seen"));
        }
        let mut set = Kept {
            me,
            cut: match F {
                LEAKS => Context::default(),
                _ => version.clone(),
            },
            version,
            live,
            removed,
            index: BTreeMap::new(),
        };
        set.rebuild();
        Ok(set)
    }
}

impl<const F: u8> Collecting for Kept<F> {
    fn collect(&mut self, stable: &Version) -> Result<(), Rejected> {
        match F {
            // Wrong: takes the cut for its own version.
            COLLECTS_UNSEEN => self.version.join(&context_of(stable)),
            _ => self.version.allows(stable)?,
        }
        match F {
            NEVER_COLLECTS | LEAKS => return Ok(()),
            // Wrong: others may not have seen the later removals, and are not told them.
            COLLECTS_ALL => self.removed.clear(),
            // Wrong: what everyone has seen is not what nobody wants.
            COLLECTS_LIVE => {
                let old: Vec<Dot> = self.live.keys().copied().collect();
                let old = old.into_iter().filter(|dot| stable.contains(*dot)).skip(1);
                old.for_each(|dot| self.drop_dot(dot, None));
            }
            _ => {}
        }
        self.cut.join(&context_of(stable));
        self.removed.retain(|_, removal| !stable.contains(*removal));
        if F == FORGETS_VERSION {
            // Wrong: the version is what tells an old dot from a new one.
            let (me, live) = (self.me, &self.live);
            let lives = |id: &ReplicaId| live.keys().any(|dot| dot.replica == *id);
            self.version.0.retain(|id, _| *id == me || lives(id));
        }
        Ok(())
    }

    fn size_max(&self, replicas: usize) -> usize {
        2 + replicas * (24 + 2 * 25)
    }
}

impl<const F: u8> Specified for Kept<F> {
    fn check(seen: &Seen<'_, SetOp>, got: &BTreeSet<u8>) -> Verdict {
        meaning::add_wins(seen, got)
    }
}

fn by_delta<const F: u8>() -> Capabilities<Kept<F>> {
    Capabilities::new().state().delta().specified()
}

fn collecting<const F: u8>() -> Capabilities<Kept<F>> {
    by_delta().collecting()
}

fn whole<const F: u8>() -> Capabilities<Kept<F>> {
    collecting().encoded()
}

#[rustfmt::skip]
pub fn entries() -> Vec<Entry> {
    vec![
        entry("Z-KEPT-1", Mutant, "deltas without removals", by_delta::<DELTA_NO_REMOVALS>),
        entry("Z-KEPT-2", Mutant, "deltas without the next update", by_delta::<DELTA_OFF_BY_ONE>),
        entry("Z-KEPT-3", Mutant, "deltas of own updates only", by_delta::<DELTA_OWN>).scope(3, 4),
        entry("Z-KEPT-4", Mutant, "a gap before a delta is not noticed", by_delta::<IGNORES_GAPS>).scope(3, 4),
        entry("Z-KEPT-5", Mutant, "a delta claims too much", by_delta::<CLAIMS_TOO_MUCH>),
        entry("Z-KEPT-6", Mutant, "what a delta brought does not count as seen", by_delta::<CLAIMS_TOO_LITTLE>),
        entry("Z-KEPT-7", Mutant, "deltas without what was collected", collecting::<COLLECTED_DELTA>),
        entry("Z-KEPT-8", Mutant, "collecting drops live elements", collecting::<COLLECTS_LIVE>).scope(2, 5),
        entry("Z-KEPT-9", Mutant, "collecting drops all records", collecting::<COLLECTS_ALL>),
        entry("Z-KEPT-10", Mutant, "collecting takes any cut", collecting::<COLLECTS_UNSEEN>),
        entry("Z-KEPT-11", Mutant, "collecting prunes the version", collecting::<FORGETS_VERSION>),
        entry("Z-KEPT-12", Mutant, "merge leaves the index", by_delta::<HALF_INDEX>),
        entry("Z-KEPT-13", Mutant, "absorbing leaves the index", by_delta::<ABSORB_NO_INDEX>),
        entry("Z-KEPT-14", Mutant, "deltas hold everything", by_delta::<SENDS_ALL>),
        entry("Z-KEPT-15", Mutant, "every delta is called new", by_delta::<SAYS_NEW>),
        entry("Z-KEPT-16", Mutant, "what was collected comes back", collecting::<RESURRECTS>),
        entry("Z-KEPT-17", Mutant, "a delta again undoes removals", by_delta::<ABSORBS_TWICE>),
        entry("Z-KEPT-18", Mutant, "a delta removes by value", by_delta::<REMOVALS_BY_VALUE>),
        entry("Z-KEPT-19", Mutant, "records are stored and never collected", whole::<LEAKS>),
        entry("C-KEPT-1", Control, "additions win, records of removals", whole::<RIGHT>),
        entry("C-KEPT-2", Control, "the same, never collected", whole::<NEVER_COLLECTS>),
    ]
}
