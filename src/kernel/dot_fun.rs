//! Entries with a payload each.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::mem;

use smallvec::SmallVec;

use super::sorted::union;
use super::{
    EditError, EditView, EntryMap, Journal, MergeError, Part, Place, Removable, Replicated,
    ShapeKind, Update, Values, fields,
};
use crate::clock::{Dots, EntryId, Names, ReplicaId, Version};
use crate::codec::{DecodeError, Decoder, Encoder, Payload};

/// Entries with a payload each: what is live are the concurrent values.
///
/// Source: Almeida et al. 2018, section 7 (dot store `DotFun`).
#[derive(Clone, Debug)]
pub struct DotFun<V> {
    entries: EntryMap<V>,
    journal: Journal<Undo<V>>,
}

#[derive(Clone, Debug)]
enum Undo<V> {
    Added(EntryId),
    Killed(EntryId, V),
}

impl<V: Payload> DotFun<V> {
    /// The live entries, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (EntryId, &V)> {
        self.entries.iter()
    }

    /// The payloads of the live entries, in the order of these.
    pub fn values(&self) -> Values<'_, V> {
        Values::new(self.entries.values())
    }

    /// The number of live entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether no entry is live.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Adds an entry beside those that are live.
    ///
    /// # Errors
    /// [`EditError::TooManyEntries`].
    pub fn add(&mut self, value: V, update: &mut Update) -> Result<EntryId, EditError> {
        let entry = update.entry()?;
        self.entries.insert(entry, value);
        self.journal.push(Undo::Added(entry));
        Ok(entry)
    }

    /// The newest entry that `update` itself has made here, to be changed.
    pub(crate) fn own_mut(&mut self, update: &Update) -> Option<&mut V> {
        self.entries.newest_mut(update.dot())
    }

    /// Kills the live entries for which `doomed` holds; returns whether there was one.
    pub fn kill_if(
        &mut self,
        update: &mut Update,
        mut doomed: impl FnMut(EntryId, &V) -> bool,
    ) -> bool {
        let doomed = self.iter().filter(|(entry, value)| doomed(*entry, value));
        let doomed: Vec<EntryId> = doomed.map(|(entry, _)| entry).collect();
        for entry in &doomed {
            if let Some(value) = self.entries.remove(*entry) {
                update.kill(*entry);
                self.journal.push(Undo::Killed(*entry, value));
            }
        }
        !doomed.is_empty()
    }
}

impl DotFun<bool> {
    /// Whether there are entries and each of them is `true`: `false` wins over what is concurrent.
    pub(crate) fn is_all_true(&self) -> bool {
        !self.entries.is_empty() && self.entries.values().all(|on| *on)
    }
}

/// How many of `theirs` are live in `mine`; all of these must be equal.
fn matches<'a, V: Payload>(
    mine: &EntryMap<V>,
    theirs: impl Iterator<Item = (EntryId, &'a V)>,
) -> Result<u64, MergeError> {
    let mut common = 0;
    for (entry, value) in theirs {
        if let Some(held) = mine.get(entry) {
            same(entry, held, value)?;
            common += 1;
        }
    }
    Ok(common)
}

fn same<V: Payload>(entry: EntryId, mine: &V, theirs: &V) -> Result<(), MergeError> {
    match mine == theirs {
        true => Ok(()),
        false => Err(MergeError::IdentityReused {
            replica: entry.dot.replica,
        }),
    }
}

impl<V: Payload> Replicated for DotFun<V> {
    type Part = DotFunPart<V>;
    type Edit<'a> = EditView<'a, DotFun<V>>;
    type View = Vec<V>;

    fn kind(_: Place) -> ShapeKind {
        ShapeKind::DotFun
    }

    fn empty(_: Place) -> DotFun<V> {
        DotFun {
            entries: EntryMap::new(),
            journal: Journal::new(),
        }
    }

    fn edit<'a>(&'a mut self, update: &'a mut Update) -> EditView<'a, DotFun<V>> {
        EditView::new(self, update)
    }

    fn view(&self) -> Vec<V> {
        self.entries.values().cloned().collect()
    }

    fn visible(&self) -> bool {
        !self.entries.is_empty()
    }

    fn is_bottom(&self) -> bool {
        self.entries.is_empty()
    }

    fn entries(&self) -> u64 {
        self.entries.len() as u64
    }

    fn names(&self, of: &Dots, out: &mut Names) {
        out.union_with(&self.entries.among(of).map(|(entry, _)| entry).collect());
    }

    fn for_each_entry(&self, of: &Dots, visit: &mut dyn FnMut(EntryId)) {
        self.entries.among(of).for_each(|(entry, _)| visit(entry));
    }

    fn is_one_place() -> bool {
        true
    }

    fn part(&self, of: &Dots) -> DotFunPart<V> {
        let chosen = self.entries.among(of);
        DotFunPart(
            chosen
                .map(|(entry, value)| (entry, value.clone()))
                .collect(),
        )
    }

    fn check(&self, part: &DotFunPart<V>, _: &Version) -> Result<u64, MergeError> {
        let theirs = part.0.iter().map(|(entry, value)| (*entry, value));
        matches(&self.entries, theirs)
    }

    fn check_kill(&self, _: &Names) -> Result<(), MergeError> {
        Ok(())
    }

    fn kill(&mut self, names: &Names) {
        let held = names.iter().filter_map(|entry| self.entries.remove(entry));
        held.for_each(drop);
    }

    fn adopt(&mut self, part: DotFunPart<V>, known: &Version) {
        let new = part.0.into_iter();
        let new = new.filter(|(entry, _)| !known.contains(entry.dot));
        self.entries.extend(new.collect());
    }

    fn check_join(&self, _: &Version, other: &Self, _: &Version) -> Result<u64, MergeError> {
        matches(&self.entries, other.iter())
    }

    fn join(&mut self, mine: &Version, other: &Self, theirs: &Version) {
        for entry in self.entries.dead_in(&other.entries, theirs) {
            self.entries.remove(entry);
        }
        let new = other.entries.beyond(mine);
        let new = new.map(|(entry, value)| (entry, value.clone()));
        self.entries.extend(new.collect());
    }

    fn publish(&mut self, update: &Update) -> DotFunPart<V> {
        self.journal.take();
        self.part(&Dots::from(update.dot()))
    }

    fn rollback(&mut self) {
        let mut added = Vec::new();
        let mut killed = Vec::new();
        for undo in self.journal.take() {
            match undo {
                Undo::Added(entry) => added.push(entry),
                Undo::Killed(entry, value) => killed.push((entry, value)),
            }
        }
        // All at once, since what comes back is not the newest.
        self.entries.extend(killed);
        for entry in added {
            self.entries.remove(entry);
        }
    }

    fn encode(&self, encoder: &mut Encoder, _: Place) {
        encode(self.len(), self.iter(), encoder);
    }

    fn decode(decoder: &mut Decoder<'_>, _: Place) -> Result<DotFun<V>, DecodeError> {
        let mut entries = EntryMap::new();
        decode(decoder, |entry, value| drop(entries.insert(entry, value)))?;
        Ok(DotFun {
            entries,
            journal: Journal::new(),
        })
    }
}

impl<V: Payload> Removable for DotFun<V> {
    fn reset(&mut self, update: &mut Update) -> Result<(), EditError> {
        self.kill_if(update, |_, _| true);
        Ok(())
    }
}

fn encode<'a, V: Payload>(
    count: usize,
    entries: impl Iterator<Item = (EntryId, &'a V)>,
    encoder: &mut Encoder,
) {
    encoder.entries(count, entries, |encoder, value| encoder.payload(value));
}

/// Calls `take` with each entry, in ascending order.
fn decode<V: Payload>(
    decoder: &mut Decoder<'_>,
    mut take: impl FnMut(EntryId, V),
) -> Result<(), DecodeError> {
    decoder.entries(1, |decoder, entry| {
        take(entry, decoder.payload()?);
        Ok(())
    })
}

/// Some entries of a [`DotFun`].
#[derive(Clone, PartialEq, Debug)]
pub struct DotFunPart<V>(Entries<V>);

/// Ascending.
type Entries<V> = SmallVec<[(EntryId, V); 1]>;

impl<V> Default for DotFunPart<V> {
    fn default() -> DotFunPart<V> {
        DotFunPart(Entries::new())
    }
}

impl<V: Payload> Part for DotFunPart<V> {
    fn kind(_: Place) -> ShapeKind {
        ShapeKind::DotFun
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn entries(&self) -> u64 {
        self.0.len() as u64
    }

    fn names(&self, out: &mut Names) {
        out.union_with(&self.0.iter().map(|(entry, _)| *entry).collect());
    }

    fn for_each_entry(&self, visit: &mut dyn FnMut(EntryId)) {
        self.0.iter().for_each(|(entry, _)| visit(*entry));
    }

    fn replicas(&self, out: &mut BTreeSet<ReplicaId>) {
        out.extend(self.0.iter().map(|(entry, _)| entry.dot.replica));
    }

    fn restrict(&mut self, dots: &Dots) {
        self.0.retain(|(entry, _)| dots.contains(entry.dot));
    }

    fn remove(&mut self, names: &Names) {
        self.0.retain(|(entry, _)| !names.contains(*entry));
    }

    fn union(&mut self, other: DotFunPart<V>) -> Result<(), MergeError> {
        let mine = mem::take(&mut self.0);
        self.0 = union(mine, other.0, |entry, held, value| {
            value.map_or(Ok(()), |value| same(*entry, held, &value))
        })?;
        Ok(())
    }

    fn content(&self, out: &mut Vec<u8>) {
        for (entry, value) in &self.0 {
            out.extend_from_slice(&entry.index.to_le_bytes());
            fields::sized(out, |out| value.encode(out));
        }
    }

    fn encode(&self, encoder: &mut Encoder, _: Place) {
        let entries = self.0.iter().map(|(entry, value)| (*entry, value));
        encode(self.0.len(), entries, encoder);
    }

    fn decode(decoder: &mut Decoder<'_>, _: Place) -> Result<DotFunPart<V>, DecodeError> {
        let mut entries = Entries::new();
        decode(decoder, |entry, value| entries.push((entry, value)))?;
        Ok(DotFunPart(entries))
    }
}
