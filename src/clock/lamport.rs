//! Lamport time of a sequence.

use core::fmt;

/// A logical time: greater than every time its author had seen.
///
/// Source: Lamport 1978, "Time, Clocks, and the Ordering of Events in a Distributed System".
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Lamport(u64);

impl Lamport {
    /// Before everything.
    pub const ZERO: Lamport = Lamport(0);

    /// The time with this number.
    pub const fn new(time: u64) -> Lamport {
        Lamport(time)
    }

    /// The number of this time.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The time `steps` later, or `None` if there is none.
    pub const fn after(self, steps: u64) -> Option<Lamport> {
        match self.0.checked_add(steps) {
            Some(time) => Some(Lamport(time)),
            None => None,
        }
    }
}

impl fmt::Display for Lamport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_ends_instead_of_wrapping() {
        assert_eq!(Lamport::ZERO.after(3), Some(Lamport::new(3)));
        assert_eq!(Lamport::new(u64::MAX).after(1), None);
    }
}
