//! What is right, at length: as many random schedules as one likes, and deeper searches.
//!
//! `tests/long controls` runs these with new seeds, and notes how far it came.

use std::time::{Duration, Instant};

use crate::entry::{Entry, Kind, STEPS, Task};
use crate::matrix::{all, on_each};

/// `COMMUTE_LONG_<name>` as a number.
fn setting(name: &str) -> Option<u64> {
    let text = std::env::var(format!("COMMUTE_LONG_{name}")).ok()?;
    text.parse().ok()
}

fn right() -> Vec<Entry> {
    let mut entries = all();
    entries.retain(|entry| matches!(entry.kind, Kind::Equivalent | Kind::Control));
    entries
}

/// `COMMUTE_LONG_SCHEDULES` schedules of each, from seed `COMMUTE_LONG_SEED`.
#[test]
#[ignore = "as long as one likes"]
fn random_schedules_find_nothing_in_what_is_right() {
    let task = Task::Random {
        seed: setting("SEED").unwrap_or(1),
        schedules: setting("SCHEDULES").unwrap_or(1_000),
        steps: STEPS,
    };
    let entries = right();
    let reports = on_each(&entries, |entry| entry.run(&task));
    for (entry, report) in entries.iter().zip(&reports) {
        assert!(report.failures().is_empty(), "{}\n{report}", entry.id);
    }
    let schedules: u64 = reports.iter().map(|report| report.schedules()).sum();
    println!("entries {} schedules {schedules}", entries.len());
}

/// Three replicas, one step deeper each time, to depth 9 or until
/// `COMMUTE_LONG_SECONDS` have passed; from depth `COMMUTE_LONG_STEPS` on.
#[test]
#[ignore = "as long as one likes"]
#[allow(
    clippy::disallowed_methods,
    reason = "only a cap on the time hangs on it"
)]
fn searches_find_nothing_in_what_is_right() {
    let seconds = setting("SECONDS").unwrap_or(60);
    let start = Instant::now();
    let entries = right();
    let first = setting("STEPS").unwrap_or(4) as usize;
    for steps in first..=9 {
        let task = Task::Exhaustive { replicas: 3, steps };
        let reports = on_each(&entries, |entry| {
            let left = start.elapsed() < Duration::from_secs(seconds);
            left.then(|| entry.run(&task))
        });
        let ran = reports.iter().flatten();
        let complete = ran
            .clone()
            .filter(|report| report.complete_to() >= Some(steps));
        let states: u64 = ran.clone().map(|report| report.states()).sum();
        let (complete, ran) = (complete.count(), ran.count());
        for (entry, report) in entries.iter().zip(&reports) {
            let failed = report
                .as_ref()
                .is_some_and(|report| !report.failures().is_empty());
            assert!(!failed, "{}\n{report:?}", entry.id);
        }
        if ran == entries.len() {
            println!("depth {steps}: complete {complete} of {ran}, {states} states");
        } else {
            return;
        }
    }
}
