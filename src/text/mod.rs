//! Text: the order of its elements (RGA), the engine that keeps it, and typed positions.

pub mod ids;
pub mod names;
pub mod rga;
mod run_tree;
pub mod sequence;
pub mod units;

pub use units::{Chars, IndexError, IndexFault, Position, Unit, Utf8, Utf16};
