//! [`StoreError`]: why a request was refused without being applied.

use core::fmt;

use super::{Incarnation, Key, Revision, TransactionId};
use crate::env::RandomnessUnavailable;

/// A bound of [`StoreLimits`](super::StoreLimits).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Limit {
    /// The length of a key, in bytes.
    KeyBytes,
    /// The length of a value, in bytes.
    ValueBytes,
    /// Guards and writes of one transaction, or keys and ranges of one read.
    Operations,
    /// Fence domains of one store.
    FenceDomains,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::KeyBytes => "key bytes",
            Self::ValueBytes => "value bytes",
            Self::Operations => "operations",
            Self::FenceDomains => "fence domains",
        })
    }
}

/// A request that was certainly not applied.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoreError {
    /// Something in the request is too big.
    LimitExceeded {
        /// What is bounded.
        limit: Limit,
        /// The bound.
        max: usize,
        /// What was asked for.
        found: usize,
    },
    /// A transaction writes one record twice.
    DuplicateWrite {
        /// The record.
        key: Key,
    },
    /// A time to live of zero.
    ZeroTtl {
        /// The record.
        key: Key,
    },
    /// A revision or token belongs to another life of the store.
    OtherIncarnation {
        /// The incarnation it is compared with.
        expected: Incarnation,
        /// The incarnation it belongs to.
        found: Incarnation,
    },
    /// A revision that this store has not reached.
    FutureRevision {
        /// The newest one.
        newest: Revision,
        /// The one asked for.
        found: Revision,
    },
    /// The store no longer remembers every change after the revision asked for.
    Compacted {
        /// The oldest revision after which it does.
        oldest: Revision,
    },
    /// The id was used for a transaction of other content.
    TransactionIdReused {
        /// The id.
        id: TransactionId,
    },
    /// All 2^64-1 revisions of this incarnation are used.
    RevisionsExhausted,
    /// No random bytes to make an id of.
    Randomness(RandomnessUnavailable),
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LimitExceeded { limit, max, found } => {
                write!(f, "too many {limit}: {found}, at most {max}")
            }
            Self::DuplicateWrite { key } => write!(f, "key {key} is written twice"),
            Self::ZeroTtl { key } => write!(f, "the time to live of key {key} is zero"),
            Self::OtherIncarnation { expected, found } => {
                write!(
                    f,
                    "made by incarnation {found}, compared with incarnation {expected}"
                )
            }
            Self::FutureRevision { newest, found } => {
                write!(
                    f,
                    "revision {found} is ahead of the newest revision {newest}"
                )
            }
            Self::Compacted { oldest } => {
                write!(
                    f,
                    "changes before revision {oldest} are no longer remembered"
                )
            }
            Self::TransactionIdReused { id } => {
                write!(f, "transaction id {id:?} was used for another transaction")
            }
            Self::RevisionsExhausted => f.write_str("all revisions of the store are used"),
            Self::Randomness(cause) => write!(f, "no transaction id: {cause}"),
        }
    }
}

impl core::error::Error for StoreError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Randomness(cause) => Some(cause),
            _ => None,
        }
    }
}

impl From<RandomnessUnavailable> for StoreError {
    fn from(cause: RandomnessUnavailable) -> Self {
        Self::Randomness(cause)
    }
}
