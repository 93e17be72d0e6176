//! The zoo: types with one fault each, and right ones, by which the kit itself is tested.
#![cfg(feature = "testkit")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    missing_docs,
    clippy::match_like_matches_macro,
    dead_code,
    reason = "a test: nothing here is called from outside"
)]

#[path = "../accounts/mod.rs"]
mod accounts;
mod acks;
mod bytes;
mod codec;
mod collection_models;
mod contracts;
mod counters;
mod delta_models;
mod dotted;
mod entry;
mod extremes;
mod faults;
mod flags;
mod kept_sets;
mod kernel;
mod list_meaning;
mod locks;
mod long;
mod matrix;
mod meaning;
mod plain_sets;
mod registers;
mod rga;
mod sets;
mod siblings;
mod votes;
