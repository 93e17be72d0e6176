//! Traits of other crates, one file per crate, each behind the feature of its name.
//!
//! | feature | what it brings |
//! |---|---|
//! | `uuid` | [`ReplicaId`](crate::ReplicaId) to and from `Uuid` |
//!
//! All are off by default and may be combined freely.

#[cfg(feature = "uuid")]
pub mod uuid;
