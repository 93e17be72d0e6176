//! What travels between replicas.

use std::rc::Rc;

use super::super::capabilities::Erased;
use super::super::events::{Events, Log};
use super::super::fingerprint::Fingerprint;
use super::super::subject::Subject;
use super::{Node, Via};
use crate::clock::ReplicaId;

/// What is sent.
pub(crate) enum Cargo<T: Subject> {
    State(Rc<Node<T>>),
    Bytes(Rc<Vec<u8>>, ReplicaId, Via),
    Delta(Erased),
    /// The messages of one operation, in order, or a group of several as one.
    Messages(Vec<Erased>),
}

/// What is sent, with the operations that it brings and those that must be there before.
pub(crate) struct Parcel<T: Subject> {
    pub from: usize,
    pub cargo: Cargo<T>,
    pub claims: Events,
    pub needs: Events,
    /// Who asked for it, if it is an answer.
    pub asked: Option<usize>,
    pub payload: &'static str,
}

impl<T: Subject> Parcel<T> {
    /// The same without the cargo, for the account of what waits.
    pub fn shallow(&self) -> Parcel<T> {
        Parcel {
            from: self.from,
            cargo: Cargo::Messages(Vec::new()),
            claims: self.claims.clone(),
            needs: self.needs.clone(),
            asked: self.asked,
            payload: self.payload,
        }
    }

    /// By what it brings and needs, and by its kind.
    pub fn print(&self, log: &Log<T::Op>) -> u128 {
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
