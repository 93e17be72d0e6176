//! `Orswot` of crdts 7.3.2, by merge: clean.

use std::collections::BTreeSet;

use commute::ReplicaId;
use commute::interop::crdts_kit::{
    ApplyDriver, Driver, MergeDriver, Merging, SpecifiedDriver, apply_made,
};
use commute::testkit::spec::{self, SetOp};
use commute::testkit::{
    Capabilities, Delivery, Fingerprint, Outcome, Random, Seen, Source, Verdict,
};
use crdts::Orswot;
use crdts::orswot::Op;

use super::choose_set_op;

type Set = Orswot<u8, ReplicaId>;

#[derive(Debug)]
struct Elements;

impl Driver for Elements {
    type Crdt = Set;
    type Op = SetOp<u8>;
    type View = BTreeSet<u8>;

    fn choose(_: &Set, source: &mut Source<'_>) -> Option<SetOp<u8>> {
        Some(choose_set_op(source))
    }

    fn view(set: &Set) -> BTreeSet<u8> {
        set.read().val.into_iter().collect()
    }

    /// In one order; by merge nothing is ever deferred.
    fn fingerprint(set: &Set, out: &mut Fingerprint) {
        let clocks = set.iter().map(|entry| (*entry.val, entry.rm_clock));
        let clocks: std::collections::BTreeMap<u8, _> = clocks.collect();
        out.debug(&(clocks, set.clock()));
    }
}

impl ApplyDriver for Elements {
    const NEEDS: Delivery = Delivery::Causal;

    fn make(set: &Set, me: ReplicaId, op: &SetOp<u8>) -> Option<Op<u8, ReplicaId>> {
        match *op {
            SetOp::Insert(element) => Some(set.add(element, set.read_ctx().derive_add_ctx(me))),
            SetOp::Remove(element) => {
                let read = set.contains(&element);
                read.val.then(|| set.rm(element, read.derive_rm_ctx()))
            }
            SetOp::Clear => None,
        }
    }
}

impl MergeDriver for Elements {
    const VALIDATES: bool = true;

    fn perform(set: &mut Set, me: ReplicaId, op: &SetOp<u8>) -> Outcome {
        apply_made::<Elements>(set, me, op)
    }
}

impl SpecifiedDriver for Elements {
    fn check(seen: &Seen<'_, SetOp<u8>>, got: &BTreeSet<u8>) -> Verdict {
        spec::add_wins(seen, got)
    }
}

#[test]
fn it_is_clean() {
    let can = Capabilities::<Merging<Elements>>::new().state().specified();
    Random::of(can)
        .replicas(3)
        .schedules(3_000)
        .run()
        .unwrap_clean();
}
