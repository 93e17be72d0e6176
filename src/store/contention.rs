//! [`Contention`]: how often transactions got in each other's way.

use core::sync::atomic::{AtomicU64, Ordering};

/// Counters of a store, or of one part of a program; cheap to bump from many threads.
///
/// # Examples
/// ```
/// use commute::env::SystemEnv;
/// use commute::store::{Contention, MemoryStore};
///
/// let store = MemoryStore::new(SystemEnv::new())?;
/// store.put("a", "1")?;
/// assert_eq!(store.contention().commits(), 1);
/// assert_eq!(store.contention().conflicts(), 0);
/// # Ok::<(), commute::store::StoreError>(())
/// ```
#[derive(Debug, Default)]
pub struct Contention {
    commits: AtomicU64,
    conflicts: AtomicU64,
    fenced: AtomicU64,
    replays: AtomicU64,
    retries: AtomicU64,
}

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident, $count:ident;)*) => {$(
        $(#[$doc])*
        pub fn $name(&self) -> u64 {
            self.$name.load(Ordering::Relaxed)
        }

        #[doc = concat!("Counts one more of [`Contention::", stringify!($name), "`].")]
        pub fn $count(&self) {
            self.$name.fetch_add(1, Ordering::Relaxed);
        }
    )*};
}

impl Contention {
    counters! {
        /// Transactions applied.
        commits, count_commit;
        /// Transactions refused because a guard did not hold.
        conflicts, count_conflict;
        /// Transactions refused because of a token below the floor.
        fenced, count_fenced;
        /// Commits of an id that was already decided, answered with the first result.
        replays, count_replay;
        /// Further attempts made by `transact` and `transact_blocking`.
        retries, count_retry;
    }
}
