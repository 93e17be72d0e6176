//! The crate `crdts` as an oracle: the same execution in both, equal values after every step.
//!
//! By merge only: applying its ops needs an order per actor, ours do not.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

use std::collections::{BTreeMap, BTreeSet};

use commute::{
    GCounter, GSet, LwwRegister, MvRegister, OrMap, OrSet, PnCounter, Replica, ReplicaId,
    Replicated, Stamp,
};
use crdts::{CmRDT, CvRDT};
use quickcheck::QuickCheck;

/// SplitMix64 (Steele, Lea, Flood 2014): one seed, one schedule.
struct SplitMix64(u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}

/// One type of ours beside its counterpart.
trait Pair {
    type Ours: Replicated;
    type Theirs: CvRDT + Clone + Default;

    /// The same change in both.
    fn edit(
        random: &mut SplitMix64,
        actor: u8,
        ours: &mut Replica<Self::Ours>,
        theirs: &mut Self::Theirs,
    );

    fn same(ours: &Self::Ours, theirs: &Self::Theirs) -> bool;
}

const REPLICAS: usize = 4;
const STEPS: usize = 60;

/// Runs the schedule of `seed`; whether both agree after every step.
fn agree<P: Pair>(seed: u64) -> bool {
    let mut random = SplitMix64(seed);
    let mut ours: Vec<_> = (1..=REPLICAS as u128)
        .map(|id| Replica::<P::Ours>::new(ReplicaId::from(id)))
        .collect();
    let mut theirs = vec![P::Theirs::default(); REPLICAS];
    (0..STEPS).all(|_| {
        let at = random.below(REPLICAS as u64) as usize;
        let from = random.below(REPLICAS as u64) as usize;
        match from == at {
            true => P::edit(&mut random, at as u8, &mut ours[at], &mut theirs[at]),
            false => {
                merge(&mut random, &mut ours, at, from);
                let other = theirs[from].clone();
                theirs[at].merge(other);
            }
        }
        (0..REPLICAS).all(|at| P::same(&ours[at], &theirs[at]))
    })
}

/// Brings the state of one replica to another, by one of the routes that are the same.
fn merge<S: Replicated>(random: &mut SplitMix64, ours: &mut [Replica<S>], at: usize, from: usize) {
    let state = ours[from].state().clone();
    if random.below(4) == 0 {
        ours[at].drop_ledger();
    }
    let done = match random.below(2) {
        0 => ours[at].merge(&state),
        _ => {
            let delta = state.delta_since(ours[at].version());
            ours[at].absorb(&delta)
        }
    };
    let _ = done.unwrap();
}

struct Grow;

impl Pair for Grow {
    type Ours = GCounter;
    type Theirs = crdts::GCounter<u8>;

    fn edit(
        random: &mut SplitMix64,
        actor: u8,
        ours: &mut Replica<GCounter>,
        theirs: &mut crdts::GCounter<u8>,
    ) {
        let amount = random.below(100);
        ours.edit(|n| n.add(amount)).unwrap();
        theirs.apply(theirs.inc_many(actor, amount));
    }

    fn same(ours: &GCounter, theirs: &crdts::GCounter<u8>) -> bool {
        ours.value().to_string() == theirs.read().to_string()
    }
}

struct UpAndDown;

impl Pair for UpAndDown {
    type Ours = PnCounter;
    type Theirs = crdts::PNCounter<u8>;

    fn edit(
        random: &mut SplitMix64,
        actor: u8,
        ours: &mut Replica<PnCounter>,
        theirs: &mut crdts::PNCounter<u8>,
    ) {
        let amount = random.below(100);
        match random.below(2) {
            0 => {
                ours.edit(|n| n.add(amount)).unwrap();
                theirs.apply(theirs.inc_many(actor, amount));
            }
            _ => {
                ours.edit(|n| n.subtract(amount)).unwrap();
                theirs.apply(theirs.dec_many(actor, amount));
            }
        }
    }

    fn same(ours: &PnCounter, theirs: &crdts::PNCounter<u8>) -> bool {
        ours.value().to_string() == theirs.read().to_string()
    }
}

struct AddWins;

impl Pair for AddWins {
    type Ours = OrSet<u8>;
    type Theirs = crdts::Orswot<u8, u8>;

    fn edit(
        random: &mut SplitMix64,
        actor: u8,
        ours: &mut Replica<OrSet<u8>>,
        theirs: &mut crdts::Orswot<u8, u8>,
    ) {
        let value = random.below(5) as u8;
        match random.below(5) {
            0..3 => {
                ours.edit(|set| set.insert(value)).unwrap();
                let seen = theirs.read_ctx().derive_add_ctx(actor);
                theirs.apply(theirs.add(value, seen));
            }
            3 => {
                ours.edit(|set| set.remove(&value)).unwrap();
                let seen = theirs.contains(&value).derive_rm_ctx();
                theirs.apply(theirs.rm(value, seen));
            }
            _ => {
                ours.edit(|set| set.clear()).unwrap();
                let all = theirs.read();
                let members = all.val.clone();
                theirs.apply(theirs.rm_all(members, all.derive_rm_ctx()));
            }
        }
    }

    fn same(ours: &OrSet<u8>, theirs: &crdts::Orswot<u8, u8>) -> bool {
        let theirs: BTreeSet<u8> = theirs.read().val.into_iter().collect();
        *ours == theirs
    }
}

struct GrowOnly;

impl Pair for GrowOnly {
    type Ours = GSet<u8>;
    type Theirs = crdts::GSet<u8>;

    fn edit(
        random: &mut SplitMix64,
        _: u8,
        ours: &mut Replica<GSet<u8>>,
        theirs: &mut crdts::GSet<u8>,
    ) {
        let value = random.below(20) as u8;
        ours.edit(|set| set.insert(value)).unwrap();
        theirs.insert(value);
    }

    fn same(ours: &GSet<u8>, theirs: &crdts::GSet<u8>) -> bool {
        *ours == theirs.read()
    }
}

struct ManyValues;

impl Pair for ManyValues {
    type Ours = MvRegister<u8>;
    type Theirs = crdts::MVReg<u8, u8>;

    fn edit(
        random: &mut SplitMix64,
        actor: u8,
        ours: &mut Replica<MvRegister<u8>>,
        theirs: &mut crdts::MVReg<u8, u8>,
    ) {
        let value = random.next() as u8;
        ours.edit(|register| register.set(value)).unwrap();
        let seen = theirs.read_ctx().derive_add_ctx(actor);
        theirs.apply(theirs.write(value, seen));
    }

    /// In any order: theirs is another one at each replica.
    fn same(ours: &MvRegister<u8>, theirs: &crdts::MVReg<u8, u8>) -> bool {
        let (mut ours, mut theirs) = (ours.view(), theirs.read().val);
        ours.sort_unstable();
        theirs.sort_unstable();
        ours == theirs
    }
}

struct LastWins;

/// Markers that are never equal: our stamp and who wrote.
type Last = crdts::LWWReg<Option<u8>, (Stamp, u8)>;

impl Pair for LastWins {
    type Ours = LwwRegister<u8>;
    type Theirs = Last;

    fn edit(
        random: &mut SplitMix64,
        actor: u8,
        ours: &mut Replica<LwwRegister<u8>>,
        theirs: &mut Last,
    ) {
        // Clocks that differ by more than what is between two writes.
        let clock = Stamp::from_millis(1 + random.below(4));
        let value = random.next() as u8;
        let stamp = ours.edit(|register| register.set(value, clock)).unwrap();
        theirs.update(Some(value), (stamp, actor));
    }

    fn same(ours: &LwwRegister<u8>, theirs: &Last) -> bool {
        *ours == theirs.val
    }
}

/// Keys are not removed: see `a_key_that_is_removed_does_not_come_back_here`.
struct SetsByKey;

type Sets = crdts::Map<u8, crdts::Orswot<u8, u8>, u8>;

impl Pair for SetsByKey {
    type Ours = OrMap<u8, OrSet<u8>>;
    type Theirs = Sets;

    fn edit(
        random: &mut SplitMix64,
        actor: u8,
        ours: &mut Replica<OrMap<u8, OrSet<u8>>>,
        theirs: &mut Sets,
    ) {
        let (key, value) = (random.below(3) as u8, random.below(3) as u8);
        match random.below(4) {
            0..3 => {
                ours.edit(|map| map.entry(key).insert(value)).unwrap();
                let seen = theirs.read_ctx().derive_add_ctx(actor);
                let add = theirs.update(key, seen, |set, seen| set.add(value, seen));
                theirs.apply(add);
            }
            _ => {
                ours.edit(|map| map.entry(key).remove(&value)).unwrap();
                let seen = theirs.read_ctx().derive_add_ctx(actor);
                let remove = theirs.update(key, seen, |set, _| {
                    set.rm(value, set.contains(&value).derive_rm_ctx())
                });
                theirs.apply(remove);
            }
        }
    }

    /// Where a set is empty theirs may keep the key.
    fn same(ours: &OrMap<u8, OrSet<u8>>, theirs: &Sets) -> bool {
        let shown = theirs.iter().map(|read| {
            let (key, set) = read.val;
            (*key, set.read().val.into_iter().collect::<BTreeSet<u8>>())
        });
        let shown: BTreeMap<_, _> = shown.filter(|(_, set)| !set.is_empty()).collect();
        *ours == shown
    }
}

fn check<P: Pair>() {
    let agree: fn(u64) -> bool = agree::<P>;
    QuickCheck::new().tests(400).quickcheck(agree);
}

#[test]
fn a_growing_counter_agrees() {
    check::<Grow>();
}

#[test]
fn a_counter_that_goes_both_ways_agrees() {
    check::<UpAndDown>();
}

#[test]
fn an_add_wins_set_agrees() {
    check::<AddWins>();
}

#[test]
fn a_grow_only_set_agrees() {
    check::<GrowOnly>();
}

#[test]
fn a_register_of_concurrent_values_agrees() {
    check::<ManyValues>();
}

#[test]
fn a_last_writer_wins_register_agrees() {
    check::<LastWins>();
}

#[test]
fn a_map_of_sets_agrees() {
    check::<SetsByKey>();
}

/// The shortest input on which both differ once keys are removed.
#[test]
fn a_key_that_is_removed_does_not_come_back_here() {
    let [mut a, mut b] = [1, 2].map(|id| Replica::<OrMap<u8, OrSet<u8>>>::new(ReplicaId::from(id)));
    let (mut c, mut d) = (Sets::new(), Sets::new());
    let add = |map: &Sets, actor, value| {
        let seen = map.read_ctx().derive_add_ctx(actor);
        map.update(0, seen, |set, seen| set.add(value, seen))
    };
    a.edit(|map| map.entry(0).insert(1)).unwrap();
    c.apply(add(&c, 1, 1));
    b.edit(|map| map.entry(0).insert(0)).unwrap();
    d.apply(add(&d, 2, 0));
    b.merge(&a).unwrap();
    d.merge(c.clone());
    a.edit(|map| map.entry(0).insert(0)).unwrap();
    c.apply(add(&c, 1, 0));
    // It has seen the 1.
    b.edit(|map| map.remove(&0)).unwrap();
    d.apply(d.rm(0, d.get(&0).derive_rm_ctx()));
    b.merge(&a).unwrap();
    d.merge(c);
    assert_eq!(**b, BTreeMap::from([(0, BTreeSet::from([0]))]));
    let theirs = d.get(&0).val.unwrap();
    assert!(
        theirs.contains(&1).val,
        "it is right there, too: compare removals of keys again"
    );
}
