//! The laws for `Text`, in random systems of replicas.
#![cfg(feature = "testkit")]

mod suite;

use commute::Text;

#[test]
fn text_keeps_the_laws() {
    suite::laws::<Text>(400);
}

#[test]
fn the_schedules_of_text_are_not_vacuous() {
    suite::nothing_is_vacuous::<Text>();
}
