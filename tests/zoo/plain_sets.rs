//! Sets without dots: those that only grow, and those from which a removal is for ever.
//!
//! Merge: union, of the removed ones too. Source: Shapiro et al. 2011, sections 3.3.1 and 3.3.2.

use std::collections::BTreeSet;
use std::hash::Hash;

use commute::ReplicaId;
use commute::testkit::{
    Capabilities, Fingerprint, Outcome, Persisted, Rejected, Seen, Source, Specified, StateBased,
    Subject, Verdict,
};

use crate::bytes::Reader;
use crate::entry::Entry;
use crate::faults::faults;
use crate::meaning::{self, SetOp};

faults! {
    Right "C-PLAIN-2" Control (2, 4) "removed for ever";
    RemovedNotMerged "Z-PLAIN-1" Mutant (2, 4) "removals are not merged";
    InsertionOrder "Z-PLAIN-2" Mutant (2, 4) "encoded by order of arrival";
    Longer "Z-PLAIN-3" Mutant (2, 4) "merge keeps the larger set";
    LosesLargest "Z-PLAIN-4" Mutant (2, 5) "merge loses the third element";
    RemovalDrops "Z-PLAIN-5" Mutant (2, 4) "a removal is not noted";
    AddingRevives "Z-PLAIN-6" Mutant (2, 4) "adding forgets the removal";
    CommonOnly "Z-PLAIN-7" Mutant (2, 4) "merge keeps what both have";
    PanicsOnShort "Z-PLAIN-8" Mutant (2, 4) "short bytes panic";
    TakesAnyOrder "Z-PLAIN-9" Mutant (2, 4) "bytes in any order are decoded";
    PairAtMost "Z-PLAIN-10" Mutant (3, 5) "merge makes room for two";
    RemovesUnseen "Z-PLAIN-11" Mutant (2, 4) "what was never added is removed, unencoded";
    OrderShows "Z-PLAIN-12" Mutant (2, 4) "the order of arrival shows";
    Grows "C-PLAIN-1" Control (2, 4) "grows only";
}

/// A set with one fault, in the order of arrival.
#[derive(Clone, PartialEq, Debug)]
pub struct Plain {
    fault: Fault,
    me: ReplicaId,
    added: Vec<u8>,
    removed: BTreeSet<u8>,
}

impl Plain {
    fn sorted(&self) -> Vec<u8> {
        let mut added = self.added.clone();
        added.sort_unstable();
        added
    }

    fn keep(&mut self, element: u8) {
        if !self.added.contains(&element) {
            self.added.push(element);
        }
    }

    fn add(&mut self, element: u8) -> Outcome {
        if self.fault == Fault::AddingRevives {
            // Wrong: other replicas merge the removal back.
            self.removed.remove(&element);
        }
        self.keep(element);
        Outcome::Done
    }

    fn remove(&mut self, element: u8) -> Outcome {
        if self.fault != Fault::RemovesUnseen && !self.added.contains(&element) {
            return Outcome::Nothing;
        }
        if self.fault == Fault::RemovalDrops {
            // Wrong: it comes back with the next merge.
            self.added.retain(|one| *one != element);
        } else {
            self.removed.insert(element);
        }
        Outcome::Done
    }
}

impl Subject for Plain {
    type Op = SetOp;
    type View = Vec<u8>;

    fn new(me: ReplicaId) -> Self {
        Plain {
            fault: Fault::chosen(),
            me,
            added: Vec::new(),
            removed: BTreeSet::new(),
        }
    }

    fn duplicate(&self) -> Self {
        self.clone()
    }

    fn choose(&self, source: &mut Source<'_>) -> Option<SetOp> {
        let element = source.below(3) as u8;
        Some(match self.fault != Fault::Grows && source.below(2) == 1 {
            true => SetOp::Remove(element),
            false => SetOp::Add(element),
        })
    }

    fn perform(&mut self, op: &SetOp) -> Outcome {
        match *op {
            SetOp::Add(element) => self.add(element),
            SetOp::Remove(element) => self.remove(element),
            SetOp::Clear => Outcome::Nothing,
        }
    }

    fn view(&self) -> Vec<u8> {
        let mut view = match self.fault {
            // Wrong: the order of arrival is not the same everywhere.
            Fault::OrderShows => self.added.clone(),
            _ => self.sorted(),
        };
        view.retain(|element| !self.removed.contains(element));
        view
    }

    fn fingerprint(&self, out: &mut Fingerprint) {
        (self.me, &self.added, &self.removed).hash(out);
    }
}

impl StateBased for Plain {
    fn merge(&mut self, other: &Self) -> Result<(), Rejected> {
        match self.fault {
            // Wrong: more elements need not be all of the fewer ones.
            Fault::Longer if other.added.len() > self.added.len() => {
                self.added.clone_from(&other.added)
            }
            Fault::Longer => {}
            // Wrong: what both have, not what either has.
            Fault::CommonOnly if !self.added.is_empty() && !other.added.is_empty() => {
                self.added.retain(|element| other.added.contains(element));
            }
            // Wrong: a bound that is off by one.
            Fault::LosesLargest => {
                let mut theirs = other.sorted();
                theirs.truncate(2);
                theirs.into_iter().for_each(|element| self.keep(element));
            }
            // Wrong: no room for a third one.
            Fault::PairAtMost => {
                let room = 2_usize.saturating_sub(self.added.len());
                let new = other.sorted().into_iter();
                let new = new.filter(|element| !self.added.contains(element));
                let new: Vec<u8> = new.take(room).collect();
                self.added.extend(new);
            }
            _ => other.added.iter().for_each(|element| self.keep(*element)),
        }
        if self.fault != Fault::RemovedNotMerged {
            self.removed.extend(&other.removed);
        }
        Ok(())
    }

    fn same_state(&self, other: &Self) -> bool {
        self.sorted() == other.sorted() && self.removed == other.removed
    }
}

impl Persisted for Plain {
    fn encode(&self) -> Vec<u8> {
        let added = match self.fault {
            // Wrong: equal sets have different bytes.
            Fault::InsertionOrder => self.added.clone(),
            _ => self.sorted(),
        };
        let mut out = vec![added.len() as u8];
        for element in added {
            out.push(element);
            out.push(u8::from(self.removed.contains(&element)));
        }
        out
    }

    fn decode(bytes: &[u8], me: ReplicaId) -> Result<Self, Rejected> {
        let mut set = Plain::new(me);
        if set.fault == Fault::PanicsOnShort {
            // Wrong: takes the length for granted.
            let len = 2 * usize::from(bytes[0]);
            let _ = &bytes[1..=len];
        }
        let mut from = Reader(bytes);
        for _ in 0..from.u8()? {
            let (element, removed) = (from.u8()?, from.bool()?);
            let ordered = set.added.last().is_none_or(|last| *last < element);
            // Wrong: one set has many byte strings.
            if !ordered && !matches!(set.fault, Fault::TakesAnyOrder | Fault::InsertionOrder) {
                return Err(Rejected::new("out of order"));
            }
            set.keep(element);
            if removed {
                set.removed.insert(element);
            }
        }
        from.end()?;
        Ok(set)
    }
}

impl Specified for Plain {
    fn check(seen: &Seen<'_, SetOp>, got: &Vec<u8>) -> Verdict {
        meaning::two_phase(seen, got)
    }
}

fn by_state() -> Capabilities<Plain> {
    Capabilities::new().state().specified()
}

fn stored() -> Capabilities<Plain> {
    by_state().encoded()
}

pub fn entries() -> Vec<Entry> {
    let capabilities = |fault: Fault| match fault {
        Fault::InsertionOrder | Fault::PanicsOnShort | Fault::TakesAnyOrder => stored,
        Fault::RemovesUnseen | Fault::Grows | Fault::Right => stored,
        _ => by_state,
    };
    let entry = |fault: &Fault| fault.entry(capabilities(*fault));
    ALL.iter().map(entry).collect()
}
