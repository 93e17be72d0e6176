//! From a set of one's own to a found fault, its diagram, and the mended set:
//! `cargo run --features testkit --example test_your_own_crdt`.

use std::collections::{BTreeMap, BTreeSet};

use commute::ReplicaId;
use commute::testkit::spec::{SetOp, add_wins};
use commute::testkit::{
    Explore, Outcome, Random, Rejected, Report, Source, StateBased, Style, Subject,
};

/// A set in which an add wins over a concurrent remove. Each add gets a name: the replica and a
/// number. A name that a replica has seen and does not hold any more was removed.
#[derive(Clone, PartialEq, Debug)]
struct Set<const MENDED: bool> {
    me: ReplicaId,
    adds: BTreeMap<(ReplicaId, u64), u8>,
    seen: BTreeMap<ReplicaId, u64>,
}

impl<const MENDED: bool> Set<MENDED> {
    fn insert(&mut self, element: u8) {
        let number = self.seen.entry(self.me).or_default();
        *number += 1;
        // It stands for those that this replica made before.
        let own = |replica: ReplicaId, held: u8| replica == self.me && held == element;
        self.adds.retain(|(replica, _), held| !own(*replica, *held));
        self.adds.insert((self.me, *number), element);
    }

    fn remove(&mut self, element: u8) {
        // The fault: more than one replica may have added it.
        let first = self.adds.values().position(|held| *held == element);
        let mut place = 0..;
        self.adds.retain(|_, held| {
            let is_first = place.next() == first;
            *held != element || !MENDED && !is_first
        });
    }

    fn has_seen(&self, (replica, number): (ReplicaId, u64)) -> bool {
        self.seen.get(&replica).is_some_and(|last| number <= *last)
    }

    fn join(&mut self, other: &Self) {
        let mut adds = self.adds.clone();
        adds.retain(|name, _| other.adds.contains_key(name) || !other.has_seen(*name));
        let new = other.adds.iter().filter(|(name, _)| !self.has_seen(**name));
        adds.extend(new.map(|(name, element)| (*name, *element)));
        self.adds = adds;
        for (replica, number) in &other.seen {
            let seen = self.seen.entry(*replica).or_default();
            *seen = (*number).max(*seen);
        }
    }
}

// What the kit needs: which operations there are, how they are done, and what a user sees.
impl<const MENDED: bool> Subject for Set<MENDED> {
    type Op = SetOp<u8>;
    type View = BTreeSet<u8>;

    fn new(me: ReplicaId) -> Self {
        let (adds, seen) = Default::default();
        Set { me, adds, seen }
    }

    fn duplicate(&self) -> Self {
        self.clone()
    }

    fn choose(&self, source: &mut Source<'_>) -> Option<SetOp<u8>> {
        let element = source.below(2) as u8;
        let both = [SetOp::Insert(element), SetOp::Remove(element)];
        source.pick(&both).cloned()
    }

    fn perform(&mut self, op: &SetOp<u8>) -> Outcome {
        match op {
            SetOp::Insert(element) => self.insert(*element),
            SetOp::Remove(element) => self.remove(*element),
            SetOp::Clear => self.adds.clear(),
        }
        Outcome::Done
    }

    fn view(&self) -> BTreeSet<u8> {
        self.adds.values().copied().collect()
    }
}

// How its replicas exchange what they have.
impl<const MENDED: bool> StateBased for Set<MENDED> {
    fn merge(&mut self, other: &Self) -> Result<(), Rejected> {
        self.join(other);
        Ok(())
    }

    fn same_state(&self, other: &Self) -> bool {
        (&self.adds, &self.seen) == (&other.adds, &other.seen)
    }
}

fn reports<const MENDED: bool>() -> [Report; 2] {
    let random = Random::new::<Set<MENDED>>().state().spec(add_wins);
    let complete = Explore::new::<Set<MENDED>>().state().spec(add_wins);
    [random.run(), complete.replicas(2).steps(4).run()]
}

fn main() {
    for report in reports::<false>() {
        if let Some(found) = report.failures().first() {
            println!("{}", found.drawing(Style::Ascii));
        }
    }
    for report in reports::<true>() {
        report.unwrap_clean();
        print!("{report}");
    }
}
