//! Entries with a payload each.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use super::{
    EditError, EditView, Iter, Journal, MergeError, Part, Place, Removable, Replicated, ShapeKind,
    Update,
};
use crate::clock::{Dots, EntryId, Names, ReplicaId, Version};
use crate::codec::{DecodeError, DecodeErrorKind, Decoder, Encoder, Payload};

/// Entries with a payload each: what is live are the concurrent values.
///
/// Source: Almeida et al. 2018, section 7 (dot store `DotFun`).
#[derive(Clone, Debug)]
pub struct DotFun<V> {
    entries: BTreeMap<EntryId, V>,
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
        self.entries.iter().map(|(&entry, value)| (entry, value))
    }

    /// The payloads of the live entries, in the order of these.
    pub fn values(&self) -> Iter<'_, EntryId, V, &V> {
        Iter::new(self.entries.iter(), |_, value| Some(value))
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
        let (first, last) = (
            EntryId::new(update.dot(), 0),
            EntryId::new(update.dot(), u32::MAX),
        );
        let own = self.entries.range_mut(first..=last).next_back();
        own.map(|(_, value)| value)
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
            if let Some(value) = self.entries.remove(entry) {
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

/// The live entries of `map` that `of` created.
/// By the shorter side: a child of a map holds little of all that many replicas made.
pub(super) fn among<'m, V>(
    map: &'m BTreeMap<EntryId, V>,
    of: &Dots,
) -> impl Iterator<Item = (EntryId, &'m V)> {
    let by_entry = of.ranges().nth(map.len()).is_some();
    let all = by_entry.then(|| map.iter().filter(|(entry, _)| of.contains(entry.dot)));
    let ranges = (!by_entry).then(|| of.ranges()).into_iter().flatten();
    let within = ranges.flat_map(move |(id, first, last)| {
        let first = EntryId::new(crate::Dot::new(id, first), 0);
        let last = EntryId::new(crate::Dot::new(id, last), u32::MAX);
        map.range(first..=last)
    });
    let chosen = all.into_iter().flatten().chain(within);
    chosen.map(|(&entry, value)| (entry, value))
}

fn differs(entry: EntryId) -> MergeError {
    MergeError::IdentityReused {
        replica: entry.dot.replica,
    }
}

/// How many entries of `theirs` are live in `mine`; all of these must be equal.
pub(super) fn matches<'a, V: Payload>(
    mine: &BTreeMap<EntryId, V>,
    theirs: impl Iterator<Item = (EntryId, &'a V)>,
) -> Result<u64, MergeError> {
    let mut common = 0;
    for (entry, value) in theirs {
        match mine.get(&entry) {
            Some(held) if held != value => return Err(differs(entry)),
            Some(_) => common += 1,
            None => {}
        }
    }
    Ok(common)
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
            entries: BTreeMap::new(),
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
        out.union_with(&among(&self.entries, of).map(|(entry, _)| entry).collect());
    }

    fn part(&self, of: &Dots) -> DotFunPart<V> {
        let chosen = among(&self.entries, of).map(|(entry, value)| (entry, value.clone()));
        DotFunPart(chosen.collect())
    }

    fn check(&self, part: &DotFunPart<V>, _: &Version) -> Result<u64, MergeError> {
        matches(
            &self.entries,
            part.0.iter().map(|(&entry, value)| (entry, value)),
        )
    }

    fn check_kill(&self, _: &Names) -> Result<(), MergeError> {
        Ok(())
    }

    fn kill(&mut self, names: &Names) {
        names
            .iter()
            .for_each(|entry| drop(self.entries.remove(&entry)));
    }

    fn adopt(&mut self, part: DotFunPart<V>, known: &Version) {
        let new = part
            .0
            .into_iter()
            .filter(|(entry, _)| !known.contains(entry.dot));
        self.entries.extend(new);
    }

    fn check_join(&self, _: &Version, other: &Self, _: &Version) -> Result<u64, MergeError> {
        matches(&self.entries, other.iter())
    }

    fn join(&mut self, mine: &Version, other: &Self, theirs: &Version) {
        let common = |entry: &EntryId| other.entries.contains_key(entry);
        self.entries
            .retain(|entry, _| !theirs.contains(entry.dot) || common(entry));
        let new = other.iter().filter(|(entry, _)| !mine.contains(entry.dot));
        self.entries
            .extend(new.map(|(entry, value)| (entry, value.clone())));
    }

    fn publish(&mut self, update: &Update) -> DotFunPart<V> {
        self.journal.take();
        self.part(&Dots::from(update.dot()))
    }

    fn rollback(&mut self) {
        for undo in self.journal.take().into_iter().rev() {
            match undo {
                Undo::Added(entry) => drop(self.entries.remove(&entry)),
                Undo::Killed(entry, value) => drop(self.entries.insert(entry, value)),
            }
        }
    }

    fn encode(&self, encoder: &mut Encoder, _: Place) {
        encode(&self.entries, encoder);
    }

    fn decode(decoder: &mut Decoder<'_>, _: Place) -> Result<DotFun<V>, DecodeError> {
        Ok(DotFun {
            entries: decode(decoder)?,
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

pub(super) fn encode<V: Payload>(entries: &BTreeMap<EntryId, V>, encoder: &mut Encoder) {
    encoder.varint(entries.len() as u64);
    for (entry, value) in entries {
        encoder.entry(*entry);
        encoder.payload(value);
    }
}

pub(super) fn decode<V: Payload>(
    decoder: &mut Decoder<'_>,
) -> Result<BTreeMap<EntryId, V>, DecodeError> {
    let mut entries = BTreeMap::new();
    for _ in 0..decoder.count(4)? {
        let entry = decoder.entry()?;
        let ascending = entries
            .last_key_value()
            .is_none_or(|(last, _)| *last < entry);
        decoder.require(ascending, DecodeErrorKind::NotCanonical)?;
        entries.insert(entry, decoder.payload()?);
    }
    Ok(entries)
}

/// Some entries of a [`DotFun`].
#[derive(Clone, PartialEq, Debug)]
pub struct DotFunPart<V>(pub(super) BTreeMap<EntryId, V>);

impl<V> Default for DotFunPart<V> {
    fn default() -> DotFunPart<V> {
        DotFunPart(BTreeMap::new())
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
        out.union_with(&self.0.keys().copied().collect());
    }

    fn replicas(&self, out: &mut BTreeSet<ReplicaId>) {
        out.extend(self.0.keys().map(|entry| entry.dot.replica));
    }

    fn restrict(&mut self, dots: &Dots) {
        self.0.retain(|entry, _| dots.contains(entry.dot));
    }

    fn remove(&mut self, names: &Names) {
        self.0.retain(|entry, _| !names.contains(*entry));
    }

    fn union(&mut self, other: DotFunPart<V>) -> Result<(), MergeError> {
        matches(
            &self.0,
            other.0.iter().map(|(&entry, value)| (entry, value)),
        )?;
        self.0.extend(other.0);
        Ok(())
    }

    fn content(&self, out: &mut Vec<u8>) {
        for (entry, value) in &self.0 {
            out.extend_from_slice(&entry.index.to_le_bytes());
            value.encode(out);
        }
    }

    fn encode(&self, encoder: &mut Encoder, _: Place) {
        encode(&self.0, encoder);
    }

    fn decode(decoder: &mut Decoder<'_>, _: Place) -> Result<DotFunPart<V>, DecodeError> {
        Ok(DotFunPart(decode(decoder)?))
    }
}
