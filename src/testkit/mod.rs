//! The convergence test kit: finds where replicas of a type come to differ, and draws how.
//!
//! A type says which operations there are, how they are done, and what a user sees. The kit runs
//! several replicas through operations, exchanges, lost and repeated messages, crashes and
//! partitions, checks the [laws](Law) after every step, and makes what fails small. It tests the
//! types of this crate, and any other type.
//!
//! - [`Random`] runs schedules drawn from a seed; [`Explore`] visits all states of a few replicas
//!   and steps; [`convergence_suite!`](crate::convergence_suite) does both and gives one `#[test]`
//!   for each law.
//! - A [`Report`] says what was searched and what failed. A [`Failure`] prints as a diagram, with a
//!   line that replays it.
//! - [`spec`] has the meanings of usual types, for what laws alone cannot tell: a set that ignores
//!   every operation converges, too.
//!
//! The guide `docs/testkit.md` lists the laws and the step language; the example
//! `test_your_own_crdt` goes from a type to a found fault.
//!
//! # What to implement
//! One small trait to start with, and one for each thing that the type can do besides:
//!
//! | trait | if the type | word in the suite |
//! |---|---|---|
//! | [`Subject`] | is to be tested at all | |
//! | [`StateBased`] | merges whole states | `state` |
//! | [`DeltaBased`] | sends what the other side lacks | `delta` |
//! | [`OpBased`] | sends a message for each operation | `operations` |
//! | [`Persisted`] | becomes bytes and comes back | `encoded` |
//! | [`Collecting`] | drops what every replica has seen | `collecting` |
//! | [`Versioned`] | is a function of a version | `versioned` |
//! | [`Specified`] | has a meaning: what a view must show | `specified` |
//!
//! [`from_fn`] makes a subject of five closures. A replicated type of this crate needs [`Exercise`]
//! alone, and [`Meaning`] for its views.
//!
//! # Examples
//! A count that is merged by addition counts twice:
//! ```
//! use commute::testkit::{Law, Outcome, Random, from_fn};
//!
//! let count = from_fn(
//!     || 0_u64,
//!     |_, source| Some(1 + source.below(3)),
//!     |count, _, amount: &u64| {
//!         *count += amount;
//!         Outcome::Done
//!     },
//!     |count, theirs| *count += theirs,
//!     |count| *count,
//! );
//! let report = Random::of(count).run();
//! println!("{report}");
//! assert!(report.failure(Law::J6).is_some(), "a merge adds more than there is");
//! ```

mod capabilities;
mod coverage;
mod deadline;
mod diagram;
mod environment;
mod erased;
mod events;
mod execution;
mod explore;
mod failure;
mod faults;
mod fingerprint;
mod from_fn;
mod golden;
mod history_builder;
mod law;
mod name;
mod opportunities;
mod plain_file;
mod pulse;
mod random;
mod regressions;
mod replica;
mod report;
mod run;
mod schedule;
mod seen;
mod settings;
mod shrink;
mod source;
pub mod spec;
mod step;
mod story;
mod subject;
mod suite;
mod suite_tests;
mod table;
mod types;
mod world;

pub use capabilities::Capabilities;
pub use coverage::{Coverage, Mark};
pub use diagram::Style;
pub use events::{Events, OpId};
pub use execution::execute;
pub use explore::{ExhaustiveSearch, Explore};
pub use failure::{Broken, Failure};
pub use faults::Faults;
pub use fingerprint::Fingerprint;
pub use from_fn::{FromFn, from_fn};
pub use golden::Golden;
pub use history_builder::History;
pub use law::{Law, Laws};
#[cfg(feature = "crdts")]
pub(crate) use name::short;
pub use random::{Random, RandomSearch};
pub use replica::{Edits, Exercise, Meaning};
pub use report::Report;
pub use schedule::Schedule;
#[cfg(any(feature = "arbitrary", feature = "quickcheck"))]
pub(crate) use schedule::Shape;
pub use seen::{Seen, Visible};
pub use source::{Odometer, Source};
pub use step::{NotASchedule, Step, Verb};
pub use story::{Deed, Line, Story};
pub use subject::{
    Applied, Collecting, Delivery, DeltaBased, Gaps, OpBased, Outcome, Persisted, Rejected,
    Specified, StateBased, Subject, Verdict, Versioned,
};
pub use suite::{Suite, SuiteReport};
pub use types::{BoundedOp, ListPlay, LwwOp, Sample, TextOp, ValuePlay};
