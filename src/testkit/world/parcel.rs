//! What travels between replicas.

use std::rc::Rc;

use super::super::events::{Events, Log};
use super::super::fingerprint::Fingerprint;
use super::super::table::Erased;
use super::{Node, Via};
use crate::clock::ReplicaId;

/// What is sent.
pub(crate) enum Cargo {
    State(Rc<Node>),
    Bytes(Rc<Vec<u8>>, ReplicaId, Via),
    Delta(Erased),
    /// The messages of one operation, in order, or a group of several as one.
    Messages(Vec<Erased>),
}

/// What is sent, with the operations that it brings and those that must be there before.
pub(crate) struct Parcel {
    pub from: usize,
    pub cargo: Cargo,
    pub claims: Events,
    pub needs: Events,
    /// What may be asked for besides: all that the asker had. A type whose deltas need less may take
    /// one without it, one whose deltas need it may refuse it.
    pub base: Events,
    /// Who asked for it, if it is an answer.
    pub asked: Option<usize>,
    pub payload: &'static str,
}

impl Parcel {
    /// The same without the cargo, for the account of what waits.
    pub fn shallow(&self) -> Parcel {
        Parcel {
            from: self.from,
            cargo: Cargo::Messages(Vec::new()),
            claims: self.claims.clone(),
            needs: self.needs.clone(),
            base: self.base.clone(),
            asked: self.asked,
            payload: self.payload,
        }
    }

    /// By what it brings and needs, and by its kind.
    pub fn print(&self, log: &Log) -> u128 {
        let mut out = Fingerprint::new();
        out.bytes(self.payload.as_bytes());
        out.number(self.from as u64);
        out.nested(log.print(&self.claims));
        out.nested(log.print(&self.needs));
        match &self.cargo {
            Cargo::State(node) => node.subject.fingerprint(&mut out),
            Cargo::Bytes(bytes, ..) => out.bytes(bytes),
            Cargo::Delta(_) | Cargo::Messages(_) => {}
        }
        out.value()
    }
}
