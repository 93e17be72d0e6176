//! The convergence test kit.
#![allow(missing_docs, unused)]

mod diagram;
mod events;
mod failure;
mod fingerprint;
mod history_builder;
mod law;
mod name;
mod schedule;
mod seen;
mod source;
pub mod spec;
mod step;
mod story;
mod subject;

pub use diagram::Style;
pub use events::{Events, OpId};
pub use failure::{Broken, Failure};
pub use fingerprint::Fingerprint;
pub use history_builder::History;
pub use law::{Law, Laws};
pub use schedule::Schedule;
pub use seen::{Seen, Visible};
pub use source::{Odometer, Source};
pub use step::{NotASchedule, Step, Verb};
pub use story::{Deed, Line, Story};
pub use subject::{
    Applied, Collecting, Delivery, DeltaBased, Gaps, OpBased, Outcome, Persisted, Rejected,
    Specified, StateBased, Subject, Verdict, Versioned,
};
