//! Makes a failing schedule small.
//!
//! Only steps are removed and numbers lowered, which needs no knowledge of the type, because every
//! sub-sequence of a schedule is a schedule. Source: Zeller, Hildebrandt 2002, "Simplifying and
//! isolating failure-inducing input" (halving chunks).

use super::schedule::Schedule;

/// At most this many runs are spent.
const RUNS_MAX: usize = 3_000;

/// The smallest schedule found for which `fails` still holds.
pub fn shrink(mut schedule: Schedule, mut fails: impl FnMut(&Schedule) -> bool) -> Schedule {
    let mut runs = 0;
    let mut fails = |candidate: &Schedule| {
        runs += 1;
        runs <= RUNS_MAX && fails(candidate)
    };
    loop {
        let before = schedule.clone();
        delete(&mut schedule, &mut fails);
        lower(&mut schedule, &mut fails);
        if schedule == before {
            return schedule;
        }
    }
}

/// Deletes chunks of steps, halving their length down to single steps.
fn delete(schedule: &mut Schedule, fails: &mut impl FnMut(&Schedule) -> bool) {
    let mut chunk = schedule.steps.len().div_ceil(2).max(1);
    loop {
        let mut end = schedule.steps.len();
        while end > 0 {
            let start = end.saturating_sub(chunk);
            let mut candidate = schedule.clone();
            candidate.steps.drain(start..end);
            if fails(&candidate) {
                *schedule = candidate;
            }
            end = start.min(schedule.steps.len());
        }
        if chunk == 1 {
            return;
        }
        chunk = chunk.div_ceil(2);
    }
}

/// Lowers the number of replicas and each number of each step.
fn lower(schedule: &mut Schedule, fails: &mut impl FnMut(&Schedule) -> bool) {
    for replicas in 1..schedule.replicas {
        let candidate = Schedule {
            replicas,
            steps: schedule.steps.clone(),
        };
        if fails(&candidate) {
            *schedule = candidate;
            break;
        }
    }
    for at in 0..schedule.steps.len() {
        let count = schedule.steps[at].numbers().count();
        for place in 0..count {
            lower_number(schedule, at, place, fails);
        }
    }
}

fn lower_number(
    schedule: &mut Schedule,
    at: usize,
    place: usize,
    fails: &mut impl FnMut(&Schedule) -> bool,
) {
    loop {
        let Some(number) = schedule.steps[at].numbers().nth(place).copied() else {
            return;
        };
        let lower = [0, number / 2, number.saturating_sub(1)];
        let smaller = lower
            .into_iter()
            .filter(|lower| *lower < number)
            .find_map(|lower| {
                let mut candidate = schedule.clone();
                if let Some(number) = candidate.steps[at].numbers().nth(place) {
                    *number = lower;
                }
                fails(&candidate).then_some(candidate)
            });
        match smaller {
            Some(candidate) => *schedule = candidate,
            None => return,
        }
    }
}

#[test]
fn what_does_not_matter_is_removed() {
    let text = "k1 n3 | 0:do 17 | 1:heal | 2:pull 9 | 1:do 5 | 0:sync 1 | 2:take 1 1";
    let failing = |schedule: &Schedule| {
        let has = |name: &str| schedule.steps.iter().any(|step| step.verb.name() == name);
        let choice = schedule.steps.iter().map(|step| step.args[0]).max();
        has("pull") && choice >= Some(5)
    };
    let small = shrink(text.parse().unwrap(), failing);
    assert_eq!(small.to_string(), "k1 n1 | 0:pull 5");
}
