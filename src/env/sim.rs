//! A simulated environment: a clock that moves only when told to, randomness from a seed.

use core::fmt;
use core::future::Future;
use core::pin::{Pin, pin};
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Wake;

use super::{Env, MonoTime, RandomnessUnavailable, Sleep, SplitMix64, WallTime, lock};

/// An [`Env`] for tests: deterministic, and it never waits.
///
/// The clock starts at zero and moves by [`advance`](SimEnv::advance), or by itself when a blocking
/// sleep is called (the sleeper is then taken to be the only one who was waiting). Randomness is
/// [`SplitMix64`]. Clones share clock and randomness; machines with clocks that drift apart are two
/// environments advanced by different amounts. Not for production: its ids can be guessed.
///
/// # Examples
/// ```
/// use commute::env::{Env, SimEnv};
/// use core::time::Duration;
///
/// let env = SimEnv::new(42);
/// let handle = env.clone();
/// handle.advance(Duration::from_secs(5));
/// assert_eq!(env.now().since_origin(), Duration::from_secs(5));
/// assert_eq!(env.random_u64(), SimEnv::new(42).random_u64());
///
/// // Runs a future; whenever it only waits for time, the clock jumps to the next deadline.
/// let deadline = env.now().saturating_add(Duration::from_secs(60));
/// env.run(env.sleep_until(deadline))?;
/// assert_eq!(env.now(), deadline);
/// # Ok::<(), commute::env::Stalled>(())
/// ```
#[derive(Clone)]
pub struct SimEnv {
    inner: Arc<Mutex<Inner>>,
}

struct Inner {
    now: MonoTime,
    wall_at_origin: Duration,
    random: SplitMix64,
    sleepers: BTreeMap<(MonoTime, u64), Waker>,
    next_sleeper: u64,
}

impl SimEnv {
    /// A clock at its origin (wall: 2000-01-01T00:00:00Z) and the randomness of `seed`.
    pub fn new(seed: u64) -> Self {
        Self {
            inner: Arc::new(Mutex::new(Inner {
                now: MonoTime::ZERO,
                wall_at_origin: Duration::from_secs(946_684_800),
                random: SplitMix64::new(seed),
                sleepers: BTreeMap::new(),
                next_sleeper: 0,
            })),
        }
    }

    /// Moves both clocks forward by `span` and wakes the sleepers whose deadline has come.
    pub fn advance(&self, span: Duration) {
        let target = lock(&self.inner).now.saturating_add(span);
        self.advance_to(target);
    }

    /// Moves both clocks forward to `target`; a target in the past changes nothing.
    pub fn advance_to(&self, target: MonoTime) {
        let mut due = Vec::new();
        {
            let mut inner = lock(&self.inner);
            inner.now = inner.now.max(target);
            while let Some(first) = inner.sleepers.first_entry() {
                if first.key().0 > target {
                    break;
                }
                due.push(first.remove());
            }
        }
        due.into_iter().for_each(Waker::wake);
    }

    /// Sets the wall clock, in either direction; the monotonic clock stays.
    pub fn set_wall(&self, wall: WallTime) {
        let mut inner = lock(&self.inner);
        inner.wall_at_origin = wall.since_unix().saturating_sub(inner.now.since_origin());
    }

    /// Runs `future` on this thread, jumping to the next deadline whenever it only waits for time.
    ///
    /// # Errors
    /// [`Stalled`] if the future waits for something that nobody can bring: it was not woken, and
    /// nobody sleeps.
    pub fn run<F: Future>(&self, future: F) -> Result<F::Output, Stalled> {
        let woken = Arc::new(Flag(AtomicBool::new(false)));
        let waker = Waker::from(Arc::clone(&woken));
        let mut context = Context::from_waker(&waker);
        let mut future = pin!(future);
        loop {
            if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
                return Ok(output);
            }
            if woken.0.swap(false, Ordering::AcqRel) {
                continue;
            }
            let next = lock(&self.inner)
                .sleepers
                .first_key_value()
                .map(|(key, _)| key.0);
            self.advance_to(next.ok_or(Stalled)?);
        }
    }
}

impl fmt::Debug for SimEnv {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SimEnv")
            .field("now", &self.now())
            .finish_non_exhaustive()
    }
}

impl Env for SimEnv {
    fn now(&self) -> MonoTime {
        lock(&self.inner).now
    }

    fn wall(&self) -> WallTime {
        let inner = lock(&self.inner);
        WallTime::from_unix(
            inner
                .wall_at_origin
                .saturating_add(inner.now.since_origin()),
        )
    }

    fn fill_random(&self, bytes: &mut [u8]) -> Result<(), RandomnessUnavailable> {
        lock(&self.inner).random.fill(bytes);
        Ok(())
    }

    fn sleep_until(&self, deadline: MonoTime) -> Sleep {
        Box::pin(SimSleep {
            env: self.clone(),
            deadline,
            id: None,
        })
    }

    fn sleep_until_blocking(&self, deadline: MonoTime) {
        self.advance_to(deadline);
    }
}

/// The future given to [`SimEnv::run`] waits for something that cannot happen any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stalled;

impl fmt::Display for Stalled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the future waits, but nothing is left that could wake it")
    }
}

impl core::error::Error for Stalled {}

struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Release);
    }
}

struct SimSleep {
    env: SimEnv,
    deadline: MonoTime,
    id: Option<u64>,
}

impl Future for SimSleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let env = self.env.clone();
        let mut inner = lock(&env.inner);
        if inner.now >= self.deadline {
            return Poll::Ready(());
        }
        let id = match self.id {
            Some(id) => id,
            None => {
                inner.next_sleeper += 1;
                inner.next_sleeper
            }
        };
        self.id = Some(id);
        inner
            .sleepers
            .insert((self.deadline, id), context.waker().clone());
        Poll::Pending
    }
}

impl Drop for SimSleep {
    fn drop(&mut self) {
        if let Some(id) = self.id {
            lock(&self.env.inner).sleepers.remove(&(self.deadline, id));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_future_that_nobody_can_wake_is_reported() {
        let env = SimEnv::new(0);
        assert_eq!(env.run(core::future::pending::<()>()), Err(Stalled));
    }

    #[test]
    fn a_dropped_sleep_leaves_no_entry() {
        let env = SimEnv::new(0);
        let deadline = MonoTime::from_origin(Duration::from_secs(1));
        let mut sleep = env.sleep_until(deadline);
        let mut context = Context::from_waker(Waker::noop());
        assert!(sleep.as_mut().poll(&mut context).is_pending());
        assert_eq!(lock(&env.inner).sleepers.len(), 1);
        drop(sleep);
        assert!(lock(&env.inner).sleepers.is_empty());
    }

    #[test]
    fn the_wall_clock_may_step_back_while_the_monotonic_one_stays() {
        let env = SimEnv::new(0);
        env.advance(Duration::from_secs(10));
        env.set_wall(WallTime::from_unix(Duration::from_secs(50)));
        assert_eq!(env.now().since_origin(), Duration::from_secs(10));
        env.advance(Duration::from_secs(1));
        assert_eq!(env.wall().since_unix(), Duration::from_secs(51));
    }
}
