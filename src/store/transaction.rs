//! [`Transaction`]: guards and writes that take effect together or not at all.

use core::fmt;
use core::time::Duration;

use super::{Key, Range, Revision, Value};
use crate::coord::FencingToken;
use crate::env::{Env, RandomnessUnavailable};

/// The identity of one transaction: 128 random bits.
///
/// Committing the same id again returns the first result, which is how a lost reply is resolved.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TransactionId(u128);

impl TransactionId {
    /// A new id.
    ///
    /// # Errors
    /// [`RandomnessUnavailable`].
    pub fn random(env: &(impl Env + ?Sized)) -> Result<Self, RandomnessUnavailable> {
        env.random_u128().map(Self)
    }

    /// The id with these bits, for an id that was kept elsewhere. They must be unique.
    pub const fn from_bits(bits: u128) -> Self {
        Self(bits)
    }

    /// The bits.
    pub const fn bits(self) -> u128 {
        self.0
    }
}

impl fmt::Debug for TransactionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// What must be true at the moment of the commit.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Guard {
    /// The record exists, and `revision` wrote its present content.
    Revision {
        /// The record.
        key: Key,
        /// The commit that must be its last.
        revision: Revision,
    },
    /// The record exists, and `revision` created it: it was not deleted since, but may have
    /// changed.
    Created {
        /// The record.
        key: Key,
        /// The commit that must have created it.
        revision: Revision,
    },
    /// There is no such record.
    Absent {
        /// The record.
        key: Key,
    },
    /// There is such a record.
    Present {
        /// The record.
        key: Key,
    },
    /// The record exists with this content, whoever wrote it.
    Value {
        /// The record.
        key: Key,
        /// The content it must have.
        value: Value,
    },
    /// No record of the range was created, changed or deleted after `since`.
    Unchanged {
        /// The range.
        range: Range,
        /// The last revision that may have touched it.
        since: Revision,
    },
    /// The token is not below the floor of its domain in this store; the floor is raised to it.
    Fence {
        /// The token.
        token: FencingToken,
    },
}

impl Guard {
    /// The record's last change must be `revision`.
    pub fn revision(key: impl Into<Key>, revision: Revision) -> Self {
        Self::Revision {
            key: key.into(),
            revision,
        }
    }

    /// The record must be the one that `revision` created.
    pub fn created(key: impl Into<Key>, revision: Revision) -> Self {
        Self::Created {
            key: key.into(),
            revision,
        }
    }

    /// There must be no such record.
    pub fn absent(key: impl Into<Key>) -> Self {
        Self::Absent { key: key.into() }
    }

    /// There must be such a record.
    pub fn present(key: impl Into<Key>) -> Self {
        Self::Present { key: key.into() }
    }

    /// The record must have this content.
    pub fn value(key: impl Into<Key>, value: impl Into<Value>) -> Self {
        Self::Value {
            key: key.into(),
            value: value.into(),
        }
    }

    /// Nothing in `range` may have changed after `since`: no phantoms.
    pub fn unchanged(range: Range, since: Revision) -> Self {
        Self::Unchanged { range, since }
    }

    /// `token` must not be below the floor of its domain, which the commit raises to it.
    pub fn fence(token: &FencingToken) -> Self {
        Self::Fence {
            token: token.clone(),
        }
    }
}

/// One change.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Write {
    /// Sets the content of a record, creating it if need be.
    Put {
        /// The record.
        key: Key,
        /// Its new content.
        value: Value,
        /// After this long by the store's clock, counted from the commit, the store deletes the
        /// record; `None` keeps it. A later put replaces this.
        ttl: Option<Duration>,
    },
    /// Deletes a record; without effect if there is none.
    Delete {
        /// The record.
        key: Key,
    },
}

impl Write {
    /// The record it changes.
    pub fn key(&self) -> &Key {
        match self {
            Self::Put { key, .. } | Self::Delete { key } => key,
        }
    }
}

/// Guards and writes, committed atomically.
///
/// # Examples
/// ```
/// use commute::env::SystemEnv;
/// use commute::store::{Guard, MemoryStore, Outcome, Transaction, TransactionId};
///
/// let env = SystemEnv::new();
/// let store = MemoryStore::new(env)?;
/// let txn = Transaction::new(TransactionId::random(&env)?)
///     .guard(Guard::absent("seat/12A"))
///     .put("seat/12A", "ada");
/// assert!(matches!(store.commit_blocking(&txn)?, Outcome::Committed { .. }));
///
/// let late = Transaction::new(TransactionId::random(&env)?)
///     .guard(Guard::absent("seat/12A"))
///     .put("seat/12A", "bob");
/// let Outcome::Conflict(lost) = store.commit_blocking(&late)? else { panic!() };
/// assert_eq!(lost.entry.unwrap().value.as_str(), Ok("ada"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[must_use]
pub struct Transaction {
    id: TransactionId,
    guards: Vec<Guard>,
    writes: Vec<Write>,
}

impl Transaction {
    /// A transaction without guards and writes.
    pub fn new(id: TransactionId) -> Self {
        Self {
            id,
            guards: Vec::new(),
            writes: Vec::new(),
        }
    }

    /// Adds a guard.
    pub fn guard(mut self, guard: Guard) -> Self {
        self.guards.push(guard);
        self
    }

    /// Adds a change; two changes of one record are refused at the commit.
    pub fn write(mut self, write: Write) -> Self {
        self.writes.push(write);
        self
    }

    /// Adds the change that sets a record.
    pub fn put(self, key: impl Into<Key>, value: impl Into<Value>) -> Self {
        self.write(Write::Put {
            key: key.into(),
            value: value.into(),
            ttl: None,
        })
    }

    /// Adds the change that sets a record for `ttl` by the store's clock.
    pub fn put_for(self, key: impl Into<Key>, value: impl Into<Value>, ttl: Duration) -> Self {
        self.write(Write::Put {
            key: key.into(),
            value: value.into(),
            ttl: Some(ttl),
        })
    }

    /// Adds the change that deletes a record.
    pub fn delete(self, key: impl Into<Key>) -> Self {
        self.write(Write::Delete { key: key.into() })
    }

    /// The identity.
    pub fn id(&self) -> TransactionId {
        self.id
    }

    /// The guards, in the order they were added.
    pub fn guards(&self) -> &[Guard] {
        &self.guards
    }

    /// The changes, in the order they were added.
    pub fn writes(&self) -> &[Write] {
        &self.writes
    }
}
