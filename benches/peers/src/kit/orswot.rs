//! `crdts::Orswot` as a subject of the kit, by merging.

use std::collections::BTreeSet;

use commute::ReplicaId;
use commute::testkit::spec::{self, SetOp};
use commute::testkit::{Outcome, Rejected, Seen, Source, Specified, StateBased, Subject, Verdict};
use crdts::{CmRDT, CvRDT, Orswot};

/// A replica of `Orswot` with the actor it edits as.
#[derive(Clone, Debug)]
pub struct Peer {
    me: u64,
    set: Orswot<u8, u64>,
}

impl Subject for Peer {
    type Op = SetOp<u8>;
    type View = BTreeSet<u8>;

    fn new(replica: ReplicaId) -> Peer {
        Peer {
            me: u128::from(replica) as u64,
            set: Orswot::new(),
        }
    }

    fn duplicate(&self) -> Peer {
        self.clone()
    }

    fn choose(&self, source: &mut Source<'_>) -> Option<SetOp<u8>> {
        let kind = source.below(8);
        let value = source.below(2) as u8;
        Some(match kind {
            0..4 => SetOp::Insert(value),
            4..7 => SetOp::Remove(value),
            _ => SetOp::Clear,
        })
    }

    fn perform(&mut self, op: &SetOp<u8>) -> Outcome {
        match op {
            SetOp::Insert(value) => {
                let context = self.set.read_ctx().derive_add_ctx(self.me);
                self.set.apply(self.set.add(*value, context));
            }
            SetOp::Remove(value) => {
                let read = self.set.contains(value);
                if !read.val {
                    return Outcome::Nothing;
                }
                self.set.apply(self.set.rm(*value, read.derive_rm_ctx()));
            }
            SetOp::Clear => {
                let read = self.set.read();
                if read.val.is_empty() {
                    return Outcome::Nothing;
                }
                let all: Vec<u8> = read.val.iter().copied().collect();
                self.set.apply(self.set.rm_all(all, read.derive_rm_ctx()));
            }
        }
        Outcome::Done
    }

    fn view(&self) -> BTreeSet<u8> {
        self.set.read().val.into_iter().collect()
    }
}

impl StateBased for Peer {
    fn merge(&mut self, other: &Peer) -> Result<(), Rejected> {
        self.set.merge(other.set.clone());
        Ok(())
    }

    fn same_state(&self, other: &Peer) -> bool {
        self.set == other.set
    }
}

impl Specified for Peer {
    fn check(seen: &Seen<'_, SetOp<u8>>, got: &BTreeSet<u8>) -> Verdict {
        spec::add_wins(seen, got)
    }
}
