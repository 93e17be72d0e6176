//! Replicas, what they send each other, and what they keep beside the state.
//!
//! A [`State`] is a value under one version, without identity; a [`Replica`] is a state that edits
//! under its own id. Everything sent is a [`Delta`]: one update, a group of updates, the answer to a
//! peer's version. Deltas may arrive in any order, in any grouping, any number of times, over any
//! transport. One that comes before its causal past waits, whole, beside the state; a lost one is
//! brought by the next [`delta_since`](State::delta_since).

mod delta;
mod digest;
mod feed;
mod ledger;
mod merge;
#[expect(clippy::module_inception, reason = "the main type of this folder")]
mod replica;
mod save;
mod seal;
mod state;
mod waiting;
mod wire;

pub use delta::Delta;
pub use digest::Digest;
pub use replica::Replica;
pub use state::{Applied, State};
pub use waiting::WaitingLimits;
