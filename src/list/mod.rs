//! Lists: the order of their elements, and a value under each.

mod element;
#[expect(clippy::module_inception, reason = "the main type of this folder")]
mod list;

pub use element::Element;
pub use list::{List, ListPart};
