//! Two replicas under one id never end with equal versions and different bytes, unnoticed.
#![allow(clippy::unwrap_used, reason = "a test stops where it fails")]

use commute::text::Chars;
use commute::{GCounter, MergeError, MvRegister, OrMap, Replica, ReplicaId, Text};

fn counter(id: u128) -> Replica<GCounter> {
    Replica::new(ReplicaId::from(id))
}

/// Two replicas under one id, both with `base` from another one.
fn twins(base: &str) -> [Replica<Text>; 2] {
    let mut other = Replica::<Text>::new(ReplicaId::from(1));
    other.edit(|text| text.insert(Chars(0), base)).unwrap();
    [2, 2].map(|id| other.fork_as(ReplicaId::from(id)))
}

fn assert_found(mut a: Replica<Text>, mut b: Replica<Text>) {
    let reused = Err(MergeError::IdentityReused { replica: a.id() });
    assert_eq!(a.version(), b.version());
    assert_ne!(a.to_bytes(), b.to_bytes());
    assert_eq!(a.merge(&b), reused);
    assert_eq!(b.merge(&a), reused);
}

#[test]
fn the_same_text_at_two_places_is_a_reused_identity() {
    let [mut a, mut b] = twins("ab");
    let (_, from_a) = a.update(|text| text.insert(Chars(0), "x")).unwrap();
    let (_, from_b) = b.update(|text| text.insert(Chars(2), "x")).unwrap();
    let reused = Err(MergeError::IdentityReused { replica: a.id() });
    let absorbed = (a.absorb(&from_b), b.absorb(&from_a));
    assert_eq!(absorbed, (reused.clone(), reused));
    assert_found(a, b);
}

#[test]
fn deletions_at_two_places_are_a_reused_identity() {
    let [mut a, mut b] = twins("ab");
    let (_, from_a) = a.update(|text| text.delete(Chars(0)..Chars(1))).unwrap();
    let (_, from_b) = b.update(|text| text.delete(Chars(1)..Chars(2))).unwrap();
    let reused = Err(MergeError::IdentityReused { replica: a.id() });
    let absorbed = (a.absorb(&from_b), b.absorb(&from_a));
    assert_eq!(absorbed, (reused.clone(), reused));
    assert_found(a, b);
}

#[test]
fn one_update_with_two_pasts_is_a_reused_identity() {
    let (mut a, mut b) = (counter(2), counter(2));
    let (_, base) = counter(1).update(|count| count.add(1)).unwrap();
    a.absorb(&base).unwrap();
    let (_, from_a) = a.update(|count| count.add(1)).unwrap();
    let (_, from_b) = b.update(|count| count.add(1)).unwrap();
    b.absorb(&base).unwrap();
    assert_eq!(a.version(), b.version());
    assert_ne!(a.to_bytes(), b.to_bytes());
    let reused = Err(MergeError::IdentityReused { replica: a.id() });
    assert_eq!(a.absorb(&from_b), reused);
    assert_eq!(b.absorb(&from_a), reused);
    assert_eq!(a.merge(&b), reused);
}

/// What is sealed one after the other has a length: a payload that looks like the next entry is
/// another update.
#[test]
fn a_payload_that_reads_like_another_entry_is_a_reused_identity() {
    type Notes = OrMap<String, MvRegister<String>>;
    let [mut a, mut b] = [2, 2].map(|id| Replica::<Notes>::new(ReplicaId::from(id)));
    a.edit(|notes| {
        notes.entry("k1".into()).set("abc".into())?;
        notes.entry("k2".into()).set("d".into())
    })
    .unwrap();
    let both = "abc\x02\0\0\0\0\0\0\0k2\x03\0\0\0d";
    b.edit(|notes| notes.entry("k1".into()).set(both.into()))
        .unwrap();
    let mut c = Replica::<Notes>::new(3.into());
    c.absorb(&a.delta_since(c.version())).unwrap();
    b.edit(|notes| notes.entry("k3".into()).set("x".into()))
        .unwrap();
    let reused = Err(MergeError::IdentityReused { replica: a.id() });
    assert_eq!(c.absorb(&b.delta_since(c.version())), reused);
    assert_eq!(c.merge(b.state()), reused);
}
