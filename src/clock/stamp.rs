//! Times of a hybrid logical clock.

use core::fmt;

use crate::codec::Payload;

/// A point of a hybrid logical clock: milliseconds since 1970 and a count within the millisecond.
///
/// A stamp follows the wall clock as long as that is ahead of everything seen, and counts on from
/// the greatest stamp seen where it is not, so a later write has a greater stamp than what its
/// writer had seen, whatever the clocks say.
///
/// Source: Kulkarni et al. 2014, "Logical Physical Clocks", section 4; 48 bits of milliseconds (up
/// to the year 10889) and 16 bits of count, which run over into the milliseconds.
///
/// # Examples
/// ```
/// use commute::Stamp;
///
/// let seen = Stamp::from_millis(1_000);
/// let ours = Stamp::from_millis(900);            // a clock that is behind
/// let next = ours.after(Some(seen)).unwrap();
/// assert!(next > seen);
/// assert_eq!(next.millis_ahead_of(ours), 100);   // which the writer can see
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Stamp(u64);

const COUNT_BITS: u32 = 16;

impl Stamp {
    /// Before everything.
    pub const ZERO: Stamp = Stamp(0);

    /// The first stamp of a millisecond since 1970; beyond the year 10889 the last stamp there is.
    pub const fn from_millis(millis: u64) -> Stamp {
        match millis >> (64 - COUNT_BITS) {
            0 => Stamp(millis << COUNT_BITS),
            _ => Stamp(u64::MAX),
        }
    }

    /// The stamp with this number: milliseconds x 65,536 + count.
    pub const fn from_bits(bits: u64) -> Stamp {
        Stamp(bits)
    }

    /// Its number: milliseconds x 65,536 + count.
    pub const fn to_bits(self) -> u64 {
        self.0
    }

    /// The milliseconds since 1970.
    pub const fn millis(self) -> u64 {
        self.0 >> COUNT_BITS
    }

    /// This stamp, or the next one after `seen` if that is not smaller; `None` if there is none.
    pub const fn after(self, seen: Option<Stamp>) -> Option<Stamp> {
        match seen {
            Some(seen) if seen.0 >= self.0 => match seen.0.checked_add(1) {
                Some(next) => Some(Stamp(next)),
                None => None,
            },
            _ => Some(self),
        }
    }

    /// By how many milliseconds it is ahead of `clock`; 0 if it is not.
    ///
    /// What is far ahead of the own clock was written, or follows what was written, by a clock that
    /// is fast.
    pub const fn millis_ahead_of(self, clock: Stamp) -> u64 {
        self.millis().saturating_sub(clock.millis())
    }
}

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.0 & ((1 << COUNT_BITS) - 1);
        write!(f, "{}.{count}", self.millis())
    }
}

#[cfg(feature = "std")]
impl From<crate::env::WallTime> for Stamp {
    fn from(time: crate::env::WallTime) -> Stamp {
        let millis = time.since_unix().as_millis();
        Stamp::from_millis(u64::try_from(millis).unwrap_or(u64::MAX))
    }
}

/// A value with the stamp of its write.
#[derive(Clone, PartialEq, Debug)]
pub struct Stamped<V> {
    /// When it was written.
    pub stamp: Stamp,
    /// What was written.
    pub value: V,
}

impl<V: Payload> Payload for Stamped<V> {
    fn encode(&self, out: &mut alloc::vec::Vec<u8>) {
        // Fixed width, so that it ends where the value begins.
        out.extend_from_slice(&self.stamp.0.to_be_bytes());
        self.value.encode(out);
    }

    fn decode(bytes: &[u8]) -> Option<Stamped<V>> {
        let (stamp, value) = bytes.split_first_chunk()?;
        Some(Stamped {
            stamp: Stamp(u64::from_be_bytes(*stamp)),
            value: V::decode(value)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_never_go_back() {
        let old = Stamp::from_millis(5);
        assert_eq!(
            Stamp::from_millis(7).after(Some(old)),
            Some(Stamp::from_millis(7))
        );
        let next = Stamp::from_millis(5).after(Some(old)).unwrap();
        assert!(next > old && next < Stamp::from_millis(6));
        assert_eq!(Stamp::ZERO.after(None), Some(Stamp::ZERO));
        assert_eq!(Stamp::ZERO.after(Some(Stamp(u64::MAX))), None);
        // The count runs over into the milliseconds.
        let last = Stamp(6 << COUNT_BITS | 0xffff);
        assert_eq!(Stamp::ZERO.after(Some(last)), Some(Stamp::from_millis(7)));
        assert_eq!(Stamp::from_millis(1 << 48), Stamp(u64::MAX));
        assert_eq!(Stamp::from_millis((1 << 48) - 1).millis(), (1 << 48) - 1);
        assert_eq!(old.millis_ahead_of(Stamp::from_millis(2)), 3);
        assert_eq!(old.millis_ahead_of(Stamp::from_millis(9)), 0);
        assert_eq!(alloc::format!("{next}"), "5.1");
    }

    #[test]
    fn stamped_values_have_one_spelling() {
        let value = Stamped {
            stamp: Stamp(258),
            value: alloc::string::String::from("x"),
        };
        let mut bytes = alloc::vec::Vec::new();
        value.encode(&mut bytes);
        assert_eq!(bytes, [0, 0, 0, 0, 0, 0, 1, 2, b'x']);
        assert_eq!(Stamped::decode(&bytes), Some(value));
        assert_eq!(Stamped::<u64>::decode(&bytes[..7]), None);
        assert_eq!(Stamped::<u64>::decode(&bytes[..8]), None);
    }
}
