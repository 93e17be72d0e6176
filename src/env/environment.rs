//! The [`Env`] trait: everything the crate needs from the outside world.

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::future::Future;
use core::pin::Pin;

use super::{MonoTime, RandomnessUnavailable, WallTime};

/// A sleep in progress; dropping it cancels it.
///
/// Boxed, so that an `Env` may be used as `dyn Env`: a sleep costs far more than one allocation.
pub type Sleep = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A clock, a source of randomness, and a way to wait.
///
/// # Guarantees
/// An implementation's [`now`](Env::now) never goes back. [`sleep_until`](Env::sleep_until) and its
/// blocking twin return no earlier than the deadline by the same clock.
///
/// # Examples
/// ```
/// use commute::env::{Env, SimEnv};
/// use core::time::Duration;
///
/// let env = SimEnv::new(1);
/// let deadline = env.now().saturating_add(Duration::from_secs(3600));
/// env.sleep_until_blocking(deadline); // returns at once: the simulated clock jumps
/// assert_eq!(env.now(), deadline);
/// ```
pub trait Env: Send + Sync {
    /// The monotonic clock.
    fn now(&self) -> MonoTime;

    /// The wall clock.
    fn wall(&self) -> WallTime;

    /// Fills `bytes` with random bytes.
    ///
    /// # Errors
    /// [`RandomnessUnavailable`]; the content of `bytes` is then unspecified.
    fn fill_random(&self, bytes: &mut [u8]) -> Result<(), RandomnessUnavailable>;

    /// Waits until the monotonic clock has reached `deadline`, without blocking the thread.
    fn sleep_until(&self, deadline: MonoTime) -> Sleep;

    /// Waits until the monotonic clock has reached `deadline`, blocking the thread.
    fn sleep_until_blocking(&self, deadline: MonoTime);

    /// 64 random bits.
    ///
    /// # Errors
    /// [`RandomnessUnavailable`].
    fn random_u64(&self) -> Result<u64, RandomnessUnavailable> {
        let mut bytes = [0; 8];
        self.fill_random(&mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    /// 128 random bits, enough for an id that nobody else draws.
    ///
    /// # Errors
    /// [`RandomnessUnavailable`].
    fn random_u128(&self) -> Result<u128, RandomnessUnavailable> {
        let mut bytes = [0; 16];
        self.fill_random(&mut bytes)?;
        Ok(u128::from_le_bytes(bytes))
    }
}

macro_rules! forward_env {
    ($($pointer:ty),*) => {$(
        impl<E: Env + ?Sized> Env for $pointer {
            fn now(&self) -> MonoTime {
                (**self).now()
            }

            fn wall(&self) -> WallTime {
                (**self).wall()
            }

            fn fill_random(&self, bytes: &mut [u8]) -> Result<(), RandomnessUnavailable> {
                (**self).fill_random(bytes)
            }

            fn sleep_until(&self, deadline: MonoTime) -> Sleep {
                (**self).sleep_until(deadline)
            }

            fn sleep_until_blocking(&self, deadline: MonoTime) {
                (**self).sleep_until_blocking(deadline);
            }
        }
    )*};
}

forward_env!(&E, Arc<E>);
