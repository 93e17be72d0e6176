//! Structs of replicated values: what `#[derive(Replicated)]` calls.
//!
//! A struct is written as the number of its fields that hold something, then each of these in
//! ascending order of tags: the tag, and with its length before it the kind of its shape and its
//! body. A field that holds nothing is left out, so a struct that never had the field has the same
//! bytes. A field that the struct does not have is passed over and kept by what holds the struct, if
//! that can (see `WithRest`); it is written again at its place. A tag is given by `#[replicated(tag = n)]` or is the upper half of the 64-bit FNV-1a hash
//! of the field's name; 0 is never a tag.

pub use alloc::collections::BTreeSet;
pub use alloc::vec::Vec;

#[cfg(feature = "serde")]
pub use ::serde;

use super::{Part, Place, Replicated, ShapeKind};
use crate::codec::{DecodeError, DecodeErrorKind as Kind, Decoder, Encoder};

/// Keeps what the derive writes for serde.
#[doc(hidden)]
#[cfg(feature = "serde")]
#[macro_export]
macro_rules! if_serde {
    ($($item:item)*) => { $($item)* };
}

/// Drops what the derive writes for serde.
#[doc(hidden)]
#[cfg(not(feature = "serde"))]
#[macro_export]
macro_rules! if_serde {
    ($($item:item)*) => {};
}

/// A tag, a length, a kind and a body of one byte each.
const FIELD_BYTES_MIN: usize = 4;

/// Writes how many fields follow; `held` tells of each whether it holds something.
pub fn encode_count<const N: usize>(encoder: &mut Encoder, held: [bool; N]) {
    let count = held.iter().filter(|held| **held).count();
    encoder.varint(count as u64);
}

/// Writes one field of a state, unless it holds nothing.
pub fn encode_field<S: Replicated>(encoder: &mut Encoder, place: Place, tag: u32, field: &S) {
    if !field.is_bottom() {
        encode(encoder, tag, S::kind(place), |e| field.encode(e, place));
    }
}

/// Writes one field of a fragment, unless it is empty.
pub fn encode_part<P: Part>(encoder: &mut Encoder, place: Place, tag: u32, part: &P) {
    if !part.is_empty() {
        encode(encoder, tag, P::kind(place), |e| part.encode(e, place));
    }
}

pub(super) fn encode(
    encoder: &mut Encoder,
    tag: u32,
    kind: ShapeKind,
    body: impl FnOnce(&mut Encoder),
) {
    encoder.varint(u64::from(tag));
    encoder.nested(|e| {
        e.byte(kind as u8);
        body(e);
    });
}

/// Reads the fields of a struct; `read` gets each tag and must use up the field.
///
/// # Errors
/// [`DecodeError`] for a wrong order of tags, and whatever `read` returns.
pub fn decode(
    decoder: &mut Decoder<'_>,
    mut read: impl FnMut(u32, &mut Decoder<'_>) -> Result<(), DecodeError>,
) -> Result<(), DecodeError> {
    let mut before = 0;
    for _ in 0..decoder.count(FIELD_BYTES_MIN)? {
        let at = decoder.offset();
        let tag = decoder.varint_u32()?;
        if tag <= before {
            return Err(DecodeError {
                offset: at,
                kind: Kind::NotCanonical,
            });
        }
        before = tag;
        decoder.within(tag, |d| d.nested(|d| read(tag, d)))?;
    }
    Ok(())
}

/// Reads one field of a state.
///
/// # Errors
/// [`DecodeError`], also for a field that holds nothing.
pub fn decode_field<S: Replicated>(
    decoder: &mut Decoder<'_>,
    place: Place,
    field: &mut S,
) -> Result<(), DecodeError> {
    decoder.deeper(|d| decode_flat_field(d, place, field))
}

/// [`decode_field`] for a field that is no level of nesting.
pub(crate) fn decode_flat_field<S: Replicated>(
    decoder: &mut Decoder<'_>,
    place: Place,
    field: &mut S,
) -> Result<(), DecodeError> {
    let (read, unknown) = decode_shape(decoder, S::kind(place), |d| S::decode(d, place))?;
    *field = read;
    decoder.require(unknown || !field.is_bottom(), Kind::NotCanonical)
}

/// Reads one field of a fragment.
///
/// # Errors
/// [`DecodeError`], also for an empty field.
pub fn decode_part<P: Part>(
    decoder: &mut Decoder<'_>,
    place: Place,
    part: &mut P,
) -> Result<(), DecodeError> {
    decoder.deeper(|d| decode_flat_part(d, place, part))
}

/// [`decode_part`] for a field that is no level of nesting.
pub(crate) fn decode_flat_part<P: Part>(
    decoder: &mut Decoder<'_>,
    place: Place,
    part: &mut P,
) -> Result<(), DecodeError> {
    let (read, unknown) = decode_shape(decoder, P::kind(place), |d| P::decode(d, place))?;
    *part = read;
    decoder.require(unknown || !part.is_empty(), Kind::NotCanonical)
}

/// Reads a field; returns also whether fields of it were passed over.
fn decode_shape<T>(
    decoder: &mut Decoder<'_>,
    kind: ShapeKind,
    read: impl FnOnce(&mut Decoder<'_>) -> Result<T, DecodeError>,
) -> Result<(T, bool), DecodeError> {
    decoder.shape(kind)?;
    let before = decoder.passed_over();
    let value = match kind {
        ShapeKind::Struct => read(decoder)?,
        // What is below another shape has no path of tags: a map keeps it for each key.
        _ => decoder.refusing_unknown(read)?,
    };
    Ok((value, decoder.passed_over() > before))
}

/// Passes over a field that the struct does not have.
///
/// # Errors
/// [`NeedsNewer`](Kind::NeedsNewer) if nothing that holds the struct can keep it.
pub fn unknown(decoder: &mut Decoder<'_>, tag: u32) -> Result<(), DecodeError> {
    decoder.pass_over(tag)
}

/// Appends what a seal covers of one field: its tag, the length of its content, the content.
///
/// Nothing for an empty field, so that a struct that never had the field has the same seals.
pub fn content<P: Part>(out: &mut Vec<u8>, tag: u32, part: &P) {
    if !part.is_empty() {
        frame(out, tag, |out| part.content(out));
    }
}

/// Appends what a seal covers of one field that `content` appends.
pub(super) fn frame(out: &mut Vec<u8>, tag: u32, content: impl FnOnce(&mut Vec<u8>)) {
    out.extend_from_slice(&tag.to_le_bytes());
    sized(out, content);
}

/// Appends what `content` appends, with its length before it: whatever is sealed one after the other
/// has a length, or two updates could be sealed alike.
pub(super) fn sized(out: &mut Vec<u8>, content: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&[0; 8]);
    content(out);
    let len = (out.len() - start - 8) as u64;
    out[start..start + 8].copy_from_slice(&len.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::Limits;
    use crate::counter::GCounter;
    use crate::kernel::Latest;

    /// Reads a struct that has one counter, with tag 7.
    fn read(bytes: &[u8]) -> Result<GCounter, Kind> {
        let mut counter = GCounter::empty(Place::Kept);
        let mut decoder = Decoder::new(bytes, &Limits::default());
        let result = decode(&mut decoder, |tag, d| match tag {
            7 => decode_field(d, Place::Kept, &mut counter),
            _ => unknown(d, tag),
        });
        result.map(|()| counter).map_err(|error| error.kind)
    }

    #[test]
    fn only_the_canonical_spelling_is_read() {
        let kind = <Latest<u64>>::kind(Place::Kept) as u8;
        assert!(read(&[0]).is_ok_and(|counter| counter.is_bottom()));
        let faults: [(&[u8], Kind); 6] = [
            (&[1, 7, 2, kind, 0], Kind::NotCanonical),
            (&[1, 0, 2, kind, 0], Kind::NotCanonical),
            (&[1, 7, 3, kind, 0, 0], Kind::NotCanonical),
            (&[1, 8, 2, kind, 0], Kind::NeedsNewer { unknown: 8 }),
            (&[2, 7, 2, kind, 0], Kind::Truncated),
            (&[1, 7, 2, 99, 0], Kind::NeedsNewer { unknown: 99 }),
        ];
        for (bytes, fault) in faults {
            assert_eq!(read(bytes).err(), Some(fault), "{bytes:?}");
        }
        let mismatch = Kind::ShapeMismatch {
            expected: kind,
            found: 1,
        };
        assert_eq!(read(&[1, 7, 2, 1, 0]).err(), Some(mismatch));
    }
}
