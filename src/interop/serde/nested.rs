//! Lists, remove-wins maps, values without a schema and bounded counters: as their views.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use ::serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use ::serde::ser::{Serialize, SerializeSeq, Serializer};

use crate::codec::Key;
use crate::kernel::Removable;
use crate::list::Element;
use crate::value::{Float, Plain, Scalar};
use crate::{BoundedCounter, List, Replicated, RwMap, Value};

impl Serialize for BoundedCounter {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value().serialize(serializer)
    }
}

/// As the sequence of its elements.
impl<T: Element + Serialize> Serialize for List<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Of plain values a faulty peer may have left some out.
        let elements: Vec<&T> = self.iter().collect();
        serializer.collect_seq(elements)
    }
}

/// As the sequence of its pairs, ascending by key, since not every key can name a field.
impl<K: Key + Serialize, V: Removable + Serialize> Serialize for RwMap<K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut sequence = serializer.serialize_seq(Some(self.len()))?;
        self.iter()
            .try_for_each(|pair| sequence.serialize_element(&pair))?;
        sequence.end()
    }
}

/// As what it shows.
impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.view().serialize(serializer)
    }
}

/// As the value it is: null, a boolean, a number, a string, bytes, a sequence, a map.
impl Serialize for Plain {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Plain::Scalar(scalar) => scalar.serialize(serializer),
            Plain::List(items) => items.serialize(serializer),
            Plain::Map(entries) => entries.serialize(serializer),
        }
    }
}

/// As the value it is.
impl Serialize for Scalar {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Scalar::Null => serializer.serialize_unit(),
            Scalar::Bool(value) => serializer.serialize_bool(*value),
            Scalar::Int(value) => match (i64::try_from(*value), u64::try_from(*value)) {
                (Ok(value), _) => serializer.serialize_i64(value),
                (_, Ok(value)) => serializer.serialize_u64(value),
                _ => serializer.serialize_i128(*value),
            },
            Scalar::Float(value) => serializer.serialize_f64(value.get()),
            Scalar::String(value) => serializer.serialize_str(value),
            Scalar::Bytes(value) => serializer.serialize_bytes(value),
        }
    }
}

/// From any value of a format that describes itself, such as JSON; keys must be strings.
impl<'de> Deserialize<'de> for Plain {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Plain, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Plain;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("null, a boolean, a number, a string, bytes, a sequence or a map")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Plain, E> {
        Ok(Plain::from(()))
    }

    fn visit_none<E: de::Error>(self) -> Result<Plain, E> {
        self.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Plain, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Plain, E> {
        Ok(Plain::from(value))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Plain, E> {
        Ok(Plain::from(value))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Plain, E> {
        Ok(Plain::from(value))
    }

    fn visit_i128<E: de::Error>(self, value: i128) -> Result<Plain, E> {
        Ok(Plain::from(value))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Plain, E> {
        Ok(Plain::from(Float::new(value)))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Plain, E> {
        Ok(Plain::from(value))
    }

    fn visit_bytes<E: de::Error>(self, value: &[u8]) -> Result<Plain, E> {
        Ok(Plain::from(value.to_vec()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Plain, A::Error> {
        let mut all = Vec::new();
        while let Some(item) = items.next_element()? {
            all.push(item);
        }
        Ok(Plain::List(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Plain, A::Error> {
        let mut all = BTreeMap::new();
        while let Some((key, value)) = entries.next_entry::<String, Plain>()? {
            if all.insert(key, value).is_some() {
                return Err(de::Error::custom("a key that stands there twice"));
            }
        }
        Ok(Plain::Map(all))
    }
}
