//! The store in memory.

mod history;
mod outcomes;
mod state;
mod store;
mod watch;

pub use store::{MemoryOptions, MemoryStore};
pub use watch::MemoryWatch;
