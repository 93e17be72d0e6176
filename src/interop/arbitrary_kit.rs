//! `Arbitrary` of the crate `arbitrary` for what the test kit is about, with the features `arbitrary`
//! and `testkit`: schedules, and the operations that specifications speak of.
//!
//! A fuzz target takes a [`Schedule`] and lets the kit replay it, under all laws of the type:
//!
//! ```
//! use arbitrary::{Arbitrary, Unstructured};
//! use commute::testkit::{Random, Schedule};
//! use commute::{OrSet, Replica};
//!
//! fn target(schedule: Schedule) {
//!     let search = Random::new::<Replica<OrSet<u8>>>().state().delta().specified();
//!     search.replay(schedule).unwrap_clean();
//! }
//!
//! let bytes: Vec<u8> = (0..200).collect();           // what a fuzzer hands in
//! target(Schedule::arbitrary_take_rest(Unstructured::new(&bytes))?);
//! # Ok::<(), arbitrary::Error>(())
//! ```

use ::arbitrary::{Arbitrary, Result, Unstructured};

use crate::testkit::spec::{CounterOp, FlagOp, MapOp, RegisterOp, SetOp};
use crate::testkit::{BoundedOp, Faults, LwwOp, Schedule, Shape, Source};

/// Steps of a schedule, however long the input is.
const STEPS_MAX: usize = 100;
/// What a step takes of the input: its verb, its replica, its numbers.
const STEP_BYTES: usize = 8;

/// Draws from `bytes` as from a [`Source`], in whose place a longer input has more steps.
fn draw(bytes: &[u8]) -> Schedule {
    let shape = Shape {
        replicas: 3,
        steps: (bytes.len() / STEP_BYTES).clamp(1, STEPS_MAX),
        weights: Faults::all().weights(),
    };
    Schedule::draw(&mut Source::bytes(bytes), &shape)
}

/// Of all verbs, for up to five replicas. What a type cannot do has no effect.
impl<'a> Arbitrary<'a> for Schedule {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Schedule> {
        let len = u.arbitrary_len::<u8>()?;
        u.bytes(len).map(draw)
    }

    fn arbitrary_take_rest(u: Unstructured<'a>) -> Result<Schedule> {
        Ok(draw(u.take_rest()))
    }
}

/// Most of them insert; one of 24 clears.
impl<'a, T: Arbitrary<'a>> Arbitrary<'a> for SetOp<T> {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<SetOp<T>> {
        Ok(match u8::arbitrary(u)? % 24 {
            23 => SetOp::Clear,
            16.. => SetOp::Remove(u.arbitrary()?),
            _ => SetOp::Insert(u.arbitrary()?),
        })
    }
}

/// One of eight resets; the amounts are small.
impl<'a> Arbitrary<'a> for CounterOp {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<CounterOp> {
        Ok(match u8::arbitrary(u)? % 8 {
            7 => CounterOp::Reset,
            _ => CounterOp::Add(i8::arbitrary(u)?.into()),
        })
    }
}

/// Of small amounts.
impl<'a> Arbitrary<'a> for BoundedOp {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<BoundedOp> {
        let amount = u8::arbitrary(u)?.into();
        Ok(match u8::arbitrary(u)? % 3 {
            0 => BoundedOp::Add(amount),
            1 => BoundedOp::Subtract(amount),
            _ => BoundedOp::Transfer(usize::from(u8::arbitrary(u)? % 5), amount),
        })
    }
}

impl<'a> Arbitrary<'a> for FlagOp {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<FlagOp> {
        Ok(match u.arbitrary()? {
            true => FlagOp::Disable,
            false => FlagOp::Enable,
        })
    }
}

/// One of eight clears.
impl<'a, V: Arbitrary<'a>> Arbitrary<'a> for RegisterOp<V> {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<RegisterOp<V>> {
        Ok(match u8::arbitrary(u)? % 8 {
            7 => RegisterOp::Clear,
            _ => RegisterOp::Write(u.arbitrary()?),
        })
    }
}

/// By clocks that show up to 255 ms.
impl<'a, V: Arbitrary<'a>> Arbitrary<'a> for LwwOp<V> {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<LwwOp<V>> {
        let clock = u8::arbitrary(u)?.into();
        let write = u.arbitrary()?;
        Ok(LwwOp { clock, write })
    }
}

/// Most of them put; one of 24 clears.
impl<'a, K: Arbitrary<'a>, V: Arbitrary<'a>> Arbitrary<'a> for MapOp<K, V> {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<MapOp<K, V>> {
        Ok(match u8::arbitrary(u)? % 24 {
            23 => MapOp::Clear,
            16.. => MapOp::Remove(u.arbitrary()?),
            _ => MapOp::Put(u.arbitrary()?, u.arbitrary()?),
        })
    }
}
