//! Counters with increments and decrements per replica.
//!
//! Merge: of each replica the larger counts. Source: Shapiro et al. 2011, "A comprehensive study
//! of convergent and commutative replicated data types", section 3.1.

use std::collections::BTreeMap;
use std::hash::Hash;

use commute::ReplicaId;
use commute::testkit::{
    Applied, Capabilities, DeltaBased, Fingerprint, Gaps, Outcome, Persisted, Rejected, Seen,
    Source, Specified, StateBased, Subject, Verdict,
};

use crate::bytes::{Reader, put_id, put_u64};
use crate::entry::Kind::{Control, Equivalent, Mutant};
use crate::entry::{Entry, entry};
use crate::meaning;

pub const RIGHT: u8 = 0;
const ADDS: u8 = 1;
const OVERWRITES: u8 = 2;
const MIN: u8 = 3;
const NO_DECREMENTS: u8 = 4;
const SHARED_ID: u8 = 5;
const LOWERS: u8 = 6;
const ARRIVAL: u8 = 7;
const MAX_OF_SUM: u8 = 8;
const MORE_SLOTS: u8 = 9;
const STALE_VIEW: u8 = 10;
const RESUMES_TWICE: u8 = 11;
const RESUMES_WITHOUT: u8 = 12;
const REFUSED_TRACE: u8 = 13;
const NOTHING_TRACE: u8 = 14;
const DELTA_NO_DECREMENTS: u8 = 15;
const DELTA_OFF_BY_ONE: u8 = 16;
const DELTA_OWN: u8 = 17;
const DELTA_ADDS: u8 = 18;
const PANICS: u8 = 19;
const MERGES_NOTHING: u8 = 20;
const DOES_NOTHING: u8 = 21;
const REJECTS: u8 = 22;
const TALLY: u8 = 23;
const EQUAL_ALWAYS: u8 = 24;
const EQUAL_BY_SUM: u8 = 25;
const CLAMPS: u8 = 26;
const SENDER_ONLY: u8 = 27;
const SKIPS_EQUAL_SUMS: u8 = 28;
const WRAPS: u8 = 29;
const HASH_ORDER: u8 = 30;
const LARGER_PAIR: u8 = 31;
const GROWS: u8 = 32;
const DECODES_LESS: u8 = 33;
const STARTS_AT_OTHERS: u8 = 34;

/// What one replica counted: up and down.
type Slot = (u64, u64);
type Slots = BTreeMap<ReplicaId, Slot>;

/// A counter with fault `F`.
#[derive(Clone, PartialEq, Hash, Debug)]
pub struct Count<const F: u8> {
    me: ReplicaId,
    /// The name of the own slot, once it has one.
    key: Option<ReplicaId>,
    slots: Slots,
    /// The total of the slots, kept up to date.
    shown: i64,
    /// The last amount counted here; only some faults use it.
    last: i64,
}

fn total(slots: &Slots) -> i64 {
    slots
        .values()
        .map(|(up, down)| *up as i64 - *down as i64)
        .sum()
}

fn join(mine: &mut Slot, theirs: Slot) {
    *mine = (mine.0.max(theirs.0), mine.1.max(theirs.1));
}

impl<const F: u8> Count<F> {
    fn of(me: ReplicaId, slots: Slots) -> Count<F> {
        let key = match F {
            // Wrong: all replicas count in one slot.
            SHARED_ID => Some(ReplicaId::MIN),
            // Wrong: the slot is named by how many there are when it is first needed.
            ARRIVAL => None,
            _ => Some(me),
        };
        let shown = total(&slots);
        Count {
            me,
            key,
            slots,
            shown,
            last: 0,
        }
    }

    fn count(&mut self, amount: i64) {
        let arrival = ReplicaId::from(self.slots.len() as u128);
        let key = *self.key.get_or_insert(arrival);
        let slot = self.slots.entry(key).or_default();
        let size = amount.unsigned_abs();
        match amount > 0 {
            // Wrong: three bits for the count.
            true if F == WRAPS => slot.0 = (slot.0 + size) % 8,
            true => slot.0 += size,
            // Wrong: what was merged as the larger count is lowered.
            false if F == LOWERS => slot.0 = slot.0.saturating_sub(size),
            false => slot.1 += size,
        }
        self.shown += amount;
        if F == RESUMES_TWICE {
            self.last = amount;
        }
        if F == LOWERS || F == WRAPS {
            self.shown = total(&self.slots);
        }
    }

    fn join_slots(&mut self, other: &Count<F>) {
        for (id, theirs) in &other.slots {
            // Wrong: what third replicas counted is not passed on.
            if F == SENDER_ONLY && *id != other.me && *id != self.me {
                continue;
            }
            let new = !self.slots.contains_key(id);
            let mine = self.slots.entry(*id).or_default();
            match F {
                // Wrong: not idempotent.
                ADDS => *mine = (mine.0 + theirs.0, mine.1 + theirs.1),
                // Wrong: the smaller count.
                MIN if !new => *mine = (mine.0.min(theirs.0), mine.1.min(theirs.1)),
                // Wrong: the second half is left out.
                NO_DECREMENTS => mine.0 = mine.0.max(theirs.0),
                // Right: of one replica, the pair only grows.
                LARGER_PAIR => *mine = (*mine).max(*theirs),
                _ => join(mine, *theirs),
            }
            // Wrong: a slot that is known already changes without the total.
            if F == STALE_VIEW && new {
                self.shown += total(&BTreeMap::from([(*id, *theirs)]));
            }
        }
        if F != STALE_VIEW {
            self.shown = total(&self.slots);
        }
    }

    fn take_all(&mut self, other: &Count<F>) {
        self.slots.clone_from(&other.slots);
        self.shown = other.shown;
    }

    /// Whether `merge` does something else than joining the slots, and has done it.
    fn merged_otherwise(&mut self, other: &Count<F>) -> bool {
        match F {
            // Wrong: the other side is not always the newer one.
            OVERWRITES => self.take_all(other),
            // Wrong: a larger total may lack what is here.
            MAX_OF_SUM if other.shown > self.shown => self.take_all(other),
            MAX_OF_SUM => {}
            // Wrong: more slots may hold older counts.
            MORE_SLOTS if other.slots.len() > self.slots.len() => self.take_all(other),
            // Wrong: equal totals may come from different counts.
            SKIPS_EQUAL_SUMS if other.shown == self.shown => {}
            // Wrong.
            MERGES_NOTHING => {}
            _ => return false,
        }
        true
    }
}

impl<const F: u8> Subject for Count<F> {
    type Op = i64;
    type View = i64;

    fn new(me: ReplicaId) -> Self {
        Count::of(me, Slots::new())
    }

    fn duplicate(&self) -> Self {
        self.clone()
    }

    fn choose(&self, source: &mut Source<'_>) -> Option<i64> {
        match F {
            GROWS => Some(1 + source.below(2) as i64),
            _ => source.pick(&[1, -1, 2, 0, 9]).copied(),
        }
    }

    fn perform(&mut self, amount: &i64) -> Outcome {
        let key = self.me;
        match *amount {
            0 => {
                // Wrong: an empty slot is a difference.
                if F == NOTHING_TRACE {
                    self.slots.entry(key).or_default();
                }
                Outcome::Nothing
            }
            9 => {
                // Wrong: counted before it is refused.
                if F == REFUSED_TRACE {
                    let slot = self.slots.entry(key).or_default();
                    *slot = (slot.0 + 9, slot.1 + 9);
                }
                Outcome::Refused("more than a counter takes at once".into())
            }
            // Wrong: a counter that converges to 0, always.
            _ if F == DOES_NOTHING => Outcome::Done,
            amount => {
                self.count(amount);
                Outcome::Done
            }
        }
    }

    fn view(&self) -> i64 {
        match F {
            // Wrong: a debt is not shown.
            CLAMPS => self.shown.max(0),
            _ => self.shown,
        }
    }

    fn fingerprint(&self, out: &mut Fingerprint) {
        self.hash(out);
    }
}

impl<const F: u8> StateBased for Count<F> {
    fn merge(&mut self, other: &Self) -> Result<(), Rejected> {
        // Wrong: an honest state is refused.
        if F == REJECTS && other.slots.len() > self.slots.len() + 1 {
            return Err(Rejected::new("too many replicas at once"));
        }
        // Wrong: not every state has a slot for this replica.
        if F == PANICS && !self.slots.is_empty() && !other.slots.is_empty() {
            join(
                self.slots.entry(self.me).or_default(),
                other.slots[&self.me],
            );
        }
        if !self.merged_otherwise(other) {
            self.join_slots(other);
        }
        // Wrong: merging is counted.
        if F == TALLY {
            let tally = self.slots.entry(ReplicaId::MAX).or_default();
            *tally = (tally.0 + 1, tally.1 + 1);
        }
        Ok(())
    }

    fn same_state(&self, other: &Self) -> bool {
        match F {
            // Wrong: all the same.
            EQUAL_ALWAYS => true,
            // Wrong: equal totals may come from different counts.
            EQUAL_BY_SUM => self.shown == other.shown,
            _ => self.slots == other.slots,
        }
    }
}

impl<const F: u8> DeltaBased for Count<F> {
    type Delta = Slots;
    type Seen = Slots;
    const GAPS: Gaps = Gaps::Excluded;

    fn seen(&self) -> Slots {
        self.slots.clone()
    }

    fn delta_since(&self, seen: &Slots) -> Slots {
        let mut delta = self.slots.clone();
        delta.retain(|id, (up, down)| {
            let (seen_up, seen_down) = seen.get(id).copied().unwrap_or_default();
            match F {
                // Wrong: one more is not yet a difference.
                DELTA_OFF_BY_ONE => *up > seen_up + 1 || *down > seen_down,
                // Wrong: what third replicas counted is not passed on.
                DELTA_OWN => *id == self.me,
                _ => *up > seen_up || *down > seen_down,
            }
        });
        if F == DELTA_NO_DECREMENTS {
            // Wrong: half of it.
            delta.values_mut().for_each(|slot| slot.1 = 0);
        }
        delta
    }

    fn absorb(&mut self, delta: &Slots) -> Result<Applied, Rejected> {
        let before = self.slots.clone();
        for (id, theirs) in delta {
            let mine = self.slots.entry(*id).or_default();
            match F {
                // Wrong: not idempotent.
                DELTA_ADDS => *mine = (mine.0 + theirs.0, mine.1 + theirs.1),
                _ => join(mine, *theirs),
            }
        }
        self.shown = total(&self.slots);
        Ok(match before == self.slots {
            true => Applied::Duplicate,
            false => Applied::New,
        })
    }
}

impl<const F: u8> Persisted for Count<F> {
    fn encode(&self) -> Vec<u8> {
        let mut slots: Vec<(ReplicaId, Slot)> =
            self.slots.iter().map(|(id, slot)| (*id, *slot)).collect();
        if F == HASH_ORDER {
            slots = in_hash_order(slots);
        }
        let mut out = vec![slots.len() as u8];
        for (id, (up, down)) in slots {
            put_id(&mut out, id);
            put_u64(&mut out, up);
            put_u64(&mut out, down);
        }
        out
    }

    fn decode(bytes: &[u8], replica: ReplicaId) -> Result<Self, Rejected> {
        let mut from = Reader(bytes);
        let mut slots = from.ascending(|from| Ok((from.id()?, (from.u64()?, from.u64()?))))?;
        from.end()?;
        let room = |count: &u64| *count < 1 << 32;
        if !slots
            .values()
            .all(|(up, down)| up + down > 0 && room(up) && room(down))
        {
            return Err(Rejected::new("an empty slot, or too much in one"));
        }
        if F == DECODES_LESS && slots.len() > 2 {
            // Wrong: a limit that drops instead of refusing.
            slots.pop_last();
        }
        let mut count = Count::of(replica, slots);
        if F == STARTS_AT_OTHERS {
            // Wrong: the new replica starts where another one stands.
            let first = count.slots.values().next().copied();
            first.map(|slot| count.slots.insert(replica, slot));
            count.shown = total(&count.slots);
        }
        Ok(count)
    }

    fn save(&self) -> Vec<u8> {
        let mut out = self.encode();
        if F == RESUMES_TWICE {
            put_u64(&mut out, self.last as u64);
        }
        out
    }

    fn resume(bytes: &[u8], replica: ReplicaId) -> Result<Self, Rejected> {
        if F != RESUMES_TWICE {
            let mut count = Self::decode(bytes, replica)?;
            if F == RESUMES_WITHOUT {
                // Wrong: starts its own slot anew.
                count.slots.remove(&replica);
                count.shown = total(&count.slots);
            }
            return Ok(count);
        }
        let (bytes, last) = bytes.split_at(bytes.len().saturating_sub(8));
        let mut count = Self::decode(bytes, replica)?;
        // Wrong: the last operation is in the state already.
        count.count(Reader(last).i64()?);
        Ok(count)
    }
}

impl<const F: u8> Specified for Count<F> {
    fn check(seen: &Seen<'_, i64>, got: &i64) -> Verdict {
        meaning::sum(seen, got)
    }
}

#[allow(
    clippy::disallowed_methods,
    reason = "an order that differs from run to run is the fault"
)]
fn in_hash_order(slots: Vec<(ReplicaId, Slot)>) -> Vec<(ReplicaId, Slot)> {
    let mut all = std::collections::HashMap::new();
    all.extend(slots);
    all.into_iter().collect()
}

fn by_state<const F: u8>() -> Capabilities<Count<F>> {
    Capabilities::new().state().specified()
}

fn by_delta<const F: u8>() -> Capabilities<Count<F>> {
    by_state().delta()
}

fn stored<const F: u8>() -> Capabilities<Count<F>> {
    by_state().encoded()
}

fn whole<const F: u8>() -> Capabilities<Count<F>> {
    by_delta().encoded()
}

#[rustfmt::skip]
pub fn entries() -> Vec<Entry> {
    vec![
        entry("Z-CNT-1", Mutant, "merge adds", by_state::<ADDS>),
        entry("Z-CNT-2", Mutant, "merge overwrites", by_state::<OVERWRITES>),
        entry("Z-CNT-3", Mutant, "merge takes the smaller count", by_state::<MIN>),
        entry("Z-CNT-4", Mutant, "decrements are not merged", by_state::<NO_DECREMENTS>),
        entry("Z-CNT-5", Mutant, "replicas share a slot", by_state::<SHARED_ID>),
        entry("Z-CNT-5b", Mutant, "slots by order of arrival", by_state::<ARRIVAL>),
        entry("Z-CNT-6", Mutant, "a decrement lowers the increments", by_state::<LOWERS>),
        entry("Z-CNT-7", Mutant, "merge keeps the larger total", by_state::<MAX_OF_SUM>),
        entry("Z-CNT-8", Mutant, "merge keeps the side with more slots", by_state::<MORE_SLOTS>),
        entry("Z-CNT-9", Mutant, "the view is a stale total", by_state::<STALE_VIEW>),
        entry("Z-CNT-10", Mutant, "counted again after a resume", stored::<RESUMES_TWICE>),
        entry("Z-CNT-11", Mutant, "own slot lost by a resume", stored::<RESUMES_WITHOUT>),
        entry("Z-CNT-12", Mutant, "a refused operation leaves a trace", by_state::<REFUSED_TRACE>),
        entry("Z-CNT-13", Mutant, "one without effect leaves a trace", by_state::<NOTHING_TRACE>),
        entry("Z-CNT-14", Mutant, "deltas without decrements", by_delta::<DELTA_NO_DECREMENTS>),
        entry("Z-CNT-15", Mutant, "deltas without single increments", by_delta::<DELTA_OFF_BY_ONE>),
        entry("Z-CNT-16", Mutant, "deltas of own counts only", by_delta::<DELTA_OWN>),
        entry("Z-CNT-17", Mutant, "absorbing a delta adds", by_delta::<DELTA_ADDS>),
        entry("Z-CNT-18", Mutant, "merge panics at an unknown replica", by_state::<PANICS>),
        entry("Z-CNT-19", Mutant, "merge does nothing", by_state::<MERGES_NOTHING>),
        entry("Z-CNT-20", Mutant, "operations do nothing", by_state::<DOES_NOTHING>),
        entry("Z-CNT-21", Mutant, "merge refuses two new replicas", by_state::<REJECTS>).scope(3, 4),
        entry("Z-CNT-22", Mutant, "merges are counted", by_state::<TALLY>),
        entry("Z-CNT-23", Mutant, "all states are called equal", by_state::<EQUAL_ALWAYS>),
        entry("Z-CNT-24", Mutant, "equal totals are called equal", by_state::<EQUAL_BY_SUM>),
        entry("Z-CNT-25", Mutant, "debts are not shown", by_state::<CLAMPS>),
        entry("Z-CNT-26", Mutant, "counts are not passed on", by_state::<SENDER_ONLY>).scope(3, 4),
        entry("Z-CNT-27", Mutant, "merge skips equal totals", by_state::<SKIPS_EQUAL_SUMS>),
        entry("Z-CNT-28", Mutant, "counts wrap at 8", by_state::<WRAPS>),
        entry("Z-CNT-29", Mutant, "encoded in hash order", stored::<HASH_ORDER>).unsteady(),
        entry("Z-CNT-30", Mutant, "decoding drops the third slot", stored::<DECODES_LESS>).scope(3, 5),
        entry("Z-CNT-31", Mutant, "decoding counts for the reader", stored::<STARTS_AT_OTHERS>),
        entry("E-CNT-1", Equivalent, "merge takes the larger pair", whole::<LARGER_PAIR>),
        entry("C-CNT-1", Control, "increments and decrements", whole::<RIGHT>),
        entry("C-CNT-2", Control, "increments only", whole::<GROWS>),
    ]
}
