//! The recent past of a memory store: commits for watchers, deletions for range guards.
//!
//! Space: bounded by the number of changes and by bytes; the oldest commits go first.

use std::collections::{BTreeMap, VecDeque};

use super::state::key_bounds;
use crate::store::{Change, Commit, Key, Range};

/// What one change costs beside its key and value, roughly.
const CHANGE_OVERHEAD_BYTES: usize = 64;

pub(super) struct History {
    commits: VecDeque<Commit>,
    changes: usize,
    changes_max: usize,
    bytes: usize,
    bytes_max: usize,
    /// The newest commit that was forgotten.
    forgotten: u64,
    /// Absent records whose deletion is remembered.
    graves: BTreeMap<Key, u64>,
    /// The newest deletion that was forgotten while its record was still absent.
    graves_forgotten: u64,
}

impl History {
    pub(super) fn new(first: u64, changes_max: usize, bytes_max: usize) -> Self {
        Self {
            commits: VecDeque::new(),
            changes: 0,
            changes_max,
            bytes: 0,
            bytes_max,
            forgotten: first,
            graves: BTreeMap::new(),
            graves_forgotten: first,
        }
    }

    /// Every commit after this one is remembered.
    pub(super) fn oldest(&self) -> u64 {
        self.forgotten
    }

    /// The deletion that made `key` absent, if it is remembered.
    pub(super) fn deletion(&self, key: &Key) -> Option<u64> {
        self.graves.get(key).copied()
    }

    /// The first record of `range` found to have been deleted after `since` and to be still absent;
    /// an error if such deletions may have been forgotten.
    pub(super) fn deleted_after(
        &self,
        range: &Range,
        since: u64,
    ) -> Result<Option<(Key, u64)>, Forgotten> {
        if since < self.graves_forgotten {
            return Err(Forgotten);
        }
        let Some(bounds) = key_bounds(range) else {
            return Ok(None);
        };
        let found = self
            .graves
            .range::<Key, _>(bounds)
            .find(|(_, at)| **at > since);
        Ok(found.map(|(key, at)| (key.clone(), *at)))
    }

    pub(super) fn record(&mut self, commit: Commit) {
        for change in &commit.changes {
            self.changes += 1;
            self.bytes += change_bytes(change);
            match change {
                Change::Put { key, .. } => self.graves.remove(key),
                Change::Deleted { key, .. } => {
                    self.graves.insert(key.clone(), commit.revision.counter())
                }
            };
        }
        self.commits.push_back(commit);
        while self.changes > self.changes_max || self.bytes > self.bytes_max {
            let Some(oldest) = self.commits.pop_front() else {
                return;
            };
            self.forget(&oldest);
        }
    }

    fn forget(&mut self, commit: &Commit) {
        let counter = commit.revision.counter();
        self.forgotten = counter;
        for change in &commit.changes {
            self.changes -= 1;
            self.bytes -= change_bytes(change);
            if self.graves.get(change.key()) == Some(&counter) {
                self.graves.remove(change.key());
                self.graves_forgotten = counter;
            }
        }
    }

    /// The first remembered commit after `after` that changes a record of `range`.
    pub(super) fn next(&self, range: &Range, after: u64) -> Option<Commit> {
        let start = self
            .commits
            .partition_point(|c| c.revision.counter() <= after);
        self.commits.range(start..).find_map(|commit| {
            let touched = commit
                .changes
                .iter()
                .filter(|change| range.contains(change.key()));
            let changes: Vec<Change> = touched.cloned().collect();
            (!changes.is_empty()).then_some(Commit {
                revision: commit.revision,
                changes,
            })
        })
    }
}

/// The history does not reach back far enough.
pub(super) struct Forgotten;

fn change_bytes(change: &Change) -> usize {
    let value = match change {
        Change::Put { entry, .. } => entry.value.len(),
        Change::Deleted { .. } => 0,
    };
    CHANGE_OVERHEAD_BYTES + change.key().len() + value
}
