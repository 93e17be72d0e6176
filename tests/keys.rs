//! The law of keys: their bytes are in their order, so a peer that keeps a map by the bytes of its
//! keys alone has them in the same order.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use commute::codec::Key;
use commute::{Dot, EntryId, ReplicaId};
use quickcheck::{Arbitrary, Gen, QuickCheck};

fn bytes<K: Key>(key: &K) -> Vec<u8> {
    let mut out = Vec::new();
    key.encode(&mut out);
    out
}

/// Two keys compare as their bytes do, and each is read back from them.
fn holds<K: Key>(a: &K, b: &K) -> bool {
    bytes(a).cmp(&bytes(b)) == a.cmp(b) && [a, b].into_iter().all(|key| reads(&bytes(key), key))
}

fn reads<K: Key>(bytes: &[u8], key: &K) -> bool {
    K::decode(bytes).as_ref() == Some(key)
}

/// What is read from any bytes has these bytes.
fn canonical<K: Key>(any: &[u8]) -> bool {
    K::decode(any).is_none_or(|key| bytes(&key) == any)
}

fn law<K: Key + Arbitrary>() {
    fn order<K: Key>(a: K, b: K) -> bool {
        holds(&a, &b)
    }
    fn spelling<K: Key>(near: K, any: Vec<u8>, at: usize) -> bool {
        let mut close = bytes(&near);
        if let Some(byte) = any.first()
            && !close.is_empty()
        {
            let at = at % close.len();
            close[at] = *byte;
        }
        canonical::<K>(&any) && canonical::<K>(&close)
    }
    let cases = |count| QuickCheck::new().tests(count);
    cases(500).quickcheck(order::<K> as fn(K, K) -> bool);
    cases(500).quickcheck(spelling::<K> as fn(K, Vec<u8>, usize) -> bool);
}

/// A number near an end of its range, or any.
trait Near: Key + Arbitrary {
    const ENDS: [Self; 4];
}

macro_rules! near {
    ($($int:ty),*) => {$(
        impl Near for $int {
            const ENDS: [$int; 4] = [<$int>::MIN, 0, 1, <$int>::MAX];
        }
    )*};
}

near!(u8, u16, u32, u64, u128, i8, i16, i32, i64, i128);

fn number<K: Near>() {
    law::<K>();
    for a in &K::ENDS {
        assert!(K::ENDS.iter().all(|b| holds(a, b)), "{a:?}");
    }
}

#[test]
fn numbers() {
    number::<u8>();
    number::<u16>();
    number::<u32>();
    number::<u64>();
    number::<u128>();
    number::<i8>();
    number::<i16>();
    number::<i32>();
    number::<i64>();
    number::<i128>();
}

#[test]
fn simple_keys() {
    law::<()>();
    law::<bool>();
    law::<char>();
    law::<String>();
    law::<Vec<u8>>();
}

#[test]
fn keys_of_keys() {
    law::<Option<u16>>();
    law::<Option<Option<String>>>();
    law::<(String, String)>();
    law::<(Vec<u8>, i8)>();
    law::<(Vec<u8>, Vec<u8>, Vec<u8>)>();
    law::<((Vec<u8>, bool), Option<Vec<u8>>)>();
    law::<(char, (String, u8), i64)>();
}

/// Bytes that escaping must keep apart: mostly 0 and 1.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Zeros(Vec<u8>);

impl Arbitrary for Zeros {
    fn arbitrary(g: &mut Gen) -> Zeros {
        let digits = Vec::<u8>::arbitrary(g).into_iter().take(4);
        Zeros(digits.map(|digit| digit % 3).collect())
    }
}

impl Key for Zeros {
    fn encode(&self, out: &mut Vec<u8>) {
        Key::encode(&self.0, out);
    }

    fn decode(bytes: &[u8]) -> Option<Zeros> {
        Key::decode(bytes).map(Zeros)
    }
}

#[test]
fn escaped_keys() {
    law::<(Zeros, Zeros)>();
    law::<((Zeros, Zeros), Zeros)>();
    law::<(Zeros, Zeros, Zeros)>();
    law::<(Option<Zeros>, (Zeros, Zeros))>();
}

#[test]
fn boxed_texts() {
    fn property(a: String, b: String) -> bool {
        holds::<Box<str>>(&a.into(), &b.into())
    }
    QuickCheck::new().quickcheck(property as fn(String, String) -> bool);
}

#[test]
fn names_and_arrays() {
    fn property(a: (u128, u64, u32), b: (u128, u64, u32)) -> bool {
        let id = |(id, ..): (u128, u64, u32)| ReplicaId::from(id % 3);
        let entry = |key: (u128, u64, u32)| {
            let dot = Dot::new(id(key), key.1 % 3 * 255 + 1);
            EntryId::new(dot, key.2 % 300)
        };
        let array = |(id, ..): (u128, u64, u32)| id.to_le_bytes();
        holds(&id(a), &id(b)) && holds(&entry(a), &entry(b)) && holds(&array(a), &array(b))
    }
    type Parts = (u128, u64, u32);
    QuickCheck::new().quickcheck(property as fn(Parts, Parts) -> bool);
}
