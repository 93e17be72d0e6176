//! What names impossible heads is refused: absorbed, it would leave a state that cannot be read.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use commute::codec::{DecodeError, DecodeErrorKind, Limits};
use commute::kernel::Fault;
use commute::{Applied, Delta, MergeError, OrSet, Replica, ReplicaId, State};

type Set = OrSet<u8>;

const REFUSED: Result<Applied, MergeError> = Err(MergeError::Invalid(Fault::HeadsImpossible));

fn replica(id: u128) -> Replica<Set> {
    Replica::new(ReplicaId::from(id))
}

fn with_checksum(mut bytes: Vec<u8>) -> Vec<u8> {
    let sum = twox_hash::XxHash3_64::oneshot(&bytes) as u32;
    bytes.extend_from_slice(&sum.to_le_bytes());
    bytes
}

/// A delta without entries whose clocks are `table` (small ids) and then `clocks`.
fn delta(table: &[u8], clocks: &[u8], seals: usize) -> Result<Delta<Set>, DecodeError> {
    let mut section = vec![table.len() as u8];
    for id in table {
        section.extend_from_slice(&ReplicaId::from(u128::from(*id)).to_bytes());
    }
    section.push(1);
    section.extend_from_slice(clocks);
    for _ in 0..seals {
        // The seal before is not told, the one after is 7.
        section.extend_from_slice(&[0, 7, 0, 0, 0, 0, 0, 0, 0]);
    }
    let mut bytes = b"CMUT\x01\x02\x00\x02".to_vec();
    bytes.push(section.len() as u8);
    bytes.append(&mut section);
    Delta::from_bytes(&with_checksum(bytes), &Limits::default())
}

fn unchanged_by(state: &State<Set>, delta: &Delta<Set>) {
    let mut after = state.clone();
    assert_eq!(after.absorb(delta), REFUSED);
    assert_eq!(&after, state);
    assert_eq!(
        State::from_bytes(&after.to_bytes(), &Limits::default()).as_ref(),
        Ok(state)
    );
}

#[test]
fn a_head_that_is_not_the_last_of_its_replica_is_refused() {
    // Claims 1..=2 of r3 after nothing; the head is 1.
    let wrong = delta(&[3], &[1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0], 1);
    assert_eq!(wrong.unwrap_err().kind, DecodeErrorKind::Inconsistent);
}

#[test]
fn a_delta_that_leaves_no_head_is_refused() {
    let (mut a, mut b) = (replica(1), replica(2));
    b.edit(|set| set.insert(1)).unwrap();
    let _ = a.merge(&b).unwrap();
    a.edit(|set| set.insert(2)).unwrap();
    // Claims r1:2 after r2:1; the head is r2:1, which r1:1 has seen.
    let dot = |replica, counter: u8| [1, replica, 1, counter - 1, 0];
    let clocks = [dot(0, 2), dot(1, 1), dot(1, 1)].concat();
    unchanged_by(a.state(), &delta(&[1, 2], &clocks, 1).unwrap());
}

#[test]
fn a_state_that_leaves_no_head_is_refused() {
    let (mut a, mut b, mut c) = (replica(1), replica(2), replica(3));
    a.edit(|set| set.insert(1)).unwrap();
    let _ = b.merge(&a).unwrap();
    b.edit(|set| set.insert(2)).unwrap();
    let _ = c.merge(&b).unwrap();
    c.edit(|set| set.insert(3)).unwrap();
    // Version and heads: the head becomes r1:1, which r2:1 has seen.
    let mut bytes = c.to_bytes();
    let honest = [1, 1, 1, 1, 2, 1, 0, 0];
    let at = bytes
        .windows(honest.len())
        .position(|window| window == honest);
    bytes[at.unwrap() + 4] = 0;
    bytes.truncate(bytes.len() - 4);
    let wrong = State::from_bytes(&with_checksum(bytes), &Limits::default()).unwrap();
    let before = b.state().clone();
    assert_eq!(b.merge(&wrong), REFUSED);
    assert_eq!(b.state(), &before);
}
