//! [`FencedResource`]: a resource that looks at the token before it lets anybody read or write.
//!
//! Rule: first `establish` the token, which raises the floor; only then read, work and write.
//! Without that order a paused holder's late write still passes as long as the new holder has not
//! written. Equal tokens have no order, so a write must also match the version its holder saw last.

use core::fmt;

use super::{FenceError, FencingToken};
use crate::store::{Conflict, StoreError, TransactionId};

/// A resource that refuses holders whose lease is lost.
///
/// Reading and writing is possible only through what [`establish_blocking`] returns.
///
/// [`establish_blocking`]: FencedResource::establish_blocking
pub trait FencedResource {
    /// What it holds.
    type Value;

    /// The access of a holder whose token was established.
    type Established<'a>: Established<Value = Self::Value>
    where
        Self: 'a;

    /// Raises the floor to `token`: from here on nothing with a lower token is written.
    ///
    /// Whether a holder with a lower one may still read is up to the resource; what it has read is of no
    /// use to it.
    ///
    /// # Errors
    /// [`FencedError::Fence`] if a later holder was here; the floor stays.
    fn establish_blocking(
        &self,
        token: &FencingToken,
    ) -> Result<Self::Established<'_>, FencedError>;
}

/// The access of a holder whose token was established.
pub trait Established {
    /// What the resource holds.
    type Value;

    /// Reads, and remembers the version for the next write.
    ///
    /// # Errors
    /// [`FencedError`].
    fn read_blocking(&mut self) -> Result<Self::Value, FencedError>;

    /// Writes if the token is not below the floor and the version is the one this handle saw last:
    /// at its establishment, its last read or its last write.
    ///
    /// # Errors
    /// [`FencedError::Fence`] if a later holder was here, [`FencedError::Stale`] if somebody with
    /// the same token wrote meanwhile; nothing was written.
    fn write_blocking(&mut self, value: Self::Value) -> Result<(), FencedError>;
}

/// A fenced resource did not do what it was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FencedError {
    /// The token does not pass.
    Fence(FenceError),
    /// The resource changed since this handle saw it.
    Stale {
        /// What a resource in a store lost to.
        lost_to: Option<Conflict>,
    },
    /// It is not known whether the request was applied.
    Unknown {
        /// The transaction.
        id: TransactionId,
    },
    /// The store refused the request.
    Store(StoreError),
}

impl fmt::Display for FencedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fence(cause) => write!(f, "{cause}"),
            Self::Stale { lost_to: None } => f.write_str("resource changed since it was seen"),
            Self::Stale {
                lost_to: Some(conflict),
            } => {
                write!(f, "resource changed since it was seen: {conflict}")
            }
            Self::Unknown { id } => write!(f, "outcome of fenced transaction {id:?} is unknown"),
            Self::Store(cause) => write!(f, "{cause}"),
        }
    }
}

impl core::error::Error for FencedError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Fence(cause) => Some(cause),
            Self::Store(cause) => Some(cause),
            Self::Stale { .. } | Self::Unknown { .. } => None,
        }
    }
}

impl From<FenceError> for FencedError {
    fn from(cause: FenceError) -> Self {
        Self::Fence(cause)
    }
}

impl From<StoreError> for FencedError {
    fn from(cause: StoreError) -> Self {
        Self::Store(cause)
    }
}
