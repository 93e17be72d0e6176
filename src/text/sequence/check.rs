//! Checking a part before it is absorbed.
//!
//! Rule: names and Lamport times ascend per replica, what is named is here or comes along, no
//! name is an element's and a record's, what comes hidden is hidden by a record.
//! Complexity: O(log n) a run.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::fmt;

use super::Sequence;
use super::delta::{DeleteRun, InsertRun, Part};
use super::remote::{in_order, records_in_order};
use crate::clock::{EntryId, ReplicaId};
use crate::text::name_run::{INDEX_STEP, Name, NameRun};

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
    /// New elements of a run come without content, but no record that comes along hides them.
    NotTargeted(EntryId),
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
            Self::NotTargeted(id) => write!(f, "run {id:?} is hidden but not deleted"),
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
        check.hidden_are_targets()?;
        check.used_twice()
    }
}

/// The first name of a run.
type First = (ReplicaId, Name);
type NewNames<T> = BTreeMap<First, (NameRun, T)>;

/// The last element with its Lamport time, and the last record of a replica.
type Tails = (Option<(Name, u64)>, Option<Name>);

/// A sequence and what a part adds to it, as far as it has been checked.
struct Check<'a> {
    sequence: &'a Sequence,
    tails: BTreeMap<ReplicaId, Tails>,
    /// New elements with the Lamport time of the first, and whether they are hidden.
    elements: NewNames<(u64, bool)>,
    records: NewNames<()>,
    /// Targets among the new elements: run, offset, length.
    targets: Vec<(First, u32, u32)>,
}

/// Where an element is.
struct Found {
    /// The names from it on, in the run that holds it.
    names: NameRun,
    lamport: u64,
    /// If it is new: its run and the offset in there.
    new: Option<(First, u32)>,
}

impl<'a> Check<'a> {
    fn new(sequence: &'a Sequence) -> Self {
        Self {
            sequence,
            tails: BTreeMap::new(),
            elements: BTreeMap::new(),
            records: BTreeMap::new(),
            targets: Vec::new(),
        }
    }

    /// The last element and the last record of a replica.
    fn tails(&mut self, replica: ReplicaId) -> &mut Tails {
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
        self.elements.insert(
            (run.replica, names.first()),
            (names, (lamport, run.text.is_none())),
        );
        self.tails(run.replica).0 = Some((names.last(), last));
        Ok(())
    }

    fn origin(&self, run: &InsertRun, first: EntryId) -> Result<(), PartError> {
        let Some(origin) = run.origin else {
            return Ok(());
        };
        let found = self.find(origin.dot.replica, origin.into());
        let lamport = found.ok_or(PartError::UnknownOrigin(origin))?.lamport;
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
        if let Some(id) = self.missing_target(run.target_replica, run.targets) {
            return Err(PartError::UnknownTarget(id));
        }
        let names = run.names.part(known, run.names.len() - known);
        self.records
            .insert((run.replica, names.first()), (names, ()));
        self.tails(run.replica).1 = Some(names.last());
        Ok(())
    }

    fn find(&self, replica: ReplicaId, name: Name) -> Option<Found> {
        let tree = &self.sequence.tree;
        let here = tree
            .author_of(replica)
            .and_then(|author| tree.locate(author, name));
        let (names, lamport, offset, key) = match here {
            Some((at, offset)) => {
                let run = tree.at(at.leaf, at.run);
                (run.names, run.lamport, offset, None)
            }
            None => {
                let (key, names, (lamport, _)) = floor(&self.elements, replica, name)?;
                (names, lamport, names.offset_of(name)?, Some(key))
            }
        };
        Some(Found {
            names: names.part(offset, names.len() - offset),
            lamport: lamport + u64::from(offset),
            new: key.map(|key| (key, offset)),
        })
    }

    /// The first of these elements that is not here.
    fn missing(&self, replica: ReplicaId, names: NameRun) -> Option<EntryId> {
        missing(replica, names, |name, _| {
            self.find(replica, name).map(|found| found.names)
        })
    }

    /// The same, for targets: those that are new are noted.
    fn missing_target(&mut self, replica: ReplicaId, names: NameRun) -> Option<EntryId> {
        let mut targets = core::mem::take(&mut self.targets);
        let missing = missing(replica, names, |name, rest| {
            let found = self.find(replica, name)?;
            if let Some((key, offset)) = found.new {
                targets.push((key, offset, found.names.common(&rest)));
            }
            Some(found.names)
        });
        self.targets = targets;
        missing
    }

    /// What comes hidden is hidden by a record that comes along.
    fn hidden_are_targets(&mut self) -> Result<(), PartError> {
        self.targets.sort_unstable();
        let mut targets = self.targets.iter().peekable();
        for (key, (names, (_, hidden))) in &self.elements {
            let mut covered = 0;
            while let Some((_, offset, len)) = targets.next_if(|target| target.0 <= *key) {
                if *offset <= covered {
                    covered = covered.max(offset + len);
                }
            }
            if *hidden && covered < names.len() {
                return Err(PartError::NotTargeted(key.1.at(key.0)));
            }
        }
        Ok(())
    }

    fn missing_record(&self, replica: ReplicaId, names: NameRun) -> Option<EntryId> {
        let Sequence { tree, records, .. } = self.sequence;
        let author = tree.author_of(replica);
        missing(replica, names, |name, _| {
            let here = author.and_then(|author| records.find(author, name));
            let here = here.map(|(run, offset)| (run.names, offset));
            let (names, offset) = here.or_else(|| {
                let (_, names, ()) = floor(&self.records, replica, name)?;
                Some((names, names.offset_of(name)?))
            })?;
            Some(names.part(offset, names.len() - offset))
        })
    }

    /// NameRun are unique: none is both an element and a record.
    ///
    /// Runs of one kind do not overlap, so this looks at no more pairs than there are runs.
    fn used_twice(&self) -> Result<(), PartError> {
        let Sequence { tree, records, .. } = self.sequence;
        let twice = |replica, names: &NameRun, other: &NameRun| match names.overlaps(other) {
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
            let start = floor(&self.elements, replica, first).map_or((replica, first), |run| run.0);
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
fn floor<T: Copy>(
    runs: &NewNames<T>,
    replica: ReplicaId,
    name: Name,
) -> Option<(First, NameRun, T)> {
    let (&first, &(names, more)) = runs.range(..=(replica, name)).next_back()?;
    (first.0 == replica).then_some((first, names, more))
}

/// The first name for which there is no run; `find` gets a name and the rest of the names from
/// there on, and gives the run of that name from there on.
fn missing(
    replica: ReplicaId,
    names: NameRun,
    mut find: impl FnMut(Name, NameRun) -> Option<NameRun>,
) -> Option<EntryId> {
    let mut done = 0;
    while done < names.len() {
        let rest = names.part(done, names.len() - done);
        let Some(found) = find(rest.first(), rest) else {
            return Some(rest.first().at(replica));
        };
        done += found.common(&rest);
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
