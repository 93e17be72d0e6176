//! The laws for counters, in random systems of replicas.
#![cfg(feature = "testkit")]

mod suite;

use commute::{GCounter, PnCounter, Replica, ReplicaId};

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

#[test]
fn counters_print_their_value() {
    let mut up = Replica::<GCounter>::new(ReplicaId::from(1));
    up.edit(|count| count.add(12)).unwrap();
    assert_eq!(up.to_string(), "12");
    let mut both = Replica::<PnCounter>::new(ReplicaId::from(1));
    both.edit(|count| count.subtract(34)).unwrap();
    assert_eq!(format!("{:>5}", **both), "  -34");
}
