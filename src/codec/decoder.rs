//! Reading bytes from anywhere.

use alloc::vec;
use alloc::vec::Vec;

use super::encoder::USUAL_INDEX;
use super::{DecodeError, DecodeErrorKind as Kind, Limits};
use crate::clock::{Block, Indices};
use crate::clock::{Dot, Dots, EntryId, Names, Ranges, ReplicaId, Version};
use crate::kernel::ShapeKind;

type Result<T> = core::result::Result<T, DecodeError>;

/// Reads the pieces of a frame, trusting nothing.
#[derive(Debug)]
pub struct Decoder<'a> {
    bytes: &'a [u8],
    at: usize,
    end: usize,
    table: Vec<ReplicaId>,
    known: Dots,
    used: Vec<bool>,
    items_left: u64,
    replicas_max: usize,
    depth_left: u32,
    structs_left: u32,
    passing: Option<Passing>,
}

/// The way through the struct that is being read, and what was passed over in it.
#[derive(Debug, Default)]
struct Passing {
    path: Vec<u32>,
    unknown: Vec<Unknown>,
}

/// A field that the type being read does not have.
#[derive(Debug)]
pub(crate) struct Unknown {
    path: Vec<u32>,
    start: usize,
    end: usize,
    depth_left: u32,
}

impl Unknown {
    /// The tags that lead to it, its own last.
    pub(crate) fn path(&self) -> &[u32] {
        &self.path
    }
}

impl<'a> Decoder<'a> {
    pub(crate) fn new(bytes: &'a [u8], limits: &Limits) -> Decoder<'a> {
        Decoder {
            bytes,
            at: 0,
            end: bytes.len(),
            table: Vec::new(),
            known: Dots::new(),
            used: Vec::new(),
            items_left: limits.items_max,
            replicas_max: limits.replicas_max,
            depth_left: limits.depth_max,
            structs_left: limits.depth_max,
            passing: None,
        }
    }

    /// The position, in bytes from the start of the frame.
    pub fn offset(&self) -> usize {
        self.at
    }

    /// An error of this kind at the present position.
    pub fn error(&self, kind: Kind) -> DecodeError {
        DecodeError {
            offset: self.at,
            kind,
        }
    }

    /// Fails with `kind` at the present position unless `ok`.
    pub fn require(&self, ok: bool, kind: Kind) -> Result<()> {
        if ok { Ok(()) } else { Err(self.error(kind)) }
    }

    /// How many bytes are left in the present piece.
    pub fn remaining(&self) -> usize {
        self.end - self.at
    }

    /// Reads one byte.
    pub fn byte(&mut self) -> Result<u8> {
        Ok(self.raw(1)?[0])
    }

    /// The next byte, which stays there.
    pub(crate) fn next_byte(&self) -> Option<u8> {
        self.bytes[self.at..self.end].first().copied()
    }

    /// Reads `len` bytes.
    pub fn raw(&mut self, len: usize) -> Result<&'a [u8]> {
        self.require(len <= self.remaining(), Kind::Truncated)?;
        let piece = &self.bytes[self.at..self.at + len];
        self.at += len;
        Ok(piece)
    }

    /// Reads a number in minimal LEB128.
    pub fn varint(&mut self) -> Result<u64> {
        // Most numbers are small.
        if let Some(byte @ 0..0x80) = self.bytes[self.at..self.end].first() {
            self.at += 1;
            return Ok(u64::from(*byte));
        }
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            self.require(bits << shift >> shift == bits, Kind::OutOfRange)?;
            number |= bits << shift;
            if byte & 0x80 == 0 {
                self.require(byte != 0 || shift == 0, Kind::NotCanonical)?;
                return Ok(number);
            }
        }
        Err(self.error(Kind::OutOfRange))
    }

    /// Reads a number of at most 32 bits.
    pub fn varint_u32(&mut self) -> Result<u32> {
        let number = self.varint()?;
        u32::try_from(number).map_err(|_| self.error(Kind::OutOfRange))
    }

    /// Reads how many items follow, each at least `item_bytes_min` long.
    pub fn count(&mut self, item_bytes_min: usize) -> Result<usize> {
        let count = self.varint()?;
        self.counted(count, item_bytes_min)
    }

    fn counted(&mut self, count: u64, item_bytes_min: usize) -> Result<usize> {
        let most = (self.remaining() / item_bytes_min.max(1)) as u64;
        self.require(count <= most, Kind::Truncated)?;
        self.require(count <= self.items_left, Kind::LimitExceeded)?;
        self.items_left -= count;
        Ok(count as usize)
    }

    /// Reads bytes with their length before them.
    pub fn bytes(&mut self) -> Result<&'a [u8]> {
        let len = self.length()?;
        self.raw(len)
    }

    /// Reads a UTF-8 text with its length in bytes before it.
    pub fn text(&mut self) -> Result<&'a str> {
        let len = self.length()?;
        let start = self.at;
        let bytes = self.raw(len)?;
        core::str::from_utf8(bytes).map_err(|fault| DecodeError {
            offset: start + fault.valid_up_to(),
            kind: Kind::Utf8,
        })
    }

    fn length(&mut self) -> Result<usize> {
        let len = self.varint()?;
        self.require(len <= self.remaining() as u64, Kind::Truncated)?;
        Ok(len as usize)
    }

    /// Reads a piece with its length before it; `body` must use it up.
    pub fn nested<T>(&mut self, body: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let len = self.length()?;
        let outer = self.end;
        self.end = self.at + len;
        let value = body(self)?;
        self.finish()?;
        self.end = outer;
        Ok(value)
    }

    /// Like [`nested`](Decoder::nested), one level deeper in the nesting of shapes.
    pub fn deeper<T>(&mut self, body: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.require(self.depth_left > 0, Kind::LimitExceeded)?;
        self.depth_left -= 1;
        let value = body(self)?;
        self.depth_left += 1;
        Ok(value)
    }

    /// Reads an unknown struct that is a field of another one, of which the limits allow as many in
    /// each other as levels, beside these.
    pub(crate) fn in_struct<T>(&mut self, body: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.require(self.structs_left > 0, Kind::LimitExceeded)?;
        self.structs_left -= 1;
        let value = body(self)?;
        self.structs_left += 1;
        Ok(value)
    }

    /// Reads a struct; returns also the fields that `body` passed over.
    pub(crate) fn keeping_unknown<T>(
        &mut self,
        body: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<(T, Vec<Unknown>)> {
        let outer = self.passing.replace(Passing::default());
        let value = body(self)?;
        let inner = core::mem::replace(&mut self.passing, outer);
        Ok((value, inner.unwrap_or_default().unknown))
    }

    /// Reads something in which an unknown field is an error.
    pub(crate) fn refusing_unknown<T>(
        &mut self,
        body: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let outer = self.passing.take();
        let value = body(self)?;
        self.passing = outer;
        Ok(value)
    }

    /// Reads the field `tag`.
    pub(crate) fn within<T>(
        &mut self,
        tag: u32,
        body: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        if let Some(passing) = &mut self.passing {
            passing.path.push(tag);
        }
        let value = body(self)?;
        if let Some(passing) = &mut self.passing {
            passing.path.pop();
        }
        Ok(value)
    }

    /// How many fields were passed over in the struct that is being read.
    pub(crate) fn passed_over(&self) -> usize {
        self.passing
            .as_ref()
            .map_or(0, |passing| passing.unknown.len())
    }

    /// Passes over the rest of the present piece, the unknown field `tag`, if it can be kept.
    pub(crate) fn pass_over(&mut self, tag: u32) -> Result<()> {
        let Some(passing) = &mut self.passing else {
            return Err(self.error(Kind::NeedsNewer { unknown: tag }));
        };
        passing.unknown.push(Unknown {
            path: passing.path.clone(),
            start: self.at,
            end: self.end,
            depth_left: self.depth_left,
        });
        self.at = self.end;
        Ok(())
    }

    /// Reads what was passed over; `body` must use it up.
    pub(crate) fn revisit<T>(
        &mut self,
        unknown: &Unknown,
        body: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let here = (self.at, self.end, self.depth_left);
        (self.at, self.end, self.depth_left) = (unknown.start, unknown.end, unknown.depth_left);
        let value = self.refusing_unknown(body)?;
        self.finish()?;
        (self.at, self.end, self.depth_left) = here;
        Ok(value)
    }

    /// Fails unless the present piece is used up.
    pub(crate) fn finish(&self) -> Result<()> {
        self.require(self.remaining() == 0, Kind::TrailingBytes)
    }

    /// Reads the table of replicas: strictly ascending.
    pub(crate) fn table(&mut self) -> Result<()> {
        let count = self.count(16)?;
        self.require(count <= self.replicas_max, Kind::LimitExceeded)?;
        let mut table = Vec::with_capacity(count);
        for _ in 0..count {
            let mut bytes = [0; 16];
            bytes.copy_from_slice(self.raw(16)?);
            let id = ReplicaId::from_bytes(bytes);
            self.require(
                table.last().is_none_or(|last| *last < id),
                Kind::NotCanonical,
            )?;
            table.push(id);
        }
        self.used = vec![false; table.len()];
        self.table = table;
        Ok(())
    }

    /// Fails unless every replica of the table was named.
    pub(crate) fn finish_table(&self) -> Result<()> {
        self.require(self.used.iter().all(|used| *used), Kind::NotCanonical)
    }

    /// Reads a replica.
    pub fn replica(&mut self) -> Result<ReplicaId> {
        let at = self.varint()?;
        self.replica_at(at)
    }

    fn replica_at(&mut self, at: u64) -> Result<ReplicaId> {
        let at = usize::try_from(at).unwrap_or(usize::MAX);
        match (self.table.get(at), self.used.get_mut(at)) {
            (Some(id), Some(used)) => {
                *used = true;
                Ok(*id)
            }
            _ => Err(self.error(Kind::OutOfRange)),
        }
    }

    /// Reads the name of an update.
    pub fn dot(&mut self) -> Result<Dot> {
        let replica = self.replica()?;
        self.dot_of(replica)
    }

    fn dot_of(&mut self, replica: ReplicaId) -> Result<Dot> {
        let counter = self.varint()?;
        self.require(counter > 0, Kind::OutOfRange)?;
        Ok(Dot { replica, counter })
    }

    /// Reads the name of an entry.
    pub fn entry(&mut self) -> Result<EntryId> {
        let head = self.varint()?;
        self.entry_with(head)
    }

    fn entry_with(&mut self, head: u64) -> Result<EntryId> {
        let replica = self.replica_at(head >> 1)?;
        let dot = self.dot_of(replica)?;
        if head & 1 == 0 {
            return Ok(EntryId::new(dot, USUAL_INDEX));
        }
        let index = self.varint_u32()?;
        self.require(index != USUAL_INDEX, Kind::NotCanonical)?;
        Ok(EntryId { dot, index })
    }

    /// Reads entries, which ascend, and with `take` what follows the name of each, at least
    /// `bytes_min` long.
    pub(crate) fn entries(
        &mut self,
        bytes_min: usize,
        mut take: impl FnMut(&mut Decoder<'a>, EntryId) -> Result<()>,
    ) -> Result<()> {
        let head = self.varint()?;
        if head & 1 == 0 {
            self.counted(1, 1 + bytes_min)?;
            let entry = self.entry_with(head >> 1)?;
            return take(self, entry);
        }
        let count = self.counted(head >> 1, 2 + bytes_min)?;
        self.require(count != 1, Kind::NotCanonical)?;
        let mut before = None;
        for _ in 0..count {
            let entry = self.entry()?;
            let ascending = before.is_none_or(|last| last < entry);
            self.require(ascending, Kind::NotCanonical)?;
            before = Some(entry);
            take(self, entry)?;
        }
        Ok(())
    }

    /// Reads a version, whose replicas are exactly the table.
    pub(crate) fn version(&mut self) -> Result<Version> {
        let mut version = Version::new();
        for at in 0..self.table.len() {
            let seen = self.varint()?;
            self.require(seen > 0, Kind::OutOfRange)?;
            self.used[at] = true;
            version.raise(self.table[at], seen);
        }
        self.known = Dots::from(&version);
        Ok(version)
    }

    /// The updates that the state being read includes.
    pub fn known(&self) -> &Dots {
        &self.known
    }

    /// Reads the kind of a shape, which must be `expected`.
    pub fn shape(&mut self, expected: ShapeKind) -> Result<()> {
        let at = self.at;
        let found = self.byte()?;
        let fault = |kind| Err(DecodeError { offset: at, kind });
        match found {
            _ if found == expected as u8 => Ok(()),
            1..=ShapeKind::LAST => fault(Kind::ShapeMismatch {
                expected: expected as u8,
                found,
            }),
            _ => fault(Kind::NeedsNewer {
                unknown: u32::from(found),
            }),
        }
    }

    /// Reads the kind of any shape.
    pub(crate) fn any_shape(&mut self) -> Result<ShapeKind> {
        let at = self.at;
        let found = self.byte()?;
        ShapeKind::from_number(found).ok_or(DecodeError {
            offset: at,
            kind: Kind::NeedsNewer {
                unknown: u32::from(found),
            },
        })
    }

    /// Reads a set of updates.
    pub fn dots(&mut self) -> Result<Dots> {
        let mut dots = Dots::new();
        let mut before = None;
        for _ in 0..self.count(4)? {
            let id = self.ascending_replica(&mut before)?;
            let runs = self.ranges(1, u64::MAX)?;
            self.require(!runs.is_empty(), Kind::NotCanonical)?;
            dots.put(id, runs);
        }
        Ok(dots)
    }

    fn ascending_replica(&mut self, before: &mut Option<ReplicaId>) -> Result<ReplicaId> {
        let id = self.replica()?;
        self.require(before.is_none_or(|last| last < id), Kind::NotCanonical)?;
        *before = Some(id);
        Ok(id)
    }

    /// Reads ranges of numbers within `least..=most`.
    pub(crate) fn ranges(&mut self, least: u64, most: u64) -> Result<Ranges> {
        let mut ranges = Ranges::default();
        let mut next = Some(least);
        for _ in 0..self.count(2)? {
            let (gap, more) = (self.varint()?, self.varint()?);
            let first = next.and_then(|next| next.checked_add(gap));
            let last = first
                .and_then(|first| first.checked_add(more))
                .filter(|last| *last <= most);
            let (Some(first), Some(last)) = (first, last) else {
                return Err(self.error(Kind::OutOfRange));
            };
            ranges.push(first, last);
            next = last.checked_add(2);
        }
        Ok(ranges)
    }

    /// Reads a set of entries.
    pub fn names(&mut self) -> Result<Names> {
        let mut names = Names::new();
        let mut before = None;
        for _ in 0..self.count(6)? {
            let id = self.ascending_replica(&mut before)?;
            let blocks = self.count(4)?;
            self.require(blocks > 0, Kind::NotCanonical)?;
            let mut next = Some(1u64);
            for _ in 0..blocks {
                let (gap, more) = (self.varint()?, self.varint()?);
                let first = next.and_then(|next| next.checked_add(gap));
                let last = first.and_then(|first| first.checked_add(more));
                let (Some(first), Some(last)) = (first, last) else {
                    return Err(self.error(Kind::OutOfRange));
                };
                let half_max = u64::from(u32::MAX >> 1);
                let even = self.ranges(0, half_max)?;
                let odd = self.ranges(0, half_max)?;
                let block = Block {
                    first,
                    last,
                    indices: Indices { even, odd },
                };
                self.require(names.push_block(id, block), Kind::NotCanonical)?;
                next = last.checked_add(1);
            }
        }
        Ok(names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::Encoder;

    fn entry(counter: u64, index: u32) -> EntryId {
        EntryId::new(Dot::new(ReplicaId::from(7), counter), index)
    }

    fn read(bytes: &[u8]) -> Result<Vec<EntryId>> {
        let mut decoder = Decoder::new(bytes, &Limits::default());
        decoder.table = vec![ReplicaId::from(7)];
        decoder.used = vec![false];
        let mut read = Vec::new();
        decoder.entries(0, |_, entry| {
            read.push(entry);
            Ok(())
        })?;
        decoder.require(decoder.remaining() == 0, Kind::NotCanonical)?;
        Ok(read)
    }

    #[test]
    fn entries_have_one_spelling() {
        let cases: [(&[EntryId], &[u8]); 5] = [
            (&[], &[1]),
            (&[entry(5, 1)], &[0, 5]),
            (&[entry(5, 0)], &[2, 5, 0]),
            (&[entry(5, 1), entry(6, 3)], &[5, 0, 5, 1, 6, 3]),
            (
                &[entry(u64::MAX, 1)],
                b"\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
            ),
        ];
        for (entries, bytes) in cases {
            let mut encoder = Encoder::new(vec![ReplicaId::from(7)]);
            let listed = entries.iter().map(|entry| (*entry, ()));
            encoder.entries(entries.len(), listed, |_, ()| {});
            assert_eq!(encoder.into_bytes(), bytes);
            assert_eq!(read(bytes).as_deref(), Ok(entries));
        }
        let refused: [(&[u8], Kind); 7] = [
            // The usual index written out; a single one that is counted; out of order; twice.
            (&[2, 5, 1], Kind::NotCanonical),
            (&[3, 0, 5], Kind::NotCanonical),
            (&[5, 0, 6, 0, 5], Kind::NotCanonical),
            (&[5, 0, 5, 0, 5], Kind::NotCanonical),
            // No such replica; no such counter; more than there is room for.
            (&[4, 5], Kind::OutOfRange),
            (&[0, 0], Kind::OutOfRange),
            (&[7, 0, 5, 0, 6], Kind::Truncated),
        ];
        for (bytes, kind) in refused {
            assert_eq!(
                read(bytes).map_err(|error| error.kind),
                Err(kind),
                "{bytes:?}"
            );
        }
    }
}
