//! The laws for `Text`, in random systems of replicas.

mod suite;
#[path = "kit_old/testkit/mod.rs"]
mod testkit;

use commute::Text;

#[test]
fn text_keeps_the_laws() {
    suite::laws::<Text>(400);
}

#[test]
fn the_schedules_of_text_are_not_vacuous() {
    suite::nothing_is_vacuous::<Text>();
}
