//! Sets in which additions win, exchanged by deltas, with records of removals until everyone has
//! seen them.
//!
//! A delta is what happened after a version: additions, removals, and the version it leads to. It
//! needs what both its author and its reader had. If removals after that version were collected,
//! it is all that is live instead.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::Hash;

use commute::testkit::{
    Applied, Capabilities, Collecting, DeltaBased, Fingerprint, Gaps, Outcome, Persisted, Rejected,
    Seen, Source, Specified, StateBased, Subject, Verb, Verdict,
};
use commute::{Dot, ReplicaId, Version};

use crate::bytes::{Reader, put_dot};
use crate::dotted::{Context, context_of};
use crate::entry::Entry;
use crate::faults::faults;
use crate::meaning::{self, SetOp};

faults! {
    Right "C-KEPT-1" Control (2, 4) "additions win, records of removals";
    DeltaNoRemovals "Z-KEPT-1" Mutant (2, 4) "deltas without removals";
    DeltaOffByOne "Z-KEPT-2" Mutant (2, 4) "deltas without the next update";
    DeltaOwn "Z-KEPT-3" Mutant (3, 4) "deltas of own updates only";
    IgnoresGaps "Z-KEPT-4" Mutant (3, 4) "a gap before a delta is not noticed";
    ClaimsTooMuch "Z-KEPT-5" Mutant (2, 4) "a delta claims too much";
    ClaimsTooLittle "Z-KEPT-6" Mutant (2, 4) "what a delta brought does not count as seen";
    CollectedDelta "Z-KEPT-7" Mutant (2, 4) "deltas without what was collected";
    CollectsLive "Z-KEPT-8" Mutant (2, 5) "collecting drops live elements";
    CollectsAll "Z-KEPT-9" Mutant (2, 4) "collecting drops all records";
    CollectsUnseen "Z-KEPT-10" Mutant (2, 4) "collecting takes any cut";
    ForgetsVersion "Z-KEPT-11" Mutant (2, 4) "collecting prunes the version";
    HalfIndex "Z-KEPT-12" Mutant (2, 4) "merge leaves the index";
    AbsorbNoIndex "Z-KEPT-13" Mutant (2, 4) "absorbing leaves the index";
    SendsAll "Z-KEPT-14" Mutant (2, 4) "deltas hold everything";
    SaysNew "E-KEPT-1" Equivalent (2, 4) "every delta is called new";
    Resurrects "Z-KEPT-16" Mutant (1, 6) "what was collected comes back";
    AbsorbsTwice "Z-KEPT-17" Mutant (2, 4) "a delta again undoes removals";
    RemovalsByValue "Z-KEPT-18" Mutant (2, 4) "a delta removes by value";
    Leaks "Z-KEPT-19" Mutant (2, 4) "records are stored and never collected";
    NeverCollects "C-KEPT-2" Control (2, 4) "the same, never collected";
}

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

/// A set of two elements with one fault.
#[derive(Clone, PartialEq, Debug)]
pub struct Kept {
    fault: Fault,
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

impl Kept {
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
            if !self.version.has(*dot)
                || (self.fault == Fault::AbsorbsTwice && !self.live.contains_key(dot))
            {
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
        match self.fault {
            // Wrong: the same delta is taken for new again.
            Fault::ClaimsTooLittle => {}
            _ => self.version.join(&delta.until),
        }
    }

    fn take_removal(&mut self, dot: Dot, removal: Dot) {
        if self.fault == Fault::RemovalsByValue {
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

    fn whole(&self, since: Context) -> Delta {
        Delta {
            since,
            until: self.version.clone(),
            added: self.live.clone(),
            removed: self.removed.clone(),
            whole: true,
        }
    }
}

impl Subject for Kept {
    type Op = SetOp;
    type View = BTreeSet<u8>;

    fn new(me: ReplicaId) -> Self {
        Kept {
            fault: Fault::chosen(),
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
        match self.fault {
            Fault::HalfIndex | Fault::AbsorbNoIndex => self.live.values().copied().collect(),
            _ => self.index.keys().copied().collect(),
        }
    }

    fn fingerprint(&self, out: &mut Fingerprint) {
        (
            self.me,
            &self.version,
            &self.live,
            &self.removed,
            &self.cut,
            &self.index,
        )
            .hash(out);
    }
}

impl StateBased for Kept {
    fn merge(&mut self, other: &Self) -> Result<(), Rejected> {
        if self.fault == Fault::Resurrects {
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
        if self.fault == Fault::HalfIndex {
            // Wrong: only the dots are merged, so that removals miss what came from others.
            self.index = index;
        }
        Ok(())
    }

    fn same_state(&self, other: &Self) -> bool {
        self.version == other.version && self.live == other.live
    }
}

impl DeltaBased for Kept {
    type Delta = Delta;
    type Seen = Context;
    const GAPS: Gaps = Gaps::Detected;

    fn seen(&self) -> Context {
        self.version.clone()
    }

    fn delta_since(&self, seen: &Context) -> Delta {
        let since = self.version.meet(seen);
        // Wrong: takes no notice of what was collected after `seen`.
        if self.fault != Fault::CollectedDelta && !seen.includes(&self.cut) {
            return self.whole(since);
        }
        let beyond = |dot: Dot| match self.fault {
            // Wrong: the first one after it counts as seen.
            Fault::DeltaOffByOne => dot.counter > seen.get(dot.replica) + 1,
            // Wrong: everything, always.
            Fault::SendsAll => true,
            // Wrong: what third replicas did is claimed and not sent.
            Fault::DeltaOwn => dot.replica == self.me && !seen.has(dot),
            _ => !seen.has(dot),
        };
        let mut until = self.version.clone();
        if self.fault == Fault::ClaimsTooMuch {
            // Wrong: includes what is not done yet.
            until.mint(self.me);
        }
        let added = self.live.iter().filter(|(dot, _)| beyond(**dot));
        let removed = self.removed.iter().filter(|(_, removal)| beyond(**removal));
        Delta {
            since,
            until,
            added: added.map(|(dot, element)| (*dot, *element)).collect(),
            removed: match self.fault {
                // Wrong: half of it.
                Fault::DeltaNoRemovals => BTreeMap::new(),
                _ => removed.map(|(dot, removal)| (*dot, *removal)).collect(),
            },
            whole: false,
        }
    }

    fn absorb(&mut self, delta: &Delta) -> Result<Applied, Rejected> {
        // Wrong: what came before `since` is missing and will never be sent again.
        if self.fault != Fault::IgnoresGaps && !self.version.includes(&delta.since) {
            return Err(Rejected::new("a delta from the future"));
        }
        if self.fault != Fault::SaysNew
            && self.fault != Fault::AbsorbsTwice
            && self.version.includes(&delta.until)
        {
            return Ok(Applied::Duplicate);
        }
        let index = self.index.clone();
        self.take(delta);
        if self.fault == Fault::AbsorbNoIndex {
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

impl Persisted for Kept {
    fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.version.put(&mut out);
        out.push(self.live.len() as u8);
        for (dot, element) in &self.live {
            put_dot(&mut out, *dot);
            out.push(*element);
        }
        // Wrong: together with never collecting, it grows with every removal.
        if self.fault == Fault::Leaks {
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
        let fault = Fault::chosen();
        let mut from = Reader(bytes);
        let version = Context::read(&mut from)?;
        let live = from.ascending(|from| Ok((from.dot()?, from.u8()?)))?;
        let removed = match fault {
            Fault::Leaks => from.ascending(|from| Ok((from.dot()?, from.dot()?)))?,
            _ => BTreeMap::new(),
        };
        from.end()?;
        if !live.keys().all(|dot| version.has(*dot)) {
            return Err(Rejected::new("a dot that was not seen"));
        }
        let mut set = Kept {
            fault,
            me,
            cut: match fault {
                Fault::Leaks => Context::default(),
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

impl Collecting for Kept {
    fn collect(&mut self, stable: &Version) -> Result<(), Rejected> {
        match self.fault {
            // Wrong: takes the cut for its own version.
            Fault::CollectsUnseen => self.version.join(&context_of(stable)),
            _ => self.version.allows(stable)?,
        }
        match self.fault {
            Fault::NeverCollects | Fault::Leaks => return Ok(()),
            // Wrong: others may not have seen the later removals, and are not told them.
            Fault::CollectsAll => self.removed.clear(),
            // Wrong: what everyone has seen is not what nobody wants.
            Fault::CollectsLive => {
                let old: Vec<Dot> = self.live.keys().copied().collect();
                let old = old.into_iter().filter(|dot| stable.contains(*dot)).skip(1);
                old.for_each(|dot| self.drop_dot(dot, None));
            }
            _ => {}
        }
        self.cut.join(&context_of(stable));
        self.removed.retain(|_, removal| !stable.contains(*removal));
        if self.fault == Fault::ForgetsVersion {
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

impl Specified for Kept {
    fn check(seen: &Seen<'_, SetOp>, got: &BTreeSet<u8>) -> Verdict {
        meaning::add_wins(seen, got)
    }
}

fn by_delta() -> Capabilities<Kept> {
    Capabilities::new().state().delta().specified()
}

fn collecting() -> Capabilities<Kept> {
    by_delta().collecting()
}

fn whole() -> Capabilities<Kept> {
    collecting().encoded()
}

pub fn entries() -> Vec<Entry> {
    let capabilities = |fault: Fault| match fault {
        Fault::CollectedDelta | Fault::CollectsLive | Fault::CollectsAll => collecting,
        Fault::CollectsUnseen | Fault::ForgetsVersion | Fault::Resurrects => collecting,
        Fault::Leaks | Fault::Right | Fault::NeverCollects => whole,
        _ => by_delta,
    };
    let entry = |fault: &Fault| {
        let entry = fault.entry(capabilities(*fault));
        match fault {
            Fault::CollectedDelta => entry.on_two(),
            // A letter of before the collection comes after it.
            Fault::Resurrects => {
                entry
                    .on_two()
                    .hunted(&[Verb::Do, Verb::State, Verb::Take, Verb::Collect])
            }
            _ => entry,
        }
    };
    ALL.iter().map(entry).collect()
}
