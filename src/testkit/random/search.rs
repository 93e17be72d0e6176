//! The engine: runs the schedules, shrinks what fails, and tells its story.

use std::rc::Rc;
use std::time::Duration;

use super::super::deadline::{Clock, Deadline, system_clock};
use super::super::environment::replay_asked;
use super::super::failure::{Broken, Failure};
use super::super::faults::Faults;
use super::super::golden::check_golden;
use super::super::law::{Law, Laws, alike};
use super::super::pulse::{PATIENCE, Pulse, Stuck, watched};
use super::super::report::{Report, searched};
use super::super::run::{Note, run, same_trace, too_large};
use super::super::schedule::{REPLICAS_MAX, Schedule, Shape};
use super::super::shrink::shrink;
use super::super::source::Source;
use super::super::step::{Step, Verb};
use super::super::story::Story;
use super::super::table::Table;
use super::super::world::{Effort, Traced, broken};
use crate::env::SplitMix64;

/// Of how many schedules one is run twice, to see whether it does the same.
const TWICE_EVERY: u64 = 50;
/// Of how many schedules one uses an id twice, if the type claims to notice.
const CLONE_EVERY: u64 = 16;

/// How a search by random schedules is made; see the methods of
/// [`RandomSearch`](super::RandomSearch).
#[derive(Clone, Copy)]
pub(crate) struct Plan {
    pub faults: Faults,
    pub laws: Laws,
    pub patience: Duration,
    pub seed: u64,
    pub schedules: u64,
    pub replicas: u32,
    pub steps: usize,
    pub time_max: Option<Duration>,
    pub every: u64,
    pub go_on: bool,
    pub clock: Clock,
}

impl Plan {
    pub fn new() -> Plan {
        Plan {
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
            clock: system_clock,
        }
    }

    /// The schedule that is run as number `at`, from 0.
    pub fn schedule(&self, can: &Table, at: u64) -> Schedule {
        let shape = Shape {
            replicas: self.replicas,
            steps: self.steps,
            weights: self.faults.within(can).weights(),
        };
        let mut seeds = SplitMix64::new(self.seed ^ at.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut source = Source::random(seeds.next_u64());
        let mut schedule = Schedule::draw(&mut source, &shape);
        let clones = self.faults.within(can).has(Verb::Clone);
        if clones && at % CLONE_EVERY == CLONE_EVERY - 1 && schedule.replicas > 1 {
            let place = source.below(schedule.steps.len() as u64 / 2 + 1) as usize;
            schedule
                .steps
                .insert(place, Step::new(Verb::Clone, 0, [1, 0]));
        }
        schedule
    }

    /// Runs the schedules.
    pub fn run(self, can: Table) -> Report {
        reported(can.name, self.patience, move |pulse| {
            let can = Rc::new(can);
            self.search(&can, pulse)
        })
    }

    /// The replay that the environment asks for, if it does.
    pub fn asked(self, can: &Table) -> Option<Report> {
        match replay_asked()? {
            Ok(schedule) => Some(self.replay(can.clone(), schedule)),
            Err(why) => {
                let mut report = Report::new((can.name)());
                report.inconclusive = Some(why);
                Some(report)
            }
        }
    }

    /// Runs one schedule; a failure is not shrunk.
    pub fn replay(self, can: Table, schedule: Schedule) -> Report {
        reported(can.name, self.patience, move |pulse| {
            let can = Rc::new(can);
            self.replayed(&can, schedule, pulse)
        })
    }

    fn replayed(self, can: &Rc<Table>, schedule: Schedule, pulse: &Pulse) -> Report {
        let mut report = Report::new((can.name)());
        if !(1..=REPLICAS_MAX).contains(&schedule.replicas) {
            let replicas = schedule.replicas;
            let why =
                format!("a schedule of {replicas} replicas; 1 to {REPLICAS_MAX} are possible");
            report.inconclusive = Some(why);
            return report;
        }
        if !can.connects() {
            report.inconclusive = Some(UNCONNECTED.into());
            return report;
        }
        let all = self.laws.always();
        let alone = schedule.law.map(only);
        report.schedules = 1;
        if schedule.law == Some(Law::P4)
            && let Some(failure) = check_golden(can)
        {
            report.add(failure);
            return report;
        }
        for laws in alone.into_iter().chain([all]) {
            let effort = thorough(laws);
            let ran = run(can, &schedule, effort, Note::Story, pulse);
            report.coverage.add(&ran.coverage);
            if report.story.is_none() || report.failures.is_empty() {
                report.story = Some(ran.story.clone());
            }
            if let Some((broken, _)) = ran.broken {
                report.add(Failure {
                    searched: "replayed".into(),
                    ..unshrunk(can.name, *broken, schedule.clone(), ran.story)
                });
            }
        }
        if schedule.steps.is_empty() && report.failures.is_empty() {
            report.inconclusive = Some("the schedule has no steps".into());
        }
        let operates = schedule.steps.iter().any(|step| step.verb == Verb::Do);
        if operates && report.coverage.effective(Verb::Do) == 0 && report.failures.is_empty() {
            let why = "no step `do` of the schedule has a choice that the type offers";
            report.inconclusive = Some(why.into());
        }
        report
    }

    /// Why nothing could come of it.
    fn pointless(&self, can: &Table) -> Option<&'static str> {
        match (can.connects(), self.schedules, self.steps) {
            (false, ..) => Some(UNCONNECTED),
            (true, 0, _) => Some("no schedules are asked for"),
            (true, _, 0) => Some("schedules of no steps are asked for"),
            _ => None,
        }
    }

    fn search(mut self, can: &Rc<Table>, pulse: &Pulse) -> Report {
        let mut report = Report::new((can.name)());
        if let Some(why) = self.pointless(can) {
            report.inconclusive = Some(why.into());
            return report;
        }
        self.laws = self.laws.always();
        if let Some(failure) = check_golden(can).filter(|_| self.laws.has(Law::P4)) {
            self.laws = self.laws.minus(Laws::like(Law::P4));
            report.add(failure);
            if !self.go_on {
                return report;
            }
        }
        let deadline = Deadline::new(self.time_max, self.clock);
        for at in 0..self.schedules {
            if deadline.is_over() {
                report.inconclusive = Some(format!(
                    "stopped after {} of {} schedules by the time",
                    report.schedules, self.schedules
                ));
                break;
            }
            let schedule = self.schedule(can, at);
            let effort = Effort {
                every: self.every,
                ..thorough(self.laws)
            };
            let twice = at % TWICE_EVERY == 0 && self.laws.has(Law::H1);
            let note = if twice { Note::Trace } else { Note::Nothing };
            let ran = run(can, &schedule, effort, note, pulse);
            report.schedules += 1;
            report.coverage.add(&ran.coverage);
            let (law, mut failure) = match ran.broken {
                Some((broken, step)) => {
                    let law = broken.law;
                    let mut kept = report.clone();
                    kept.add(unshrunk(
                        can.name,
                        (*broken).clone(),
                        schedule.clone(),
                        Default::default(),
                    ));
                    pulse.keep(&kept);
                    let found = (&schedule, effort, &deadline);
                    (law, self.explain(can, found, (broken, step), pulse))
                }
                None if !twice => continue,
                None => match self.twice(can, &schedule, effort, &ran.trace, pulse) {
                    Some(failure) => (Law::H1, failure),
                    None => continue,
                },
            };
            failure.searched = match failure.searched.is_empty() {
                true => searched(&report),
                false => format!("{}; {}", searched(&report), failure.searched),
            };
            self.laws = self.laws.minus(Laws::like(law));
            self.laws = self.laws.minus(Laws::like(failure.broken.law));
            report.add(failure);
            pulse.keep(&report);
            if !self.go_on || law == Law::Bounds {
                break;
            }
        }
        report.must_have_done();
        report
    }

    /// The same schedule once more must do the same.
    fn twice(
        &self,
        can: &Rc<Table>,
        schedule: &Schedule,
        effort: Effort,
        first: &[Traced],
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
        can: &Rc<Table>,
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
        unshrunk(can.name, *broken, schedule.clone(), told.story)
    }

    /// Shrinks a failure and tells its story.
    fn explain(
        &self,
        can: &Rc<Table>,
        (schedule, found, deadline): (&Schedule, Effort, &Deadline),
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
        // Alone, so that no other law breaks sooner in what is tried; with more checks, so that the
        // failure does not hang on lucky ones.
        let efforts = [thorough(only(law)), thorough(self.laws)];
        let effort = match law {
            // Nothing that is run again could be relied on.
            Law::Bounds => found,
            _ => {
                let again = efforts.into_iter().find(|effort| fails(*effort)(&start));
                again.unwrap_or(found)
            }
        };
        let (small, runs) = match law {
            Law::Bounds => (start, 0),
            _ => shrink(start, || deadline.is_over(), fails(effort)),
        };
        let told = run(can, &small, effort, Note::Story, pulse);
        match told.broken {
            Some((broken, _)) => {
                let failure = Failure {
                    shrink_runs: runs,
                    searched: match deadline.is_over() {
                        true => "shrinking stopped by the time".into(),
                        false => String::new(),
                    },
                    ..unshrunk(can.name, *broken, small, told.story)
                };
                replayable(can, failure, pulse)
            }
            // It failed, and now it does not.
            None => {
                let what = format!("{law} broke in the first run only: {}", first.got);
                self.not_deterministic(can, schedule, found, what, pulse)
            }
        }
    }
}

/// Why replicas that exchange nothing show nothing.
pub(crate) const UNCONNECTED: &str = "nothing connects the replicas: name a capability";

/// `law` alone, and those that stand or fall with it.
pub(crate) fn only(law: Law) -> Laws {
    Laws::like(law).always()
}

/// Every check of these laws.
pub(crate) const fn thorough(laws: Laws) -> Effort {
    Effort {
        laws,
        every: 1,
        history: true,
    }
}

/// `failure` with a schedule whose replay breaks its law: it names it if another law breaks sooner.
pub(crate) fn replayable(can: &Rc<Table>, mut failure: Failure, pulse: &Pulse) -> Failure {
    let law = failure.broken.law;
    // Neither says anything about the calls of a law.
    if matches!(law, Law::Bounds | Law::H1) {
        return failure;
    }
    let breaks = |laws: Laws| {
        let ran = run(can, &failure.schedule, thorough(laws), Note::Story, pulse);
        ran.broken.is_some_and(|(broken, _)| broken.law == law)
    };
    if breaks(Laws::ALL) {
        return failure;
    }
    if !breaks(only(law)) {
        let gap = if failure.searched.is_empty() {
            ""
        } else {
            "; "
        };
        failure.searched += gap;
        failure.searched += "a replay does not show it";
    }
    failure.schedule.law = Some(law);
    failure
}

/// A failure as it was found.
pub(crate) fn unshrunk(
    name: fn() -> String,
    broken: Broken,
    schedule: Schedule,
    story: Story,
) -> Failure {
    Failure {
        subject: name(),
        broken,
        schedule,
        story,
        minimal: false,
        shrink_runs: 0,
        searched: String::new(),
    }
}

/// The report of `engine`, or that it did not come back.
pub(crate) fn reported(
    name: fn() -> String,
    patience: Duration,
    engine: impl FnOnce(&Pulse) -> Report + Send + 'static,
) -> Report {
    let engine = |pulse: &Pulse| {
        let mut report = engine(pulse);
        if pulse.is_stopped_by_some() {
            report
                .failures
                .retain(|failure| failure.broken.law != Law::Bounds);
            let grown = too_large().got;
            report.inconclusive = Some(format!("{grown}, and so were others"));
        }
        report
    };
    let stopped = match watched(patience, engine) {
        Ok(report) => return report,
        Err(stopped) => stopped,
    };
    let mut report = stopped.found.unwrap_or_else(|| Report::new(name()));
    let schedule = stopped.schedule;
    match stopped.stuck {
        Stuck::Died => report.inconclusive = Some("the engine's thread died".into()),
        Stuck::Loops => report.add(loops(name, patience, schedule.unwrap_or_default())),
        Stuck::Panicked(text) => {
            let broken = broken(Law::Panic, None, text, "no panic");
            let schedule = schedule.unwrap_or_default();
            let story = Story {
                replicas: schedule.replicas as usize,
                lines: Vec::new(),
            };
            report.add(unshrunk(name, *broken, schedule, story));
        }
    }
    report
}

/// A call that does not return is the last step of `schedule`.
fn loops(name: fn() -> String, patience: Duration, schedule: Schedule) -> Failure {
    let last = schedule.steps.last();
    let last = last.map_or("the end".into(), Step::to_string);
    let secs = patience.as_secs_f64();
    let got = format!("the call of step `{last}` has not returned for {secs} s");
    let story = Story {
        replicas: schedule.replicas as usize,
        lines: Vec::new(),
    };
    let broken = broken(Law::Bounds, None, got, "every call returns");
    unshrunk(name, *broken, schedule, story)
}

#[cfg(test)]
mod tests {
    use super::super::super::capabilities::Capabilities;
    use super::super::super::source::Source;
    use super::super::super::subject::{Outcome, Rejected, StateBased, Subject};
    use super::*;
    use crate::clock::ReplicaId;
    use std::sync::atomic::{AtomicU64, Ordering};

    static NOW: AtomicU64 = AtomicU64::new(0);

    fn now() -> Duration {
        Duration::from_millis(NOW.load(Ordering::Relaxed))
    }

    /// Every merge takes a second of the clock, and adds.
    #[derive(Clone, PartialEq, Debug)]
    struct SlowAndWrong(u64);

    impl Subject for SlowAndWrong {
        type Op = u64;
        type View = u64;
        fn new(_: ReplicaId) -> Self {
            SlowAndWrong(0)
        }
        fn duplicate(&self) -> Self {
            self.clone()
        }
        fn choose(&self, source: &mut Source<'_>) -> Option<u64> {
            Some(1 + source.below(3))
        }
        fn perform(&mut self, amount: &u64) -> Outcome {
            self.0 += amount;
            Outcome::Done
        }
        fn view(&self) -> u64 {
            self.0
        }
    }

    impl StateBased for SlowAndWrong {
        fn merge(&mut self, other: &Self) -> Result<(), Rejected> {
            NOW.fetch_add(1_000, Ordering::Relaxed);
            self.0 += other.0;
            Ok(())
        }
        fn same_state(&self, other: &Self) -> bool {
            self == other
        }
    }

    #[test]
    fn a_cap_on_the_time_holds_for_shrinking_too() {
        let can = Capabilities::<SlowAndWrong>::new().state().table;
        let plan = |secs| Plan {
            time_max: Some(Duration::from_secs(secs)),
            clock: now,
            ..Plan::new()
        };
        let text = plan(60).run(can.clone()).to_string();
        assert!(text.contains("shrinking stopped by the time"), "{text}");
        let text = plan(1_000_000).run(can).to_string();
        assert!(
            text.contains("shrunk") && !text.contains("stopped"),
            "{text}"
        );
    }
}
