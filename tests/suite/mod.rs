//! What every law suite runs, and the types under test.
#![allow(clippy::unwrap_used, reason = "a test stops where it fails")]
#![allow(
    dead_code,
    unreachable_pub,
    reason = "each test file uses a part of it"
)]

pub mod board;
pub mod counters;
pub mod forward;
pub mod or_set;
pub mod registers;
pub mod text;
#[cfg(feature = "derive")]
pub mod whole;

use quickcheck::{Arbitrary, Gen, QuickCheck};

use crate::testkit::{self, Effort, Marks, Rng, Schedule, Shape, Subject};

/// The seed of one schedule; quickcheck supplies it and the number of cases, nothing else.
#[derive(Clone, Copy, Debug)]
struct Seed(u64);

impl Arbitrary for Seed {
    fn arbitrary(g: &mut Gen) -> Seed {
        Seed(Rng::new(u64::arbitrary(g)).next() ^ u64::arbitrary(g))
    }
}

fn holds<S: Subject>(seed: Seed) -> bool {
    let _ = testkit::check::<S>(seed.0, Shape::of(seed.0));
    true
}

/// Checks all laws in `cases` random schedules.
///
/// The seeds are the same in every run unless `COMMUTE_KIT_SEED` says otherwise;
/// `COMMUTE_KIT_CASES` sets their number.
pub fn laws<S: Subject>(cases: u64) {
    let cases = testkit::cases(cases);
    let seed = std::env::var("COMMUTE_KIT_SEED").ok();
    let seed = seed.and_then(|text| text.parse().ok()).unwrap_or(1);
    QuickCheck::new()
        .rng(Gen::from_size_and_seed(64, seed))
        .tests(cases)
        .max_tests(cases)
        .quickcheck(holds::<S> as fn(Seed) -> bool);
}

/// What must occur in six hundred schedules, or the laws prove nothing.
const MARKS: [&str; 13] = [
    "update",
    "failed update",
    "duplicate",
    "delta taken",
    "delta that waits",
    "waiting deltas woken",
    "deltas that needed each other",
    "answer taken by a third party",
    "concurrent heads",
    "crash that lost something",
    "resumed with something waiting",
    "waiting deltas dropped",
    "cut delta",
];

/// Every fault that the schedules contain has an effect at times.
pub fn nothing_is_vacuous<S: Subject>() {
    let mut rng = Rng::new(42);
    let mut marks = Marks::new();
    let effort = Effort { every: 1, draws: 0 };
    for _ in 0..600 {
        let schedule = Schedule::random(rng.next(), Shape::of(1));
        for (mark, count) in testkit::run::<S>(&schedule, effort).unwrap_or_default() {
            *marks.entry(mark).or_default() += count;
        }
    }
    for mark in MARKS {
        assert!(marks.contains_key(mark), "never: {mark}; {marks:?}");
    }
}

/// Fifteen replicas with 200 updates each on average.
pub fn fifteen_replicas_with_200_operations_each<S: Subject>() {
    let shape = Shape {
        replicas: 15,
        steps: 14_000,
    };
    // Not a swarm, so that every replica takes part.
    let uniform = |schedule: &Schedule| schedule.replicas == 15 && schedule.steps.len() > 12_500;
    let schedules = (0..).map(|seed| Schedule::random(seed, shape));
    let mut found = schedules.filter(uniform).filter(is_uniform);
    let Some(mut schedule) = found.next() else {
        unreachable!("seeds do not run out");
    };
    // Rare enough that histories grow long, and a partition that lasts does not hide the rest.
    let mut rng = Rng::new(15);
    schedule.steps.retain(|step| match step.verb.name() {
        "crash" | "split" => rng.below(20) == 0,
        "save" | "heal" | "do" | "pull" | "take" => true,
        _ => rng.below(4) == 0,
    });
    let effort = Effort {
        every: 64,
        draws: 1,
    };
    let marks = testkit::run::<S>(&schedule, effort).unwrap_or_else(|failure| {
        panic!(
            "{} after step {}: {}",
            failure.broken.law, failure.step, failure.broken.what
        )
    });
    let operations = marks["update"] + marks["update without effect"];
    assert!(operations >= 15 * 200, "{marks:?}");
}

/// Whether the rarest verbs occur, so that it is no swarm.
fn is_uniform(schedule: &Schedule) -> bool {
    let has = |name: &str| schedule.steps.iter().any(|step| step.verb.name() == name);
    ["state", "crash", "heal", "lose", "save", "discard"]
        .iter()
        .all(|name| has(name))
}
