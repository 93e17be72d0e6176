//! The laws for the kernel's shapes by themselves, nested, and side by side in a struct.
#![cfg(feature = "testkit")]

mod suite;

use suite::board::Board;
use suite::registers::{Nested, Register, Registers, Tallies};

#[test]
fn a_register_keeps_the_laws() {
    suite::laws::<Register>(300);
}

#[test]
fn registers_under_keys_keep_the_laws() {
    suite::laws::<Registers>(600);
}

#[test]
fn increments_under_keys_keep_the_laws() {
    suite::laws::<Tallies>(300);
}

#[test]
fn keys_of_keys_keep_the_laws() {
    suite::laws::<Nested>(300);
}

#[test]
fn a_struct_of_two_fields_keeps_the_laws() {
    suite::laws::<Board>(600);
}

#[test]
fn the_schedules_of_a_struct_are_not_vacuous() {
    suite::nothing_is_vacuous::<Board>();
}
