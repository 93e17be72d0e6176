//! What the tree holds: runs of elements, their sizes and their keys.

use crate::kernel::Unit;
use crate::text::name_run::NameRun;

/// The longest visible run whose characters are of mixed UTF-16 width, in elements.
///
/// In a run of one width a position is found by the rope's own counts; in a mixed one its
/// characters are looked at, so such runs are kept short.
pub(crate) const MIXED_MAX: u32 = 256;

/// A length of visible text, in all units at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Size {
    pub(crate) chars: usize,
    pub(crate) bytes: usize,
    pub(crate) utf16: usize,
}

impl Size {
    /// The size of `text`.
    pub(crate) fn of(text: &str) -> Self {
        if text.is_ascii() {
            let len = text.len();
            return Self {
                chars: len,
                bytes: len,
                utf16: len,
            };
        }
        text.chars()
            .fold(Self::default(), |sum, c| sum.plus(Self::of_char(c)))
    }

    /// The size of one character.
    pub(crate) fn of_char(c: char) -> Self {
        Self {
            chars: 1,
            bytes: c.len_utf8(),
            utf16: c.len_utf16(),
        }
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            chars: self.chars + other.chars,
            bytes: self.bytes + other.bytes,
            utf16: self.utf16 + other.utf16,
        }
    }

    /// The difference; `other` is a part of `self`.
    pub(crate) fn minus(self, other: Self) -> Self {
        debug_assert!(self.chars >= other.chars && self.bytes >= other.bytes);
        Self {
            chars: self.chars - other.chars,
            bytes: self.bytes - other.bytes,
            utf16: self.utf16 - other.utf16,
        }
    }

    pub(crate) fn get(self, unit: Unit) -> usize {
        match unit {
            Unit::Chars | Unit::Elements => self.chars,
            Unit::Utf8 => self.bytes,
            Unit::Utf16 => self.utf16,
        }
    }
}

/// What the order compares: Lamport time, then the author's replica id (looked up).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Key {
    pub(crate) lamport: u64,
    pub(crate) author: u32,
}

impl Key {
    /// Greater than every key: no element has this Lamport time.
    pub(crate) const NONE: Self = Self {
        lamport: u64::MAX,
        author: u32::MAX,
    };
}

/// Elements in document order whose names and Lamport times chain; each one's origin is the
/// one before it, and all are visible or all hidden.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Run {
    pub(crate) names: NameRun,
    /// The Lamport time of the first.
    pub(crate) lamport: u64,
    pub(crate) author: u32,
    /// Their text in bytes and UTF-16 units; 0 if hidden.
    pub(crate) bytes: u32,
    pub(crate) utf16: u32,
    pub(crate) hidden: bool,
}

impl Run {
    /// Fills unused places of fixed arrays.
    pub(crate) const BLANK: Self = Self {
        names: NameRun::BLANK,
        lamport: 0,
        author: 0,
        bytes: 0,
        utf16: 0,
        hidden: true,
    };

    pub(crate) fn len(&self) -> u32 {
        self.names.len()
    }

    pub(crate) fn key(&self) -> Key {
        Key {
            lamport: self.lamport,
            author: self.author,
        }
    }

    /// How much visible text it holds.
    pub(crate) fn size(&self) -> Size {
        if self.hidden {
            return Size::default();
        }
        let chars = self.len() as usize;
        Size {
            chars,
            bytes: self.bytes as usize,
            utf16: self.utf16 as usize,
        }
    }

    /// The part of `size.chars` (if visible) or `len` elements from the `from`-th on.
    pub(crate) fn part(&self, from: u32, len: u32, size: Size) -> Self {
        Self {
            names: self.names.part(from, len),
            lamport: self.lamport + u64::from(from),
            bytes: size.bytes as u32,
            utf16: size.utf16 as u32,
            ..*self
        }
    }

    /// The same elements without text.
    pub(crate) fn hide(self) -> Self {
        Self {
            bytes: 0,
            utf16: 0,
            hidden: true,
            ..self
        }
    }

    /// The same elements with text of this size.
    pub(crate) fn show(self, size: Size) -> Self {
        Self {
            bytes: size.bytes as u32,
            utf16: size.utf16 as u32,
            hidden: false,
            ..self
        }
    }

    /// Whether `next` goes on where this one ends, visibility and length aside.
    pub(crate) fn chains(&self, next: &Self) -> bool {
        self.author == next.author
            && self.lamport.checked_add(u64::from(self.len())) == Some(next.lamport)
    }

    /// Both as one run, if they chain and the result is one that the tree holds.
    pub(crate) fn join(&self, next: &Self) -> Option<Self> {
        if self.hidden != next.hidden || !self.chains(next) {
            return None;
        }
        let names = self.names.join(&next.names)?;
        let bytes = self.bytes.checked_add(next.bytes)?;
        let utf16 = self.utf16.checked_add(next.utf16)?;
        let joined = Self {
            names,
            bytes,
            utf16,
            ..*self
        };
        joined.is_measurable().then_some(joined)
    }

    /// Whether a position in it is found in O(log n): all of one UTF-16 width, or short.
    pub(crate) fn is_measurable(&self) -> bool {
        self.hidden
            || self.len() <= MIXED_MAX
            || self.utf16 == self.len()
            || u64::from(self.utf16) == 2 * u64::from(self.len())
    }
}
