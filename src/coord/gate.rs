//! [`Gate`]: the check at the resource, without I/O; and [`Floor`], what it checks against.
//!
//! Rule: a token passes if it is not below the floor, which it then becomes.
//! Source: Kleppmann 2016, "How to do distributed locking"; SlateDB issue 352 (fence, then read).

use core::cmp::Ordering;
use core::fmt;

use super::{DifferentDomain, FencingToken, TokenDomain};
use crate::store::Incarnation;

/// The highest token a resource has accepted or established.
///
/// It says who is ahead, but is no token: whoever was refused cannot use it to write.
#[derive(Clone, PartialEq, Eq)]
pub struct Floor(FencingToken);

impl Floor {
    /// What the floor is for.
    pub fn domain(&self) -> &TokenDomain {
        self.0.domain()
    }

    /// The life of the store that granted the token.
    pub fn incarnation(&self) -> Incarnation {
        self.0.incarnation()
    }

    /// The counter of the token that is the floor.
    pub fn counter(&self) -> u64 {
        self.0.counter()
    }

    /// The floor after `token`, or why it does not pass.
    pub(crate) fn raised(floor: Option<&Self>, token: &FencingToken) -> Result<Self, FenceError> {
        if let Some(floor) = floor
            && token.try_cmp(&floor.0)? == Ordering::Less
        {
            return Err(FenceError::Fenced {
                floor: floor.clone(),
            });
        }
        Ok(Self(token.clone()))
    }
}

impl fmt::Debug for Floor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Floor({} of {:?})", self.counter(), self.domain())
    }
}

impl fmt::Display for Floor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// The floor of one resource, for servers that keep the resource themselves.
///
/// The floor must be as durable as the data and change together with it: save the bytes of the
/// token that passed last in the same atomic write as the data, and after a restart
/// [`establish`](Gate::establish) that token before anything else.
///
/// # Examples
/// ```
/// use commute::coord::{FenceError, Gate, Lease, LeaseOptions};
/// use commute::env::SystemEnv;
/// use commute::store::MemoryStore;
///
/// let env = SystemEnv::new();
/// let store = MemoryStore::new(env)?;
/// let first = Lease::acquire_blocking(&store, &env, "disk", &LeaseOptions::default())?;
/// let old = first.token().clone();
/// first.release_blocking()?;
/// let second = Lease::acquire_blocking(&store, &env, "disk", &LeaseOptions::default())?;
///
/// let mut gate = Gate::new("disk");
/// gate.establish(&old)?;
/// gate.establish(second.token())?;
/// assert!(matches!(gate.establish(&old), Err(FenceError::Fenced { .. })));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Gate {
    domain: TokenDomain,
    floor: Option<Floor>,
}

impl Gate {
    /// A gate that has seen no token of `domain`.
    pub fn new(domain: impl Into<TokenDomain>) -> Self {
        Self {
            domain: domain.into(),
            floor: None,
        }
    }

    /// Lets `token` pass and raises the floor to it.
    ///
    /// # Errors
    /// [`FenceError::Fenced`] if it is below the floor, [`FenceError::DifferentDomain`] if it has
    /// no order with it; the floor stays.
    pub fn establish(&mut self, token: &FencingToken) -> Result<(), FenceError> {
        if *token.domain() != self.domain {
            let (left, right) = (token.domain().clone(), self.domain.clone());
            return Err(DifferentDomain::Domain { left, right }.into());
        }
        self.floor = Some(Floor::raised(self.floor.as_ref(), token)?);
        Ok(())
    }

    /// The floor, `None` before the first token.
    pub fn floor(&self) -> Option<&Floor> {
        self.floor.as_ref()
    }
}

/// A resource did not let a token pass.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FenceError {
    /// A later grant was here: the lease is lost.
    Fenced {
        /// The floor.
        floor: Floor,
    },
    /// The token has no order with the floor, for instance because the store was restored from a
    /// backup. Somebody has to decide; nothing is guessed.
    DifferentDomain(DifferentDomain),
}

impl fmt::Display for FenceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fenced { floor } => write!(f, "token is below the floor {floor}"),
            Self::DifferentDomain(cause) => write!(f, "{cause}"),
        }
    }
}

impl core::error::Error for FenceError {}

impl From<DifferentDomain> for FenceError {
    fn from(cause: DifferentDomain) -> Self {
        Self::DifferentDomain(cause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Revision;

    fn token(domain: &str, incarnation: u128, counter: u64) -> FencingToken {
        let grant = Revision::new(Incarnation::from_bits(incarnation), counter);
        FencingToken::of_grant(domain.into(), grant)
    }

    #[test]
    fn the_floor_only_rises_and_a_refusal_leaves_it() {
        let mut gate = Gate::new("a");
        assert_eq!(gate.establish(&token("a", 1, 33)), Ok(()));
        assert_eq!(gate.establish(&token("a", 1, 34)), Ok(()));
        assert_eq!(gate.establish(&token("a", 1, 34)), Ok(()));
        let floor = gate.floor().cloned().unwrap();
        assert_eq!(
            gate.establish(&token("a", 1, 33)),
            Err(FenceError::Fenced { floor })
        );
        assert_eq!(gate.floor().map(Floor::counter), Some(34));
    }

    #[test]
    fn a_token_of_another_domain_or_incarnation_never_passes() {
        let mut gate = Gate::new("a");
        let foreign = gate.establish(&token("b", 1, 99));
        assert!(matches!(
            foreign,
            Err(FenceError::DifferentDomain(DifferentDomain::Domain { .. }))
        ));
        gate.establish(&token("a", 1, 33)).unwrap();
        let restored = gate.establish(&token("a", 2, 99));
        assert!(matches!(
            restored,
            Err(FenceError::DifferentDomain(
                DifferentDomain::Incarnation { .. }
            ))
        ));
        assert_eq!(gate.floor().map(Floor::counter), Some(33));
    }
}
