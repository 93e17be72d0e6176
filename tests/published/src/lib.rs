//! The convergence kit on published crates: what it finds in them, and what it finds clean.
//!
//! One file for each type: an adapter of a few lines, and a test that names the law which breaks
//! and prints the shrunk diagram.
#![cfg(test)]

mod abyo_counter;
mod atomr_or_set;
mod crdt_kit_or_set;
mod crdts_g_counter;
mod crdts_list;
mod crdts_map;
mod crdts_orswot;

use commute::ReplicaId;
use commute::testkit::{Law, Report, Source, spec::SetOp};

/// Prints the first failure, which must break one of `laws`.
#[track_caller]
fn assert_breaks(report: &Report, laws: &[Law]) {
    let Some(failure) = report.failures().first() else {
        panic!("nothing was found: {report}");
    };
    println!("{failure}");
    let law = failure.broken.law;
    assert!(laws.contains(&law), "broken is {law}");
}

/// An id as a type with 64-bit ids takes it.
fn short(id: ReplicaId) -> u64 {
    u128::from(id) as u64
}

/// Inserts and removes two elements.
fn choose_set_op(source: &mut Source<'_>) -> SetOp<u8> {
    let element = source.below(2) as u8;
    match source.below(2) {
        0 => SetOp::Insert(element),
        _ => SetOp::Remove(element),
    }
}
