//! [`StoreLimits`]: how big a request may be.

use super::{Guard, Key, Limit, Range, Scan, StoreError, Transaction, Write};

/// Bounds on what a store accepts; a request beyond one is an error and changes nothing.
///
/// # Examples
/// ```
/// use commute::env::SystemEnv;
/// use commute::store::{Limit, MemoryOptions, MemoryStore, StoreError, StoreLimits};
///
/// let limits = StoreLimits { value_bytes_max: 4, ..StoreLimits::default() };
/// let options = MemoryOptions { limits, ..MemoryOptions::default() };
/// let store = MemoryStore::with_options(SystemEnv::new(), options)?;
/// let refused = StoreError::LimitExceeded { limit: Limit::ValueBytes, max: 4, found: 5 };
/// assert_eq!(store.put("greeting", "hello"), Err(refused));
/// # Ok::<(), StoreError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreLimits {
    /// The longest key, in bytes.
    pub key_bytes_max: usize,
    /// The longest value, in bytes.
    pub value_bytes_max: usize,
    /// Guards and writes of one transaction together; keys and ranges of one read together.
    pub operations_max: usize,
    /// Fence domains; each costs a few words for ever, because a floor is never forgotten.
    pub fence_domains_max: usize,
}

impl Default for StoreLimits {
    /// Keys of 4 KiB, values of 1 MiB, 10 000 operations, a million fence domains.
    fn default() -> Self {
        Self {
            key_bytes_max: 4096,
            value_bytes_max: 1 << 20,
            operations_max: 10_000,
            fence_domains_max: 1_000_000,
        }
    }
}

fn at_most(limit: Limit, max: usize, found: usize) -> Result<(), StoreError> {
    if found > max {
        Err(StoreError::LimitExceeded { limit, max, found })
    } else {
        Ok(())
    }
}

impl StoreLimits {
    fn key(&self, key: &Key) -> Result<(), StoreError> {
        at_most(Limit::KeyBytes, self.key_bytes_max, key.len())
    }

    /// A bound of a range may be one byte longer: just after the greatest key.
    pub(crate) fn range(&self, range: &Range) -> Result<(), StoreError> {
        let max = self.key_bytes_max.saturating_add(1);
        at_most(Limit::KeyBytes, max, range.start().len())?;
        at_most(Limit::KeyBytes, max, range.end().map_or(0, Key::len))
    }

    /// Checks the size of a read.
    pub(crate) fn read(&self, keys: &[Key], scans: &[Scan]) -> Result<(), StoreError> {
        at_most(
            Limit::Operations,
            self.operations_max,
            keys.len() + scans.len(),
        )?;
        keys.iter().try_for_each(|key| self.key(key))?;
        scans.iter().try_for_each(|scan| self.range(scan.range()))
    }

    /// Checks the size and form of a transaction.
    pub(crate) fn transaction(&self, txn: &Transaction) -> Result<(), StoreError> {
        let operations = txn.guards().len() + txn.writes().len();
        at_most(Limit::Operations, self.operations_max, operations)?;
        txn.guards()
            .iter()
            .try_for_each(|guard| self.guard(guard))?;
        txn.writes()
            .iter()
            .try_for_each(|write| self.write(write))?;
        let mut keys: Vec<&Key> = txn.writes().iter().map(Write::key).collect();
        keys.sort_unstable();
        match keys.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(StoreError::DuplicateWrite {
                key: pair[0].clone(),
            }),
            None => Ok(()),
        }
    }

    fn guard(&self, guard: &Guard) -> Result<(), StoreError> {
        match guard {
            Guard::Revision { key, .. }
            | Guard::Created { key, .. }
            | Guard::Absent { key }
            | Guard::Present { key } => self.key(key),
            Guard::Value { key, value } => {
                self.key(key)?;
                at_most(Limit::ValueBytes, self.value_bytes_max, value.len())
            }
            Guard::Unchanged { range, .. } => self.range(range),
            Guard::Fence { token } => self.key(token.domain().name()),
        }
    }

    /// Checks the size of one change.
    pub(crate) fn write(&self, write: &Write) -> Result<(), StoreError> {
        self.key(write.key())?;
        match write {
            Write::Put { key, value, ttl } => {
                at_most(Limit::ValueBytes, self.value_bytes_max, value.len())?;
                match ttl {
                    Some(ttl) if ttl.is_zero() => Err(StoreError::ZeroTtl { key: key.clone() }),
                    _ => Ok(()),
                }
            }
            Write::Delete { .. } => Ok(()),
        }
    }
}
