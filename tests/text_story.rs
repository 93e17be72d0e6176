//! Text through replicas: updates, waiting, bytes.

use commute::codec::Limits;
use commute::text::{Chars, Utf16};
use commute::{Applied, Delta, EditError, Replica, ReplicaId, State, Text};

fn replica(id: u128) -> Replica<Text> {
    Replica::new(ReplicaId::from(id))
}

#[test]
fn early_deletes_wait_and_bytes_agree() {
    let (mut a, mut b, mut c) = (replica(1), replica(2), replica(3));
    let (_, hello) = a.update(|text| text.insert(Chars(0), "hello")).unwrap();
    b.absorb(&hello).unwrap();
    let (_, cut) = b.update(|text| text.delete(Chars(1)..Chars(3))).unwrap();
    let (_, more) = b
        .update(|text| text.insert(Chars(3), "\u{1F309}!"))
        .unwrap();
    assert!(matches!(c.absorb(&more), Ok(Applied::Waiting(_))));
    assert!(matches!(c.absorb(&cut), Ok(Applied::Waiting(_))));
    assert!(c.is_empty());
    assert_eq!(c.absorb(&hello), Ok(Applied::New));
    assert_eq!(c.to_string(), "hlo\u{1F309}!");
    assert_eq!(c.to_bytes(), b.to_bytes());
    a.merge(&c).unwrap();
    assert_eq!(a, c);
    let back = State::<Text>::from_bytes(&a.to_bytes(), &Limits::default()).unwrap();
    assert_eq!((&back, back.to_bytes()), (a.state(), a.to_bytes()));
    for delta in [&hello, &cut, &more] {
        let bytes = delta.to_bytes();
        assert_eq!(
            &Delta::<Text>::from_bytes(&bytes, &Limits::default()).unwrap(),
            delta
        );
    }
    let mut group = cut.clone();
    group.merge(&more).unwrap();
    group.merge(&hello).unwrap();
    let mut d = replica(4);
    d.absorb(&group).unwrap();
    assert_eq!(d, a);
}

#[test]
fn a_failed_update_leaves_nothing() {
    let mut a = replica(1);
    a.edit(|text| text.insert(Chars(0), "a\u{1F309}b")).unwrap();
    let before = a.to_bytes();
    let failed = a.edit(|text| {
        text.delete(Chars(0)..Chars(2))?;
        text.insert(Chars(1), "xyz")?;
        text.insert(Utf16(99), "never")
    });
    assert!(matches!(failed, Err(EditError::Index(_))));
    assert_eq!(
        (a.to_bytes(), a.to_string()),
        (before, "a\u{1F309}b".into())
    );
}
