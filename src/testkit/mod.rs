//! The convergence test kit.

mod capabilities;
mod coverage;
mod diagram;
mod events;
mod explore;
mod failure;
mod faults;
mod fingerprint;
mod from_fn;
mod history_builder;
mod law;
mod name;
mod pulse;
mod random;
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
mod types;
mod world;

pub use capabilities::Capabilities;
pub use coverage::{Coverage, Mark};
pub use diagram::Style;
pub use events::{Events, OpId};
pub use explore::{ExhaustiveSearch, Explore};
pub use failure::{Broken, Failure};
pub use faults::Faults;
pub use fingerprint::Fingerprint;
pub use from_fn::{FromFn, from_fn};
pub use history_builder::History;
pub use law::{Law, Laws};
#[cfg(feature = "crdts")]
pub(crate) use name::short;
pub use random::{Random, RandomSearch};
pub use replica::{Edits, Exercise, Meaning};
pub use report::Report;
pub use schedule::Schedule;
pub use seen::{Seen, Visible};
pub use source::{Odometer, Source};
pub use step::{NotASchedule, Step, Verb};
pub use story::{Deed, Line, Story};
pub use subject::{
    Applied, Collecting, Delivery, DeltaBased, Gaps, OpBased, Outcome, Persisted, Rejected,
    Specified, StateBased, Subject, Verdict, Versioned,
};
pub use suite::{Suite, SuiteReport};
pub use types::{Sample, TextOp};
