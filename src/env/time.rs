//! Points in time: monotonic ones for deadlines, wall ones for people.

use core::fmt;
use core::time::Duration;

/// A point on a monotonic clock: the time since an origin that the [`Env`](super::Env) chose.
///
/// Points of different processes, machines or simulated environments have nothing to do with each
/// other. Arithmetic saturates instead of wrapping.
///
/// # Examples
/// ```
/// use commute::env::MonoTime;
/// use core::time::Duration;
///
/// let start = MonoTime::ZERO;
/// let later = start.saturating_add(Duration::from_millis(20));
/// assert_eq!(later.saturating_since(start), Duration::from_millis(20));
/// assert_eq!(start.saturating_since(later), Duration::ZERO);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MonoTime(Duration);

impl MonoTime {
    /// The origin.
    pub const ZERO: Self = Self(Duration::ZERO);

    /// The point `since_origin` after the origin.
    pub const fn from_origin(since_origin: Duration) -> Self {
        Self(since_origin)
    }

    /// The time since the origin.
    pub const fn since_origin(self) -> Duration {
        self.0
    }

    /// The point `span` later, or the greatest point there is.
    #[must_use]
    pub const fn saturating_add(self, span: Duration) -> Self {
        Self(self.0.saturating_add(span))
    }

    /// The time from `earlier` to this point, zero if `earlier` is later.
    pub const fn saturating_since(self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }
}

impl fmt::Display for MonoTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "+{:?}", self.0)
    }
}

/// A point on the wall clock: the time since 1970-01-01T00:00:00Z.
///
/// It may step in either direction, so nothing in this crate orders events, expires keys or judges
/// a lease by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WallTime(Duration);

impl WallTime {
    /// The point `since_epoch` after 1970-01-01T00:00:00Z.
    pub const fn from_unix(since_epoch: Duration) -> Self {
        Self(since_epoch)
    }

    /// The time since 1970-01-01T00:00:00Z.
    pub const fn since_unix(self) -> Duration {
        self.0
    }
}
