//! The laws for lists, remove-wins maps and values without a schema, in random systems of replicas.
#![cfg(feature = "testkit")]

mod suite;

use commute::{List, PnCounter, RwMap, Value};

#[test]
fn lists_keep_the_laws() {
    suite::laws::<List<u64>>(400);
}

#[test]
fn remove_wins_maps_keep_the_laws() {
    suite::laws::<RwMap<u8, PnCounter>>(400);
}

#[test]
fn values_keep_the_laws() {
    suite::laws::<Value>(400);
}
