//! States as the traits of `crdts` see them.
#![cfg(feature = "crdts")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

use commute::interop::crdts::OpError;
use commute::{
    Delta, Dot, Dots, GCounter, GSet, LwwRegister, MergeError, OrSet, Replica, ReplicaId, Stamp,
    State, Version,
};
use crdts::{CmRDT, CvRDT, VClock};

type Set = OrSet<u8>;

fn id(bits: u128) -> ReplicaId {
    ReplicaId::from(bits)
}

/// Whatever works on the traits alone.
fn merged<T: CvRDT + Clone>(into: &T, other: &T) -> Result<T, T::Validation> {
    into.validate_merge(other)?;
    let mut all = into.clone();
    all.merge(other.clone());
    Ok(all)
}

#[test]
fn states_merge_in_any_order() {
    let (mut a, mut b) = (Replica::<Set>::new(id(1)), Replica::<Set>::new(id(2)));
    a.edit(|set| set.extend([1, 2])).unwrap();
    b.edit(|set| set.extend([2, 3])).unwrap();
    let one = merged(a.state(), b.state()).unwrap();
    let other = merged(b.state(), a.state()).unwrap();
    assert_eq!(one, other);
    assert!(one.iter().eq(&[1, 2, 3]));
    assert_eq!(merged(&one, &other), Ok(one));
}

#[test]
fn an_early_op_is_named_and_waits() {
    let mut a = Replica::<Set>::new(id(1));
    let (_, first) = a.update(|set| set.insert(1)).unwrap();
    let (_, second) = a.update(|set| set.remove(&1)).unwrap();
    let mut b = State::<Set>::new();
    let missing = Dots::from(Dot::new(id(1), 1));
    assert_eq!(
        b.validate_op(&second),
        Err(OpError::Missing(missing.clone()))
    );
    assert_eq!(b.missing_for(&second), missing);
    assert_eq!(b.check(&second), Ok(()));
    b.apply(second.clone());
    assert_eq!((b.waiting(), b.version().is_empty()), (1, true));
    assert_eq!(b.validate_op(&first), Ok(()));
    b.apply(first.clone());
    assert_eq!(&b, a.state());
    b.apply(first);
    b.apply(second);
    assert_eq!(&b, a.state(), "ops are idempotent");
}

/// Two updates with one name.
fn impostors() -> [(State<Set>, Delta<Set>); 2] {
    [1, 2].map(|value| {
        let mut one = Replica::<Set>::new(id(1));
        let (_, delta) = one.update(|set| set.insert(value)).unwrap();
        (one.into_state(), delta)
    })
}

#[test]
fn what_is_invalid_changes_nothing() {
    let [(mut a, _), (b, from_b)] = impostors();
    let before = a.to_bytes();
    let reused = MergeError::IdentityReused { replica: id(1) };
    assert_eq!(a.validate_merge(&b), Err(reused.clone()));
    assert_eq!(a.check_merge(&b), Err(reused.clone()));
    CvRDT::merge(&mut a, b);
    assert_eq!(a.to_bytes(), before);
    assert_eq!(a.validate_op(&from_b), Err(OpError::Merge(reused.clone())));
    assert_eq!(a.check(&from_b), Err(reused));
    a.apply(from_b);
    assert_eq!(a.to_bytes(), before);
    assert_eq!(a.waiting(), 0);
}

#[test]
fn clocks_convert_both_ways() {
    let version = Version::from_iter([(id(1), 5), (id(2), 1)]);
    let clock = VClock::from(&version);
    assert_eq!(
        (clock.get(&id(1)), clock.get(&id(2)), clock.get(&id(3))),
        (5, 1, 0)
    );
    assert_eq!(Version::from(clock), version);
    let zero = VClock {
        dots: [(id(1), 0)].into(),
    };
    assert!(Version::from(zero).is_empty());

    let dot = Dot::new(id(1), 5);
    assert_eq!(Dot::try_from(crdts::Dot::from(dot)), Ok(dot));
    let error = Dot::try_from(crdts::Dot::new(id(1), 0)).unwrap_err();
    assert_eq!(error.replica, id(1));
}

#[test]
fn the_order_of_versions_is_the_order_of_clocks() {
    let versions = [[0, 0], [1, 0], [0, 1], [1, 1], [2, 1]]
        .map(|[a, b]| Version::from_iter([(id(1), a), (id(2), b)]));
    for x in &versions {
        for y in &versions {
            assert_eq!(
                VClock::from(x).partial_cmp(&VClock::from(y)),
                x.partial_cmp(y)
            );
        }
    }
}

#[test]
fn counters_are_states_too() {
    let mut a = Replica::<GCounter>::new(id(1));
    let ((), delta) = a.update(|n| n.add(3)).unwrap();
    let mut b = State::<GCounter>::new();
    b.apply(delta);
    assert_eq!(b.value(), 3);
}

#[test]
fn values_become_those_of_the_other_crate() {
    let mut set = Replica::<GSet<u8>>::new(id(1));
    set.edit(|set| set.extend([2, 1])).unwrap();
    let theirs = crdts::GSet::from(&**set);
    let mut back = Replica::<GSet<u8>>::new(id(2));
    back.edit(|set| set.extend(theirs.read())).unwrap();
    assert_eq!(back.view(), set.view());

    let mut last = Replica::<LwwRegister<u8>>::new(id(1));
    assert_eq!(Option::<crdts::LWWReg<u8, Stamp>>::from(&**last), None);
    last.edit(|register| register.set(7, Stamp::from_millis(5)))
        .unwrap();
    let theirs = Option::<crdts::LWWReg<u8, Stamp>>::from(&**last).unwrap();
    assert_eq!((theirs.val, theirs.marker), (7, Stamp::from_millis(5)));
    let mut back = Replica::<LwwRegister<u8>>::new(id(2));
    back.edit(|register| register.set(theirs.val, theirs.marker))
        .unwrap();
    assert_eq!(
        (back.value(), back.stamp()),
        (Some(&7), Some(theirs.marker))
    );
}
