//! The identity of one replica in one incarnation.

use core::fmt;
use core::str::FromStr;

/// The 128-bit identity of a replica.
///
/// An id belongs to *one* live replica at a time: two replicas that edit under the same id produce
/// different updates with the same name. That is detected where it can be and reported as
/// [`MergeError::IdentityReused`](crate::MergeError::IdentityReused), never merged silently.
/// Take [`ReplicaId::random`] for every new replica and every restart that does not
/// [`resume`](crate::Replica::resume) a save; small numbers (`ReplicaId::from(1)`) are for tests.
///
/// Ids are ordered as 128-bit numbers; the order breaks ties between concurrent insertions.
///
/// # Examples
/// ```
/// use commute::ReplicaId;
/// let id = ReplicaId::from(7);
/// assert_eq!(id.to_string(), "00000000-0000-0000-0000-000000000007");
/// assert_eq!(id.to_string().parse::<ReplicaId>()?, id);
/// # Ok::<(), commute::clock::ParseReplicaIdError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReplicaId {
    // Two halves instead of a u128: alignment 8 keeps a dot at 24 bytes.
    hi: u64,
    lo: u64,
}

impl ReplicaId {
    /// The least id, all bits zero.
    pub const MIN: ReplicaId = ReplicaId { hi: 0, lo: 0 };
    /// The greatest id, all bits one.
    pub const MAX: ReplicaId = ReplicaId {
        hi: u64::MAX,
        lo: u64::MAX,
    };

    /// A new random id (a version 4 UUID: 122 random bits) from the operating system.
    ///
    /// # Errors
    /// [`RandomnessUnavailable`](crate::env::RandomnessUnavailable) if the system has none to give.
    #[cfg(feature = "std")]
    pub fn random() -> Result<ReplicaId, crate::env::RandomnessUnavailable> {
        ReplicaId::random_from(&crate::env::SystemEnv::new())
    }

    /// A new random id from `env`.
    ///
    /// # Errors
    /// [`RandomnessUnavailable`](crate::env::RandomnessUnavailable) if `env` has none to give.
    pub fn random_from(
        env: &impl crate::env::Env,
    ) -> Result<ReplicaId, crate::env::RandomnessUnavailable> {
        let mut bytes = [0; 16];
        env.fill_random(&mut bytes)?;
        Ok(ReplicaId::from_random_bytes(bytes))
    }

    /// The version 4 UUID made of `bytes`, which must come from a good source of randomness.
    pub const fn from_random_bytes(mut bytes: [u8; 16]) -> ReplicaId {
        bytes[6] = bytes[6] & 0x0f | 0x40;
        bytes[8] = bytes[8] & 0x3f | 0x80;
        ReplicaId::from_bytes(bytes)
    }

    /// The id with these 16 bytes, most significant first.
    pub const fn from_bytes(bytes: [u8; 16]) -> ReplicaId {
        let bits = u128::from_be_bytes(bytes);
        ReplicaId {
            hi: (bits >> 64) as u64,
            lo: bits as u64,
        }
    }

    /// The 16 bytes of this id, most significant first.
    pub const fn to_bytes(self) -> [u8; 16] {
        (((self.hi as u128) << 64) | self.lo as u128).to_be_bytes()
    }
}

impl From<u128> for ReplicaId {
    fn from(bits: u128) -> ReplicaId {
        ReplicaId::from_bytes(bits.to_be_bytes())
    }
}

impl From<ReplicaId> for u128 {
    fn from(id: ReplicaId) -> u128 {
        u128::from_be_bytes(id.to_bytes())
    }
}

impl fmt::Display for ReplicaId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bits = u128::from(*self);
        write!(
            f,
            "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
            bits >> 96,
            (bits >> 80) & 0xffff,
            (bits >> 64) & 0xffff,
            (bits >> 48) & 0xffff,
            bits & 0xffff_ffff_ffff
        )
    }
}

impl fmt::Debug for ReplicaId {
    /// Small ids, as tests use them, print as `r7`; all others in full.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.hi == 0 {
            return write!(f, "r{}", self.lo);
        }
        fmt::Display::fmt(self, f)
    }
}

/// A text that is not a hyphenated UUID.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ParseReplicaIdError;

impl fmt::Display for ParseReplicaIdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a replica id is 32 lower-case hexadecimal digits in groups of 8-4-4-4-12")
    }
}

impl core::error::Error for ParseReplicaIdError {}

impl FromStr for ReplicaId {
    type Err = ParseReplicaIdError;

    fn from_str(text: &str) -> Result<ReplicaId, ParseReplicaIdError> {
        if text.len() != 36 {
            return Err(ParseReplicaIdError);
        }
        let mut bits = 0u128;
        for (at, byte) in text.bytes().enumerate() {
            let digit = match (at, byte) {
                (8 | 13 | 18 | 23, b'-') => continue,
                (8 | 13 | 18 | 23, _) => return Err(ParseReplicaIdError),
                (_, b'0'..=b'9') => byte - b'0',
                (_, b'a'..=b'f') => byte - b'a' + 10,
                _ => return Err(ParseReplicaIdError),
            };
            bits = bits << 4 | u128::from(digit);
        }
        Ok(ReplicaId::from(bits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn text_and_bytes_round_trip() {
        for bits in [0, 1, u128::MAX, 0x0123_4567_89ab_cdef_0011_2233_4455_6677] {
            let id = ReplicaId::from(bits);
            assert_eq!(id.to_string().parse(), Ok(id));
            assert_eq!(ReplicaId::from_bytes(id.to_bytes()), id);
            assert_eq!(u128::from(id), bits);
        }
    }

    #[test]
    fn ids_are_ordered_by_all_128_bits() {
        assert!(ReplicaId::from(1 << 64) > ReplicaId::from(u128::from(u64::MAX)));
        assert!(ReplicaId::MIN < ReplicaId::from(1) && ReplicaId::from(1) < ReplicaId::MAX);
    }

    #[test]
    fn other_texts_are_refused() {
        for text in [
            "",
            "7",
            "00000000-0000-0000-0000-00000000000G",
            "00000000_0000-0000-0000-000000000000",
        ] {
            assert_eq!(
                text.parse::<ReplicaId>(),
                Err(ParseReplicaIdError),
                "{text}"
            );
        }
    }

    #[test]
    fn random_bytes_become_a_version_4_uuid() {
        let id = ReplicaId::from_random_bytes([0xff; 16]).to_string();
        assert_eq!(id, "ffffffff-ffff-4fff-bfff-ffffffffffff");
    }
}
