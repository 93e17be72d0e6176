//! The laws for counters, in random systems of replicas.
#![cfg(feature = "testkit")]

mod suite;

use commute::{GCounter, PnCounter};

#[test]
fn g_counter_keeps_the_laws() {
    suite::laws::<GCounter>(300);
}

#[test]
fn pn_counter_keeps_the_laws() {
    suite::laws::<PnCounter>(300);
}

#[test]
fn the_schedules_of_counters_are_not_vacuous() {
    suite::nothing_is_vacuous::<PnCounter>();
}
