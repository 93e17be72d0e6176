//! [`Capabilities`]: what a store promises, so that coordination can refuse what is not safe on it.

use core::time::Duration;

/// How far the strict order of revisions, and so of fencing tokens, reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MonotoneTokens {
    /// Also across the failure of a server.
    AcrossFailover,
    /// Across a restart of the store.
    AcrossRestart,
    /// Within one process; the next one is another incarnation.
    ProcessOnly,
    /// Not at all: no fencing tokens are granted on it.
    No,
}

/// Whose clock ends a time to live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TtlClock {
    /// The store's monotonic clock.
    StoreMonotonic,
    /// The store's wall clock, which may step.
    StoreWall,
}

/// What a store promises about a time to live; the one asked for is a lower bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TtlCapability {
    /// The shortest one; a shorter one is raised to it.
    pub min: Duration,
    /// How late an expiry may be noticed while the store is in use.
    pub granularity: Duration,
    /// Whether a failover starts all times to live again.
    pub resets_on_failover: bool,
    /// Whose clock counts.
    pub clock: TtlClock,
}

/// What a store promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Whether commits are linearizable.
    pub linearizable_commit: bool,
    /// How far revisions are strictly increasing.
    pub monotone_tokens: MonotoneTokens,
    /// Expiry, `None` if the store has none.
    pub ttl: Option<TtlCapability>,
    /// Whether a commit may end in [`Outcome::Unknown`](super::Outcome::Unknown).
    pub unknown_outcomes: bool,
    /// For how many later transactions the result of one is kept, to answer a repeated commit.
    pub outcomes_retained: usize,
}
