//! Revisions, ids, keys, values and fencing tokens.

use alloc::vec::Vec;
use core::fmt;

use ::serde::de::{self, Deserialize, Deserializer, Visitor};
use ::serde::ser::{Serialize, Serializer};

use super::{Hex, parse_hex};
use crate::coord::FencingToken;
use crate::store::{Incarnation, Key, Revision, TransactionId, Value};

/// Bytes, as hexadecimal digits in texts.
struct Bytes<T> {
    expected: &'static str,
    read: fn(&[u8]) -> Option<T>,
}

impl<T> Bytes<T> {
    fn deserialize<'de, D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
        match deserializer.is_human_readable() {
            true => deserializer.deserialize_str(self),
            false => deserializer.deserialize_bytes(self),
        }
    }
}

impl<T> Visitor<'_> for Bytes<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expected)
    }

    fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<T, E> {
        let wrong = || E::custom(format_args!("not {}", self.expected));
        (self.read)(bytes).ok_or_else(wrong)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        let wrong = || E::custom("not lower-case hexadecimal digits");
        self.visit_bytes(&parse_hex(text).ok_or_else(wrong)?)
    }
}

fn write<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    match serializer.is_human_readable() {
        true => serializer.collect_str(&Hex(bytes)),
        false => serializer.serialize_bytes(bytes),
    }
}

macro_rules! as_bytes {
    ($($type:ty, $expected:literal, $bytes:expr, $read:expr;)*) => {$(
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let bytes: fn(&$type) -> Vec<u8> = $bytes;
                write(&bytes(self), serializer)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<$type, D::Error> {
                Bytes { expected: $expected, read: $read }.deserialize(deserializer)
            }
        }
    )*};
}

fn bits(bytes: &[u8]) -> Option<u128> {
    bytes.try_into().ok().map(u128::from_be_bytes)
}

as_bytes! {
    Incarnation, "the 16 bytes of an incarnation",
        |life| life.bits().to_be_bytes().into(),
        |bytes| bits(bytes).map(Incarnation::from_bits);
    TransactionId, "the 16 bytes of a transaction id",
        |id| id.bits().to_be_bytes().into(),
        |bytes| bits(bytes).map(TransactionId::from_bits);
    Key, "the bytes of a key",
        |key| key.as_bytes().into(),
        |bytes| Some(Key::from(bytes));
    Value, "the bytes of a value",
        |value| value.as_bytes().into(),
        |bytes| Some(Value::from(bytes));
    FencingToken, "the bytes of a fencing token",
        |token| token.to_bytes(),
        |bytes| FencingToken::from_bytes(bytes).ok();
}

impl Serialize for Revision {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.incarnation(), self.counter()).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Revision {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Revision, D::Error> {
        let (incarnation, counter) = Deserialize::deserialize(deserializer)?;
        Ok(Revision::new(incarnation, counter))
    }
}
