//! When the time of a search is up.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// The time since some moment of this process.
pub(crate) type Clock = fn() -> Duration;

/// The clock of the system.
pub(crate) fn system_clock() -> Duration {
    static ORIGIN: OnceLock<Instant> = OnceLock::new();
    #[allow(
        clippy::disallowed_methods,
        reason = "only a cap on the time hangs on it"
    )]
    let origin = ORIGIN.get_or_init(Instant::now);
    origin.elapsed()
}

/// When the time is up, if it ever is.
pub(crate) struct Deadline {
    at: Option<Duration>,
    clock: Clock,
}

impl Deadline {
    pub fn new(time_max: Option<Duration>, clock: Clock) -> Deadline {
        let at = time_max.map(|most| clock().saturating_add(most));
        Deadline { at, clock }
    }

    pub fn is_over(&self) -> bool {
        self.at.is_some_and(|at| (self.clock)() >= at)
    }
}
