//! What leaves a sequence: the part of some updates, and everything in document order.
//!
//! A part holds insert runs and delete-record runs and nothing else; whoever has the causal
//! past of the updates can absorb it. The lists in document order are functions of the
//! elements and records, however the runs happen to be cut inside: maximal runs from the left.

use alloc::string::String;
use alloc::vec::Vec;

use super::Sequence;
use super::records::Record;
use crate::clock::{EntryId, ReplicaId};
use crate::text::name_run::{Name, NameRun};

/// Elements as they travel: each one's origin is the one before it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InsertRun {
    /// Their author.
    pub replica: ReplicaId,
    /// Their names.
    pub names: NameRun,
    /// The Lamport time of the first, one more for each next.
    pub lamport: u64,
    /// What the first was inserted behind; `None` is the start.
    pub origin: Option<EntryId>,
    /// Their characters; `None` if they are hidden by now.
    pub text: Option<String>,
}

/// Delete records as they travel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DeleteRun {
    /// Their author.
    pub replica: ReplicaId,
    /// The names of the records.
    pub names: NameRun,
    /// The author of the targets.
    pub target_replica: ReplicaId,
    /// The targets, ascending, as many as there are records.
    pub targets: NameRun,
    /// Whether the first record names the last target. False for a single one.
    pub backward: bool,
}

/// A part of a sequence: what some updates made.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Part {
    /// Elements.
    pub inserts: Vec<InsertRun>,
    /// Delete records.
    pub deletes: Vec<DeleteRun>,
}

/// Elements in document order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ElementRun {
    /// Their author.
    pub replica: ReplicaId,
    /// Their names.
    pub names: NameRun,
    /// The Lamport time of the first, one more for each next.
    pub lamport: u64,
    /// Whether they are visible.
    pub visible: bool,
}

impl ElementRun {
    fn join(&self, next: &Self) -> Option<Self> {
        let chains = self.replica == next.replica
            && self.visible == next.visible
            && self.lamport.checked_add(u64::from(self.names.len())) == Some(next.lamport);
        let names = self.names.join(&next.names)?;
        chains.then_some(Self { names, ..*self })
    }

    fn behead(&self) -> Option<(Self, Self)> {
        let more = self.names.len().checked_sub(2)? + 1;
        let head = Self {
            names: self.names.part(0, 1),
            ..*self
        };
        let names = self.names.part(1, more);
        Some((
            head,
            Self {
                names,
                lamport: self.lamport + 1,
                ..*self
            },
        ))
    }
}

/// Joins runs as if their elements came one by one.
struct Maximal<I> {
    runs: I,
    held: Option<ElementRun>,
}

impl<I: Iterator<Item = ElementRun>> Iterator for Maximal<I> {
    type Item = ElementRun;

    fn next(&mut self) -> Option<ElementRun> {
        for run in self.runs.by_ref() {
            let Some(held) = self.held else {
                self.held = Some(run);
                continue;
            };
            if let Some(joined) = held.join(&run) {
                self.held = Some(joined);
                continue;
            }
            if let Some((head, rest)) = run.behead()
                && let Some(joined) = held.join(&head)
            {
                self.held = Some(rest);
                return Some(joined);
            }
            self.held = Some(run);
            return Some(held);
        }
        self.held.take()
    }
}

impl Sequence {
    /// Adds to `part` what the updates `from..=to` of `replica` made here.
    ///
    /// Runs come in order of names. A hidden element travels without its content.
    ///
    /// # Complexity
    /// O(log n) a run, + size of the text.
    pub fn part(&self, replica: ReplicaId, from: u64, to: u64, part: &mut Part) {
        let Some(author) = self.tree.author_of(replica) else {
            return;
        };
        let start = Name {
            counter: from,
            index: 0,
        };
        for at in self.tree.runs_of(author, start) {
            let run = self.tree.at(at.leaf, at.run);
            if run.names.first().counter > to {
                break;
            }
            let Some((offset, len)) = run.names.within(from, to) else {
                continue;
            };
            let text = (!run.hidden).then(|| {
                let before = self.tree.before(at);
                let start = self.size_within(run, before, offset).bytes;
                let end = self.size_within(run, before, offset + len).bytes;
                self.copy(before.bytes + start, before.bytes + end)
            });
            let run = InsertRun {
                replica,
                names: run.names.part(offset, len),
                lamport: run.lamport + u64::from(offset),
                origin: self.origin_at(at, offset),
                text,
            };
            push_insert(&mut part.inserts, run);
        }
        for record in self.records.from(author, start) {
            if record.names.first().counter > to {
                break;
            }
            if let Some((offset, len)) = record.names.within(from, to) {
                part.deletes
                    .push(self.delete_run(author, &record.part(offset, len)));
            }
        }
    }

    pub(super) fn delete_run(&self, author: u32, record: &Record) -> DeleteRun {
        DeleteRun {
            replica: self.tree.author(author).id,
            names: record.names,
            target_replica: self.tree.author(record.author).id,
            targets: record.targets,
            backward: record.backward,
        }
    }

    /// The names of what the updates `from..=to` of `replica` made here: elements, then records.
    ///
    /// # Complexity
    /// O(log n + runs).
    pub fn names_of(
        &self,
        replica: ReplicaId,
        from: u64,
        to: u64,
    ) -> impl Iterator<Item = NameRun> + '_ {
        let author = self.tree.author_of(replica);
        let start = Name {
            counter: from,
            index: 0,
        };
        let within = move |names: NameRun| {
            let (offset, len) = names.within(from, to)?;
            Some(names.part(offset, len))
        };
        author.into_iter().flat_map(move |author| {
            let elements = self.tree.runs_of(author, start);
            let elements = elements.map(|at| self.tree.at(at.leaf, at.run).names);
            let records = self
                .records
                .from(author, start)
                .iter()
                .map(|record| record.names);
            let upto = move |names: &NameRun| names.first().counter <= to;
            elements
                .take_while(upto)
                .chain(records.take_while(upto))
                .filter_map(within)
        })
    }

    /// How many elements and records of a part are here; each must be the same.
    ///
    /// # Errors
    /// The first one that differs in Lamport time, content or target.
    ///
    /// # Complexity
    /// O(log n) a run, + size of the text.
    pub fn matching(&self, part: &Part) -> Result<u64, EntryId> {
        let mut count = 0;
        for run in &part.inserts {
            count += self.matching_elements(run)?;
        }
        for run in &part.deletes {
            count += self.matching_records(run)?;
        }
        Ok(count)
    }

    fn matching_elements(&self, run: &InsertRun) -> Result<u64, EntryId> {
        let Some(author) = self.tree.author_of(run.replica) else {
            return Ok(0);
        };
        let (mut done, mut count) = (0, 0);
        let mut rest = run.text.as_deref();
        while done < run.names.len() {
            let name = run.names.nth(done);
            let Some((at, offset)) = self.tree.locate(author, name) else {
                // Names are known from the first on, so the others are new.
                break;
            };
            let held = self.tree.at(at.leaf, at.run);
            let here = held.names.part(offset, held.len() - offset);
            let len = here.common(&run.names.part(done, run.names.len() - done));
            let text = rest.map(|text| split_chars(text, len));
            let same_time = held.lamport + u64::from(offset) == run.lamport + u64::from(done);
            let same_text = match text {
                Some((piece, _)) if !held.hidden => {
                    let before = self.tree.before(at);
                    let start = before.bytes + self.size_within(held, before, offset).bytes;
                    let end = before.bytes + self.size_within(held, before, offset + len).bytes;
                    self.text.byte_slice(start..end) == *piece
                }
                _ => true,
            };
            if !same_time || !same_text {
                return Err(name.at(run.replica));
            }
            rest = text.map(|(_, rest)| rest);
            count += u64::from(len);
            done += len;
        }
        Ok(count)
    }

    fn matching_records(&self, run: &DeleteRun) -> Result<u64, EntryId> {
        let mut count = 0;
        for at in 0..run.names.len() {
            let record = run.names.nth(at).at(run.replica);
            let Some(target) = self.target_of(record) else {
                break;
            };
            let back = if run.backward {
                run.names.len() - 1 - at
            } else {
                at
            };
            if target != run.targets.nth(back).at(run.target_replica) {
                return Err(record);
            }
            count += 1;
        }
        Ok(count)
    }

    /// All elements in document order, in maximal runs.
    pub fn runs(&self) -> impl Iterator<Item = ElementRun> + '_ {
        let runs = self.tree.iter().map(|run| ElementRun {
            replica: self.tree.author(run.author).id,
            names: run.names,
            lamport: run.lamport,
            visible: !run.hidden,
        });
        Maximal { runs, held: None }
    }

    /// All delete records by replica and name, in maximal runs.
    pub fn record_runs(&self) -> impl Iterator<Item = DeleteRun> + '_ {
        self.tree.authors_by_id().flat_map(move |(_, author)| {
            let runs = self.records.of(author).iter();
            runs.map(move |record| self.delete_run(author, record))
        })
    }

    /// Whether this delete record is here.
    #[must_use]
    pub fn contains_record(&self, id: EntryId) -> bool {
        self.target_of(id).is_some()
    }

    /// The element that a delete record hides.
    ///
    /// # Complexity
    /// O(log n).
    #[must_use]
    pub fn target_of(&self, record: EntryId) -> Option<EntryId> {
        let author = self.tree.author_of(record.dot.replica)?;
        let (run, offset) = self.records.find(author, record.into())?;
        Some(self.id(run.author, run.target(offset)))
    }
}

/// The first `count` characters, and the rest.
fn split_chars(text: &str, count: u32) -> (&str, &str) {
    let end = text.char_indices().nth(count as usize);
    text.split_at(end.map_or(text.len(), |(at, _)| at))
}

/// Adds a run, as a part of the last one if it goes on there.
fn push_insert(runs: &mut Vec<InsertRun>, run: InsertRun) {
    if let Some(last) = runs.last_mut()
        && last.replica == run.replica
        && run.origin == Some(last.names.last().at(last.replica))
        && last.lamport.checked_add(u64::from(last.names.len())) == Some(run.lamport)
        && last.text.is_some() == run.text.is_some()
        && let Some(names) = last.names.join(&run.names)
    {
        last.names = names;
        if let (Some(text), Some(more)) = (&mut last.text, &run.text) {
            text.push_str(more);
        }
        return;
    }
    runs.push(run);
}
