//! How fast the kit searches; `benches/marks kit` runs it.
//!
//! Rates are taken in turns, several rounds, and the best of each counts, so that a busy machine
//! disturbs all of them alike.

use std::process::ExitCode;
use std::time::Instant;

use commute::testkit::{Capabilities, Explore, Random, Subject};
use commute::{OrSet, Replica};
use commute_peers::marks::Marks;

#[allow(dead_code)]
#[path = "../../../../tests/zoo/bytes.rs"]
mod bytes;
#[allow(dead_code)]
#[path = "../../../../tests/zoo/dotted.rs"]
mod dotted;
#[allow(dead_code)]
#[path = "../../../../tests/zoo/entry.rs"]
mod entry;
#[allow(dead_code)]
#[path = "../../../../tests/zoo/faults.rs"]
mod faults;
#[allow(dead_code)]
#[path = "../../../../tests/zoo/meaning.rs"]
mod meaning;
#[path = "../kit/orswot.rs"]
mod orswot;
#[allow(dead_code)]
#[path = "../../../../tests/zoo/registers.rs"]
mod registers;
#[allow(dead_code)]
#[path = "../../../../tests/zoo/sets.rs"]
mod sets;

/// Random schedules of 40 steps on 3 replicas with all faults, per second.
fn schedules<T: Subject>(can: &Capabilities<T>, count: u64) -> f64 {
    let start = Instant::now();
    let report = Random::of(can.clone()).schedules(count).run();
    report.unwrap_clean();
    count as f64 / start.elapsed().as_secs_f64()
}

/// States of an exhaustive search of 3 replicas and one element, per second.
fn states(depth: usize) -> f64 {
    let can = Capabilities::<sets::Set<1>>::new().state().specified();
    let start = Instant::now();
    let report = Explore::of(can).replicas(3).steps(depth).run();
    report.unwrap_clean();
    report.states() as f64 / start.elapsed().as_secs_f64()
}

fn kit(quick: bool) -> Marks {
    let (rounds, count, depth) = if quick { (2, 1_000, 6) } else { (5, 4_000, 7) };
    let orswot = Capabilities::<orswot::Peer>::new().state().specified();
    let or_set = Capabilities::<Replica<OrSet<u8>>>::new()
        .delta()
        .operations();
    let or_set = or_set.encoded().versioned().specified();
    let or_set_state = Capabilities::<Replica<OrSet<u8>>>::new()
        .state()
        .specified();
    let lean = Capabilities::<sets::Set<2>>::new().state().specified();
    let lww = Capabilities::<registers::Lww>::new().state().specified();
    let mut best = [0.0_f64; 6];
    for _ in 0..rounds {
        let rates = [
            schedules(&orswot, count),
            schedules(&or_set, count),
            schedules(&or_set_state, count),
            schedules(&lean, count),
            schedules(&lww, 4 * count),
            states(depth),
        ];
        best.iter_mut()
            .zip(rates)
            .for_each(|(best, rate)| *best = best.max(rate));
    }
    let [orswot, or_set, or_set_state, lean, lww, states] = best;
    let mut marks = Marks::default();
    marks.at_least("kit.or_set.schedules_per_orswot", or_set / orswot, 2.0);
    marks.info(
        "kit.or_set_by_state.schedules_per_orswot",
        or_set_state / orswot,
    );
    marks.info("kit.or_set_of_zoo.schedules_per_orswot", lean / orswot);
    marks.at_least("kit.lww.schedules_per_orswot", lww / orswot, 15.0);
    marks.at_least(
        "kit.explore.states_per_orswot_schedule",
        states / orswot,
        20.0,
    );
    // riak_dt's fault, both sides have the element: all its dots stay.
    let by_views = sets::both_sides_by_views();
    let found = if by_views.failures().is_empty() {
        f64::INFINITY
    } else {
        by_views.states() as f64
    };
    marks.at_most(
        "kit.both_sides.states_until_found_by_views",
        found,
        200_000.0,
    );
    marks
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let marks = kit(words.iter().any(|word| word == "--quick"));
    marks.exit_code()
}
