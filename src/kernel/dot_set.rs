//! A set of entries without payload.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use super::{
    EditError, EditView, Journal, MergeError, Part, Place, Removable, Replicated, ShapeKind, Update,
};
use crate::clock::{Dots, EntryId, Names, ReplicaId, Version};
use crate::codec::{DecodeError, DecodeErrorKind, Decoder, Encoder};

/// A set of entries: present as long as one is live.
///
/// Source: Almeida et al. 2018, section 7 (dot store `DotSet`).
#[derive(Clone, Debug, Default)]
pub struct DotSet {
    // Ascending. Few at any time: as many as there were concurrent additions.
    entries: Vec<EntryId>,
    journal: Journal<Undo>,
}

#[derive(Clone, Copy, Debug)]
enum Undo {
    Added(EntryId),
    Killed(EntryId),
}

impl DotSet {
    /// The live entries, ascending.
    pub fn iter(&self) -> impl Iterator<Item = EntryId> + '_ {
        self.entries.iter().copied()
    }

    /// Whether no entry is live.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Adds a new entry, which replaces all that are seen here.
    ///
    /// # Errors
    /// [`EditError::TooManyEntries`].
    pub fn add(&mut self, update: &mut Update) -> Result<EntryId, EditError> {
        let entry = update.entry()?;
        self.clear(update);
        self.insert(entry);
        self.journal.push(Undo::Added(entry));
        Ok(entry)
    }

    /// Kills all entries seen here; returns whether there was one.
    pub fn clear(&mut self, update: &mut Update) -> bool {
        let any = !self.entries.is_empty();
        for entry in core::mem::take(&mut self.entries) {
            update.kill(entry);
            self.journal.push(Undo::Killed(entry));
        }
        any
    }

    fn insert(&mut self, entry: EntryId) {
        if let Err(at) = self.entries.binary_search(&entry) {
            self.entries.insert(at, entry);
        }
    }

    fn remove(&mut self, entry: EntryId) {
        if let Ok(at) = self.entries.binary_search(&entry) {
            self.entries.remove(at);
        }
    }
}

impl PartialEq for DotSet {
    fn eq(&self, other: &DotSet) -> bool {
        self.entries == other.entries
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
        self.entries.len() as u64
    }

    fn names(&self, of: &Dots, out: &mut Names) {
        let chosen = self.iter().filter(|entry| of.contains(entry.dot));
        out.union_with(&chosen.collect());
    }

    fn part(&self, of: &Dots) -> DotSetPart {
        DotSetPart(self.iter().filter(|entry| of.contains(entry.dot)).collect())
    }

    fn check(&self, part: &DotSetPart, _: &Version) -> Result<u64, MergeError> {
        let held = |entry: &&EntryId| self.entries.binary_search(entry).is_ok();
        Ok(part.0.iter().filter(held).count() as u64)
    }

    fn check_kill(&self, _: &Names) -> Result<(), MergeError> {
        Ok(())
    }

    fn kill(&mut self, names: &Names) {
        self.entries.retain(|entry| !names.contains(*entry));
    }

    fn adopt(&mut self, part: DotSetPart, known: &Version) {
        let new = part
            .0
            .into_iter()
            .filter(|entry| !known.contains(entry.dot));
        new.for_each(|entry| self.insert(entry));
    }

    fn check_join(&self, mine: &Version, other: &Self, _: &Version) -> Result<u64, MergeError> {
        self.check(&DotSetPart(other.entries.clone()), mine)
    }

    fn join(&mut self, mine: &Version, other: &Self, theirs: &Version) {
        let common = |entry: &EntryId| other.entries.binary_search(entry).is_ok();
        self.entries
            .retain(|entry| common(entry) || !theirs.contains(entry.dot));
        let new = other.iter().filter(|entry| !mine.contains(entry.dot));
        new.for_each(|entry| self.insert(entry));
    }

    fn publish(&mut self, update: &Update) -> DotSetPart {
        self.journal.take();
        DotSetPart(self.iter().filter(|entry| update.owns(*entry)).collect())
    }

    fn rollback(&mut self) {
        for undo in self.journal.take().into_iter().rev() {
            match undo {
                Undo::Added(entry) => self.remove(entry),
                Undo::Killed(entry) => self.insert(entry),
            }
        }
    }

    fn encode(&self, encoder: &mut Encoder, _: Place) {
        encode(&self.entries, encoder);
    }

    fn decode(decoder: &mut Decoder<'_>, _: Place) -> Result<DotSet, DecodeError> {
        Ok(DotSet {
            entries: decode(decoder)?,
            journal: Journal::new(),
        })
    }
}

impl Removable for DotSet {
    fn reset(&mut self, update: &mut Update) -> Result<(), EditError> {
        self.clear(update);
        Ok(())
    }
}

fn encode(entries: &[EntryId], encoder: &mut Encoder) {
    encoder.varint(entries.len() as u64);
    entries.iter().for_each(|entry| encoder.entry(*entry));
}

fn decode(decoder: &mut Decoder<'_>) -> Result<Vec<EntryId>, DecodeError> {
    let count = decoder.count(3)?;
    let mut entries = Vec::with_capacity(count);
    for _ in 0..count {
        let entry = decoder.entry()?;
        let ascending = entries.last().is_none_or(|last| *last < entry);
        decoder.require(ascending, DecodeErrorKind::NotCanonical)?;
        entries.push(entry);
    }
    Ok(entries)
}

/// Some entries of a [`DotSet`].
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct DotSetPart(Vec<EntryId>);

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
        encode(&self.0, encoder);
    }

    fn decode(decoder: &mut Decoder<'_>, _: Place) -> Result<DotSetPart, DecodeError> {
        Ok(DotSetPart(decode(decoder)?))
    }
}
