//! `Map<_, PNCounter>` of crdts 7.3.2: removing a key resets its counter by the map's clock, while
//! the counter counts steps, so that operations and merges give different values.

use std::collections::BTreeMap;

use commute::ReplicaId;
use commute::interop::crdts_kit::{ApplyDriver, Applying, Driver};
use commute::testkit::{Capabilities, Delivery, Law, Random, Source};
use crdts::map::Op;
use crdts::{Map, PNCounter};

use super::assert_breaks;

type Counters = Map<u8, PNCounter<ReplicaId>, ReplicaId>;

#[derive(Debug)]
struct Tallies;

#[derive(Clone, Debug)]
enum Edit {
    Add(u8, u64),
    Remove(u8),
}

impl Driver for Tallies {
    type Crdt = Counters;
    type Op = Edit;
    type View = BTreeMap<u8, i64>;

    fn choose(_: &Counters, source: &mut Source<'_>) -> Option<Edit> {
        Some(match source.below(3) {
            0 => Edit::Add(0, 1),
            1 => Edit::Add(0, 3),
            _ => Edit::Remove(0),
        })
    }

    fn view(map: &Counters) -> BTreeMap<u8, i64> {
        let each = map.iter().map(|entry| {
            let (key, counter) = entry.val;
            (*key, i64::try_from(counter.read()).unwrap())
        });
        each.collect()
    }
}

impl ApplyDriver for Tallies {
    const NEEDS: Delivery = Delivery::Causal;

    fn make(
        map: &Counters,
        me: ReplicaId,
        edit: &Edit,
    ) -> Option<Op<u8, PNCounter<ReplicaId>, ReplicaId>> {
        match *edit {
            Edit::Add(key, amount) => {
                let context = map.read_ctx().derive_add_ctx(me);
                Some(map.update(key, context, |counter, _| counter.inc_many(me, amount)))
            }
            Edit::Remove(key) => {
                let read = map.get(&key);
                read.val.as_ref()?;
                Some(map.rm(key, read.derive_rm_ctx()))
            }
        }
    }
}

#[test]
fn a_removed_counter_comes_back_with_another_value() {
    let can = Capabilities::<Applying<Tallies>>::new().operations();
    let report = Random::of(can).replicas(2).schedules(5_000).run();
    assert_breaks(&report, &[Law::O1, Law::S2, Law::S3]);
}

#[test]
fn operations_and_merges_disagree() {
    let can = Capabilities::<Applying<Tallies>>::new()
        .operations()
        .state();
    let report = Random::of(can).replicas(2).schedules(5_000).run();
    assert_breaks(
        &report,
        &[
            Law::O1,
            Law::O2,
            Law::S2,
            Law::S3,
            Law::J2,
            Law::J5,
            Law::J7,
        ],
    );
}
