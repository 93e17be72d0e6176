//! Counters.

mod bounded_counter;
mod g_counter;
mod pn_counter;
mod tally;

pub use bounded_counter::BoundedCounter;
pub use g_counter::GCounter;
pub use pn_counter::PnCounter;
