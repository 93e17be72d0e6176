//! Replicated text.

use alloc::string::{String, ToString};
use core::fmt;
use core::ops::Range;

use super::fragment::{decode_deletes, decode_names, encode_deletes, encode_names, name_all};
use super::sequence::{ElementRun, InsertRun, Part, PartError, Sequence};
use super::units::{Chars, Locate, Position, Utf8};
use crate::clock::{Dots, EntryId, Names, Version};
use crate::codec::{DecodeError, DecodeErrorKind as Kind, Decoder, Encoder};
use crate::kernel::{
    EditError, EditView, Fault, IndexError, IndexFault, MergeError, Place, Removable, Replicated,
    ShapeKind, Update,
};

/// Text that several people type in at once.
///
/// | | |
/// |---|---|
/// | conflict | A and B insert at one place: one insertion after the other, the same way everywhere; runs typed forwards never interleave (runs typed backwards may) |
/// | | A deletes what B types into: B's characters stay |
/// | delivery | any order, duplicates allowed; an early delta waits for its past |
/// | space | the visible text, about 50 bytes a run; deleted content is dropped, its run stays |
/// | not guaranteed | that a merged sentence makes sense |
///
/// Positions are typed: [`Chars`] (Unicode scalar values), [`Utf8`](super::Utf8) (bytes) or
/// [`Utf16`](super::Utf16) (code units, as editors and JavaScript count). One that is out of range
/// or inside a character is an error; nothing is rounded.
///
/// Edits, on the [`EditView`]: `insert`, `push_str`, `delete`, `replace`, `clear`.
///
/// Source: Roh et al. 2011, "Replicated abstract data types" (RGA), doi:10.1016/j.jpdc.2010.12.006.
///
/// # Examples
/// ```
/// use commute::text::{Chars, Utf8};
/// use commute::{Replica, ReplicaId, Text};
///
/// let mut a = Replica::<Text>::new(ReplicaId::from(1));
/// a.edit(|text| text.insert(Chars(0), "caf\u{e9}!"))?;
/// let mut b = a.fork_as(ReplicaId::from(2));
/// a.edit(|text| text.insert(Chars(4), " noir"))?;
/// b.edit(|text| text.delete(Chars(0)..Chars(1)))?;           // concurrent
/// b.edit(|text| text.insert(Chars(0), "C"))?;
/// a.merge(&b)?;
/// assert_eq!(a.to_string(), "Caf\u{e9} noir!");
/// assert!(a.edit(|text| text.insert(Utf8(4), "?")).is_err()); // inside the two bytes of U+E9
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Text {
    pub(super) sequence: Sequence,
}

impl Text {
    /// The length in the unit of `P`, as in `text.len::<Chars>()`. O(1).
    pub fn len<P: Position>(&self) -> P {
        P::of(self.sequence.len_in(P::UNIT))
    }

    /// Whether nothing is visible.
    pub fn is_empty(&self) -> bool {
        self.sequence.is_empty()
    }

    /// The visible characters in order.
    pub fn chars(&self) -> impl Iterator<Item = char> + '_ {
        self.sequence.chars()
    }

    /// The visible text in pieces, in order, without copying.
    pub fn chunks(&self) -> impl Iterator<Item = &str> {
        self.sequence.chunks()
    }

    /// A copy of the text within `range`.
    ///
    /// # Errors
    /// [`IndexError`] if an end is out of range or inside a character.
    ///
    /// # Complexity
    /// O(log n + length).
    ///
    /// # Examples
    /// ```
    /// # use commute::text::{Chars, Utf16};
    /// # use commute::{Replica, ReplicaId, Text};
    /// let mut a = Replica::<Text>::new(ReplicaId::from(1));
    /// a.edit(|text| text.insert(Chars(0), "\u{1F309} bridge"))?;
    /// assert_eq!(a.slice(Utf16(0)..Utf16(2))?, "\u{1F309}");
    /// assert!(a.slice(Utf16(0)..Utf16(1)).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn slice<P: Position>(&self, range: Range<P>) -> Result<String, IndexError> {
        let range = self.range(range)?;
        self.sequence.slice(range.start, range.end)
    }

    /// The same position in another unit, as in `text.convert::<_, Utf16>(Chars(3))`.
    ///
    /// # Errors
    /// [`IndexError`] if it is out of range or inside a character.
    ///
    /// # Complexity
    /// O(log n).
    ///
    /// # Examples
    /// ```
    /// # use commute::text::{Chars, Utf8, Utf16};
    /// # use commute::{Replica, ReplicaId, Text};
    /// let mut a = Replica::<Text>::new(ReplicaId::from(1));
    /// a.edit(|text| text.insert(Chars(0), "\u{1F309}\u{e9}"))?;
    /// assert_eq!(a.convert::<_, Utf16>(Chars(1))?, Utf16(2));
    /// assert_eq!(a.convert::<_, Chars>(Utf8(4))?, Chars(1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn convert<P: Position, Q: Position>(&self, at: P) -> Result<Q, IndexError> {
        Q::from_chars(at.to_chars(&self.sequence)?, &self.sequence)
    }

    /// How many runs of elements there are, hidden ones included: what memory grows with.
    pub fn runs(&self) -> usize {
        self.sequence.run_count()
    }

    fn range<P: Position>(&self, range: Range<P>) -> Result<Range<Chars>, IndexError> {
        if range.start.get() > range.end.get() {
            return Err(IndexError {
                fault: IndexFault::Backwards,
                index: range.start.get(),
                len: self.sequence.len_in(P::UNIT),
                unit: P::UNIT,
            });
        }
        let start = range.start.to_chars(&self.sequence)?;
        Ok(start..range.end.to_chars(&self.sequence)?)
    }

    /// Each element is one later than some other at most, so times cannot run ahead of elements.
    ///
    /// Without this one hostile delta could use up the Lamport time of the text.
    fn check_times(&self, part: &Part) -> Result<(), MergeError> {
        let new: u64 = part
            .inserts
            .iter()
            .map(|run| u64::from(run.names.len()))
            .sum();
        let most = self.sequence.clock().saturating_add(new);
        let last = |run: &InsertRun| run.lamport.saturating_add(u64::from(run.names.len() - 1));
        match part.inserts.iter().find(|run| last(run) > most) {
            Some(run) => {
                let at = run.names.first().at(run.replica);
                Err(MergeError::Invalid(Fault::LamportImpossible(at)))
            }
            None => Ok(()),
        }
    }

    /// The names of the visible elements, in order.
    pub(crate) fn ids(&self) -> impl Iterator<Item = EntryId> + '_ {
        let shown = self.sequence.runs().filter(|run| run.visible);
        shown.flat_map(|run| (0..run.names.len()).map(move |at| run.names.nth(at).at(run.replica)))
    }

    /// The name of the element that is visible at a position. O(log n).
    pub(crate) fn id_at(&self, at: usize) -> Option<EntryId> {
        self.sequence.id_at(Chars(at))
    }

    /// Where an element is visible. O(log n).
    pub(crate) fn position_of(&self, id: EntryId) -> Option<usize> {
        let visible = self.sequence.is_visible(id)?;
        let at = self.sequence.position_of(id)?;
        visible.then_some(at.0)
    }

    /// Whether there is such an element, visible or hidden. O(log n).
    pub(crate) fn has(&self, id: EntryId) -> bool {
        self.sequence.contains(id)
    }

    pub(crate) fn insert_at(
        &mut self,
        at: Chars,
        text: &str,
        update: &mut Update,
    ) -> Result<(), EditError> {
        let count = text.chars().count();
        if count == 0 {
            return Ok(());
        }
        let first = update.sequence_entries(count)?;
        self.sequence.begin_if_settled();
        self.sequence.insert(at, text, first)?;
        Ok(())
    }

    pub(crate) fn delete_range(
        &mut self,
        range: Range<Chars>,
        update: &mut Update,
    ) -> Result<(), EditError> {
        let count = range.end.0 - range.start.0;
        if count == 0 {
            return Ok(());
        }
        let first = update.sequence_entries(count)?;
        self.sequence.begin_if_settled();
        self.sequence.delete(range.start, range.end, first)?;
        Ok(())
    }
}

impl EditView<'_, Text> {
    /// Inserts `text` before the position `at`. An empty text has no effect.
    ///
    /// The new characters follow their left neighbour as it is now, whatever is typed elsewhere.
    ///
    /// # Errors
    /// [`EditError::Index`] if `at` is out of range or inside a character.
    ///
    /// # Complexity
    /// O(log n + length); typing on at one place costs O(length).
    ///
    /// # Examples
    /// ```
    /// # use commute::text::{Chars, Utf8};
    /// # use commute::{Replica, ReplicaId, Text};
    /// let mut a = Replica::<Text>::new(ReplicaId::from(1));
    /// a.edit(|text| text.insert(Chars(0), "\u{e9}t"))?;
    /// a.edit(|text| text.insert(Utf8(3), "\u{e9}"))?;
    /// assert_eq!(a.to_string(), "\u{e9}t\u{e9}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn insert<P: Position>(&mut self, at: P, text: &str) -> Result<(), EditError> {
        let at = at.to_chars(&self.state.sequence)?;
        self.state.insert_at(at, text, self.update)
    }

    /// Adds `text` at the end.
    ///
    /// # Errors
    /// [`EditError::TooManyEntries`].
    ///
    /// # Complexity
    /// As an insertion.
    pub fn push_str(&mut self, text: &str) -> Result<(), EditError> {
        self.insert(self.state.len::<Chars>(), text)
    }

    /// Deletes all that is visible here; what is typed concurrently stays.
    ///
    /// # Errors
    /// None today; the result keeps the verbs alike.
    ///
    /// # Complexity
    /// O(log n) a run, and the length.
    pub fn clear(&mut self) -> Result<(), EditError> {
        self.delete(Chars(0)..self.state.len::<Chars>())
    }

    /// Deletes what is visible within `range`; characters typed into it concurrently stay.
    ///
    /// An empty range has no effect.
    ///
    /// # Errors
    /// [`EditError::Index`] if an end is out of range or inside a character.
    ///
    /// # Complexity
    /// O(log n) a run, and the length.
    ///
    /// # Examples
    /// ```
    /// # use commute::text::{Chars, Utf16};
    /// # use commute::{Replica, ReplicaId, Text};
    /// let mut a = Replica::<Text>::new(ReplicaId::from(1));
    /// a.edit(|text| text.insert(Chars(0), "a\u{1F309}b"))?;
    /// assert!(a.edit(|text| text.delete(Utf16(2)..Utf16(3))).is_err());
    /// a.edit(|text| text.delete(Utf16(1)..Utf16(3)))?;
    /// assert_eq!(a.to_string(), "ab");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn delete<P: Position>(&mut self, range: Range<P>) -> Result<(), EditError> {
        let range = self.state.range(range)?;
        self.state.delete_range(range, self.update)
    }

    /// Deletes what is visible within `range` and inserts `text` there.
    ///
    /// # Errors
    /// As [`delete`](EditView::delete).
    ///
    /// # Complexity
    /// As a deletion and an insertion.
    ///
    /// # Examples
    /// ```
    /// # use commute::text::{Chars, Utf8};
    /// # use commute::{Replica, ReplicaId, Text};
    /// let mut a = Replica::<Text>::new(ReplicaId::from(1));
    /// a.edit(|text| text.insert(Chars(0), "na\u{ef}ve"))?;
    /// a.edit(|text| text.replace(Utf8(2)..Utf8(4), "i"))?;
    /// assert_eq!(a.to_string(), "naive");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn replace<P: Position>(&mut self, range: Range<P>, text: &str) -> Result<(), EditError> {
        let range = self.state.range(range)?;
        let start = range.start;
        self.state.delete_range(range, self.update)?;
        self.state.insert_at(start, text, self.update)
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.chunks().try_for_each(|chunk| f.write_str(chunk))
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.to_string())
    }
}

/// Of the same characters.
impl PartialEq for Text {
    fn eq(&self, other: &Text) -> bool {
        self.len::<Utf8>() == other.len::<Utf8>() && self.chars().eq(other.chars())
    }
}

impl Eq for Text {}

impl PartialEq<str> for Text {
    fn eq(&self, other: &str) -> bool {
        let mut rest = other;
        let all = self.chunks().all(|chunk| match rest.strip_prefix(chunk) {
            Some(after) => {
                rest = after;
                true
            }
            None => false,
        });
        all && rest.is_empty()
    }
}

impl PartialEq<&str> for Text {
    fn eq(&self, other: &&str) -> bool {
        *self == **other
    }
}

impl PartialEq<String> for Text {
    fn eq(&self, other: &String) -> bool {
        *self == **other
    }
}

impl PartialEq<Text> for str {
    fn eq(&self, other: &Text) -> bool {
        other == self
    }
}

impl PartialEq<Text> for &str {
    fn eq(&self, other: &Text) -> bool {
        other == *self
    }
}

impl PartialEq<Text> for String {
    fn eq(&self, other: &Text) -> bool {
        other == &**self
    }
}

fn refused(error: PartError) -> MergeError {
    MergeError::Invalid(match error {
        PartError::UnknownOrigin(at) => Fault::OriginMissing(at),
        PartError::UnknownTarget(at) | PartError::NotTargeted(at) => Fault::TargetMissing(at),
        PartError::Lamport(at) | PartError::NotAfterOrigin(at) => Fault::LamportImpossible(at),
        _ => Fault::NameTwice,
    })
}

impl Replicated for Text {
    type Part = Part;
    type Edit<'a> = EditView<'a, Text>;
    type View = String;

    fn kind(_: Place) -> ShapeKind {
        ShapeKind::Seq
    }

    fn empty(_: Place) -> Text {
        Text {
            sequence: Sequence::new(),
        }
    }

    fn edit<'a>(&'a mut self, update: &'a mut Update) -> EditView<'a, Text> {
        EditView::new(self, update)
    }

    fn view(&self) -> String {
        self.to_string()
    }

    fn visible(&self) -> bool {
        !self.is_empty()
    }

    fn is_bottom(&self) -> bool {
        self.entries() == 0
    }

    fn entries(&self) -> u64 {
        self.sequence.element_count() + self.sequence.record_count()
    }

    fn names(&self, of: &Dots, out: &mut Names) {
        for (replica, first, last) in of.ranges() {
            let runs = self.sequence.names_of(replica, first, last);
            runs.for_each(|run| name_all(out, replica, run));
        }
    }

    fn part(&self, of: &Dots) -> Part {
        let mut part = Part::default();
        for (replica, first, last) in of.ranges() {
            self.sequence.part(replica, first, last, &mut part);
        }
        part
    }

    fn check(&self, part: &Part, _: &Version) -> Result<u64, MergeError> {
        self.sequence.check(part).map_err(refused)?;
        self.check_times(part)?;
        let held = self.sequence.matching(part);
        held.map_err(|id| MergeError::IdentityReused {
            replica: id.dot.replica,
        })
    }

    fn check_kill(&self, names: &Names) -> Result<(), MergeError> {
        let mut mine = Names::new();
        self.names(&names.dots(), &mut mine);
        match mine.intersection(names).is_empty() {
            true => Ok(()),
            false => Err(MergeError::NeedsNewer),
        }
    }

    fn kill(&mut self, _: &Names) {
        // `check_kill` lets no element or record through: only a collection will drop any.
    }

    fn adopt(&mut self, part: Part, _: &Version) {
        let adopted = self.sequence.absorb(&part);
        debug_assert_eq!(adopted, Ok(()), "`check` precedes `adopt`");
    }

    fn check_join(
        &self,
        mine: &Version,
        other: &Text,
        theirs: &Version,
    ) -> Result<u64, MergeError> {
        self.check(&other.part(&Dots::from(theirs)), mine)
    }

    fn join(&mut self, mine: &Version, other: &Text, theirs: &Version) {
        self.adopt(other.part(&theirs.difference(mine)), mine);
    }

    fn publish(&mut self, update: &Update) -> Part {
        self.sequence.settle();
        self.part(&Dots::from(update.dot()))
    }

    fn rollback(&mut self) {
        self.sequence.rollback();
    }

    fn encode(&self, encoder: &mut Encoder, _: Place) {
        encoder.varint(self.sequence.clock());
        encoder.nested(|e| self.chunks().for_each(|chunk| e.raw(chunk.as_bytes())));
        let runs: alloc::vec::Vec<ElementRun> = self.sequence.runs().collect();
        encoder.varint(runs.len() as u64);
        for run in &runs {
            encoder.replica(run.replica);
            encode_names(run.names, run.visible, encoder);
            encoder.varint(run.lamport);
        }
        let records: alloc::vec::Vec<_> = self.sequence.record_runs().collect();
        encode_deletes(records.iter(), encoder);
    }

    fn decode(decoder: &mut Decoder<'_>, _: Place) -> Result<Text, DecodeError> {
        let clock = decoder.varint()?;
        let text = decoder.text()?;
        let count = decoder.count(5)?;
        let mut runs = alloc::vec::Vec::with_capacity(count);
        for _ in 0..count {
            let replica = decoder.replica()?;
            let (names, visible) = decode_names(decoder)?;
            let lamport = decoder.varint()?;
            runs.push(ElementRun {
                replica,
                names,
                lamport,
                visible,
            });
        }
        let records = decode_deletes(decoder)?;
        let built = Sequence::build(&runs, text, &records, clock);
        let sequence = built.map_err(|_| decoder.error(Kind::Inconsistent))?;
        let maximal = sequence.runs().eq(runs) && sequence.record_runs().eq(records);
        decoder.require(maximal, Kind::NotCanonical)?;
        Ok(Text { sequence })
    }
}

impl Removable for Text {
    /// Deletes all that is visible; what is inserted concurrently stays.
    fn reset(&mut self, update: &mut Update) -> Result<(), EditError> {
        let all = Chars(0)..self.len::<Chars>();
        self.delete_range(all, update)
    }
}

#[cfg(test)]
mod tests {
    use super::super::name_run::{Name, NameRun};
    use super::*;
    use crate::clock::ReplicaId;

    #[test]
    fn a_time_that_no_element_can_have_is_refused() {
        let one = |lamport| Part {
            inserts: alloc::vec![InsertRun {
                replica: ReplicaId::from(1),
                names: NameRun::one(Name {
                    counter: 1,
                    index: 0
                }),
                lamport,
                origin: None,
                text: Some("x".into()),
            }],
            deletes: alloc::vec![],
        };
        let text = Text::empty(Place::Kept);
        assert_eq!(text.check(&one(1), &Version::new()), Ok(0));
        for lamport in [2, u64::MAX - 2] {
            let refused = text.check(&one(lamport), &Version::new());
            let fault = Fault::LamportImpossible(
                Name {
                    counter: 1,
                    index: 0,
                }
                .at(ReplicaId::from(1)),
            );
            assert_eq!(refused, Err(MergeError::Invalid(fault)));
        }
    }
}
