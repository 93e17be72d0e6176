//! Data types that merge in any order, optimistic transactions, and honest coordination.
//!
//! # Choose a type
//! | you want | type | when two replicas change it at once |
//! |---|---|---|
//! | a count that only grows | [`GCounter`] | both count |
//! | a count that also shrinks | [`PnCounter`] | both count; it may go below zero |
//! | a count that never falls below zero | [`BoundedCounter`] | each spends what it has the right to |
//! | the greatest or smallest value seen | [`MaxRegister`], [`MinRegister`] | the greater, the smaller |
//! | one value, with conflicts shown | [`MvRegister`] | both stay until somebody writes again |
//! | one value, whoever was last | [`LwwRegister`] | the greater time stamp; the loser stays readable |
//! | a switch | [`EwFlag`], [`DwFlag`] | on wins; off wins |
//! | a set that only grows | [`GSet`] | both additions stay |
//! | a set | [`OrSet`] | an addition wins over a removal that has not seen it |
//! | a set, removals first | [`RwSet`] | a removal wins over an addition that has not seen it |
//! | a set of what never comes back | [`TwoPhaseSet`] | removed is removed |
//! | a map of plain values | [`LwwMap`] | the greater time stamp; a write wins over a removal |
//! | a map of any of these types | [`OrMap`] | each value by its own rule; an update wins over a removal |
//! | a map of any of these types, removals first | [`RwMap`] | each value by its own rule; a removal wins over an update |
//! | a list of plain values or of any of these types | [`List`] | both insertions stay; a deletion wins over an update |
//! | data without a schema, as in JSON | [`Value`] | each part by its own rule; another kind beside it is a conflict |
//! | text | [`Text`] | both insertions stay, each in one piece; what one deletes the other may type into |
//! | a whole application state | `#[derive(Replicated)]` on a struct of these | each field by its own rule, under one version |
//!
//! A [`Replica`] holds such a value and edits it under its own id. Each update gives a [`Delta`] to
//! send; deltas may be lost, repeated, reordered and grouped:
//!
//! ```
//! use commute::{OrSet, Replica, ReplicaId};
//!
//! let mut a = Replica::<OrSet<String>>::new(ReplicaId::from(1)); // ReplicaId::random()? in programs
//! let mut b = Replica::<OrSet<String>>::new(ReplicaId::from(2));
//! let (_, delta) = a.update(|set| set.insert("new".into()))?;    // `delta.to_bytes()` for the wire
//! b.absorb(&delta)?;
//! b.edit(|set| set.insert("old".into()))?;                       // an edit without a delta ...
//! a.absorb(&b.delta_since(a.version()))?;                        // ... is found by asking
//! assert_eq!(a.view(), ["new", "old"].map(String::from).into());
//! assert_eq!(a.to_bytes(), b.to_bytes());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Read a conflict
//! What two replicas do at once has one result everywhere. Where that hides something, it can be read
//! until somebody who has seen it writes again:
//!
//! | type | `conflicts` gives | and |
//! |---|---|---|
//! | [`MvRegister`] | all values but the `winner` | `iter`: all of them; `is_conflict` |
//! | [`LwwRegister`] | the values that a greater stamp beat | `is_conflict` |
//! | [`LwwMap`] | of a key: as `LwwRegister` |  |
//! | [`List`] | of the plain value at an index: all values but the one of the greatest replica id | `hidden`: what was written to deleted elements |
//! | [`Value`] | the other scalars and kinds that are there | `kinds`, `is_conflict`; `resolve` drops them |
//! | [`RwSet`] | the elements whose addition lost to a removal |  |
//! | [`RwMap`] | the keys that are gone, with what was written to them |  |
//! | [`DwFlag`] |  | `is_conflict`: it was enabled, too |
//!
//! Where an update wins over a removal ([`OrSet`], [`OrMap`], [`EwFlag`], a map in a [`Value`]) there is
//! nothing to read: a removal leaves no record. What a merge changed in the view is told by
//! [`absorb_with_changes`](Replica::absorb_with_changes).
//!
//! # Choose a store
//! What must not merge ("the sum stays", "only one") goes into a [`store`]: read, work,
//! and write if nothing that was read has changed. `MemoryStore` is the one to start with:
//!
//! ```
//! # #[cfg(feature = "std")] {
//! use commute::env::SystemEnv;
//! use commute::store::{MemoryStore, TransactOptions, TxError, transact_blocking};
//!
//! let env = SystemEnv::new();
//! let store = MemoryStore::new(env)?;
//! store.put("from", "5")?;
//! let moved = transact_blocking(&store, &env, &TransactOptions::default(), |tx| {
//!     if let Some(amount) = tx.get("from")? {
//!         tx.delete("from");
//!         tx.put("to", amount);
//!     }
//!     Ok::<_, TxError>(())
//! })?;
//! assert_eq!(store.get("to")?.map(|entry| entry.modified), Some(moved.revision));
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A resource outside the store that only one may write to needs a lease *and* a fence: see
//! [`coord`].
//!
//! # What is guaranteed
//! - Replicas with equal versions have equal bytes; merging is commutative, associative, idempotent.
//! - An update is atomic everywhere; one that fails or panics leaves no trace.
//! - What arrives too early waits; what was lost is brought by
//!   [`delta_since`](State::delta_since); nothing is applied twice.
//! - Bytes from outside never panic and never allocate beyond a small multiple of their length.
//! - An id used by two replicas is an error on both, save the corner described at
//!   [`MergeError::IdentityReused`].
//!
//! # Features
//! `std` is the default; all others are off by default, add to each other, and are independent.
//!
//! - `std`: [`store`], [`coord`], `SystemEnv`, random ids
//! - `derive`: `#[derive(Replicated)]` for structs of replicated values
//! - `serde`, `uuid`, `bincode`, `crdts`, `quickcheck`, `arbitrary`: the traits and types of the crate of that
//!   name, see `interop`
//! - `testkit`: laws, schedules and searches for replicated types, yours included
//!
//! bincode is unmaintained (RUSTSEC-2025-0141); read `interop` first.
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
pub mod flag;
pub mod interop;
pub mod kernel;
pub mod list;
pub mod map;
pub mod register;
pub mod replica;
pub mod set;
#[cfg(feature = "std")]
pub mod store;
#[cfg(feature = "testkit")]
pub mod testkit;
pub mod text;
pub mod value;

#[cfg(feature = "arbitrary")]
pub use arbitrary;
pub use clock::{Dot, Dots, EntryId, Lamport, Names, ReplicaId, Stamp, Version};
pub use codec::{DecodeError, Limits};
/// # Examples
/// ```
/// use commute::{GCounter, OrSet, Replica, ReplicaId, Replicated};
///
/// #[derive(Replicated)]
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
pub use counter::{BoundedCounter, GCounter, PnCounter};
#[cfg(feature = "crdts")]
pub use crdts;
pub use flag::{DwFlag, EwFlag};
pub use kernel::{EditError, MergeError, Replicated};
pub use list::List;
pub use map::{LwwMap, OrMap, RwMap};
#[cfg(feature = "quickcheck")]
pub use quickcheck;
pub use register::{LwwRegister, MaxRegister, MinRegister, MvRegister};
pub use replica::{Applied, Delta, Digest, Replica, State};
pub use set::{GSet, OrSet, RwSet, TwoPhaseSet};
pub use text::Text;
pub use value::Value;

/// The programs of the README, compiled and run.
#[cfg(all(doctest, feature = "std", feature = "derive"))]
#[doc = include_str!("../README.md")]
struct Readme;

/// The programs of that page, compiled and run.
#[cfg(all(doctest, feature = "std"))]
#[doc = include_str!("../docs/sharing.md")]
struct Sharing;
