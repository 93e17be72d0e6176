//! `Serialize` and `Deserialize`, with the feature `serde`.
//!
//! | type | in texts such as JSON | in binary formats |
//! |---|---|---|
//! | [`ReplicaId`] | hyphenated UUID | 16 bytes as a tuple |
//! | [`Dot`] | `"<replica>@<counter>"` | pair |
//! | [`EntryId`] | `"<replica>@<counter>.<index>"` | pair of dot and index |
//! | [`Lamport`] | number | number |
//! | [`Stamp`] | number: milliseconds x 65,536 + count | the same |
//! | [`Digest`] | 32 hexadecimal digits | 16 bytes as a tuple |
//! | [`Version`] | sequence of (replica, counter), ascending | the same |
//! | [`Dots`] | sequence of (replica, first, last), ascending | the same |
//! | [`Names`] | sequence of (replica, first, last, even, odd), ascending | the same |
//! | [`State`], [`Delta`] | their canonical bytes in hexadecimal | their canonical bytes |
//! | `Revision` | pair of incarnation and counter | the same |
//! | `Incarnation`, `TransactionId`, `Key`, `Value`, `FencingToken` | bytes in hexadecimal | bytes |
//!
//! A block of [`Names`] says that each of the updates `first..=last` created the entries `2 * n`
//! for every `n` in the ranges `even`, and `2 * n + 1` for every `n` in `odd`.
//!
//! All of these are read back, and everything is checked on the way in: order, uniqueness, counters
//! from 1, one spelling per value; states and deltas by this crate's own decoder with
//! [`Limits::default`]. How much a format allocates before that is its own affair: for bytes from
//! strangers use [`State::from_bytes`] and [`Delta::from_bytes`] with limits of your own.
//!
//! # What is written only
//! [`Replica`] is written as its state. It is not read back, because a replica has an identity and
//! two with one identity corrupt each other's updates: read a [`State`] and go on under a new id
//! with [`Replica::from_state`], or keep the identity by [`Replica::save`] and [`Replica::resume`],
//! whose contract says when that is safe.
//!
//! Counters, registers, flags, sets, maps, lists and text are written as their views, maps as
//! sequences of pairs in ascending order of keys, for people and programs that read values; a value
//! without its version cannot be merged, so it is not read back either.
//! A [`Value`](crate::Value) is written as the [`Plain`](crate::value::Plain) value that it shows,
//! with maps as maps; that is read back from formats that describe themselves, to be `set`.

mod nested;
#[cfg(feature = "std")]
mod store;

use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;

use ::serde::de::{self, Deserialize, Deserializer, SeqAccess, Unexpected, Visitor};
use ::serde::ser::{Serialize, SerializeSeq, Serializer};

use crate::clock::{Block, Indices, Ranges};
use crate::codec::{DecodeError, Key, Limits, Payload};
use crate::kernel::Removable;
use crate::{
    Delta, Digest, Dot, Dots, DwFlag, EntryId, EwFlag, GCounter, GSet, Lamport, LwwMap,
    LwwRegister, MaxRegister, MinRegister, MvRegister, Names, OrMap, OrSet, PnCounter, Replica,
    ReplicaId, Replicated, RwSet, Stamp, State, TwoPhaseSet, Version,
};

/// Reads a text by `parse`.
struct Text<T> {
    expected: &'static str,
    parse: fn(&str) -> Option<T>,
}

impl<T> Visitor<'_> for Text<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expected)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        let wrong = || E::invalid_value(Unexpected::Str(text), &self);
        (self.parse)(text).ok_or_else(wrong)
    }
}

/// Reads a sequence item by item; `take` refuses an item that is out of place.
struct Items<I, T> {
    expected: &'static str,
    take: fn(&mut T, I) -> bool,
    item: PhantomData<I>,
}

impl<I, T> Items<I, T> {
    fn new(expected: &'static str, take: fn(&mut T, I) -> bool) -> Items<I, T> {
        Items {
            expected,
            take,
            item: PhantomData,
        }
    }
}

impl<'de, I: Deserialize<'de>, T: Default> Visitor<'de> for Items<I, T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expected)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<T, A::Error> {
        let mut all = T::default();
        while let Some(item) = items.next_element()? {
            if !(self.take)(&mut all, item) {
                let found = Unexpected::Other("an item that is empty or out of order");
                return Err(de::Error::invalid_value(found, &self));
            }
        }
        Ok(all)
    }
}

impl Serialize for ReplicaId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match serializer.is_human_readable() {
            true => serializer.collect_str(self),
            false => self.to_bytes().serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for ReplicaId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ReplicaId, D::Error> {
        if !deserializer.is_human_readable() {
            return Deserialize::deserialize(deserializer).map(ReplicaId::from_bytes);
        }
        deserializer.deserialize_str(Text {
            expected: "a replica id, a hyphenated lower-case uuid",
            parse: |text| text.parse().ok(),
        })
    }
}

impl Serialize for Dot {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match serializer.is_human_readable() {
            true => serializer.collect_str(self),
            false => (self.replica, self.counter).serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Dot {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Dot, D::Error> {
        if deserializer.is_human_readable() {
            return deserializer.deserialize_str(Text {
                expected: "a dot, <replica>@<counter> with a counter from 1",
                parse: parse_dot,
            });
        }
        let (replica, counter) = Deserialize::deserialize(deserializer)?;
        match counter {
            0 => {
                let expected = &"a counter from 1";
                Err(de::Error::invalid_value(Unexpected::Unsigned(0), expected))
            }
            _ => Ok(Dot::new(replica, counter)),
        }
    }
}

fn parse_dot(text: &str) -> Option<Dot> {
    let (replica, counter) = text.split_once('@')?;
    let counter = parse_number(counter).filter(|counter| *counter > 0)?;
    Some(Dot::new(replica.parse().ok()?, counter))
}

/// A number in its one spelling: no sign, no leading zero.
fn parse_number(text: &str) -> Option<u64> {
    let canonical = text == "0" || text.starts_with(|first: char| matches!(first, '1'..='9'));
    if canonical { text.parse().ok() } else { None }
}

impl Serialize for EntryId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match serializer.is_human_readable() {
            true => serializer.collect_str(&format_args!("{}.{}", self.dot, self.index)),
            false => (self.dot, self.index).serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for EntryId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<EntryId, D::Error> {
        if deserializer.is_human_readable() {
            return deserializer.deserialize_str(Text {
                expected: "an entry, <replica>@<counter>.<index>",
                parse: parse_entry,
            });
        }
        let (dot, index) = Deserialize::deserialize(deserializer)?;
        Ok(EntryId::new(dot, index))
    }
}

fn parse_entry(text: &str) -> Option<EntryId> {
    let (dot, index) = text.split_once('.')?;
    let index = u32::try_from(parse_number(index)?).ok()?;
    Some(EntryId::new(parse_dot(dot)?, index))
}

impl Serialize for Lamport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.get().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Lamport {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Lamport, D::Error> {
        Deserialize::deserialize(deserializer).map(Lamport::new)
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match serializer.is_human_readable() {
            true => serializer.collect_str(self),
            false => self.to_bytes().serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Digest, D::Error> {
        if !deserializer.is_human_readable() {
            return Deserialize::deserialize(deserializer).map(Digest::from_bytes);
        }
        deserializer.deserialize_str(Text {
            expected: "a digest, 32 lower-case hexadecimal digits",
            parse: |text| parse_hex(text)?.try_into().ok().map(Digest::from_bytes),
        })
    }
}

impl Serialize for Version {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for Version {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Version, D::Error> {
        let expected = "a version, pairs of replica and counter in ascending order";
        let pairs: Pairs = deserializer.deserialize_seq(Items::new(expected, take_counter))?;
        Ok(pairs.into_iter().collect())
    }
}

type Pairs = Vec<(ReplicaId, u64)>;

fn take_counter(pairs: &mut Pairs, (id, seen): (ReplicaId, u64)) -> bool {
    let fits = seen > 0 && pairs.last().is_none_or(|(last, _)| *last < id);
    pairs.push((id, seen));
    fits
}

impl Serialize for Dots {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.ranges().collect::<Vec<_>>())
    }
}

impl<'de> Deserialize<'de> for Dots {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Dots, D::Error> {
        let expected = "dots, triples of replica, first and last counter in ascending order";
        let all: Vec<_> = deserializer.deserialize_seq(Items::new(expected, take_range))?;
        let mut dots = Dots::new();
        all.into_iter().for_each(|(id, runs)| dots.put(id, runs));
        Ok(dots)
    }
}

fn take_range(
    all: &mut Vec<(ReplicaId, Ranges)>,
    (id, first, last): (ReplicaId, u64, u64),
) -> bool {
    match all.last_mut() {
        Some((same, runs)) if *same == id => push_range(runs, (first, last), 1, u64::MAX),
        Some((before, _)) if *before > id => false,
        _ => {
            let mut runs = Ranges::default();
            let fits = push_range(&mut runs, (first, last), 1, u64::MAX);
            all.push((id, runs));
            fits
        }
    }
}

/// Appends a range within `least..=most` unless it is empty or touches the one before.
fn push_range(runs: &mut Ranges, (first, last): (u64, u64), least: u64, most: u64) -> bool {
    let apart = |before: u64| before.checked_add(1).is_some_and(|next| next < first);
    let fits = runs.last().is_none_or(apart) && least <= first && first <= last && last <= most;
    if fits {
        runs.push(first, last);
    }
    fits
}

impl Serialize for Names {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut all = Vec::<BlockItem>::new();
        for (id, blocks) in self.by_replica() {
            for Block {
                first,
                last,
                indices,
            } in blocks
            {
                let (even, odd) = (indices.even.runs().to_vec(), indices.odd.runs().to_vec());
                all.push((id, *first, *last, even, odd));
            }
        }
        serializer.collect_seq(all)
    }
}

/// Replica, first and last counter, even indices, odd indices.
type BlockItem = (ReplicaId, u64, u64, Vec<(u64, u64)>, Vec<(u64, u64)>);

impl<'de> Deserialize<'de> for Names {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Names, D::Error> {
        let expected = "entries, blocks of replica, first and last counter, even and odd indices";
        let items = Items::new(expected, take_block);
        deserializer.deserialize_seq(items).map(|(names, _)| names)
    }
}

fn take_block(
    (names, before): &mut (Names, Option<ReplicaId>),
    (id, first, last, even, odd): BlockItem,
) -> bool {
    let in_order = before.is_none_or(|before| before <= id) && first > 0;
    *before = Some(id);
    let (Some(even), Some(odd)) = (index_ranges(&even), index_ranges(&odd)) else {
        return false;
    };
    let indices = Indices { even, odd };
    in_order
        && names.push_block(
            id,
            Block {
                first,
                last,
                indices,
            },
        )
}

fn index_ranges(pairs: &[(u64, u64)]) -> Option<Ranges> {
    let mut runs = Ranges::default();
    let half_max = u64::from(u32::MAX >> 1);
    let fit = pairs
        .iter()
        .all(|pair| push_range(&mut runs, *pair, 0, half_max));
    fit.then_some(runs)
}

/// Bytes that print as lower-case hexadecimal digits.
struct Hex<'a>(&'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

fn parse_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let byte = |[high, low]: &[u8; 2]| Some(digit(*high)? << 4 | digit(*low)?);
    if rest.is_empty() {
        pairs.iter().map(byte).collect()
    } else {
        None
    }
}

fn serialize_frame<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    match serializer.is_human_readable() {
        true => serializer.collect_str(&Hex(bytes)),
        false => serializer.serialize_bytes(bytes),
    }
}

/// Reads bytes of our own format, in whatever way the foreign format holds them.
struct Frame<T> {
    expected: &'static str,
    read: fn(&[u8], &Limits) -> Result<T, DecodeError>,
}

impl<T> Frame<T> {
    fn deserialize<'de, D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
        match deserializer.is_human_readable() {
            true => deserializer.deserialize_str(self),
            false => deserializer.deserialize_bytes(self),
        }
    }
}

impl<'de, T> Visitor<'de> for Frame<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the canonical bytes of a {}", self.expected)
    }

    fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<T, E> {
        (self.read)(bytes, &Limits::default()).map_err(E::custom)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        let wrong = || E::custom("not lower-case hexadecimal digits");
        self.visit_bytes(&parse_hex(text).ok_or_else(wrong)?)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<T, A::Error> {
        let mut bytes = Vec::new();
        while let Some(byte) = items.next_element()? {
            bytes.push(byte);
        }
        self.visit_bytes(&bytes)
    }
}

impl<V: Replicated> Serialize for State<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize_frame(&self.to_bytes(), serializer)
    }
}

impl<'de, V: Replicated> Deserialize<'de> for State<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<State<V>, D::Error> {
        let frame = Frame {
            expected: "state",
            read: State::from_bytes,
        };
        frame.deserialize(deserializer)
    }
}

impl<V: Replicated> Serialize for Delta<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize_frame(&self.to_bytes(), serializer)
    }
}

impl<'de, V: Replicated> Deserialize<'de> for Delta<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Delta<V>, D::Error> {
        let frame = Frame {
            expected: "delta",
            read: Delta::from_bytes,
        };
        frame.deserialize(deserializer)
    }
}

/// As its state, without the identity.
impl<V: Replicated> Serialize for Replica<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.state().serialize(serializer)
    }
}

impl Serialize for Stamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_bits().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Stamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Stamp, D::Error> {
        Deserialize::deserialize(deserializer).map(Stamp::from_bits)
    }
}

macro_rules! as_values {
    ($($type:ty: $value:ident),*) => {$(
        /// As its value.
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                self.$value().serialize(serializer)
            }
        }
    )*};
}

as_values!(GCounter: value, PnCounter: value, EwFlag: is_enabled, DwFlag: is_enabled);

macro_rules! as_some_value {
    ($($type:ident),*) => {$(
        /// As its value, of which there may be none.
        impl<T: Payload + Ord + Serialize> Serialize for $type<T> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                self.value().serialize(serializer)
            }
        }
    )*};
}

as_some_value!(MaxRegister, MinRegister);

/// As the value that wins, of which there may be none.
impl<T: Payload + Serialize> Serialize for LwwRegister<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value().serialize(serializer)
    }
}

/// As the visible text.
impl Serialize for crate::Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// As the sequence of its concurrent values.
impl<T: Payload + Serialize> Serialize for MvRegister<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

macro_rules! as_elements {
    ($($type:ident),*) => {$(
        /// As the ascending sequence of its elements.
        impl<T: Key + Serialize> Serialize for $type<T> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let mut sequence = serializer.serialize_seq(Some(self.len()))?;
                self.iter()
                    .try_for_each(|value| sequence.serialize_element(value))?;
                sequence.end()
            }
        }
    )*};
}

as_elements!(GSet, OrSet, RwSet, TwoPhaseSet);

/// As the sequence of its pairs, ascending by key, since not every key can name a field.
impl<K: Key + Serialize, V: Removable + Serialize> Serialize for OrMap<K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut sequence = serializer.serialize_seq(Some(self.len()))?;
        self.iter()
            .try_for_each(|pair| sequence.serialize_element(&pair))?;
        sequence.end()
    }
}

/// As the sequence of its pairs, ascending by key, since not every key can name a field.
impl<K: Key + Serialize, V: Payload + Serialize> Serialize for LwwMap<K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut sequence = serializer.serialize_seq(Some(self.len()))?;
        self.iter()
            .try_for_each(|pair| sequence.serialize_element(&pair))?;
        sequence.end()
    }
}
