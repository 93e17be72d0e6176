//! Leases and the check at the resource: all interleavings of two holders, with and without it.
//!
//! Each holder takes the lease, reads a balance and writes it less an amount; once, the lease runs
//! out while its holder is paused. An update is lost if the balance is not what all accepted writes
//! leave. Source: Kleppmann 2016, "How to do distributed locking".

use std::cell::RefCell;

use crate::accounts::{Access, Account};
use commute::coord::{FencedCell, FencingToken, Gate, Lease, LeaseOptions};
use commute::env::SimEnv;
use commute::store::MemoryStore;

/// When the resource asks its gate.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Check {
    /// Z-LCK-1: never.
    Never,
    /// Z-LCK-2: at writes only, so the floor rises no sooner.
    Writes,
    /// When a holder comes, and at each read and write.
    Always,
}

/// A balance behind a gate that is asked at times.
struct Behind {
    check: Check,
    inner: RefCell<(Gate, i64)>,
}

impl Behind {
    fn new(check: Check) -> Behind {
        Behind {
            check,
            inner: RefCell::new((Gate::new(DOMAIN), START)),
        }
    }

    /// Whether the token passes where such a resource asks.
    fn passes(&self, token: &FencingToken, asks: Check) -> bool {
        self.check < asks || self.inner.borrow_mut().0.establish(token).is_ok()
    }
}

impl Account for Behind {
    fn enter(&self, token: &FencingToken) -> Option<Box<dyn Access + '_>> {
        let passes = self.passes(token, Check::Always);
        passes.then(|| Box::new((self, token.clone())) as Box<dyn Access>)
    }
}

impl Access for (&Behind, FencingToken) {
    fn read(&mut self) -> Option<i64> {
        let passes = self.0.passes(&self.1, Check::Always);
        passes.then(|| self.0.inner.borrow().1)
    }

    fn write(&mut self, balance: i64) -> bool {
        let passes = self.0.passes(&self.1, Check::Writes);
        if passes {
            self.0.inner.borrow_mut().1 = balance;
        }
        passes
    }
}

const DOMAIN: &str = "account";
const START: i64 = 100;
/// What the holders take.
const TAKES: [i64; 2] = [30, 50];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Step {
    Acquire(usize),
    Read(usize),
    Write(usize),
    /// Whoever holds the lease is paused until it has run out.
    Expire,
}

/// The steps that may follow `done`: each holder's in their order, and one expiry.
fn next(done: &[Step]) -> Vec<Step> {
    let of = |holder: usize| {
        let steps = [
            Step::Acquire(holder),
            Step::Read(holder),
            Step::Write(holder),
        ];
        steps.into_iter().find(|step| !done.contains(step))
    };
    let expire = (!done.contains(&Step::Expire)).then_some(Step::Expire);
    [of(0), of(1), expire].into_iter().flatten().collect()
}

/// One holder.
#[derive(Default)]
struct Holder<'a> {
    access: Option<(FencingToken, Option<Box<dyn Access + 'a>>)>,
    read: Option<i64>,
}

/// Whether the schedule loses an update; `None` if a step of it is impossible.
fn loses(account: &dyn Account, steps: &[Step]) -> Option<bool> {
    let env = SimEnv::new(7);
    let store = MemoryStore::new(env.clone()).unwrap();
    let acquire = || Lease::acquire_blocking(&store, &env, DOMAIN, &LeaseOptions::default());
    let mut holders = [Holder::default(), Holder::default()];
    let mut expected = START;
    for step in steps {
        match *step {
            Step::Expire => env.advance(LeaseOptions::default().ttl),
            Step::Acquire(at) => {
                let token = acquire().ok()?.token().clone();
                holders[at].access = Some((token, None));
            }
            Step::Read(at) => {
                let (token, access) = holders[at].access.as_mut()?;
                *access = Some(account.enter(token)?);
                holders[at].read = access.as_mut()?.read();
            }
            Step::Write(at) => {
                let balance = holders[at].read? - TAKES[at];
                let (_, access) = holders[at].access.as_mut()?;
                if access.as_mut()?.write(balance) {
                    expected -= TAKES[at];
                }
            }
        }
    }
    env.advance(LeaseOptions::default().ttl);
    let last = acquire().unwrap();
    let balance = account.enter(last.token()).unwrap().read().unwrap();
    Some(balance != expected)
}

/// The shortest schedules that lose an update, and how many schedules were tried.
fn search(account: impl Fn() -> Box<dyn Account>) -> (Vec<Vec<Step>>, usize) {
    let mut level: Vec<Vec<Step>> = vec![Vec::new()];
    let mut tried = 0;
    while !level.is_empty() {
        let mut longer = Vec::new();
        let mut found = Vec::new();
        for done in &level {
            for step in next(done) {
                let steps: Vec<Step> = done.iter().copied().chain([step]).collect();
                match loses(&*account(), &steps) {
                    Some(true) => found.push(steps),
                    Some(false) => longer.push(steps),
                    None => continue,
                }
                tried += 1;
            }
        }
        if !found.is_empty() {
            return (found, tried);
        }
        level = longer;
    }
    (Vec::new(), tried)
}

#[test]
fn a_resource_that_does_not_fence_loses_an_update_in_seven_steps() {
    use Step::{Acquire, Expire, Read, Write};
    let paused = [Acquire(0), Read(0), Expire, Acquire(1), Read(1)];
    let late_last = [&paused[..], &[Write(1), Write(0)]].concat();
    let late_first = [&paused[..], &[Write(0), Write(1)]].concat();

    let (found, _) = search(|| Box::new(Behind::new(Check::Never)));
    assert!(found.iter().all(|steps| steps.len() == 7), "{found:?}");
    assert!(found.contains(&late_last) && found.contains(&late_first));

    // With a floor that only writes raise, the late write must come first to do harm.
    let (found, _) = search(|| Box::new(Behind::new(Check::Writes)));
    assert!(found.iter().all(|steps| steps.len() == 7), "{found:?}");
    assert!(!found.contains(&late_last) && found.contains(&late_first));
}

#[test]
fn a_resource_that_fences_loses_no_update_in_any_schedule() {
    let behind = search(|| Box::new(Behind::new(Check::Always)));
    let cell = search(|| Box::new(FencedCell::new(DOMAIN, START)));
    for (found, tried) in [behind, cell] {
        assert!(found.is_empty(), "{found:?}");
        // All interleavings of two holders and an expiry, as far as the lease allows them.
        assert!(tried > 40, "{tried}");
    }
}
