//! The simplest types: the largest value ever written, and one that takes its time.

use std::collections::BTreeSet;
use std::hash::Hash;
use std::hint::black_box;

use commute::ReplicaId;
use commute::testkit::{
    Capabilities, Fingerprint, Outcome, Persisted, Rejected, Seen, Source, Specified, StateBased,
    Subject, Verdict,
};

use crate::bytes::{Reader, put_u64};
use crate::entry::Kind::{Control, Mutant};
use crate::entry::{Entry, entry};
use crate::meaning;

pub const RIGHT: u8 = 0;
const AS_TEXT: u8 = 1;
const BITS: u8 = 2;
const MEAN: u8 = 3;
const LAST_WRITE: u8 = 4;

/// The largest value, with fault `F`.
#[derive(Clone, PartialEq, Hash, Debug)]
pub struct Max<const F: u8> {
    value: u64,
}

impl<const F: u8> Max<F> {
    fn join(&self, other: u64) -> u64 {
        match F {
            // Wrong: ten comes before nine, as text.
            AS_TEXT => std::cmp::max_by_key(self.value, other, u64::to_string),
            // Wrong: a join, but not this one.
            BITS => self.value | other,
            // Wrong: no join at all.
            MEAN => (self.value + other).div_ceil(2),
            _ => self.value.max(other),
        }
    }
}

impl<const F: u8> Subject for Max<F> {
    type Op = u64;
    type View = u64;

    fn new(_: ReplicaId) -> Self {
        Max { value: 0 }
    }

    fn duplicate(&self) -> Self {
        self.clone()
    }

    fn choose(&self, source: &mut Source<'_>) -> Option<u64> {
        source.pick(&[9, 10, 3]).copied()
    }

    fn perform(&mut self, value: &u64) -> Outcome {
        self.value = match F {
            // Wrong: the own value goes down.
            LAST_WRITE => *value,
            _ => self.join(*value),
        };
        Outcome::Done
    }

    fn view(&self) -> u64 {
        self.value
    }

    fn fingerprint(&self, out: &mut Fingerprint) {
        self.hash(out);
    }
}

impl<const F: u8> StateBased for Max<F> {
    fn merge(&mut self, other: &Self) -> Result<(), Rejected> {
        self.value = self.join(other.value);
        Ok(())
    }

    fn same_state(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl<const F: u8> Persisted for Max<F> {
    fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put_u64(&mut out, self.value);
        out
    }

    fn decode(bytes: &[u8], _: ReplicaId) -> Result<Self, Rejected> {
        let mut from = Reader(bytes);
        let value = from.u64()?;
        from.end().map(|()| Max { value })
    }
}

impl<const F: u8> Specified for Max<F> {
    fn check(seen: &Seen<'_, u64>, got: &u64) -> Verdict {
        meaning::largest(seen, got)
    }
}

/// Counts operations by keeping every one, and looks at each many times.
#[derive(Clone, PartialEq, Hash, Debug)]
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
        self.hash(out);
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

fn max<const F: u8>() -> Capabilities<Max<F>> {
    Capabilities::new().state().specified()
}

fn stored_max() -> Capabilities<Max<RIGHT>> {
    max().encoded()
}

fn slow() -> Capabilities<Slow> {
    Capabilities::new().state().specified()
}

#[rustfmt::skip]
pub fn entries() -> Vec<Entry> {
    vec![
        entry("Z-MAX-1", Mutant, "values are compared as text", max::<AS_TEXT>),
        entry("Z-MAX-2", Mutant, "all bits of both sides", max::<BITS>),
        entry("Z-MAX-3", Mutant, "the mean of both sides", max::<MEAN>),
        entry("Z-MAX-4", Mutant, "a write lowers the value", max::<LAST_WRITE>),
        entry("C-MAX-1", Control, "the largest value", stored_max),
        entry("C-SLOW-1", Control, "a slow counter", slow),
    ]
}
