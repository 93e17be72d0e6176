//! bincode bytes, with the feature `bincode`.
//!
//! **bincode is unmaintained** (RUSTSEC-2025-0141; version 3.0.0 is empty), so this is for programs
//! that already speak it. The feature is off by default, always runs with a limit, and its bytes
//! are pinned by tests. This crate never writes bincode by itself: what is stored, sent or compared
//! is better taken from [`State::to_bytes`](crate::State::to_bytes) and its kin.
//!
//! Plain bincode accepts several spellings of one value: long numbers, bytes after the end,
//! unsorted maps. [`from_bincode`] accepts only what [`to_bincode`] writes, so one value is one
//! byte string.
//!
//! # Examples
//! ```
//! use commute::interop::bincode::{BincodeError, from_bincode, to_bincode};
//! use commute::{ReplicaId, Version};
//!
//! let version = Version::from_iter([(ReplicaId::from(1), 5)]);
//! let mut bytes = to_bincode(&version)?;
//! assert_eq!(from_bincode::<Version>(&bytes, 1024)?, version);
//! bytes.push(0);
//! assert_eq!(from_bincode::<Version>(&bytes, 1024), Err(BincodeError::TrailingBytes));
//! # Ok::<(), BincodeError>(())
//! ```

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use ::bincode::config::{Configuration, standard};
use ::bincode::error::DecodeError;
use ::bincode::serde::{decode_from_slice, encode_to_vec};
use ::serde::Serialize;
use ::serde::de::DeserializeOwned;

const CONFIG: Configuration = standard();

/// Why a value was not written to bincode, or bytes were refused.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum BincodeError {
    /// The input is longer than the limit, or claims to hold more.
    LimitExceeded,
    /// The input ends too early.
    Truncated,
    /// The input goes on after its end.
    TrailingBytes,
    /// Right in meaning, but not what [`to_bincode`] writes.
    NotCanonical,
    /// The input is not a value of its type; the text is for people.
    Invalid(String),
    /// The value has no form in bincode; the text is for people.
    Unsupported(String),
}

impl fmt::Display for BincodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LimitExceeded => f.write_str("limit exceeded"),
            Self::Truncated => f.write_str("input ends too early"),
            Self::TrailingBytes => f.write_str("input goes on after its end"),
            Self::NotCanonical => f.write_str("not the canonical spelling"),
            Self::Invalid(reason) => write!(f, "invalid value: {reason}"),
            Self::Unsupported(reason) => write!(f, "cannot be written: {reason}"),
        }
    }
}

impl core::error::Error for BincodeError {}

/// Writes `value` in bincode 2 with its standard configuration.
///
/// # Errors
/// [`BincodeError::Unsupported`] for a type that bincode cannot write; no type of this crate.
pub fn to_bincode<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, BincodeError> {
    encode_to_vec(value, CONFIG).map_err(|error| BincodeError::Unsupported(error.to_string()))
}

/// Reads what [`to_bincode`] wrote, and nothing else.
///
/// `limit_bytes` bounds the input exactly, and what the input may claim to hold up to the next of
/// 64 KiB, 1 MiB, 16 MiB, 256 MiB and 1 GiB. A limit beyond is taken as 1 GiB. The limit does not
/// count items of no size, such as those of a `Vec<()>`: do not read such types from strangers.
///
/// # Errors
/// See [`BincodeError`].
pub fn from_bincode<T>(bytes: &[u8], limit_bytes: usize) -> Result<T, BincodeError>
where
    T: Serialize + DeserializeOwned,
{
    if bytes.len() > limit_bytes {
        return Err(BincodeError::LimitExceeded);
    }
    let (value, used) = decode::<T>(bytes, limit_bytes).map_err(BincodeError::from_decode)?;
    if used < bytes.len() {
        return Err(BincodeError::TrailingBytes);
    }
    match to_bincode(&value)? == bytes {
        true => Ok(value),
        false => Err(BincodeError::NotCanonical),
    }
}

/// Decodes under the least constant limit that is not below `limit_bytes`.
fn decode<T: DeserializeOwned>(
    bytes: &[u8],
    limit_bytes: usize,
) -> Result<(T, usize), DecodeError> {
    const KIB_64: usize = 64 << 10;
    const MIB: usize = 1 << 20;
    const MIB_16: usize = 16 << 20;
    const MIB_256: usize = 256 << 20;
    const GIB: usize = 1 << 30;
    match limit_bytes {
        limit if limit <= KIB_64 => decode_from_slice(bytes, CONFIG.with_limit::<KIB_64>()),
        limit if limit <= MIB => decode_from_slice(bytes, CONFIG.with_limit::<MIB>()),
        limit if limit <= MIB_16 => decode_from_slice(bytes, CONFIG.with_limit::<MIB_16>()),
        limit if limit <= MIB_256 => decode_from_slice(bytes, CONFIG.with_limit::<MIB_256>()),
        _ => decode_from_slice(bytes, CONFIG.with_limit::<GIB>()),
    }
}

impl BincodeError {
    fn from_decode(error: DecodeError) -> BincodeError {
        match error {
            DecodeError::LimitExceeded => BincodeError::LimitExceeded,
            DecodeError::UnexpectedEnd { .. } => BincodeError::Truncated,
            other => BincodeError::Invalid(other.to_string()),
        }
    }
}
