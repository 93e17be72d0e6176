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
use crate::entry::Kind::{Control, Mutant};
use crate::entry::{Entry, entry};
use crate::meaning::{self, SetOp};

pub const RIGHT: u8 = 0;
const GROWS: u8 = 1;
const REMOVED_NOT_MERGED: u8 = 2;
const INSERTION_ORDER: u8 = 3;
const LONGER: u8 = 4;
const LOSES_LARGEST: u8 = 5;
const REMOVAL_DROPS: u8 = 6;
const ADDING_REVIVES: u8 = 7;
const COMMON_ONLY: u8 = 8;
const PANICS_ON_SHORT: u8 = 9;
const TAKES_ANY_ORDER: u8 = 10;
const PAIR_AT_MOST: u8 = 11;
const REMOVES_UNSEEN: u8 = 12;
const ORDER_SHOWS: u8 = 13;

/// A set with fault `F`, in the order of arrival.
#[derive(Clone, PartialEq, Hash, Debug)]
pub struct Plain<const F: u8> {
    me: ReplicaId,
    added: Vec<u8>,
    removed: BTreeSet<u8>,
}

impl<const F: u8> Plain<F> {
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
        if F == ADDING_REVIVES {
            // Wrong: other replicas merge the removal back.
            self.removed.remove(&element);
        }
        self.keep(element);
        Outcome::Done
    }

    fn remove(&mut self, element: u8) -> Outcome {
        if F != REMOVES_UNSEEN && !self.added.contains(&element) {
            return Outcome::Nothing;
        }
        if F == REMOVAL_DROPS {
            // Wrong: it comes back with the next merge.
            self.added.retain(|one| *one != element);
        } else {
            self.removed.insert(element);
        }
        Outcome::Done
    }
}

impl<const F: u8> Subject for Plain<F> {
    type Op = SetOp;
    type View = Vec<u8>;

    fn new(me: ReplicaId) -> Self {
        Plain {
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
        Some(match F != GROWS && source.below(2) == 1 {
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
        let mut view = match F {
            // Wrong: the order of arrival is not the same everywhere.
            ORDER_SHOWS => self.added.clone(),
            _ => self.sorted(),
        };
        view.retain(|element| !self.removed.contains(element));
        view
    }

    fn fingerprint(&self, out: &mut Fingerprint) {
        self.hash(out);
    }
}

impl<const F: u8> StateBased for Plain<F> {
    fn merge(&mut self, other: &Self) -> Result<(), Rejected> {
        match F {
            // Wrong: more elements need not be all of the fewer ones.
            LONGER if other.added.len() > self.added.len() => self.added.clone_from(&other.added),
            LONGER => {}
            // Wrong: what both have, not what either has.
            COMMON_ONLY if !self.added.is_empty() && !other.added.is_empty() => {
                self.added.retain(|element| other.added.contains(element));
            }
            // Wrong: a bound that is off by one.
            LOSES_LARGEST => {
                let mut theirs = other.sorted();
                theirs.truncate(2);
                theirs.into_iter().for_each(|element| self.keep(element));
            }
            // Wrong: no room for a third one.
            PAIR_AT_MOST => {
                let room = 2_usize.saturating_sub(self.added.len());
                let new = other.sorted().into_iter();
                let new = new.filter(|element| !self.added.contains(element));
                let new: Vec<u8> = new.take(room).collect();
                self.added.extend(new);
            }
            _ => other.added.iter().for_each(|element| self.keep(*element)),
        }
        if F != REMOVED_NOT_MERGED {
            self.removed.extend(&other.removed);
        }
        Ok(())
    }

    fn same_state(&self, other: &Self) -> bool {
        self.sorted() == other.sorted() && self.removed == other.removed
    }
}

impl<const F: u8> Persisted for Plain<F> {
    fn encode(&self) -> Vec<u8> {
        let added = match F {
            // Wrong: equal sets have different bytes.
            INSERTION_ORDER => self.added.clone(),
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
        if F == PANICS_ON_SHORT {
            // Wrong: takes the length for granted.
            let len = 2 * usize::from(bytes[0]);
            let _ = &bytes[1..=len];
        }
        let mut from = Reader(bytes);
        for _ in 0..from.u8()? {
            let (element, removed) = (from.u8()?, from.bool()?);
            let ordered = set.added.last().is_none_or(|last| *last < element);
            // Wrong: one set has many byte strings.
            if !ordered && !matches!(F, TAKES_ANY_ORDER | INSERTION_ORDER) {
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

impl<const F: u8> Specified for Plain<F> {
    fn check(seen: &Seen<'_, SetOp>, got: &Vec<u8>) -> Verdict {
        meaning::two_phase(seen, got)
    }
}

fn by_state<const F: u8>() -> Capabilities<Plain<F>> {
    Capabilities::new().state().specified()
}

fn stored<const F: u8>() -> Capabilities<Plain<F>> {
    by_state().encoded()
}

#[rustfmt::skip]
pub fn entries() -> Vec<Entry> {
    vec![
        entry("Z-PLAIN-1", Mutant, "removals are not merged", by_state::<REMOVED_NOT_MERGED>),
        entry("Z-PLAIN-2", Mutant, "encoded by order of arrival", stored::<INSERTION_ORDER>),
        entry("Z-PLAIN-3", Mutant, "merge keeps the larger set", by_state::<LONGER>),
        entry("Z-PLAIN-4", Mutant, "merge loses the third element", by_state::<LOSES_LARGEST>).scope(2, 5),
        entry("Z-PLAIN-5", Mutant, "a removal is not noted", by_state::<REMOVAL_DROPS>),
        entry("Z-PLAIN-6", Mutant, "adding forgets the removal", by_state::<ADDING_REVIVES>),
        entry("Z-PLAIN-7", Mutant, "merge keeps what both have", by_state::<COMMON_ONLY>),
        entry("Z-PLAIN-8", Mutant, "short bytes panic", stored::<PANICS_ON_SHORT>),
        entry("Z-PLAIN-9", Mutant, "bytes in any order are decoded", stored::<TAKES_ANY_ORDER>),
        entry("Z-PLAIN-10", Mutant, "merge makes room for two", by_state::<PAIR_AT_MOST>).scope(3, 5),
        entry("Z-PLAIN-11", Mutant, "what was never added is removed, unencoded", stored::<REMOVES_UNSEEN>),
        entry("Z-PLAIN-12", Mutant, "the order of arrival shows", by_state::<ORDER_SHOWS>),
        entry("C-PLAIN-1", Control, "grows only", stored::<GROWS>),
        entry("C-PLAIN-2", Control, "removed for ever", stored::<RIGHT>),
    ]
}
