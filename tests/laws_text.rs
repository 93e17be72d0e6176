//! The laws for `Text`, in random systems of replicas.
#![cfg(feature = "testkit")]

mod suite;

use commute::testkit::{Capabilities, Random};
use commute::{Replica, Text};

#[test]
fn text_keeps_the_laws() {
    suite::laws::<Text>(400);
}

#[test]
fn the_schedules_of_text_are_not_vacuous() {
    suite::nothing_is_vacuous::<Text>();
}

/// Replicas under one id: the state of one of them deletes what the other has never had, and the
/// records that tell them apart are dropped. It is refused, not taken half.
#[test]
fn a_state_whose_past_is_another_one_is_refused() {
    let text = "k1 n3 | 0:clone 1 | 1:do 35 | 1:do 4 | 0:do 0 | 1:forget";
    let can = Capabilities::<Replica<Text>>::new().state().operations();
    let search = Random::of(can.encoded().versioned().specified());
    search.replay(text.parse().unwrap()).unwrap_clean();
}
