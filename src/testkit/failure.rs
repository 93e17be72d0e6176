//! A law that did not hold, with all a person needs to understand it.

use super::{Law, Schedule, Story};

/// A law that does not hold, where it was noticed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Broken {
    /// The law.
    pub law: Law,
    /// The replica at which it was noticed, if it is about one.
    pub at: Option<usize>,
    /// What was found.
    pub got: String,
    /// What should have been.
    pub expected: String,
    /// Why, in terms of operations; may be empty.
    pub why: String,
}

/// A run that broke a law.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// The type's name.
    pub subject: String,
    /// What does not hold.
    pub broken: Broken,
    /// The schedule, shrunk; its text replays the failure.
    pub schedule: Schedule,
    /// What its steps did.
    pub story: Story,
    /// Whether no shorter schedule breaks a law, proven by complete search.
    pub minimal: bool,
    /// How many runs shrinking took.
    pub shrink_runs: u64,
    /// What was searched until it was found: `142,563 states; complete to depth 7`.
    pub searched: String,
}
