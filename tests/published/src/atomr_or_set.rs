//! `OrSet` of atomr-distributed-data 0.10.1: tags are counted by each replica alone, so a removal
//! takes another replica's addition with it.

use std::collections::BTreeSet;
use std::fmt;

use atomr_distributed_data::{CrdtMerge, OrSet};
use commute::ReplicaId;
use commute::testkit::spec::{self, SetOp};
use commute::testkit::{
    Capabilities, Law, Outcome, Random, Rejected, Seen, Source, Specified, StateBased, Subject,
    Verdict,
};
use serde_json::Value;

use super::{assert_breaks, choose_set_op};

struct Set(OrSet<u8>);

impl Set {
    /// All of it, in one order.
    fn content(&self) -> Value {
        let mut content = serde_json::to_value(&self.0).unwrap();
        for field in ["adds", "removes"] {
            for tags in content[field].as_object_mut().unwrap().values_mut() {
                let tags = tags.as_array_mut().unwrap();
                tags.sort_by_key(Value::as_u64);
            }
        }
        content
    }
}

impl fmt::Debug for Set {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.content())
    }
}

impl Subject for Set {
    type Op = SetOp<u8>;
    type View = BTreeSet<u8>;

    fn new(_: ReplicaId) -> Set {
        Set(OrSet::new())
    }

    fn duplicate(&self) -> Set {
        Set(self.0.clone())
    }

    fn choose(&self, source: &mut Source<'_>) -> Option<SetOp<u8>> {
        Some(choose_set_op(source))
    }

    fn perform(&mut self, op: &SetOp<u8>) -> Outcome {
        match op {
            SetOp::Insert(element) => self.0.add(*element),
            SetOp::Remove(element) if self.0.contains(element) => self.0.remove(element),
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

    fn same_state(&self, other: &Set) -> bool {
        self.content() == other.content()
    }
}

impl Specified for Set {
    fn check(seen: &Seen<'_, SetOp<u8>>, got: &BTreeSet<u8>) -> Verdict {
        spec::add_wins(seen, got)
    }
}

#[test]
fn a_removal_takes_an_addition_that_it_has_not_seen() {
    let can = Capabilities::<Set>::new().state().specified();
    let report = Random::of(can).replicas(2).schedules(5_000).run();
    assert_breaks(&report, &[Law::S1, Law::S2]);
}
