//! Sets in which additions win, without tombstones: live dots and a context.
//!
//! Merge: a dot stays if both sides have it or the side without it has not seen it. Source:
//! Bieniusa et al. 2012, arXiv:1210.3368, section 4.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::Hash;

use commute::testkit::{
    Capabilities, Collecting, Fingerprint, Outcome, Persisted, Rejected, Seen, Source, Specified,
    StateBased, Subject, Verdict,
};
use commute::{Dot, ReplicaId, Version};

use crate::bytes::{Reader, put_dot};
use crate::dotted::Context;
use crate::entry::Kind::{Control, Equivalent, Hard, Mutant};
use crate::entry::{Entry, entry};
use crate::meaning::{self, SetOp};

pub const RIGHT: u8 = 0;
const UNION: u8 = 1;
const BOTH_SIDES: u8 = 2;
const REUSES_DOT: u8 = 3;
const DROPS_ONE: u8 = 4;
const CLEARS_CONTEXT: u8 = 5;
const SEEN_OFF_BY_ONE: u8 = 6;
const DROPS_MISSING: u8 = 7;
const CONTEXT_KEPT: u8 = 8;
const CONTEXT_TAKEN: u8 = 9;
const CONTEXT_BY_SUM: u8 = 10;
const PRUNES: u8 = 11;
const BOTH_SIDES_LOOSE: u8 = 12;
const BY_AUTHOR: u8 = 13;
const NOT_PASSED_ON: u8 = 14;
const CONTEXT_OF_SENDER: u8 = 15;
const NOTHING_MINTS: u8 = 16;
const REMOVES_NOTHING: u8 = 17;
const DECODES_LIVE: u8 = 18;
const SENDER_WINS: u8 = 19;
const SKIPS_SAME_CONTEXT: u8 = 20;
const SKIPS_SAME_ELEMENTS: u8 = 21;
const CLEARS_OWN: u8 = 22;
const ADDS_ONCE: u8 = 23;
const KEEPS_DOTS: u8 = 24;
const NO_DOT_FOR_REMOVE: u8 = 25;
const TRAILING: u8 = 26;
const NO_CONTEXT_CHECK: u8 = 27;
const NEWEST_DOT: u8 = 28;
const EMPTY_TAKES_ALL: u8 = 29;
const NO_DOT_AND_SKIPS: u8 = 30;

/// A set of up to `E` elements with fault `F`.
#[derive(Clone, PartialEq, Hash, Debug)]
pub struct Set<const F: u8, const E: u64> {
    me: ReplicaId,
    context: Context,
    live: BTreeMap<Dot, u8>,
}

impl<const F: u8, const E: u64> Set<F, E> {
    fn holds(&self, element: u8) -> bool {
        self.live.values().any(|one| *one == element)
    }

    fn has_seen(&self, dot: Dot) -> bool {
        let seen = self.context.get(dot.replica);
        match F {
            // Wrong: the last one is not included.
            SEEN_OFF_BY_ONE => dot.counter < seen,
            // Wrong: as if all that a replica ever does were seen with its first update.
            BY_AUTHOR => seen > 0,
            _ => dot.counter <= seen,
        }
    }

    fn add(&mut self, element: u8) -> Outcome {
        // Wrong: the dot of before may have been removed elsewhere.
        if F == ADDS_ONCE && self.holds(element) {
            self.context.mint(self.me);
            return Outcome::Done;
        }
        // Right either way: the older dots tell nothing that the new one does not.
        if F != KEEPS_DOTS {
            self.live.retain(|_, one| *one != element);
        }
        let dot = match F {
            // Wrong: the context does not move on, so the next dot is the same.
            REUSES_DOT => Dot::new(self.me, self.context.get(self.me) + 1),
            _ => self.context.mint(self.me),
        };
        self.live.insert(dot, element);
        Outcome::Done
    }

    fn remove(&mut self, element: Option<u8>) -> Outcome {
        let hit = |one: u8| element.is_none_or(|element| element == one);
        if !self.live.values().any(|one| hit(*one)) {
            // Wrong: an update that is none.
            if F == NOTHING_MINTS {
                self.context.mint(self.me);
            }
            return Outcome::Nothing;
        }
        match F {
            // Wrong: a set that only grows.
            REMOVES_NOTHING => {}
            // Wrong: concurrent additions left several dots.
            DROPS_ONE => {
                let first = self.live.iter().find(|(_, one)| hit(**one));
                let first = first.map(|(dot, _)| *dot);
                first.map(|dot| self.live.remove(&dot));
            }
            // Wrong: what others added stays.
            CLEARS_OWN if element.is_none() => {
                let me = self.me;
                self.live.retain(|dot, _| dot.replica != me);
            }
            _ => self.live.retain(|_, one| !hit(*one)),
        }
        if F != NO_DOT_FOR_REMOVE && F != NO_DOT_AND_SKIPS {
            self.context.mint(self.me);
        }
        // Wrong: the context is what keeps old dots out.
        if F == CLEARS_CONTEXT && element.is_none() {
            let own = self.context.get(self.me);
            self.context = Context::default();
            self.context.raise(self.me, own);
        }
        Outcome::Done
    }

    fn stays(&self, other: &Self, dot: Dot, element: u8) -> bool {
        match F {
            // Wrong: removals never arrive.
            UNION => true,
            // Wrong: what the other side lacks may be new.
            DROPS_MISSING => other.live.contains_key(&dot),
            // Wrong: if both sides have the element, one may have removed this dot of it.
            BOTH_SIDES | BOTH_SIDES_LOOSE if other.holds(element) => true,
            _ => other.live.contains_key(&dot) || !other.has_seen(dot),
        }
    }

    fn is_new(&self, other: &Self, dot: Dot, element: u8, had: &BTreeSet<u8>) -> bool {
        match F {
            // Wrong: as above.
            UNION => true,
            BOTH_SIDES | BOTH_SIDES_LOOSE if had.contains(&element) => true,
            // Wrong: what third replicas added is not passed on.
            NOT_PASSED_ON => dot.replica == other.me && !self.has_seen(dot),
            // Wrong: the other side may be the older one.
            SENDER_WINS if dot.replica == other.me => true,
            // Wrong: empty by removal is not empty from the start.
            EMPTY_TAKES_ALL if self.live.is_empty() && had.is_empty() => true,
            _ => !self.has_seen(dot),
        }
    }

    fn join_context(&mut self, other: &Self) {
        match F {
            // Wrong: what was removed here and there comes back.
            CONTEXT_KEPT => {}
            // Wrong: forgets what only this side had seen.
            CONTEXT_TAKEN => self.context.clone_from(&other.context),
            // Wrong: the larger sum need not include the smaller one.
            CONTEXT_BY_SUM if other.context.sum() > self.context.sum() => {
                self.context.clone_from(&other.context);
            }
            CONTEXT_BY_SUM => {}
            // Wrong: what third replicas did is not noted as seen.
            CONTEXT_OF_SENDER => {
                let theirs = other.context.get(other.me);
                self.context.raise(other.me, theirs);
            }
            _ => self.context.join(&other.context),
        }
    }

    /// Whether there is nothing to merge, it seems.
    fn skips(&self, other: &Self) -> bool {
        match F {
            // Right if removals mint dots, wrong if they do not.
            SKIPS_SAME_CONTEXT | NO_DOT_AND_SKIPS => self.context == other.context,
            // Wrong: equal elements may have different dots.
            SKIPS_SAME_ELEMENTS => self.view() == other.view(),
            _ => false,
        }
    }
}

impl<const F: u8, const E: u64> Subject for Set<F, E> {
    type Op = SetOp;
    type View = BTreeSet<u8>;

    fn new(me: ReplicaId) -> Self {
        Set {
            me,
            context: Context::default(),
            live: BTreeMap::new(),
        }
    }

    fn duplicate(&self) -> Self {
        self.clone()
    }

    fn choose(&self, source: &mut Source<'_>) -> Option<SetOp> {
        let choice = source.below(2 * E + u64::from(E > 1));
        let element = (choice / 2) as u8;
        Some(match choice % 2 {
            _ if choice == 2 * E => SetOp::Clear,
            0 => SetOp::Add(element),
            _ => SetOp::Remove(element),
        })
    }

    fn perform(&mut self, op: &SetOp) -> Outcome {
        match *op {
            SetOp::Add(element) => self.add(element),
            SetOp::Remove(element) => self.remove(Some(element)),
            SetOp::Clear => self.remove(None),
        }
    }

    fn view(&self) -> BTreeSet<u8> {
        self.live.values().copied().collect()
    }

    fn fingerprint(&self, out: &mut Fingerprint) {
        self.hash(out);
    }
}

impl<const F: u8, const E: u64> StateBased for Set<F, E> {
    fn merge(&mut self, other: &Self) -> Result<(), Rejected> {
        if self.skips(other) {
            return Ok(());
        }
        let had = match F {
            BOTH_SIDES | BOTH_SIDES_LOOSE | EMPTY_TAKES_ALL => self.view(),
            _ => BTreeSet::new(),
        };
        let mut live = std::mem::take(&mut self.live);
        live.retain(|dot, element| self.stays(other, *dot, *element));
        self.live = live;
        for (dot, element) in &other.live {
            if !self.live.contains_key(dot) && self.is_new(other, *dot, *element, &had) {
                self.live.insert(*dot, *element);
            }
        }
        self.join_context(other);
        if F == NEWEST_DOT {
            // Wrong: the dropped ones may be all that survives a removal elsewhere.
            for element in self.view() {
                let newest = self
                    .live
                    .iter()
                    .filter(|(_, one)| **one == element)
                    .map(|(dot, _)| *dot);
                let newest = newest.max_by_key(|dot| (dot.counter, dot.replica));
                self.live
                    .retain(|dot, one| *one != element || Some(*dot) == newest);
            }
        }
        Ok(())
    }

    fn same_state(&self, other: &Self) -> bool {
        match F {
            // Wrong, but so are many tests: looks at the elements only.
            BOTH_SIDES_LOOSE => self.view() == other.view(),
            _ => self.live == other.live && self.context == other.context,
        }
    }
}

impl<const F: u8, const E: u64> Persisted for Set<F, E> {
    fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        if F != DECODES_LIVE {
            self.context.put(&mut out);
        }
        out.push(self.live.len() as u8);
        for (dot, element) in &self.live {
            put_dot(&mut out, *dot);
            out.push(*element);
        }
        out
    }

    fn decode(bytes: &[u8], me: ReplicaId) -> Result<Self, Rejected> {
        let mut from = Reader(bytes);
        let mut context = match F {
            DECODES_LIVE => Context::default(),
            _ => Context::read(&mut from)?,
        };
        let live = from.ascending(|from| Ok((from.dot()?, from.u8()?)))?;
        match F {
            // Wrong: what was removed is not known any more.
            DECODES_LIVE => live
                .keys()
                .for_each(|dot| context.raise(dot.replica, dot.counter)),
            // Wrong: a live dot that the context lacks.
            NO_CONTEXT_CHECK => {}
            _ if !live.keys().all(|dot| context.has(*dot)) => {
                return Err(Rejected::new("a dot that was not seen"));
            }
            _ => {}
        }
        // Wrong: two byte strings for one state.
        if F != TRAILING {
            from.end()?;
        }
        Ok(Set { me, context, live })
    }
}

impl<const F: u8, const E: u64> Collecting for Set<F, E> {
    fn collect(&mut self, stable: &Version) -> Result<(), Rejected> {
        self.context.allows(stable)?;
        if F == PRUNES {
            // Wrong: the context is what tells an old dot from a new one.
            let live = &self.live;
            let me = self.me;
            let lives = |id: &ReplicaId| live.keys().any(|dot| dot.replica == *id);
            self.context.0.retain(|id, _| *id == me || lives(id));
        }
        Ok(())
    }
}

impl<const F: u8, const E: u64> Specified for Set<F, E> {
    fn check(seen: &Seen<'_, SetOp>, got: &BTreeSet<u8>) -> Verdict {
        meaning::add_wins(seen, got)
    }
}

fn one<const F: u8>() -> Capabilities<Set<F, 1>> {
    Capabilities::new().state().specified()
}

fn two<const F: u8>() -> Capabilities<Set<F, 2>> {
    Capabilities::new().state().specified()
}

fn stored<const F: u8>() -> Capabilities<Set<F, 2>> {
    two().encoded()
}

fn pruning<const F: u8>() -> Capabilities<Set<F, 1>> {
    one().collecting()
}

fn remove_wins() -> Capabilities<Set<RIGHT, 1>> {
    Capabilities::new().state().spec(meaning::remove_wins)
}

fn for_ever() -> Capabilities<Set<RIGHT, 1>> {
    let check = |seen: &Seen<'_, SetOp>, got: &BTreeSet<u8>| {
        meaning::two_phase(seen, &got.iter().copied().collect())
    };
    Capabilities::new().state().spec(check)
}

#[rustfmt::skip]
pub fn entries() -> Vec<Entry> {
    vec![
        entry("Z-SET-1", Mutant, "union: removals never arrive", two::<UNION>),
        entry("Z-SET-2", Mutant, "element on both sides: all its dots stay", one::<BOTH_SIDES>),
        entry("Z-SET-2b", Hard, "the same, and equal elements are called equal", one::<BOTH_SIDES_LOOSE>).scope(3, 8),
        entry("Z-SET-3", Mutant, "a dot is used twice", two::<REUSES_DOT>),
        entry("Z-SET-4", Mutant, "a removal drops one of several dots", one::<DROPS_ONE>),
        entry("Z-SET-5", Mutant, "clear forgets the context", two::<CLEARS_CONTEXT>),
        entry("Z-SET-6", Mutant, "the last update does not count as seen", one::<SEEN_OFF_BY_ONE>),
        entry("Z-SET-7", Mutant, "what the other side lacks is dropped", one::<DROPS_MISSING>),
        entry("Z-SET-8", Mutant, "contexts are not merged", one::<CONTEXT_KEPT>),
        entry("Z-SET-9", Mutant, "the context is overwritten", one::<CONTEXT_TAKEN>),
        entry("Z-SET-10", Mutant, "the context with the larger sum wins", one::<CONTEXT_BY_SUM>),
        entry("Z-SET-11", Mutant, "collecting prunes the context", pruning::<PRUNES>).scope(2, 5),
        entry("Z-SET-12", Mutant, "one update of a replica seen, all count as seen", one::<BY_AUTHOR>),
        entry("Z-SET-13", Mutant, "elements are not passed on", one::<NOT_PASSED_ON>).scope(3, 4),
        entry("Z-SET-14", Mutant, "what third replicas did is not noted", one::<CONTEXT_OF_SENDER>).scope(3, 5),
        entry("Z-SET-15", Mutant, "a removal of nothing mints a dot", two::<NOTHING_MINTS>),
        entry("Z-SET-16", Mutant, "removals do nothing", one::<REMOVES_NOTHING>),
        entry("Z-SET-17", Mutant, "the context is not stored", stored::<DECODES_LIVE>),
        entry("Z-SET-18", Mutant, "the sender's own elements always win", one::<SENDER_WINS>),
        entry("Z-SET-19", Mutant, "merge skips equal elements", one::<SKIPS_SAME_ELEMENTS>),
        entry("Z-SET-20", Mutant, "clear drops own additions only", two::<CLEARS_OWN>),
        entry("Z-SET-21", Mutant, "adding again gives no new dot", one::<ADDS_ONCE>),
        entry("Z-SET-22", Mutant, "bytes left over are ignored", stored::<TRAILING>),
        entry("Z-SET-23", Mutant, "unseen live dots are decoded", stored::<NO_CONTEXT_CHECK>),
        entry("Z-SET-24", Mutant, "merge keeps the newest dot only", one::<NEWEST_DOT>),
        entry("Z-SET-25", Mutant, "an emptied set takes everything", one::<EMPTY_TAKES_ALL>),
        entry("Z-SET-26", Mutant, "additions win where removals should", remove_wins),
        entry("Z-SET-27", Mutant, "what was removed can be added again, and should not", for_ever),
        entry("Z-SET-28", Mutant, "merge skips equal contexts, where removals mint no dot", one::<NO_DOT_AND_SKIPS>),
        entry("E-SET-1", Equivalent, "adding keeps the element's older dots", two::<KEEPS_DOTS>),
        entry("E-SET-2", Equivalent, "removals mint no dot", stored::<NO_DOT_FOR_REMOVE>),
        entry("E-SET-3", Equivalent, "merge skips equal contexts, where removals mint", one::<SKIPS_SAME_CONTEXT>),
        entry("C-SET-1", Control, "additions win", one::<RIGHT>).scope(3, 5),
        entry("C-SET-2", Control, "additions win, stored", stored::<RIGHT>),
    ]
}
