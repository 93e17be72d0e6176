//! Deltas, states and saves that are well formed and mean harm.

use commute::codec::{DecodeErrorKind, Limits};
use commute::kernel::{EditError, Fault};
use commute::replica::WaitingLimits;
use commute::{Applied, Delta, GCounter, MergeError, OrSet, Replica, ReplicaId, State, Version};

use super::heap;
use super::surgery::{
    Block, DELTA, SAVE, STATE, dots, frame, joined, names, ranges, seals, sections, table, varint,
};
use super::watchdog::without_hanging;
use crate::samples::{Wire, id, replica, take_into, words};

type Words = OrSet<String>;

const CLOCKS: u64 = 2;
const CONTENT: u64 = 4;
const KILLS: u64 = 8;
const RECORDS: u64 = 10;
const COMBINED: u8 = 1;
/// Each section's replicas are these.
const EE: u64 = 0;
const FF: u64 = 1;
const HUGE: u64 = 1 << 62;

fn ids() -> [ReplicaId; 2] {
    [id(0xee), id(0xff)]
}

fn decode(bytes: &[u8]) -> Result<Delta<Words>, DecodeErrorKind> {
    let most = 64 * bytes.len() + 64 * 1024;
    let (delta, peak) = heap::peak(|| Delta::from_bytes(bytes, &Limits::default()));
    assert!(
        peak <= most,
        "{peak} bytes of memory for {} of input",
        bytes.len()
    );
    delta.map_err(|error| error.kind)
}

/// A delta that claims the updates of EE up to `last` and brings nothing.
fn claims_up_to(last: u64) -> Delta<Words> {
    let clocks = [
        table(&ids()[..1]),
        vec![COMBINED],
        dots(&[(EE, &[(1, last)])]),
        dots(&[]),
        dots(&[(EE, &[(last, last)])]),
        seals(&[7]),
    ];
    decode(&frame(DELTA, &[(CLOCKS, clocks.concat())])).unwrap()
}

/// What a delta says that FF makes after it has seen `after` of EE, with these claims of EE beside.
struct Crafted<'a> {
    counter: u64,
    claims: &'a [(u64, u64)],
    after: &'a [(u64, u64)],
    all_of: &'a [(u64, u64)],
    except: &'a [Block<'a>],
    also: &'a [Block<'a>],
    killed: &'a [&'a [Block<'a>]],
}

const NOTHING: Crafted<'_> = Crafted {
    counter: 1,
    claims: &[],
    after: &[],
    all_of: &[],
    except: &[],
    also: &[],
    killed: &[],
};

fn of_ee<T>(list: &[T]) -> Vec<(u64, &[T])> {
    let any = !list.is_empty();
    any.then_some((EE, list)).into_iter().collect()
}

impl Crafted<'_> {
    fn bytes(&self) -> Vec<u8> {
        let last = self.counter + self.killed.len().max(1) as u64 - 1;
        let own = [(self.counter, last)];
        let mut claims = of_ee(self.claims);
        claims.push((FF, &own));
        let mut heads = vec![(FF, last)];
        if let Some(&(_, last)) = self.claims.last() {
            heads.insert(0, (EE, last));
        }
        let heads: Vec<[(u64, u64); 1]> = heads.iter().map(|(_, last)| [(*last, *last)]).collect();
        let at = |at: usize| if heads.len() == 1 { FF } else { at as u64 };
        let heads: Vec<_> = heads
            .iter()
            .enumerate()
            .map(|(n, run)| (at(n), &run[..]))
            .collect();
        let clocks = [
            table(&ids()),
            vec![COMBINED],
            dots(&claims),
            dots(&of_ee(self.after)),
            dots(&heads),
            seals(&vec![9; claims.len()]),
        ];
        let kills = [
            dots(&of_ee(self.all_of)),
            names(&of_ee(self.except)),
            names(&of_ee(self.also)),
        ];
        let mut records = vec![dots(&[(FF, &own)]), varint(self.killed.len() as u64)];
        for (counter, blocks) in (self.counter..).zip(self.killed) {
            records.extend([varint(FF), varint(counter), names(&of_ee(blocks))]);
        }
        let mut sections = vec![(CLOCKS, clocks.concat())];
        let any = !self.all_of.is_empty() || !self.also.is_empty();
        sections.extend(any.then(|| (KILLS, kills.concat())));
        sections.extend((!self.killed.is_empty()).then(|| (RECORDS, records.concat())));
        frame(DELTA, &sections)
    }
}

/// `count` indices with gaps between them.
fn comb(count: u64) -> Vec<(u64, u64)> {
    (0..count).map(|n| (2 * n, 2 * n)).collect()
}

/// Every second update, `count` of them.
fn every_second(count: u64) -> Vec<(u64, u64)> {
    (1..=count).map(|n| (2 * n, 2 * n)).collect()
}

fn sound(state: &State<Words>) {
    let bytes = state.to_bytes();
    let back = State::<Words>::from_bytes(&bytes, &Limits::default()).unwrap();
    assert_eq!(back.to_bytes(), bytes);
}

#[test]
fn claims_of_2_to_the_63_updates_cost_nothing() {
    without_hanging(|| {
        let mut state = words().into_state();
        assert_eq!(state.absorb(&claims_up_to(1 << 63)), Ok(Applied::New));
        assert_eq!(state.version().get(id(0xee)), 1 << 63);
        sound(&state);
        let answer = state.delta_since(words().version());
        let mut other = words().into_state();
        assert_eq!(other.absorb(&answer), Ok(Applied::New));
        assert_eq!(other, state);
        let mut ee = Replica::from_state(state, id(0xee));
        assert_eq!(ee.edit(|set| set.insert("on".into())), Ok(true));
        assert_eq!(ee.version().get(id(0xee)), (1 << 63) + 1);
    });
}

#[test]
fn after_the_last_dot_an_update_is_refused() {
    let mut state = words().into_state();
    assert_eq!(state.absorb(&claims_up_to(u64::MAX)), Ok(Applied::New));
    let mut ee = Replica::from_state(state, id(0xee));
    let before = ee.save();
    assert_eq!(
        ee.edit(|set| set.insert("x".into())),
        Err(EditError::CounterExhausted)
    );
    assert_eq!(
        ee.edit(|set| set.remove("both")),
        Err(EditError::CounterExhausted)
    );
    assert_eq!(ee.save(), before);
    sound(&ee);
}

#[test]
fn a_counter_at_its_end_refuses_to_grow() {
    let mut b = replica::<GCounter>(0xbb);
    b.edit(|n| n.add(u64::MAX)).unwrap();
    let before = b.save();
    assert_eq!(b.edit(|n| n.add(1)), Err(EditError::CounterOverflow));
    assert_eq!(b.save(), before);
    let mut a = replica::<GCounter>(0xaa);
    a.edit(|n| n.add(u64::MAX)).unwrap();
    let _ = a.merge(&b).unwrap();
    assert_eq!(a.value(), 2 * u128::from(u64::MAX));
}

#[test]
fn kills_over_huge_ranges_cost_nothing() {
    without_hanging(|| {
        let mut state = words().into_state();
        let _ = state.absorb(&claims_up_to(2 * HUGE)).unwrap();
        let comb = comb(1000);
        let blocks: Vec<Block<'_>> = (0..100)
            .map(|n| (2 * n + 1, 2 * n + 1, &comb[..1]))
            .collect();
        let crafted = Crafted {
            after: &[(1, HUGE), (2 * HUGE, 2 * HUGE)],
            all_of: &[(1, HUGE)],
            except: &blocks,
            also: &[(HUGE + 1, 2 * HUGE, &comb)],
            killed: &[&[(HUGE - 5, 2 * HUGE, &comb)]],
            ..NOTHING
        };
        let delta = decode(&crafted.bytes()).unwrap();
        assert_eq!(state.absorb(&delta), Ok(Applied::New));
        sound(&state);
        assert_eq!(*state, words().view(), "no word was hit");
        let mut other = words().into_state();
        let _ = other.absorb(&claims_up_to(2 * HUGE)).unwrap();
        assert_eq!(
            other.absorb(&state.delta_since(other.version())),
            Ok(Applied::New)
        );
        assert_eq!(other, state);
    });
}

/// Many indices over many updates, cut by many claims: the pieces would fill the memory.
#[test]
fn records_cut_by_claims_stay_small() {
    without_hanging(|| {
        let (comb, holes) = (comb(20_000), every_second(20_000));
        let crafted = Crafted {
            claims: &holes,
            killed: &[&[(1, HUGE, &comb)]],
            ..NOTHING
        };
        assert_eq!(decode(&crafted.bytes()), Err(DecodeErrorKind::Inconsistent));
        let covered = Crafted {
            after: &[(1, 1), (3, 3), (50_000, HUGE)],
            also: &[(1, 1, &comb), (3, 3, &comb), (50_000, HUGE, &comb)],
            claims: &[(2, 2), (4, 49_999)],
            killed: &[&[(1, HUGE, &comb)]],
            ..NOTHING
        };
        assert!(decode(&covered.bytes()).is_ok());
    });
}

/// Records that cross each other are as large as their product.
#[test]
fn records_cut_by_each_other_are_refused() {
    without_hanging(|| {
        let comb = comb(5_000);
        let singles: Vec<Block<'_>> = (1..=5_000).map(|n| (2 * n, 2 * n, &comb[..1])).collect();
        let crafted = Crafted {
            after: &[(1, HUGE)],
            all_of: &[(1, HUGE)],
            killed: &[&[(1, HUGE, &comb[1..])], &singles],
            ..NOTHING
        };
        assert_eq!(decode(&crafted.bytes()), Err(DecodeErrorKind::Inconsistent));
    });
}

/// The same two records, one delta each: taken, but the ledger does not let them meet.
#[test]
fn a_ledger_of_crossing_records_answers_by_fallback() {
    without_hanging(|| {
        let comb = comb(5_000);
        let singles: Vec<Block<'_>> = (1..=5_000).map(|n| (2 * n, 2 * n, &comb[..1])).collect();
        let mut state = words().into_state();
        let _ = state.absorb(&claims_up_to(HUGE)).unwrap();
        let before = state.version().clone();
        for (counter, killed) in [(1, &[(1, HUGE, &comb[1..])][..]), (2, &singles)] {
            let crafted = Crafted {
                counter,
                after: &[(1, HUGE)],
                all_of: &[(1, HUGE)],
                killed: &[killed],
                ..NOTHING
            };
            let delta = decode(&crafted.bytes()).unwrap();
            assert_eq!(state.absorb(&delta), Ok(Applied::New));
        }
        let (answer, peak) = heap::peak(|| state.delta_since(&before));
        assert!(peak < 64 << 20, "{peak} bytes of memory");
        let mut other = words().into_state();
        let _ = other.absorb(&claims_up_to(HUGE)).unwrap();
        let answer = decode(&answer.to_bytes()).unwrap();
        assert_eq!(other.absorb(&answer), Ok(Applied::New));
        assert_eq!(other, state);
        let mut replica = Replica::from_state(state, id(0xab));
        let resumed = |saved: &[u8]| Replica::<Words>::resume(saved, &Limits::default()).unwrap();
        let saved = replica.save();
        assert_eq!(resumed(&saved).save(), saved);
        // So many that the ledger forgets the seals of the others.
        for n in 0..1_100 {
            replica.edit(|words| words.insert(format!("{n}"))).unwrap();
        }
        let saved = replica.save();
        assert_eq!(resumed(&saved).save(), saved);
    });
}

#[test]
fn merging_kills_that_cross_each_other_is_refused() {
    without_hanging(|| {
        let (comb, holes) = (comb(5_000), every_second(5_000));
        let wide = Crafted {
            after: &[(1, HUGE)],
            all_of: &[(1, HUGE)],
            except: &[(1, HUGE, &comb)],
            ..NOTHING
        };
        let narrow = Crafted {
            counter: 2,
            after: &[(1, HUGE)],
            all_of: &holes,
            ..NOTHING
        };
        let (mut wide, narrow) = (
            decode(&wide.bytes()).unwrap(),
            decode(&narrow.bytes()).unwrap(),
        );
        let before = wide.to_bytes();
        let (result, peak) = heap::peak(|| wide.merge(&narrow));
        assert_eq!(result, Err(MergeError::Invalid(Fault::TooIntricate)));
        assert!(peak < 4 << 20, "{peak} bytes of memory");
        assert_eq!(wide.to_bytes(), before);
    });
}

/// A head that another claim follows, or none that is new, would leave a state nobody can read.
#[test]
fn heads_that_cannot_be_are_refused() {
    let clocks = |heads: &[(u64, &[(u64, u64)])]| {
        let clocks = [
            table(&ids()),
            vec![COMBINED],
            dots(&[(EE, &[(1, 3)])]),
            dots(&[(FF, &[(1, 1)])]),
            dots(heads),
            seals(&[7]),
        ];
        decode(&frame(DELTA, &[(CLOCKS, clocks.concat())]))
    };
    let inconsistent = Err(DecodeErrorKind::Inconsistent);
    assert_eq!(clocks(&[(EE, &[(2, 3)])]), inconsistent);
    assert_eq!(clocks(&[(EE, &[(1, 1), (3, 3)])]), inconsistent);
    assert!(clocks(&[(EE, &[(3, 3)])]).is_ok());

    let first = [
        table(&ids()[1..]),
        vec![COMBINED],
        dots(&[(0, &[(1, 1)])]),
        dots(&[]),
        dots(&[(0, &[(1, 1)])]),
        seals(&[9]),
    ];
    let first = decode(&frame(DELTA, &[(CLOCKS, first.concat())])).unwrap();
    let mut state = words().into_state();
    let _ = state.absorb(&first).unwrap();
    let old_head = clocks(&[(FF, &[(1, 1)])]).unwrap();
    let before = state.to_bytes();
    let refused = Err(MergeError::Invalid(Fault::HeadsImpossible));
    assert_eq!(state.absorb(&old_head), refused);
    assert_eq!(state.to_bytes(), before);
}

#[test]
fn a_state_without_a_new_head_is_refused() {
    let state = words().into_state();
    let parts = sections(&state.to_bytes());
    let seals = &parts[0].1[parts[0].1.len() - 24..];
    let clocks = [
        table(&[id(0xaa), id(0xbb), id(0xcc), id(0xee)]),
        joined(&[&[2, 1, 1, 1], &dots(&[(1, &[(1, 1)])]), seals, &[0; 8]]),
    ];
    let forged = frame(
        STATE,
        &[(CLOCKS, clocks.concat()), (CONTENT, parts[1].1.clone())],
    );
    let forged = State::<Words>::from_bytes(&forged, &Limits::default()).unwrap();
    let mut mine = state.clone();
    let refused = Err(MergeError::Invalid(Fault::HeadsImpossible));
    assert_eq!(mine.merge(&forged), refused);
    assert_eq!(take_into(&state, |state| state.merge(&forged)), Ok(()));
}

/// Two groups that need each other and contradict each other: neither comes in by half.
#[test]
fn groups_that_contradict_each_other_leave_no_gap() {
    let group = |claims: &[(u64, u64)], heads: &[(u64, u64)], word: u8| {
        let clocks = [
            table(&ids()),
            vec![COMBINED],
            dots(&[(EE, claims), (FF, &[(1, 1)])]),
            dots(&[]),
            dots(&[(EE, heads), (FF, &[(1, 1)])]),
            seals(&[7, 9]),
        ];
        // One entry of FF's update, at a word that differs.
        let content = vec![4, 1, 1, 1, word, FF as u8 * 4, 1];
        decode(&frame(
            DELTA,
            &[(CLOCKS, clocks.concat()), (CONTENT, content)],
        ))
        .unwrap()
    };
    let (x, y) = (
        group(&[(1, 1), (3, 3)], &[(1, 1), (3, 3)], b'x'),
        group(&[(2, 2)], &[(2, 2)], b'y'),
    );
    for (first, second) in [(&x, &y), (&y, &x)] {
        let mut state = words().into_state();
        assert!(matches!(state.absorb(first), Ok(Applied::Waiting(_))));
        let _ = state.absorb(second).unwrap();
        assert_eq!(state.to_bytes(), words().to_bytes());
        assert_eq!(
            state.take_rejected(),
            [MergeError::Invalid(Fault::NameTwice)]
        );
        sound(&state);
    }
}

fn chain(count: usize) -> Vec<Delta<Words>> {
    let mut a = replica::<Words>(0xaa);
    let word = |n: usize| format!("word{n}");
    let made = (0..count).map(|n| a.update(|set| set.insert(word(n))).unwrap().1);
    made.collect()
}

#[test]
fn what_waits_is_bounded_however_much_arrives() {
    let mut state = State::<Words>::new();
    state.set_waiting_limits(WaitingLimits::new(8, 1 << 20));
    let chain = chain(10_000);
    let before = heap::held();
    for delta in &chain[1..] {
        assert!(matches!(state.absorb(delta), Ok(Applied::Waiting(_))));
    }
    assert_eq!(state.waiting(), 8);
    let held = heap::held() - before;
    assert!(held < 64 * 1024, "{held} bytes are held");
}

#[test]
fn intricate_names_weigh_what_they_hold() {
    let comb = comb(50_000);
    let mut state = State::<Words>::new();
    state.set_waiting_limits(WaitingLimits::new(100, 1000));
    let crafted = Crafted {
        after: &[(1, HUGE)],
        also: &[(1, HUGE, &comb)],
        ..NOTHING
    };
    let heavy = decode(&crafted.bytes()).unwrap();
    assert!(matches!(state.absorb(&heavy), Ok(Applied::Waiting(_))));
    assert_eq!(state.waiting(), 0, "too heavy to wait");
}

/// With a group among what waits, each arrival looks for groups that need each other.
#[test]
fn a_long_chain_that_waits_beside_a_group_is_not_searched_over_and_over() {
    without_hanging(|| {
        let mut state = State::<Words>::new();
        let mut group = Delta::<Words>::empty();
        let mut b = replica::<Words>(0xbb);
        for word in ["first", "x", "y"] {
            let (_, delta) = b.update(|set| set.insert(word.into())).unwrap();
            if word != "first" {
                group.merge(&delta).unwrap();
            }
        }
        assert!(matches!(state.absorb(&group), Ok(Applied::Waiting(_))));
        let chain = chain(1200);
        for delta in &chain[1..] {
            assert!(matches!(state.absorb(delta), Ok(Applied::Waiting(_))));
        }
        assert_eq!(state.absorb(&chain[0]), Ok(Applied::New));
        assert_eq!((state.len(), state.waiting()), (1200, 1));
    });
}

#[test]
fn a_save_has_one_spelling() {
    let mut a = words();
    a.edit(|set| set.insert("x".into())).unwrap();
    let parts = sections(&a.save());
    let resume = |parts: &[(u64, Vec<u8>)]| {
        let resumed = Replica::<Words>::resume(&frame(SAVE, parts), &Limits::default());
        resumed
            .map(|replica| replica.encode())
            .map_err(|error| error.kind)
    };
    assert_eq!(resume(&parts), Ok(a.save()));
    for missing in 0..parts.len() {
        let mut parts = parts.clone();
        parts.remove(missing);
        assert!(
            resume(&parts).is_err(),
            "section {missing} may not be missing"
        );
    }
    let mut newer = parts.clone();
    newer.push((9, b"later".to_vec()));
    assert_eq!(
        resume(&newer),
        Ok(frame(SAVE, &newer)),
        "an odd section is kept"
    );
    newer.push((10, b"later".to_vec()));
    assert_eq!(
        resume(&newer),
        Err(DecodeErrorKind::NeedsNewer { unknown: 10 })
    );

    let mut much = parts.clone();
    let seals = (1..=1025u64).flat_map(|n| [vec![0], varint(n), vec![0; 8]].concat());
    let ledger = [dots(&[]), varint(0), varint(1025), seals.collect()];
    much[2].1 = ledger.concat();
    assert_eq!(resume(&much), Err(DecodeErrorKind::LimitExceeded));
}

#[test]
fn ranges_that_touch_or_overflow_are_refused() {
    let version = |clocks: Vec<u8>| {
        let bytes = frame(DELTA, &[(CLOCKS, clocks)]);
        decode(&bytes).map(drop)
    };
    let claims = |claims: Vec<u8>| {
        let head = dots(&[(EE, &[(1, 1)])]);
        let pieces = [
            table(&ids()[..1]),
            vec![COMBINED],
            claims,
            dots(&[]),
            head,
            seals(&[7]),
        ];
        version(pieces.concat())
    };
    assert_eq!(claims(dots(&[(EE, &[(1, 1)])])), Ok(()));
    let one = |runs: Vec<u8>| joined(&[&[1, 0], &runs]);
    assert_eq!(claims(one(ranges(&[(1, 1)], 1))), Ok(()));
    let overflow = joined(&[&[1], &varint(u64::MAX), &varint(1)]);
    assert_eq!(claims(one(overflow)), Err(DecodeErrorKind::OutOfRange));
    let beyond = joined(&[&[2, 0], &varint(u64::MAX - 1), &[0, 0]]);
    assert_eq!(claims(one(beyond)), Err(DecodeErrorKind::OutOfRange));
    assert_eq!(claims(one(vec![0])), Err(DecodeErrorKind::NotCanonical));
    assert_eq!(
        Version::from_bytes(&frame(4, &[]), &Limits::default()).map_err(|e| e.kind),
        Err(DecodeErrorKind::Truncated)
    );
}
