//! Absorbing a part that another replica made.
//!
//! Rule: all or nothing. A part is checked whole before anything changes: names and times
//! ascend per replica, what is named is here or comes along, nothing is named twice. What is
//! known already is passed over. Then elements go in by Lamport time (an origin is always
//! earlier than what names it), then records.
//! Source: kernel rules R27, R28; Roh et al. 2011 (RGA), section 5.
//! Complexity: O(log n) a run, for both passes, + size of the text.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::fmt;

use super::Sequence;
use super::delta::{DeleteRun, InsertRun, Part};
use super::local::Woven;
use super::records::Record;
use crate::text::ids::{EntryId, ReplicaId};
use crate::text::names::{INDEX_STEP, Name, Names};
use crate::text::run_tree::run::{Key, Size};
use crate::text::run_tree::{Gap, Spot};

/// Why a part cannot be absorbed; nothing has changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum PartError {
    /// An entry of a sequence has an odd index.
    OddIndex(EntryId),
    /// A run of elements has a Lamport time that is 0, used up, or not after the last one of
    /// its replica.
    Lamport(EntryId),
    /// The characters of a run are not as many as its elements.
    TextLength(EntryId),
    /// The targets of a run of records are not as many as its records.
    TargetLength(EntryId),
    /// An origin is neither here nor in the part.
    UnknownOrigin(EntryId),
    /// An element is not later than its origin.
    NotAfterOrigin(EntryId),
    /// A target is neither here nor in the part.
    UnknownTarget(EntryId),
    /// A name that is not known comes before one that is.
    OutOfOrder(EntryId),
    /// One name is given to an element and to a record.
    UsedTwice(EntryId),
}

impl fmt::Display for PartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OddIndex(id) => write!(f, "sequence entry {id:?} has an odd index"),
            Self::Lamport(id) => write!(f, "element {id:?} has an impossible lamport time"),
            Self::TextLength(id) => write!(f, "run {id:?} has more or less text than elements"),
            Self::TargetLength(id) => write!(f, "run {id:?} has not as many targets as records"),
            Self::UnknownOrigin(id) => write!(f, "origin {id:?} is unknown"),
            Self::NotAfterOrigin(id) => write!(f, "element {id:?} is not later than its origin"),
            Self::UnknownTarget(id) => write!(f, "target {id:?} is unknown"),
            Self::OutOfOrder(id) => write!(f, "unknown {id:?} comes before known names"),
            Self::UsedTwice(id) => write!(f, "{id:?} names an element and a record"),
        }
    }
}

impl core::error::Error for PartError {}

impl Sequence {
    /// Whether [`Sequence::absorb`] would take this part.
    ///
    /// # Errors
    /// [`PartError`]: the first fault found.
    pub fn check(&self, part: &Part) -> Result<(), PartError> {
        let mut check = Check::new(self);
        for run in in_order(&part.inserts) {
            check.insert(run)?;
        }
        for run in records_in_order(&part.deletes) {
            check.delete(run)?;
        }
        check.used_twice()
    }

    /// Takes in what other replicas made. Known elements and records are passed over.
    ///
    /// # Errors
    /// [`PartError`]; nothing has changed.
    ///
    /// # Complexity
    /// O(log n) a run, + size of the text.
    pub fn absorb(&mut self, part: &Part) -> Result<(), PartError> {
        self.check(part)?;
        for run in in_order(&part.inserts) {
            self.integrate(run);
        }
        for run in records_in_order(&part.deletes) {
            self.apply(run);
        }
        Ok(())
    }

    /// Puts in the unknown elements of a checked run.
    fn integrate(&mut self, run: &InsertRun) {
        let author = self.tree.intern(run.replica);
        let tail = self.tree.author(author).tail;
        let known = tail.map_or(0, |(name, _)| run.names.count_upto(name));
        let Some(len) = run.names.len().checked_sub(known).filter(|len| *len > 0) else {
            return;
        };
        let names = run.names.part(known, len);
        let lamport = run.lamport + u64::from(known);
        let origin = match known.checked_sub(1) {
            Some(last) => Some(run.names.nth(last).at(run.replica)),
            None => run.origin,
        };
        let text = run.text.as_deref().map(|text| {
            let start = text
                .char_indices()
                .nth(known as usize)
                .map_or(text.len(), |(at, _)| at);
            let text = &text[start..];
            (text, Size::of(text))
        });
        let (spot, offset) = self.place(origin, Key { lamport, author });
        self.weave(
            spot,
            offset,
            Woven {
                author,
                names,
                lamport,
            },
            text,
        );
        self.clock = self.clock.max(lamport + u64::from(len - 1));
    }

    /// Where an element goes: behind how many elements of which run.
    //= Roh et al. 2011 (RGA), section 5: right of the origin, past all with a greater id.
    fn place(&mut self, origin: Option<EntryId>, key: Key) -> (Spot, u32) {
        let mut right = self.tree.start();
        if let Some((at, offset)) = origin.and_then(|origin| self.locate(origin)) {
            let run = self.tree.at(at.leaf, at.run);
            let next = Key {
                lamport: run.lamport + u64::from(offset) + 1,
                author: run.author,
            };
            if offset + 1 < run.len() && self.tree.compare(next, key).is_lt() {
                return (self.tree.spot(at), offset + 1);
            }
            right = Gap {
                run: at.run + 1,
                ..at
            };
        }
        let gap = self
            .tree
            .smaller_right(right, key)
            .unwrap_or_else(|| self.tree.end());
        let gap = self.tree.leftmost(gap);
        match gap.run.checked_sub(1) {
            None => (self.tree.spot(gap), 0),
            Some(run) => {
                let at = Gap { run, ..gap };
                (self.tree.spot(at), self.tree.at(at.leaf, at.run).len())
            }
        }
    }

    /// Keeps the unknown records of a checked run and hides what they name.
    fn apply(&mut self, run: &DeleteRun) {
        let author = self.tree.intern(run.replica);
        let known = self
            .records
            .tail(author)
            .map_or(0, |name| run.names.count_upto(name));
        let Some(len) = run.names.len().checked_sub(known).filter(|len| *len > 0) else {
            return;
        };
        let target = self.tree.intern(run.target_replica);
        let backward = run.backward && run.names.len() > 1;
        let start = if backward { 0 } else { known };
        let targets = run.targets.part(start, len);
        let mut pieces = self.hide_all(target, targets);
        if backward {
            pieces.reverse();
        }
        let mut done = known;
        for (targets, lamport) in pieces {
            let names = run.names.part(done, targets.len());
            let backward = backward && targets.len() > 1;
            let record = Record {
                names,
                author: target,
                targets,
                lamport,
                backward,
            };
            self.records.push(author, record);
            done += targets.len();
        }
    }

    /// Hides elements that are here; gives them back in pieces with their Lamport times.
    fn hide_all(&mut self, author: u32, targets: Names) -> Vec<(Names, u64)> {
        let mut pieces = Vec::new();
        let mut done = 0;
        while done < targets.len() {
            let Some((at, offset)) = self.tree.locate(author, targets.nth(done)) else {
                debug_assert!(false, "targets are checked");
                break;
            };
            let found = *self.tree.at(at.leaf, at.run);
            let rest = found.names.part(offset, found.len() - offset);
            let len = rest.common(&targets.part(done, targets.len() - done));
            if !found.hidden {
                let spot = self.tree.spot(at);
                self.hide(spot, offset, len);
            }
            pieces.push((targets.part(done, len), found.lamport + u64::from(offset)));
            done += len;
        }
        pieces
    }
}

/// Origins before what names them: by Lamport time.
fn in_order(runs: &[InsertRun]) -> Vec<&InsertRun> {
    let mut runs: Vec<_> = runs.iter().collect();
    runs.sort_by_key(|run| (run.lamport, run.replica, run.names.first()));
    runs
}

fn records_in_order(runs: &[DeleteRun]) -> Vec<&DeleteRun> {
    let mut runs: Vec<_> = runs.iter().collect();
    runs.sort_by_key(|run| (run.replica, run.names.first()));
    runs
}

type NewNames<T> = BTreeMap<(ReplicaId, Name), (Names, T)>;

/// A sequence and what a part adds to it, as far as it has been checked.
struct Check<'a> {
    sequence: &'a Sequence,
    tails: BTreeMap<ReplicaId, (Option<(Name, u64)>, Option<Name>)>,
    /// New elements with the Lamport time of the first.
    elements: NewNames<u64>,
    records: NewNames<()>,
}

impl<'a> Check<'a> {
    fn new(sequence: &'a Sequence) -> Self {
        let (elements, records) = (BTreeMap::new(), BTreeMap::new());
        Self {
            sequence,
            tails: BTreeMap::new(),
            elements,
            records,
        }
    }

    /// The last element and the last record of a replica.
    fn tails(&mut self, replica: ReplicaId) -> &mut (Option<(Name, u64)>, Option<Name>) {
        let Sequence { tree, records, .. } = self.sequence;
        let known = || {
            let author = tree.author_of(replica);
            author.map_or((None, None), |author| {
                (tree.author(author).tail, records.tail(author))
            })
        };
        self.tails.entry(replica).or_insert_with(known)
    }

    fn insert(&mut self, run: &InsertRun) -> Result<(), PartError> {
        let first = run.names.first().at(run.replica);
        even(first)?;
        let last = run.lamport.checked_add(u64::from(run.names.len() - 1));
        let last = last.filter(|last| run.lamport > 0 && *last < u64::MAX);
        let last = last.ok_or(PartError::Lamport(first))?;
        if run
            .text
            .as_ref()
            .is_some_and(|text| text.chars().count() != run.names.len() as usize)
        {
            return Err(PartError::TextLength(first));
        }
        let (tail, _) = *self.tails(run.replica);
        let known = tail.map_or(0, |(name, _)| run.names.count_upto(name));
        if known > 0 {
            let missing = self.missing(run.replica, run.names.part(0, known));
            missing.map_or(Ok(()), |id| Err(PartError::OutOfOrder(id)))?;
        }
        if known == run.names.len() {
            return Ok(());
        }
        let lamport = run.lamport + u64::from(known);
        if tail.is_some_and(|(_, before)| before >= lamport) {
            return Err(PartError::Lamport(first));
        }
        if known == 0 {
            self.origin(run, first)?;
        }
        let names = run.names.part(known, run.names.len() - known);
        self.elements
            .insert((run.replica, names.first()), (names, lamport));
        self.tails(run.replica).0 = Some((names.last(), last));
        Ok(())
    }

    fn origin(&self, run: &InsertRun, first: EntryId) -> Result<(), PartError> {
        let Some(origin) = run.origin else {
            return Ok(());
        };
        let found = self.find(origin.dot.replica, origin.into());
        let (_, lamport) = found.ok_or(PartError::UnknownOrigin(origin))?;
        if (lamport, origin.dot.replica) >= (run.lamport, run.replica) {
            return Err(PartError::NotAfterOrigin(first));
        }
        Ok(())
    }

    fn delete(&mut self, run: &DeleteRun) -> Result<(), PartError> {
        let first = run.names.first().at(run.replica);
        even(first)?;
        if run.targets.len() != run.names.len() {
            return Err(PartError::TargetLength(first));
        }
        let (_, tail) = *self.tails(run.replica);
        let known = tail.map_or(0, |name| run.names.count_upto(name));
        if known > 0 {
            let missing = self.missing_record(run.replica, run.names.part(0, known));
            missing.map_or(Ok(()), |id| Err(PartError::OutOfOrder(id)))?;
        }
        if known == run.names.len() {
            return Ok(());
        }
        if let Some(id) = self.missing(run.target_replica, run.targets) {
            return Err(PartError::UnknownTarget(id));
        }
        let names = run.names.part(known, run.names.len() - known);
        self.records
            .insert((run.replica, names.first()), (names, ()));
        self.tails(run.replica).1 = Some(names.last());
        Ok(())
    }

    /// The names from an element on in the run that holds it, and its Lamport time.
    fn find(&self, replica: ReplicaId, name: Name) -> Option<(Names, u64)> {
        let tree = &self.sequence.tree;
        let here = tree
            .author_of(replica)
            .and_then(|author| tree.locate(author, name));
        let (names, lamport, offset) = match here {
            Some((at, offset)) => {
                let run = tree.at(at.leaf, at.run);
                (run.names, run.lamport, offset)
            }
            None => {
                let (_, (names, lamport)) = floor(&self.elements, replica, name)?;
                (*names, *lamport, names.offset_of(name)?)
            }
        };
        Some((
            names.part(offset, names.len() - offset),
            lamport + u64::from(offset),
        ))
    }

    /// The first of these elements that is not here.
    fn missing(&self, replica: ReplicaId, names: Names) -> Option<EntryId> {
        missing(replica, names, |name| {
            self.find(replica, name).map(|(names, _)| names)
        })
    }

    fn missing_record(&self, replica: ReplicaId, names: Names) -> Option<EntryId> {
        let Sequence { tree, records, .. } = self.sequence;
        let author = tree.author_of(replica);
        missing(replica, names, |name| {
            let here = author.and_then(|author| records.find(author, name));
            let here = here.map(|(run, offset)| (run.names, offset));
            let (names, offset) = here.or_else(|| {
                let (_, (names, ())) = floor(&self.records, replica, name)?;
                Some((*names, names.offset_of(name)?))
            })?;
            Some(names.part(offset, names.len() - offset))
        })
    }

    /// Names are unique: none is both an element and a record.
    ///
    /// Runs of one kind do not overlap, so this looks at no more pairs than there are runs.
    fn used_twice(&self) -> Result<(), PartError> {
        let Sequence { tree, records, .. } = self.sequence;
        let twice = |replica, names: &Names, other: &Names| match names.overlaps(other) {
            true => Err(PartError::UsedTwice(names.first().at(replica))),
            false => Ok(()),
        };
        for (&(replica, first), (names, _)) in &self.elements {
            let Some(author) = tree.author_of(replica) else {
                continue;
            };
            let later = records.from(author, first).iter();
            for record in later.take_while(|record| record.names.first() <= names.last()) {
                twice(replica, names, &record.names)?;
            }
        }
        for (&(replica, first), (names, ())) in &self.records {
            let start = floor(&self.elements, replica, first).map_or((replica, first), |(k, _)| *k);
            let end = (replica, names.last());
            let start = start.min(end);
            for (_, (other, _)) in self.elements.range(start..=end) {
                twice(replica, names, other)?;
            }
            let Some(author) = tree.author_of(replica) else {
                continue;
            };
            for at in tree.runs_of(author, first) {
                let other = &tree.at(at.leaf, at.run).names;
                if other.first() > names.last() {
                    break;
                }
                twice(replica, names, other)?;
            }
        }
        Ok(())
    }
}

/// The last run of `replica` that starts at or before `name`.
fn floor<T>(
    runs: &NewNames<T>,
    replica: ReplicaId,
    name: Name,
) -> Option<(&(ReplicaId, Name), &(Names, T))> {
    let (key, run) = runs.range(..=(replica, name)).next_back()?;
    (key.0 == replica).then_some((key, run))
}

/// The first name for which there is no run; `find` gives the run of a name from there on.
fn missing(
    replica: ReplicaId,
    names: Names,
    find: impl Fn(Name) -> Option<Names>,
) -> Option<EntryId> {
    let mut done = 0;
    while done < names.len() {
        let Some(found) = find(names.nth(done)) else {
            return Some(names.nth(done).at(replica));
        };
        done += found.common(&names.part(done, names.len() - done));
    }
    None
}

fn even(id: EntryId) -> Result<(), PartError> {
    if id.index.is_multiple_of(INDEX_STEP) {
        Ok(())
    } else {
        Err(PartError::OddIndex(id))
    }
}
