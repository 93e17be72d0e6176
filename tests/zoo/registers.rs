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
use crate::entry::Entry;
use crate::faults::faults;
use crate::meaning;

faults! {
    Right "C-REG-1" Control (3, 4) "last write wins";
    TakesTies "Z-REG-1" Mutant (2, 4) "of equal times the other side wins";
    KeepsTies "Z-REG-2" Mutant (2, 4) "of equal times the own side wins";
    ValueOnTie "Z-REG-3" Mutant (2, 4) "of equal times the larger value, under the old stamp";
    ClockStays "Z-REG-4" Mutant (2, 4) "receiving does not move the clock";
    Oldest "Z-REG-5" Mutant (2, 4) "the oldest write wins";
    TimeWraps "Z-REG-6" Mutant (2, 6) "times wrap at 4";
    ReplicaFirst "Z-REG-12" Mutant (2, 4) "the replica counts before the time";
    AddressOnTie "Z-REG-13" Mutant (2, 4) "of equal times the larger address wins";
    TakesEmpty "Z-REG-14" Mutant (2, 4) "an empty state empties";
    SameValueSkips "Z-REG-15" Mutant (2, 5) "writing the same value is no write";
    Restamps "Z-REG-16" Mutant (2, 4) "receiving gives a new stamp";
    FromLarger "Z-REG-17" Mutant (2, 4) "smaller replicas are not heard";
    StoresNoTime "Z-REG-18" Mutant (2, 4) "times are not stored";
    DeltaByTime "Z-REG-19" Mutant (2, 4) "deltas without writes of equal time";
    AbsorbsAll "Z-REG-20" Mutant (2, 4) "a late delta overwrites";
    ResumesAtZero "Z-REG-21" Mutant (2, 4) "the clock restarts at a resume";
    LargerValue "Z-REG-22" Mutant (2, 4) "the larger value wins";
    ClockOnly "Z-REG-23" Mutant (2, 4) "stamps of the own clock alone";
    TimeOfDay "Z-REG-24" Mutant (2, 4) "stamps of the time of day";
    FutureIgnored "Z-REG-25" Mutant (2, 4) "writes from the future are not taken";
    MachineClock "Z-REG-27" Mutant (2, 4) "stamps of the machine's clock";
    OwnClock "Z-REG-26" Mutant (2, 4) "clock not moved by what arrives";
    SmallerOnTie "E-REG-1" Equivalent (2, 4) "of equal times the smaller replica wins";
    Whole "C-REG-2" Control (2, 4) "last write wins, by deltas, stored";
    Clock "C-REG-3" Control (2, 4) "last write wins, by the clock";
}

impl Fault {
    /// Whether times are those of a clock.
    fn has_clock(self) -> bool {
        use Fault::{Clock, ClockOnly, FutureIgnored, OwnClock, TimeOfDay};
        matches!(
            self,
            Clock | ClockOnly | TimeOfDay | FutureIgnored | OwnClock
        )
    }
}

/// A time and who wrote then.
type Stamp = (u64, ReplicaId);

/// A register with one fault.
#[derive(Clone, PartialEq, Debug)]
pub struct Lww {
    fault: Fault,
    me: ReplicaId,
    /// The clock on the wall.
    now: u64,
    /// The time of the last write, here or received.
    last: u64,
    held: Option<(Stamp, u8)>,
}

impl Lww {
    fn next_time(&self) -> u64 {
        match self.fault {
            // Wrong: what was received may be from later.
            Fault::ClockOnly => self.now,
            // Wrong: asks the machine, so that no run can be repeated.
            Fault::MachineClock => machine_time().max(self.last + 1),
            // Wrong: a short day, after which times begin anew.
            Fault::TimeOfDay => self.now.max(self.last + 1) % 8,
            Fault::Clock | Fault::FutureIgnored | Fault::OwnClock => self.now.max(self.last + 1),
            // Wrong: after three comes none.
            Fault::TimeWraps => (self.last + 1) % 4,
            _ => self.last + 1,
        }
    }

    /// Whether `theirs` replaces `mine`.
    fn wins(&self, other: &Self, theirs: (Stamp, u8), mine: (Stamp, u8)) -> bool {
        let ((their_time, their_id), (my_time, my_id)) = (theirs.0, mine.0);
        let tie = their_time == my_time;
        match self.fault {
            // Wrong: each side takes the other's value.
            Fault::TakesTies => their_time >= my_time,
            // Wrong: each side keeps its own value.
            Fault::KeepsTies => their_time > my_time,
            // Wrong: the first write stays for ever.
            Fault::Oldest => theirs.0 < mine.0,
            // Wrong: an old write of a larger replica wins.
            Fault::ReplicaFirst => (their_id, their_time) > (my_id, my_time),
            // Wrong: an accident of where the two are stored.
            Fault::AddressOnTie if tie => std::ptr::from_ref(other) > std::ptr::from_ref(self),
            // Wrong: replicas with small ids are never heard.
            Fault::FromLarger => theirs.0 > mine.0 && other.me > self.me,
            // Wrong: a write from a fast clock is not taken, here.
            Fault::FutureIgnored => theirs.0 > mine.0 && their_time <= self.now + 4,
            // Wrong: an old write of a larger value wins.
            Fault::LargerValue => (theirs.1, theirs.0) > (mine.1, mine.0),
            // Right: any order of replicas.
            Fault::SmallerOnTie if tie => their_id < my_id,
            _ => theirs.0 > mine.0,
        }
    }

    fn take(&mut self, other: &Self) {
        let Some(theirs) = other.held else {
            // Wrong: nothing is not newer than something.
            if self.fault == Fault::TakesEmpty {
                self.held = None;
            }
            return;
        };
        let Some(mine) = self.held else {
            self.held = Some(theirs);
            return;
        };
        if self.fault == Fault::ValueOnTie && theirs.0.0 == mine.0.0 {
            // Wrong: the value changes, its stamp does not.
            self.held = Some((mine.0, theirs.1.max(mine.1)));
        } else if self.wins(other, theirs, mine) {
            self.held = Some(theirs);
            if self.fault == Fault::Restamps {
                // Wrong: receiving is not writing.
                self.held = Some(((theirs.0.0 + 1, self.me), theirs.1));
            }
        }
    }

    fn note_time(&mut self) {
        let held = self.held.map_or(0, |((time, _), _)| time);
        match self.fault {
            // Wrong: the next write may come before what was received.
            Fault::ClockStays | Fault::OwnClock => {}
            _ => self.last = self.last.max(held),
        }
    }
}

impl Subject for Lww {
    type Op = u8;
    type View = Option<u8>;

    fn new(me: ReplicaId) -> Self {
        Lww {
            fault: Fault::chosen(),
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
        if self.fault == Fault::SameValueSkips && self.held.is_some_and(|held| held.1 == *value) {
            return Outcome::Done;
        }
        let time = self.next_time();
        let mine = ((time, self.me), *value);
        self.last = time;
        let kept = self.fault == Fault::Oldest && self.held.is_some();
        if !kept {
            self.held = Some(mine);
        }
        Outcome::Done
    }

    fn view(&self) -> Option<u8> {
        self.held.map(|(_, value)| value)
    }

    fn fingerprint(&self, out: &mut Fingerprint) {
        (self.me, self.now, self.last, self.held).hash(out);
    }

    fn tick(&mut self, ms: u64) {
        if self.fault.has_clock() {
            self.now += ms;
        }
    }
}

impl StateBased for Lww {
    fn merge(&mut self, other: &Self) -> Result<(), Rejected> {
        self.take(other);
        self.note_time();
        Ok(())
    }

    fn same_state(&self, other: &Self) -> bool {
        self.held == other.held
    }
}

impl DeltaBased for Lww {
    type Delta = Option<(Stamp, u8)>;
    type Seen = Option<Stamp>;
    const GAPS: Gaps = Gaps::Excluded;

    fn seen(&self) -> Option<Stamp> {
        self.held.map(|(stamp, _)| stamp)
    }

    fn delta_since(&self, seen: &Option<Stamp>) -> Self::Delta {
        let differs = |stamp: Stamp| match (self.fault, seen) {
            // Wrong: a tie is not the same write.
            (Fault::DeltaByTime, Some(seen)) => stamp.0 != seen.0,
            _ => Some(stamp) != *seen,
        };
        self.held.filter(|(stamp, _)| differs(*stamp))
    }

    /// Whether an older write is new here cannot be told.
    fn absorb(&mut self, delta: &Self::Delta) -> Result<Applied, Rejected> {
        if let Some(theirs) = *delta {
            let newer = self.held.is_none_or(|mine| theirs.0 > mine.0);
            // Wrong: an old delta may arrive late.
            if newer || self.fault == Fault::AbsorbsAll {
                self.held = Some(theirs);
                self.note_time();
            }
        }
        Ok(Applied::New)
    }
}

impl Persisted for Lww {
    fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        if let Some(((time, id), value)) = self.held {
            if self.fault != Fault::StoresNoTime {
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
        let time = match register.fault {
            // Wrong: a stored write is as old as the first one.
            Fault::StoresNoTime => 1,
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
        if register.fault == Fault::ResumesAtZero {
            // Wrong: the next write comes before the stored one.
            register.last = 0;
        }
        Ok(register)
    }
}

impl Specified for Lww {
    fn check(seen: &Seen<'_, u8>, got: &Option<u8>) -> Verdict {
        meaning::latest(seen, got)
    }
}

#[allow(
    clippy::disallowed_methods,
    reason = "a time that nobody passes in is the fault"
)]
fn machine_time() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.unwrap_or_default().subsec_nanos().into()
}

fn lww() -> Capabilities<Lww> {
    Capabilities::new().state().specified()
}

fn by_clock() -> Capabilities<Lww> {
    Capabilities::new().state().spec(meaning::one_of_the_last)
}

fn by_delta() -> Capabilities<Lww> {
    lww().delta()
}

fn stored() -> Capabilities<Lww> {
    lww().encoded()
}

fn whole() -> Capabilities<Lww> {
    by_delta().encoded()
}

pub fn entries() -> Vec<Entry> {
    let capabilities = |fault: Fault| match fault {
        Fault::StoresNoTime | Fault::ResumesAtZero => stored,
        Fault::DeltaByTime | Fault::AbsorbsAll => by_delta,
        Fault::Whole => whole,
        fault if fault.has_clock() => by_clock,
        _ => lww,
    };
    let entry = |fault: &Fault| {
        let entry = fault.entry(capabilities(*fault));
        match fault {
            Fault::AddressOnTie | Fault::MachineClock => entry.unsteady(),
            _ => entry,
        }
    };
    ALL.iter().map(entry).collect()
}
