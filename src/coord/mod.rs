//! Honest coordination: leases that say what they are not, and fences that do the work.
//!
//! A [`Lease`] has one holder at a time by the clock of the store. Its holder can be paused, wake
//! after the lease has ended and been granted to somebody else, and still believe in it. No lock
//! that ends by itself can prevent that, so safety comes from the resource: every grant carries a
//! [`FencingToken`] that is greater than all before it, and a [`FencedResource`] refuses whoever
//! comes with less than it has seen. The new holder *establishes* its token before it reads:
//!
//! ```
//! use commute::coord::{Established, FencedCell, FencedResource, Lease, LeaseOptions};
//! use commute::env::SimEnv;
//! use commute::store::MemoryStore;
//!
//! let env = SimEnv::new(1);
//! let store = MemoryStore::new(env.clone())?;
//! let options = LeaseOptions::default();
//! let account = FencedCell::new("account", 100);
//!
//! let paused = Lease::acquire_blocking(&store, &env, "account", &options)?;
//! let mut late = account.establish_blocking(paused.token())?;
//! let balance = late.read_blocking()?;
//! env.advance(options.ttl); // paused here for longer than the lease lasts
//!
//! let holder = Lease::acquire_blocking(&store, &env, "account", &options)?;
//! let mut access = account.establish_blocking(holder.token())?; // the floor rises
//! let seen = access.read_blocking()?;
//!
//! assert!(late.write_blocking(balance - 30).is_err()); // refused, although nobody has written yet
//! access.write_blocking(seen - 50)?;
//! assert_eq!(access.read_blocking()?, 50);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! If the data lives in the same store as the lease, put [`Lease::guard`] or
//! [`Guard::fence`](crate::store::Guard::fence) into the transaction that writes it; a
//! [`FencedKey`] does that for one record.

mod ask;
mod fenced;
mod fenced_cell;
mod fenced_key;
mod gate;
mod lease;
mod lease_error;
mod term;
mod token;

pub use fenced::{Established, FencedError, FencedResource};
pub use fenced_cell::{EstablishedCell, FencedCell};
pub use fenced_key::{EstablishedKey, FencedKey};
pub use gate::{FenceError, Floor, Gate};
pub use lease::{Lease, LossSignal, Released};
pub use lease_error::{LeaseError, Lost};
pub use term::LeaseOptions;
pub use token::{DifferentDomain, FencingToken, TokenDecodeError, TokenDomain};
