//! Takes frames apart and puts others together.

use commute::ReplicaId;
use twox_hash::XxHash3_64;

const CHECKSUM_LEN: usize = 4;

pub(crate) const STATE: u8 = 1;
pub(crate) const DELTA: u8 = 2;
pub(crate) const SAVE: u8 = 3;

/// `body` with its checksum after it.
pub(crate) fn sealed(mut body: Vec<u8>) -> Vec<u8> {
    let sum = XxHash3_64::oneshot(&body) as u32;
    body.extend_from_slice(&sum.to_le_bytes());
    body
}

/// `bytes` with the last four replaced by the right checksum, and so within a save.
pub(crate) fn fixed(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    if bytes.get(5) == Some(&SAVE) {
        fix_inner(&mut bytes);
    }
    sealed(bytes[..bytes.len().saturating_sub(CHECKSUM_LEN)].to_vec())
}

/// Fixes each frame within `bytes` that has its length before it.
fn fix_inner(bytes: &mut [u8]) {
    for start in 8..bytes.len().saturating_sub(4) {
        if bytes[start..start + 4] != *b"CMUT" {
            continue;
        }
        let len = match (bytes[start - 2], bytes[start - 1]) {
            (low @ 0x80.., high @ ..0x80) => usize::from(low & 0x7f) | usize::from(high) << 7,
            (_, len) => usize::from(len),
        };
        if let Some(inner) = bytes.get_mut(start..start + len)
            && len > CHECKSUM_LEN
        {
            let inner_fixed = sealed(inner[..len - CHECKSUM_LEN].to_vec());
            inner.copy_from_slice(&inner_fixed);
        }
    }
}

pub(crate) fn prefixes(bytes: &[u8]) -> impl Iterator<Item = Vec<u8>> + '_ {
    (0..bytes.len()).map(|len| bytes[..len].to_vec())
}

/// Every byte changed: to all other values in a short blob, to the telling ones in a longer one.
pub(crate) fn mutants(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for (at, &byte) in bytes.iter().enumerate() {
        let values: Vec<u8> = match bytes.len() {
            0..=64 => (0..=255).collect(),
            _ => {
                let flips = (0..8).map(|bit| byte ^ 1 << bit);
                let near = [
                    byte.wrapping_add(1),
                    byte.wrapping_sub(1),
                    0,
                    0x7f,
                    0x80,
                    0xff,
                ];
                flips.chain(near).collect()
            }
        };
        for value in values {
            if value != byte {
                let mut mutant = bytes.to_vec();
                mutant[at] = value;
                all.push(mutant);
            }
        }
    }
    all
}

/// The blob after a few random edits: bytes changed, inserted, dropped, or copied from elsewhere.
pub(crate) fn scrambled(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut body = bytes[..bytes.len() - CHECKSUM_LEN].to_vec();
    for _ in 0..=random.below(3) {
        let at = 7 + random.below(body.len() - 7);
        match random.below(5) {
            0 => body[at] ^= 1 << random.below(8),
            1 => body[at] = random.below(4) as u8,
            2 => body.insert(at, random.below(3) as u8),
            3 if body.len() > 9 => drop(body.remove(at)),
            _ => body[at] = body[7 + random.below(body.len() - 7)],
        }
    }
    fixed(&sealed(body))
}

/// SplitMix64.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ z >> 31) % most as u64) as usize
    }
}

/// The blob with one section dropped, doubled, emptied or moved to the end.
pub(crate) fn rearranged(bytes: &[u8]) -> Vec<Vec<u8>> {
    let (kind, parts) = (bytes[5], sections(bytes));
    let mut all = Vec::new();
    for at in 0..parts.len() {
        let [mut dropped, mut doubled, mut emptied] = [parts.clone(), parts.clone(), parts.clone()];
        let part = dropped.remove(at);
        let mut moved = dropped.clone();
        moved.push(part.clone());
        doubled.insert(at, part);
        emptied[at].1.clear();
        let changed = [dropped, moved, doubled, emptied].into_iter();
        all.extend(changed.map(|parts| frame(kind, &parts)));
    }
    all
}

/// The blob with huge numbers in the place of each byte, and inserted before it.
pub(crate) fn bombs(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for at in 0..bytes.len() - CHECKSUM_LEN {
        for number in [1 << 60, u64::MAX, 1 << 32, 1 << 20] {
            for skip in [0, 1] {
                let mut body = bytes[..at].to_vec();
                body.extend(varint(number));
                body.extend_from_slice(&bytes[at + skip..bytes.len() - CHECKSUM_LEN]);
                all.push(sealed(body));
            }
        }
    }
    all
}

pub(crate) fn find(bytes: &[u8], text: &[u8]) -> Option<usize> {
    bytes.windows(text.len()).position(|window| window == text)
}

pub(crate) fn varint(mut number: u64) -> Vec<u8> {
    let mut out = Vec::new();
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
    out
}

/// A frame of `kind` with these sections.
pub(crate) fn frame(kind: u8, sections: &[(u64, Vec<u8>)]) -> Vec<u8> {
    let mut body = b"CMUT\x01".to_vec();
    body.extend_from_slice(&[kind, 0]);
    for (tag, content) in sections {
        body.extend(varint(*tag));
        body.extend(varint(content.len() as u64));
        body.extend_from_slice(content);
    }
    sealed(body)
}

/// The sections of a frame.
pub(crate) fn sections(bytes: &[u8]) -> Vec<(u64, Vec<u8>)> {
    let mut rest = &bytes[7..bytes.len() - CHECKSUM_LEN];
    let mut all = Vec::new();
    while !rest.is_empty() {
        let tag = read_varint(&mut rest);
        let len = read_varint(&mut rest) as usize;
        let (content, after) = rest.split_at(len);
        all.push((tag, content.to_vec()));
        rest = after;
    }
    all
}

fn read_varint(bytes: &mut &[u8]) -> u64 {
    let mut number = 0;
    for shift in (0..).step_by(7) {
        let byte = bytes[0];
        *bytes = &bytes[1..];
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            break;
        }
    }
    number
}

/// Several pieces one after the other.
pub(crate) fn joined(pieces: &[&[u8]]) -> Vec<u8> {
    pieces.concat()
}

pub(crate) fn table(ids: &[ReplicaId]) -> Vec<u8> {
    let mut out = varint(ids.len() as u64);
    out.extend(ids.iter().flat_map(|id| id.to_bytes()));
    out
}

/// Ranges `(first, last)` of numbers from `least` on.
pub(crate) fn ranges(list: &[(u64, u64)], least: u64) -> Vec<u8> {
    let mut out = varint(list.len() as u64);
    let mut next = least;
    for (first, last) in list {
        out.extend(varint(first - next));
        out.extend(varint(last - first));
        next = last.saturating_add(2);
    }
    out
}

/// Dots: per replica, by its index in the table, ranges of counters.
pub(crate) fn dots(list: &[(u64, &[(u64, u64)])]) -> Vec<u8> {
    let mut out = varint(list.len() as u64);
    for (replica, runs) in list {
        out.extend(varint(*replica));
        out.extend(ranges(runs, 1));
    }
    out
}

/// A block of names: the updates `first..=last`, each with these odd indices (halved).
pub(crate) type Block<'a> = (u64, u64, &'a [(u64, u64)]);

pub(crate) fn names(list: &[(u64, &[Block<'_>])]) -> Vec<u8> {
    let mut out = varint(list.len() as u64);
    for (replica, blocks) in list {
        out.extend(varint(*replica));
        out.extend(varint(blocks.len() as u64));
        let mut next = 1;
        for (first, last, odd) in *blocks {
            out.extend(varint(first - next));
            out.extend(varint(last - first));
            out.extend(ranges(&[], 0));
            out.extend(ranges(odd, 0));
            next = last.saturating_add(1);
        }
    }
    out
}

/// The seals of a combined delta, the one before unknown.
pub(crate) fn seals(after: &[u64]) -> Vec<u8> {
    let span = |after: &u64| joined(&[&[0], &after.to_le_bytes()]);
    after.iter().flat_map(span).collect()
}
