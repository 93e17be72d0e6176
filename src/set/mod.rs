//! Sets.

mod change;
mod g_set;
mod or_set;
mod readers;
mod rw_set;
mod two_phase_set;

pub use change::SetChange;
pub use g_set::GSet;
pub use or_set::OrSet;
pub use rw_set::RwSet;
pub use two_phase_set::TwoPhaseSet;
