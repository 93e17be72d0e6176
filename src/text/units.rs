//! Typed positions: characters, UTF-8 bytes and UTF-16 code units cannot be mixed up.
//!
//! Rule: a position is between two characters or at an end; anything else is an error, never
//! rounded. Characters are Unicode scalar values, what the engine counts in; the other units
//! are converted by [`Sequence`] in O(log n).

use core::fmt;

use super::sequence::Sequence;

/// A position or length in characters (Unicode scalar values).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Chars(pub usize);

/// A position or length in bytes of UTF-8.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Utf8(pub usize);

/// A position or length in UTF-16 code units.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Utf16(pub usize);

/// The units a position can be given in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum Unit {
    /// Unicode scalar values.
    Chars,
    /// Bytes of UTF-8.
    Utf8,
    /// UTF-16 code units.
    Utf16,
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Chars => "characters",
            Self::Utf8 => "UTF-8 bytes",
            Self::Utf16 => "UTF-16 code units",
        })
    }
}

/// What is wrong with a position.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum IndexFault {
    /// It lies behind the end.
    OutOfRange,
    /// It lies inside a character.
    InsideCharacter,
}

/// A position that is none.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct IndexError {
    /// What is wrong with it.
    pub fault: IndexFault,
    /// The position as given.
    pub index: usize,
    /// The length of the text in the same unit.
    pub len: usize,
    /// The unit of both.
    pub unit: Unit,
}

impl fmt::Display for IndexError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            fault,
            index,
            len,
            unit,
        } = self;
        match fault {
            IndexFault::OutOfRange => write!(f, "index {index} is behind the end ({len} {unit})"),
            IndexFault::InsideCharacter => {
                write!(f, "index {index} ({unit}) is inside a character")
            }
        }
    }
}

impl core::error::Error for IndexError {}

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
