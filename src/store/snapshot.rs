//! [`Snapshot`]: what a read returns, all of it as of one revision.

use super::{Key, Range, Revision, Scan, Value};

/// A record and its place in the store's history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The content.
    pub value: Value,
    /// The commit that created the record; a record deleted and created anew has a new one.
    pub created: Revision,
    /// The commit that wrote this content.
    pub modified: Revision,
}

/// The answer to one [`Scan`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scanned {
    /// The records found, in the order of their keys.
    pub entries: Vec<(Key, Entry)>,
    /// The part of the range that was looked at: all of it, or up to the last record returned.
    pub seen: Range,
}

impl Scanned {
    /// The answer to `scan`, given the records it found.
    ///
    /// For implementors of [`Store`](super::Store).
    pub fn new(scan: &Scan, entries: Vec<(Key, Entry)>) -> Self {
        let full = scan.limit().is_some_and(|limit| entries.len() >= limit);
        let seen = match entries.last() {
            Some((last, _)) if full => scan.range().up_to(last),
            None if full => Range::between(scan.range().start(), scan.range().start()),
            _ => scan.range().clone(),
        };
        Self { entries, seen }
    }
}

/// The answer to a read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The revision at which all of the answer was true.
    pub revision: Revision,
    /// One answer per key asked for, in that order.
    pub entries: Vec<Option<Entry>>,
    /// One answer per scan asked for, in that order.
    pub scans: Vec<Scanned>,
}
