//! What a type can do, as a table of functions that the engines call.

use std::any::Any;
use std::rc::Rc;
use std::sync::Arc;

use super::erased::{DynOp, DynSubject, DynView};
use super::events::{Events, Log};
use super::golden::Golden;
use super::seen::Orders;
use super::subject::{Applied, Delivery, Gaps, Outcome, Rejected, Verdict};
use crate::clock::{Dot, Dots, ReplicaId, Version};

/// A delta, a message or a `seen`, whatever its type.
pub(crate) type Erased = Rc<dyn Any>;

/// All that the engines know of a type.
#[derive(Clone)]
pub(crate) struct Table {
    pub name: fn() -> String,
    pub make: fn(ReplicaId) -> DynSubject,
    pub state: Option<StateTable>,
    pub delta: Option<DeltaTable>,
    pub ops: Option<OpTable>,
    pub bytes: Option<BytesTable>,
    pub collect: Option<CollectTable>,
    pub version: Option<VersionTable>,
    pub golden: Arc<Golden>,
    pub spec: Option<Spec>,
}

impl Table {
    /// Whether the replicas can exchange anything.
    pub fn connects(&self) -> bool {
        self.state.is_some() || self.ops.is_some()
    }
}

/// Judges the view of a replica that has seen these operations.
pub(crate) type Spec =
    Arc<dyn Fn(&Log, &Events, &Orders, &DynView) -> Verdict + Send + Sync + 'static>;

#[derive(Clone, Copy)]
pub(crate) struct StateTable {
    pub merge: fn(&mut DynSubject, &DynSubject) -> Result<(), Rejected>,
    pub same: fn(&DynSubject, &DynSubject) -> bool,
}

#[derive(Clone, Copy)]
pub(crate) struct DeltaTable {
    pub gaps: Gaps,
    pub seen: fn(&DynSubject) -> Erased,
    pub since: fn(&DynSubject, &dyn Any) -> Erased,
    pub absorb: fn(&mut DynSubject, &dyn Any) -> Result<Applied, Rejected>,
    pub transmit: fn(&dyn Any) -> Result<Erased, Rejected>,
    pub group: fn(&dyn Any, &dyn Any) -> Option<Erased>,
    pub beyond: fn(&dyn Any, &dyn Any) -> Option<Erased>,
    pub bound: fn(&DynSubject, &dyn Any) -> Result<(), String>,
    pub debug: fn(&dyn Any) -> String,
}

#[derive(Clone, Copy)]
pub(crate) struct OpTable {
    pub needs: Delivery,
    pub duplicates: bool,
    pub detects: bool,
    pub produce: fn(&mut DynSubject, &DynOp) -> (Outcome, Vec<Erased>),
    pub outbox: fn(&mut DynSubject) -> Vec<Erased>,
    pub receive: fn(&mut DynSubject, &dyn Any) -> Result<Applied, Rejected>,
    pub transmit: fn(&dyn Any) -> Result<Erased, Rejected>,
    pub group: fn(&dyn Any, &dyn Any) -> Option<Erased>,
    pub debug: fn(&dyn Any) -> String,
}

#[derive(Clone, Copy)]
pub(crate) struct BytesTable {
    pub keeps_waiting: bool,
    pub encode: fn(&DynSubject) -> Vec<u8>,
    pub decode: fn(&[u8], ReplicaId) -> Result<DynSubject, Rejected>,
    pub save: fn(&DynSubject) -> Vec<u8>,
    pub resume: fn(&[u8], ReplicaId) -> Result<DynSubject, Rejected>,
}

#[derive(Clone, Copy)]
pub(crate) struct CollectTable {
    pub collect: fn(&mut DynSubject, &Version) -> Result<(), Rejected>,
    pub size_max: fn(&DynSubject, usize) -> usize,
}

#[derive(Clone, Copy)]
pub(crate) struct VersionTable {
    pub included: fn(&DynSubject) -> Dots,
    pub heads: fn(&DynSubject) -> Dots,
    pub last_update: fn(&DynSubject) -> Option<Dot>,
    pub waiting: fn(&DynSubject) -> usize,
    pub missing: fn(&DynSubject) -> Dots,
    pub drop_waiting: fn(&mut DynSubject),
    pub drop_records: fn(&mut DynSubject),
}
