//! Writing canonical bytes.

use alloc::vec::Vec;

use crate::clock::{Dot, Dots, EntryId, Names, Ranges, ReplicaId, Version};

/// The index of an update's first entry outside sequences.
pub(super) const USUAL_INDEX: u32 = 1;

/// Writes the pieces of a frame; replica ids become indices into its sorted table.
#[derive(Debug, Default)]
pub struct Encoder {
    out: Vec<u8>,
    table: Vec<ReplicaId>,
}

impl Encoder {
    /// An encoder for content that names only the replicas of `table`, ascending.
    pub(crate) fn new(table: Vec<ReplicaId>) -> Encoder {
        debug_assert!(table.is_sorted());
        Encoder {
            // Most pieces are short.
            out: Vec::with_capacity(128),
            table,
        }
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.out
    }

    /// Writes one byte.
    pub fn byte(&mut self, byte: u8) {
        self.out.push(byte);
    }

    /// Writes bytes as they are.
    pub fn raw(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }

    /// Writes a number in LEB128, 1 to 10 bytes.
    pub fn varint(&mut self, number: u64) {
        varint(&mut self.out, number);
    }

    /// Writes bytes with their length before them.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.varint(bytes.len() as u64);
        self.raw(bytes);
    }

    /// Writes what `body` writes, with its length before it.
    pub fn nested(&mut self, body: impl FnOnce(&mut Encoder)) {
        let start = self.out.len();
        self.out.push(0);
        body(self);
        self.put_length(start);
    }

    /// Writes what `body` appends, with its length before it.
    pub(super) fn appended(&mut self, body: impl FnOnce(&mut Vec<u8>)) {
        let start = self.out.len();
        self.out.push(0);
        body(&mut self.out);
        self.put_length(start);
    }

    /// Replaces the byte at `start` by the length of what follows it. Most lengths take one byte.
    fn put_length(&mut self, start: usize) {
        let len = self.out.len() - start - 1;
        if len < 0x80 {
            self.out[start] = len as u8;
            return;
        }
        let end = self.out.len();
        self.varint(len as u64);
        let prefix = self.out.len() - end;
        self.out[start + 1..].rotate_right(prefix);
        self.out.remove(start);
    }

    /// What `body` writes, which is not written here.
    pub(crate) fn aside(&mut self, body: impl FnOnce(&mut Encoder)) -> Vec<u8> {
        let start = self.out.len();
        body(self);
        self.out.split_off(start)
    }

    /// Writes the table of replicas.
    pub(crate) fn table(&mut self) {
        self.varint(self.table.len() as u64);
        for id in &self.table {
            self.out.extend_from_slice(&id.to_bytes());
        }
    }

    /// Writes a replica as its index in the table.
    ///
    /// The table is collected from the same content, so every replica is in it.
    pub fn replica(&mut self, id: ReplicaId) {
        let at = self.index_of(id);
        self.varint(at);
    }

    fn index_of(&self, id: ReplicaId) -> u64 {
        let at = self.table.binary_search(&id);
        debug_assert!(at.is_ok(), "replica {id:?} is missing in the table");
        at.unwrap_or_default() as u64
    }

    /// Writes the name of an update.
    pub fn dot(&mut self, dot: Dot) {
        self.replica(dot.replica);
        self.varint(dot.counter);
    }

    /// Writes the name of an entry.
    ///
    /// Most updates have a single one, so the index that this has outside sequences takes no byte.
    pub fn entry(&mut self, entry: EntryId) {
        let head = self.head(entry);
        self.varint(head);
        self.rest_of(entry);
    }

    /// Writes `count` entries, which ascend, each with what `then` writes of it.
    ///
    /// Most elements have a single one, and its head tells so.
    pub(crate) fn entries<T>(
        &mut self,
        count: usize,
        entries: impl Iterator<Item = (EntryId, T)>,
        then: impl Fn(&mut Encoder, T),
    ) {
        if count != 1 {
            self.varint((count as u64) << 1 | 1);
        }
        for (entry, value) in entries {
            let head = self.head(entry);
            self.varint(if count == 1 { head << 1 } else { head });
            self.rest_of(entry);
            then(self, value);
        }
    }

    /// The replica, and whether an index follows.
    fn head(&self, entry: EntryId) -> u64 {
        self.index_of(entry.dot.replica) << 1 | u64::from(entry.index != USUAL_INDEX)
    }

    fn rest_of(&mut self, entry: EntryId) {
        self.varint(entry.dot.counter);
        if entry.index != USUAL_INDEX {
            self.varint(u64::from(entry.index));
        }
    }

    /// Writes a version, whose replicas are exactly the table.
    pub(crate) fn version(&mut self, version: &Version) {
        debug_assert!(
            version
                .iter()
                .map(|(id, _)| id)
                .eq(self.table.iter().copied())
        );
        version.iter().for_each(|(_, seen)| self.varint(seen));
    }

    /// Writes a set of updates.
    pub fn dots(&mut self, dots: &Dots) {
        self.varint(dots.by_replica().count() as u64);
        for (id, runs) in dots.by_replica() {
            self.replica(id);
            self.ranges(runs, 1);
        }
    }

    /// Writes ranges of numbers that are at least `least`.
    pub(crate) fn ranges(&mut self, ranges: &Ranges, least: u64) {
        self.varint(ranges.runs().len() as u64);
        let mut next = least;
        for &(first, last) in ranges.runs() {
            self.varint(first - next);
            self.varint(last - first);
            // Two ranges never touch, so the number after a range is never in the next one.
            next = last.saturating_add(2);
        }
    }

    /// Writes a set of entries.
    pub fn names(&mut self, names: &Names) {
        self.varint(names.by_replica().count() as u64);
        for (id, blocks) in names.by_replica() {
            self.replica(id);
            self.varint(blocks.len() as u64);
            let mut next = 1;
            for block in blocks {
                self.varint(block.first - next);
                self.varint(block.last - block.first);
                self.ranges(&block.indices.even, 0);
                self.ranges(&block.indices.odd, 0);
                next = block.last.saturating_add(1);
            }
        }
    }
}

/// Appends `number` to `out` in LEB128.
pub(crate) fn varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}
