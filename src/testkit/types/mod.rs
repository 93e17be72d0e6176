//! The crate's own types as subjects.

mod flags;
mod lists;
mod maps;
mod registers;
mod sets;
mod text;
mod values;

use std::collections::BTreeSet;
use std::fmt::Debug;

use super::replica::{Exercise, Meaning};
use super::seen::Seen;
use super::source::Source;
use super::spec::{self, SetOp};
use super::subject::Verdict;
use crate::codec::Key;
use crate::counter::{BoundedCounter, GCounter, PnCounter};
use crate::kernel::{EditError, EditView};
use crate::set::OrSet;
pub use lists::ListPlay;
pub use registers::LwwOp;
pub use text::TextOp;
pub use values::ValuePlay;

/// Amounts: one and more than one, and nothing.
impl Exercise for GCounter {
    type Op = u64;

    fn choose(&self, source: &mut Source<'_>) -> Option<u64> {
        source.pick(&[1, 3, 0]).copied()
    }

    fn perform(counter: &mut EditView<'_, GCounter>, amount: &u64) -> Result<(), EditError> {
        counter.add(*amount)
    }
}

impl Meaning for GCounter {
    fn judge(seen: &Seen<'_, u64>, got: &u128) -> Verdict {
        spec::sum(seen, &i128::try_from(*got).unwrap_or(i128::MAX))
    }
}

impl Exercise for PnCounter {
    type Op = i64;

    fn choose(&self, source: &mut Source<'_>) -> Option<i64> {
        source.pick(&[1, -1, 3, -2, 0]).copied()
    }

    fn perform(counter: &mut EditView<'_, PnCounter>, amount: &i64) -> Result<(), EditError> {
        match *amount < 0 {
            true => counter.subtract(amount.unsigned_abs()),
            false => counter.add(amount.unsigned_abs()),
        }
    }
}

impl Meaning for PnCounter {
    fn judge(seen: &Seen<'_, i64>, got: &i128) -> Verdict {
        spec::sum(seen, got)
    }
}

/// What a user does to a bounded counter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BoundedOp {
    /// Adds an amount.
    Add(u64),
    /// Subtracts an amount, if there is a right to.
    Subtract(u64),
    /// Gives rights away, to the replica with this place among those that have counted.
    Transfer(usize, u64),
}

impl Exercise for BoundedCounter {
    type Op = BoundedOp;

    fn choose(&self, source: &mut Source<'_>) -> Option<BoundedOp> {
        let amount = 1 + source.below(2);
        Some(match source.below(3) {
            0 => BoundedOp::Add(amount),
            1 => BoundedOp::Subtract(amount),
            _ => BoundedOp::Transfer(source.below(3) as usize, amount),
        })
    }

    fn perform(
        counter: &mut EditView<'_, BoundedCounter>,
        op: &BoundedOp,
    ) -> Result<(), EditError> {
        match *op {
            BoundedOp::Add(amount) => counter.add(amount),
            BoundedOp::Subtract(amount) => counter.subtract(amount),
            BoundedOp::Transfer(place, amount) => {
                let to = counter.replicas().nth(place);
                to.map_or(Ok(()), |to| counter.transfer(to, amount))
            }
        }
    }

    fn may_refuse(error: &EditError) -> bool {
        matches!(error, EditError::NoRight { .. })
    }
}

/// The sum, which is never below zero at any replica.
impl Meaning for BoundedCounter {
    fn judge(seen: &Seen<'_, BoundedOp>, got: &i128) -> Verdict {
        let sum = spec::sum_of(seen, |op| match *op {
            BoundedOp::Add(amount) => i128::from(amount),
            BoundedOp::Subtract(amount) => -i128::from(amount),
            BoundedOp::Transfer(..) => 0,
        });
        match *got < 0 {
            true => Verdict::wrong("at least 0", "no right was there"),
            false => Verdict::equal(got, &sum, || "the sum of all amounts".into()),
        }
    }
}

/// A type with values to test with.
pub trait Sample: Sized {
    /// The value for `number`, another one for each.
    fn sample(number: u8) -> Self;
}

macro_rules! samples {
    ($($number:ty),*) => {
        $(impl Sample for $number {
            fn sample(number: u8) -> $number {
                number as $number
            }
        })*
    };
}

samples!(u8, u16, u32, u64, u128, i8, i16, i32, i64, i128);

/// The first one is empty.
impl Sample for String {
    fn sample(number: u8) -> String {
        "x".repeat(usize::from(number))
    }
}

/// Two elements, so that operations meet.
const ELEMENTS: u64 = 2;

impl<T: Key + Sample + Debug> Exercise for OrSet<T> {
    type Op = SetOp<T>;

    fn choose(&self, source: &mut Source<'_>) -> Option<SetOp<T>> {
        if source.below(2) == 0 {
            return Some(SetOp::Insert(T::sample(source.below(ELEMENTS) as u8)));
        }
        Some(match source.below(ELEMENTS + 1) {
            ELEMENTS => SetOp::Clear,
            element => SetOp::Remove(T::sample(element as u8)),
        })
    }

    fn perform(set: &mut EditView<'_, OrSet<T>>, op: &SetOp<T>) -> Result<(), EditError> {
        match op {
            SetOp::Insert(value) => set.insert(value.clone()).map(drop),
            SetOp::Remove(value) => set.remove(value).map(drop),
            SetOp::Clear => set.clear(),
        }
    }
}

impl<T: Key + Sample + Debug> Meaning for OrSet<T> {
    fn judge(seen: &Seen<'_, SetOp<T>>, got: &BTreeSet<T>) -> Verdict {
        spec::add_wins(seen, got)
    }
}
