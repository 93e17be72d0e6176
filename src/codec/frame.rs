//! The envelope of everything that is written: magic, version, kind, flags, sections, checksum.

use alloc::vec::Vec;

use twox_hash::XxHash3_64;

use super::{DecodeError, DecodeErrorKind as Kind, Decoder, Encoder, Limits};
use crate::clock::ReplicaId;

const MAGIC: [u8; 4] = *b"CMUT";
const FORMAT: u8 = 1;
const HEADER_LEN: usize = 7;
const CHECKSUM_LEN: usize = 4;

/// What a frame holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FrameKind {
    State = 1,
    Delta = 2,
    Save = 3,
    Version = 4,
}

/// A frame being written.
pub(crate) struct Sections {
    encoder: Encoder,
}

/// Starts a frame whose content names only the replicas of `table`.
pub(crate) fn seal(kind: FrameKind, table: Vec<ReplicaId>) -> Sections {
    let mut encoder = Encoder::new(table);
    encoder.raw(&MAGIC);
    encoder.raw(&[FORMAT, kind as u8, 0]);
    Sections { encoder }
}

impl Sections {
    /// Writes one section; tags ascend.
    pub(crate) fn section(mut self, tag: u32, body: impl FnOnce(&mut Encoder)) -> Sections {
        self.encoder.varint(u64::from(tag));
        self.encoder.nested(body);
        self
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        let mut bytes = self.encoder.into_bytes();
        let sum = checksum(&bytes);
        bytes.extend_from_slice(&sum);
        bytes
    }
}

/// Checks the envelope and stands before the first section.
pub(crate) fn open<'a>(
    bytes: &'a [u8],
    kind: FrameKind,
    limits: &Limits,
) -> Result<Decoder<'a>, DecodeError> {
    let fault = |offset, kind| Err(DecodeError { offset, kind });
    if bytes.len() > limits.bytes_max {
        return fault(limits.bytes_max, Kind::LimitExceeded);
    }
    let known = bytes.len().min(MAGIC.len());
    if bytes[..known] != MAGIC[..known] {
        return fault(0, Kind::NotOurs);
    }
    if bytes.len() < HEADER_LEN + CHECKSUM_LEN {
        return fault(bytes.len(), Kind::Truncated);
    }
    let (body, sum) = bytes.split_at(bytes.len() - CHECKSUM_LEN);
    if bytes[4] != FORMAT {
        return fault(
            4,
            Kind::NeedsNewer {
                unknown: u32::from(bytes[4]),
            },
        );
    }
    if sum != checksum(body) {
        return fault(body.len(), Kind::Checksum);
    }
    if bytes[5] != kind as u8 {
        return fault(
            5,
            Kind::WrongFrame {
                expected: kind as u8,
                found: bytes[5],
            },
        );
    }
    if bytes[6] != 0 {
        return fault(
            6,
            Kind::NeedsNewer {
                unknown: u32::from(bytes[6]),
            },
        );
    }
    let mut decoder = Decoder::new(body, limits);
    decoder.raw(HEADER_LEN)?;
    Ok(decoder)
}

fn checksum(bytes: &[u8]) -> [u8; CHECKSUM_LEN] {
    (XxHash3_64::oneshot(bytes) as u32).to_le_bytes()
}

impl Decoder<'_> {
    /// The tag of the next section, if one is left.
    fn peek_section(&mut self) -> Result<Option<u32>, DecodeError> {
        if self.remaining() == 0 {
            return Ok(None);
        }
        Ok(Some(self.varint_u32()?))
    }

    /// Reads the sections in order; `read` gets each tag and must use up the section.
    ///
    /// Tags ascend strictly, so no section stands twice.
    pub(crate) fn sections(
        &mut self,
        mut read: impl FnMut(u32, &mut Self) -> Result<(), DecodeError>,
    ) -> Result<(), DecodeError> {
        let mut before = 0;
        while let Some(tag) = self.peek_section()? {
            self.require(tag > before, Kind::NotCanonical)?;
            before = tag;
            self.nested(|section| read(tag, section))?;
        }
        Ok(())
    }
}
