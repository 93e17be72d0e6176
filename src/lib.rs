//! Data types that merge in any order, optimistic transactions, and honest coordination.
#![cfg_attr(not(feature = "std"), no_std)]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

extern crate alloc;
// The derive names the crate by `::commute`, also inside it.
#[cfg(feature = "derive")]
extern crate self as commute;

pub mod clock;
pub mod codec;
#[cfg(feature = "std")]
pub mod coord;
pub mod counter;
pub mod env;
pub mod kernel;
pub mod replica;
pub mod set;
#[cfg(feature = "std")]
pub mod store;
pub mod text;

pub use clock::{Dot, Dots, EntryId, Lamport, Names, ReplicaId, Version};
#[cfg(feature = "derive")]
pub use commute_derive::Replicated;
pub use counter::{GCounter, PnCounter};
pub use kernel::{EditError, MergeError, Replicated};
pub use replica::{Applied, Delta, Digest, Replica, State};
pub use set::OrSet;
pub use text::Text;
