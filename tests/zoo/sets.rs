//! Sets in which additions win, without tombstones: live dots and a context.
//!
//! Merge: a dot stays if both sides have it or the side without it has not seen it. Source:
//! Bieniusa et al. 2012, arXiv:1210.3368, section 4.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::Hash;
use std::sync::atomic::{AtomicU64, Ordering};

use commute::testkit::{
    Capabilities, Collecting, Explore, Fingerprint, Law, Laws, Outcome, Persisted, Rejected, Seen,
    Source, Specified, StateBased, Subject, Verdict,
};
use commute::{Dot, ReplicaId, Version};

use crate::bytes::{Reader, put_dot};
use crate::dotted::Context;
use crate::entry::Entry;
use crate::faults::faults;
use crate::meaning::{self, SetOp};

faults! {
    Right "C-SET-1" Control (3, 5) "additions win";
    Union "Z-SET-1" Mutant (2, 4) "union: removals never arrive";
    BothSides "Z-SET-2" Mutant (2, 4) "element on both sides: all its dots stay";
    BothSidesLoose "Z-SET-2b" Mutant (3, 8) "the same, and equal elements are called equal";
    ReusesDot "Z-SET-3" Mutant (2, 4) "a dot is used twice";
    DropsOne "Z-SET-4" Mutant (2, 4) "a removal drops one of several dots";
    ClearsContext "Z-SET-5" Mutant (2, 4) "clear forgets the context";
    SeenOffByOne "Z-SET-6" Mutant (2, 4) "the last update does not count as seen";
    DropsMissing "Z-SET-7" Mutant (2, 4) "what the other side lacks is dropped";
    ContextKept "Z-SET-8" Mutant (2, 4) "contexts are not merged";
    ContextTaken "Z-SET-9" Mutant (2, 4) "the context is overwritten";
    ContextBySum "Z-SET-10" Mutant (2, 4) "the context with the larger sum wins";
    Prunes "Z-SET-11" Mutant (2, 5) "collecting prunes the context";
    ByAuthor "Z-SET-12" Mutant (2, 4) "one update of a replica seen, all count as seen";
    NotPassedOn "Z-SET-13" Mutant (3, 4) "elements are not passed on";
    ContextOfSender "Z-SET-14" Mutant (3, 5) "what third replicas did is not noted";
    NothingMints "Z-SET-15" Mutant (2, 4) "a removal of nothing mints a dot";
    RemovesNothing "Z-SET-16" Mutant (2, 4) "removals do nothing";
    DecodesLive "Z-SET-17" Mutant (2, 4) "the context is not stored";
    SenderWins "Z-SET-18" Mutant (2, 4) "the sender's own elements always win";
    SkipsSameElements "Z-SET-19" Mutant (2, 4) "merge skips equal elements";
    ClearsOwn "Z-SET-20" Mutant (2, 4) "clear drops own additions only";
    AddsOnce "Z-SET-21" Mutant (2, 4) "adding again gives no new dot";
    Trailing "Z-SET-22" Mutant (2, 4) "bytes left over are ignored";
    KnownElements "Z-SET-23" Mutant (2, 4) "unknown elements are decoded as a known one";
    NewestDot "Z-SET-24" Mutant (2, 4) "merge keeps the newest dot only";
    EmptyTakesAll "Z-SET-25" Mutant (2, 4) "an emptied set takes everything";
    RemoveWins "Z-SET-26" Mutant (2, 4) "additions win where removals should";
    ForEver "Z-SET-27" Mutant (2, 4) "what was removed can be added again, and should not";
    NoDotAndSkips "Z-SET-28" Mutant (2, 4) "merge skips equal contexts, where removals mint no dot";
    GlobalDots "Z-SET-29" Mutant (2, 4) "dots are counted for the whole process";
    ShortCounts "Z-SET-30" Mutant (2, 4) "counts from 16 on are stored as 15";
    KeepsDots "E-SET-1" Equivalent (2, 4) "adding keeps the element's older dots";
    NoDotForRemove "E-SET-2" Equivalent (2, 4) "removals mint no dot";
    SkipsSameContext "E-SET-3" Equivalent (2, 4) "merge skips equal contexts, where removals mint";
    Stored "C-SET-2" Control (2, 4) "additions win, stored";
}

/// The next dot of any set with that fault.
static DOTS: AtomicU64 = AtomicU64::new(1);

/// A set of up to `E` elements with one fault.
#[derive(Clone, PartialEq, Debug)]
pub struct Set<const E: u64> {
    fault: Fault,
    me: ReplicaId,
    context: Context,
    live: BTreeMap<Dot, u8>,
}

impl<const E: u64> Set<E> {
    fn holds(&self, element: u8) -> bool {
        self.live.values().any(|one| *one == element)
    }

    fn has_seen(&self, dot: Dot) -> bool {
        let seen = self.context.get(dot.replica);
        match self.fault {
            // Wrong: the last one is not included.
            Fault::SeenOffByOne => dot.counter < seen,
            // Wrong: as if all that a replica ever does were seen with its first update.
            Fault::ByAuthor => seen > 0,
            _ => dot.counter <= seen,
        }
    }

    fn add(&mut self, element: u8) -> Outcome {
        // Wrong: the dot of before may have been removed elsewhere.
        if self.fault == Fault::AddsOnce && self.holds(element) {
            self.context.mint(self.me);
            return Outcome::Done;
        }
        // Right either way: the older dots tell nothing that the new one does not.
        if self.fault != Fault::KeepsDots {
            self.live.retain(|_, one| *one != element);
        }
        let dot = match self.fault {
            // Wrong: what other sets of this process do can be seen.
            Fault::GlobalDots => {
                let count = DOTS.fetch_add(1, Ordering::Relaxed);
                self.context.raise(self.me, count);
                Dot::new(self.me, count)
            }
            // Wrong: the context does not move on, so the next dot is the same.
            Fault::ReusesDot => Dot::new(self.me, self.context.get(self.me) + 1),
            _ => self.context.mint(self.me),
        };
        self.live.insert(dot, element);
        Outcome::Done
    }

    fn remove(&mut self, element: Option<u8>) -> Outcome {
        let hit = |one: u8| element.is_none_or(|element| element == one);
        if !self.live.values().any(|one| hit(*one)) {
            // Wrong: an update that is none.
            if self.fault == Fault::NothingMints {
                self.context.mint(self.me);
            }
            return Outcome::Nothing;
        }
        match self.fault {
            // Wrong: a set that only grows.
            Fault::RemovesNothing => {}
            // Wrong: concurrent additions left several dots.
            Fault::DropsOne => {
                let first = self.live.iter().find(|(_, one)| hit(**one));
                let first = first.map(|(dot, _)| *dot);
                first.map(|dot| self.live.remove(&dot));
            }
            // Wrong: what others added stays.
            Fault::ClearsOwn if element.is_none() => {
                let me = self.me;
                self.live.retain(|dot, _| dot.replica != me);
            }
            _ => self.live.retain(|_, one| !hit(*one)),
        }
        if self.fault != Fault::NoDotForRemove && self.fault != Fault::NoDotAndSkips {
            self.context.mint(self.me);
        }
        // Wrong: the context is what keeps old dots out.
        if self.fault == Fault::ClearsContext && element.is_none() {
            let own = self.context.get(self.me);
            self.context = Context::default();
            self.context.raise(self.me, own);
        }
        Outcome::Done
    }

    fn stays(&self, other: &Self, dot: Dot, element: u8) -> bool {
        match self.fault {
            // Wrong: removals never arrive.
            Fault::Union => true,
            // Wrong: what the other side lacks may be new.
            Fault::DropsMissing => other.live.contains_key(&dot),
            // Wrong: if both sides have the element, one may have removed this dot of it.
            Fault::BothSides | Fault::BothSidesLoose if other.holds(element) => true,
            _ => other.live.contains_key(&dot) || !other.has_seen(dot),
        }
    }

    fn is_new(&self, other: &Self, dot: Dot, element: u8, had: &BTreeSet<u8>) -> bool {
        match self.fault {
            // Wrong: as above.
            Fault::Union => true,
            Fault::BothSides | Fault::BothSidesLoose if had.contains(&element) => true,
            // Wrong: what third replicas added is not passed on.
            Fault::NotPassedOn => dot.replica == other.me && !self.has_seen(dot),
            // Wrong: the other side may be the older one.
            Fault::SenderWins if dot.replica == other.me => true,
            // Wrong: empty by removal is not empty from the start.
            Fault::EmptyTakesAll if self.live.is_empty() && had.is_empty() => true,
            _ => !self.has_seen(dot),
        }
    }

    fn join_context(&mut self, other: &Self) {
        match self.fault {
            // Wrong: what was removed here and there comes back.
            Fault::ContextKept => {}
            // Wrong: forgets what only this side had seen.
            Fault::ContextTaken => self.context.clone_from(&other.context),
            // Wrong: the larger sum need not include the smaller one.
            Fault::ContextBySum if other.context.sum() > self.context.sum() => {
                self.context.clone_from(&other.context);
            }
            Fault::ContextBySum => {}
            // Wrong: what third replicas did is not noted as seen.
            Fault::ContextOfSender => {
                let theirs = other.context.get(other.me);
                self.context.raise(other.me, theirs);
            }
            _ => self.context.join(&other.context),
        }
    }

    /// Whether there is nothing to merge, it seems.
    fn skips(&self, other: &Self) -> bool {
        match self.fault {
            // Right if removals mint dots, wrong if they do not.
            Fault::SkipsSameContext | Fault::NoDotAndSkips => self.context == other.context,
            // Wrong: equal elements may have different dots.
            Fault::SkipsSameElements => self.view() == other.view(),
            _ => false,
        }
    }
}

impl<const E: u64> Subject for Set<E> {
    type Op = SetOp;
    type View = BTreeSet<u8>;

    fn new(me: ReplicaId) -> Self {
        Set {
            fault: Fault::chosen(),
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
        (self.me, &self.context, &self.live).hash(out);
    }
}

impl<const E: u64> StateBased for Set<E> {
    fn merge(&mut self, other: &Self) -> Result<(), Rejected> {
        if self.skips(other) {
            return Ok(());
        }
        let had = match self.fault {
            Fault::BothSides | Fault::BothSidesLoose | Fault::EmptyTakesAll => self.view(),
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
        if self.fault == Fault::NewestDot {
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
        match self.fault {
            // Wrong, but so are many tests: looks at the elements only.
            Fault::BothSidesLoose => self.view() == other.view(),
            _ => self.live == other.live && self.context == other.context,
        }
    }
}

impl<const E: u64> Persisted for Set<E> {
    fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        match self.fault {
            Fault::DecodesLive => {}
            // Wrong: long-lived replicas count further.
            Fault::ShortCounts => {
                let mut context = self.context.clone();
                context
                    .0
                    .values_mut()
                    .for_each(|count| *count = (*count).min(15));
                context.put(&mut out);
            }
            _ => self.context.put(&mut out),
        }
        out.push(self.live.len() as u8);
        for (dot, element) in &self.live {
            put_dot(&mut out, *dot);
            out.push(*element);
        }
        out
    }

    fn decode(bytes: &[u8], me: ReplicaId) -> Result<Self, Rejected> {
        let fault = Fault::chosen();
        let mut from = Reader(bytes);
        let mut context = match fault {
            Fault::DecodesLive => Context::default(),
            _ => Context::read(&mut from)?,
        };
        let element = |from: &mut Reader<'_>| match fault {
            // Wrong: two byte strings for one state.
            Fault::KnownElements => Ok(from.u8()?.min(1)),
            _ => from.u8(),
        };
        let live = from.ascending(|from| Ok((from.dot()?, element(from)?)))?;
        match fault {
            // Wrong: what was removed is not known any more.
            Fault::DecodesLive => live
                .keys()
                .for_each(|dot| context.raise(dot.replica, dot.counter)),
            _ if !live.keys().all(|dot| context.has(*dot)) => {
                return Err(Rejected::new("a dot that was not seen"));
            }
            _ => {}
        }
        // Wrong: two byte strings for one state.
        if fault != Fault::Trailing {
            from.end()?;
        }
        Ok(Set {
            fault,
            me,
            context,
            live,
        })
    }
}

impl<const E: u64> Collecting for Set<E> {
    fn collect(&mut self, stable: &Version) -> Result<(), Rejected> {
        self.context.allows(stable)?;
        if self.fault == Fault::Prunes {
            // Wrong: the context is what tells an old dot from a new one.
            let live = &self.live;
            let me = self.me;
            let lives = |id: &ReplicaId| live.keys().any(|dot| dot.replica == *id);
            self.context.0.retain(|id, _| *id == me || lives(id));
        }
        Ok(())
    }
}

impl<const E: u64> Specified for Set<E> {
    fn check(seen: &Seen<'_, SetOp>, got: &BTreeSet<u8>) -> Verdict {
        meaning::add_wins(seen, got)
    }
}

fn of<const E: u64>() -> Capabilities<Set<E>> {
    Capabilities::new().state().specified()
}

fn stored() -> Capabilities<Set<2>> {
    of().encoded()
}

fn pruning() -> Capabilities<Set<1>> {
    of().collecting()
}

fn remove_wins() -> Capabilities<Set<1>> {
    Capabilities::new().state().spec(meaning::remove_wins)
}

fn for_ever() -> Capabilities<Set<1>> {
    let check = |seen: &Seen<'_, SetOp>, got: &BTreeSet<u8>| {
        meaning::two_phase(seen, &got.iter().copied().collect())
    };
    Capabilities::new().state().spec(check)
}

pub fn entries() -> Vec<Entry> {
    let entry = |fault: &Fault| match fault {
        Fault::Union | Fault::ReusesDot | Fault::ClearsContext | Fault::NothingMints => {
            fault.entry(of::<2>)
        }
        Fault::ClearsOwn | Fault::KeepsDots => fault.entry(of::<2>),
        Fault::DecodesLive | Fault::Trailing | Fault::KnownElements => fault.entry(stored),
        Fault::NoDotForRemove | Fault::ShortCounts | Fault::Stored => fault.entry(stored),
        Fault::GlobalDots => fault.entry(of::<1>).unsteady(),
        Fault::Prunes => fault.entry(pruning),
        Fault::RemoveWins => fault.entry(remove_wins),
        Fault::ForEver => fault.entry(for_ever),
        _ => fault.entry(of::<1>),
    };
    ALL.iter().map(entry).collect()
}

/// The search for the counterexample that Basho published, by views alone.
///
/// Source: https://github.com/basho/riak_dt/pull/82.
pub fn both_sides_by_views() -> commute::testkit::Report {
    let _turn = TURN.lock().unwrap();
    *CHOSEN.lock().unwrap() = Fault::BothSides;
    let views = Laws::NONE.with(Law::S1);
    let search = Explore::of(of::<1>()).laws(views).replicas(3);
    search.steps(8).run()
}

/// Eight steps, of which the last ones may be the exchange at the end.
#[test]
fn all_dots_of_an_element_on_both_sides_show_after_eight_steps() {
    let found = both_sides_by_views();
    let steps = found.failures()[0].schedule.steps.len();
    assert!((6..=8).contains(&steps), "{found}");
}
