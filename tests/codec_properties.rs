//! Random sets of names and dots against plain sets, and random bytes against every decoder.
#![allow(clippy::unwrap_used, reason = "a test stops where it fails")]

use std::collections::BTreeSet;

use commute::codec::Limits;
use commute::{Delta, Dot, Dots, EntryId, GCounter, Names, OrSet, PnCounter, Replica, ReplicaId};
use commute::{State, Version};
use quickcheck::{Arbitrary, Gen, QuickCheck};

const CASES: u64 = 500;

fn check<P: quickcheck::Testable>(property: P) {
    QuickCheck::new().tests(CASES).quickcheck(property);
}

/// An entry out of few, so that sets meet, or at the far end, where sums overflow.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Entry(EntryId);

impl Arbitrary for Entry {
    fn arbitrary(g: &mut Gen) -> Entry {
        let replica = ReplicaId::from(u128::from(u8::arbitrary(g) % 3));
        let far = u8::arbitrary(g) % 8 == 0;
        let near = u64::from(u8::arbitrary(g) % 12);
        let counter = if far { u64::MAX - near } else { near + 1 };
        let index = u32::from(u8::arbitrary(g) % 6);
        let index = if far { u32::MAX - index } else { index };
        Entry(EntryId::new(Dot::new(replica, counter), index))
    }
}

type Entries = BTreeSet<Entry>;

fn names(entries: &Entries) -> Names {
    entries.iter().map(|entry| entry.0).collect()
}

fn listed(names: &Names) -> Entries {
    names.iter().map(Entry).collect()
}

/// `got` holds `want`, in the one form that a set has.
fn same_names(got: &Names, want: &Entries) -> bool {
    listed(got) == *want && *got == names(want) && got.len() == want.len() as u64
}

#[test]
fn names_are_sets() {
    fn property(p: Entries, q: Entries) -> bool {
        let (x, y) = (names(&p), names(&q));
        same_names(&x.union(&y), &(&p | &q))
            && same_names(&x.intersection(&y), &(&p & &q))
            && same_names(&x.difference(&y), &(&p - &q))
            && q.iter()
                .all(|entry| x.contains(entry.0) == p.contains(entry))
    }
    check(property as fn(Entries, Entries) -> bool);
}

#[test]
fn names_restrict_by_dots() {
    fn property(p: Entries, q: Entries) -> bool {
        let (x, dots) = (names(&p), names(&q).dots());
        let part = |within: bool| {
            let chosen = p
                .iter()
                .filter(|entry| dots.contains(entry.0.dot) == within);
            chosen.copied().collect::<Entries>()
        };
        same_names(&x.restrict(&dots), &part(true)) && same_names(&x.without(&dots), &part(false))
    }
    check(property as fn(Entries, Entries) -> bool);
}

fn dots(entries: &Entries) -> (Dots, BTreeSet<Dot>) {
    let set: BTreeSet<Dot> = entries.iter().map(|entry| entry.0.dot).collect();
    (set.iter().rev().copied().collect(), set)
}

fn same_dots(got: &Dots, want: &BTreeSet<Dot>) -> bool {
    got.iter().eq(want.iter().copied())
        && *got == want.iter().copied().collect::<Dots>()
        && got.len() == want.len() as u64
        && got.is_empty() == want.is_empty()
}

#[test]
fn dots_are_sets() {
    fn property(p: Entries, q: Entries) -> bool {
        let ((x, p), (y, q)) = (dots(&p), dots(&q));
        same_dots(&x.union(&y), &(&p | &q))
            && same_dots(&x.intersection(&y), &(&p & &q))
            && same_dots(&x.difference(&y), &(&p - &q))
            && x.is_subset(&y) == p.is_subset(&q)
            && q.iter().all(|dot| x.contains(*dot) == p.contains(dot))
    }
    check(property as fn(Entries, Entries) -> bool);
}

#[test]
fn dots_part_at_a_version() {
    fn property(p: Entries, seen: Vec<(u8, u8)>) -> bool {
        let seen = seen.iter();
        let version: Version = seen
            .map(|(id, n)| (ReplicaId::from(u128::from(id % 3)), u64::from(n % 14)))
            .collect();
        let (x, p) = dots(&p);
        let (within, beyond) = p.iter().copied().partition(|dot| version.contains(*dot));
        same_dots(&x.within(&version), &within)
            && same_dots(&x.beyond(&version), &beyond)
            && x.is_within(&version) == beyond.is_empty()
    }
    check(property as fn(Entries, Vec<(u8, u8)>) -> bool);
}

/// What one of three replicas does: who, what, with which word.
type Steps = Vec<(u8, u8, u8)>;

type Set = OrSet<u8>;

/// Three replicas after `steps`, and every delta made on the way.
fn run(steps: &Steps) -> (Vec<Replica<Set>>, Vec<Delta<Set>>) {
    let mut replicas: Vec<_> = (1..=3u128)
        .map(|id| Replica::new(ReplicaId::from(id)))
        .collect();
    let mut deltas: Vec<Delta<Set>> = Vec::new();
    for &(who, what, word) in steps {
        let (who, word) = (usize::from(who % 3), word % 4);
        let replica: &mut Replica<Set> = &mut replicas[who];
        match what % 4 {
            0 => deltas.push(replica.update(|set| set.insert(word)).unwrap().1),
            1 => deltas.push(replica.update(|set| set.remove(&word)).unwrap().1),
            2 => deltas.push(
                replica
                    .update(|set| set.extend([word, word ^ 1]))
                    .unwrap()
                    .1,
            ),
            _ => {
                let answer = replicas[usize::from(word % 3)].delta_since(replicas[who].version());
                let _ = replicas[who].absorb(&answer).unwrap();
                deltas.push(answer);
            }
        }
    }
    (replicas, deltas)
}

fn round_trip(delta: &Delta<Set>) -> bool {
    let bytes = delta.to_bytes();
    let back = Delta::<Set>::from_bytes(&bytes, &Limits::default());
    back.is_ok_and(|back| back == *delta && back.to_bytes() == bytes)
}

#[test]
fn deltas_and_their_groups_round_trip() {
    fn property(steps: Steps, groups: Vec<u8>) -> bool {
        let (_, deltas) = run(&steps);
        let mut merged = vec![Delta::empty(); 3];
        for (delta, group) in deltas
            .iter()
            .zip(groups.iter().chain(std::iter::repeat(&0)))
        {
            merged[usize::from(group % 3)].merge(delta).unwrap();
        }
        deltas.iter().chain(&merged).all(round_trip)
    }
    check(property as fn(Steps, Vec<u8>) -> bool);
}

#[test]
fn states_and_saves_round_trip() {
    fn property(steps: Steps) -> bool {
        let (replicas, _) = run(&steps);
        replicas.iter().all(|replica| {
            let (bytes, save) = (replica.to_bytes(), replica.save());
            let state = State::<Set>::from_bytes(&bytes, &Limits::default()).unwrap();
            let again = Replica::<Set>::resume(&save, &Limits::default()).unwrap();
            state == *replica.state() && state.to_bytes() == bytes && again.save() == save
        })
    }
    check(property as fn(Steps) -> bool);
}

/// Decodes as everything there is, and encodes again what was accepted.
fn accepted(bytes: &[u8]) -> Vec<Vec<u8>> {
    let limits = &Limits::default();
    let again = [
        Version::from_bytes(bytes, limits).map(|v| v.to_bytes()),
        State::<OrSet<String>>::from_bytes(bytes, limits).map(|s| s.to_bytes()),
        State::<GCounter>::from_bytes(bytes, limits).map(|s| s.to_bytes()),
        Delta::<OrSet<(String, u8)>>::from_bytes(bytes, limits).map(|d| d.to_bytes()),
        Delta::<PnCounter>::from_bytes(bytes, limits).map(|d| d.to_bytes()),
        Replica::<OrSet<u8>>::resume(bytes, limits).map(|r| r.save()),
    ];
    again.into_iter().flatten().collect()
}

#[test]
fn random_bytes_are_refused() {
    fn property(bytes: Vec<u8>, kind: u8) -> bool {
        let mut frame = b"CMUT\x01".to_vec();
        frame.extend([kind % 5, 0]);
        frame.extend(&bytes);
        let sum = twox_hash::XxHash3_64::oneshot(&frame) as u32;
        frame.extend(sum.to_le_bytes());
        accepted(&frame).iter().all(|again| *again == frame) && accepted(&bytes).is_empty()
    }
    check(property as fn(Vec<u8>, u8) -> bool);
}
