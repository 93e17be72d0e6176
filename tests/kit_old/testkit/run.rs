//! Runs schedules and reports what fails.

use std::cell::Cell;
use std::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::schedule::{Schedule, Shape};
use super::shrink::shrink;
use super::subject::Subject;
use super::world::{Broken, Checked, Effort, Marks, World};

/// A run that broke a law.
#[derive(Debug)]
pub struct Failure {
    pub broken: Broken,
    /// The step after which it was noticed; the number of steps for the end of the run.
    pub step: usize,
    /// What each step did.
    pub story: Vec<String>,
}

/// Performs `schedule`, checking after every step, and lets the replicas settle.
///
/// # Errors
/// [`Failure`] for the first law that does not hold; a panic counts as one.
pub fn run<S: Subject>(schedule: &Schedule, effort: Effort) -> Result<Marks, Box<Failure>> {
    perform::<S>(schedule, effort, false)
}

fn perform<S: Subject>(
    schedule: &Schedule,
    effort: Effort,
    tell: bool,
) -> Result<Marks, Box<Failure>> {
    let mut world = World::<S>::new(schedule.replicas);
    world.story = tell.then(Vec::new);
    let step = Cell::new(0);
    let result = catch_unwind(AssertUnwindSafe(|| {
        steps(&mut world, schedule, effort, &step)
    }));
    let result = result.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
        Err(Broken {
            law: "nothing panics",
            what: text.unwrap_or_default(),
        })
    });
    match result {
        Ok(()) => Ok(world.marks),
        Err(broken) => Err(Box::new(Failure {
            broken,
            step: step.get(),
            story: world.story.unwrap_or_default(),
        })),
    }
}

fn steps<S: Subject>(
    world: &mut World<S>,
    schedule: &Schedule,
    effort: Effort,
    at: &Cell<usize>,
) -> Checked {
    for (number, step) in schedule.steps.iter().enumerate() {
        at.set(number);
        world.tell(|| format!("{step}"));
        let before = world.progress();
        let changed = world.perform(*step)?;
        if world.progress() == before {
            continue;
        }
        world.reseed();
        let draws = match number % effort.every {
            0 => effort.draws,
            _ => 0,
        };
        for node in changed {
            world.check(node, draws)?;
        }
        for _ in 0..draws.div_ceil(2) {
            world.check_deltas()?;
        }
    }
    at.set(schedule.steps.len());
    world.check_deltas()?;
    world.settle()
}

/// How many random schedules a suite runs: `COMMUTE_KIT_CASES`, or `default`.
pub fn cases(default: u64) -> u64 {
    let asked = std::env::var("COMMUTE_KIT_CASES").ok();
    asked.and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Runs the schedule of `seed`; a failure is shrunk and reported by a panic.
///
/// With `COMMUTE_KIT_REPLAY` in the environment that schedule is run instead; with
/// `COMMUTE_KIT_SHRINK=off` a failure is reported as it was found.
///
/// # Panics
/// If a law does not hold.
pub fn check<S: Subject>(seed: u64, shape: Shape) -> Marks {
    let effort = Effort { every: 1, draws: 1 };
    let schedule = match std::env::var("COMMUTE_KIT_REPLAY") {
        Ok(text) => text.parse().unwrap_or_else(|error| panic!("{error}")),
        Err(_) => Schedule::random(seed, shape),
    };
    run::<S>(&schedule, effort).unwrap_or_else(|failure| {
        let mut small = schedule;
        small.steps.truncate(failure.step + 1);
        let law = failure.broken.law;
        // More draws, so that the failure does not hang on lucky ones.
        let effort = Effort {
            every: 1,
            draws: 16,
        };
        let fails = |candidate: &Schedule| {
            run::<S>(candidate, effort).is_err_and(|other| other.broken.law == law)
        };
        let small = match std::env::var("COMMUTE_KIT_SHRINK") {
            Ok(off) if off == "off" => small,
            _ => shrink(small, fails),
        };
        panic!("{}", report::<S>(&small, effort, &failure))
    })
}

fn report<S: Subject>(small: &Schedule, effort: Effort, first: &Failure) -> String {
    let told = perform::<S>(small, effort, true);
    let failure = told.as_ref().err().map_or(first, |failure| failure);
    let mut text = format!(
        "\nFAIL  {}   {} steps, {} replicas\n      law: {}\n",
        S::NAME,
        small.steps.len(),
        small.replicas,
        failure.broken.law
    );
    for line in &failure.story {
        let _ = writeln!(text, "      {line}");
    }
    let _ = writeln!(text, "      {}", failure.broken.what);
    let _ = write!(text, "      COMMUTE_KIT_REPLAY='{small}'");
    text
}

/// Runs a schedule given as text.
///
/// # Panics
/// If it is none, or a law does not hold.
pub fn replay<S: Subject>(text: &str) -> Marks {
    let schedule = text.parse().unwrap_or_else(|error| panic!("{error}"));
    let effort = Effort { every: 1, draws: 4 };
    run::<S>(&schedule, effort).unwrap_or_else(|failure| {
        panic!(
            "{} after step {}: {}",
            failure.broken.law, failure.step, failure.broken.what
        )
    })
}
