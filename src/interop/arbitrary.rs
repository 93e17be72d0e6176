//! `Arbitrary` of the crate `arbitrary` for ids and clocks, with the feature `arbitrary`: the inputs
//! of fuzz targets.
//!
//! Small ids and counters are frequent, so that values meet. There is none for states and deltas: two
//! arbitrary ones may give different updates one name, which no two replicas ever do. With the
//! feature `testkit` a target takes a schedule instead, see `arbitrary_kit`; to fuzz the decoders,
//! give them the bytes themselves.
//!
//! # Examples
//! ```
//! use arbitrary::{Arbitrary, Unstructured};
//! use commute::{Dots, Version};
//!
//! let mut input = Unstructured::new(&[7; 64]);       // what a fuzzer hands in
//! let (dots, version) = <(Dots, Version)>::arbitrary(&mut input)?;
//! assert!(dots.beyond(&version).within(&version).is_empty());
//! # Ok::<(), arbitrary::Error>(())
//! ```

use alloc::vec::Vec;

use ::arbitrary::{Arbitrary, Result, Unstructured};

use crate::{Digest, Dot, Dots, EntryId, Lamport, Names, ReplicaId, Stamp, Version};

/// A number from 1, mostly a small one.
fn counter(u: &mut Unstructured<'_>) -> Result<u64> {
    Ok(match u8::arbitrary(u)? {
        255 => u64::MAX,
        230..255 => u64::arbitrary(u)?.max(1),
        small => u64::from(small % 10) + 1,
    })
}

/// Three out of four are one of five small ids, the others any.
impl<'a> Arbitrary<'a> for ReplicaId {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<ReplicaId> {
        Ok(match u8::arbitrary(u)? {
            small @ ..192 => ReplicaId::from(u128::from(small % 5) + 1),
            _ => ReplicaId::from_bytes(u.arbitrary()?),
        })
    }
}

impl<'a> Arbitrary<'a> for Dot {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Dot> {
        Ok(Dot::new(u.arbitrary()?, counter(u)?))
    }
}

impl<'a> Arbitrary<'a> for EntryId {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<EntryId> {
        let index = match u8::arbitrary(u)? {
            255 => u32::MAX,
            230..255 => u.arbitrary()?,
            small => u32::from(small % 10),
        };
        Ok(EntryId::new(u.arbitrary()?, index))
    }
}

impl<'a> Arbitrary<'a> for Lamport {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Lamport> {
        Ok(Lamport::new(counter(u)? - 1))
    }
}

/// Mostly of a small number of milliseconds.
impl<'a> Arbitrary<'a> for Stamp {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Stamp> {
        Ok(match u.arbitrary()? {
            true => Stamp::from_millis(counter(u)?),
            false => Stamp::from_bits(counter(u)?),
        })
    }
}

impl<'a> Arbitrary<'a> for Digest {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Digest> {
        u.arbitrary().map(Digest::from_bytes)
    }
}

impl<'a> Arbitrary<'a> for Version {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Version> {
        let dots = u.arbitrary_iter::<Dot>()?;
        dots.map(|dot| dot.map(|dot| (dot.replica, dot.counter)))
            .collect()
    }
}

/// With ranges and gaps.
impl<'a> Arbitrary<'a> for Dots {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Dots> {
        let mut dots = Dots::new();
        for start in u.arbitrary_iter::<(Dot, u8)>()? {
            let (Dot { replica, counter }, more) = start?;
            dots.add(
                replica,
                counter,
                counter.saturating_add(u64::from(more % 4)),
            );
        }
        Ok(dots)
    }
}

impl<'a> Arbitrary<'a> for Names {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Names> {
        let entries = u.arbitrary_iter::<EntryId>()?;
        entries.collect::<Result<Vec<_>>>().map(Names::from_entries)
    }
}
