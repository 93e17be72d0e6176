//! The zoo: types with one fault each, and right ones, by which the kit itself is tested.
#![cfg(feature = "testkit")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    missing_docs,
    reason = "a test: nothing here is called from outside"
)]

mod bytes;
mod counters;
mod dotted;
mod entry;
mod extremes;
mod faults;
mod flags;
mod kept_sets;
mod matrix;
mod meaning;
mod plain_sets;
mod registers;
mod sets;
mod siblings;
mod votes;
