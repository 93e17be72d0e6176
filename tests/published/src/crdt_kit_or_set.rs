//! `ORSet` of crdt-kit 0.5.1: compaction, "safe to call at any time", drops what holds removed
//! elements back, and the merge with an older state brings them back.

use std::collections::BTreeSet;

use commute::testkit::spec::{self, SetOp};
use commute::testkit::{
    Capabilities, Collecting, Law, Outcome, Random, Rejected, Seen, Source, Specified, StateBased,
    Subject, Verdict,
};
use commute::{ReplicaId, Version};
use crdt_kit::{Crdt, ORSet};

use super::{assert_breaks, choose_set_op, short};

#[derive(Debug)]
struct Set(ORSet<u8>);

impl Subject for Set {
    type Op = SetOp<u8>;
    type View = BTreeSet<u8>;

    fn new(replica: ReplicaId) -> Set {
        Set(ORSet::new(short(replica)))
    }

    fn duplicate(&self) -> Set {
        Set(self.0.clone())
    }

    fn choose(&self, source: &mut Source<'_>) -> Option<SetOp<u8>> {
        Some(choose_set_op(source))
    }

    fn perform(&mut self, op: &SetOp<u8>) -> Outcome {
        match op {
            SetOp::Insert(element) => self.0.insert(*element),
            SetOp::Remove(element) if self.0.remove(element) => {}
            _ => return Outcome::Nothing,
        }
        Outcome::Done
    }

    fn view(&self) -> BTreeSet<u8> {
        self.0.iter().copied().collect()
    }
}

impl StateBased for Set {
    fn merge(&mut self, other: &Set) -> Result<(), Rejected> {
        self.0.merge(&other.0);
        Ok(())
    }

    /// All but the own id and the own counter, which `==` of the type includes.
    fn same_state(&self, other: &Set) -> bool {
        let nothing = |a: &Set, b: &Set| {
            let delta = crdt_kit::DeltaCrdt::delta(&a.0, &b.0);
            delta == crdt_kit::DeltaCrdt::delta(&a.0, &a.0)
        };
        nothing(self, other) && nothing(other, self)
    }
}

impl Collecting for Set {
    fn collect(&mut self, _: &Version) -> Result<(), Rejected> {
        self.0.compact_tombstones();
        Ok(())
    }
}

impl Specified for Set {
    fn check(seen: &Seen<'_, SetOp<u8>>, got: &BTreeSet<u8>) -> Verdict {
        spec::add_wins(seen, got)
    }
}

#[test]
fn what_was_removed_comes_back_after_compaction() {
    let can = Capabilities::<Set>::new().state().collecting().specified();
    let report = Random::of(can).replicas(2).schedules(5_000).run();
    assert_breaks(&report, &[Law::G2, Law::S1, Law::S2, Law::J5, Law::J7]);
}

#[test]
fn without_compaction_it_is_clean() {
    let can = Capabilities::<Set>::new().state().specified();
    Random::of(can)
        .replicas(3)
        .schedules(2_000)
        .run()
        .unwrap_clean();
}
