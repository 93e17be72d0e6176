//! `List` of crdts 7.3.2, under the order of delivery that its trait `CmRDT` asks for: each
//! replica's operations in their order. A deletion that overtakes the insertion is lost.

use commute::ReplicaId;
use commute::interop::crdts_kit::{ApplyDriver, Applying, Driver};
use commute::testkit::{Capabilities, Delivery, Law, Random, Source};
use crdts::List;
use crdts::list::Op;

use super::assert_breaks;

#[derive(Debug)]
struct Fifo;

#[derive(Clone, Debug)]
enum Edit {
    Insert(usize, u64),
    Delete(usize),
}

impl Driver for Fifo {
    type Crdt = List<u64, ReplicaId>;
    type Op = Edit;
    type View = Vec<u64>;

    fn choose(list: &Self::Crdt, source: &mut Source<'_>) -> Option<Edit> {
        let len = list.len() as u64;
        Some(match len > 0 && source.below(2) == 1 {
            true => Edit::Delete(source.below(len) as usize),
            false => Edit::Insert(source.below(len + 1) as usize, source.unique()),
        })
    }

    fn view(list: &Self::Crdt) -> Vec<u64> {
        list.iter().copied().collect()
    }
}

impl ApplyDriver for Fifo {
    const NEEDS: Delivery = Delivery::Fifo;

    fn make(list: &Self::Crdt, me: ReplicaId, edit: &Edit) -> Option<Op<u64, ReplicaId>> {
        match *edit {
            Edit::Insert(at, value) => Some(list.insert_index(at, value, me)),
            Edit::Delete(at) => list.delete_index(at, me),
        }
    }
}

#[test]
fn a_deletion_that_comes_before_its_insertion_is_lost() {
    let can = Capabilities::<Applying<Fifo>>::new().operations();
    let report = Random::of(can).replicas(3).schedules(5_000).run();
    assert_breaks(&report, &[Law::O1, Law::S2, Law::S3]);
}

/// What the documentation of `List` itself asks for is enough.
#[derive(Debug)]
struct Causal;

impl Driver for Causal {
    type Crdt = List<u64, ReplicaId>;
    type Op = Edit;
    type View = Vec<u64>;

    fn choose(list: &Self::Crdt, source: &mut Source<'_>) -> Option<Edit> {
        Fifo::choose(list, source)
    }

    fn view(list: &Self::Crdt) -> Vec<u64> {
        Fifo::view(list)
    }
}

impl ApplyDriver for Causal {
    const NEEDS: Delivery = Delivery::Causal;

    fn make(list: &Self::Crdt, me: ReplicaId, edit: &Edit) -> Option<Op<u64, ReplicaId>> {
        Fifo::make(list, me, edit)
    }
}

#[test]
fn under_causal_delivery_it_is_clean() {
    let can = Capabilities::<Applying<Causal>>::new().operations();
    Random::of(can)
        .replicas(3)
        .schedules(1_000)
        .run()
        .unwrap_clean();
}
