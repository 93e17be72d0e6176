//! Random schedules.

mod search;

use std::time::Duration;

use super::capabilities::Capabilities;
use super::faults::Faults;
use super::law::Laws;
use super::report::Report;
use super::schedule::Schedule;
use super::seen::Seen;
use super::settings::capability_methods;
use super::subject::{
    Collecting, DeltaBased, OpBased, Persisted, Specified, StateBased, Subject, Verdict, Versioned,
};
pub(crate) use search::{Plan, UNCONNECTED, only, replayable, reported, thorough, unshrunk};

/// Searches by random schedules, each checked after every step.
///
/// # Examples
/// See [`Subject`].
#[derive(Clone, Copy, Debug)]
pub enum Random {}

/// A search by random schedules, made by [`Random`].
#[must_use]
pub struct RandomSearch<T: Subject> {
    can: Capabilities<T>,
    plan: Plan,
}

impl Random {
    /// 1,000 schedules of 40 steps on 3 replicas with all faults, from seed 1; of `T`, whose
    /// capabilities are named next.
    #[allow(
        clippy::new_ret_no_self,
        reason = "the type under test is named by the call"
    )]
    pub fn new<T: Subject>() -> RandomSearch<T> {
        RandomSearch::with(Capabilities::new())
    }

    /// The same for a type with these capabilities.
    pub fn of<T: Subject>(can: Capabilities<T>) -> RandomSearch<T> {
        RandomSearch::with(can)
    }
}

impl<T: Subject> RandomSearch<T> {
    pub(crate) fn with(can: Capabilities<T>) -> RandomSearch<T> {
        RandomSearch {
            can,
            plan: Plan::new(),
        }
    }

    capability_methods!();

    /// From which seed the schedules are drawn: the same seed, the same schedules.
    pub fn seed(mut self, seed: u64) -> Self {
        self.plan.seed = seed;
        self
    }

    /// How many schedules are run.
    pub fn schedules(mut self, schedules: u64) -> Self {
        self.plan.schedules = schedules;
        self
    }

    /// How many replicas there are, 1 to 64. Of schedules with more than two some have fewer, some two
    /// more.
    pub fn replicas(mut self, replicas: u32) -> Self {
        self.plan.replicas = replicas.clamp(1, 64);
        self
    }

    /// The most steps a schedule has, up to 2^20; each has at least half of them.
    pub fn steps(mut self, steps: usize) -> Self {
        self.plan.steps = steps.min(1 << 20);
        self
    }

    /// A cap on the time; if it strikes before all schedules are run the result is inconclusive. It
    /// ends the shrinking of a failure, too.
    pub fn time_max(mut self, time: Duration) -> Self {
        self.plan.time_max = Some(time);
        self
    }

    /// The costly laws (those about several states, and about bytes) are checked at one of so many
    /// changes; 4 by default, 1 for all of them.
    pub fn thoroughly_every(mut self, every: u64) -> Self {
        self.plan.every = every.max(1);
        self
    }

    /// Goes on after a failure, to find the first one of each law. A law that broke is not asked for
    /// any more, nor are those that break for the same reasons.
    pub fn every_law(mut self) -> Self {
        self.plan.go_on = true;
        self
    }

    /// The schedule that is run as number `at`, from 0.
    pub fn schedule(&self, at: u64) -> Schedule {
        self.plan.schedule(&self.can.table, at)
    }

    /// Runs the schedules; or the one that the variable `COMMUTE_KIT_REPLAY` holds, if it is set.
    pub fn run(self) -> Report {
        if let Some(report) = self.plan.asked(&self.can.table) {
            return report;
        }
        self.plan.run(self.can.table)
    }

    /// Runs one schedule, given as text or drawn elsewhere; a failure is not shrunk.
    ///
    /// If it names a law that law is judged alone first, and then all of them.
    pub fn replay(self, schedule: Schedule) -> Report {
        self.plan.replay(self.can.table, schedule)
    }
}
