//! [`FencedCell`]: a value in this process behind a gate.

use std::sync::Mutex;

use super::{
    Established, FenceError, FencedError, FencedResource, FencingToken, Gate, TokenDomain,
};
use crate::env::lock;

/// A value in memory that only the holder of the newest token gets at.
///
/// # Examples
/// ```
/// use commute::coord::{Established, FencedCell, FencedResource, Lease, LeaseOptions};
/// use commute::env::SystemEnv;
/// use commute::store::MemoryStore;
///
/// let env = SystemEnv::new();
/// let store = MemoryStore::new(env)?;
/// let lease = Lease::acquire_blocking(&store, &env, "account", &LeaseOptions::default())?;
///
/// let account = FencedCell::new("account", 100);
/// let mut access = account.establish_blocking(lease.token())?;
/// let balance = access.read_blocking()?;
/// access.write_blocking(balance - 30)?;
/// assert_eq!(access.read_blocking()?, 70);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FencedCell<T> {
    inner: Mutex<Inner<T>>,
}

#[derive(Debug)]
struct Inner<T> {
    gate: Gate,
    /// Counts writes; 2^64 of them are out of reach.
    version: u64,
    value: T,
}

/// The access of an established holder to a [`FencedCell`].
#[derive(Debug)]
pub struct EstablishedCell<'a, T> {
    cell: &'a FencedCell<T>,
    token: FencingToken,
    seen: u64,
}

impl<T> FencedCell<T> {
    /// A cell that has seen no token of `domain`.
    pub fn new(domain: impl Into<TokenDomain>, value: T) -> Self {
        let gate = Gate::new(domain);
        Self {
            inner: Mutex::new(Inner {
                gate,
                version: 0,
                value,
            }),
        }
    }

    /// Lets the token pass and runs `f` in the same step.
    fn pass<R>(
        &self,
        token: &FencingToken,
        f: impl FnOnce(&mut Inner<T>) -> R,
    ) -> Result<R, FenceError> {
        let mut inner = lock(&self.inner);
        inner.gate.establish(token)?;
        Ok(f(&mut inner))
    }
}

impl<T: Clone> FencedResource for FencedCell<T> {
    type Value = T;

    type Established<'a>
        = EstablishedCell<'a, T>
    where
        T: 'a;

    fn establish_blocking(
        &self,
        token: &FencingToken,
    ) -> Result<EstablishedCell<'_, T>, FencedError> {
        let seen = self.pass(token, |inner| inner.version)?;
        Ok(EstablishedCell {
            cell: self,
            token: token.clone(),
            seen,
        })
    }
}

impl<T: Clone> Established for EstablishedCell<'_, T> {
    type Value = T;

    fn read_blocking(&mut self) -> Result<T, FencedError> {
        let read = |inner: &mut Inner<T>| (inner.version, inner.value.clone());
        let (version, value) = self.cell.pass(&self.token, read)?;
        self.seen = version;
        Ok(value)
    }

    fn write_blocking(&mut self, value: T) -> Result<(), FencedError> {
        let seen = self.seen;
        let written = self.cell.pass(&self.token, |inner| {
            let fresh = inner.version == seen;
            if fresh {
                inner.version = inner.version.wrapping_add(1);
                inner.value = value;
            }
            fresh
        })?;
        if !written {
            return Err(FencedError::Stale { lost_to: None });
        }
        self.seen = seen.wrapping_add(1);
        Ok(())
    }
}
