//! Random schedules of pauses, drifting clocks and deletions: terms never overlap, tokens only
//! rise, and belief ends in time; each check is held against a lease that lacks it.
#![allow(clippy::unwrap_used)]

mod coord_remote;

use commute::coord::{FencingToken, Lease, LeaseOptions, Released};
use commute::env::{SimEnv, SplitMix64};
use commute::store::{Guard, MemoryStore};
use coord_remote::{Faults, Remote};
use core::time::Duration;
use quickcheck::QuickCheck;

const TTL: Duration = Duration::from_secs(10);

fn setup() -> (SimEnv, MemoryStore) {
    let env = SimEnv::new(33);
    let store = MemoryStore::new(env.clone()).unwrap();
    (env, store)
}

/// What a run of the simulation found wrong, if anything, and how much happened.
#[derive(Default, PartialEq, Debug)]
struct Report {
    overlap: bool,
    foreign_renewal: bool,
    tokens_fell: bool,
    false_belief: bool,
    grants: u32,
    expiries: u32,
    losses: u32,
}

struct Client {
    env: SimEnv,
    rate_ppm: u64,
    lease: Option<Lease<Remote, SimEnv>>,
}

/// Three clients whose clocks run up to 10 % fast or slow, pauses of up to three times the lease,
/// deletions by hand.
fn simulate(seed: u64, drops: Option<fn(&Guard) -> bool>, options: &LeaseOptions) -> Report {
    let mut random = SplitMix64::new(seed);
    let (env, store) = setup();
    let mut report = Report::default();
    let mut newest: Option<FencingToken> = None;
    let mut clients: Vec<Client> = (0..3)
        .map(|n| Client {
            env: SimEnv::new(seed.wrapping_add(n)),
            rate_ppm: 900_000 + random.below(200_001),
            lease: None,
        })
        .collect();
    for _ in 0..60 {
        let span = match random.below(4) {
            0 => TTL * random.below(31) as u32 / 10,
            _ => TTL * random.below(4) as u32 / 10,
        };
        env.advance(span);
        for client in &mut clients {
            client
                .env
                .advance(span * client.rate_ppm as u32 / 1_000_000);
        }
        let chosen = random.below(3) as usize;
        let client = &mut clients[chosen];
        let remote = Remote::new(&store, &SimEnv::new(0));
        remote.set(Faults {
            drops,
            ..Faults::default()
        });
        match client.lease.take() {
            None => {
                let live = store.get("lease/job").unwrap();
                let asked = Lease::acquire_blocking(&remote, &client.env, "job", options);
                let Ok(lease) = asked else { continue };
                report.grants += 1;
                report.overlap |= live.is_some();
                let token = lease.token().clone();
                let before = newest.replace(token.clone());
                report.tokens_fell |=
                    before.is_some_and(|before| !before.try_cmp(&token).unwrap().is_lt());
                client.lease = Some(lease);
            }
            Some(lease) if random.below(4) == 0 => {
                let before = store.get("lease/job").unwrap();
                let mine = before.is_some_and(|e| e.created.counter() == lease.token().counter());
                if lease.release_blocking() == Ok(Released::Now) {
                    report.foreign_renewal |= !mine;
                }
            }
            Some(_) if random.below(8) == 0 => drop(store.delete("lease/job").unwrap()),
            Some(mut lease) => {
                let live = store.get("lease/job").unwrap();
                let mine = live.is_some_and(|e| e.created.counter() == lease.token().counter());
                match lease.renew_blocking() {
                    Ok(()) => {
                        report.foreign_renewal |= !mine;
                        client.lease = Some(lease);
                    }
                    Err(_) => report.losses += 1,
                }
            }
        }
        report.expiries += u32::from(store.get("lease/job").unwrap().is_none());
        for client in &clients {
            let Some(lease) = client.lease.as_ref().filter(|lease| lease.believes_valid()) else {
                continue;
            };
            let live = store.get("lease/job").unwrap();
            let mine = live.is_some_and(|e| e.created.counter() == lease.token().counter());
            report.false_belief |= !mine;
        }
    }
    report
}

fn careful() -> LeaseOptions {
    LeaseOptions {
        clock_error_ppm: 100_000,
        margin: Duration::ZERO,
        ..LeaseOptions::default()
    }
}

fn terms_are_exclusive(seed: u64) -> bool {
    let report = simulate(seed, None, &careful());
    !report.overlap && !report.foreign_renewal && !report.tokens_fell && report.grants > 0
}

#[test]
fn terms_never_overlap_and_tokens_only_rise() {
    QuickCheck::new()
        .tests(500)
        .quickcheck(terms_are_exclusive as fn(u64) -> bool);
    let (mut expiries, mut losses) = (0, 0);
    for seed in 0..50 {
        let report = simulate(seed, None, &careful());
        expiries += report.expiries;
        losses += report.losses;
    }
    assert!(
        expiries > 50 && losses > 50,
        "{expiries} expiries, {losses} losses"
    );
}

#[test]
fn the_simulation_notices_a_lease_without_its_checks() {
    let caught = |drops: fn(&Guard) -> bool, fault: fn(&Report) -> bool| {
        (0..200).any(|seed| fault(&simulate(seed, Some(drops), &careful())))
    };
    assert!(caught(
        |guard| matches!(guard, Guard::Absent { .. }),
        |report| report.overlap
    ));
    let identity = |guard: &Guard| matches!(guard, Guard::Created { .. } | Guard::Value { .. });
    assert!(caught(identity, |report| report.foreign_renewal));
}

/// Without deletions by hand nobody believes in a lease that the store has ended, as long as the
/// clocks keep within the stated error.
fn beliefs_are_true(seed: u64, options: &LeaseOptions) -> bool {
    let mut random = SplitMix64::new(seed);
    let (env, store) = setup();
    let rate_ppm = 900_000 + random.below(200_001);
    let own = SimEnv::new(seed);
    let mut lease = Lease::acquire_blocking(&store, &own, "job", options).unwrap();
    for _ in 0..200 {
        let span = TTL * random.below(100) as u32 / 1000;
        env.advance(span);
        own.advance(span * rate_ppm as u32 / 1_000_000);
        if lease.believes_valid() {
            if store.get("lease/job").unwrap().is_none() {
                return false;
            }
            if random.below(8) == 0 {
                lease.renew_blocking().unwrap();
            }
        }
    }
    true
}

#[test]
fn belief_ends_before_the_term_as_long_as_clocks_keep_within_the_error() {
    fn holds(seed: u64) -> bool {
        beliefs_are_true(seed, &careful())
    }
    QuickCheck::new()
        .tests(300)
        .quickcheck(holds as fn(u64) -> bool);
    let careless = LeaseOptions {
        clock_error_ppm: 0,
        ..careful()
    };
    assert!(
        (0..300).any(|seed| !beliefs_are_true(seed, &careless)),
        "clocks hardly drifted"
    );
}
