//! Maps.

mod lww_map;
mod or_map;
mod rw_map;

pub use crate::kernel::MapChange;
pub use lww_map::LwwMap;
pub use or_map::OrMap;
pub use rw_map::{RwMap, RwMapIter, RwMapPart};
