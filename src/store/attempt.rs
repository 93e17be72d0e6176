//! One attempt of a transaction, without I/O: what it read, what it will write.
//!
//! Rule: everything the closure has seen was true at one revision. A later read that might not fit
//! is made again together with all earlier ones; if one of those has changed, the attempt restarts.
//! Cost: one request for each read; one more, of everything read so far, if what is new was changed
//! since the first read, does not exist, or is a range, and there was any commit in between.
//! Source: Riegel, Felber, Fetzer 2006, "A lazy snapshot algorithm" (extension of the snapshot).

use core::time::Duration;
use std::collections::BTreeMap;

use super::{
    Conflict, Entry, Guard, Key, Range, Revision, Scan, Scanned, Snapshot, StoreError, Transaction,
    TransactionId, TxError, Value, Write,
};
use crate::coord::FencingToken;

#[derive(Default)]
pub(crate) struct Attempt {
    /// The revision at which all reads were true.
    snapshot: Option<Revision>,
    reads: BTreeMap<Key, Option<Entry>>,
    scans: Vec<ScanRead>,
    writes: BTreeMap<Key, Option<Put>>,
    fences: Vec<FencingToken>,
    failure: Option<Failure>,
}

struct Put {
    value: Value,
    ttl: Option<Duration>,
}

struct ScanRead {
    scan: Scan,
    scanned: Scanned,
    /// The part that the closure has seen.
    guarded: Range,
}

/// Why the attempt cannot be committed, whatever the closure returns.
pub(crate) enum Failure {
    /// An earlier read is no longer true.
    Torn(Conflict),
    Store(StoreError),
    /// The attempt is over; the closure kept its handle.
    Ended,
}

/// What one read call of the closure is after.
#[derive(Clone)]
pub(crate) enum Wanted {
    Key(Key),
    Scan(Scan),
}

/// A read to be made at the store.
pub(crate) struct Request {
    pub(crate) keys: Vec<Key>,
    pub(crate) scans: Vec<Scan>,
    /// How many of the keys are those that the attempt had read when it asked.
    known_keys: usize,
    /// How many of the scans are those of the attempt, in its order.
    known_scans: usize,
}

impl Attempt {
    /// An attempt that refuses everything.
    pub(crate) fn ended() -> Self {
        Self {
            failure: Some(Failure::Ended),
            ..Self::default()
        }
    }

    pub(crate) fn take_failure(&mut self) -> Option<Failure> {
        self.failure.take()
    }

    /// The revision of the reads, if there is nothing to commit.
    pub(crate) fn read_only(&self) -> Option<Revision> {
        self.snapshot
            .filter(|_| self.writes.is_empty() && self.fences.is_empty())
    }

    pub(crate) fn put(&mut self, key: Key, value: Value, ttl: Option<Duration>) {
        self.writes.insert(key, Some(Put { value, ttl }));
    }

    pub(crate) fn delete(&mut self, key: Key) {
        self.writes.insert(key, None);
    }

    pub(crate) fn fence(&mut self, token: FencingToken) {
        self.fences.push(token);
    }

    /// Records that a read failed.
    pub(crate) fn fail(&mut self, error: StoreError) -> TxError {
        self.failure = Some(Failure::Store(error.clone()));
        TxError::Store(error)
    }

    fn torn(&mut self, key: &Key, entry: Option<Entry>, at: Revision) -> TxError {
        let revision = entry.as_ref().map_or(at, |entry| entry.modified);
        self.failure = Some(Failure::Torn(Conflict {
            key: key.clone(),
            entry,
            revision,
        }));
        TxError::Conflict
    }

    fn usable(&self) -> Result<(), TxError> {
        match &self.failure {
            None => Ok(()),
            Some(Failure::Torn(_)) => Err(TxError::Conflict),
            Some(Failure::Store(error)) => Err(TxError::Store(error.clone())),
            Some(Failure::Ended) => Err(TxError::Ended),
        }
    }

    /// What to fetch so that `scan` is full after this attempt's own deletions.
    pub(crate) fn widened(&self, scan: &Scan) -> Scan {
        let Some(limit) = scan.limit() else {
            return scan.clone();
        };
        let deleted =
            |(key, put): &(&Key, &Option<Put>)| put.is_none() && scan.range().contains(key);
        let own = self.writes.iter().filter(deleted).count();
        Scan::first(scan.range().clone(), limit.saturating_add(own))
    }

    /// The read to make first, or `None` if the answer is known.
    pub(crate) fn begin(&self, wanted: &Wanted) -> Result<Option<Request>, TxError> {
        self.usable()?;
        let (keys, scans) = match wanted {
            Wanted::Key(key) if self.writes.contains_key(key) || self.reads.contains_key(key) => {
                return Ok(None);
            }
            Wanted::Scan(scan) if self.scans.iter().any(|read| read.scan == *scan) => {
                return Ok(None);
            }
            Wanted::Key(key) => (vec![key.clone()], Vec::new()),
            Wanted::Scan(scan) => (Vec::new(), vec![scan.clone()]),
        };
        Ok(Some(Request {
            keys,
            scans,
            known_keys: 0,
            known_scans: 0,
        }))
    }

    /// Everything read so far and what is wanted.
    fn everything(&self, wanted: &Wanted) -> Request {
        let mut keys: Vec<Key> = self.reads.keys().cloned().collect();
        let mut scans: Vec<Scan> = self.scans.iter().map(|read| read.scan.clone()).collect();
        let (known_keys, known_scans) = (keys.len(), scans.len());
        match wanted {
            Wanted::Key(key) => keys.push(key.clone()),
            Wanted::Scan(scan) => scans.push(scan.clone()),
        }
        Request {
            keys,
            scans,
            known_keys,
            known_scans,
        }
    }

    /// Takes the answer to `request`; returns what to read instead if it does not fit the rest.
    pub(crate) fn absorb(
        &mut self,
        wanted: &Wanted,
        request: Request,
        answer: Snapshot,
    ) -> Result<Option<Request>, TxError> {
        self.usable()?;
        if let Some(at) = self.snapshot
            && at.incarnation() != answer.revision.incarnation()
        {
            let (expected, found) = (at.incarnation(), answer.revision.incarnation());
            return Err(self.fail(StoreError::OtherIncarnation { expected, found }));
        }
        self.compare(&request, &answer)?;
        let renewed = self.covered_by(&request);
        if !renewed && !self.fits(&request, &answer) {
            return Ok(Some(self.everything(wanted)));
        }
        if renewed {
            self.snapshot = Some(answer.revision);
        }
        for (key, entry) in request.keys.into_iter().zip(answer.entries) {
            self.reads.insert(key, entry);
        }
        let fresh = request
            .scans
            .into_iter()
            .zip(answer.scans)
            .skip(request.known_scans);
        self.scans.extend(fresh.map(|(scan, scanned)| {
            let start = scan.range().start();
            let guarded = Range::between(start, start);
            ScanRead {
                scan,
                scanned,
                guarded,
            }
        }));
        Ok(None)
    }

    /// Fails if something read earlier is no longer so.
    fn compare(&mut self, request: &Request, answer: &Snapshot) -> Result<(), TxError> {
        let modified = |entry: &Option<Entry>| entry.as_ref().map(|entry| entry.modified);
        for (key, entry) in request.keys.iter().zip(&answer.entries) {
            if self
                .reads
                .get(key)
                .is_some_and(|known| modified(known) != modified(entry))
            {
                return Err(self.torn(key, entry.clone(), answer.revision));
            }
        }
        let known = self
            .scans
            .iter()
            .zip(&answer.scans)
            .take(request.known_scans);
        let changed = known
            .filter_map(|(read, now)| first_change(&read.scanned, now))
            .next();
        match changed {
            Some((key, entry)) => Err(self.torn(&key, entry, answer.revision)),
            None => Ok(()),
        }
    }

    /// Whether the request reads all again that was read by now: reads only ever grow.
    fn covered_by(&self, request: &Request) -> bool {
        self.reads.len() == request.known_keys && self.scans.len() == request.known_scans
    }

    /// Whether what is new in the answer was also true at the revision of the earlier reads.
    fn fits(&self, request: &Request, answer: &Snapshot) -> bool {
        let Some(at) = self.snapshot else {
            return true;
        };
        let unchanged = |entry: &Option<Entry>| entry.as_ref().is_some_and(|e| e.modified <= at);
        at == answer.revision
            || (answer.entries.iter().all(unchanged) && request.scans.len() == request.known_scans)
    }

    /// The value of `key` as the closure should see it: its own write, else what it read.
    pub(crate) fn value(&self, key: &Key) -> Option<Value> {
        match self.writes.get(key) {
            Some(own) => own.as_ref().map(|put| put.value.clone()),
            None => self
                .reads
                .get(key)?
                .as_ref()
                .map(|entry| entry.value.clone()),
        }
    }

    /// The records of `range` as the closure should see them; `fetched` is the scan that was read.
    pub(crate) fn records(&mut self, fetched: &Scan, limit: Option<usize>) -> Vec<(Key, Value)> {
        let Some(read) = self.scans.iter_mut().find(|read| read.scan == *fetched) else {
            return Vec::new();
        };
        let seen = &read.scanned.seen;
        let stored = read.scanned.entries.iter();
        let mut records: BTreeMap<&Key, &Value> =
            stored.map(|(key, entry)| (key, &entry.value)).collect();
        for (key, put) in self.writes.iter().filter(|(key, _)| seen.contains(key)) {
            match put {
                Some(put) => records.insert(key, &put.value),
                None => records.remove(key),
            };
        }
        let limit = limit.unwrap_or(usize::MAX);
        let stopped = records.len() >= limit;
        let shown = records.into_iter().take(limit);
        let shown: Vec<(Key, Value)> = shown.map(|(k, v)| (k.clone(), v.clone())).collect();
        let guarded = match shown.last() {
            Some((last, _)) if stopped => fetched.range().up_to(last),
            None if stopped => return shown,
            _ => seen.clone(),
        };
        if ends_later(&guarded, &read.guarded) {
            read.guarded = guarded;
        }
        shown
    }

    /// The transaction to commit.
    pub(crate) fn into_transaction(self, id: TransactionId) -> Transaction {
        let mut txn = Transaction::new(id);
        for token in self.fences {
            txn = txn.guard(Guard::Fence { token });
        }
        for (key, entry) in self.reads {
            txn = txn.guard(match entry {
                Some(entry) => Guard::revision(key, entry.modified),
                None => Guard::absent(key),
            });
        }
        if let Some(since) = self.snapshot {
            for read in self
                .scans
                .into_iter()
                .filter(|read| !read.guarded.is_empty())
            {
                txn = txn.guard(Guard::unchanged(read.guarded, since));
            }
        }
        for (key, put) in self.writes {
            txn = txn.write(match put {
                Some(Put { value, ttl }) => Write::Put { key, value, ttl },
                None => Write::Delete { key },
            });
        }
        txn
    }
}

/// Whether `a` reaches further than `b`, both having the same start.
fn ends_later(a: &Range, b: &Range) -> bool {
    match (a.end(), b.end()) {
        (_, None) => false,
        (None, Some(_)) => true,
        (Some(a), Some(b)) => a > b,
    }
}

/// The first record in which two answers to one scan differ, as it is in the second.
fn first_change(old: &Scanned, new: &Scanned) -> Option<(Key, Option<Entry>)> {
    let mut new_entries = new.entries.iter().peekable();
    for (key, entry) in &old.entries {
        match new_entries.next() {
            Some((k, e)) if k == key && e.modified == entry.modified => {}
            Some((k, e)) if k <= key => return Some((k.clone(), Some(e.clone()))),
            _ => return Some((key.clone(), None)),
        }
    }
    new_entries
        .next()
        .map(|(key, entry)| (key.clone(), Some(entry.clone())))
}
