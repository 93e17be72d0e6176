//! Keys: set elements and map keys.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Debug;

use super::{DecodeError, DecodeErrorKind as Kind, Decoder, Encoder};
use crate::clock::{Dot, EntryId, ReplicaId};

/// A set element or map key, whose bytes are ordered as the keys are.
///
/// Law: `a.cmp(&b)` equals the order of the encodings compared as byte strings, equal keys have
/// equal bytes, and `decode` refuses every other spelling. So a peer that does not know the type
/// keeps the same order. Numbers are big-endian with a fixed width (the sign bit flipped), texts are
/// raw UTF-8, tuples are escaped and joined.
///
/// # Examples
/// A key of your own delegates to one of these:
/// ```
/// use commute::codec::Key;
///
/// #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
/// struct UserId(u64);
///
/// impl Key for UserId {
///     fn encode(&self, out: &mut Vec<u8>) {
///         self.0.encode(out);
///     }
///     fn decode(bytes: &[u8]) -> Option<UserId> {
///         u64::decode(bytes).map(UserId)
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a set element or map key",
    note = "implement `commute::codec::Key` by delegating to a number, text or tuple"
)]
pub trait Key: Ord + Clone + Debug + Send + Sync + 'static {
    /// Appends the bytes of this key.
    fn encode(&self, out: &mut Vec<u8>);

    /// Reads a key that uses up all of `bytes`; `None` if these are not the bytes of one.
    fn decode(bytes: &[u8]) -> Option<Self>;
}

macro_rules! unsigned {
    ($($int:ty),*) => {$(
        impl Key for $int {
            fn encode(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_be_bytes());
            }

            fn decode(bytes: &[u8]) -> Option<$int> {
                bytes.try_into().ok().map(<$int>::from_be_bytes)
            }
        }
    )*};
}

macro_rules! signed {
    ($($int:ty),*) => {$(
        impl Key for $int {
            fn encode(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&(self ^ <$int>::MIN).to_be_bytes());
            }

            fn decode(bytes: &[u8]) -> Option<$int> {
                bytes.try_into().ok().map(|bytes| <$int>::from_be_bytes(bytes) ^ <$int>::MIN)
            }
        }
    )*};
}

unsigned!(u8, u16, u32, u64, u128);
signed!(i8, i16, i32, i64, i128);

impl Key for () {
    fn encode(&self, _: &mut Vec<u8>) {}

    fn decode(bytes: &[u8]) -> Option<()> {
        bytes.is_empty().then_some(())
    }
}

impl Key for bool {
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

impl Key for char {
    fn encode(&self, out: &mut Vec<u8>) {
        u32::from(*self).encode(out);
    }

    fn decode(bytes: &[u8]) -> Option<char> {
        u32::decode(bytes).and_then(char::from_u32)
    }
}

impl Key for String {
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.as_bytes());
    }

    fn decode(bytes: &[u8]) -> Option<String> {
        core::str::from_utf8(bytes).ok().map(String::from)
    }
}

impl Key for Box<str> {
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.as_bytes());
    }

    fn decode(bytes: &[u8]) -> Option<Box<str>> {
        core::str::from_utf8(bytes).ok().map(Box::from)
    }
}

impl Key for Vec<u8> {
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self);
    }

    fn decode(bytes: &[u8]) -> Option<Vec<u8>> {
        Some(bytes.to_vec())
    }
}

impl<const N: usize> Key for [u8; N] {
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self);
    }

    fn decode(bytes: &[u8]) -> Option<[u8; N]> {
        bytes.try_into().ok()
    }
}

impl Key for ReplicaId {
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_bytes());
    }

    fn decode(bytes: &[u8]) -> Option<ReplicaId> {
        bytes.try_into().ok().map(ReplicaId::from_bytes)
    }
}

/// Replica, counter and index, each with its full width.
impl Key for EntryId {
    fn encode(&self, out: &mut Vec<u8>) {
        Key::encode(&self.dot.replica, out);
        Key::encode(&self.dot.counter, out);
        Key::encode(&self.index, out);
    }

    fn decode(bytes: &[u8]) -> Option<EntryId> {
        let (replica, rest) = bytes.split_at_checked(16)?;
        let (counter, index) = rest.split_at_checked(8)?;
        let counter = <u64 as Key>::decode(counter).filter(|counter| *counter > 0)?;
        let dot = Dot::new(Key::decode(replica)?, counter);
        Some(EntryId::new(dot, Key::decode(index)?))
    }
}

impl<K: Key> Key for Option<K> {
    fn encode(&self, out: &mut Vec<u8>) {
        out.push(u8::from(self.is_some()));
        if let Some(key) = self {
            key.encode(out);
        }
    }

    fn decode(bytes: &[u8]) -> Option<Option<K>> {
        match bytes.split_first()? {
            (0, []) => Some(None),
            (1, rest) => K::decode(rest).map(Some),
            _ => None,
        }
    }
}

impl<A: Key, B: Key> Key for (A, B) {
    fn encode(&self, out: &mut Vec<u8>) {
        escape(&self.0, out);
        self.1.encode(out);
    }

    fn decode(bytes: &[u8]) -> Option<(A, B)> {
        let (first, rest) = unescape(bytes)?;
        Some((A::decode(&first)?, B::decode(rest)?))
    }
}

impl<A: Key, B: Key, C: Key> Key for (A, B, C) {
    fn encode(&self, out: &mut Vec<u8>) {
        escape(&self.0, out);
        escape(&self.1, out);
        self.2.encode(out);
    }

    fn decode(bytes: &[u8]) -> Option<(A, B, C)> {
        let (first, rest) = unescape(bytes)?;
        let (second, rest) = unescape(rest)?;
        Some((A::decode(&first)?, B::decode(&second)?, C::decode(rest)?))
    }
}

/// Writes a part of a tuple so that it ends below every longer one: 0 becomes 0 1, the end is 0 0.
fn escape<K: Key>(key: &K, out: &mut Vec<u8>) {
    let mut bytes = Vec::new();
    key.encode(&mut bytes);
    for byte in bytes {
        out.push(byte);
        if byte == 0 {
            out.push(1);
        }
    }
    out.extend_from_slice(&[0, 0]);
}

fn unescape(bytes: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut part = Vec::new();
    let mut rest = bytes;
    loop {
        match rest {
            [0, 0, after @ ..] => return Some((part, after)),
            [0, 1, after @ ..] => {
                part.push(0);
                rest = after;
            }
            [0, ..] | [] => return None,
            [byte, after @ ..] => {
                part.push(*byte);
                rest = after;
            }
        }
    }
}

impl Decoder<'_> {
    /// Reads a key with its length before it, which must be greater than `before`.
    pub fn key<K: Key>(&mut self, before: Option<&K>) -> Result<K, DecodeError> {
        let at = self.offset();
        let bytes = self.bytes()?;
        let key = K::decode(bytes).ok_or(DecodeError {
            offset: at,
            kind: Kind::Value,
        })?;
        match before.is_none_or(|before| *before < key) {
            true => Ok(key),
            false => Err(DecodeError {
                offset: at,
                kind: Kind::NotCanonical,
            }),
        }
    }
}

impl Encoder {
    /// Writes a key with its length before it.
    pub fn key<K: Key>(&mut self, key: &K) {
        self.appended(|out| key.encode(out));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn bytes<K: Key>(key: &K) -> Vec<u8> {
        let mut out = Vec::new();
        key.encode(&mut out);
        out
    }

    /// R48: byte order is key order, and decoding accepts nothing else.
    fn law<K: Key>(keys: &[K]) {
        for a in keys {
            assert_eq!(K::decode(&bytes(a)).as_ref(), Some(a));
            for b in keys {
                assert_eq!(bytes(a).cmp(&bytes(b)), a.cmp(b), "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn byte_order_is_key_order() {
        law(&[0u8, 1, 255]);
        law(&[0u64, 255, 256, u64::MAX]);
        law(&[i64::MIN, -256, -1, 0, 1, i64::MAX]);
        law(&[i8::MIN, -1, 0, 1, i8::MAX]);
        law(&['a', 'z', '\u{e9}', '\u{1F309}']);
        law(&[true, false]);
        law(&[None, Some(0u8), Some(9)]);
        let texts = [
            "",
            "\0",
            "\0\0",
            "\0\u{1}",
            "a",
            "a\0",
            "a\0b",
            "ab",
            "\u{e9}",
            "\u{1F309}",
        ];
        let texts: Vec<String> = texts.into_iter().map(String::from).collect();
        law(&texts);
        let pairs = texts
            .iter()
            .flat_map(|a| texts.iter().map(|b| (a.clone(), b.clone())));
        law(&pairs.collect::<Vec<_>>());
        law(&[
            (vec![0u8], 1u8, vec![1u8]),
            (vec![], 0, vec![0, 0]),
            (vec![0, 0], 0, vec![]),
        ]);
        law(&[ReplicaId::from(1), ReplicaId::from(1 << 64), ReplicaId::MAX]);
        let entry = |id: u128, counter, index| EntryId::new(Dot::new(id.into(), counter), index);
        law(&[
            entry(1, 1, 0),
            entry(1, 1, 256),
            entry(1, 255, 2),
            entry(1, 256, 1),
            entry(1 << 64, 1, 0),
        ]);
    }

    #[test]
    fn other_spellings_are_refused() {
        assert_eq!(u64::decode(&[0; 7]), None);
        assert_eq!(char::decode(&[0, 0, 0xd8, 0]), None);
        assert_eq!(String::decode(&[0xc0, 0x80]), None);
        assert_eq!(<(String, u8)>::decode(b"a\0\x02\0\0\x07"), None);
        assert_eq!(<(String, u8)>::decode(b"a"), None);
        assert_eq!(Option::<u8>::decode(&[0, 0]), None);
        assert_eq!(
            <EntryId as Key>::decode(&[0; 28]),
            None,
            "counters start at 1"
        );
        assert_eq!(<EntryId as Key>::decode(&[1; 27]), None);
    }
}
