//! Everything that is checked of one type, once for all tests of a suite.

mod plan;
mod report;

use std::marker::PhantomData;

use super::capabilities::Capabilities;
use super::faults::Faults;
use super::subject::Subject;
use plan::Plan;
pub use report::SuiteReport;

/// Everything that is checked of one type within the budget of `cargo test`.
///
/// First the schedules that failed once (`tests/regressions/<name>/*.txt`), then random ones, then
/// exhaustive searches of two and of three replicas. `COMMUTE_KIT_SEED`, `_SCHEDULES`, `_STEPS` and
/// `_SECONDS` set the seed, the number and length of the random schedules and a cap on the time of
/// each search; with `COMMUTE_KIT_REPLAY` only that schedule is run. A schedule that fails is
/// written to the folder of regressions. Suites of one package must have different names.
///
/// What older releases wrote is in `tests/golden/<name>/*.txt` (see [`Golden`](super::Golden)), and must be read as
/// what it showed (P4). `COMMUTE_KIT_GOLDEN=v1` writes down eight states of this release there, as
/// `v1-0.txt` and so on; files that are there stay as they are.
///
/// [`convergence_suite!`](crate::convergence_suite) makes one and a test for each law.
#[must_use]
pub struct Suite<T: Subject> {
    plan: Plan,
    subject: PhantomData<fn() -> T>,
}

impl<T: Subject> Suite<T> {
    /// A suite by the name of its folder of regressions, for a type of the package in `package`.
    pub fn new(name: &'static str, package: &str, can: Capabilities<T>) -> Suite<T> {
        Suite {
            plan: Plan::new(name, package.into(), can.table),
            subject: PhantomData,
        }
    }

    /// The seed of the random schedules; 1 by default.
    pub fn seed(mut self, seed: u64) -> Self {
        self.plan.random.seed = seed;
        self
    }

    /// How many random schedules there are; 500 by default.
    pub fn schedules(mut self, schedules: u64) -> Self {
        self.plan.random.schedules = schedules;
        self
    }

    /// How many steps a random schedule has, up to 2^20; up to 40 by default.
    pub fn steps(mut self, steps: usize) -> Self {
        self.plan.random.steps = steps.min(1 << 20);
        self
    }

    /// How many replicas a random schedule has; 3 by default. Of schedules with more than two some have
    /// fewer, some two more.
    pub fn replicas(mut self, replicas: u32) -> Self {
        self.plan.random.replicas = replicas.clamp(1, 64);
        self
    }

    /// How many states each exhaustive search may visit, and the depth to which it must be complete
    /// by then; 20,000 and 3 by default. After 20 seconds it need not be complete to that depth, but
    /// to one step; the report says how far it came.
    pub fn states(mut self, states: usize, depth: usize) -> Self {
        self.plan.states = states;
        self.plan.depth = depth;
        self
    }

    /// Which kinds of steps the random schedules have; all by default.
    pub fn faults(mut self, faults: Faults) -> Self {
        self.plan.random.faults = faults;
        self
    }

    /// Runs everything.
    pub fn run(self) -> SuiteReport {
        self.plan.run()
    }
}
