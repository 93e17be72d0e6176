//! The types of the crate: what they mean, their bytes, their laws.
//!
//! One binary, since most of building a test is the code of the types in it, which is shared here.
//! Rules of the kernel and laws that mutants are tried on have binaries of their own.

mod changes;
mod depth;
mod derive_forms;
mod evolution;
mod facts_inputs;
mod facts_rows;
mod facts_types;
mod golden;
mod hostile;
mod interop_serde;
mod list;
mod pairs;
mod samples;
mod std_manners;
mod suites;
mod value;

/// Counts per thread, so tests do not disturb each other.
#[global_allocator]
static HEAP: hostile::heap::Counting = hostile::heap::Counting;
