//! The environment of the machine: its clocks, its random bytes, its threads.
//!
//! This is the one file where the ban on clocks, sleeping and randomness is lifted.
//! Limits: one timer thread per process, started at the first asynchronous sleep.
#![allow(clippy::disallowed_methods)]

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Instant, SystemTime};

use super::{Env, MonoTime, RandomnessUnavailable, Sleep, WallTime, lock};

/// The [`Env`] of the machine. All values of this type share one clock.
///
/// # Guarantees
/// The monotonic clock is [`std::time::Instant`]. **It may stop while the machine is suspended**
/// (on Linux it is `CLOCK_MONOTONIC`, <https://github.com/rust-lang/rust/issues/87906>), so after a
/// suspend a lease can be believed valid although the store let it expire long ago. Only the check
/// at the resource, the fencing token, protects against that.
///
/// # Examples
/// ```
/// use commute::env::{Env, SystemEnv};
///
/// let env = SystemEnv::new();
/// assert!(env.now() <= env.now());
/// assert_ne!(env.random_u128()?, env.random_u128()?);
/// # Ok::<(), commute::env::RandomnessUnavailable>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemEnv(());

impl SystemEnv {
    /// The machine's environment.
    pub const fn new() -> Self {
        Self(())
    }
}

/// The origin of the monotonic clock: its first use in this process.
fn origin() -> Instant {
    static ORIGIN: OnceLock<Instant> = OnceLock::new();
    *ORIGIN.get_or_init(Instant::now)
}

impl Env for SystemEnv {
    fn now(&self) -> MonoTime {
        MonoTime::from_origin(origin().elapsed())
    }

    fn wall(&self) -> WallTime {
        let since_epoch = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        WallTime::from_unix(since_epoch.unwrap_or(Duration::ZERO))
    }

    fn fill_random(&self, bytes: &mut [u8]) -> Result<(), RandomnessUnavailable> {
        getrandom::fill(bytes).map_err(|_| RandomnessUnavailable)
    }

    fn sleep_until(&self, deadline: MonoTime) -> Sleep {
        Box::pin(SystemSleep { deadline, id: None })
    }

    fn sleep_until_blocking(&self, deadline: MonoTime) {
        loop {
            let rest = deadline.saturating_since(self.now());
            if rest.is_zero() {
                return;
            }
            thread::sleep(rest);
        }
    }
}

struct Timer {
    sleepers: Mutex<Sleepers>,
    changed: Condvar,
}

#[derive(Default)]
struct Sleepers {
    by_deadline: BTreeMap<(MonoTime, u64), Waker>,
    next_id: u64,
}

impl Timer {
    /// The timer, or `None` if the machine refused to start its thread.
    fn get() -> Option<&'static Self> {
        static TIMER: Timer = Timer {
            sleepers: Mutex::new(Sleepers {
                by_deadline: BTreeMap::new(),
                next_id: 0,
            }),
            changed: Condvar::new(),
        };
        static STARTED: OnceLock<bool> = OnceLock::new();
        let started = STARTED.get_or_init(|| {
            let builder = thread::Builder::new().name("commute-timer".into());
            builder.spawn(|| TIMER.run()).is_ok()
        });
        started.then_some(&TIMER)
    }

    fn run(&self) {
        let mut sleepers = lock(&self.sleepers);
        loop {
            let now = SystemEnv::new().now();
            let later = sleepers.by_deadline.split_off(&(now, u64::MAX));
            let due = core::mem::replace(&mut sleepers.by_deadline, later);
            if !due.is_empty() {
                drop(sleepers);
                due.into_values().for_each(Waker::wake);
                sleepers = lock(&self.sleepers);
                continue;
            }
            let next = sleepers.by_deadline.first_key_value().map(|(key, _)| key.0);
            sleepers = match next {
                None => self
                    .changed
                    .wait(sleepers)
                    .unwrap_or_else(PoisonError::into_inner),
                Some(deadline) => {
                    let rest = deadline.saturating_since(now);
                    let woken = self.changed.wait_timeout(sleepers, rest);
                    woken.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }
}

struct SystemSleep {
    deadline: MonoTime,
    id: Option<u64>,
}

impl Future for SystemSleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let env = SystemEnv::new();
        if env.now() >= self.deadline {
            return Poll::Ready(());
        }
        let Some(timer) = Timer::get() else {
            // No thread to be had: late wake-ups are worse than a blocked executor thread.
            env.sleep_until_blocking(self.deadline);
            return Poll::Ready(());
        };
        let mut sleepers = lock(&timer.sleepers);
        let id = match self.id {
            Some(id) => id,
            None => {
                sleepers.next_id += 1;
                sleepers.next_id
            }
        };
        self.id = Some(id);
        sleepers
            .by_deadline
            .insert((self.deadline, id), context.waker().clone());
        drop(sleepers);
        timer.changed.notify_one();
        Poll::Pending
    }
}

impl Drop for SystemSleep {
    fn drop(&mut self) {
        if let (Some(id), Some(timer)) = (self.id, Timer::get()) {
            lock(&timer.sleepers)
                .by_deadline
                .remove(&(self.deadline, id));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::block_on;

    #[test]
    fn an_asynchronous_sleep_ends_no_earlier_than_its_deadline() {
        let env = SystemEnv::new();
        let far = env.sleep_until(env.now().saturating_add(Duration::from_secs(3600)));
        let deadline = env.now().saturating_add(Duration::from_millis(3));
        block_on(env.sleep_until(deadline));
        assert!(env.now() >= deadline);
        drop(far);
    }
}
