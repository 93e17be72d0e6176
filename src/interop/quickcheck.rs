//! `Arbitrary` for ids and clocks, with the feature `quickcheck`.
//!
//! Small ids and counters are frequent, so that values meet; everything shrinks. The crate is
//! re-exported as `commute::quickcheck`.
//!
//! # Why not for states
//! Two arbitrary states may give different updates one name, which no two replicas ever do: merging
//! them is rightly refused as [`IdentityReused`](crate::MergeError::IdentityReused), and a property
//! about it tests nothing. States must come from *one* execution. With the feature `testkit` a
//! property takes `States<T, N>` for that, see `quickcheck_kit`. Without it, let the property take
//! one `u64` as a seed, and derive from it which replica edits, sends and merges:
//!
//! ```
//! use commute::quickcheck::quickcheck;
//! use commute::{GCounter, Replica, ReplicaId};
//!
//! fn merging_commutes(seed: u64) -> bool {
//!     let mut a = Replica::<GCounter>::new(ReplicaId::from(1));
//!     let mut b = Replica::<GCounter>::new(ReplicaId::from(2));
//!     let _ = a.edit(|n| n.add(seed & 0xff));
//!     let _ = b.edit(|n| n.add(seed >> 56));
//!     let (x, y) = (a.state().clone(), b.state().clone());
//!     a.merge(&y).is_ok() && b.merge(&x).is_ok() && a == b
//! }
//! quickcheck(merging_commutes as fn(u64) -> bool);
//! ```

use alloc::boxed::Box;
use alloc::vec::Vec;

use ::quickcheck::{Arbitrary, Gen};

use crate::{Dot, Dots, EntryId, Lamport, Names, ReplicaId, Stamp, Version};

type Shrunk<T> = Box<dyn Iterator<Item = T>>;

/// A number from 1, mostly a small one.
fn counter(g: &mut Gen) -> u64 {
    match u8::arbitrary(g) {
        0 => u64::MAX,
        1..=25 => u64::arbitrary(g).max(1),
        small => u64::from(small % 10) + 1,
    }
}

/// Three out of four are one of five small ids, the others random.
impl Arbitrary for ReplicaId {
    fn arbitrary(g: &mut Gen) -> ReplicaId {
        match u8::arbitrary(g) {
            small @ ..192 => ReplicaId::from(u128::from(small % 5) + 1),
            _ => ReplicaId::from_random_bytes(u128::arbitrary(g).to_be_bytes()),
        }
    }

    fn shrink(&self) -> Shrunk<ReplicaId> {
        Box::new(u128::from(*self).shrink().map(ReplicaId::from))
    }
}

impl Arbitrary for Dot {
    fn arbitrary(g: &mut Gen) -> Dot {
        Dot::new(ReplicaId::arbitrary(g), counter(g))
    }

    fn shrink(&self) -> Shrunk<Dot> {
        let pairs = (self.replica, self.counter).shrink();
        let pairs = pairs.filter(|(_, counter)| *counter > 0);
        Box::new(pairs.map(|(replica, counter)| Dot::new(replica, counter)))
    }
}

impl Arbitrary for EntryId {
    fn arbitrary(g: &mut Gen) -> EntryId {
        let index = match u8::arbitrary(g) {
            0 => u32::MAX,
            1..=25 => u32::arbitrary(g),
            small => u32::from(small % 10),
        };
        EntryId::new(Dot::arbitrary(g), index)
    }

    fn shrink(&self) -> Shrunk<EntryId> {
        let pairs = (self.dot, self.index).shrink();
        Box::new(pairs.map(|(dot, index)| EntryId::new(dot, index)))
    }
}

impl Arbitrary for Lamport {
    fn arbitrary(g: &mut Gen) -> Lamport {
        Lamport::new(counter(g) - u64::from(bool::arbitrary(g)))
    }

    fn shrink(&self) -> Shrunk<Lamport> {
        Box::new(self.get().shrink().map(Lamport::new))
    }
}

/// Mostly of a small number of milliseconds.
impl Arbitrary for Stamp {
    fn arbitrary(g: &mut Gen) -> Stamp {
        match bool::arbitrary(g) {
            true => Stamp::from_millis(counter(g)),
            false => Stamp::from_bits(counter(g)),
        }
    }

    fn shrink(&self) -> Shrunk<Stamp> {
        Box::new(self.to_bits().shrink().map(Stamp::from_bits))
    }
}

impl Arbitrary for Names {
    fn arbitrary(g: &mut Gen) -> Names {
        Names::from_entries(Arbitrary::arbitrary(g))
    }

    fn shrink(&self) -> Shrunk<Names> {
        let entries: Vec<EntryId> = self.iter().collect();
        Box::new(entries.shrink().map(Names::from_entries))
    }
}

impl Arbitrary for Version {
    fn arbitrary(g: &mut Gen) -> Version {
        let dots = Vec::<Dot>::arbitrary(g).into_iter();
        dots.map(|dot| (dot.replica, dot.counter)).collect()
    }

    fn shrink(&self) -> Shrunk<Version> {
        let pairs: Vec<_> = self.iter().collect();
        Box::new(pairs.shrink().map(Version::from_iter))
    }
}

impl Arbitrary for Dots {
    fn arbitrary(g: &mut Gen) -> Dots {
        let ranges = Vec::<(Dot, u8)>::arbitrary(g).into_iter();
        let range = |(dot, more): (Dot, u8)| {
            let last = dot.counter.saturating_add(u64::from(more % 4));
            (dot.replica, dot.counter, last)
        };
        from_ranges(ranges.map(range))
    }

    fn shrink(&self) -> Shrunk<Dots> {
        let ranges: Vec<_> = self.ranges().collect();
        Box::new(
            ranges
                .shrink()
                .map(|ranges| from_ranges(ranges.into_iter())),
        )
    }
}

/// The dots of all `ranges` that hold some.
fn from_ranges(ranges: impl Iterator<Item = (ReplicaId, u64, u64)>) -> Dots {
    let mut dots = Dots::new();
    ranges
        .filter(|(_, first, last)| (1..=*last).contains(first))
        .for_each(|(replica, first, last)| dots.add(replica, first, last));
    dots
}
