//! Counters.

mod g_counter;
mod pn_counter;
mod tally;

pub use g_counter::GCounter;
pub use pn_counter::PnCounter;
