//! The fragment of a sequence as deltas carry it: the kernel's view of a [`Part`].
//!
//! Grouping works on single elements and joins them to runs again, so it costs O(size log size);
//! everything else works on runs.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

use super::name_run::{Chain, Name, NameRun};
use super::sequence::{DeleteRun, InsertRun, Part};
use crate::clock::{Dots, EntryId, Names, ReplicaId};
use crate::codec::{DecodeError, DecodeErrorKind as Kind, Decoder, Encoder};
use crate::kernel::{MergeError, Part as Fragment, Place, ShapeKind};

/// Adds the names of a run to a set.
pub(super) fn name_all(out: &mut Names, replica: ReplicaId, run: NameRun) {
    let (first, last) = (run.first(), run.last());
    match run.chain() {
        Chain::Dots => out.push_column(replica, first.counter, last.counter, first.index),
        Chain::Indices => out.push_stride(first.at(replica).dot, first.index, run.len()),
    }
}

/// The names of the elements that a fragment brings.
pub(crate) fn inserted(part: &Part) -> Names {
    let mut names = Names::new();
    let runs = part.inserts.iter();
    runs.for_each(|run| name_all(&mut names, run.replica, run.names));
    names
}

/// Whether every element that a fragment brings is `content`.
pub(crate) fn is_all(part: &Part, content: char) -> bool {
    let mut texts = part.inserts.iter().filter_map(|run| run.text.as_deref());
    texts.all(|text| text.chars().all(|c| c == content))
}

/// One element of a fragment.
#[derive(Clone, Copy, PartialEq)]
struct Element {
    lamport: u64,
    origin: Option<EntryId>,
    content: Option<char>,
}

/// A fragment taken apart.
#[derive(Default)]
struct Pieces {
    elements: BTreeMap<EntryId, Element>,
    records: BTreeMap<EntryId, EntryId>,
}

impl Pieces {
    fn add(&mut self, part: &Part) -> Result<(), MergeError> {
        for run in &part.inserts {
            self.add_elements(run)?;
        }
        for run in &part.deletes {
            for at in 0..run.names.len() {
                let back = if run.backward {
                    run.names.len() - 1 - at
                } else {
                    at
                };
                let record = run.names.nth(at).at(run.replica);
                let target = run.targets.nth(back).at(run.target_replica);
                if self
                    .records
                    .insert(record, target)
                    .is_some_and(|held| held != target)
                {
                    return Err(MergeError::IdentityReused {
                        replica: run.replica,
                    });
                }
            }
        }
        Ok(())
    }

    fn add_elements(&mut self, run: &InsertRun) -> Result<(), MergeError> {
        let mut content = run.text.as_deref().map(str::chars);
        let mut origin = run.origin;
        for at in 0..run.names.len() {
            let id = run.names.nth(at).at(run.replica);
            let lamport = run.lamport.saturating_add(u64::from(at));
            let content = content.as_mut().and_then(Iterator::next);
            let new = Element {
                lamport,
                origin,
                content,
            };
            let held = self.elements.entry(id).or_insert(new);
            // Content is missing where a record of the same fragment hides the element.
            let same_content =
                held.content == content || held.content.is_none() || content.is_none();
            if (held.lamport, held.origin) != (lamport, origin) || !same_content {
                return Err(MergeError::IdentityReused {
                    replica: run.replica,
                });
            }
            held.content = held.content.and(content);
            origin = Some(id);
        }
        Ok(())
    }

    /// Joins everything to maximal runs, from the left in order of names.
    fn into_part(mut self) -> Part {
        for target in self.records.values() {
            if let Some(element) = self.elements.get_mut(target) {
                element.content = None;
            }
        }
        let mut part = Part::default();
        for (id, element) in self.elements {
            push_element(&mut part.inserts, id, element);
        }
        for (record, target) in self.records {
            push_record(&mut part.deletes, record, target);
        }
        part
    }
}

fn push_element(runs: &mut Vec<InsertRun>, id: EntryId, element: Element) {
    let one = NameRun::one(Name::from(id));
    if let Some(last) = runs.last_mut()
        && last.replica == id.dot.replica
        && element.origin == Some(last.names.last().at(last.replica))
        && last.lamport.checked_add(u64::from(last.names.len())) == Some(element.lamport)
        && last.text.is_some() == element.content.is_some()
        && let Some(names) = last.names.join(&one)
    {
        last.names = names;
        if let (Some(text), Some(content)) = (&mut last.text, element.content) {
            text.push(content);
        }
        return;
    }
    runs.push(InsertRun {
        replica: id.dot.replica,
        names: one,
        lamport: element.lamport,
        origin: element.origin,
        text: element.content.map(String::from),
    });
}

fn push_record(runs: &mut Vec<DeleteRun>, record: EntryId, target: EntryId) {
    let (name, at) = (
        NameRun::one(Name::from(record)),
        NameRun::one(Name::from(target)),
    );
    let joined = runs.last().and_then(|last| {
        let alike = last.replica == record.dot.replica && last.target_replica == target.dot.replica;
        let names = last.names.join(&name).filter(|_| alike)?;
        let forward = last.targets.join(&at).filter(|_| !last.backward);
        let single = last.names.len() == 1;
        let backward = at.join(&last.targets).filter(|_| last.backward || single);
        let (targets, backward) = match forward {
            Some(targets) => (targets, false),
            None => (backward?, true),
        };
        Some(DeleteRun {
            names,
            targets,
            backward,
            ..*last
        })
    });
    match (joined, runs.last_mut()) {
        (Some(joined), Some(last)) => *last = joined,
        _ => runs.push(DeleteRun {
            replica: record.dot.replica,
            names: name,
            target_replica: target.dot.replica,
            targets: at,
            backward: false,
        }),
    }
}

/// The characters `from..from + len` of a text.
fn part_of(text: &str, from: u32, len: u32) -> String {
    text.chars()
        .skip(from as usize)
        .take(len as usize)
        .collect()
}

fn restrict_insert(run: &InsertRun, from: u32, len: u32) -> InsertRun {
    let before = from
        .checked_sub(1)
        .map(|at| run.names.nth(at).at(run.replica));
    InsertRun {
        replica: run.replica,
        names: run.names.part(from, len),
        lamport: run.lamport + u64::from(from),
        origin: before.or(run.origin),
        text: run.text.as_deref().map(|text| part_of(text, from, len)),
    }
}

fn restrict_delete(run: &DeleteRun, from: u32, len: u32) -> DeleteRun {
    let first = if run.backward {
        run.names.len() - from - len
    } else {
        from
    };
    DeleteRun {
        names: run.names.part(from, len),
        targets: run.targets.part(first, len),
        backward: run.backward && len > 1,
        ..*run
    }
}

/// The stretches of a run that `dots` created, as (from, len).
fn stretches(replica: ReplicaId, names: NameRun, dots: &Dots) -> Vec<(u32, u32)> {
    let Some(ranges) = dots.of(replica) else {
        return Vec::new();
    };
    ranges
        .runs()
        .iter()
        .filter_map(|&(first, last)| names.within(first, last))
        .collect()
}

impl Fragment for Part {
    fn kind(_: Place) -> ShapeKind {
        ShapeKind::Seq
    }

    fn is_empty(&self) -> bool {
        self.inserts.is_empty() && self.deletes.is_empty()
    }

    fn entries(&self) -> u64 {
        let elements = self.inserts.iter().map(|run| u64::from(run.names.len()));
        elements
            .chain(self.deletes.iter().map(|run| u64::from(run.names.len())))
            .sum()
    }

    fn names(&self, out: &mut Names) {
        self.inserts
            .iter()
            .for_each(|run| name_all(out, run.replica, run.names));
        self.deletes
            .iter()
            .for_each(|run| name_all(out, run.replica, run.names));
    }

    fn replicas(&self, out: &mut BTreeSet<ReplicaId>) {
        for run in &self.inserts {
            out.insert(run.replica);
            out.extend(run.origin.map(|origin| origin.dot.replica));
        }
        out.extend(
            self.deletes
                .iter()
                .flat_map(|run| [run.replica, run.target_replica]),
        );
    }

    fn restrict(&mut self, dots: &Dots) {
        let inserts = core::mem::take(&mut self.inserts);
        for run in &inserts {
            let kept = stretches(run.replica, run.names, dots).into_iter();
            self.inserts
                .extend(kept.map(|(from, len)| restrict_insert(run, from, len)));
        }
        let deletes = core::mem::take(&mut self.deletes);
        for run in &deletes {
            let kept = stretches(run.replica, run.names, dots).into_iter();
            self.deletes
                .extend(kept.map(|(from, len)| restrict_delete(run, from, len)));
        }
    }

    fn remove(&mut self, names: &Names) {
        let mut held = Names::new();
        self.names(&mut held);
        if held.intersection(names).is_empty() {
            return;
        }
        let mut pieces = Pieces::default();
        // A fragment never contradicts itself, so taking it apart cannot fail.
        let _ = pieces.add(self);
        pieces.elements.retain(|id, _| !names.contains(*id));
        pieces.records.retain(|id, _| !names.contains(*id));
        *self = pieces.into_part();
    }

    fn union(&mut self, other: Part) -> Result<(), MergeError> {
        let mut pieces = Pieces::default();
        pieces.add(self)?;
        pieces.add(&other)?;
        *self = pieces.into_part();
        Ok(())
    }

    fn content(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&(self.inserts.len() as u64).to_le_bytes());
        for run in &self.inserts {
            let text = run.text.as_deref().unwrap_or_default();
            let lens = [u64::from(run.names.len()), text.len() as u64];
            lens.iter()
                .for_each(|len| out.extend_from_slice(&len.to_le_bytes()));
            out.extend_from_slice(&run.names.first().index.to_le_bytes());
            out.push(u8::from(run.origin.is_some()));
            run.origin
                .iter()
                .for_each(|origin| place(out, origin.dot.replica, Name::from(*origin)));
            out.extend_from_slice(text.as_bytes());
        }
        for run in &self.deletes {
            out.extend_from_slice(&u64::from(run.names.len()).to_le_bytes());
            out.extend_from_slice(&run.names.first().index.to_le_bytes());
            out.push(u8::from(run.backward));
            for target in [run.targets.first(), run.targets.last()] {
                place(out, run.target_replica, target);
            }
        }
    }

    fn encode(&self, encoder: &mut Encoder, _: Place) {
        encoder.varint(self.inserts.len() as u64);
        for run in &self.inserts {
            encoder.replica(run.replica);
            encode_names(run.names, run.text.is_some(), encoder);
            encoder.varint(run.lamport);
            encoder.byte(u8::from(run.origin.is_some()));
            run.origin.iter().for_each(|origin| encoder.entry(*origin));
            run.text
                .iter()
                .for_each(|text| encoder.bytes(text.as_bytes()));
        }
        encode_deletes(self.deletes.iter(), encoder);
    }

    fn decode(decoder: &mut Decoder<'_>, _: Place) -> Result<Part, DecodeError> {
        let mut part = Part::default();
        for _ in 0..decoder.count(6)? {
            let replica = decoder.replica()?;
            let (names, visible) = decode_names(decoder)?;
            let lamport = decoder.varint()?;
            let origin = match decoder.byte()? {
                0 => None,
                1 => Some(decoder.entry()?),
                _ => return Err(decoder.error(Kind::NotCanonical)),
            };
            let text = if visible {
                Some(String::from(decoder.text()?))
            } else {
                None
            };
            let run = InsertRun {
                replica,
                names,
                lamport,
                origin,
                text,
            };
            decoder.require(follows(part.inserts.last(), &run), Kind::NotCanonical)?;
            part.inserts.push(run);
        }
        part.deletes = decode_deletes(decoder)?;
        Ok(part)
    }
}

/// Adds the name of an element to what a seal covers.
fn place(out: &mut Vec<u8>, replica: ReplicaId, name: Name) {
    out.extend_from_slice(&replica.to_bytes());
    out.extend_from_slice(&name.counter.to_le_bytes());
    out.extend_from_slice(&name.index.to_le_bytes());
}

/// Whether runs are in order of names, have the right length, and could not be one.
fn follows(last: Option<&InsertRun>, run: &InsertRun) -> bool {
    let len = run.names.len();
    let fits = run.lamport > 0 && run.lamport.checked_add(u64::from(len)).is_some();
    let text = run
        .text
        .as_deref()
        .is_none_or(|text| text.chars().count() == len as usize);
    let after = last
        .is_none_or(|last| (last.replica, last.names.last()) < (run.replica, run.names.first()));
    fits && text && after
}

const CHAINED_BY_INDEX: u64 = 1;
const MARKED: u64 = 2;

/// Writes names with one bit of the caller's: whether elements are visible, records go backwards.
pub(super) fn encode_names(names: NameRun, mark: bool, encoder: &mut Encoder) {
    let first = names.first();
    encoder.varint(first.counter);
    encoder.varint(u64::from(first.index));
    let chain = if names.chain() == Chain::Indices {
        CHAINED_BY_INDEX
    } else {
        0
    };
    let mark = if mark { MARKED } else { 0 };
    encoder.varint(u64::from(names.len()) << 2 | mark | chain);
}

pub(super) fn decode_names(decoder: &mut Decoder<'_>) -> Result<(NameRun, bool), DecodeError> {
    let (counter, index) = (decoder.varint()?, decoder.varint_u32()?);
    let packed = decoder.varint()?;
    decoder.require(counter > 0 && index & 1 == 0, Kind::OutOfRange)?;
    let len = u32::try_from(packed >> 2).map_err(|_| decoder.error(Kind::OutOfRange))?;
    let chain = if packed & CHAINED_BY_INDEX == 0 {
        Chain::Dots
    } else {
        Chain::Indices
    };
    let names = NameRun::new(Name { counter, index }, len, chain);
    let names = names.ok_or(decoder.error(Kind::OutOfRange))?;
    decoder.require(names.chain() == chain, Kind::NotCanonical)?;
    Ok((names, packed & MARKED != 0))
}

pub(super) fn encode_deletes<'a>(
    runs: impl ExactSizeIterator<Item = &'a DeleteRun>,
    encoder: &mut Encoder,
) {
    encoder.varint(runs.len() as u64);
    for run in runs {
        encoder.replica(run.replica);
        encode_names(run.names, run.backward, encoder);
        encoder.replica(run.target_replica);
        encode_names(run.targets, false, encoder);
    }
}

pub(super) fn decode_deletes(decoder: &mut Decoder<'_>) -> Result<Vec<DeleteRun>, DecodeError> {
    let mut runs = Vec::<DeleteRun>::new();
    for _ in 0..decoder.count(8)? {
        let replica = decoder.replica()?;
        let (names, backward) = decode_names(decoder)?;
        let target_replica = decoder.replica()?;
        let (targets, mark) = decode_names(decoder)?;
        let run = DeleteRun {
            replica,
            names,
            target_replica,
            targets,
            backward,
        };
        let same_length = names.len() == targets.len() && (names.len() > 1 || !backward);
        decoder.require(!mark && same_length, Kind::NotCanonical)?;
        let after = runs.last().is_none_or(|last| {
            (last.replica, last.names.last()) < (run.replica, run.names.first())
        });
        decoder.require(after, Kind::NotCanonical)?;
        runs.push(run);
    }
    Ok(runs)
}
