//! Data types that merge in any order, optimistic transactions, and honest coordination.
#![cfg_attr(not(feature = "std"), no_std)]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

extern crate alloc;

#[cfg(feature = "std")]
pub mod coord;
pub mod env;
#[cfg(feature = "std")]
pub mod store;
pub mod text;
