//! Digests of states.

use core::fmt;

/// A 128-bit digest (xxh3) of the state bytes, against accidents and not against attackers.
///
/// Replicas with equal versions have equal digests; if not, an id was used twice.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(u128);

impl Digest {
    pub(crate) fn of(bytes: &[u8]) -> Digest {
        Digest(twox_hash::XxHash3_128::oneshot(bytes))
    }

    /// The digest as 16 bytes, most significant first.
    pub const fn to_bytes(self) -> [u8; 16] {
        self.0.to_be_bytes()
    }

    /// The digest with these bytes.
    pub const fn from_bytes(bytes: [u8; 16]) -> Digest {
        Digest(u128::from_be_bytes(bytes))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
