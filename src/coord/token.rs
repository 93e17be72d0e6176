//! [`FencingToken`]: the number of a grant, which a resource compares with its floor.
//!
//! Source: Gray and Cheriton 1989 (leases); Kleppmann 2016, "How to do distributed locking"
//! (tokens).

use core::cmp::Ordering;
use core::fmt;

use crate::store::{Incarnation, Key, Revision};

/// What a token is for: tokens of different domains do not compare.
///
/// The domain of a [`Lease`](super::Lease) is the key it is kept under.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TokenDomain(Key);

impl TokenDomain {
    /// The domain of this name.
    pub fn new(name: impl Into<Key>) -> Self {
        Self(name.into())
    }

    /// The name.
    pub fn name(&self) -> &Key {
        &self.0
    }
}

impl fmt::Debug for TokenDomain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

impl fmt::Display for TokenDomain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl<T: Into<Key>> From<T> for TokenDomain {
    fn from(name: T) -> Self {
        Self::new(name)
    }
}

/// The number of one grant of a lease: (domain, incarnation of the store, revision of the grant).
///
/// Only a granted [`Lease`](super::Lease) makes one; it may be sent to a resource as bytes.
/// Renewals keep it.
///
/// # Guarantees
/// Within one domain and incarnation a later grant has a greater token. There is no `PartialOrd`:
/// [`try_cmp`](FencingToken::try_cmp) refuses to compare what has no order.
///
/// # Examples
/// Tokens have no `<`:
/// ```compile_fail,E0369
/// fn newer(a: commute::coord::FencingToken, b: commute::coord::FencingToken) -> bool {
///     a < b
/// }
/// ```
/// and cannot be made up:
/// ```compile_fail,E0451
/// # use commute::{coord::{FencingToken, TokenDomain}, store::{Incarnation, Revision}};
/// let grant = Revision::new(Incarnation::from_bits(1), 34);
/// let forged = FencingToken { domain: TokenDomain::new("job"), grant };
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct FencingToken {
    domain: TokenDomain,
    grant: Revision,
}

const FORMAT: u8 = 1;
const HEADER_BYTES: usize = 1 + 16 + 8 + 4;

impl FencingToken {
    /// The token of the grant that `grant` committed.
    pub(crate) fn of_grant(domain: TokenDomain, grant: Revision) -> Self {
        Self { domain, grant }
    }

    /// What it is for.
    pub fn domain(&self) -> &TokenDomain {
        &self.domain
    }

    /// The commit of the grant.
    pub(crate) fn grant(&self) -> Revision {
        self.grant
    }

    /// The life of the store that granted it.
    pub fn incarnation(&self) -> Incarnation {
        self.grant.incarnation()
    }

    /// The place of the grant in the order of the store's commits.
    pub fn counter(&self) -> u64 {
        self.grant.counter()
    }

    /// The order of two grants.
    ///
    /// # Errors
    /// [`DifferentDomain`] if they are of different domains, or of different incarnations of a
    /// store.
    pub fn try_cmp(&self, other: &Self) -> Result<Ordering, DifferentDomain> {
        if self.domain != other.domain {
            let (left, right) = (self.domain.clone(), other.domain.clone());
            return Err(DifferentDomain::Domain { left, right });
        }
        self.grant
            .partial_cmp(&other.grant)
            .ok_or(DifferentDomain::Incarnation {
                left: self.incarnation(),
                right: other.incarnation(),
            })
    }

    /// The token as bytes, to send it to a resource: format 1, incarnation, counter, domain;
    /// integers little endian, the domain preceded by its length in 32 bits.
    ///
    /// # Examples
    /// ```
    /// use commute::coord::{FencingToken, Lease, LeaseOptions};
    /// use commute::env::SystemEnv;
    /// use commute::store::MemoryStore;
    ///
    /// let env = SystemEnv::new();
    /// let store = MemoryStore::new(env)?;
    /// let lease = Lease::acquire_blocking(&store, &env, "job", &LeaseOptions::default())?;
    /// let bytes = lease.token().to_bytes();
    /// assert_eq!(FencingToken::from_bytes(&bytes)?, *lease.token());
    /// assert!(FencingToken::from_bytes(&bytes[1..]).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn to_bytes(&self) -> Vec<u8> {
        let name = self.domain.name().as_bytes();
        let mut bytes = Vec::with_capacity(HEADER_BYTES + name.len());
        bytes.push(FORMAT);
        bytes.extend_from_slice(&self.incarnation().bits().to_le_bytes());
        bytes.extend_from_slice(&self.counter().to_le_bytes());
        // A domain is a key that a store accepted, far below 4 GiB.
        bytes.extend_from_slice(&(name.len() as u32).to_le_bytes());
        bytes.extend_from_slice(name);
        bytes
    }

    /// The token that [`to_bytes`](Self::to_bytes) wrote.
    ///
    /// The bytes are taken on trust: whoever may send them to a resource may claim any token.
    ///
    /// # Errors
    /// [`TokenDecodeError`] if they have another format or length, or name no grant.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, TokenDecodeError> {
        let length = TokenDecodeError::Length { found: bytes.len() };
        let (&format, rest) = bytes.split_first().ok_or(length)?;
        if format != FORMAT {
            return Err(TokenDecodeError::Format { found: format });
        }
        let (incarnation, rest) = rest.split_first_chunk::<16>().ok_or(length)?;
        let (counter, rest) = rest.split_first_chunk::<8>().ok_or(length)?;
        let (name_bytes, name) = rest.split_first_chunk::<4>().ok_or(length)?;
        if u32::from_le_bytes(*name_bytes) as usize != name.len() {
            return Err(length);
        }
        let counter = u64::from_le_bytes(*counter);
        if counter == 0 {
            return Err(TokenDecodeError::NoGrant);
        }
        let incarnation = Incarnation::from_bits(u128::from_le_bytes(*incarnation));
        Ok(Self {
            domain: TokenDomain::new(name),
            grant: Revision::new(incarnation, counter),
        })
    }
}

impl fmt::Debug for FencingToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FencingToken({:?}, {:?})", self.domain, self.grant)
    }
}

impl fmt::Display for FencingToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.grant, self.domain)
    }
}

/// Two tokens that have no order.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DifferentDomain {
    /// They are for different things.
    Domain {
        /// The domain of the first.
        left: TokenDomain,
        /// The domain of the second.
        right: TokenDomain,
    },
    /// They were granted by different lives of the store, for instance before and after a restore.
    Incarnation {
        /// The incarnation of the first.
        left: Incarnation,
        /// The incarnation of the second.
        right: Incarnation,
    },
}

impl fmt::Display for DifferentDomain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Domain { left, right } => {
                write!(
                    f,
                    "tokens of domain {left} and of domain {right} have no order"
                )
            }
            Self::Incarnation { left, right } => {
                write!(
                    f,
                    "tokens of incarnation {left} and of incarnation {right} have no order"
                )
            }
        }
    }
}

impl core::error::Error for DifferentDomain {}

/// Bytes that are not a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TokenDecodeError {
    /// They have another format.
    Format {
        /// The format they claim.
        found: u8,
    },
    /// They end too early or too late.
    Length {
        /// The number of bytes.
        found: usize,
    },
    /// The counter is zero, which no grant has.
    NoGrant,
}

impl fmt::Display for TokenDecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Format { found } => write!(f, "token format {found} is not {FORMAT}"),
            Self::Length { found } => write!(f, "a token does not have {found} bytes"),
            Self::NoGrant => f.write_str("token counter is zero"),
        }
    }
}

impl core::error::Error for TokenDecodeError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(domain: &str, incarnation: u128, counter: u64) -> FencingToken {
        let grant = Revision::new(Incarnation::from_bits(incarnation), counter);
        FencingToken::of_grant(domain.into(), grant)
    }

    #[test]
    fn tokens_compare_only_within_domain_and_incarnation() {
        assert_eq!(
            token("a", 1, 33).try_cmp(&token("a", 1, 34)),
            Ok(Ordering::Less)
        );
        assert_eq!(
            token("a", 1, 34).try_cmp(&token("a", 1, 34)),
            Ok(Ordering::Equal)
        );
        assert!(matches!(
            token("a", 1, 33).try_cmp(&token("b", 1, 34)),
            Err(DifferentDomain::Domain { .. })
        ));
        assert!(matches!(
            token("a", 1, 33).try_cmp(&token("a", 2, 34)),
            Err(DifferentDomain::Incarnation { .. })
        ));
    }

    #[test]
    fn decoding_accepts_exactly_what_encoding_writes() {
        let token = token("job", 7, 34);
        let bytes = token.to_bytes();
        assert_eq!(FencingToken::from_bytes(&bytes), Ok(token));
        for end in 0..bytes.len() {
            let cut = TokenDecodeError::Length { found: end };
            assert_eq!(FencingToken::from_bytes(&bytes[..end]), Err(cut));
        }
        let mut longer = bytes.clone();
        longer.push(0);
        assert_eq!(
            FencingToken::from_bytes(&longer),
            Err(TokenDecodeError::Length {
                found: longer.len()
            })
        );
        let mut other = bytes.clone();
        other[0] = 2;
        assert_eq!(
            FencingToken::from_bytes(&other),
            Err(TokenDecodeError::Format { found: 2 })
        );
        let mut zero = bytes;
        zero[17..25].fill(0);
        assert_eq!(
            FencingToken::from_bytes(&zero),
            Err(TokenDecodeError::NoGrant)
        );
    }
}
