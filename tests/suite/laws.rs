//! What every law suite runs.

use commute::Replica;
use commute::testkit::{Capabilities, Faults, Mark, Meaning, Random, Report, Verb};

/// All that a replica can do, and what it shows.
pub fn all<S: Meaning>() -> Capabilities<Replica<S>> {
    updates().delta()
}

/// The same with nothing in flight but states and single updates, which fit into groups more often.
fn updates<S: Meaning>() -> Capabilities<Replica<S>> {
    let can = Capabilities::new().state().operations();
    can.encoded().versioned().specified()
}

/// Checks all laws in that many random schedules.
pub fn laws<S: Meaning>(schedules: u64) {
    let _ = search::<S>(1, schedules);
}

fn search<S: Meaning>(seed: u64, schedules: u64) -> [Report; 2] {
    let schedules = setting("SCHEDULES").unwrap_or(schedules);
    let seed = setting("SEED").unwrap_or(seed);
    [all::<S>(), updates::<S>()].map(|can| {
        let report = Random::of(can).seed(seed).schedules(schedules / 2).run();
        report.unwrap_clean();
        report
    })
}

/// A number from the environment.
fn setting(name: &str) -> Option<u64> {
    std::env::var(format!("COMMUTE_KIT_{name}"))
        .ok()?
        .parse()
        .ok()
}

/// What must occur in so many schedules, or the laws prove nothing.
const MARKS: [Mark; 18] = [
    Mark::Done,
    Mark::Refused,
    Mark::Concurrent,
    Mark::Merged,
    Mark::Included,
    Mark::Duplicate,
    Mark::Waited,
    Mark::Woken,
    Mark::Mutual,
    Mark::ThirdParty,
    Mark::Lost,
    Mark::Split,
    Mark::Saved,
    Mark::Crashed,
    Mark::Restarted,
    Mark::Resumed,
    Mark::Forgot,
    Mark::Discarded,
];

/// Every fault that the schedules contain has an effect at times.
pub fn nothing_is_vacuous<S: Meaning>() {
    let reports = search::<S>(42, 4_000);
    for mark in MARKS {
        let count = |report: &Report| report.coverage().count(mark);
        let found = reports.iter().map(count).sum::<u64>() > 0;
        assert!(found, "never: {}\n{}", mark.text(), reports[0].coverage());
    }
}

/// Fifteen replicas with 200 updates each on average, of which some fail.
pub fn fifteen_replicas_with_200_operations_each<S: Meaning>() {
    use Verb::{
        Again, Answer, Crash, Do, Forget, Group, Lose, Merge, Pull, Restart, Resume, Save, State,
        Sync, Take, Update,
    };
    let verbs = [
        Do, Merge, Sync, Pull, State, Answer, Update, Group, Take, Again, Lose, Save, Crash,
        Restart, Resume, Forget,
    ];
    let search = |seed| {
        // That they become equal; what they show is judged in shorter schedules.
        let can = Capabilities::<Replica<S>>::new().delta().operations();
        let search = Random::of(can.encoded().versioned());
        let search = search.faults(Faults::only(&verbs));
        let search = search.replicas(15).steps(25_000).schedules(1);
        search.seed(seed).thoroughly_every(256)
    };
    // Not a schedule that leaves some of them out.
    let complete = |seed: &u64| {
        let schedule = search(*seed).schedule(0);
        let has = |verb| schedule.steps.iter().any(|step| step.verb == verb);
        schedule.replicas == 15 && verbs.into_iter().all(has)
    };
    let seed = (1..).find(complete).unwrap();
    let report = search(seed).run();
    report.unwrap_clean();
    let count = |mark| report.coverage().count(mark);
    let operations = count(Mark::Done) + count(Mark::Nothing);
    assert!(operations >= 15 * 200, "{operations}");
}
