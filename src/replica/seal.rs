//! Seals: a rolling hash over the content of each replica's updates.
//!
//! Two replicas that edit under one id give different updates the same name. Where both versions
//! agree and the live entries happen to agree too, only the seals still differ; so they are part of
//! the state bytes, and every update carries the seal before it.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use twox_hash::XxHash3_64;

use crate::clock::{Dot, Dots, Names};
use crate::codec::Encoder;
use crate::kernel::Part;

/// The seal of a replica that has made no update.
pub(crate) const FIRST: u64 = 0;

/// The seal after the update `dot`, which follows `before` and has seen `after`.
pub(crate) fn next<P: Part>(before: u64, dot: Dot, after: &Dots, part: &P, killed: &Names) -> u64 {
    let mut bytes = Vec::with_capacity(128);
    bytes.extend_from_slice(&before.to_le_bytes());
    bytes.extend_from_slice(&dot.counter.to_le_bytes());
    // Twins that differ in what they had seen would have other heads, so other bytes.
    bytes.extend_from_slice(&(after.ranges().count() as u64).to_le_bytes());
    for (replica, first, last) in after.ranges() {
        bytes.extend_from_slice(&replica.to_bytes());
        bytes.extend_from_slice(&first.to_le_bytes());
        bytes.extend_from_slice(&last.to_le_bytes());
    }
    part.content(&mut bytes);
    if !killed.is_empty() {
        let table: BTreeSet<_> = killed.replicas().collect();
        let mut encoder = Encoder::new(table.into_iter().collect());
        encoder.table();
        encoder.names(killed);
        bytes.extend_from_slice(&encoder.into_bytes());
    }
    XxHash3_64::oneshot(&bytes)
}

/// The seals of one replica around a stretch of its updates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct SealSpan {
    /// Before the first update, if known.
    pub(crate) before: Option<u64>,
    /// After the last update.
    pub(crate) after: u64,
}
