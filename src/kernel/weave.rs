//! One struct out of the fields that a type knows and those that it does not.
//!
//! Both are structs as bytes, so they are merged by tag; a tag that is in both is a struct whose own
//! fields are known in part. The bytes are this crate's own, fresh from the encoder.

use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::codec::{DecodeError, Decoder, Encoder, Limits};

type Fields<'a> = Vec<(u32, &'a [u8])>;

/// The bytes of both together, as [`fields`](super::fields) writes a struct.
pub(super) fn bytes(known: &[u8], rest: &[u8]) -> Vec<u8> {
    let fields = merge(split_bytes(known), split_bytes(rest), |known, rest| {
        // The kind of a struct stands before its fields.
        let mut body = known.get(..1).unwrap_or_default().to_vec();
        body.append(&mut bytes(
            known.get(1..).unwrap_or_default(),
            rest.get(1..).unwrap_or_default(),
        ));
        body
    });
    let mut encoder = Encoder::default();
    encoder.varint(fields.len() as u64);
    for (tag, body) in &fields {
        encoder.varint(u64::from(*tag));
        encoder.bytes(body);
    }
    encoder.into_bytes()
}

/// What a seal covers of both together, as [`fields::content`](super::fields::content) writes it.
pub(super) fn content(known: &[u8], rest: &[u8]) -> Vec<u8> {
    let fields = merge(split_content(known), split_content(rest), content);
    let mut out = Vec::with_capacity(known.len() + rest.len());
    for (tag, body) in &fields {
        super::fields::frame(&mut out, *tag, |out| out.extend_from_slice(body));
    }
    out
}

fn merge<'a>(
    known: Fields<'a>,
    rest: Fields<'a>,
    both: fn(&[u8], &[u8]) -> Vec<u8>,
) -> BTreeMap<u32, Cow<'a, [u8]>> {
    let known = known.into_iter();
    let mut fields: BTreeMap<_, _> = known
        .map(|(tag, body)| (tag, Cow::Borrowed(body)))
        .collect();
    for (tag, body) in rest {
        let woven = match fields.get(&tag) {
            Some(known) => Cow::Owned(both(known, body)),
            None => Cow::Borrowed(body),
        };
        fields.insert(tag, woven);
    }
    fields
}

fn split_bytes(bytes: &[u8]) -> Fields<'_> {
    let read = || -> Result<Fields<'_>, DecodeError> {
        let mut decoder = Decoder::new(bytes, &Limits::default());
        let count = decoder.varint()?;
        (0..count)
            .map(|_| Ok((decoder.varint_u32()?, decoder.bytes()?)))
            .collect()
    };
    let fields = read();
    debug_assert!(fields.is_ok(), "a struct is written as fields");
    fields.unwrap_or_default()
}

fn split_content(mut bytes: &[u8]) -> Fields<'_> {
    let mut fields = Vec::new();
    while let Some((tag, rest)) = bytes.split_first_chunk::<4>() {
        let Some((len, rest)) = rest.split_first_chunk::<8>() else {
            break;
        };
        let len = usize::try_from(u64::from_le_bytes(*len)).unwrap_or(usize::MAX);
        let Some((body, rest)) = rest.split_at_checked(len) else {
            break;
        };
        fields.push((u32::from_le_bytes(*tag), body));
        bytes = rest;
    }
    debug_assert!(bytes.is_empty(), "a struct seals its fields");
    fields
}
