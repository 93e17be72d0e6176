//! The laws for `OrSet`, in random systems of replicas.

mod suite;
#[path = "../src/testkit/mod.rs"]
mod testkit;

use commute::OrSet;

#[test]
fn or_set_keeps_the_laws() {
    suite::laws::<OrSet<u8>>(600);
}

#[test]
fn the_schedules_of_or_set_are_not_vacuous() {
    suite::nothing_is_vacuous::<OrSet<u8>>();
}

#[test]
fn row_55_fifteen_replicas_of_or_set_with_200_operations_each_become_equal() {
    suite::fifteen_replicas_with_200_operations_each::<OrSet<u8>>();
}
