//! bincode: limited, canonical, and pinned byte for byte.
#![cfg(feature = "bincode")]

use std::collections::BTreeMap;

use commute::interop::bincode::{BincodeError, from_bincode, to_bincode};
use commute::{Delta, Dot, Dots, EntryId, Names, OrSet, Replica, ReplicaId, Stamp, State, Version};

fn id(bits: u128) -> ReplicaId {
    ReplicaId::from(bits)
}

/// The 16 bytes of a small id, then `rest`.
fn golden(replica: u8, rest: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; 15];
    bytes.push(replica);
    bytes.extend_from_slice(rest);
    bytes
}

#[test]
fn the_bytes_are_pinned() {
    assert_eq!(to_bincode(&id(7)), Ok(golden(7, &[])));
    let dot = Dot::new(id(7), 300);
    assert_eq!(to_bincode(&dot), Ok(golden(7, &[251, 44, 1])));
    assert_eq!(
        to_bincode(&EntryId::new(dot, 1)),
        Ok(golden(7, &[251, 44, 1, 1]))
    );
    assert_eq!(
        to_bincode(&Stamp::from_millis(1)),
        Ok(vec![252, 0, 0, 1, 0])
    );
    let version = Version::from_iter([(id(7), 5)]);
    assert_eq!(
        to_bincode(&version),
        Ok([vec![1], golden(7, &[5])].concat())
    );
    let dots = Dots::from(Dot::new(id(7), 5));
    assert_eq!(
        to_bincode(&dots),
        Ok([vec![1], golden(7, &[5, 5])].concat())
    );
    let names = Names::from(EntryId::new(Dot::new(id(7), 5), 3));
    let block = golden(7, &[5, 5, 0, 1, 1, 1]);
    assert_eq!(to_bincode(&names), Ok([vec![1], block].concat()));
}

#[test]
fn a_state_is_its_own_bytes_with_their_length() {
    let mut a = Replica::<OrSet<String>>::new(id(1));
    let (_, delta) = a.update(|set| set.insert("x".into())).unwrap();
    let bytes = a.to_bytes();
    let written = to_bincode(a.state()).unwrap();
    assert_eq!(written, [vec![bytes.len() as u8], bytes].concat());
    assert_eq!(
        from_bincode::<State<OrSet<String>>>(&written, 100).as_ref(),
        Ok(a.state())
    );
    let written = to_bincode(&delta).unwrap();
    assert_eq!(
        from_bincode::<Delta<OrSet<String>>>(&written, 100),
        Ok(delta)
    );
    let mut damaged = written;
    damaged[10] ^= 1;
    let read = from_bincode::<Delta<OrSet<String>>>(&damaged, 100);
    assert!(matches!(read, Err(BincodeError::Invalid(_))), "{read:?}");
}

#[test]
fn one_value_has_one_spelling() {
    let bytes = to_bincode(&Version::from_iter([(id(7), 5)])).unwrap();
    let read = |bytes: &[u8]| from_bincode::<Version>(bytes, 1000);
    assert!(read(&bytes).is_ok());
    for cut in 0..bytes.len() {
        assert_eq!(read(&bytes[..cut]), Err(BincodeError::Truncated));
    }
    assert_eq!(
        read(&[&bytes[..], &[0]].concat()),
        Err(BincodeError::TrailingBytes)
    );
    // The counter 5 in three bytes instead of one.
    let long = [&bytes[..17], &[251, 5, 0]].concat();
    assert_eq!(read(&long), Err(BincodeError::NotCanonical));
    // Two entries of a map, the greater first; the second pair overwrites nothing.
    let unsorted = [2, 9, 1, 3, 1];
    let read = from_bincode::<BTreeMap<u8, u8>>(&unsorted, 1000);
    assert_eq!(read, Err(BincodeError::NotCanonical));
}

#[test]
fn the_limit_holds_for_the_input_and_for_what_it_claims() {
    let bytes = to_bincode(&id(7)).unwrap();
    assert_eq!(from_bincode::<ReplicaId>(&bytes, 16), Ok(id(7)));
    assert_eq!(
        from_bincode::<ReplicaId>(&bytes, 15),
        Err(BincodeError::LimitExceeded)
    );
    // A text of 2^30 bytes, claimed in 5 bytes.
    let claim = [252, 0, 0, 0, 64];
    for limit in [5, 1 << 16, (1 << 16) + 1, 1 << 24, 1 << 28] {
        assert_eq!(
            from_bincode::<String>(&claim, limit),
            Err(BincodeError::LimitExceeded)
        );
    }
}
