//! What can go wrong in an edit and in a merge.

use core::fmt;

use crate::clock::{Dot, EntryId, ReplicaId};

/// Why an edit was refused. The whole update is rolled back: the state is as before.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum EditError {
    /// This replica has used all 2^64 - 1 dots; go on under a new id.
    CounterExhausted,
    /// One update would create more than 2^31 entries of a kind; split it.
    TooManyEntries,
    /// A counter's own row would pass 2^64 - 1.
    CounterOverflow,
    /// A bounded counter would be lowered by more than this replica has the right to.
    NoRight {
        /// How many rights it holds.
        held: u64,
    },
    /// The Lamport time of a sequence would pass 2^64 - 1.
    LamportExhausted,
    /// A register was written with the last stamp that there is; clear it first.
    StampExhausted,
    /// The stamp of a write would be further ahead of the clock that was given than allowed: a value
    /// seen here was written by a clock that is fast, or the one given is slow.
    ClockBehind {
        /// By how many milliseconds.
        millis: u64,
    },
    /// A [`Value`](crate::Value) would have more levels of lists and maps than allowed.
    TooDeep {
        /// How many are.
        levels_max: u32,
    },
    /// A position is out of range or inside a character.
    Index(IndexError),
}

impl fmt::Display for EditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CounterExhausted => f.write_str("this replica has used all its dots"),
            Self::TooManyEntries => f.write_str("too many entries in one update"),
            Self::CounterOverflow => f.write_str("counter overflow"),
            Self::NoRight { held } => {
                write!(f, "this replica holds no more than {held} of the rights")
            }
            Self::LamportExhausted => f.write_str("lamport time exhausted"),
            Self::StampExhausted => f.write_str("no stamp is left; clear the register first"),
            Self::ClockBehind { millis } => {
                write!(f, "the clock is {millis} ms behind what was written")
            }
            Self::TooDeep { levels_max } => write!(f, "more than {levels_max} levels of values"),
            Self::Index(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for EditError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Index(error) => Some(error),
            _ => None,
        }
    }
}

impl From<IndexError> for EditError {
    fn from(error: IndexError) -> EditError {
        EditError::Index(error)
    }
}

/// What a position counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum Unit {
    /// Unicode scalar values.
    Chars,
    /// Bytes of UTF-8.
    Utf8,
    /// UTF-16 code units.
    Utf16,
    /// Elements of a list.
    Elements,
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Chars => "characters",
            Self::Utf8 => "UTF-8 bytes",
            Self::Utf16 => "UTF-16 code units",
            Self::Elements => "elements",
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
    /// It is the start of a range that ends before it.
    Backwards,
}

/// A position that is none.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct IndexError {
    /// What is wrong with it.
    pub fault: IndexFault,
    /// The position as given.
    pub index: usize,
    /// The length of the text or list in the same unit.
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
            IndexFault::Backwards => write!(f, "a range from {index} ({unit}) ends before it"),
        }
    }
}

impl core::error::Error for IndexError {}

/// Why a delta or a state was refused. The replica is as before.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum MergeError {
    /// Two different updates carry the same name: two replicas edited under one id.
    ///
    /// Both stay usable. Give one of them a new id
    /// ([`fork_as`](crate::Replica::fork_as)) and make its unsent edits again.
    ///
    /// Not found is one corner: a third replica that holds an old update of one of the two, and
    /// receives the state of the other when both are more than 1,024 updates further, cannot tell.
    /// The two themselves find it when one gets an update of its own id that it has not made, or
    /// when their versions are equal and they compare digests or merge. Versions alone cannot tell:
    /// two replicas that made equally many updates owe each other nothing.
    IdentityReused {
        /// The id in question.
        replica: ReplicaId,
    },
    /// The content contradicts itself or what is known here.
    Invalid(Fault),
    /// Made by a newer version of this crate, which does what this one cannot.
    NeedsNewer,
}

/// In what way a delta is invalid.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Fault {
    /// It kills an entry of an update that is not included.
    KillsUnknown(Dot),
    /// An element's left origin does not exist.
    OriginMissing(EntryId),
    /// The target of a delete record, or the element of a value, does not exist.
    TargetMissing(EntryId),
    /// An element's Lamport time cannot be right.
    LamportImpossible(EntryId),
    /// One name stands at two places.
    NameTwice,
    /// By its heads no update would be a newest one, or one that its replica went on from would.
    HeadsImpossible,
    /// A field that is not known here, or the children of a map in one, has another shape than before.
    Reshaped,
    /// What it kills crosses what another one kills in more pieces than honest updates do.
    TooIntricate,
}

impl fmt::Display for MergeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::IdentityReused { replica } => {
                write!(f, "replica id {replica} is used by two replicas")
            }
            Self::Invalid(fault) => write!(f, "invalid delta: {fault}"),
            Self::NeedsNewer => f.write_str("needs a newer version"),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::KillsUnknown(dot) => write!(f, "it kills an entry of {dot}, which is unknown"),
            Self::OriginMissing(at) => write!(f, "the left origin of {at:?} does not exist"),
            Self::TargetMissing(at) => write!(f, "the target of {at:?} does not exist"),
            Self::LamportImpossible(at) => write!(f, "the lamport time of {at:?} is impossible"),
            Self::NameTwice => f.write_str("one name stands at two places"),
            Self::HeadsImpossible => f.write_str("its heads are impossible"),
            Self::Reshaped => f.write_str("a field has another shape than before"),
            Self::TooIntricate => f.write_str("what it kills is too intricate"),
        }
    }
}

impl core::error::Error for MergeError {}
