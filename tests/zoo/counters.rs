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
use crate::entry::Entry;
use crate::faults::faults;
use crate::meaning;

faults! {
    Right "C-CNT-1" Control (2, 4) "increments and decrements";
    Adds "Z-CNT-1" Mutant (2, 4) "merge adds";
    Overwrites "Z-CNT-2" Mutant (2, 4) "merge overwrites";
    Min "Z-CNT-3" Mutant (2, 4) "merge takes the smaller count";
    NoDecrements "Z-CNT-4" Mutant (2, 4) "decrements are not merged";
    SharedId "Z-CNT-5" Mutant (2, 4) "replicas share a slot";
    Arrival "Z-CNT-5b" Mutant (2, 4) "slots by order of arrival";
    Lowers "Z-CNT-6" Mutant (2, 4) "a decrement lowers the increments";
    MaxOfSum "Z-CNT-7" Mutant (2, 4) "merge keeps the larger total";
    MoreSlots "Z-CNT-8" Mutant (2, 4) "merge keeps the side with more slots";
    StaleView "Z-CNT-9" Mutant (2, 4) "the view is a stale total";
    ResumesTwice "Z-CNT-10" Mutant (2, 4) "counted again after a resume";
    ResumesWithout "Z-CNT-11" Mutant (2, 4) "own slot lost by a resume";
    RefusedTrace "Z-CNT-12" Mutant (2, 4) "a refused operation leaves a trace";
    NothingTrace "Z-CNT-13" Mutant (2, 4) "one without effect leaves a trace";
    DeltaNoDecrements "Z-CNT-14" Mutant (2, 4) "deltas without decrements";
    DeltaOffByOne "Z-CNT-15" Mutant (2, 4) "deltas without single increments";
    DeltaOwn "Z-CNT-16" Mutant (2, 4) "deltas of own counts only";
    DeltaAdds "Z-CNT-17" Mutant (2, 4) "absorbing a delta adds";
    Panics "Z-CNT-18" Mutant (2, 4) "merge panics at an unknown replica";
    MergesNothing "Z-CNT-19" Mutant (2, 4) "merge does nothing";
    DoesNothing "Z-CNT-20" Mutant (2, 4) "operations do nothing";
    Rejects "Z-CNT-21" Mutant (3, 4) "merge refuses two new replicas";
    Tally "Z-CNT-22" Mutant (2, 4) "merges are counted";
    EqualAlways "Z-CNT-23" Mutant (2, 4) "all states are called equal";
    EqualBySum "Z-CNT-24" Mutant (2, 4) "equal totals are called equal";
    Clamps "Z-CNT-25" Mutant (2, 4) "debts are not shown";
    SenderOnly "Z-CNT-26" Mutant (3, 4) "counts are not passed on";
    SkipsEqualSums "Z-CNT-27" Mutant (2, 4) "merge skips equal totals";
    Wraps "Z-CNT-28" Mutant (2, 4) "counts wrap at 8";
    HashOrder "Z-CNT-29" Mutant (2, 4) "encoded in hash order";
    DecodesLess "Z-CNT-30" Mutant (3, 5) "decoding drops the third slot";
    StartsAtOthers "Z-CNT-31" Mutant (2, 4) "decoding counts for the reader";
    LargerPair "E-CNT-1" Equivalent (2, 4) "merge takes the larger pair";
    Grows "C-CNT-2" Control (2, 4) "increments only";
}

/// What one replica counted: up and down.
type Slot = (u64, u64);
type Slots = BTreeMap<ReplicaId, Slot>;

/// A counter with one fault.
#[derive(Clone, PartialEq, Debug)]
pub struct Count {
    fault: Fault,
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

impl Count {
    fn of(me: ReplicaId, slots: Slots) -> Count {
        let fault = Fault::chosen();
        let key = match fault {
            // Wrong: all replicas count in one slot.
            Fault::SharedId => Some(ReplicaId::MIN),
            // Wrong: the slot is named by how many there are when it is first needed.
            Fault::Arrival => None,
            _ => Some(me),
        };
        let shown = total(&slots);
        Count {
            fault,
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
            true if self.fault == Fault::Wraps => slot.0 = (slot.0 + size) % 8,
            true => slot.0 += size,
            // Wrong: what was merged as the larger count is lowered.
            false if self.fault == Fault::Lowers => slot.0 = slot.0.saturating_sub(size),
            false => slot.1 += size,
        }
        self.shown += amount;
        if self.fault == Fault::ResumesTwice {
            self.last = amount;
        }
        if self.fault == Fault::Lowers || self.fault == Fault::Wraps {
            self.shown = total(&self.slots);
        }
    }

    fn join_slots(&mut self, other: &Count) {
        for (id, theirs) in &other.slots {
            // Wrong: what third replicas counted is not passed on.
            if self.fault == Fault::SenderOnly && *id != other.me && *id != self.me {
                continue;
            }
            let new = !self.slots.contains_key(id);
            let mine = self.slots.entry(*id).or_default();
            match self.fault {
                // Wrong: not idempotent.
                Fault::Adds => *mine = (mine.0 + theirs.0, mine.1 + theirs.1),
                // Wrong: the smaller count.
                Fault::Min if !new => *mine = (mine.0.min(theirs.0), mine.1.min(theirs.1)),
                // Wrong: the second half is left out.
                Fault::NoDecrements => mine.0 = mine.0.max(theirs.0),
                // Right: of one replica, the pair only grows.
                Fault::LargerPair => *mine = (*mine).max(*theirs),
                _ => join(mine, *theirs),
            }
            // Wrong: a slot that is known already changes without the total.
            if self.fault == Fault::StaleView && new {
                self.shown += total(&BTreeMap::from([(*id, *theirs)]));
            }
        }
        if self.fault != Fault::StaleView {
            self.shown = total(&self.slots);
        }
    }

    fn take_all(&mut self, other: &Count) {
        self.slots.clone_from(&other.slots);
        self.shown = other.shown;
    }

    /// Whether `merge` does something else than joining the slots, and has done it.
    fn merged_otherwise(&mut self, other: &Count) -> bool {
        match self.fault {
            // Wrong: the other side is not always the newer one.
            Fault::Overwrites => self.take_all(other),
            // Wrong: a larger total may lack what is here.
            Fault::MaxOfSum if other.shown > self.shown => self.take_all(other),
            Fault::MaxOfSum => {}
            // Wrong: more slots may hold older counts.
            Fault::MoreSlots if other.slots.len() > self.slots.len() => self.take_all(other),
            // Wrong: equal totals may come from different counts.
            Fault::SkipsEqualSums if other.shown == self.shown => {}
            // Wrong.
            Fault::MergesNothing => {}
            _ => return false,
        }
        true
    }
}

impl Subject for Count {
    type Op = i64;
    type View = i64;

    fn new(me: ReplicaId) -> Self {
        Count::of(me, Slots::new())
    }

    fn duplicate(&self) -> Self {
        self.clone()
    }

    fn choose(&self, source: &mut Source<'_>) -> Option<i64> {
        match self.fault {
            Fault::Grows => Some(1 + source.below(2) as i64),
            _ => source.pick(&[1, -1, 2, 0, 9]).copied(),
        }
    }

    fn perform(&mut self, amount: &i64) -> Outcome {
        let key = self.me;
        match *amount {
            0 => {
                // Wrong: an empty slot is a difference.
                if self.fault == Fault::NothingTrace {
                    self.slots.entry(key).or_default();
                }
                Outcome::Nothing
            }
            9 => {
                // Wrong: counted before it is refused.
                if self.fault == Fault::RefusedTrace {
                    let slot = self.slots.entry(key).or_default();
                    *slot = (slot.0 + 9, slot.1 + 9);
                }
                Outcome::Refused("more than a counter takes at once".into())
            }
            // Wrong: a counter that converges to 0, always.
            _ if self.fault == Fault::DoesNothing => Outcome::Done,
            amount => {
                self.count(amount);
                Outcome::Done
            }
        }
    }

    fn view(&self) -> i64 {
        match self.fault {
            // Wrong: a debt is not shown.
            Fault::Clamps => self.shown.max(0),
            _ => self.shown,
        }
    }

    fn fingerprint(&self, out: &mut Fingerprint) {
        (self.me, self.key, &self.slots, self.shown, self.last).hash(out);
    }
}

impl StateBased for Count {
    fn merge(&mut self, other: &Self) -> Result<(), Rejected> {
        // Wrong: an honest state is refused.
        if self.fault == Fault::Rejects && other.slots.len() > self.slots.len() + 1 {
            return Err(Rejected::new("too many replicas at once"));
        }
        // Wrong: not every state has a slot for this replica.
        if self.fault == Fault::Panics && !self.slots.is_empty() && !other.slots.is_empty() {
            join(
                self.slots.entry(self.me).or_default(),
                other.slots[&self.me],
            );
        }
        if !self.merged_otherwise(other) {
            self.join_slots(other);
        }
        // Wrong: merging is counted.
        if self.fault == Fault::Tally {
            let tally = self.slots.entry(ReplicaId::MAX).or_default();
            *tally = (tally.0 + 1, tally.1 + 1);
        }
        Ok(())
    }

    fn same_state(&self, other: &Self) -> bool {
        match self.fault {
            // Wrong: all the same.
            Fault::EqualAlways => true,
            // Wrong: equal totals may come from different counts.
            Fault::EqualBySum => self.shown == other.shown,
            _ => self.slots == other.slots,
        }
    }
}

impl DeltaBased for Count {
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
            match self.fault {
                // Wrong: one more is not yet a difference.
                Fault::DeltaOffByOne => *up > seen_up + 1 || *down > seen_down,
                // Wrong: what third replicas counted is not passed on.
                Fault::DeltaOwn => *id == self.me && *up + *down > seen_up + seen_down,
                _ => *up > seen_up || *down > seen_down,
            }
        });
        if self.fault == Fault::DeltaNoDecrements {
            // Wrong: half of it.
            delta.values_mut().for_each(|slot| slot.1 = 0);
        }
        delta
    }

    fn absorb(&mut self, delta: &Slots) -> Result<Applied, Rejected> {
        let before = self.slots.clone();
        for (id, theirs) in delta {
            let mine = self.slots.entry(*id).or_default();
            match self.fault {
                // Wrong: not idempotent.
                Fault::DeltaAdds => *mine = (mine.0 + theirs.0, mine.1 + theirs.1),
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

impl Persisted for Count {
    fn encode(&self) -> Vec<u8> {
        let mut slots: Vec<(ReplicaId, Slot)> =
            self.slots.iter().map(|(id, slot)| (*id, *slot)).collect();
        if self.fault == Fault::HashOrder {
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
        let fault = Fault::chosen();
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
        if fault == Fault::DecodesLess && slots.len() > 2 {
            // Wrong: a limit that drops instead of refusing.
            slots.pop_last();
        }
        let mut count = Count::of(replica, slots);
        if fault == Fault::StartsAtOthers {
            // Wrong: the new replica starts where another one stands.
            let first = count.slots.values().next().copied();
            first.map(|slot| count.slots.insert(replica, slot));
            count.shown = total(&count.slots);
        }
        Ok(count)
    }

    fn save(&self) -> Vec<u8> {
        let mut out = self.encode();
        if self.fault == Fault::ResumesTwice {
            put_u64(&mut out, self.last as u64);
        }
        out
    }

    fn resume(bytes: &[u8], replica: ReplicaId) -> Result<Self, Rejected> {
        let fault = Fault::chosen();
        if fault != Fault::ResumesTwice {
            let mut count = Self::decode(bytes, replica)?;
            if fault == Fault::ResumesWithout {
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

impl Specified for Count {
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

fn by_state() -> Capabilities<Count> {
    Capabilities::new().state().specified()
}

fn by_delta() -> Capabilities<Count> {
    by_state().delta()
}

fn stored() -> Capabilities<Count> {
    by_state().encoded()
}

fn whole() -> Capabilities<Count> {
    by_delta().encoded()
}

pub fn entries() -> Vec<Entry> {
    let capabilities = |fault: Fault| match fault {
        Fault::ResumesTwice | Fault::ResumesWithout | Fault::HashOrder => stored,
        Fault::DecodesLess | Fault::StartsAtOthers => stored,
        Fault::DeltaNoDecrements | Fault::DeltaOffByOne => by_delta,
        Fault::DeltaOwn | Fault::DeltaAdds => by_delta,
        Fault::LargerPair | Fault::Right | Fault::Grows => whole,
        _ => by_state,
    };
    let entry = |fault: &Fault| {
        let entry = fault.entry(capabilities(*fault));
        match fault {
            Fault::HashOrder => entry.unsteady(),
            _ => entry,
        }
    };
    ALL.iter().map(entry).collect()
}
