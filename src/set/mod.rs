//! Sets.

mod or_set;

pub use or_set::OrSet;
