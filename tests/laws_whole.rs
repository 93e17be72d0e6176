//! The laws for a derived struct of text, counter and set, in random systems of replicas.
#![cfg(all(feature = "derive", feature = "testkit"))]

mod suite;

use suite::whole::Whole;

#[test]
fn a_derived_struct_keeps_the_laws() {
    suite::laws::<Whole>(300);
}
