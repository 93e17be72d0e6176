//! Exhaustive search in small scope: breadth first over the states of the whole system.

mod search;
mod texts;

use std::time::Duration;

use super::capabilities::Capabilities;
use super::faults::Faults;
use super::law::Laws;
use super::report::Report;
use super::seen::Seen;
use super::settings::capability_methods;
use super::subject::{
    Collecting, DeltaBased, OpBased, Persisted, Specified, StateBased, Subject, Verdict, Versioned,
};
pub(crate) use search::Plan;

/// Searches all executions of a few replicas and steps.
///
/// States of the whole system that will behave the same are visited once, by fingerprint. Breadth
/// first, so that the first failure is one of the shortest. Each new state is also brought to its
/// end: everything is exchanged, and all replicas must be equal. Of up to three replicas that only
/// merge, the join of all three is judged instead, and one of 16 states is brought there.
///
/// Choices with the same `Debug` text are one operation, unless in one of the first 256 states two of
/// them do something else: then every choice is tried. Of other steps: a clock moves on by 1 ms, a split sets one replica apart from the others.
///
/// # Examples
/// `Explore::new::<T>().state().specified().replicas(3).steps(6).run().unwrap_clean()`
#[derive(Clone, Copy, Debug)]
pub enum Explore {}

/// An exhaustive search, made by [`Explore`].
#[must_use]
pub struct ExhaustiveSearch<T: Subject> {
    can: Capabilities<T>,
    plan: Plan,
}

impl Explore {
    /// All executions of 3 replicas and 6 steps, without faults; of `T`, whose
    /// capabilities are named next.
    #[allow(
        clippy::new_ret_no_self,
        reason = "the type under test is named by the call"
    )]
    pub fn new<T: Subject>() -> ExhaustiveSearch<T> {
        ExhaustiveSearch::with(Capabilities::new())
    }

    /// The same for a type with these capabilities.
    pub fn of<T: Subject>(can: Capabilities<T>) -> ExhaustiveSearch<T> {
        ExhaustiveSearch::with(can)
    }
}

impl<T: Subject> ExhaustiveSearch<T> {
    pub(crate) fn with(can: Capabilities<T>) -> ExhaustiveSearch<T> {
        ExhaustiveSearch {
            can,
            plan: Plan::new(),
        }
    }

    capability_methods!();

    /// How many replicas there are, 1 to 8. Three are needed for the hardest faults.
    pub fn replicas(mut self, replicas: u32) -> Self {
        self.plan.replicas = replicas.clamp(1, 8);
        self
    }

    /// How many steps an execution has.
    pub fn steps(mut self, steps: usize) -> Self {
        self.plan.steps = steps;
        self
    }

    /// The most states that are visited; if there are more the result is inconclusive.
    pub fn states_max(mut self, states: usize) -> Self {
        self.plan.states_max = states;
        self
    }

    /// Stops after so many states; that is no failure if the search is complete to `depth` by then.
    pub fn states_budget(mut self, states: usize, depth: usize) -> Self {
        self.plan.budget = Some((states, depth));
        self
    }

    /// A cap on the time; if it strikes before the search is complete the result is inconclusive.
    pub fn time_max(mut self, time: Duration) -> Self {
        self.plan.time_max = Some(time);
        self
    }

    /// Stops after so much time, if the search is complete to one step by then; the report says to
    /// how many. That is no failure.
    pub fn time_budget(mut self, time: Duration) -> Self {
        self.plan.time_budget = Some(time);
        self
    }

    /// Goes on after a failure, to find the first one of each law. A law that broke is not asked for
    /// any more, nor are those that break for the same reasons.
    pub fn every_law(mut self) -> Self {
        self.plan.go_on = true;
        self
    }

    /// Searches; or runs the schedule that the variable `COMMUTE_KIT_REPLAY` holds, if it is set.
    pub fn run(self) -> Report {
        let replay = super::random::Plan {
            laws: self.plan.laws,
            patience: self.plan.patience,
            ..super::random::Plan::new()
        };
        if let Some(report) = replay.asked(&self.can.table) {
            return report;
        }
        self.plan.run(self.can.table)
    }
}
