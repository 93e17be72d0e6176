//! Values inside entries.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Debug;

use super::encoder::varint;
use super::{DecodeErrorKind as Kind, Decoder, Key, Limits};
use crate::clock::ReplicaId;

/// A value that an entry carries, with one byte string per value.
///
/// Peers that do not know a type compare its values as bytes, hence the law: equal values have
/// equal bytes, and `decode` refuses every other spelling.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the plain value of an entry",
    note = "use a number, a text, bytes, `bool`, `char` or an `Option` of these, or implement `commute::codec::Payload`"
)]
pub trait Payload: Clone + PartialEq + Debug + Send + Sync + 'static {
    /// Appends the bytes of this value.
    fn encode(&self, out: &mut Vec<u8>);

    /// Reads a value that uses up all of `bytes`; `None` if these are not the bytes of one.
    fn decode(bytes: &[u8]) -> Option<Self>;
}

/// Reads with a decoder that must be used up.
fn whole<T>(
    bytes: &[u8],
    read: impl FnOnce(&mut Decoder<'_>) -> Result<T, super::DecodeError>,
) -> Option<T> {
    let mut decoder = Decoder::new(bytes, &Limits::default());
    let value = read(&mut decoder).ok()?;
    decoder.finish().ok()?;
    Some(value)
}

impl Payload for u64 {
    fn encode(&self, out: &mut Vec<u8>) {
        varint(out, *self);
    }

    fn decode(bytes: &[u8]) -> Option<u64> {
        whole(bytes, |d| d.varint())
    }
}

impl Payload for i64 {
    fn encode(&self, out: &mut Vec<u8>) {
        varint(out, (self << 1 ^ self >> 63) as u64);
    }

    fn decode(bytes: &[u8]) -> Option<i64> {
        <u64 as Payload>::decode(bytes).map(|zigzag| (zigzag >> 1) as i64 ^ -((zigzag & 1) as i64))
    }
}

macro_rules! small {
    ($($wide:ty: $($small:ty)*;)*) => {$($(
        impl Payload for $small {
            fn encode(&self, out: &mut Vec<u8>) {
                Payload::encode(&<$wide>::from(*self), out);
            }

            fn decode(bytes: &[u8]) -> Option<$small> {
                let wide = <$wide as Payload>::decode(bytes)?;
                <$small>::try_from(wide).ok()
            }
        }
    )*)*};
}

small! {
    u64: u8 u16 u32;
    i64: i8 i16 i32;
}

/// What is encoded as the key that it may be, too.
macro_rules! as_keys {
    ($($type:ty),*) => {$(
        impl Payload for $type {
            fn encode(&self, out: &mut Vec<u8>) {
                Key::encode(self, out);
            }

            fn decode(bytes: &[u8]) -> Option<$type> {
                Key::decode(bytes)
            }
        }
    )*};
}

as_keys!(u128, i128, char, (), Box<str>, ReplicaId);

impl<const N: usize> Payload for [u8; N] {
    fn encode(&self, out: &mut Vec<u8>) {
        Key::encode(self, out);
    }

    fn decode(bytes: &[u8]) -> Option<[u8; N]> {
        Key::decode(bytes)
    }
}

/// One byte that tells whether there is a value, and the value.
impl<V: Payload> Payload for Option<V> {
    fn encode(&self, out: &mut Vec<u8>) {
        out.push(u8::from(self.is_some()));
        if let Some(value) = self {
            value.encode(out);
        }
    }

    fn decode(bytes: &[u8]) -> Option<Option<V>> {
        match bytes.split_first()? {
            (0, []) => Some(None),
            (1, rest) => V::decode(rest).map(Some),
            _ => None,
        }
    }
}

impl Payload for bool {
    fn encode(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }

    fn decode(bytes: &[u8]) -> Option<bool> {
        match bytes {
            [0] => Some(false),
            [1] => Some(true),
            _ => None,
        }
    }
}

impl Payload for String {
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.as_bytes());
    }

    fn decode(bytes: &[u8]) -> Option<String> {
        core::str::from_utf8(bytes).ok().map(String::from)
    }
}

impl Payload for Vec<u8> {
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self);
    }

    fn decode(bytes: &[u8]) -> Option<Vec<u8>> {
        Some(bytes.to_vec())
    }
}

/// Two numbers, as a counter's increments and decrements.
impl Payload for (u64, u64) {
    fn encode(&self, out: &mut Vec<u8>) {
        varint(out, self.0);
        varint(out, self.1);
    }

    fn decode(bytes: &[u8]) -> Option<(u64, u64)> {
        whole(bytes, |d| Ok((d.varint()?, d.varint()?)))
    }
}

impl Decoder<'_> {
    /// Reads a payload with its length before it.
    pub fn payload<V: Payload>(&mut self) -> Result<V, super::DecodeError> {
        let at = self.offset();
        let bytes = self.bytes()?;
        V::decode(bytes).ok_or(super::DecodeError {
            offset: at,
            kind: Kind::Value,
        })
    }
}

impl super::Encoder {
    /// Writes a payload with its length before it.
    pub fn payload<V: Payload>(&mut self, value: &V) {
        self.appended(|out| value.encode(out));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip<V: Payload>(value: V) {
        let mut bytes = Vec::new();
        value.encode(&mut bytes);
        assert_eq!(V::decode(&bytes), Some(value));
    }

    #[test]
    fn values_round_trip() {
        [0, 1, 127, 128, u64::MAX].into_iter().for_each(round_trip);
        [0, 1, -1, i64::MIN, i64::MAX]
            .into_iter()
            .for_each(round_trip);
        [true, false].into_iter().for_each(round_trip);
        round_trip(String::from("\u{1F309}"));
        round_trip((7u64, u64::MAX));
        [0, 200, 255_u8].into_iter().for_each(round_trip);
        [-7, i32::MIN, i32::MAX].into_iter().for_each(round_trip);
        [None, Some(String::new()), Some("x".into())]
            .into_iter()
            .for_each(round_trip);
        round_trip(u128::MAX);
        round_trip('\u{1F309}');
        round_trip([1_u8, 2, 3]);
        round_trip(());
    }

    #[test]
    fn other_spellings_are_refused() {
        assert_eq!(<u64 as Payload>::decode(&[0x80, 0x00]), None);
        assert_eq!(<u64 as Payload>::decode(&[1, 1]), None);
        assert_eq!(<u8 as Payload>::decode(&[0x80, 0x02]), None);
        assert_eq!(<Option<bool> as Payload>::decode(&[0, 0]), None);
        assert_eq!(<Option<bool> as Payload>::decode(&[2, 0]), None);
        assert_eq!(<Option<bool> as Payload>::decode(&[]), None);
        assert_eq!(<bool as Payload>::decode(&[2]), None);
        assert_eq!(<String as Payload>::decode(&[0xff]), None);
        assert_eq!(
            <u64 as Payload>::decode(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2]),
            None
        );
    }
}
