//! The story that the kernel exists for: a removal that comes before what it removes.

use commute::codec::Limits;
use commute::{Applied, Delta, Dot, Dots, OrSet, Replica, ReplicaId, State};

type Set = OrSet<String>;

fn replica(id: u128) -> Replica<Set> {
    Replica::new(ReplicaId::from(id))
}

/// Equal versions must mean equal bytes, at every moment and for every pair.
fn no_two_agree_and_differ(replicas: &[&Replica<Set>]) {
    for a in replicas {
        for b in replicas {
            if a.version() == b.version() {
                assert_eq!(a.to_bytes(), b.to_bytes());
            }
        }
    }
}

#[test]
fn a_removal_that_comes_before_what_it_removes_waits_and_is_repaired() {
    let (mut r, mut a, mut b, mut c) = (replica(9), replica(1), replica(2), replica(3));
    let (_, first) = r.update(|set| set.insert("x".into())).unwrap();
    for everyone in [&mut a, &mut b, &mut c] {
        assert_eq!(everyone.absorb(&first), Ok(Applied::New));
    }
    no_two_agree_and_differ(&[&r, &a, &b, &c]);

    let (_, again) = b.update(|set| set.insert("x".into())).unwrap();
    assert_eq!(a.absorb(&again), Ok(Applied::New));
    no_two_agree_and_differ(&[&r, &a, &b, &c]);

    let (_, removal) = a.update(|set| set.remove("x")).unwrap();
    let missing = Dots::from(Dot::new(b.id(), 1));
    assert_eq!(c.absorb(&removal), Ok(Applied::Waiting(missing.clone())));
    assert!(c.contains("x"), "nothing of a waiting delta shows");
    assert_eq!(c.missing(), missing);
    no_two_agree_and_differ(&[&r, &a, &b, &c]);

    assert_eq!(c.absorb(&a.delta_since(c.version())), Ok(Applied::New));
    assert_eq!(c.to_bytes(), a.to_bytes());
    assert!(c.is_empty() && c.waiting() == 0);
    no_two_agree_and_differ(&[&r, &a, &b, &c]);
}

#[test]
fn bytes_round_trip_and_small_deltas_are_small() {
    let mut a = replica(u128::MAX);
    a.edit(|set| set.extend((0..1000).map(|n| format!("word{n}"))))
        .unwrap();
    let (_, delta) = a.update(|set| set.insert("one more".into())).unwrap();
    let bytes = delta.to_bytes();
    assert!(bytes.len() < 100, "{} bytes", bytes.len());
    let back = Delta::<Set>::from_bytes(&bytes, &Limits::default()).unwrap();
    assert_eq!(back, delta);
    let state = State::<Set>::from_bytes(&a.to_bytes(), &Limits::default()).unwrap();
    assert_eq!(&state, a.state());
    let mut again = Replica::<Set>::resume(&a.save(), &Limits::default()).unwrap();
    assert_eq!(again, a);
    assert_eq!(again.save(), a.save());
    let (_, x) = a.update(|set| set.remove("word7")).unwrap();
    let (_, y) = again.update(|set| set.remove("word7")).unwrap();
    assert_eq!(x.to_bytes(), y.to_bytes());
}
