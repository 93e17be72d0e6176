//! Faults that others shipped, with the input that shows each; the number is the row of the list
//! they were collected in.
#![expect(clippy::unwrap_used, reason = "in helpers of tests")]

use commute::codec::Limits;
use commute::{
    Applied, Delta, Dot, Dots, GCounter, MergeError, OrSet, PnCounter, Replica, ReplicaId,
    Replicated, State,
};

type Set = OrSet<u64>;

fn replica<S: Replicated>(id: u128) -> Replica<S> {
    Replica::new(ReplicaId::from(id))
}

fn set(id: u128) -> Replica<Set> {
    replica(id)
}

fn counter(id: u128) -> Replica<PnCounter> {
    replica(id)
}

fn insert(replica: &mut Replica<Set>, value: u64) -> Delta<Set> {
    replica.update(|set| set.insert(value)).unwrap().1
}

fn remove(replica: &mut Replica<Set>, value: u64) -> Delta<Set> {
    replica.update(|set| set.remove(&value)).unwrap().1
}

fn count(replica: &mut Replica<PnCounter>, amount: u64) -> Delta<PnCounter> {
    replica.update(|counter| counter.add(amount)).unwrap().1
}

fn reused<T>(id: u128) -> Result<T, MergeError> {
    Err(MergeError::IdentityReused {
        replica: ReplicaId::from(id),
    })
}

#[test]
fn row_05_a_version_does_not_hide_a_removal() {
    let (mut a, mut b) = (set(1), set(2));
    let add = insert(&mut a, 7);
    assert_eq!(b.absorb(&add), Ok(Applied::New));
    let _ = remove(&mut a, 7);
    let answer = a.delta_since(b.version());
    assert!(!answer.is_empty());
    assert_eq!(b.absorb(&answer), Ok(Applied::New));
    assert!(b.is_empty());
}

#[test]
fn row_25_a_removal_is_in_the_full_state() {
    let (mut a, mut b) = (set(1), set(2));
    let add = insert(&mut a, 7);
    assert_eq!(b.absorb(&add), Ok(Applied::New));
    let _ = remove(&mut a, 7);
    assert_eq!(b.merge(a.state()), Ok(Applied::New));
    assert!(b.is_empty());
}

#[test]
fn row_26_what_was_not_sent_yet_is_still_there_after_a_merge() {
    let (mut a, mut b, mut c) = (counter(1), counter(2), counter(3));
    let _ = count(&mut a, 5);
    let before = c.version().clone();
    let theirs = count(&mut b, 1);
    assert_eq!(a.absorb(&theirs), Ok(Applied::New));
    assert_eq!(c.absorb(&a.delta_since(&before)), Ok(Applied::New));
    assert_eq!(c.value(), 6);
}

#[test]
fn row_27_an_increment_delivered_twice_counts_once() {
    let (mut a, mut b) = (counter(1), counter(2));
    let five = count(&mut a, 5);
    assert_eq!(b.absorb(&five), Ok(Applied::New));
    assert_eq!(b.absorb(&five), Ok(Applied::Duplicate));
    assert_eq!(b.merge(a.state()), Ok(Applied::Duplicate));
    assert_eq!(b.value(), 5);
}

#[test]
fn row_29_the_order_in_which_replicas_were_met_does_not_matter() {
    let (mut a, mut b) = (replica::<GCounter>(1), replica::<GCounter>(2));
    // Each meets a third one first, so that both number the other differently.
    let mut third = replica::<GCounter>(3);
    let (_, three) = third.update(|counter| counter.add(3)).unwrap();
    assert_eq!(b.absorb(&three), Ok(Applied::New));
    a.edit(|counter| counter.add(1)).unwrap();
    b.edit(|counter| counter.add(1)).unwrap();
    assert_eq!(a.merge(b.state()), Ok(Applied::New));
    assert_eq!(b.merge(a.state()), Ok(Applied::New));
    assert_eq!((a.value(), b.value()), (5, 5));
    assert_eq!(a.to_bytes(), b.to_bytes());
}

#[test]
fn row_30_a_restart_that_lost_all_under_the_same_id_is_reported() {
    let (mut a, mut b) = (counter(1), counter(2));
    let five = count(&mut a, 5);
    assert_eq!(b.absorb(&five), Ok(Applied::New));
    let mut a = counter(1);
    let one = count(&mut a, 1);
    assert_eq!(b.absorb(&one), reused(1));
    assert_eq!(b.value(), 5);
    assert_eq!(a.absorb(&five), reused(1));

    let mut a = counter(3);
    let one = count(&mut a, 1);
    assert_eq!(b.absorb(&one), Ok(Applied::New));
    assert_eq!(b.value(), 6, "under a new id it counts");
}

#[test]
fn row_75_what_waits_is_in_a_save() {
    let (mut a, mut b) = (set(1), set(2));
    let (first, second) = (insert(&mut a, 1), insert(&mut a, 2));
    assert!(matches!(b.absorb(&second), Ok(Applied::Waiting(_))));
    let mut b = Replica::<Set>::resume(&b.save(), &Limits::default()).unwrap();
    assert_eq!(b.waiting(), 1);
    assert_eq!(b.absorb(&first), Ok(Applied::New));
    assert_eq!(b, a);
}

#[test]
fn row_82_all_before_the_first_update_seen_is_missing() {
    let (mut a, mut b) = (set(1), set(2));
    let mut last = Delta::empty();
    for value in 1..=7 {
        last = insert(&mut a, value);
    }
    let missing: Dots = (1..=6).map(|counter| Dot::new(a.id(), counter)).collect();
    assert_eq!(b.absorb(&last), Ok(Applied::Waiting(missing.clone())));
    assert_eq!(b.missing(), missing);
}

#[test]
fn row_85_a_fork_that_keeps_the_id_is_reported_on_both_sides() {
    let mut a = set(1);
    let _ = insert(&mut a, 1);
    let mut fork = Replica::from_state(a.state().clone(), a.id());
    let _ = (insert(&mut a, 2), insert(&mut fork, 3));
    assert_eq!(a.merge(fork.state()), reused(1));
    assert_eq!(fork.merge(a.state()), reused(1));
    let first = [(a.id(), 1)].into_iter().collect();
    assert_eq!(a.absorb(&fork.delta_since(&first)), reused(1));

    let mut fork = fork.fork_as(ReplicaId::from(2));
    for usable in [&mut a, &mut fork] {
        assert_eq!(insert(usable, 4).claims().len(), 1);
        assert_eq!(usable.len(), 3);
    }
}

#[test]
fn row_86_the_newest_save_goes_on_and_an_older_one_is_reported() {
    let (mut a, mut b) = (set(1), set(2));
    let _ = insert(&mut a, 1);
    let older = a.save();
    let _ = remove(&mut a, 1);
    assert_eq!(b.merge(a.state()), Ok(Applied::New));
    let mut a = Replica::<Set>::resume(&a.save(), &Limits::default()).unwrap();
    let again = insert(&mut a, 1);
    assert_eq!(b.absorb(&again), Ok(Applied::New));
    assert_eq!(b, a);

    let mut stale = Replica::<Set>::resume(&older, &Limits::default()).unwrap();
    assert_eq!(stale.absorb(&b.delta_since(stale.version())), reused(1));
    let another = insert(&mut stale, 2);
    assert_eq!(b.absorb(&another), reused(1));
    assert_eq!(b, a);
    let bytes = stale.to_bytes();
    let state = State::<Set>::from_bytes(&bytes, &Limits::default()).unwrap();
    let mut fresh = Replica::from_state(state, ReplicaId::from(3));
    assert_eq!(
        fresh.merge(b.state()),
        reused(1),
        "its last update is a fork"
    );
}

#[test]
fn row_95_equal_replicas_are_silent_after_two_rounds() {
    let (mut a, mut b) = (set(1), set(2));
    let (_, _) = (insert(&mut a, 1), insert(&mut b, 2));
    let mut rounds = 0;
    loop {
        let (to_b, to_a) = (a.delta_since(b.version()), b.delta_since(a.version()));
        if to_a.is_empty() && to_b.is_empty() {
            break;
        }
        rounds += 1;
        assert_eq!(a.absorb(&to_a), Ok(Applied::New));
        assert_eq!(b.absorb(&to_b), Ok(Applied::New));
    }
    assert_eq!(rounds, 1);
    assert_eq!(a, b);
}
