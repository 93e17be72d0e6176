//! What a memory store keeps behind its lock, and the rule by which a commit is decided.
//!
//! Rule: expire what is due; then all guards must hold now; then all writes are applied as one
//! revision. Everything that can be refused is refused before the first change.

use core::ops::Bound;
use core::task::Waker;
use std::collections::{BTreeMap, BTreeSet};

use super::history::{Forgotten, History};
use super::outcomes::Outcomes;
use super::store::MemoryOptions;
use crate::coord::{FenceError, FencingToken, Floor, TokenDomain};
use crate::env::MonoTime;
use crate::store::{
    Change, Commit, Conflict, Entry, Guard, Incarnation, Key, Limit, Outcome, Range, Revision,
    Scan, Scanned, Snapshot, StoreError, Transaction, Write,
};

pub(super) struct State {
    incarnation: Incarnation,
    counter: u64,
    records: BTreeMap<Key, Record>,
    expiries: BTreeSet<(MonoTime, Key)>,
    floors: BTreeMap<TokenDomain, Floor>,
    domains_max: usize,
    outcomes: Outcomes,
    history: History,
    waiting: BTreeMap<u64, Waker>,
    next_watch: u64,
}

struct Record {
    entry: Entry,
    expires: Option<MonoTime>,
}

/// The part of a map that `range` covers, `None` if it is empty.
pub(super) fn key_bounds(range: &Range) -> Option<(Bound<&Key>, Bound<&Key>)> {
    let end = range.end().map_or(Bound::Unbounded, Bound::Excluded);
    (!range.is_empty()).then_some((Bound::Included(range.start()), end))
}

/// Why a transaction is not applied.
enum Refusal {
    Outcome(Outcome),
    Error(StoreError),
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        Self::Error(error)
    }
}

type Floors = BTreeMap<TokenDomain, Floor>;

impl State {
    pub(super) fn new(incarnation: Incarnation, options: &MemoryOptions) -> Self {
        let first = options.first_counter;
        Self {
            incarnation,
            counter: first,
            records: BTreeMap::new(),
            expiries: BTreeSet::new(),
            floors: BTreeMap::new(),
            domains_max: options.limits.fence_domains_max,
            outcomes: Outcomes::new(options.outcomes_retained),
            history: History::new(
                first,
                options.history_changes_max,
                options.history_bytes_max,
            ),
            waiting: BTreeMap::new(),
            next_watch: 0,
        }
    }

    fn at(&self, counter: u64) -> Revision {
        Revision::new(self.incarnation, counter)
    }

    pub(super) fn revision(&self) -> Revision {
        self.at(self.counter)
    }

    pub(super) fn floor(&self, domain: &TokenDomain) -> Option<&Floor> {
        self.floors.get(domain)
    }

    pub(super) fn read(&self, keys: &[Key], scans: &[Scan]) -> Snapshot {
        Snapshot {
            revision: self.revision(),
            entries: keys.iter().map(|key| self.entry(key).cloned()).collect(),
            scans: scans.iter().map(|scan| self.scan(scan)).collect(),
        }
    }

    fn entry(&self, key: &Key) -> Option<&Entry> {
        self.records.get(key).map(|record| &record.entry)
    }

    fn scan(&self, scan: &Scan) -> Scanned {
        let found = key_bounds(scan.range()).into_iter().flat_map(|bounds| {
            self.records
                .range::<Key, _>(bounds)
                .map(|(key, r)| (key.clone(), r.entry.clone()))
        });
        Scanned::new(
            scan,
            found.take(scan.limit().unwrap_or(usize::MAX)).collect(),
        )
    }

    /// Deletes what is due, each record as a commit of its own.
    ///
    /// Without revisions left nothing can be committed any more, so due records stay: nobody could
    /// take their place.
    pub(super) fn expire(&mut self, now: MonoTime) {
        while self.next_expiry().is_some_and(|due| due <= now)
            && let Some((_, key)) = self.expiries.pop_first()
        {
            self.counter += 1;
            self.records.remove(&key);
            let changes = vec![Change::Deleted { key, expired: true }];
            self.history.record(Commit {
                revision: self.revision(),
                changes,
            });
        }
    }

    /// When the next record is due.
    pub(super) fn next_expiry(&self) -> Option<MonoTime> {
        let first = self.expiries.first().map(|(due, _)| *due);
        first.filter(|_| self.counter < u64::MAX)
    }

    /// Decides a transaction; the flag says that it was decided before.
    pub(super) fn commit(
        &mut self,
        txn: &Transaction,
        now: MonoTime,
    ) -> Result<(Outcome, bool), StoreError> {
        if let Some(first) = self.outcomes.find(txn)? {
            return Ok((first, true));
        }
        let outcome = match self.check(txn) {
            Ok(floors) => Outcome::Committed {
                revision: self.apply(txn.writes(), floors, now)?,
            },
            Err(Refusal::Outcome(outcome)) => outcome,
            Err(Refusal::Error(error)) => return Err(error),
        };
        self.outcomes.retain(txn, &outcome);
        Ok((outcome, false))
    }

    /// The floors that the transaction raises, or why it is refused.
    fn check(&self, txn: &Transaction) -> Result<Floors, Refusal> {
        for guard in txn.guards() {
            if let Guard::Revision { revision, .. }
            | Guard::Created { revision, .. }
            | Guard::Unchanged {
                since: revision, ..
            } = guard
            {
                self.own_past(*revision)?;
            }
        }
        let mut floors = Floors::new();
        for guard in txn.guards() {
            match guard {
                Guard::Fence { token } => self.fence(token, &mut floors)?,
                Guard::Unchanged { range, since } => self.unchanged(range, since.counter())?,
                _ => self.record_guard(guard)?,
            }
        }
        Ok(floors)
    }

    /// Checks that `revision` is a revision this store has reached.
    pub(super) fn own_past(&self, revision: Revision) -> Result<(), StoreError> {
        let (expected, found) = (self.incarnation, revision.incarnation());
        if expected != found {
            return Err(StoreError::OtherIncarnation { expected, found });
        }
        if revision.counter() > self.counter {
            let newest = self.revision();
            return Err(StoreError::FutureRevision {
                newest,
                found: revision,
            });
        }
        Ok(())
    }

    fn record_guard(&self, guard: &Guard) -> Result<(), Refusal> {
        let (key, holds) = match guard {
            Guard::Revision { key, revision } => (
                key,
                self.entry(key)
                    .is_some_and(|entry| entry.modified == *revision),
            ),
            Guard::Created { key, revision } => (
                key,
                self.entry(key)
                    .is_some_and(|entry| entry.created == *revision),
            ),
            Guard::Absent { key } => (key, self.entry(key).is_none()),
            Guard::Present { key } => (key, self.entry(key).is_some()),
            Guard::Value { key, value } => (
                key,
                self.entry(key).is_some_and(|entry| entry.value == *value),
            ),
            Guard::Unchanged { .. } | Guard::Fence { .. } => return Ok(()),
        };
        if holds {
            Ok(())
        } else {
            Err(self.conflict(key))
        }
    }

    fn conflict(&self, key: &Key) -> Refusal {
        let entry = self.entry(key).cloned();
        let deletion = self.history.deletion(key).unwrap_or(self.counter);
        let revision = entry
            .as_ref()
            .map_or_else(|| self.at(deletion), |entry| entry.modified);
        Refusal::Outcome(Outcome::Conflict(Conflict {
            key: key.clone(),
            entry,
            revision,
        }))
    }

    fn unchanged(&self, range: &Range, since: u64) -> Result<(), Refusal> {
        if let Some(bounds) = key_bounds(range) {
            let mut records = self.records.range::<Key, _>(bounds);
            let changed = records.find(|(_, r)| r.entry.modified.counter() > since);
            if let Some((key, _)) = changed {
                return Err(self.conflict(key));
            }
        }
        match self.history.deleted_after(range, since) {
            Ok(None) => Ok(()),
            Ok(Some((key, _))) => Err(self.conflict(&key)),
            Err(Forgotten) => Err(self.compacted().into()),
        }
    }

    fn compacted(&self) -> StoreError {
        StoreError::Compacted {
            oldest: self.at(self.history.oldest()),
        }
    }

    /// Checks a token; `floors` collects what the transaction raises so far.
    fn fence(&self, token: &FencingToken, floors: &mut Floors) -> Result<(), Refusal> {
        let domain = token.domain();
        let stored = self.floors.get(domain);
        let floor = floors.get(domain).or(stored);
        let raised = match Floor::raised(floor, token) {
            Ok(raised) => raised,
            Err(FenceError::Fenced { floor }) => {
                return Err(Refusal::Outcome(Outcome::Fenced { floor }));
            }
            // The floor is of the token's own domain, so it is the incarnation that differs.
            Err(FenceError::DifferentDomain(_)) => {
                let found = token.incarnation();
                let expected = floor.map_or(found, Floor::incarnation);
                return Err(StoreError::OtherIncarnation { expected, found }.into());
            }
        };
        if stored != Some(&raised) {
            floors.insert(domain.clone(), raised);
        }
        Ok(())
    }

    /// Applies changes without looking at anything.
    pub(super) fn write_blindly(
        &mut self,
        writes: &[Write],
        now: MonoTime,
    ) -> Result<Revision, StoreError> {
        self.apply(writes, Floors::new(), now)
    }

    fn apply(
        &mut self,
        writes: &[Write],
        floors: Floors,
        now: MonoTime,
    ) -> Result<Revision, StoreError> {
        let new_domains = floors
            .keys()
            .filter(|d| !self.floors.contains_key(*d))
            .count();
        let found = self.floors.len() + new_domains;
        if new_domains > 0 && found > self.domains_max {
            let max = self.domains_max;
            return Err(StoreError::LimitExceeded {
                limit: Limit::FenceDomains,
                max,
                found,
            });
        }
        let effective = |write: &Write| match write {
            Write::Put { .. } => true,
            Write::Delete { key } => self.records.contains_key(key),
        };
        let changes_records = writes.iter().any(effective);
        if !changes_records && floors.is_empty() {
            return Ok(self.revision());
        }
        self.counter = self
            .counter
            .checked_add(1)
            .ok_or(StoreError::RevisionsExhausted)?;
        self.floors.extend(floors);
        if changes_records {
            let changes = writes
                .iter()
                .filter_map(|write| self.write(write, now))
                .collect();
            self.history.record(Commit {
                revision: self.revision(),
                changes,
            });
        }
        Ok(self.revision())
    }

    fn write(&mut self, write: &Write, now: MonoTime) -> Option<Change> {
        let key = write.key();
        let old = self.records.remove(key);
        if let Some(due) = old.as_ref().and_then(|record| record.expires) {
            self.expiries.remove(&(due, key.clone()));
        }
        let Write::Put { value, ttl, .. } = write else {
            return old.map(|_| Change::Deleted {
                key: key.clone(),
                expired: false,
            });
        };
        let modified = self.revision();
        let created = old.map_or(modified, |record| record.entry.created);
        let entry = Entry {
            value: value.clone(),
            created,
            modified,
        };
        let expires = ttl.map(|ttl| now.saturating_add(ttl));
        if let Some(due) = expires {
            self.expiries.insert((due, key.clone()));
        }
        self.records.insert(
            key.clone(),
            Record {
                entry: entry.clone(),
                expires,
            },
        );
        Some(Change::Put {
            key: key.clone(),
            entry,
        })
    }

    /// The next commit for a watch, or `None` if it has to wait.
    pub(super) fn next_commit(
        &self,
        range: &Range,
        after: u64,
    ) -> Result<Option<Commit>, StoreError> {
        if after < self.history.oldest() {
            return Err(self.compacted());
        }
        Ok(self.history.next(range, after))
    }

    pub(super) fn new_watch(&mut self) -> u64 {
        self.next_watch += 1;
        self.next_watch
    }

    /// Files the waker of a watch; the one before is to be dropped without the lock.
    pub(super) fn wait(&mut self, watch: u64, waker: Waker) -> Option<Waker> {
        self.waiting.insert(watch, waker)
    }

    /// Takes the waker of a watch, to be dropped without the lock.
    pub(super) fn forget_watch(&mut self, watch: u64) -> Option<Waker> {
        self.waiting.remove(&watch)
    }

    pub(super) fn take_waiting(&mut self) -> BTreeMap<u64, Waker> {
        core::mem::take(&mut self.waiting)
    }
}
