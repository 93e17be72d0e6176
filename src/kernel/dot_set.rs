//! A set of entries without payload.

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::mem;

use smallvec::{SmallVec, smallvec};

use super::{
    EditError, EditView, MergeError, Part, Place, Removable, Replicated, ShapeKind, Update,
};
use crate::clock::{Dot, Dots, EntryId, Names, ReplicaId, Version};
use crate::codec::{DecodeError, Decoder, Encoder};

/// A set of entries: present as long as one is live.
///
/// Source: Almeida et al. 2018, section 7 (dot store `DotSet`).
#[derive(Clone, Debug, Default)]
pub struct DotSet {
    form: Form,
}

/// What is live, and what was before the running update: 32 bytes and no allocation for an element
/// that was added once, is added or is removed, which is what nearly all elements of sets are.
#[derive(Clone, Debug, Default)]
enum Form {
    #[default]
    Empty,
    One(Compact),
    /// Made by the running update; before it there was none.
    Fresh(Compact),
    /// Killed by the running update; before it there was this one.
    Gone(Compact),
    #[expect(
        clippy::box_collection,
        reason = "one word, so that the usual single entry decides the size"
    )]
    Many(Box<Vec<EntryId>>),
    Edited(Box<Edited>),
}

/// An [`EntryId`] in 28 bytes, so that the form fits beside it.
#[derive(Clone, Copy, Debug)]
#[repr(C, packed(4))]
struct Compact {
    counter: u64,
    replica: ReplicaId,
    index: u32,
}

/// Ascending. As many as there were concurrent additions.
type Entries = SmallVec<[EntryId; 1]>;

#[derive(Clone, Debug)]
struct Edited {
    before: Entries,
    now: Entries,
}

impl Compact {
    fn new(entry: EntryId) -> Compact {
        Compact {
            counter: entry.dot.counter,
            replica: entry.dot.replica,
            index: entry.index,
        }
    }

    fn entry(self) -> EntryId {
        EntryId::new(Dot::new(self.replica, self.counter), self.index)
    }
}

impl DotSet {
    /// The live entries, ascending.
    pub fn iter(&self) -> impl Iterator<Item = EntryId> + '_ {
        let (one, many) = match &self.form {
            Form::Empty | Form::Gone(_) => (None, &[][..]),
            Form::One(entry) | Form::Fresh(entry) => (Some(entry.entry()), &[][..]),
            Form::Many(entries) => (None, &entries[..]),
            Form::Edited(edited) => (None, &edited.now[..]),
        };
        one.into_iter().chain(many.iter().copied())
    }

    /// Whether no entry is live.
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }

    /// Adds a new entry, which replaces all that are seen here.
    ///
    /// # Errors
    /// [`EditError::TooManyEntries`].
    pub fn add(&mut self, update: &mut Update) -> Result<EntryId, EditError> {
        let entry = update.entry()?;
        match self.form {
            Form::Empty | Form::Fresh(_) => self.form = Form::Fresh(Compact::new(entry)),
            _ => self.replace(smallvec![entry], update),
        }
        Ok(entry)
    }

    /// Kills all entries seen here; returns whether there was one.
    pub fn clear(&mut self, update: &mut Update) -> bool {
        match self.form {
            Form::Empty | Form::Gone(_) => return false,
            Form::Fresh(_) => self.form = Form::Empty,
            Form::One(entry) => {
                update.kill(entry.entry());
                self.form = Form::Gone(entry);
            }
            _ => {
                let any = !self.is_empty();
                self.replace(Entries::new(), update);
                return any;
            }
        }
        true
    }

    /// Kills what is live, in favour of `now`.
    fn replace(&mut self, now: Entries, update: &mut Update) {
        self.iter().for_each(|entry| update.kill(entry));
        let before = match mem::take(&mut self.form) {
            Form::Empty | Form::Fresh(_) => Entries::new(),
            Form::One(entry) | Form::Gone(entry) => smallvec![entry.entry()],
            Form::Many(entries) => Entries::from_vec(*entries),
            Form::Edited(edited) => edited.before,
        };
        self.form = Form::Edited(Box::new(Edited { before, now }));
    }

    /// Changes what is live, apart from any update.
    fn change(&mut self, change: impl FnOnce(&mut Entries)) {
        let mut entries = self.iter().collect();
        change(&mut entries);
        self.form = Form::of(entries);
    }
}

impl Form {
    /// Nothing, one or many, with no update running.
    fn of(entries: Entries) -> Form {
        match entries[..] {
            [] => Form::Empty,
            [entry] => Form::One(Compact::new(entry)),
            _ => Form::Many(Box::new(entries.into_vec())),
        }
    }
}

fn insert(entries: &mut Entries, entry: EntryId) {
    if let Err(at) = entries.binary_search(&entry) {
        entries.insert(at, entry);
    }
}

impl PartialEq for DotSet {
    fn eq(&self, other: &DotSet) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Replicated for DotSet {
    type Part = DotSetPart;
    type Edit<'a> = EditView<'a, DotSet>;
    type View = bool;

    fn kind(_: Place) -> ShapeKind {
        ShapeKind::DotSet
    }

    fn empty(_: Place) -> DotSet {
        DotSet::default()
    }

    fn edit<'a>(&'a mut self, update: &'a mut Update) -> EditView<'a, DotSet> {
        EditView::new(self, update)
    }

    fn view(&self) -> bool {
        self.visible()
    }

    fn visible(&self) -> bool {
        !self.is_empty()
    }

    fn is_bottom(&self) -> bool {
        self.is_empty()
    }

    fn entries(&self) -> u64 {
        self.iter().count() as u64
    }

    fn for_each_entry(&self, of: &Dots, visit: &mut dyn FnMut(EntryId)) {
        let chosen = self.iter().filter(|entry| of.contains(entry.dot));
        chosen.for_each(visit);
    }

    fn names(&self, of: &Dots, out: &mut Names) {
        let chosen = self.iter().filter(|entry| of.contains(entry.dot));
        out.union_with(&chosen.collect());
    }

    fn is_one_place() -> bool {
        true
    }

    fn part(&self, of: &Dots) -> DotSetPart {
        DotSetPart(self.iter().filter(|entry| of.contains(entry.dot)).collect())
    }

    fn check(&self, part: &DotSetPart, _: &Version) -> Result<u64, MergeError> {
        let held = |entry: &EntryId| part.0.binary_search(entry).is_ok();
        Ok(self.iter().filter(held).count() as u64)
    }

    fn check_kill(&self, _: &Names) -> Result<(), MergeError> {
        Ok(())
    }

    fn kill(&mut self, names: &Names) {
        self.change(|entries| entries.retain(|entry| !names.contains(*entry)));
    }

    fn adopt(&mut self, part: DotSetPart, known: &Version) {
        let mut new = part.0;
        new.retain(|entry| !known.contains(entry.dot));
        self.change(|entries| new.into_iter().for_each(|entry| insert(entries, entry)));
    }

    fn check_join(&self, _: &Version, other: &Self, _: &Version) -> Result<u64, MergeError> {
        if let (Form::One(mine), Form::One(theirs)) = (&self.form, &other.form) {
            return Ok(u64::from(mine.entry() == theirs.entry()));
        }
        self.check(&DotSetPart(other.iter().collect()), &Version::new())
    }

    fn join(&mut self, mine: &Version, other: &Self, theirs: &Version) {
        let others: Entries = other.iter().collect();
        let common = |entry: &EntryId| others.binary_search(entry).is_ok();
        self.change(|entries| {
            entries.retain(|entry| common(entry) || !theirs.contains(entry.dot));
            let new = others.iter().filter(|entry| !mine.contains(entry.dot));
            new.for_each(|entry| insert(entries, *entry));
        });
    }

    fn publish(&mut self, update: &Update) -> DotSetPart {
        if let Form::Fresh(entry) = self.form {
            self.form = Form::One(entry);
            return DotSetPart(smallvec![entry.entry()]);
        }
        self.form = match mem::take(&mut self.form) {
            Form::Gone(_) => Form::Empty,
            Form::Edited(edited) => Form::of(edited.now),
            as_it_was => as_it_was,
        };
        DotSetPart(self.iter().filter(|entry| update.owns(*entry)).collect())
    }

    fn rollback(&mut self) {
        self.form = match mem::take(&mut self.form) {
            Form::Fresh(_) => Form::Empty,
            Form::Gone(entry) => Form::One(entry),
            Form::Edited(edited) => Form::of(edited.before),
            as_it_was => as_it_was,
        };
    }

    fn encode(&self, encoder: &mut Encoder, _: Place) {
        encode(self.entries() as usize, self.iter(), encoder);
    }

    fn decode(decoder: &mut Decoder<'_>, _: Place) -> Result<DotSet, DecodeError> {
        Ok(DotSet {
            form: Form::of(decode(decoder)?),
        })
    }
}

impl Removable for DotSet {
    fn reset(&mut self, update: &mut Update) -> Result<(), EditError> {
        self.clear(update);
        Ok(())
    }
}

fn encode(count: usize, entries: impl Iterator<Item = EntryId>, encoder: &mut Encoder) {
    encoder.entries(count, entries.map(|entry| (entry, ())), |_, ()| {});
}

fn decode(decoder: &mut Decoder<'_>) -> Result<Entries, DecodeError> {
    let mut entries = Entries::new();
    decoder.entries(0, |_, entry| {
        entries.push(entry);
        Ok(())
    })?;
    Ok(entries)
}

/// Some entries of a [`DotSet`].
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct DotSetPart(Entries);

impl Part for DotSetPart {
    fn kind(_: Place) -> ShapeKind {
        ShapeKind::DotSet
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn entries(&self) -> u64 {
        self.0.len() as u64
    }

    fn names(&self, out: &mut Names) {
        out.union_with(&self.0.iter().copied().collect());
    }

    fn for_each_entry(&self, visit: &mut dyn FnMut(EntryId)) {
        self.0.iter().copied().for_each(visit);
    }

    fn replicas(&self, out: &mut BTreeSet<ReplicaId>) {
        out.extend(self.0.iter().map(|entry| entry.dot.replica));
    }

    fn restrict(&mut self, dots: &Dots) {
        self.0.retain(|entry| dots.contains(entry.dot));
    }

    fn remove(&mut self, names: &Names) {
        self.0.retain(|entry| !names.contains(*entry));
    }

    fn union(&mut self, other: DotSetPart) -> Result<(), MergeError> {
        self.0.extend(other.0);
        self.0.sort_unstable();
        self.0.dedup();
        Ok(())
    }

    fn content(&self, out: &mut Vec<u8>) {
        self.0
            .iter()
            .for_each(|entry| out.extend_from_slice(&entry.index.to_le_bytes()));
    }

    fn encode(&self, encoder: &mut Encoder, _: Place) {
        encode(self.0.len(), self.0.iter().copied(), encoder);
    }

    fn decode(decoder: &mut Decoder<'_>, _: Place) -> Result<DotSetPart, DecodeError> {
        Ok(DotSetPart(decode(decoder)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_element_takes_no_more_than_its_entry() {
        assert_eq!(size_of::<DotSet>(), size_of::<EntryId>());
    }
}
