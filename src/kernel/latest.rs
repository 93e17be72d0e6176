//! The newest entry of each replica.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use super::{
    EditError, EditView, Journal, MergeError, Part, Place, Replicated, ShapeKind, Update, fields,
};
use crate::clock::{ByReplica, Dots, EntryId, Names, ReplicaId, Version};
use crate::codec::{DecodeError, DecodeErrorKind, Decoder, Encoder, Payload};

/// One row per replica, which only that replica writes: its newest entry.
///
/// A newer row replaces the older one of its replica without a kill list, so it suits cumulative
/// values such as counter totals. A row cannot be removed, hence no [`Removable`](super::Removable).
#[derive(Clone, Debug)]
pub struct Latest<V> {
    rows: Rows<V>,
    journal: Journal<(ReplicaId, Option<(EntryId, V)>)>,
}

type Rows<V> = ByReplica<(EntryId, V)>;

impl<V: Payload> Latest<V> {
    /// The row of `replica`.
    pub fn get(&self, replica: ReplicaId) -> Option<&V> {
        self.rows.get(replica).map(|(_, value)| value)
    }

    /// All rows in ascending order of their replicas.
    pub fn iter(&self) -> impl Iterator<Item = (ReplicaId, &V)> {
        self.rows.iter().map(|(id, (_, value))| (id, value))
    }

    /// The rows that `of` created. O(replicas of `of`): an update names one, a state may hold
    /// thousands.
    fn among<'a>(&'a self, of: &'a Dots) -> impl Iterator<Item = (ReplicaId, &'a (EntryId, V))> {
        let mut rows = self.rows.cursor();
        let row = move |id| Some((id, rows.get(id)?));
        of.replicas()
            .filter_map(row)
            .filter(|(_, (entry, _))| of.contains(entry.dot))
    }

    /// The row that `update` itself has made, to be changed.
    pub(crate) fn own_mut(&mut self, update: &Update) -> Option<&mut V> {
        let (entry, held) = self.rows.get_mut(update.dot().replica)?;
        update.owns(*entry).then_some(held)
    }

    /// Replaces the row of the updating replica.
    ///
    /// # Errors
    /// [`EditError::TooManyEntries`].
    pub fn set(&mut self, value: V, update: &mut Update) -> Result<(), EditError> {
        if let Some(held) = self.own_mut(update) {
            *held = value;
            return Ok(());
        }
        let id = update.dot().replica;
        let entry = update.entry()?;
        let before = self.rows.insert(id, (entry, value));
        self.journal.push((id, before));
        Ok(())
    }
}

/// Puts `row` in if it is newer than the one of its replica.
fn raise<V>(rows: &mut Rows<V>, (entry, value): (EntryId, V)) {
    match rows.get_mut(entry.dot.replica) {
        Some((held, _)) if *held >= entry => {}
        Some(row) => *row = (entry, value),
        None => drop(rows.insert(entry.dot.replica, (entry, value))),
    }
}

/// How many rows are on both sides; all of these must be equal.
fn matches<V: Payload>(mine: &Rows<V>, theirs: &Rows<V>) -> Result<u64, MergeError> {
    let mut common = 0;
    let mut mine = mine.cursor();
    for (replica, (entry, value)) in theirs.iter() {
        match mine.get(replica) {
            Some((held, row)) if held == entry => {
                if row != value {
                    return Err(MergeError::IdentityReused { replica });
                }
                common += 1;
            }
            _ => {}
        }
    }
    Ok(common)
}

impl<V: Payload> Replicated for Latest<V> {
    type Part = LatestPart<V>;
    type Edit<'a> = EditView<'a, Latest<V>>;
    type View = BTreeMap<ReplicaId, V>;

    fn kind(_: Place) -> ShapeKind {
        ShapeKind::Latest
    }

    fn empty(_: Place) -> Latest<V> {
        Latest {
            rows: Rows::new(),
            journal: Journal::new(),
        }
    }

    fn edit<'a>(&'a mut self, update: &'a mut Update) -> EditView<'a, Latest<V>> {
        EditView::new(self, update)
    }

    fn view(&self) -> BTreeMap<ReplicaId, V> {
        self.iter().map(|(id, value)| (id, value.clone())).collect()
    }

    fn visible(&self) -> bool {
        !self.rows.is_empty()
    }

    fn is_bottom(&self) -> bool {
        self.rows.is_empty()
    }

    fn entries(&self) -> u64 {
        self.rows.len() as u64
    }

    fn names(&self, of: &Dots, out: &mut Names) {
        out.union_with(&self.among(of).map(|(_, (entry, _))| *entry).collect());
    }

    fn is_one_place() -> bool {
        true
    }

    fn part(&self, of: &Dots) -> LatestPart<V> {
        LatestPart(self.among(of).map(|(id, row)| (id, row.clone())).collect())
    }

    fn check(&self, part: &LatestPart<V>, _: &Version) -> Result<u64, MergeError> {
        matches(&self.rows, &part.0)
    }

    fn check_kill(&self, _: &Names) -> Result<(), MergeError> {
        Ok(())
    }

    fn kill(&mut self, names: &Names) {
        for id in names.replicas() {
            if self
                .rows
                .get(id)
                .is_some_and(|(entry, _)| names.contains(*entry))
            {
                self.rows.remove(id);
            }
        }
    }

    fn adopt(&mut self, part: LatestPart<V>, known: &Version) {
        let new = part
            .0
            .into_values()
            .filter(|(entry, _)| !known.contains(entry.dot));
        new.for_each(|row| raise(&mut self.rows, row));
    }

    fn check_join(&self, _: &Version, other: &Self, _: &Version) -> Result<u64, MergeError> {
        matches(&self.rows, &other.rows)
    }

    fn join(&mut self, mine: &Version, other: &Self, _: &Version) {
        let mut known = mine.cursor();
        for (id, row) in other.rows.iter() {
            if row.0.dot.counter > known.get(id).copied().unwrap_or(0) {
                raise(&mut self.rows, row.clone());
            }
        }
    }

    fn publish(&mut self, update: &Update) -> LatestPart<V> {
        self.journal.take();
        self.part(&Dots::from(update.dot()))
    }

    fn rollback(&mut self) {
        for (id, before) in self.journal.take().into_iter().rev() {
            match before {
                Some(row) => drop(self.rows.insert(id, row)),
                None => self.rows.remove(id),
            }
        }
    }

    fn encode(&self, encoder: &mut Encoder, _: Place) {
        encode(&self.rows, encoder);
    }

    fn decode(decoder: &mut Decoder<'_>, _: Place) -> Result<Latest<V>, DecodeError> {
        Ok(Latest {
            rows: decode(decoder)?,
            journal: Journal::new(),
        })
    }
}

fn encode<V: Payload>(rows: &Rows<V>, encoder: &mut Encoder) {
    encoder.varint(rows.len() as u64);
    for (entry, value) in rows.values() {
        encoder.entry(*entry);
        encoder.payload(value);
    }
}

fn decode<V: Payload>(decoder: &mut Decoder<'_>) -> Result<Rows<V>, DecodeError> {
    let mut rows = Rows::new();
    for _ in 0..decoder.count(3)? {
        let entry = decoder.entry()?;
        let ascending = rows.last().is_none_or(|last| last < entry.dot.replica);
        decoder.require(ascending, DecodeErrorKind::NotCanonical)?;
        rows.insert(entry.dot.replica, (entry, decoder.payload()?));
    }
    Ok(rows)
}

/// Some rows of a [`Latest`].
#[derive(Clone, PartialEq, Debug)]
pub struct LatestPart<V>(Rows<V>);

impl<V> Default for LatestPart<V> {
    fn default() -> LatestPart<V> {
        LatestPart(Rows::new())
    }
}

impl<V: Payload> Part for LatestPart<V> {
    fn kind(_: Place) -> ShapeKind {
        ShapeKind::Latest
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn entries(&self) -> u64 {
        self.0.len() as u64
    }

    fn names(&self, out: &mut Names) {
        out.union_with(&self.0.values().map(|(entry, _)| *entry).collect());
    }

    fn for_each_entry(&self, visit: &mut dyn FnMut(EntryId)) {
        self.0.values().for_each(|(entry, _)| visit(*entry));
    }

    fn replicas(&self, out: &mut BTreeSet<ReplicaId>) {
        out.extend(self.0.iter().map(|(id, _)| id));
    }

    fn restrict(&mut self, dots: &Dots) {
        self.0.retain(|(entry, _)| dots.contains(entry.dot));
    }

    /// Keeps all: a row dies by a newer one of its replica and by nothing else, so `union` decides.
    /// Without the dead row a still older one would pass for the newest.
    fn remove(&mut self, _: &Names) {}

    fn union(&mut self, other: LatestPart<V>) -> Result<(), MergeError> {
        matches(&self.0, &other.0)?;
        other
            .0
            .into_values()
            .for_each(|row| raise(&mut self.0, row));
        Ok(())
    }

    fn content(&self, out: &mut Vec<u8>) {
        for (entry, value) in self.0.values() {
            out.extend_from_slice(&entry.index.to_le_bytes());
            fields::sized(out, |out| value.encode(out));
        }
    }

    fn encode(&self, encoder: &mut Encoder, _: Place) {
        encode(&self.0, encoder);
    }

    fn decode(decoder: &mut Decoder<'_>, _: Place) -> Result<LatestPart<V>, DecodeError> {
        Ok(LatestPart(decode(decoder)?))
    }
}
