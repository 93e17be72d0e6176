//! Random schedules.

use std::rc::Rc;
use std::time::{Duration, Instant};

use super::capabilities::Capabilities;
use super::failure::{Broken, Failure};
use super::faults::Faults;
use super::golden::check_golden;
use super::law::{Law, Laws};
use super::pulse::{PATIENCE, Pulse, Stuck, watched};
use super::report::{Report, searched};
use super::run::{Note, run, same_trace};
use super::schedule::{Schedule, Shape};
use super::seen::Seen;
use super::settings::capability_methods;
use super::shrink::shrink;
use super::source::Source;
use super::step::{Step, Verb};
use super::subject::{
    Collecting, DeltaBased, OpBased, Persisted, Specified, StateBased, Subject, Verdict, Versioned,
};
use super::world::{Effort, broken};
use crate::env::SplitMix64;

/// Of how many schedules one is run twice, to see whether it does the same.
const TWICE_EVERY: u64 = 50;
/// Of how many schedules one uses an id twice, if the type claims to notice.
const CLONE_EVERY: u64 = 16;

/// Searches by random schedules, each checked after every step.
///
/// # Examples
/// See [`Subject`].
#[derive(Clone, Copy, Debug)]
pub enum Random {}

/// A search by random schedules, made by [`Random`].
#[must_use]
pub struct RandomSearch<T: Subject> {
    pub(crate) can: Capabilities<T>,
    faults: Faults,
    laws: Laws,
    patience: Duration,
    seed: u64,
    schedules: u64,
    replicas: u32,
    steps: usize,
    time_max: Option<Duration>,
    every: u64,
    go_on: bool,
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
            faults: Faults::all(),
            laws: Laws::ALL,
            patience: PATIENCE,
            seed: 1,
            schedules: 1_000,
            replicas: 3,
            steps: 40,
            time_max: None,
            every: 4,
            go_on: false,
        }
    }

    capability_methods!();

    /// From which seed the schedules are drawn: the same seed, the same schedules.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// How many schedules are run.
    pub fn schedules(mut self, schedules: u64) -> Self {
        self.schedules = schedules;
        self
    }

    /// How many replicas there are, 1 to 64; some schedules have fewer.
    pub fn replicas(mut self, replicas: u32) -> Self {
        self.replicas = replicas.clamp(1, 64);
        self
    }

    /// The most steps a schedule has; each has at least half of them.
    pub fn steps(mut self, steps: usize) -> Self {
        self.steps = steps;
        self
    }

    /// A cap on the time; if it strikes before all schedules are run the result is inconclusive.
    pub fn time_max(mut self, time: Duration) -> Self {
        self.time_max = Some(time);
        self
    }

    /// The costly laws (those about several states, and about bytes) are checked at one of so many
    /// changes; 4 by default, 1 for all of them.
    pub fn thoroughly_every(mut self, every: u64) -> Self {
        self.every = every.max(1);
        self
    }

    /// Goes on after a failure, to find the first one of each law.
    pub fn every_law(mut self) -> Self {
        self.go_on = true;
        self
    }

    /// The schedule that is run as number `at`, from 0.
    pub fn schedule(&self, at: u64) -> Schedule {
        let shape = Shape {
            replicas: self.replicas,
            steps: self.steps,
            weights: self.faults.within(&self.can).weights(),
        };
        let mut seeds = SplitMix64::new(self.seed ^ at.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut source = Source::random(seeds.next_u64());
        let mut schedule = Schedule::draw(&mut source, &shape);
        let clones = self.faults.within(&self.can).has(Verb::Clone);
        if clones && at % CLONE_EVERY == CLONE_EVERY - 1 && schedule.replicas > 1 {
            let place = source.below(schedule.steps.len() as u64 / 2 + 1) as usize;
            schedule
                .steps
                .insert(place, Step::new(Verb::Clone, 0, [1, 0]));
        }
        schedule
    }

    /// Runs the schedules.
    pub fn run(self) -> Report {
        reported::<T>(self.patience, move |pulse| self.search(pulse))
    }

    /// Runs one schedule, given as text or drawn elsewhere; a failure is not shrunk.
    pub fn replay(self, schedule: Schedule) -> Report {
        let patience = self.patience;
        let replay = move |pulse: &Pulse| {
            let mut report = Report::new(T::name());
            let can = Rc::new(self.can.clone());
            let effort = self.thorough();
            let ran = run(&can, &schedule, effort, Note::Story, pulse);
            report.schedules = 1;
            report.coverage.add(&ran.coverage);
            if let Some((broken, _)) = ran.broken {
                report.failures.push(Failure {
                    subject: T::name(),
                    broken: *broken,
                    schedule,
                    story: ran.story,
                    minimal: false,
                    shrink_runs: 0,
                    searched: "replayed".into(),
                });
            }
            report
        };
        reported::<T>(patience, replay)
    }

    fn thorough(&self) -> Effort {
        Effort {
            laws: self.laws,
            every: 1,
            history: true,
        }
    }

    fn search(mut self, pulse: &Pulse) -> Report {
        let mut report = Report::new(T::name());
        if !self.can.connects() {
            report.inconclusive = Some("nothing connects the replicas: name a capability".into());
            return report;
        }
        let can = Rc::new(self.can.clone());
        if let Some(failure) = check_golden(&can).filter(|_| self.laws.has(Law::P4)) {
            report.failures.push(failure);
            if !self.go_on {
                return report;
            }
        }
        #[allow(
            clippy::disallowed_methods,
            reason = "only a cap on the time hangs on it"
        )]
        let start = Instant::now();
        for at in 0..self.schedules {
            if self.time_max.is_some_and(|most| start.elapsed() >= most) {
                report.inconclusive = Some(format!(
                    "stopped after {} of {} schedules by the time",
                    report.schedules, self.schedules
                ));
                break;
            }
            let schedule = self.schedule(at);
            let effort = Effort {
                laws: self.laws,
                every: self.every,
                history: true,
            };
            let twice = at % TWICE_EVERY == 0 && self.laws.has(Law::H1);
            let note = if twice { Note::Trace } else { Note::Nothing };
            let ran = run(&can, &schedule, effort, note, pulse);
            report.schedules += 1;
            report.coverage.add(&ran.coverage);
            let failure = match ran.broken {
                Some((broken, step)) => {
                    Some(self.explain(&can, &schedule, effort, (broken, step), pulse))
                }
                None if twice => self.twice(&can, &schedule, effort, &ran.trace, pulse),
                None => None,
            };
            if let Some(mut failure) = failure {
                failure.searched = searched(&report);
                self.laws = without_group(self.laws, failure.broken.law);
                report.failures.push(failure);
                if !self.go_on || report.failures.len() >= 12 {
                    break;
                }
            }
        }
        report
    }

    /// The same schedule once more must do the same.
    fn twice(
        &self,
        can: &Rc<Capabilities<T>>,
        schedule: &Schedule,
        effort: Effort,
        first: &[super::world::Traced<T>],
        pulse: &Pulse,
    ) -> Option<Failure> {
        let second = run(can, schedule, effort, Note::Trace, pulse);
        let differs = match second.broken {
            Some((broken, _)) => Err(format!("a second run broke {}", broken.law)),
            None => same_trace(can, first, &second.trace),
        };
        let what = differs.err()?;
        Some(self.not_deterministic(can, schedule, effort, what, pulse))
    }

    fn not_deterministic(
        &self,
        can: &Rc<Capabilities<T>>,
        schedule: &Schedule,
        effort: Effort,
        what: String,
        pulse: &Pulse,
    ) -> Failure {
        let told = run(can, schedule, effort, Note::Story, pulse);
        let mut broken = broken(Law::H1, None, what, "the same as in the first run");
        broken.why = "something besides the calls made to it decides what it does: \
                      a clock, random numbers, the order of a hash map"
            .into();
        Failure {
            subject: T::name(),
            broken: *broken,
            schedule: schedule.clone(),
            story: told.story,
            minimal: false,
            shrink_runs: 0,
            searched: String::new(),
        }
    }

    /// Shrinks a failure and tells its story.
    fn explain(
        &self,
        can: &Rc<Capabilities<T>>,
        schedule: &Schedule,
        found: Effort,
        (first, step): (Box<Broken>, usize),
        pulse: &Pulse,
    ) -> Failure {
        let mut start = schedule.clone();
        start.steps.truncate(step);
        let law = first.law;
        let fails = |effort: Effort| {
            move |candidate: &Schedule| {
                let ran = run(can, candidate, effort, Note::Nothing, pulse);
                ran.broken.is_some_and(|(broken, _)| alike(broken.law, law))
            }
        };
        // More checks, so that the failure does not hang on lucky ones.
        let effort = match fails(self.thorough())(&start) {
            true => self.thorough(),
            false => found,
        };
        let (small, runs) = match law {
            // Nothing that shrinking runs again could be relied on.
            Law::Bounds => (start, 0),
            _ => shrink(start, fails(effort)),
        };
        let told = run(can, &small, effort, Note::Story, pulse);
        match told.broken {
            Some((broken, _)) => Failure {
                subject: T::name(),
                broken: *broken,
                schedule: small,
                story: told.story,
                minimal: false,
                shrink_runs: runs,
                searched: String::new(),
            },
            // It failed, and now it does not.
            None => {
                let what = format!("{law} broke in the first run only: {}", first.got);
                self.not_deterministic(can, schedule, found, what, pulse)
            }
        }
    }
}

/// Laws that one fault breaks in turn, as its schedule shrinks.
pub(crate) fn alike(a: Law, b: Law) -> bool {
    group(a) == group(b)
}

fn group(law: Law) -> Law {
    match law {
        Law::O1 | Law::O2 | Law::D2 | Law::N1 | Law::G2 | Law::S2 | Law::S3 => Law::S2,
        Law::S4 | Law::S1 => Law::S1,
        other => other,
    }
}

pub(crate) fn without_group(laws: Laws, law: Law) -> Laws {
    let same = Law::ALL.iter().filter(|other| alike(**other, law));
    same.fold(laws, |laws, law| laws.without(*law))
}

/// The report of `engine`, or that it did not come back.
pub(crate) fn reported<T: Subject>(
    patience: Duration,
    engine: impl FnOnce(&Pulse) -> Report + Send + 'static,
) -> Report {
    let stuck = match watched(patience, engine) {
        Ok(report) => return report,
        Err(stuck) => stuck,
    };
    let mut report = Report::new(T::name());
    match stuck {
        Stuck::Died => report.inconclusive = Some("the engine's thread died".into()),
        Stuck::Loops(schedule) => report.failures.push(loops::<T>(patience, schedule)),
    }
    report
}

/// A call that does not return is the last step of `schedule`.
fn loops<T: Subject>(patience: Duration, schedule: Option<Schedule>) -> Failure {
    let schedule = schedule.unwrap_or(Schedule {
        replicas: 1,
        steps: Vec::new(),
    });
    let last = schedule.steps.last();
    let last = last.map_or("the end".into(), Step::to_string);
    let secs = patience.as_secs_f64();
    let got = format!("the call of step `{last}` has not returned for {secs} s");
    Failure {
        subject: T::name(),
        broken: *broken(Law::Bounds, None, got, "every call returns"),
        story: super::Story {
            replicas: schedule.replicas as usize,
            lines: Vec::new(),
        },
        schedule,
        minimal: false,
        shrink_runs: 0,
        searched: String::new(),
    }
}
