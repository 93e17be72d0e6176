//! Traits of other crates, one file per crate, each behind the feature of its name.
//!
//! | feature | what it brings |
//! |---|---|
//! | `serde` | `Serialize` and `Deserialize` for ids, clocks, states and deltas |
//! | `uuid` | [`ReplicaId`](crate::ReplicaId) to and from `Uuid` |
//! | `bincode` | limited and canonical bincode bytes |
//! | `crdts` | `CvRDT` and `CmRDT` for states, conversions of clocks |
//! | `crdts` and `testkit` | other types with these traits under the test kit |
//! | `arbitrary` | `Arbitrary` of that crate for ids and clocks |
//! | `arbitrary` and `testkit` | the same for schedules and operations: fuzz targets |
//! | `quickcheck` | `Arbitrary` for ids and clocks |
//! | `quickcheck` and `testkit` | `Arbitrary` for schedules, operations, states of one execution |
//!
//! All are off by default and may be combined freely.

#[cfg(feature = "arbitrary")]
pub mod arbitrary;
#[cfg(all(feature = "arbitrary", feature = "testkit"))]
pub mod arbitrary_kit;
#[cfg(feature = "bincode")]
pub mod bincode;
#[cfg(feature = "crdts")]
pub mod crdts;
#[cfg(all(feature = "crdts", feature = "testkit"))]
pub mod crdts_kit;
#[cfg(feature = "quickcheck")]
pub mod quickcheck;
#[cfg(all(feature = "quickcheck", feature = "testkit"))]
pub mod quickcheck_kit;
#[cfg(feature = "serde")]
pub mod serde;
#[cfg(feature = "uuid")]
pub mod uuid;
