//! Lists: the order of their elements, and a value under each.

mod change;
mod element;
#[expect(clippy::module_inception, reason = "the main type of this folder")]
mod list;
#[cfg(test)]
mod tests;

#[doc(hidden)]
pub use change::{Changes, replaced};
pub use change::{ListBefore, ListChange, WatchedElement};
pub use element::Element;
pub use list::{List, ListIter, ListPart};
