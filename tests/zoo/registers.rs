//! Registers in which the last write wins.
//!
//! Merge: the value with the larger stamp (time, replica). Times are Lamport times, or those of a
//! clock that never falls behind what was received. Source: Shapiro et al. 2011, section 3.2.1;
//! Kulkarni et al. 2014, "Logical physical clocks".

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
const TAKES_TIES: u8 = 1;
const KEEPS_TIES: u8 = 2;
const VALUE_ON_TIE: u8 = 3;
const CLOCK_STAYS: u8 = 4;
const OLDEST: u8 = 5;
const TIME_WRAPS: u8 = 6;
const REPLICA_FIRST: u8 = 7;
const ADDRESS_ON_TIE: u8 = 8;
const TAKES_EMPTY: u8 = 9;
const SAME_VALUE_SKIPS: u8 = 10;
const RESTAMPS: u8 = 11;
const FROM_LARGER: u8 = 12;
const STORES_NO_TIME: u8 = 13;
const DELTA_BY_TIME: u8 = 14;
const ABSORBS_ALL: u8 = 15;
const SMALLER_ON_TIE: u8 = 16;
const RESUMES_AT_ZERO: u8 = 17;
const LARGER_VALUE: u8 = 18;
/// From here on times are those of the clock.
const CLOCK: u8 = 30;
const CLOCK_ONLY: u8 = 31;
const TIME_OF_DAY: u8 = 32;
const FUTURE_IGNORED: u8 = 33;
const OWN_CLOCK: u8 = 34;

/// A time and who wrote then.
type Stamp = (u64, ReplicaId);

/// A register with fault `F`.
#[derive(Clone, PartialEq, Hash, Debug)]
pub struct Lww<const F: u8> {
    me: ReplicaId,
    /// The clock on the wall.
    now: u64,
    /// The time of the last write, here or received.
    last: u64,
    held: Option<(Stamp, u8)>,
}

impl<const F: u8> Lww<F> {
    fn next_time(&self) -> u64 {
        match F {
            // Wrong: what was received may be from later.
            CLOCK_ONLY => self.now,
            // Wrong: a short day, after which times begin anew.
            TIME_OF_DAY => self.now.max(self.last + 1) % 8,
            CLOCK.. => self.now.max(self.last + 1),
            // Wrong: after three comes none.
            TIME_WRAPS => (self.last + 1) % 4,
            _ => self.last + 1,
        }
    }

    /// Whether `theirs` replaces `mine`.
    fn wins(&self, other: &Self, theirs: (Stamp, u8), mine: (Stamp, u8)) -> bool {
        let ((their_time, their_id), (my_time, my_id)) = (theirs.0, mine.0);
        let tie = their_time == my_time;
        match F {
            // Wrong: each side takes the other's value.
            TAKES_TIES => their_time >= my_time,
            // Wrong: each side keeps its own value.
            KEEPS_TIES => their_time > my_time,
            // Wrong: the first write stays for ever.
            OLDEST => theirs.0 < mine.0,
            // Wrong: an old write of a larger replica wins.
            REPLICA_FIRST => (their_id, their_time) > (my_id, my_time),
            // Wrong: an accident of where the two are stored.
            ADDRESS_ON_TIE if tie => std::ptr::from_ref(other) > std::ptr::from_ref(self),
            // Wrong: replicas with small ids are never heard.
            FROM_LARGER => theirs.0 > mine.0 && other.me > self.me,
            // Wrong: a write from a fast clock is not taken, here.
            FUTURE_IGNORED => theirs.0 > mine.0 && their_time <= self.now + 4,
            // Wrong: an old write of a larger value wins.
            LARGER_VALUE => (theirs.1, theirs.0) > (mine.1, mine.0),
            // Right: any order of replicas.
            SMALLER_ON_TIE if tie => their_id < my_id,
            _ => theirs.0 > mine.0,
        }
    }

    fn take(&mut self, other: &Self) {
        let Some(theirs) = other.held else {
            // Wrong: nothing is not newer than something.
            if F == TAKES_EMPTY {
                self.held = None;
            }
            return;
        };
        let Some(mine) = self.held else {
            self.held = Some(theirs);
            return;
        };
        if F == VALUE_ON_TIE && theirs.0.0 == mine.0.0 {
            // Wrong: the value changes, its stamp does not.
            self.held = Some((mine.0, theirs.1.max(mine.1)));
        } else if self.wins(other, theirs, mine) {
            self.held = Some(theirs);
            if F == RESTAMPS {
                // Wrong: receiving is not writing.
                self.held = Some(((theirs.0.0 + 1, self.me), theirs.1));
            }
        }
    }

    fn note_time(&mut self) {
        let held = self.held.map_or(0, |((time, _), _)| time);
        match F {
            // Wrong: the next write may come before what was received.
            CLOCK_STAYS | OWN_CLOCK => {}
            _ => self.last = self.last.max(held),
        }
    }
}

impl<const F: u8> Subject for Lww<F> {
    type Op = u8;
    type View = Option<u8>;

    fn new(me: ReplicaId) -> Self {
        Lww {
            me,
            now: 0,
            last: 0,
            held: None,
        }
    }

    fn duplicate(&self) -> Self {
        self.clone()
    }

    fn choose(&self, source: &mut Source<'_>) -> Option<u8> {
        Some(source.below(3) as u8)
    }

    fn perform(&mut self, value: &u8) -> Outcome {
        // Wrong: an older write of another value may arrive.
        if F == SAME_VALUE_SKIPS && self.held.is_some_and(|held| held.1 == *value) {
            return Outcome::Done;
        }
        let time = self.next_time();
        let mine = ((time, self.me), *value);
        self.last = time;
        let kept = F == OLDEST && self.held.is_some();
        if !kept {
            self.held = Some(mine);
        }
        Outcome::Done
    }

    fn view(&self) -> Option<u8> {
        self.held.map(|(_, value)| value)
    }

    fn fingerprint(&self, out: &mut Fingerprint) {
        self.hash(out);
    }

    fn tick(&mut self, ms: u64) {
        if F >= CLOCK {
            self.now += ms;
        }
    }
}

impl<const F: u8> StateBased for Lww<F> {
    fn merge(&mut self, other: &Self) -> Result<(), Rejected> {
        self.take(other);
        self.note_time();
        Ok(())
    }

    fn same_state(&self, other: &Self) -> bool {
        self.held == other.held
    }
}

impl<const F: u8> DeltaBased for Lww<F> {
    type Delta = Option<(Stamp, u8)>;
    type Seen = Option<Stamp>;
    const GAPS: Gaps = Gaps::Excluded;

    fn seen(&self) -> Option<Stamp> {
        self.held.map(|(stamp, _)| stamp)
    }

    fn delta_since(&self, seen: &Option<Stamp>) -> Self::Delta {
        let newer = |stamp: Stamp| match (F, seen) {
            // Wrong: a tie is not the same write.
            (DELTA_BY_TIME, Some(seen)) => stamp.0 > seen.0,
            _ => Some(stamp) > *seen,
        };
        self.held.filter(|(stamp, _)| newer(*stamp))
    }

    fn absorb(&mut self, delta: &Self::Delta) -> Result<Applied, Rejected> {
        let newer = delta.is_some_and(|theirs| self.held.is_none_or(|mine| theirs.0 > mine.0));
        // Wrong: an old delta may arrive late.
        if newer || (F == ABSORBS_ALL && delta.is_some() && *delta != self.held) {
            self.held = *delta;
            self.note_time();
            return Ok(Applied::New);
        }
        Ok(Applied::Duplicate)
    }
}

impl<const F: u8> Persisted for Lww<F> {
    fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        if let Some(((time, id), value)) = self.held {
            if F != STORES_NO_TIME {
                put_u64(&mut out, time);
            }
            put_id(&mut out, id);
            out.push(value);
        }
        out
    }

    fn decode(bytes: &[u8], me: ReplicaId) -> Result<Self, Rejected> {
        let mut register = Lww::new(me);
        if bytes.is_empty() {
            return Ok(register);
        }
        let mut from = Reader(bytes);
        let time = match F {
            // Wrong: a stored write is as old as the first one.
            STORES_NO_TIME => 1,
            _ => from.u64()?,
        };
        let held = ((time, from.id()?), from.u8()?);
        from.end()?;
        if time >= 1 << 32 {
            return Err(Rejected::new("a time too far away"));
        }
        register.held = Some(held);
        register.last = time;
        Ok(register)
    }

    fn resume(bytes: &[u8], me: ReplicaId) -> Result<Self, Rejected> {
        let mut register = Self::decode(bytes, me)?;
        if F == RESUMES_AT_ZERO {
            // Wrong: the next write comes before the stored one.
            register.last = 0;
        }
        Ok(register)
    }
}

impl<const F: u8> Specified for Lww<F> {
    fn check(seen: &Seen<'_, u8>, got: &Option<u8>) -> Verdict {
        match F >= CLOCK {
            true => meaning::one_of_the_last(seen, got),
            false => meaning::latest(seen, got),
        }
    }
}

fn lww<const F: u8>() -> Capabilities<Lww<F>> {
    Capabilities::new().state().specified()
}

fn by_delta<const F: u8>() -> Capabilities<Lww<F>> {
    lww().delta()
}

fn stored<const F: u8>() -> Capabilities<Lww<F>> {
    lww().encoded()
}

fn whole<const F: u8>() -> Capabilities<Lww<F>> {
    by_delta().encoded()
}

#[rustfmt::skip]
pub fn entries() -> Vec<Entry> {
    vec![
        entry("Z-REG-1", Mutant, "of equal times the other side wins", lww::<TAKES_TIES>),
        entry("Z-REG-2", Mutant, "of equal times the own side wins", lww::<KEEPS_TIES>),
        entry("Z-REG-3", Mutant, "of equal times the larger value, under the old stamp", lww::<VALUE_ON_TIE>),
        entry("Z-REG-4", Mutant, "receiving does not move the clock", lww::<CLOCK_STAYS>),
        entry("Z-REG-5", Mutant, "the oldest write wins", lww::<OLDEST>),
        entry("Z-REG-6", Mutant, "times wrap at 4", lww::<TIME_WRAPS>).scope(2, 6),
        entry("Z-REG-12", Mutant, "the replica counts before the time", lww::<REPLICA_FIRST>),
        entry("Z-REG-13", Mutant, "of equal times the larger address wins", lww::<ADDRESS_ON_TIE>).unsteady(),
        entry("Z-REG-14", Mutant, "an empty state empties", lww::<TAKES_EMPTY>),
        entry("Z-REG-15", Mutant, "writing the same value is no write", lww::<SAME_VALUE_SKIPS>).scope(2, 5),
        entry("Z-REG-16", Mutant, "receiving gives a new stamp", lww::<RESTAMPS>),
        entry("Z-REG-17", Mutant, "smaller replicas are not heard", lww::<FROM_LARGER>),
        entry("Z-REG-18", Mutant, "times are not stored", stored::<STORES_NO_TIME>),
        entry("Z-REG-19", Mutant, "deltas without writes of equal time", by_delta::<DELTA_BY_TIME>),
        entry("Z-REG-20", Mutant, "a late delta overwrites", by_delta::<ABSORBS_ALL>),
        entry("Z-REG-21", Mutant, "the clock restarts at a resume", stored::<RESUMES_AT_ZERO>),
        entry("Z-REG-22", Mutant, "the larger value wins", lww::<LARGER_VALUE>),
        entry("Z-REG-23", Mutant, "stamps of the own clock alone", lww::<CLOCK_ONLY>),
        entry("Z-REG-24", Mutant, "stamps of the time of day", lww::<TIME_OF_DAY>),
        entry("Z-REG-25", Mutant, "writes from the future are not taken", lww::<FUTURE_IGNORED>),
        entry("Z-REG-26", Mutant, "clock not moved by what arrives", lww::<OWN_CLOCK>),
        entry("E-REG-1", Equivalent, "of equal times the smaller replica wins", lww::<SMALLER_ON_TIE>),
        entry("C-REG-1", Control, "last write wins", lww::<RIGHT>).scope(3, 4),
        entry("C-REG-2", Control, "last write wins, by deltas, stored", whole::<RIGHT>),
        entry("C-REG-3", Control, "last write wins, by the clock", lww::<CLOCK>),
    ]
}
