//! Data types that merge in any order, optimistic transactions, and honest coordination.
//!
//! # Features
//! `std` is the default; all others are off by default, add to each other, and are independent.
//!
//! - `derive`: `#[derive(Replicated)]` for structs of replicated values
//! - `serde`, `uuid`, `bincode`, `crdts`, `quickcheck`: the traits and types of the crate of that
//!   name, see [`interop`]. bincode is unmaintained (RUSTSEC-2025-0141); read [`interop`] first.
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
pub mod interop;
pub mod kernel;
pub mod replica;
pub mod set;
#[cfg(feature = "std")]
pub mod store;

pub use clock::{Dot, Dots, EntryId, Lamport, Names, ReplicaId, Version};
/// # Examples
/// ```
/// use commute::{GCounter, OrSet, Replica, ReplicaId, Replicated};
///
/// #[derive(Debug, Replicated)]
/// struct Board {
///     tags: OrSet<String>,
///     visits: GCounter,
/// }
///
/// let mut a = Replica::<Board>::new(ReplicaId::from(1));
/// let mut b = a.fork_as(ReplicaId::from(2));
/// a.edit(|board| {                          // both or neither
///     board.tags().insert("new".into())?;
///     board.visits().add(1)
/// })?;
/// b.edit(|board| board.visits().add(2))?;   // concurrent
/// a.merge(&b)?;
/// assert_eq!(a.view(), BoardView { tags: ["new".to_string()].into(), visits: 3 });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[cfg(feature = "derive")]
pub use commute_derive::Replicated;
pub use counter::{GCounter, PnCounter};
pub use kernel::{EditError, MergeError, Replicated};
#[cfg(feature = "quickcheck")]
pub use quickcheck;
pub use replica::{Applied, Delta, Digest, Replica, State};
pub use set::OrSet;
