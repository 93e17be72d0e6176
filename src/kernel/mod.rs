//! The causal kernel: every replicated type is a store of entries under one version.
//!
//! An update mints one dot; what it creates are entries `(dot, index)`. An entry is dead in a state
//! exactly if an update that killed it is included, so a removal leaves no record: the absence of
//! an entry whose update is included *is* the record. The one join ([`Replicated::adopt`] and
//! [`Replicated::kill`] for deltas, [`Replicated::join`] for whole states) looks at dots and shapes
//! and never at payloads.
//!
//! Sources: Almeida, Shoker, Baquero 2018 (delta-state CRDTs, arXiv:1603.01529); Bieniusa et al.
//! 2012 (optimised observed-remove sets, arXiv:1210.3368). Both apply a delta with a gap in its
//! causal past; here such a delta waits, whole, beside the state (see [`crate::replica`]).

mod dot_fun;
mod dot_map;
mod dot_set;
mod dyn_fields;
mod dynamic;
mod entry_map;
mod error;
#[doc(hidden)]
pub mod fields;
mod iter;
mod journal;
mod kills;
mod latest;
pub(crate) mod newtype;
#[cfg(test)]
mod shape_tests;
mod sorted;
pub(crate) mod structs;
mod traits;
mod update;
mod watched;
mod watched_map;
mod weave;
mod with_rest;

pub use dot_fun::DotFun;
pub use dot_map::DotMap;
pub(crate) use dot_map::DotMapPart;
pub use dot_set::DotSet;
pub(crate) use entry_map::EntryMap;
pub use error::{EditError, Fault, IndexError, IndexFault, MergeError, Unit};
pub use iter::{Iter, Values};
pub(crate) use journal::Journal;
pub(crate) use kills::Kills;
pub use latest::Latest;
pub use traits::{Part, Place, Removable, Replicated, ShapeKind};
pub use update::{EditView, Update};
pub(crate) use watched::watched_as_a_whole;
pub use watched::{Replaced, Watched};
pub use watched_map::{MapBefore, MapChange};
pub(crate) use with_rest::{WithRest, WithRestPart};
