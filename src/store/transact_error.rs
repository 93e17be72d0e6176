//! Why a transaction did not take effect: [`TransactError`]; why it cannot read: [`TxError`].

use core::fmt;

use super::{Conflict, StoreError, TransactionId};
use crate::coord::Floor;

/// A read inside a transaction failed. Return it from the closure.
///
/// Whatever the closure makes of it, the attempt is not committed any more.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TxError {
    /// Something read earlier has changed; the closure will be run again.
    Conflict,
    /// The store refused the read.
    Store(StoreError),
    /// The attempt is over; this handle outlived it.
    Ended,
}

impl fmt::Display for TxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Conflict => f.write_str("something read earlier has changed"),
            Self::Store(cause) => write!(f, "{cause}"),
            Self::Ended => f.write_str("the attempt this handle belongs to is over"),
        }
    }
}

impl core::error::Error for TxError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Store(cause) => Some(cause),
            Self::Conflict | Self::Ended => None,
        }
    }
}

/// A transaction that did not take effect, except that with [`Unknown`](Self::Unknown) it may have.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TransactError<E> {
    /// Every attempt lost to another commit.
    Conflict {
        /// How often the closure ran.
        attempts: u32,
        /// What the last conflict lost to.
        lost_to: Option<Conflict>,
    },
    /// The time was over before an attempt succeeded.
    Deadline {
        /// How often the closure ran.
        attempts: u32,
        /// What the last conflict lost to.
        lost_to: Option<Conflict>,
    },
    /// A fencing token is below the floor of its domain: the lease is lost.
    Fenced {
        /// The floor.
        floor: Floor,
    },
    /// It is not known whether it was applied.
    Unknown {
        /// The transaction.
        id: TransactionId,
    },
    /// The store refused a read or the commit.
    Store(StoreError),
    /// The closure returned an error.
    User(E),
}

impl<E: fmt::Display> fmt::Display for TransactError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, attempts, lost_to) = match self {
            Self::Conflict { attempts, lost_to } => ("gave up", attempts, lost_to),
            Self::Deadline { attempts, lost_to } => ("ran out of time", attempts, lost_to),
            Self::Fenced { floor } => return write!(f, "token is below the floor {floor}"),
            Self::Unknown { id } => return write!(f, "outcome of transaction {id:?} is unknown"),
            Self::Store(cause) => return write!(f, "{cause}"),
            Self::User(cause) => return write!(f, "{cause}"),
        };
        write!(f, "{what} after {attempts} attempts")?;
        lost_to
            .as_ref()
            .map_or(Ok(()), |conflict| write!(f, ": {conflict}"))
    }
}

impl<E: fmt::Debug + fmt::Display> core::error::Error for TransactError<E> {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Store(cause) => Some(cause),
            _ => None,
        }
    }
}
