//! What the store keeps: [`Key`] and [`Value`], shared byte strings that are cheap to clone.

use alloc::sync::Arc;
use core::fmt;
use core::str::Utf8Error;

macro_rules! shared_bytes {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Arc<[u8]>);

        impl $name {
            /// The bytes.
            pub fn as_bytes(&self) -> &[u8] {
                &self.0
            }

            /// The bytes as text.
            ///
            /// # Errors
            /// [`Utf8Error`] with the place, if they are not UTF-8.
            pub fn as_str(&self) -> Result<&str, Utf8Error> {
                core::str::from_utf8(&self.0)
            }

            /// The number of bytes.
            pub fn len(&self) -> usize {
                self.0.len()
            }

            /// Whether there are no bytes.
            pub fn is_empty(&self) -> bool {
                self.0.is_empty()
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "\"{}\"", self.0.escape_ascii())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}", self.0.escape_ascii())
            }
        }

        impl AsRef<[u8]> for $name {
            fn as_ref(&self) -> &[u8] {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.as_bytes().into())
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(text.into_bytes().into())
            }
        }

        impl From<&String> for $name {
            fn from(text: &String) -> Self {
                Self(text.as_bytes().into())
            }
        }

        impl From<&[u8]> for $name {
            fn from(bytes: &[u8]) -> Self {
                Self(bytes.into())
            }
        }

        impl<const N: usize> From<&[u8; N]> for $name {
            fn from(bytes: &[u8; N]) -> Self {
                Self(bytes.as_slice().into())
            }
        }

        impl<const N: usize> From<[u8; N]> for $name {
            fn from(bytes: [u8; N]) -> Self {
                Self(bytes.as_slice().into())
            }
        }

        impl From<Vec<u8>> for $name {
            fn from(bytes: Vec<u8>) -> Self {
                Self(bytes.into())
            }
        }

        impl From<&$name> for $name {
            fn from(bytes: &$name) -> Self {
                bytes.clone()
            }
        }
    };
}

shared_bytes! {
    /// The name of a record, ordered by its bytes.
    ///
    /// # Examples
    /// ```
    /// use commute::store::Key;
    ///
    /// let key = Key::from("users/7");
    /// assert!(key < Key::from(b"users/8"));
    /// assert_eq!(key.as_str(), Ok("users/7"));
    /// ```
    Key
}

shared_bytes! {
    /// The content of a record.
    ///
    /// # Examples
    /// ```
    /// use commute::store::Value;
    ///
    /// let value = Value::from(12.to_string());
    /// assert_eq!(value.as_str()?.parse::<u64>()?, 12);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    Value
}

impl Key {
    /// The least key that is greater than this one.
    pub(crate) fn successor(&self) -> Self {
        let mut bytes = Vec::with_capacity(self.len() + 1);
        bytes.extend_from_slice(self.as_bytes());
        bytes.push(0);
        Self::from(bytes)
    }
}
