//! Text: the order of its elements (RGA), the engine that keeps it, and typed positions.

pub(crate) mod change;
pub(crate) mod fragment;
pub(crate) mod name_run;
pub mod rga;
mod run_tree;
#[doc(hidden)]
pub mod sequence;
#[expect(clippy::module_inception, reason = "the main type of this folder")]
mod text;
mod units;

pub use crate::kernel::{IndexError, IndexFault, Unit};
pub use change::{TextBefore, TextChange};
pub use text::Text;
pub use units::{Chars, Position, Utf8, Utf16};
