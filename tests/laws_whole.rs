//! The laws for a derived struct of text, counter and set, in random systems of replicas.
#![cfg(feature = "derive")]

mod suite;
#[path = "kit_old/testkit/mod.rs"]
mod testkit;

use suite::whole::Whole;

#[test]
fn a_derived_struct_keeps_the_laws() {
    suite::laws::<Whole>(300);
}
