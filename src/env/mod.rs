//! Time and randomness, passed in: the [`Env`] trait and its implementations.
//!
//! Nothing in this crate asks the machine for the time, sleeps, or draws random bytes on its own.
//! Everything that needs one of these takes an [`Env`], so that a whole test can run on a simulated
//! clock with a seed: see [`SimEnv`]. Programs use [`SystemEnv`]. The trait itself needs no `std`.

#[cfg(feature = "std")]
mod block_on;
mod environment;
mod random;
#[cfg(feature = "std")]
mod sim;
#[cfg(feature = "std")]
mod system;
mod time;

#[cfg(feature = "std")]
pub(crate) use block_on::{block_on, lock};
pub use environment::{Env, Sleep};
#[cfg(feature = "std")]
pub(crate) use random::scale;
pub use random::{RandomnessUnavailable, SplitMix64};
#[cfg(feature = "std")]
pub use sim::{SimEnv, Stalled};
#[cfg(feature = "std")]
pub use system::SystemEnv;
pub use time::{MonoTime, WallTime};
