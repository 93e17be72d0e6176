//! What every law suite runs.

use commute::Replica;
use commute::testkit::{Capabilities, Mark, Meaning, Random, Report};

/// All that a replica can do, and what it shows.
pub fn all<S: Meaning>() -> Capabilities<Replica<S>> {
    let can = Capabilities::new().delta().operations();
    can.encoded().versioned().specified()
}

/// Checks all laws in that many random schedules.
pub fn laws<S: Meaning>(schedules: u64) {
    let report = Random::of(all::<S>()).schedules(schedules).run();
    report.unwrap_clean();
}

/// What must occur in six hundred schedules, or the laws prove nothing.
const MARKS: [Mark; 19] = [
    Mark::Done,
    Mark::Nothing,
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
    let report = Random::of(all::<S>()).seed(42).schedules(600).run();
    report.unwrap_clean();
    for mark in MARKS {
        let coverage = report.coverage();
        assert!(
            coverage.count(mark) > 0,
            "never: {}\n{coverage}",
            mark.text()
        );
    }
}

/// Fifteen replicas with 200 updates each on average.
pub fn fifteen_replicas_with_200_operations_each<S: Meaning>() {
    let report: Report = Random::of(all::<S>())
        .replicas(15)
        .steps(14_000)
        .schedules(1)
        .run();
    report.unwrap_clean();
    let done = report.coverage().count(Mark::Done);
    assert!(done >= 15 * 200, "{done}");
}
