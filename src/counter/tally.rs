//! The two forms of what is counted.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use crate::clock::{Dots, EntryId, Names, ReplicaId, Version};
use crate::codec::{DecodeError, Decoder, Encoder, Payload};
use crate::kernel::{
    DotFun, EditError, EditView, Latest, MergeError, Part, Place, Removable, Replicated, ShapeKind,
    Update,
};

/// What can be counted.
pub trait Amount: Payload {
    /// The sum; `None` if it is too large.
    fn plus(&self, other: &Self) -> Option<Self>;
}

impl Amount for u64 {
    fn plus(&self, other: &u64) -> Option<u64> {
        self.checked_add(*other)
    }
}

impl Amount for (u64, u64) {
    fn plus(&self, other: &(u64, u64)) -> Option<(u64, u64)> {
        Some((self.0.checked_add(other.0)?, self.1.checked_add(other.1)?))
    }
}

/// Amounts of many replicas: one total per replica where nothing removes it, one entry per update
/// where the key above may be removed.
///
/// A total cannot be taken back in part, so a removal that has seen some of a replica's increments
/// would take all or none; of entries it takes those that it has seen.
#[derive(Clone, Debug)]
pub enum Tally<V> {
    /// At [`Place::Kept`].
    Totals(Latest<V>),
    /// At [`Place::Removable`].
    Entries(DotFun<V>),
}

/// Calls a method of the form that a tally has.
macro_rules! of_form {
    ($tally:expr, $inner:ident => $call:expr) => {
        match $tally {
            Tally::Totals($inner) => $call,
            Tally::Entries($inner) => $call,
        }
    };
}

impl<V: Amount> Tally<V> {
    /// The amounts, in no order that matters.
    pub fn iter(&self) -> impl Iterator<Item = &V> {
        let (totals, entries) = match self {
            Tally::Totals(rows) => (Some(rows.iter()), None),
            Tally::Entries(entries) => (None, Some(entries.iter())),
        };
        let totals = totals.into_iter().flatten().map(|(_, amount)| amount);
        totals.chain(entries.into_iter().flatten().map(|(_, amount)| amount))
    }

    /// Counts `amount`.
    pub fn add(&mut self, amount: V, update: &mut Update) -> Result<(), EditError> {
        // Most additions follow another one in the same update.
        if let Some(own) = of_form!(self, inner => inner.own_mut(update)) {
            *own = own.plus(&amount).ok_or(EditError::CounterOverflow)?;
            return Ok(());
        }
        match self {
            Tally::Totals(rows) => {
                let total = match rows.get(update.dot().replica) {
                    Some(row) => row.plus(&amount).ok_or(EditError::CounterOverflow)?,
                    None => amount,
                };
                rows.set(total, update)
            }
            Tally::Entries(entries) => entries.add(amount, update).map(drop),
        }
    }
}

impl<V: Amount> Replicated for Tally<V> {
    type Part = TallyPart<V>;
    type Edit<'a> = EditView<'a, Tally<V>>;
    type View = Vec<V>;

    fn kind(place: Place) -> ShapeKind {
        match place {
            Place::Kept => Latest::<V>::kind(place),
            Place::Removable => DotFun::<V>::kind(place),
        }
    }

    fn empty(place: Place) -> Tally<V> {
        match place {
            Place::Kept => Tally::Totals(Latest::empty(place)),
            Place::Removable => Tally::Entries(DotFun::empty(place)),
        }
    }

    fn edit<'a>(&'a mut self, update: &'a mut Update) -> EditView<'a, Tally<V>> {
        EditView::new(self, update)
    }

    fn view(&self) -> Vec<V> {
        self.iter().cloned().collect()
    }

    fn visible(&self) -> bool {
        !self.is_bottom()
    }

    fn is_bottom(&self) -> bool {
        of_form!(self, inner => inner.is_bottom())
    }

    fn entries(&self) -> u64 {
        of_form!(self, inner => inner.entries())
    }

    fn names(&self, of: &Dots, out: &mut Names) {
        of_form!(self, inner => inner.names(of, out));
    }

    fn for_each_entry(&self, of: &Dots, visit: &mut dyn FnMut(EntryId)) {
        of_form!(self, inner => inner.for_each_entry(of, visit));
    }

    fn is_one_place() -> bool {
        true
    }

    fn part(&self, of: &Dots) -> TallyPart<V> {
        match self {
            Tally::Totals(rows) => TallyPart::of_totals(rows.part(of)),
            Tally::Entries(entries) => TallyPart::of_entries(entries.part(of)),
        }
    }

    fn check(&self, part: &TallyPart<V>, known: &Version) -> Result<u64, MergeError> {
        match self {
            Tally::Totals(rows) => rows.check(&part.totals, known),
            Tally::Entries(entries) => entries.check(&part.entries, known),
        }
    }

    fn check_kill(&self, names: &Names) -> Result<(), MergeError> {
        of_form!(self, inner => inner.check_kill(names))
    }

    fn kill(&mut self, names: &Names) {
        of_form!(self, inner => inner.kill(names));
    }

    fn adopt(&mut self, part: TallyPart<V>, known: &Version) {
        match self {
            Tally::Totals(rows) => rows.adopt(part.totals, known),
            Tally::Entries(entries) => entries.adopt(part.entries, known),
        }
    }

    fn check_join(
        &self,
        mine: &Version,
        other: &Tally<V>,
        theirs: &Version,
    ) -> Result<u64, MergeError> {
        match (self, other) {
            (Tally::Totals(a), Tally::Totals(b)) => a.check_join(mine, b, theirs),
            (Tally::Entries(a), Tally::Entries(b)) => a.check_join(mine, b, theirs),
            // Both stand at one place of one type, which fixes the form.
            _ => Ok(0),
        }
    }

    fn join(&mut self, mine: &Version, other: &Tally<V>, theirs: &Version) {
        match (self, other) {
            (Tally::Totals(a), Tally::Totals(b)) => a.join(mine, b, theirs),
            (Tally::Entries(a), Tally::Entries(b)) => a.join(mine, b, theirs),
            _ => {}
        }
    }

    fn publish(&mut self, update: &Update) -> TallyPart<V> {
        match self {
            Tally::Totals(rows) => TallyPart::of_totals(rows.publish(update)),
            Tally::Entries(entries) => TallyPart::of_entries(entries.publish(update)),
        }
    }

    fn rollback(&mut self) {
        of_form!(self, inner => inner.rollback());
    }

    fn encode(&self, encoder: &mut Encoder, place: Place) {
        of_form!(self, inner => inner.encode(encoder, place));
    }

    fn decode(decoder: &mut Decoder<'_>, place: Place) -> Result<Tally<V>, DecodeError> {
        Ok(match place {
            Place::Kept => Tally::Totals(Latest::decode(decoder, place)?),
            Place::Removable => Tally::Entries(DotFun::decode(decoder, place)?),
        })
    }
}

impl<V: Amount> Removable for Tally<V> {
    fn reset(&mut self, update: &mut Update) -> Result<(), EditError> {
        match self {
            Tally::Entries(entries) => entries.reset(update),
            // Nothing resets what stands at a place that is kept.
            Tally::Totals(_) => Ok(()),
        }
    }
}

/// Some amounts; those of the form that the place does not have are none.
#[derive(Clone, PartialEq, Debug)]
pub struct TallyPart<V: Amount> {
    totals: <Latest<V> as Replicated>::Part,
    entries: <DotFun<V> as Replicated>::Part,
}

impl<V: Amount> Default for TallyPart<V> {
    fn default() -> TallyPart<V> {
        TallyPart {
            totals: Default::default(),
            entries: Default::default(),
        }
    }
}

impl<V: Amount> TallyPart<V> {
    fn of_totals(totals: <Latest<V> as Replicated>::Part) -> TallyPart<V> {
        TallyPart {
            totals,
            ..TallyPart::default()
        }
    }

    fn of_entries(entries: <DotFun<V> as Replicated>::Part) -> TallyPart<V> {
        TallyPart {
            entries,
            ..TallyPart::default()
        }
    }
}

impl<V: Amount> Part for TallyPart<V> {
    fn kind(place: Place) -> ShapeKind {
        Tally::<V>::kind(place)
    }

    fn is_empty(&self) -> bool {
        self.totals.is_empty() && self.entries.is_empty()
    }

    fn entries(&self) -> u64 {
        self.totals.entries() + self.entries.entries()
    }

    fn names(&self, out: &mut Names) {
        self.totals.names(out);
        self.entries.names(out);
    }

    fn for_each_entry(&self, visit: &mut dyn FnMut(EntryId)) {
        self.totals.for_each_entry(visit);
        self.entries.for_each_entry(visit);
    }

    fn replicas(&self, out: &mut BTreeSet<ReplicaId>) {
        self.totals.replicas(out);
        self.entries.replicas(out);
    }

    fn restrict(&mut self, dots: &Dots) {
        self.totals.restrict(dots);
        self.entries.restrict(dots);
    }

    fn remove(&mut self, names: &Names) {
        self.totals.remove(names);
        self.entries.remove(names);
    }

    fn union(&mut self, other: TallyPart<V>) -> Result<(), MergeError> {
        self.totals.union(other.totals)?;
        self.entries.union(other.entries)
    }

    fn content(&self, out: &mut Vec<u8>) {
        self.totals.content(out);
        self.entries.content(out);
    }

    fn encode(&self, encoder: &mut Encoder, place: Place) {
        match place {
            Place::Kept => self.totals.encode(encoder, place),
            Place::Removable => self.entries.encode(encoder, place),
        }
    }

    fn decode(decoder: &mut Decoder<'_>, place: Place) -> Result<TallyPart<V>, DecodeError> {
        Ok(match place {
            Place::Kept => TallyPart::of_totals(Part::decode(decoder, place)?),
            Place::Removable => TallyPart::of_entries(Part::decode(decoder, place)?),
        })
    }
}
