//! The laws for `OrSet`, in random systems of replicas.
#![cfg(feature = "testkit")]

mod suite;

use commute::testkit::{Mark, Random};
use commute::{OrSet, Replica};

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

/// Groups with gaps that fit into each other, in both orders.
#[test]
fn groups_that_need_each_other_are_found_by_the_kit() {
    let text = "k1 n3 | 0:do 0 | 0:do 0 | 0:do 0 | 0:do 0 | 0:group 0 | 0:group 4 \
                | 1:again 0 0 | 1:again 0 1 | 2:again 0 1 | 2:again 0 0";
    let search = Random::new::<Replica<OrSet<u8>>>().operations().versioned();
    let report = search.replay(text.parse().unwrap());
    report.unwrap_clean();
    let coverage = report.coverage();
    assert_eq!(coverage.count(Mark::Mutual), 2, "{coverage}");
}
