//! Why bytes were refused.

use core::fmt;

/// The first fault found in some bytes, and where.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct DecodeError {
    /// The position of the fault, in bytes from the start of the input.
    pub offset: usize,
    /// What is wrong there.
    pub kind: DecodeErrorKind,
}

/// The kinds of fault that decoding can find.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum DecodeErrorKind {
    /// The input ends too early.
    Truncated,
    /// The input goes on after its end.
    TrailingBytes,
    /// The input does not start like anything this crate writes.
    NotOurs,
    /// The input is another thing than the one asked for, say a delta instead of a state.
    WrongFrame {
        /// The kind asked for.
        expected: u8,
        /// The kind found.
        found: u8,
    },
    /// The checksum does not match: the bytes were damaged.
    Checksum,
    /// Written by a newer version of this crate or of the user's type; upgrade, then ask again.
    NeedsNewer {
        /// The number not known here: of a format version, flag, section, field or shape.
        unknown: u32,
    },
    /// A field holds another kind of data than the type says.
    ShapeMismatch {
        /// The shape the type has.
        expected: u8,
        /// The shape found.
        found: u8,
    },
    /// Right in meaning, but not in the one canonical spelling.
    NotCanonical,
    /// A text is not valid UTF-8.
    Utf8,
    /// A key or payload is not one of its type.
    Value,
    /// A number does not fit where it stands.
    OutOfRange,
    /// Pieces contradict each other, say an entry of an update that is not included.
    Inconsistent,
    /// More than the given [`Limits`](crate::codec::Limits) allow.
    LimitExceeded,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.kind, self.offset)
    }
}

fn name(frame: u8) -> &'static str {
    match frame {
        1 => "a state",
        2 => "a delta",
        3 => "a save",
        4 => "a version",
        _ => "an unknown frame",
    }
}

impl fmt::Display for DecodeErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated => f.write_str("input ends too early"),
            Self::TrailingBytes => f.write_str("input goes on after its end"),
            Self::NotOurs => f.write_str("not in this format"),
            Self::WrongFrame { expected, found } => {
                write!(f, "{} where {} was expected", name(*found), name(*expected))
            }
            Self::Checksum => f.write_str("checksum mismatch"),
            Self::NeedsNewer { unknown } => write!(f, "needs a newer version (unknown {unknown})"),
            Self::ShapeMismatch { expected, found } => {
                write!(f, "shape {found} where {expected} was expected")
            }
            Self::NotCanonical => f.write_str("not the canonical spelling"),
            Self::Utf8 => f.write_str("invalid utf-8"),
            Self::Value => f.write_str("not a value of its type"),
            Self::OutOfRange => f.write_str("number out of range"),
            Self::Inconsistent => f.write_str("inconsistent content"),
            Self::LimitExceeded => f.write_str("limit exceeded"),
        }
    }
}

impl core::error::Error for DecodeError {}
