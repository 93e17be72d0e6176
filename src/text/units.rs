//! Typed positions: characters, UTF-8 bytes and UTF-16 code units cannot be mixed up.
//!
//! Rule: a position is between two characters or at an end; anything else is an error, never
//! rounded. Characters are Unicode scalar values, what the engine counts in; the other units
//! are converted by [`Sequence`] in O(log n).

use super::sequence::Sequence;
use crate::kernel::{IndexError, Unit};

/// A position or length in characters (Unicode scalar values).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Chars(pub usize);

/// A position or length in bytes of UTF-8.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Utf8(pub usize);

/// A position or length in UTF-16 code units.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Utf16(pub usize);

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Chars {}
    impl Sealed for super::Utf8 {}
    impl Sealed for super::Utf16 {}
}

/// A typed position: [`Chars`], [`Utf8`] or [`Utf16`].
pub trait Position: Copy + sealed::Sealed {
    /// The unit it counts in.
    const UNIT: Unit;

    /// The bare number.
    fn get(self) -> usize;

    /// The position with this number.
    fn of(index: usize) -> Self;
}

/// Conversion between a typed position and the engine's characters.
pub(crate) trait Locate: Position {
    /// The same position in characters.
    ///
    /// # Errors
    /// [`IndexError`] if it lies behind the end or inside a character.
    ///
    /// # Complexity
    /// O(log n).
    fn to_chars(self, text: &Sequence) -> Result<Chars, IndexError> {
        text.chars_at(self.get(), Self::UNIT)
    }

    /// A position in characters in this unit.
    ///
    /// # Errors
    /// [`IndexError`] if it lies behind the end.
    ///
    /// # Complexity
    /// O(log n).
    fn from_chars(at: Chars, text: &Sequence) -> Result<Self, IndexError> {
        text.units_at(at, Self::UNIT).map(Self::of)
    }
}

impl<P: Position> Locate for P {}

macro_rules! position {
    ($name:ident) => {
        impl Position for $name {
            const UNIT: Unit = Unit::$name;

            fn get(self) -> usize {
                self.0
            }

            fn of(index: usize) -> Self {
                Self(index)
            }
        }
    };
}

position!(Chars);
position!(Utf8);
position!(Utf16);
