//! Building a whole sequence from its lists: runs in document order, visible text, records.
//!
//! Rule: everything is checked before anything is built. NameRun are unique and Lamport times
//! ascend with them per replica; every target exists; an element is hidden if and only if a
//! record names it; the text has as many characters as there are visible elements. Origins
//! need no check: any order of distinct ids is the RGA order of the origins it implies.
//! Complexity: r runs of both kinds; O(r log r) for sorting by name, O(r + text) besides,
//! whatever the lists say: a run of records is checked without walking over its targets.

use alloc::vec::Vec;
use core::fmt;

use crop::Rope;

use super::Sequence;
use super::delta::{DeleteRun, ElementRun};
use super::local::{piece_max, take_chars};
use super::records::{Record, Records};
use crate::clock::{EntryId, ReplicaId};
use crate::text::name_run::{Chain, INDEX_STEP, Name, NameRun};
use crate::text::run_tree::RunTree;
use crate::text::run_tree::run::{Run, Size};

/// Why lists are not those of a sequence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum BuildError {
    /// An entry of a sequence has an odd index.
    OddIndex(EntryId),
    /// The clock is used up, or not that of the newest element.
    Clock,
    /// A Lamport time is 0, used up, greater than the clock, or does not ascend with the names.
    Lamport(EntryId),
    /// A name is used twice, or runs of one replica lie within each other.
    UsedTwice(EntryId),
    /// The visible elements are not as many as the characters of the text.
    TextLength,
    /// The targets of a run of records are not as many as its records.
    TargetLength(EntryId),
    /// A run of records (first named here) has targets that do not exist, or are not
    /// consecutive in Lamport time.
    UnknownTarget(EntryId),
    /// Elements of this run are said to be visible, but a record names them.
    NotHidden(EntryId),
    /// Elements of this run are said to be hidden, but no record names them.
    NotTargeted(EntryId),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OddIndex(id) => write!(f, "sequence entry {id:?} has an odd index"),
            Self::Clock => f.write_str("the clock is not that of the newest element"),
            Self::Lamport(id) => write!(f, "element {id:?} has an impossible lamport time"),
            Self::UsedTwice(id) => write!(f, "{id:?} is named twice or out of order"),
            Self::TextLength => f.write_str("the text has more or less characters than elements"),
            Self::TargetLength(id) => write!(f, "run {id:?} has not as many targets as records"),
            Self::UnknownTarget(id) => write!(f, "a target of run {id:?} does not exist"),
            Self::NotHidden(id) => write!(f, "run {id:?} is visible but deleted"),
            Self::NotTargeted(id) => write!(f, "run {id:?} is hidden but not deleted"),
        }
    }
}

impl core::error::Error for BuildError {}

impl Sequence {
    /// Builds a sequence from what [`Sequence::runs`], [`Sequence::chunks`],
    /// [`Sequence::record_runs`] and [`Sequence::clock`] say of it.
    ///
    /// # Errors
    /// [`BuildError`]: the first fault found.
    ///
    /// # Complexity
    /// O(r log r + text), see the module.
    pub fn build(
        runs: &[ElementRun],
        text: &str,
        deletes: &[DeleteRun],
        clock: u64,
    ) -> Result<Self, BuildError> {
        if clock == u64::MAX {
            return Err(BuildError::Clock);
        }
        let elements = sorted_elements(runs, clock)?;
        // Elements stay for good, so nothing else has moved the clock: a state has one spelling.
        let last = |run: &&ElementRun| run.lamport + u64::from(run.names.len() - 1);
        if elements.iter().map(last).max().unwrap_or(0) != clock {
            return Err(BuildError::Clock);
        }
        let deletes = sorted_records(deletes)?;
        used_twice(&elements, &deletes)?;
        let coverage = Coverage::new(&elements, &deletes)?;
        coverage.check(&elements)?;
        let mut ids: Vec<ReplicaId> = elements.iter().map(|run| run.replica).collect();
        ids.extend(deletes.iter().map(|run| run.replica));
        ids.sort_unstable();
        ids.dedup();
        let number = |id| ids.binary_search(&id).unwrap_or(0) as u32;
        let tree = RunTree::build(&ids, &tree_runs(runs, text, number)?);
        let mut records = Records::default();
        for (run, lamport) in deletes.into_iter().zip(coverage.lamports) {
            let author = number(run.target_replica);
            let (names, targets) = (run.names, run.targets);
            let backward = run.backward && names.len() > 1;
            let record = Record {
                names,
                author,
                targets,
                lamport,
                backward,
            };
            records.push(number(run.replica), record);
        }
        let elements = elements.iter().map(|run| u64::from(run.names.len())).sum();
        let text = Rope::from(text);
        Ok(Self {
            tree,
            records,
            text,
            clock,
            elements,
            journal: None,
        })
    }
}

/// The runs of the tree: with sizes, cut where a visible one is long and mixed.
fn tree_runs(
    runs: &[ElementRun],
    text: &str,
    number: impl Fn(ReplicaId) -> u32,
) -> Result<Vec<Run>, BuildError> {
    let mut list: Vec<Run> = Vec::with_capacity(runs.len());
    let mut push = |run: Run| match list.last().and_then(|last| last.join(&run)) {
        Some(joined) => list.last_mut().into_iter().for_each(|last| *last = joined),
        None => list.push(run),
    };
    let mut rest = text;
    for run in runs {
        let author = number(run.replica);
        let (names, lamport) = (run.names, run.lamport);
        let whole = Run {
            names,
            lamport,
            author,
            bytes: 0,
            utf16: 0,
            hidden: true,
        };
        if !run.visible {
            push(whole);
            continue;
        }
        let (mut here, more) = take_chars(rest, names.len()).ok_or(BuildError::TextLength)?;
        rest = more;
        let max = piece_max(Size::of(here));
        let mut done = 0;
        while done < names.len() {
            let len = max.min(names.len() - done);
            let (piece, more) = take_chars(here, len).ok_or(BuildError::TextLength)?;
            push(whole.part(done, len, Size::default()).show(Size::of(piece)));
            here = more;
            done += len;
        }
    }
    if rest.is_empty() {
        Ok(list)
    } else {
        Err(BuildError::TextLength)
    }
}

/// The runs by replica and name, each checked against the one before.
fn sorted_elements(runs: &[ElementRun], clock: u64) -> Result<Vec<&ElementRun>, BuildError> {
    let mut sorted: Vec<_> = runs.iter().collect();
    sorted.sort_by_key(|run| (run.replica, run.names.first()));
    let last = |run: &ElementRun| run.lamport.checked_add(u64::from(run.names.len() - 1));
    for run in &sorted {
        let first = run.names.first().at(run.replica);
        even(first)?;
        let fits = last(run).is_some_and(|last| last <= clock);
        if run.lamport == 0 || !fits {
            return Err(BuildError::Lamport(first));
        }
    }
    for pair in sorted.windows(2) {
        let (run, next) = (pair[0], pair[1]);
        if run.replica == next.replica {
            let first = next.names.first();
            if run.names.last() >= first {
                return Err(BuildError::UsedTwice(first.at(next.replica)));
            }
            if last(run) >= Some(next.lamport) {
                return Err(BuildError::Lamport(first.at(next.replica)));
            }
        }
    }
    Ok(sorted)
}

fn sorted_records(runs: &[DeleteRun]) -> Result<Vec<&DeleteRun>, BuildError> {
    let mut sorted: Vec<_> = runs.iter().collect();
    sorted.sort_by_key(|run| (run.replica, run.names.first()));
    for run in &sorted {
        let first = run.names.first().at(run.replica);
        even(first)?;
        if run.names.len() != run.targets.len() {
            return Err(BuildError::TargetLength(first));
        }
    }
    for pair in sorted.windows(2) {
        let (run, next) = (pair[0], pair[1]);
        if run.replica == next.replica && run.names.last() >= next.names.first() {
            return Err(BuildError::UsedTwice(next.names.first().at(next.replica)));
        }
    }
    Ok(sorted)
}

fn even(id: EntryId) -> Result<(), BuildError> {
    if id.index.is_multiple_of(INDEX_STEP) {
        Ok(())
    } else {
        Err(BuildError::OddIndex(id))
    }
}

/// No name is an element's and a record's. The runs of each list are disjoint and sorted.
fn used_twice(elements: &[&ElementRun], records: &[&DeleteRun]) -> Result<(), BuildError> {
    let (mut e, mut r) = (0, 0);
    while let (Some(element), Some(record)) = (elements.get(e), records.get(r)) {
        if element.replica == record.replica && element.names.overlaps(&record.names) {
            return Err(BuildError::UsedTwice(
                element.names.first().at(element.replica),
            ));
        }
        if (element.replica, element.names.last()) < (record.replica, record.names.last()) {
            e += 1;
        } else {
            r += 1;
        }
    }
    Ok(())
}

/// Which elements are targets: ranges over all elements in order of names, disjoint, sorted.
struct Coverage {
    /// How many elements lie before each run.
    starts: Vec<u64>,
    ranges: Vec<(u64, u64)>,
    /// The Lamport time of the least target of each run of records.
    lamports: Vec<u64>,
}

impl Coverage {
    fn new(elements: &[&ElementRun], records: &[&DeleteRun]) -> Result<Self, BuildError> {
        let mut starts = Vec::with_capacity(elements.len());
        let mut count = 0_u64;
        for run in elements {
            starts.push(count);
            count += u64::from(run.names.len());
        }
        let breaks = [
            Breaks::new(elements, Chain::Dots),
            Breaks::new(elements, Chain::Indices),
        ];
        let mut ranges = Vec::with_capacity(records.len());
        let mut lamports = Vec::with_capacity(records.len());
        for record in records {
            let targets = record.targets;
            let breaks = &breaks[usize::from(targets.chain() == Chain::Indices)];
            let unknown = BuildError::UnknownTarget(record.names.first().at(record.replica));
            let find = |name| find(elements, record.target_replica, name).ok_or(unknown);
            let (first, from) = find(targets.first())?;
            let (last, to) = find(targets.last())?;
            if !breaks.chain(elements, (first, from), (last, to)) {
                return Err(unknown);
            }
            lamports.push(elements[first].lamport + u64::from(from));
            let start = starts[first] + u64::from(from);
            ranges.push((start, start + u64::from(targets.len())));
        }
        ranges.sort_unstable();
        let mut joined: Vec<(u64, u64)> = Vec::with_capacity(ranges.len());
        for (start, end) in ranges {
            match joined.last_mut().filter(|last| start <= last.1) {
                Some(last) => last.1 = last.1.max(end),
                None => joined.push((start, end)),
            }
        }
        let ranges = joined;
        Ok(Self {
            starts,
            ranges,
            lamports,
        })
    }

    /// Hidden elements are covered, visible ones are not.
    fn check(&self, elements: &[&ElementRun]) -> Result<(), BuildError> {
        let mut ranges = self.ranges.iter().peekable();
        for (run, &start) in elements.iter().zip(&self.starts) {
            let end = start + u64::from(run.names.len());
            while ranges.next_if(|range| range.1 <= start).is_some() {}
            let range = ranges.peek().filter(|range| range.0 < end);
            let covered = range.is_some_and(|range| range.0 <= start && end <= range.1);
            let first = run.names.first().at(run.replica);
            if run.visible && range.is_some() {
                return Err(BuildError::NotHidden(first));
            }
            if !run.visible && !covered {
                return Err(BuildError::NotTargeted(first));
            }
        }
        Ok(())
    }
}

/// Where the names of sorted runs do not chain in one way: counted up, so that a range of
/// runs is asked in O(1).
struct Breaks {
    chain: Chain,
    /// Runs before the i-th that chain otherwise.
    runs: Vec<u32>,
    /// Borders before the i-th run, its own included, at which names do not chain.
    borders: Vec<u32>,
}

impl Breaks {
    fn new(elements: &[&ElementRun], chain: Chain) -> Self {
        let (mut runs, mut borders) = (Vec::new(), Vec::new());
        let (mut other, mut cut) = (0, 0);
        let mut last: Option<&ElementRun> = None;
        for run in elements {
            let linked = last.is_some_and(|last| {
                let end = NameRun::one(last.names.last());
                let pair = end.join(&NameRun::one(run.names.first()));
                let next = last.lamport + u64::from(last.names.len());
                last.replica == run.replica
                    && next == run.lamport
                    && pair.is_some_and(|pair| pair.chain() == chain)
            });
            cut += u32::from(!linked);
            runs.push(other);
            borders.push(cut);
            other += u32::from(!chains(&run.names, chain));
            last = Some(run);
        }
        Self {
            chain,
            runs,
            borders,
        }
    }

    /// Whether all names between two places, both included, chain.
    fn chain(&self, elements: &[&ElementRun], from: (usize, u32), to: (usize, u32)) -> bool {
        let part =
            |run: usize, from: u32, to: u32| from == to || chains(&elements[run].names, self.chain);
        if from.0 >= to.0 {
            return from.0 == to.0 && from.1 <= to.1 && part(from.0, from.1, to.1);
        }
        part(from.0, from.1, elements[from.0].names.len() - 1)
            && part(to.0, 0, to.1)
            && self.runs[to.0] == self.runs[from.0 + 1]
            && self.borders[to.0] == self.borders[from.0]
    }
}

fn chains(names: &NameRun, chain: Chain) -> bool {
    names.len() == 1 || names.chain() == chain
}

/// The run that holds an element, and its offset in there.
fn find(elements: &[&ElementRun], replica: ReplicaId, name: Name) -> Option<(usize, u32)> {
    let behind =
        elements.partition_point(|run| (run.replica, run.names.first()) <= (replica, name));
    let at = behind.checked_sub(1)?;
    let run = elements[at];
    let offset = run.names.offset_of(name)?;
    (run.replica == replica).then_some((at, offset))
}
