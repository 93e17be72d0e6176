//! `GCounter` of crdts 7.3.2, by operations and by merge: clean.

use commute::ReplicaId;
use commute::interop::crdts_kit::{ApplyDriver, Applying, Driver, SpecifiedDriver};
use commute::testkit::{Capabilities, Delivery, Random, Seen, Source, Verdict, spec};
use crdts::{Dot, GCounter};

#[derive(Debug)]
struct Steps;

impl Driver for Steps {
    type Crdt = GCounter<ReplicaId>;
    type Op = u64;
    type View = u64;

    fn choose(_: &Self::Crdt, source: &mut Source<'_>) -> Option<u64> {
        Some(1 + source.below(3))
    }

    fn view(counter: &Self::Crdt) -> u64 {
        u64::try_from(counter.read()).unwrap()
    }
}

impl ApplyDriver for Steps {
    const NEEDS: Delivery = Delivery::Fifo;

    fn make(counter: &Self::Crdt, me: ReplicaId, steps: &u64) -> Option<Dot<ReplicaId>> {
        Some(counter.inc_many(me, *steps))
    }
}

impl SpecifiedDriver for Steps {
    fn check(seen: &Seen<'_, u64>, got: &u64) -> Verdict {
        spec::sum(seen, got)
    }
}

#[test]
fn it_is_clean() {
    let can = Capabilities::<Applying<Steps>>::new()
        .operations()
        .state()
        .specified();
    Random::of(can)
        .replicas(3)
        .schedules(3_000)
        .run()
        .unwrap_clean();
}
