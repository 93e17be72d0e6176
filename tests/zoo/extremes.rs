//! The simplest types: the largest value ever written, and one that takes its time.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::hash::Hash;
use std::hint::black_box;

use commute::ReplicaId;
use commute::testkit::{
    Capabilities, Fingerprint, Outcome, Persisted, Rejected, Seen, Source, Specified, StateBased,
    Subject, Verdict,
};

use crate::bytes::{Reader, put_u64};
use crate::entry::{Entry, Kind, entry};
use crate::faults::faults;
use crate::meaning;

faults! {
    Right "C-MAX-1" Control (2, 4) "the largest value";
    AsText "Z-MAX-1" Mutant (2, 4) "values are compared as text";
    Bits "Z-MAX-2" Mutant (2, 4) "all bits of both sides";
    Mean "Z-MAX-3" Mutant (2, 4) "the mean of both sides";
    Looks "Z-MAX-5" Mutant (2, 4) "looking at it changes it";
    LastWrite "Z-MAX-4" Mutant (2, 4) "a write lowers the value";
}

/// The largest value, with one fault.
#[derive(Clone, PartialEq, Debug)]
pub struct Max {
    fault: Fault,
    value: u64,
    /// How often it was looked at; only one fault uses it.
    looked: Cell<u64>,
}

impl Max {
    fn join(&self, other: u64) -> u64 {
        match self.fault {
            // Wrong: ten comes before nine, as text.
            Fault::AsText => std::cmp::max_by_key(self.value, other, u64::to_string),
            // Wrong: a join, but not this one.
            Fault::Bits => self.value | other,
            // Wrong: no join at all.
            Fault::Mean => (self.value + other).div_ceil(2),
            _ => self.value.max(other),
        }
    }
}

impl Subject for Max {
    type Op = u64;
    type View = u64;

    fn new(_: ReplicaId) -> Self {
        Max {
            fault: Fault::chosen(),
            value: 0,
            looked: Cell::new(0),
        }
    }

    fn duplicate(&self) -> Self {
        self.clone()
    }

    fn choose(&self, source: &mut Source<'_>) -> Option<u64> {
        source.pick(&[9, 10, 3]).copied()
    }

    fn perform(&mut self, value: &u64) -> Outcome {
        self.value = match self.fault {
            // Wrong: the own value goes down.
            Fault::LastWrite => *value,
            _ => self.join(*value),
        };
        Outcome::Done
    }

    fn view(&self) -> u64 {
        // Wrong: reading is not without effect.
        if self.fault == Fault::Looks {
            self.looked.set(self.looked.get() + 1);
            return self.value + u64::from(self.looked.get() > 20);
        }
        self.value
    }

    fn fingerprint(&self, out: &mut Fingerprint) {
        (self.value, self.looked.get()).hash(out);
    }
}

impl StateBased for Max {
    fn merge(&mut self, other: &Self) -> Result<(), Rejected> {
        self.value = self.join(other.value);
        Ok(())
    }

    fn same_state(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl Persisted for Max {
    fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put_u64(&mut out, self.value);
        out
    }

    fn decode(bytes: &[u8], _: ReplicaId) -> Result<Self, Rejected> {
        let mut from = Reader(bytes);
        let value = from.u64()?;
        from.end().map(|()| Max {
            fault: Fault::chosen(),
            value,
            looked: Cell::new(0),
        })
    }
}

impl Specified for Max {
    fn check(seen: &Seen<'_, u64>, got: &u64) -> Verdict {
        meaning::largest(seen, got)
    }
}

/// Counts operations by keeping every one, and looks at each many times.
#[derive(Clone, PartialEq, Debug)]
pub struct Slow {
    me: ReplicaId,
    all: BTreeSet<(ReplicaId, u64)>,
}

impl Subject for Slow {
    type Op = i64;
    type View = i64;

    fn new(me: ReplicaId) -> Self {
        Slow {
            me,
            all: BTreeSet::new(),
        }
    }

    fn duplicate(&self) -> Self {
        self.clone()
    }

    fn choose(&self, _: &mut Source<'_>) -> Option<i64> {
        Some(1)
    }

    fn perform(&mut self, _: &i64) -> Outcome {
        self.all.insert((self.me, self.all.len() as u64));
        Outcome::Done
    }

    fn view(&self) -> i64 {
        let mut count = 0;
        for _ in 0..200 {
            count = self
                .all
                .iter()
                .filter(|one| black_box(one.1) >= black_box(0))
                .count();
        }
        count as i64
    }

    fn fingerprint(&self, out: &mut Fingerprint) {
        (self.me, &self.all).hash(out);
    }
}

impl StateBased for Slow {
    fn merge(&mut self, other: &Self) -> Result<(), Rejected> {
        self.all.extend(&other.all);
        Ok(())
    }

    fn same_state(&self, other: &Self) -> bool {
        self.all == other.all
    }
}

impl Specified for Slow {
    fn check(seen: &Seen<'_, i64>, got: &i64) -> Verdict {
        meaning::sum(seen, got)
    }
}

fn max() -> Capabilities<Max> {
    Capabilities::new().state().specified()
}

fn stored_max() -> Capabilities<Max> {
    max().encoded()
}

fn slow() -> Capabilities<Slow> {
    Capabilities::new().state().specified()
}

pub fn entries() -> Vec<Entry> {
    let capabilities = |fault: Fault| match fault {
        Fault::Right => stored_max,
        _ => max,
    };
    let max = ALL.iter().map(|fault| fault.entry(capabilities(*fault)));
    let slow = entry("C-SLOW-1", Kind::Control, "a slow counter", slow);
    max.chain([slow]).collect()
}
