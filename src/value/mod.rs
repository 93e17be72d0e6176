//! Data without a schema: maps, lists, texts, counters and scalars, nested.

mod change;
mod content;
mod edit;
mod lazy;
mod plain;
mod scalar;
#[expect(clippy::module_inception, reason = "the main type of this folder")]
mod value;

pub use change::{ValueBefore, ValueChange};
pub use edit::{ValueEdit, ValueListEdit, ValueMapEdit};
pub use plain::Plain;
pub use scalar::{Float, Scalar};
pub use value::{DEPTH_MAX, Kind, Value, ValuePart};
