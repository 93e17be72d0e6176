//! `Counter` of abyo-crdt 0.4.0-alpha.1: what comes after a later one of the same replica is taken
//! for known and lost, without an error.

use abyo_crdt::{Counter, CounterOp};
use commute::ReplicaId;
use commute::testkit::{
    Applied, Capabilities, Delivery, Law, OpBased, Outcome, Random, Rejected, Seen, Source,
    Specified, Subject, Verdict, spec,
};

use super::{assert_breaks, short};

struct Count {
    counter: Counter,
    outbox: Vec<CounterOp>,
}

impl std::fmt::Debug for Count {
    /// Without the sums by replica, which stand in hash maps and follow from the log.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Count { counter, outbox } = self;
        let id = counter.replica_id();
        write!(f, "{id} {:?} {outbox:?}", counter.ops())
    }
}

impl Subject for Count {
    type Op = i64;
    type View = i128;

    fn new(replica: ReplicaId) -> Count {
        Count {
            counter: Counter::new(short(replica)),
            outbox: Vec::new(),
        }
    }

    fn duplicate(&self) -> Count {
        Count {
            counter: self.counter.clone(),
            outbox: self.outbox.clone(),
        }
    }

    fn choose(&self, source: &mut Source<'_>) -> Option<i64> {
        source.pick(&[1, 10, -3]).copied()
    }

    fn perform(&mut self, amount: &i64) -> Outcome {
        let op = self.counter.add(*amount);
        self.outbox.push(op);
        Outcome::Done
    }

    fn view(&self) -> i128 {
        self.counter.value()
    }
}

impl OpBased for Count {
    type Message = CounterOp;
    /// No order is asked for.
    const NEEDS: Delivery = Delivery::Any;
    const DUPLICATES: bool = true;

    fn outbox(&mut self) -> Vec<CounterOp> {
        std::mem::take(&mut self.outbox)
    }

    fn receive(&mut self, message: &CounterOp) -> Result<Applied, Rejected> {
        self.counter.apply(*message).map_err(Rejected::new)?;
        Ok(Applied::New)
    }
}

impl Specified for Count {
    fn check(seen: &Seen<'_, i64>, got: &i128) -> Verdict {
        spec::sum(seen, got)
    }
}

#[test]
fn what_is_overtaken_is_lost() {
    let can = Capabilities::<Count>::new().operations().specified();
    let report = Random::of(can).replicas(2).schedules(5_000).run();
    assert_breaks(&report, &[Law::S1, Law::S2, Law::S3, Law::O1]);
}
