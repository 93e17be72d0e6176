//! Makes a failing schedule small.
//!
//! Steps are removed, replaced by plainer ones, and their numbers lowered; this needs no knowledge
//! of the type, because every sub-sequence of a schedule is a schedule. Source: Zeller, Hildebrandt
//! 2002, "Simplifying and isolating failure-inducing input" (halving chunks).

use super::schedule::Schedule;
use super::step::{Step, Verb};

/// At most this many runs are spent.
const RUNS_MAX: u64 = 200;

/// The smallest schedule found for which `fails` still holds, and how many runs it took; there are
/// no more of them once `is_late`.
pub(crate) fn shrink(
    mut schedule: Schedule,
    is_late: impl Fn() -> bool,
    mut fails: impl FnMut(&Schedule) -> bool,
) -> (Schedule, u64) {
    let mut runs = 0;
    let mut fails = |candidate: &Schedule| {
        if runs >= RUNS_MAX || is_late() {
            return false;
        }
        runs += 1;
        fails(candidate)
    };
    loop {
        let before = schedule.clone();
        delete(&mut schedule, &mut fails);
        simplify(&mut schedule, &mut fails);
        if schedule.steps.len() == before.steps.len() {
            lower(&mut schedule, &mut fails);
        }
        if schedule == before {
            return (schedule, runs);
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

/// Replaces letters by direct exchanges, which take one step instead of two.
fn simplify(schedule: &mut Schedule, fails: &mut impl FnMut(&Schedule) -> bool) {
    for at in (0..schedule.steps.len()).rev() {
        let Some(step) = schedule.steps.get(at).copied() else {
            continue;
        };
        let direct: &[Step] = match step.verb {
            Verb::Take | Verb::Again => &[
                Step::new(Verb::Merge, step.args[0], [step.at, 0]),
                Step::new(Verb::Sync, step.args[0], [step.at, 0]),
            ],
            Verb::Join => &[Step::new(Verb::Merge, step.at, [step.at + 1, 0])],
            _ => &[],
        };
        for plain in direct {
            let mut candidate = schedule.clone();
            candidate.steps[at] = *plain;
            if fails(&candidate) {
                *schedule = candidate;
                delete_one(schedule, at, fails);
                break;
            }
        }
    }
}

/// Deletes the last sending step before `at` that is not needed any more.
fn delete_one(schedule: &mut Schedule, at: usize, fails: &mut impl FnMut(&Schedule) -> bool) {
    let sends = |step: &Step| {
        matches!(
            step.verb,
            Verb::State | Verb::Bytes | Verb::Answer | Verb::Update | Verb::Group
        )
    };
    if let Some(place) = schedule.steps[..at].iter().rposition(sends) {
        let mut candidate = schedule.clone();
        candidate.steps.remove(place);
        if fails(&candidate) {
            *schedule = candidate;
        }
    }
}

/// Lowers the number of replicas and each number of each step.
fn lower(schedule: &mut Schedule, fails: &mut impl FnMut(&Schedule) -> bool) {
    for replicas in 1..schedule.replicas {
        let candidate = Schedule {
            replicas,
            ..schedule.clone()
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

/// The low digits of the choices of an operation are its first choices: those are kept longest.
const SPANS: [u32; 10] = [1, 2, 4, 6, 8, 12, 24, 48, 96, 4096];

fn lower_number(
    schedule: &mut Schedule,
    at: usize,
    place: usize,
    fails: &mut impl FnMut(&Schedule) -> bool,
) {
    let Some(number) = schedule.steps[at].numbers().nth(place).copied() else {
        return;
    };
    let mut tried = Vec::new();
    for span in SPANS {
        let lower = number % span;
        if lower >= number || tried.contains(&lower) {
            continue;
        }
        tried.push(lower);
        let mut candidate = schedule.clone();
        if let Some(number) = candidate.steps[at].numbers().nth(place) {
            *number = lower;
        }
        if fails(&candidate) {
            *schedule = candidate;
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_matter_is_removed() {
        let text = "k1 n3 | 0:do 17 | 1:heal | 2:pull 9 | 1:do 5 | 0~1 | 2:take 1 1";
        let failing = |schedule: &Schedule| {
            let has = |name: &str| schedule.steps.iter().any(|step| step.verb.name() == name);
            let choice = schedule.steps.iter().map(|step| step.args[0]).max();
            has("pull") && choice >= Some(5)
        };
        let (small, runs) = shrink(text.parse().unwrap(), || false, failing);
        assert_eq!(small.to_string(), "k1 n1 | 0:pull 9");
        assert!(runs <= RUNS_MAX);
    }

    #[test]
    fn nothing_is_tried_once_it_is_late() {
        let schedule: Schedule = "k1 n3 | 0:do 17 | 1:heal".parse().unwrap();
        let (same, runs) = shrink(schedule.clone(), || true, |_| true);
        assert_eq!((same, runs), (schedule, 0));
    }

    #[test]
    fn letters_become_direct_exchanges() {
        let text = "k1 n2 | 0:do 1 | 0:state | 1:take 0 0";
        let failing = |schedule: &Schedule| {
            let moves = |step: &Step| matches!(step.verb, Verb::Merge | Verb::Take);
            let sent = |step: &Step| step.verb == Verb::State;
            let steps = &schedule.steps;
            steps.iter().any(|step| step.verb == Verb::Do)
                && steps.iter().any(|step| step.verb == Verb::Merge)
                || steps.iter().any(moves) && steps.iter().any(sent)
        };
        let (small, _) = shrink(text.parse().unwrap(), || false, failing);
        assert!(small.steps.len() <= 2, "{small}");
    }
}
