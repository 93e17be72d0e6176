//! A lease has one holder by the store's clock, and its holder stops believing in it in time.
#![allow(clippy::unwrap_used)]

mod coord_remote;

use commute::coord::{Lease, LeaseError, LeaseOptions, Lost, Released};
use commute::env::{Env, SimEnv};
use commute::store::{
    Capabilities, DynStore, MemoryOptions, MemoryStore, MonotoneTokens, Outcome, Store, StoreError,
};
use coord_remote::{Faults, Remote};
use core::num::NonZeroU32;
use core::time::Duration;

const TTL: Duration = Duration::from_secs(10);

fn setup() -> (SimEnv, MemoryStore) {
    let env = SimEnv::new(33);
    let store = MemoryStore::new(env.clone()).unwrap();
    (env, store)
}

fn acquire(store: &MemoryStore, env: &SimEnv) -> Result<Lease<MemoryStore, SimEnv>, LeaseError> {
    Lease::acquire_blocking(store, env, "job", &LeaseOptions::default())
}

#[test]
fn a_held_lease_is_refused_and_a_released_one_is_free_at_once() {
    let (env, store) = setup();
    let first = acquire(&store, &env).unwrap();
    let since = store.revision();
    assert_eq!(
        acquire(&store, &env).map(|_| ()),
        Err(LeaseError::Held { since })
    );
    let signal = first.signal();
    assert_eq!(signal.lost(), None);
    assert_eq!(first.release_blocking(), Ok(Released::Now));
    assert_eq!(
        signal.lost(),
        Some(Lost::Gone),
        "nobody believes in it after the release"
    );
    assert!(acquire(&store, &env).is_ok());
}

#[test]
fn a_renewal_keeps_the_token_and_moves_the_deadline() {
    let (env, store) = setup();
    let mut lease = acquire(&store, &env).unwrap();
    let token = lease.token().clone();
    let believed = LeaseOptions::default().believed();
    for _ in 0..5 {
        env.advance(TTL * 9 / 10);
        assert!(lease.believes_valid());
        lease.renew_blocking().unwrap();
        assert_eq!(
            lease.believes_valid_until(),
            env.now().saturating_add(believed)
        );
        assert!(acquire(&store, &env).is_err());
    }
    assert_eq!(*lease.token(), token);
    assert_eq!(lease.release_blocking(), Ok(Released::Now));
}

#[test]
fn the_deadline_counts_from_before_the_request_was_sent() {
    let (env, store) = setup();
    let remote = Remote::new(&store, &env);
    let delay = Duration::from_secs(2);
    remote.set(Faults {
        delay,
        ..Faults::default()
    });
    let options = LeaseOptions::default();
    let sent = env.now();
    let mut lease = Lease::acquire_blocking(&remote, &env, "job", &options).unwrap();
    assert_eq!(env.now().saturating_since(sent), 2 * delay);
    assert_eq!(
        lease.believes_valid_until(),
        sent.saturating_add(options.believed())
    );
    let sent = env.now();
    lease.renew_blocking().unwrap();
    assert_eq!(
        lease.believes_valid_until(),
        sent.saturating_add(options.believed())
    );
}

#[test]
fn a_grant_that_arrives_after_its_deadline_is_no_grant() {
    let (env, store) = setup();
    let remote = Remote::new(&store, &env);
    remote.set(Faults {
        delay: TTL / 2,
        ..Faults::default()
    });
    let late = Lease::acquire_blocking(&remote, &env, "job", &LeaseOptions::default());
    assert_eq!(
        late.map(|_| ()),
        Err(LeaseError::Lost(Lost::DeadlinePassed))
    );
}

#[test]
fn once_past_its_deadline_a_lease_stays_lost() {
    let (env, store) = setup();
    let remote = Remote::new(&store, &env);
    let options = LeaseOptions::default();
    let mut lease = Lease::acquire_blocking(&remote, &env, "job", &options).unwrap();
    env.advance(options.believed() - Duration::from_secs(1));
    // The renewal is applied in time, but its answer comes after somebody may have been told.
    remote.set(Faults {
        delay: Duration::from_secs(1),
        ..Faults::default()
    });
    let lost = Err(LeaseError::Lost(Lost::DeadlinePassed));
    assert_eq!(lease.renew_blocking(), lost);
    assert!(
        store.get("lease/job").unwrap().is_some(),
        "still held by the store's clock"
    );
    assert!(!lease.believes_valid());
    remote.set(Faults::default());
    assert_eq!(lease.renew_blocking(), lost);
    assert_eq!(lease.release_blocking(), Ok(Released::Now));
}

#[test]
fn a_renewal_never_revives_or_touches_another_term() {
    let (env, store) = setup();
    // A holder whose clock stands still keeps believing.
    let stopped = SimEnv::new(1);
    let options = LeaseOptions::default();
    let acquire = |env: &SimEnv| Lease::acquire_blocking(&store, env, "job", &options);
    let mut old = acquire(&stopped).unwrap();
    env.advance(TTL);
    assert!(old.believes_valid(), "it cannot know");
    assert_eq!(old.renew_blocking(), Err(LeaseError::Lost(Lost::Gone)));
    assert!(!old.believes_valid());

    let mut old = acquire(&stopped).unwrap();
    env.advance(TTL);
    let new = acquire(&env).unwrap();
    let by = store.revision();
    let entry = store.get("lease/job").unwrap();
    assert_eq!(
        old.renew_blocking(),
        Err(LeaseError::Lost(Lost::Superseded { by }))
    );
    assert_eq!(
        old.renew_blocking(),
        Err(LeaseError::Lost(Lost::Superseded { by })),
        "sticky"
    );
    assert_eq!(old.release_blocking(), Ok(Released::AlreadyGone));
    assert_eq!(store.get("lease/job").unwrap(), entry);
    assert_eq!(new.release_blocking(), Ok(Released::Now));
}

#[test]
fn a_lease_deleted_by_hand_is_gone_and_its_successor_has_a_greater_token() {
    let (env, store) = setup();
    let mut old = acquire(&store, &env).unwrap();
    store.delete("lease/job").unwrap();
    let new = acquire(&store, &env).unwrap();
    assert!(old.token().try_cmp(new.token()).unwrap().is_lt());
    assert!(matches!(
        old.renew_blocking(),
        Err(LeaseError::Lost(Lost::Superseded { .. }))
    ));
}

#[test]
fn a_renewal_of_unknown_outcome_is_neither_success_nor_loss() {
    let (env, store) = setup();
    let remote = Remote::new(&store, &env);
    let options = LeaseOptions {
        asked_max: NonZeroU32::new(3).unwrap(),
        ..Default::default()
    };
    let mut lease = Lease::acquire_blocking(&remote, &env, "job", &options).unwrap();
    let until = lease.believes_valid_until();
    env.advance(Duration::from_secs(1));

    // Resolved by asking again under the same id: applied once, counted from the first question.
    let sent = env.now();
    remote.set(Faults {
        unknown: 2,
        ..Faults::default()
    });
    lease.renew_blocking().unwrap();
    assert_eq!(
        lease.believes_valid_until(),
        sent.saturating_add(options.believed())
    );
    assert_eq!(store.contention().replays(), 2);
    let until = until.max(lease.believes_valid_until());

    // Not resolved: the old deadline stays, and a later renewal may succeed.
    env.advance(Duration::from_secs(1));
    remote.set(Faults {
        unknown: 3,
        ..Faults::default()
    });
    assert!(matches!(
        lease.renew_blocking(),
        Err(LeaseError::Unknown { .. })
    ));
    assert!(lease.believes_valid());
    assert_eq!(lease.believes_valid_until(), until);
    lease.renew_blocking().unwrap();
    assert!(lease.believes_valid_until() > until);
}

#[test]
fn an_error_after_an_unknown_outcome_does_not_make_it_known() {
    let (env, store) = setup();
    let remote = Remote::new(&store, &env);
    let options = LeaseOptions {
        asked_max: NonZeroU32::new(3).unwrap(),
        ..Default::default()
    };
    let mut lease = Lease::acquire_blocking(&remote, &env, "job", &options).unwrap();
    remote.set(Faults {
        unknown: 1,
        unsent: 1,
        ..Faults::default()
    });
    assert_eq!(
        lease.renew_blocking(),
        Ok(()),
        "applied by the first request"
    );
    remote.set(Faults {
        unknown: 1,
        unsent: 2,
        ..Faults::default()
    });
    assert!(matches!(
        lease.renew_blocking(),
        Err(LeaseError::Unknown { .. })
    ));
    // Without an unknown outcome before it, it is what it says.
    remote.set(Faults {
        unsent: 1,
        ..Faults::default()
    });
    let unsent = LeaseError::Store(StoreError::RevisionsExhausted);
    assert_eq!(lease.renew_blocking(), Err(unsent));
    assert!(lease.believes_valid());
}

#[test]
fn no_delayed_renewal_is_applied_after_a_release_has_begun() {
    let (env, store) = setup();
    let remote = Remote::new(&store, &env);
    let options = LeaseOptions {
        asked_max: NonZeroU32::MIN,
        ..LeaseOptions::default()
    };
    let mut lease = Lease::acquire_blocking(&remote, &env, "job", &options).unwrap();
    remote.set(Faults {
        unknown: 1,
        held_back: true,
        ..Faults::default()
    });
    assert!(matches!(
        lease.renew_blocking(),
        Err(LeaseError::Unknown { .. })
    ));
    assert_eq!(lease.release_blocking(), Ok(Released::Now));
    let late = remote.kept.lock().unwrap().pop().unwrap();
    assert!(matches!(
        store.commit_blocking(&late),
        Ok(Outcome::Conflict(_))
    ));
    assert_eq!(store.get("lease/job").unwrap(), None);
    // Nor to the next holder's term.
    let next = acquire(&store, &env).unwrap();
    assert!(matches!(
        store.commit_blocking(&late),
        Ok(Outcome::Conflict(_))
    ));
    assert_eq!(next.release_blocking(), Ok(Released::Now));
}

#[test]
fn an_acquisition_of_unknown_outcome_is_free_after_its_time_to_live() {
    let (env, store) = setup();
    let remote = Remote::new(&store, &env);
    let options = LeaseOptions {
        asked_max: NonZeroU32::MIN,
        ..LeaseOptions::default()
    };
    remote.set(Faults {
        unknown: 1,
        ..Faults::default()
    });
    let unknown = Lease::acquire_blocking(&remote, &env, "job", &options);
    assert!(matches!(unknown, Err(LeaseError::Unknown { .. })));
    assert!(matches!(
        acquire(&store, &env),
        Err(LeaseError::Held { .. })
    ));
    env.advance(TTL);
    assert!(acquire(&store, &env).is_ok());
}

#[test]
fn options_and_stores_that_cannot_be_safe_are_refused() {
    let (env, store) = setup();
    let try_with =
        |options: LeaseOptions| Lease::acquire_blocking(&store, &env, "job", &options).map(|_| ());
    let margin = LeaseOptions {
        margin: TTL,
        ..LeaseOptions::default()
    };
    assert_eq!(try_with(margin), Err(LeaseError::NoTimeLeft));
    let clock = LeaseOptions {
        clock_error_ppm: u32::MAX,
        ..LeaseOptions::default()
    };
    assert_eq!(try_with(clock), Err(LeaseError::NoTimeLeft));

    let good = store.capabilities();
    for capabilities in [
        Capabilities {
            linearizable_commit: false,
            ..good
        },
        Capabilities {
            monotone_tokens: MonotoneTokens::No,
            ..good
        },
        Capabilities { ttl: None, ..good },
    ] {
        let remote = Remote {
            capabilities,
            ..Remote::new(&store, &env)
        };
        let refused = Lease::acquire_blocking(&remote, &env, "job", &LeaseOptions::default());
        assert!(matches!(refused, Err(LeaseError::Unsupported { .. })));
    }
    assert_eq!(store.revision().counter(), 0, "nothing was sent");
}

#[test]
fn the_last_token_is_granted_and_then_there_is_an_error() {
    let env = SimEnv::new(1);
    let options = MemoryOptions {
        first_counter: u64::MAX - 1,
        ..MemoryOptions::default()
    };
    let store = MemoryStore::with_options(env.clone(), options).unwrap();
    let last = acquire(&store, &env).unwrap();
    assert_eq!(last.token().counter(), u64::MAX);
    let refused = last.release_blocking();
    assert_eq!(
        refused,
        Err(LeaseError::Store(StoreError::RevisionsExhausted))
    );
    env.advance(TTL);
    assert!(
        acquire(&store, &env).is_err(),
        "never a token that is not greater"
    );
}

#[test]
fn the_asynchronous_front_does_the_same_on_a_boxed_store() {
    let (env, store) = setup();
    let boxed = DynStore::new(store.clone());
    let options = LeaseOptions::default();
    let story = async {
        let mut lease = Lease::acquire(&boxed, &env, "job", &options).await?;
        let held = Lease::acquire(&boxed, &env, "job", &options).await;
        assert!(matches!(held, Err(LeaseError::Held { .. })));
        lease.renew().await?;
        assert_eq!(lease.release().await?, Released::Now);
        let lease = Lease::acquire(&boxed, &env, "job", &options).await?;
        let lost = lease.signal().wait().await;
        Ok::<_, LeaseError>((lost, lease.believes_valid_until()))
    };
    fn is_send<T: Send>(value: T) -> T {
        value
    }
    let (lost, until) = env.run(is_send(story)).unwrap().unwrap();
    assert_eq!((lost, env.now()), (Lost::DeadlinePassed, until));
    let again = Lease::acquire_blocking(&store, &env, "other", &options).unwrap();
    assert_eq!(again.signal().wait_blocking(), Lost::DeadlinePassed);
    assert_eq!(env.now(), again.believes_valid_until());
}
