//! Counters.

mod g_counter;
mod pn_counter;

pub use g_counter::GCounter;
pub use pn_counter::PnCounter;
