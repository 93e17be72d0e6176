//! The convergence kit: random systems of replicas, run step by step against the laws.
//!
//! A [`Schedule`] is a list of steps that any sub-list of is a schedule too. The [`World`] performs
//! it on real replicas and keeps a log of its own: which updates exist, what each had seen, and
//! what every replica must therefore include. After each step the laws are checked at every replica
//! that changed; a failure is shrunk to a few steps and printed as text that replays it
//! (`COMMUTE_KIT_REPLAY`). A type joins by implementing [`Subject`].
//!
//! Written against the public interface only. Not part of the library yet: the test files include
//! it by path.
#![allow(
    dead_code,
    unreachable_pub,
    unused_imports,
    reason = "each test file that includes the kit uses a part of it"
)]

mod deltas;
mod laws;
mod log;
mod mail;
mod rng;
mod run;
mod schedule;
mod settle;
mod shrink;
pub mod spec;
mod step;
mod subject;
mod world;

pub use log::{Event, Events, Log};
pub use rng::Rng;
pub use run::{Failure, cases, check, replay, run};
pub use schedule::{Schedule, Shape};
pub use step::{Step, Verb};
pub use subject::{Mismatch, Seen, Source, Subject};
pub use world::{Broken, Checked, Effort, Marks, World};
