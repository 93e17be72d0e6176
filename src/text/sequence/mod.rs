//! The sequence: what text is made of, edited by position and merged by name.
//!
//! Rule: RGA. An element goes right of its origin, past every element with a greater (Lamport
//! time, replica id), hidden ones included; it is hidden if a delete record names it.
//! Source: Roh et al. 2011, doi:10.1016/j.jpdc.2010.12.006 (RGA); [`rga`](super::rga) is the
//! rule alone, and the tests hold this engine against it.
//! Delivery: causal; what an insert or a record names must have come before or with it.
//! Space: a run of elements 48 bytes and its place in a map, a run of records 72 bytes, the
//! visible text; hidden elements keep no content. Origins are not kept: they follow from the
//! order (the origin of an element is the nearest one to its left with a smaller id).
//! Limits: 2^32 - 1 elements in a run, 2^64 - 2 in Lamport time; 2^31 names an update.

mod build;
mod check;
mod delta;
mod journal;
mod local;
mod records;
mod remote;
#[cfg(test)]
mod tests;

use alloc::string::String;
use core::fmt;

use crop::Rope;

pub use self::build::BuildError;
pub use self::check::PartError;
pub use self::delta::{DeleteRun, ElementRun, InsertRun, Part};
use self::journal::Journal;
pub use self::local::{Inserted, LocalError};
use self::records::Records;
use super::name_run::Name;
use super::run_tree::run::{Run, Size};
use super::run_tree::{Gap, RunTree, Spot};
use super::units::Chars;
use crate::clock::EntryId;
use crate::kernel::{IndexError, IndexFault, Unit};

/// A replicated sequence of characters. See the module.
#[derive(Clone)]
pub struct Sequence {
    tree: RunTree,
    records: Records,
    text: Rope,
    /// The greatest Lamport time of any element ever seen here.
    clock: u64,
    elements: u64,
    journal: Option<Journal>,
}

impl Default for Sequence {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Sequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sequence")
            .field("len", &self.len().0)
            .field("elements", &self.elements)
            .field("runs", &self.tree.run_count())
            .field("records", &self.records.len())
            .field("clock", &self.clock)
            .finish_non_exhaustive()
    }
}

impl Sequence {
    /// The empty sequence.
    #[must_use]
    pub fn new() -> Self {
        Self {
            tree: RunTree::new(),
            records: Records::default(),
            text: Rope::new(),
            clock: 0,
            elements: 0,
            journal: None,
        }
    }

    /// The visible length in characters.
    #[must_use]
    pub fn len(&self) -> Chars {
        Chars(self.tree.size().chars)
    }

    /// Whether nothing is visible.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == Chars(0)
    }

    /// The visible length in `unit`.
    #[must_use]
    pub fn len_in(&self, unit: Unit) -> usize {
        self.tree.size().get(unit)
    }

    /// The visible text.
    #[must_use]
    pub fn rope(&self) -> &Rope {
        &self.text
    }

    /// The visible text in pieces, in order.
    pub fn chunks(&self) -> impl Iterator<Item = &str> {
        self.text.chunks()
    }

    /// The visible characters.
    pub fn chars(&self) -> impl Iterator<Item = char> + '_ {
        self.text.chars()
    }

    /// The visible text between two positions.
    ///
    /// # Errors
    /// [`IndexError`] if a position is behind the end, or `to` lies before `from`.
    ///
    /// # Complexity
    /// O(log n + length).
    pub fn slice(&self, from: Chars, to: Chars) -> Result<String, IndexError> {
        let end = self.size_before(to)?.bytes;
        let start = self.size_before(from)?.bytes;
        if start > end {
            return Err(out_of_range(from.0, to.0, Unit::Chars));
        }
        Ok(self.copy(start, end))
    }

    /// The greatest Lamport time of any element that was ever here; a new one takes the next.
    #[must_use]
    pub fn clock(&self) -> u64 {
        self.clock
    }

    /// How many elements there are, hidden ones included.
    #[must_use]
    pub fn element_count(&self) -> u64 {
        self.elements
    }

    /// How many runs the tree holds; [`Sequence::runs`] may join some further.
    #[must_use]
    pub fn run_count(&self) -> usize {
        self.tree.run_count()
    }

    /// How many delete records there are.
    #[must_use]
    pub fn record_count(&self) -> u64 {
        self.records.len()
    }

    /// How many runs of delete records there are.
    #[must_use]
    pub fn record_run_count(&self) -> usize {
        self.records.run_count()
    }

    /// Whether this element is here, visible or hidden.
    #[must_use]
    pub fn contains(&self, id: EntryId) -> bool {
        self.locate(id).is_some()
    }

    /// Whether this element is here and visible; `None` if it is not here.
    #[must_use]
    pub fn is_visible(&self, id: EntryId) -> Option<bool> {
        self.locate(id)
            .map(|(at, _)| !self.tree.at(at.leaf, at.run).hidden)
    }

    /// The Lamport time of an element.
    #[must_use]
    pub fn lamport_of(&self, id: EntryId) -> Option<u64> {
        let (at, offset) = self.locate(id)?;
        Some(self.tree.at(at.leaf, at.run).lamport + u64::from(offset))
    }

    /// The left origin of an element, `Some(None)` if that is the start.
    ///
    /// # Complexity
    /// O(log n).
    #[must_use]
    #[allow(clippy::option_option)]
    pub fn origin_of(&self, id: EntryId) -> Option<Option<EntryId>> {
        let (at, offset) = self.locate(id)?;
        Some(self.origin_at(at, offset))
    }

    /// The character of a visible element.
    ///
    /// # Complexity
    /// O(log n).
    #[must_use]
    pub fn char_of(&self, id: EntryId) -> Option<char> {
        let (at, offset) = self.locate(id)?;
        let run = self.tree.at(at.leaf, at.run);
        if run.hidden {
            return None;
        }
        let before = self.tree.before(at);
        let byte = before.bytes + self.size_within(run, before, offset).bytes;
        self.text.byte_slice(byte..).chars().next()
    }

    /// The visible position of an element: how many visible characters stand before it.
    ///
    /// Also tells where a hidden element was.
    ///
    /// # Complexity
    /// O(log n).
    #[must_use]
    pub fn position_of(&self, id: EntryId) -> Option<Chars> {
        let (at, offset) = self.locate(id)?;
        let run = self.tree.at(at.leaf, at.run);
        let within = if run.hidden { 0 } else { offset as usize };
        Some(Chars(self.tree.before(at).chars + within))
    }

    /// The element that is visible at a position.
    ///
    /// # Complexity
    /// O(log n).
    #[must_use]
    pub fn id_at(&self, at: Chars) -> Option<EntryId> {
        let spot = self.tree.find(at.0, Unit::Chars)?;
        let run = self.tree.at(spot.leaf, spot.run);
        Some(self.id(run.author, run.names.nth((at.0 - spot.before.chars) as u32)))
    }

    /// A position given in `unit` in characters.
    ///
    /// # Errors
    /// [`IndexError`] if it lies behind the end or inside a character.
    ///
    /// # Complexity
    /// O(log n).
    pub fn chars_at(&self, index: usize, unit: Unit) -> Result<Chars, IndexError> {
        let len = self.len_in(unit);
        let Some(spot) = self.tree.find(index, unit) else {
            return if index == len {
                Ok(self.len())
            } else {
                Err(out_of_range(index, len, unit))
            };
        };
        let run = self.tree.at(spot.leaf, spot.run);
        let inside = IndexError {
            fault: IndexFault::InsideCharacter,
            index,
            len,
            unit,
        };
        let within = self
            .offset_within(run, spot.before, index, unit)
            .ok_or(inside)?;
        Ok(Chars(spot.before.chars + within))
    }

    /// A position in characters in `unit`.
    ///
    /// # Errors
    /// [`IndexError`] if it lies behind the end.
    ///
    /// # Complexity
    /// O(log n).
    pub fn units_at(&self, at: Chars, unit: Unit) -> Result<usize, IndexError> {
        Ok(self.size_before(at)?.get(unit))
    }

    fn size_before(&self, at: Chars) -> Result<Size, IndexError> {
        let Some(spot) = self.tree.find(at.0, Unit::Chars) else {
            let size = self.tree.size();
            let error = out_of_range(at.0, size.chars, Unit::Chars);
            return if at.0 == size.chars {
                Ok(size)
            } else {
                Err(error)
            };
        };
        let run = self.tree.at(spot.leaf, spot.run);
        let within = (at.0 - spot.before.chars) as u32;
        Ok(spot.before.plus(self.size_within(run, spot.before, within)))
    }

    fn locate(&self, id: EntryId) -> Option<(Gap, u32)> {
        self.tree
            .locate(self.tree.author_of(id.dot.replica)?, id.into())
    }

    fn id(&self, author: u32, name: Name) -> EntryId {
        name.at(self.tree.author(author).id)
    }

    /// The origin of the `offset`-th element of the run at `at`.
    //= Kernel rule R28, "rest implied": the nearest element to the left with a smaller id.
    fn origin_at(&self, at: Gap, offset: u32) -> Option<EntryId> {
        let run = self.tree.at(at.leaf, at.run);
        if let Some(before) = offset.checked_sub(1) {
            return Some(self.id(run.author, run.names.nth(before)));
        }
        let left = self.tree.smaller_left(at, run.key())?;
        let left = self.tree.at(left.leaf, left.run);
        let later = self.tree.author(left.author).id > self.tree.author(run.author).id;
        let smaller = (run.lamport - left.lamport).saturating_sub(u64::from(later));
        let last = smaller.min(u64::from(left.len() - 1)) as u32;
        Some(self.id(left.author, left.names.nth(last)))
    }

    /// The size of the first `offset` elements of a run that has `before` before it.
    fn size_within(&self, run: &Run, before: Size, offset: u32) -> Size {
        let size = run.size();
        let chars = offset as usize;
        if run.hidden || offset == 0 {
            return Size::default();
        }
        if chars == size.chars {
            return size;
        }
        if size.bytes == size.chars {
            return Size {
                chars,
                bytes: chars,
                utf16: chars,
            };
        }
        if size.utf16 == size.chars {
            let byte = self.text.byte_of_utf16_code_unit(before.utf16 + chars);
            return Size {
                chars,
                bytes: byte - before.bytes,
                utf16: chars,
            };
        }
        if size.utf16 == 2 * size.chars {
            return Size {
                chars,
                bytes: 4 * chars,
                utf16: 2 * chars,
            };
        }
        let text = self
            .text
            .byte_slice(before.bytes..before.bytes + size.bytes);
        text.chars()
            .take(chars)
            .fold(Size::default(), |sum, c| sum.plus(Size::of_char(c)))
    }

    /// How many characters of a run lie before `index`; `None` if that is inside a character.
    fn offset_within(&self, run: &Run, before: Size, index: usize, unit: Unit) -> Option<usize> {
        let size = run.size();
        let within = index - before.get(unit);
        if unit == Unit::Chars || size.get(unit) == size.chars {
            return Some(within);
        }
        if size.utf16 == 2 * size.chars {
            let width = if unit == Unit::Utf8 { 4 } else { 2 };
            return within.is_multiple_of(width).then_some(within / width);
        }
        if size.utf16 == size.chars {
            let boundary = self.text.is_char_boundary(index);
            return boundary.then(|| self.text.utf16_code_unit_of_byte(index) - before.utf16);
        }
        let text = self
            .text
            .byte_slice(before.bytes..before.bytes + size.bytes);
        let mut sum = Size::default();
        for c in text.chars() {
            if sum.get(unit) >= within {
                break;
            }
            sum = sum.plus(Size::of_char(c));
        }
        (sum.get(unit) == within).then_some(sum.chars)
    }

    fn copy(&self, start: usize, end: usize) -> String {
        let mut copy = String::with_capacity(end - start);
        for chunk in self.text.byte_slice(start..end).chunks() {
            copy.push_str(chunk);
        }
        copy
    }

    /// Hides `len` visible elements of the run at `spot` from the `offset`-th on.
    fn hide(&mut self, spot: Spot, offset: u32, len: u32) {
        let run = *self.tree.at(spot.leaf, spot.run);
        let left = self.size_within(&run, spot.before, offset);
        let upto = self.size_within(&run, spot.before, offset + len);
        let start = spot.before.bytes + left.bytes;
        let end = spot.before.bytes + upto.bytes;
        self.text.delete(start..end);
        let hidden = run.part(offset, len, Size::default()).hide();
        self.change(spot, offset, hidden, left, run.size().minus(upto));
    }

    /// Replaces the middle of a run, whose two sides have these sizes.
    fn change(&mut self, spot: Spot, offset: u32, middle: Run, left: Size, right: Size) {
        let run = *self.tree.at(spot.leaf, spot.run);
        let end = offset + middle.len();
        let mut parts = [Run::BLANK; 3];
        let mut len = 0;
        let mut put = |part: Run| {
            parts[len] = part;
            len += 1;
        };
        if offset > 0 {
            put(run.part(0, offset, left));
        }
        put(middle);
        if end < run.len() {
            put(run.part(end, run.len() - end, right));
        }
        self.tree.replace(spot, 1, &parts[..len], 0);
    }
}

fn out_of_range(index: usize, len: usize, unit: Unit) -> IndexError {
    IndexError {
        fault: IndexFault::OutOfRange,
        index,
        len,
        unit,
    }
}
