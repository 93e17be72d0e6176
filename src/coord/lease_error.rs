//! Why a lease was not had, or is no longer: [`LeaseError`] and [`Lost`].

use core::fmt;

use crate::env::RandomnessUnavailable;
use crate::store::{Revision, StoreError, TransactionId};

/// Why the holder of a lease must stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Lost {
    /// The local deadline passed, whatever the store would say.
    DeadlinePassed,
    /// Somebody else was granted it.
    Superseded {
        /// The grant.
        by: Revision,
    },
    /// The store let it expire, or somebody deleted it.
    Gone,
    /// The store is another incarnation than the one that granted it.
    StoreIncarnationChanged,
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DeadlinePassed => f.write_str("its local deadline passed"),
            Self::Superseded { by } => write!(f, "it was granted again at revision {by}"),
            Self::Gone => f.write_str("the store no longer has it"),
            Self::StoreIncarnationChanged => f.write_str("the store is another incarnation"),
        }
    }
}

/// A request about a lease that did not succeed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LeaseError {
    /// Somebody holds it.
    Held {
        /// The commit of their grant or last renewal.
        since: Revision,
    },
    /// It is lost, and stays lost.
    Lost(Lost),
    /// It is not known whether the request was applied: neither success nor loss.
    Unknown {
        /// The transaction.
        id: TransactionId,
    },
    /// The options leave no time in which the lease could be believed valid: the time to live must
    /// exceed what a clock error costs, and the margin.
    NoTimeLeft,
    /// The store cannot grant safe leases.
    Unsupported {
        /// What it lacks.
        lacks: &'static str,
    },
    /// The store refused the request.
    Store(StoreError),
}

impl fmt::Display for LeaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Held { since } => write!(f, "lease is held since revision {since}"),
            Self::Lost(lost) => write!(f, "lease is lost: {lost}"),
            Self::Unknown { id } => write!(f, "outcome of lease transaction {id:?} is unknown"),
            Self::NoTimeLeft => f.write_str("clock error and margin use up the time to live"),
            Self::Unsupported { lacks } => write!(f, "store has no {lacks}"),
            Self::Store(cause) => write!(f, "{cause}"),
        }
    }
}

impl core::error::Error for LeaseError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Store(cause) => Some(cause),
            _ => None,
        }
    }
}

impl From<StoreError> for LeaseError {
    fn from(cause: StoreError) -> Self {
        match cause {
            StoreError::OtherIncarnation { .. } => Self::Lost(Lost::StoreIncarnationChanged),
            cause => Self::Store(cause),
        }
    }
}

impl From<RandomnessUnavailable> for LeaseError {
    fn from(cause: RandomnessUnavailable) -> Self {
        Self::Store(cause.into())
    }
}
