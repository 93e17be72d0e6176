//! Bytes of a struct that somebody tampered with are refused, or are canonical bytes of something
//! else; and whatever a state takes in, it can still be written and read.
#![cfg(feature = "derive")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use commute::codec::Limits;
use commute::{
    Delta, EditError, GCounter, OrSet, PnCounter, Replica, ReplicaId, Replicated, State,
};

#[derive(Debug, Replicated)]
struct Inner {
    members: OrSet<u8>,
    count: GCounter,
}

#[derive(Debug, Replicated)]
struct Board {
    #[replicated(tag = 1)]
    tags: OrSet<u8>,
    #[replicated(tag = 2)]
    score: PnCounter,
    #[replicated(tag = 3)]
    inner: Inner,
}

/// SplitMix64 (Steele, Lea, Flood 2014).
struct SplitMix64(u64);

impl SplitMix64 {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % bound as u64) as usize
    }
}

const HEADER_LEN: usize = 7;
const CHECKSUM_LEN: usize = 4;

fn edit(random: &mut SplitMix64, board: &mut BoardEdit<'_>) -> Result<(), EditError> {
    for _ in 0..1 + random.below(3) {
        let value = random.below(4) as u8;
        match random.below(7) {
            0 => board.tags().insert(value).map(drop)?,
            1 => board.tags().remove(&value).map(drop)?,
            2 => board.tags().clear()?,
            3 => board.score().subtract(u64::from(value))?,
            4 => board.inner().members().insert(value).map(drop)?,
            5 => board.inner().members().remove(&value).map(drop)?,
            _ => board.inner().count().add(u64::from(value))?,
        }
    }
    Ok(())
}

/// Three replicas after one execution, and the deltas they sent.
fn execution(random: &mut SplitMix64) -> (Vec<Replica<Board>>, Vec<Delta<Board>>) {
    let replica = |id| Replica::<Board>::new(ReplicaId::from(id));
    let mut replicas: Vec<_> = (1..=3).map(replica).collect();
    let mut deltas = Vec::new();
    for _ in 0..12 {
        let (at, from) = (random.below(3), random.below(3));
        let ((), delta) = replicas[at].update(|board| edit(random, board)).unwrap();
        deltas.push(delta);
        if random.below(2) == 0 {
            replicas[from].drop_ledger();
        }
        let answer = replicas[from].delta_since(replicas[at].version());
        if random.below(2) == 0 {
            let _ = replicas[at].absorb(&answer).unwrap();
        }
        deltas.push(answer);
    }
    (replicas, deltas)
}

/// Changes one or two bytes of the body and makes the checksum right again.
fn tamper(random: &mut SplitMix64, bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let body_len = bytes.len() - CHECKSUM_LEN;
    for _ in 0..1 + random.below(2) {
        let at = HEADER_LEN + random.below(body_len - HEADER_LEN);
        bytes[at] = match random.below(3) {
            0 => random.below(256) as u8,
            1 => bytes[at].wrapping_add(1),
            _ => random.below(4) as u8,
        };
    }
    let sum = twox_hash::XxHash3_64::oneshot(&bytes[..body_len]) as u32;
    bytes[body_len..].copy_from_slice(&sum.to_le_bytes());
    bytes
}

fn readable(state: &State<Board>) {
    let again = State::from_bytes(&state.to_bytes(), &Limits::default());
    assert_eq!(again.as_ref(), Ok(state));
}

/// Takes a tampered delta into `state`; returns whether it was read at all.
fn take_delta(bytes: &[u8], state: &State<Board>) -> bool {
    let Ok(delta) = Delta::<Board>::from_bytes(bytes, &Limits::default()) else {
        return false;
    };
    assert_eq!(delta.to_bytes(), bytes);
    let mut after = state.clone();
    let taken = after.absorb(&delta);
    assert_eq!(taken.clone().err(), state.check(&delta).err());
    if taken.is_err() {
        assert_eq!(&after, state);
    }
    readable(&after);
    true
}

/// Takes a tampered state into `state`; returns whether it was read at all.
fn take_state(bytes: &[u8], state: &State<Board>) -> bool {
    let Ok(other) = State::<Board>::from_bytes(bytes, &Limits::default()) else {
        return false;
    };
    assert_eq!(other.to_bytes(), bytes);
    let mut after = state.clone();
    let taken = after.merge(&other);
    assert_eq!(taken.clone().err(), state.check_merge(&other).err());
    if taken.is_err() {
        assert_eq!(&after, state);
    }
    readable(&after);
    true
}

#[test]
fn tampered_bytes_never_break_a_state() {
    let (mut read, mut refused) = (0, 0);
    for seed in 0..100 {
        let mut random = SplitMix64(seed);
        let (replicas, deltas) = execution(&mut random);
        let deltas = deltas.iter().filter(|delta| !delta.is_empty());
        let deltas = deltas.map(|delta| (true, delta.to_bytes()));
        let states = replicas.iter().map(|replica| (false, replica.to_bytes()));
        for (is_delta, bytes) in deltas.chain(states) {
            for _ in 0..20 {
                let bytes = tamper(&mut random, &bytes);
                let state = replicas[random.below(3)].state();
                let taken = match is_delta {
                    true => take_delta(&bytes, state),
                    false => take_state(&bytes, state),
                };
                *if taken { &mut read } else { &mut refused } += 1;
            }
        }
    }
    assert!(
        read > 1000 && refused > 1000,
        "{read} read, {refused} refused"
    );
}
