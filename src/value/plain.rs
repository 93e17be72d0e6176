//! What a user sees of a value.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use super::scalar::{Float, Scalar};

/// A plain value, as in JSON: what a [`Value`](crate::Value) shows, and what may be written to one.
///
/// A counter shows as a number, a [`Text`](crate::Text) as a string.
///
/// # Examples
/// ```
/// use commute::value::Plain;
/// let page = Plain::from([("title", "Plan".into()), ("tags", ["a", "b"].into())]);
/// assert_eq!(page.get("tags").and_then(|tags| tags.at(1)), Some(&"b".into()));
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Plain {
    /// A value without parts.
    Scalar(Scalar),
    /// Values in order.
    List(Vec<Plain>),
    /// Values by key.
    Map(BTreeMap<String, Plain>),
}

impl Plain {
    /// The value of `key`; `None` if it has none or this is no map.
    pub fn get(&self, key: &str) -> Option<&Plain> {
        match self {
            Plain::Map(entries) => entries.get(key),
            _ => None,
        }
    }

    /// The value at `index`; `None` if there is none or this is no list.
    pub fn at(&self, index: usize) -> Option<&Plain> {
        match self {
            Plain::List(items) => items.get(index),
            _ => None,
        }
    }

    /// Whether it has at most so many levels of lists and maps.
    pub(super) fn is_within(&self, levels: u32) -> bool {
        let below = levels.checked_sub(1);
        let fits = |part: &Plain| below.is_some_and(|below| part.is_within(below));
        match self {
            Plain::Scalar(_) => true,
            Plain::List(items) => below.is_some() && items.iter().all(fits),
            Plain::Map(entries) => below.is_some() && entries.values().all(fits),
        }
    }
}

/// [`Scalar::Null`].
impl Default for Plain {
    fn default() -> Plain {
        Plain::Scalar(Scalar::Null)
    }
}

impl From<Scalar> for Plain {
    fn from(scalar: Scalar) -> Plain {
        Plain::Scalar(scalar)
    }
}

macro_rules! scalars {
    ($($type:ty: |$value:ident| $scalar:expr;)*) => {$(
        impl From<$type> for Scalar {
            fn from($value: $type) -> Scalar {
                $scalar
            }
        }

        impl From<$type> for Plain {
            fn from(value: $type) -> Plain {
                Plain::Scalar(Scalar::from(value))
            }
        }
    )*};
}

scalars! {
    (): |_unit| Scalar::Null;
    bool: |value| Scalar::Bool(value);
    i32: |value| Scalar::Int(value.into());
    u32: |value| Scalar::Int(value.into());
    i64: |value| Scalar::Int(value.into());
    u64: |value| Scalar::Int(value.into());
    i128: |value| Scalar::Int(value);
    f64: |value| Scalar::Float(Float::new(value));
    Float: |value| Scalar::Float(value);
    &str: |value| Scalar::String(value.into());
    String: |value| Scalar::String(value);
    Vec<u8>: |value| Scalar::Bytes(value);
}

impl From<Vec<Plain>> for Plain {
    fn from(items: Vec<Plain>) -> Plain {
        Plain::List(items)
    }
}

impl<T: Into<Plain>, const N: usize> From<[T; N]> for Plain {
    fn from(items: [T; N]) -> Plain {
        Plain::List(items.into_iter().map(Into::into).collect())
    }
}

impl From<BTreeMap<String, Plain>> for Plain {
    fn from(entries: BTreeMap<String, Plain>) -> Plain {
        Plain::Map(entries)
    }
}

impl<const N: usize> From<[(&str, Plain); N]> for Plain {
    fn from(entries: [(&str, Plain); N]) -> Plain {
        let entries = entries.into_iter();
        Plain::Map(entries.map(|(key, value)| (key.into(), value)).collect())
    }
}
