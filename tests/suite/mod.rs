//! What every law suite runs, and the types under test.
#![allow(clippy::unwrap_used, reason = "a test stops where it fails")]
#![allow(
    dead_code,
    unreachable_pub,
    unused_imports,
    reason = "each test file uses a part of it"
)]

pub mod board;
pub mod forward;
#[cfg(feature = "testkit")]
mod laws;
#[cfg(feature = "testkit")]
mod meanings;
pub mod registers;
#[cfg(all(feature = "derive", feature = "testkit"))]
pub mod whole;

#[cfg(feature = "testkit")]
pub use laws::{fifteen_replicas_with_200_operations_each, laws, nothing_is_vacuous};
