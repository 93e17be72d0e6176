//! Unknown fields with content that somebody tampered with: refused, or canonical bytes of something
//! else; within the limits; and a state that refuses them is unchanged.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::boards::{Random, edit_new, new, old};
use crate::hostile::heap;
use commute::codec::{DecodeError, DecodeErrorKind as Kind, Limits};
use commute::value::{DEPTH_MAX, Plain};
use commute::{
    Delta, GCounter, OrMap, OrSet, PnCounter, Replica, ReplicaId, Replicated, State, Value,
};

const HEADER_LEN: usize = 7;
const CHECKSUM_LEN: usize = 4;

/// Makes the checksum right again.
fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let body_len = bytes.len() - CHECKSUM_LEN;
    let sum = twox_hash::XxHash3_64::oneshot(&bytes[..body_len]) as u32;
    bytes[body_len..].copy_from_slice(&sum.to_le_bytes());
    bytes
}

fn tamper(random: &mut Random, bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let body_len = (bytes.len() - CHECKSUM_LEN - HEADER_LEN) as u64;
    for _ in 0..1 + random.below(2) {
        let at = HEADER_LEN + random.below(body_len) as usize;
        bytes[at] = match random.below(3) {
            0 => random.below(256) as u8,
            1 => bytes[at].wrapping_add(1),
            _ => random.below(8) as u8,
        };
    }
    sealed(bytes)
}

/// What a peer may hold of its own before it reads what came.
fn held(random: &mut Random) -> Replica<old::Board> {
    let mut new = Replica::<new::Board>::new(ReplicaId::from(2));
    for _ in 0..4 {
        new.edit(|board| edit_new(random, board)).unwrap();
    }
    let state = State::from_bytes(&new.to_bytes(), &Limits::default()).unwrap();
    Replica::from_state(state, ReplicaId::from(3))
}

fn readable(state: &State<old::Board>) {
    let again = State::from_bytes(&state.to_bytes(), &Limits::default());
    assert_eq!(again.as_ref(), Ok(state));
}

/// Takes tampered bytes into `state`; returns whether they were read at all.
fn take(bytes: &[u8], is_delta: bool, state: &State<old::Board>) -> bool {
    let limits = Limits::default();
    let mut after = state.clone();
    let refused = match is_delta {
        true => {
            let Ok(delta) = Delta::<old::Board>::from_bytes(bytes, &limits) else {
                return false;
            };
            assert_eq!(delta.to_bytes(), bytes);
            let checked = state.check(&delta).err();
            let refused = after.absorb(&delta).err();
            assert_eq!(refused, checked);
            refused.is_some()
        }
        false => {
            let Ok(other) = State::<old::Board>::from_bytes(bytes, &limits) else {
                return false;
            };
            assert_eq!(other.to_bytes(), bytes);
            let checked = state.check_merge(&other).err();
            let refused = after.merge(&other).err();
            assert_eq!(refused, checked);
            refused.is_some()
        }
    };
    if refused {
        assert_eq!(&after, state);
    }
    readable(&after);
    true
}

#[test]
fn tampered_bytes_of_unknown_fields_never_break_a_state() {
    let (mut read, mut refused) = (0, 0);
    for seed in 0..20 {
        let mut random = Random(seed);
        let state = held(&mut random);
        let mut new = Replica::<new::Board>::new(ReplicaId::from(4));
        let same = State::from_bytes(&state.to_bytes(), &Limits::default()).unwrap();
        let _ = new.merge(&same).unwrap();
        let mut inputs = Vec::new();
        for _ in 0..4 {
            let (_, delta) = new.update(|board| edit_new(&mut random, board)).unwrap();
            inputs.extend((!delta.is_empty()).then(|| (true, delta.to_bytes())));
        }
        let answer = new.delta_since(state.version());
        inputs.extend((!answer.is_empty()).then(|| (true, answer.to_bytes())));
        inputs.push((false, new.to_bytes()));
        for (is_delta, bytes) in inputs {
            for _ in 0..40 {
                let bytes = tamper(&mut random, &bytes);
                let taken = take(&bytes, is_delta, state.state());
                *if taken { &mut read } else { &mut refused } += 1;
            }
        }
    }
    assert!(
        read > 300 && refused > 300,
        "{read} read, {refused} refused"
    );
}

#[derive(Debug, Replicated)]
struct Known {
    #[replicated(tag = 1)]
    tags: OrSet<u8>,
}

#[derive(Debug, Replicated)]
struct Grown {
    #[replicated(tag = 1)]
    tags: OrSet<u8>,
    #[replicated(tag = 9)]
    more: OrMap<u8, OrMap<u8, OrMap<u8, PnCounter>>>,
}

fn grown() -> Replica<Grown> {
    let mut a = Replica::<Grown>::new(ReplicaId::from(1));
    a.edit(|grown| {
        let mut more = grown.more();
        let mut more = more.entry(1);
        let mut more = more.entry(2);
        more.entry(3).add(1)
    })
    .unwrap();
    a
}

fn kind<T>(read: Result<T, DecodeError>) -> Option<Kind> {
    read.err().map(|error| error.kind)
}

#[test]
fn a_shape_that_nobody_here_knows_needs_a_newer_version() {
    let bytes = grown().to_bytes();
    // Tag 9, the length of the field, its shape: a map.
    let at = bytes
        .windows(3)
        .position(|w| matches!(w, [9, _, 4]))
        .unwrap()
        + 2;
    for (at, shape) in [(at, 7), (at, 0), (at + 1, 200)] {
        let mut bytes = bytes.clone();
        bytes[at] = shape;
        let read = State::<Known>::from_bytes(&sealed(bytes), &Limits::default());
        let unknown = u32::from(shape);
        assert_eq!(kind(read), Some(Kind::NeedsNewer { unknown }), "{at}");
    }
}

#[test]
fn rows_that_cannot_be_removed_do_not_stand_below_a_map() {
    let bytes = grown().to_bytes();
    let at = bytes
        .windows(3)
        .position(|w| matches!(w, [9, _, 4]))
        .unwrap()
        + 3;
    // The children of the unknown map are said to be rows of replicas.
    assert_eq!(bytes[at], 4);
    let mut rows = bytes.clone();
    rows[at] = 3;
    let read = State::<Known>::from_bytes(&sealed(rows), &Limits::default());
    assert_eq!(kind(read), Some(Kind::NeedsNewer { unknown: 3 }));
}

#[test]
fn unknown_fields_count_against_the_same_limits() {
    let (bytes, default) = (grown().to_bytes(), Limits::default());
    for depth in 0..10 {
        let limits = default.depth(depth);
        let (new, old) = (
            kind(State::<Grown>::from_bytes(&bytes, &limits)),
            kind(State::<Known>::from_bytes(&bytes, &limits)),
        );
        assert_eq!(new, old, "depth {depth}");
        assert_eq!(new.is_some(), depth < 5, "depth {depth}");
    }
    for items in 0..12 {
        let limits = default.items(items);
        let (new, old) = (
            kind(State::<Grown>::from_bytes(&bytes, &limits)),
            kind(State::<Known>::from_bytes(&bytes, &limits)),
        );
        assert_eq!(new, old, "items {items}");
    }
}

#[test]
fn what_its_own_type_allows_is_not_too_deep() {
    #[derive(Debug, Replicated)]
    struct Data {
        #[replicated(tag = 9)]
        data: Value,
    }
    let mut a = Replica::<Data>::new(ReplicaId::from(1));
    let lists = (0..DEPTH_MAX).fold(Plain::from(7), |inner, _| Plain::List(vec![inner]));
    a.edit(|data| data.data().set(lists)).unwrap();
    let bytes = a.to_bytes();
    let read = State::<Known>::from_bytes(&bytes, &Limits::default()).unwrap();
    assert_eq!(read.to_bytes(), bytes);
    let limits = Limits::default().depth(DEPTH_MAX);
    let read = State::<Known>::from_bytes(&bytes, &limits);
    assert_eq!(kind(read), Some(Kind::LimitExceeded));
}

#[test]
fn structs_in_structs_are_bounded() {
    let mut bytes = grown().to_bytes();
    // In the place of the unknown map: 100,000 structs of one field, each in the one before.
    let at = bytes
        .windows(3)
        .position(|w| matches!(w, [9, _, 4]))
        .unwrap();
    let start = bytes.windows(2).position(|w| w == [5, 1]).unwrap();
    assert_eq!(at, start + 2, "the content is a struct of one field");
    let mut inner = vec![1, 1, 0, 1, 1];
    for _ in 0..100_000 {
        let mut body = vec![5, 1, 9];
        varint(&mut body, inner.len());
        inner = [body, inner].concat();
        if inner.len() > 100_000 {
            break;
        }
    }
    let mut content = vec![5, 1, 9];
    varint(&mut content, inner.len());
    content.extend(inner);
    let section = start - 1;
    bytes.truncate(section);
    varint(&mut bytes, content.len());
    bytes.extend(content);
    bytes.extend([0; CHECKSUM_LEN]);
    let read = State::<Known>::from_bytes(&sealed(bytes), &Limits::default());
    assert_eq!(kind(read), Some(Kind::LimitExceeded));
}

fn varint(out: &mut Vec<u8>, mut number: usize) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

#[test]
fn unknown_fields_take_memory_in_proportion_to_their_bytes() {
    #[derive(Debug, Replicated)]
    struct Many {
        #[replicated(tag = 1)]
        tags: OrSet<u8>,
        #[replicated(tag = 2)]
        words: OrSet<u32>,
        #[replicated(tag = 3)]
        counts: OrMap<u32, GCounter>,
    }
    let mut many = Replica::<Many>::new(ReplicaId::from(1));
    many.edit(|many| {
        for n in 0..20_000 {
            many.words().insert(n)?;
            many.counts().entry(n).add(1)?;
        }
        Ok(())
    })
    .unwrap();
    let bytes = many.to_bytes();
    let (state, peak) = heap::peak(|| State::<Known>::from_bytes(&bytes, &Limits::default()));
    assert_eq!(state.unwrap().to_bytes(), bytes);
    let times = peak / bytes.len();
    assert!(
        times < 60,
        "{peak} bytes for {}: {times} times",
        bytes.len()
    );
}
