#![cfg(feature = "testkit")]
use commute::ReplicaId;
use commute::testkit::*;
use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq)]
struct Count<const F: u8> {
    me: ReplicaId,
    of: BTreeMap<ReplicaId, u64>,
}

impl<const F: u8> Subject for Count<F> {
    type Op = u64;
    type View = u64;
    fn new(me: ReplicaId) -> Self {
        Count {
            me,
            of: BTreeMap::new(),
        }
    }
    fn duplicate(&self) -> Self {
        self.clone()
    }
    fn choose(&self, source: &mut Source<'_>) -> Option<u64> {
        Some(1 + source.below(2))
    }
    fn perform(&mut self, amount: &u64) -> Outcome {
        *self.of.entry(self.me).or_default() += amount;
        Outcome::Done
    }
    fn view(&self) -> u64 {
        self.of.values().sum()
    }
}

impl<const F: u8> StateBased for Count<F> {
    fn merge(&mut self, other: &Self) -> Result<(), Rejected> {
        for (id, count) in &other.of {
            let mine = self.of.entry(*id).or_default();
            *mine = match F {
                0 => (*mine).max(*count),
                1 => *mine + *count,
                2 => *count,
                3 => panic!("boom"),
                _ => loop {},
            };
        }
        Ok(())
    }
    fn same_state(&self, other: &Self) -> bool {
        self.of == other.of
    }
}
fn spec(seen: &Seen<'_, u64>, got: &u64) -> Verdict {
    Verdict::equal(got, &seen.iter().map(|v| *v.op()).sum(), String::new)
}
fn go<const F: u8>() {
    let r = Random::new::<Count<F>>()
        .state()
        .spec(spec)
        .patience(std::time::Duration::from_secs(1))
        .run();
    println!("{r}");
    let r = Explore::new::<Count<F>>()
        .state()
        .spec(spec)
        .steps(6)
        .patience(std::time::Duration::from_secs(1))
        .run();
    println!("{r}");
}
#[test]
fn tries() {
    go::<0>();
    go::<1>();
    go::<2>();
    go::<3>();
    go::<4>();
}
commute::convergence_suite!(count: Count<0>, state, spec = spec);
commute::convergence_suite!(or_set: commute::Replica<commute::OrSet<u8>>, delta, operations, encoded, versioned, specified, with = |suite| suite.schedules(300));
