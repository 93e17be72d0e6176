//! The delete records of a sequence: runs per replica, in order of their names.
//!
//! Rule: only what comes after a replica's last record is new, so a run is only ever added at
//! the end of its replica's list; a run goes on where the names *and* the targets chain, the
//! targets forwards (a range, the delete key) or backwards (backspacing). Targets chain where
//! elements do, by name and Lamport time, so they are consecutive among their author's
//! elements; by name alone others might lie between.
//! Source: kernel rules R27, R31. Space: 80 bytes a run. Complexity: O(log r) a search.

use alloc::vec::Vec;

use crate::text::name_run::{Name, NameRun};

/// Delete records of one replica whose names and targets chain.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Record {
    pub(super) names: NameRun,
    /// The replica of the targets, by its number in the tree.
    pub(super) author: u32,
    /// The targets, ascending; as many as names.
    pub(super) targets: NameRun,
    /// The Lamport time of the least target, one more for each next.
    pub(super) lamport: u64,
    /// Whether the first record names the last target. False for a single one.
    pub(super) backward: bool,
}

impl Record {
    /// The part of `len` records from the `from`-th on.
    pub(super) fn part(&self, from: u32, len: u32) -> Self {
        let start = if self.backward {
            self.names.len() - from - len
        } else {
            from
        };
        Self {
            names: self.names.part(from, len),
            author: self.author,
            targets: self.targets.part(start, len),
            lamport: self.lamport + u64::from(start),
            backward: self.backward && len > 1,
        }
    }

    /// The target of the `offset`-th record.
    pub(super) fn target(&self, offset: u32) -> Name {
        let last = self.names.len() - 1;
        self.targets
            .nth(if self.backward { last - offset } else { offset })
    }

    /// Both as one, if they chain.
    pub(super) fn join(&self, next: &Self) -> Option<Self> {
        let names = self.names.join(&next.names)?;
        if self.author != next.author {
            return None;
        }
        let fits = |run: &Self, backward| run.names.len() == 1 || run.backward == backward;
        let both = |backward| fits(self, backward) && fits(next, backward);
        if both(false) && self.targets_chain(next) {
            let targets = self.targets.join(&next.targets)?;
            return Some(Self {
                names,
                targets,
                backward: false,
                ..*self
            });
        }
        if both(true) && next.targets_chain(self) {
            let targets = next.targets.join(&self.targets)?;
            return Some(Self {
                names,
                targets,
                lamport: next.lamport,
                backward: true,
                ..*self
            });
        }
        None
    }

    fn targets_chain(&self, next: &Self) -> bool {
        self.lamport.checked_add(u64::from(self.targets.len())) == Some(next.lamport)
    }
}

/// All delete records, per author by its number in the tree.
#[derive(Clone, Default)]
pub(super) struct Records {
    of: Vec<Vec<Record>>,
    count: u64,
}

impl Records {
    /// How many records there are.
    pub(super) fn len(&self) -> u64 {
        self.count
    }

    /// How many runs of records there are.
    pub(super) fn run_count(&self) -> usize {
        self.of.iter().map(Vec::len).sum()
    }

    /// The runs of an author, ascending.
    pub(super) fn of(&self, author: u32) -> &[Record] {
        self.of.get(author as usize).map_or(&[], Vec::as_slice)
    }

    /// The runs of an author from the one that holds `name`, or the first behind it.
    pub(super) fn from(&self, author: u32, name: Name) -> &[Record] {
        let runs = self.of(author);
        &runs[runs.partition_point(|run| run.names.last() < name)..]
    }

    /// The last name of an author.
    pub(super) fn tail(&self, author: u32) -> Option<Name> {
        self.of(author).last().map(|run| run.names.last())
    }

    /// The run that holds `name`, and the offset in there.
    pub(super) fn find(&self, author: u32, name: Name) -> Option<(&Record, u32)> {
        let run = self.from(author, name).first()?;
        Some((run, run.names.offset_of(name)?))
    }

    /// Adds records behind the last of their author, element for element where runs chain.
    pub(super) fn push(&mut self, author: u32, record: Record) {
        if self.of.len() <= author as usize {
            self.of.resize_with(author as usize + 1, Vec::new);
        }
        self.count += u64::from(record.names.len());
        push(&mut self.of[author as usize], record, Record::join, |run| {
            let len = run.names.len();
            (len > 1).then(|| (run.part(0, 1), run.part(1, len - 1)))
        });
    }

    /// How far an author's list reaches, for [`Records::cut`].
    pub(super) fn mark(&self, author: u32) -> (usize, Option<Record>) {
        (self.of(author).len(), self.of(author).last().copied())
    }

    /// Takes the records that were pushed since `mark`.
    pub(super) fn cut(&mut self, author: u32, mark: (usize, Option<Record>)) {
        let Some(runs) = self.of.get_mut(author as usize) else {
            return;
        };
        let len = |runs: &[Record]| {
            runs.iter()
                .map(|run| u64::from(run.names.len()))
                .sum::<u64>()
        };
        let kept = mark.0.saturating_sub(1);
        self.count -= len(&runs[kept..]);
        runs.truncate(kept);
        runs.extend(mark.1);
        self.count += len(&runs[kept..]);
    }
}

/// Adds a run to a list as if its elements came one by one, so that the runs of a list are a
/// function of its elements.
pub(super) fn push<T: Copy>(
    list: &mut Vec<T>,
    run: T,
    join: impl Fn(&T, &T) -> Option<T>,
    behead: impl Fn(&T) -> Option<(T, T)>,
) {
    let Some(last) = list.last_mut() else {
        return list.push(run);
    };
    if let Some(joined) = join(last, &run) {
        *last = joined;
        return;
    }
    if let Some((head, rest)) = behead(&run)
        && let Some(joined) = join(last, &head)
    {
        *last = joined;
        return list.push(rest);
    }
    list.push(run);
}
