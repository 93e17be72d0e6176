//! Maps as subjects.

use std::collections::BTreeMap;

use super::registers::{LwwOp, winner};
use super::{ELEMENTS, Sample};
use crate::clock::Stamp;
use crate::codec::{Key, Payload};
use crate::counter::PnCounter;
use crate::kernel::{EditError, EditView, Place, Removable};
use crate::map::{LwwMap, OrMap, RwMap};
use crate::testkit::replica::{Exercise, Meaning};
use crate::testkit::spec::{self, MapOp, RegisterOp};
use crate::testkit::{Seen, Source, Verdict, Visible};

fn key<K: Sample>(source: &mut Source<'_>) -> K {
    K::sample(source.below(ELEMENTS) as u8)
}

/// Values under keys that come and go.
impl<K: Key + Sample, V: Removable + Exercise> Exercise for OrMap<K, V> {
    type Op = MapOp<K, V::Op>;

    fn choose(&self, source: &mut Source<'_>) -> Option<MapOp<K, V::Op>> {
        Some(match source.below(8) {
            0..5 => {
                let key = key(source);
                let op = match self.get(&key) {
                    Some(value) => value.choose(source)?,
                    None => V::empty(Place::Removable).choose(source)?,
                };
                MapOp::Put(key, op)
            }
            5..7 => MapOp::Remove(key(source)),
            _ => MapOp::Clear,
        })
    }

    fn perform(map: &mut EditView<'_, OrMap<K, V>>, op: &MapOp<K, V::Op>) -> Result<(), EditError> {
        match op {
            MapOp::Put(key, op) => V::perform(&mut map.entry(key.clone()), op),
            MapOp::Remove(key) => map.remove(key).map(drop),
            MapOp::Clear => map.clear(),
        }
    }

    fn may_refuse(error: &EditError) -> bool {
        V::may_refuse(error)
    }
}

impl<K: Key + Sample> Meaning for OrMap<K, PnCounter> {
    fn judge(seen: &Seen<'_, MapOp<K, i64>>, got: &BTreeMap<K, i128>) -> Verdict {
        spec::counter_map(seen, got)
    }
}

/// A key, and what is done to the register there.
impl<K: Key + Sample, V: Payload + Ord + Sample> Exercise for LwwMap<K, V> {
    type Op = (K, LwwOp<V>);

    fn choose(&self, source: &mut Source<'_>) -> Option<(K, LwwOp<V>)> {
        Some((key(source), LwwOp::choose(source)))
    }

    fn perform(
        map: &mut EditView<'_, LwwMap<K, V>>,
        (key, op): &(K, LwwOp<V>),
    ) -> Result<(), EditError> {
        match &op.write {
            RegisterOp::Write(value) => {
                let clock = Stamp::from_millis(op.clock);
                map.insert(key.clone(), value.clone(), clock).map(drop)
            }
            RegisterOp::Clear => map.remove(key).map(drop),
        }
    }
}

impl<K: Key + Sample, V: Payload + Ord + Sample> Meaning for LwwMap<K, V> {
    fn judge(seen: &Seen<'_, (K, LwwOp<V>)>, got: &BTreeMap<K, V>) -> Verdict {
        let mut expected = BTreeMap::new();
        for place in 0..ELEMENTS {
            let key = K::sample(place as u8);
            let at = |(own, op): &(K, LwwOp<V>)| (*own == key).then(|| op.clone());
            if let Some((value, _)) = winner(seen, at) {
                expected.insert(key, value);
            }
        }
        Verdict::equal(got, &expected, || {
            "each key has the greatest stamp of its last writes".into()
        })
    }
}

/// Counters under keys that come and go, removals first.
impl<K: Key + Sample> Exercise for RwMap<K, PnCounter> {
    type Op = MapOp<K, i64>;

    fn choose(&self, source: &mut Source<'_>) -> Option<MapOp<K, i64>> {
        Some(match source.below(8) {
            0..5 => {
                let amount = source.pick(&[1, -1, 3]).copied()?;
                MapOp::Put(key(source), amount)
            }
            5..7 => MapOp::Remove(key(source)),
            _ => MapOp::Clear,
        })
    }

    fn perform(
        map: &mut EditView<'_, RwMap<K, PnCounter>>,
        op: &MapOp<K, i64>,
    ) -> Result<(), EditError> {
        match op {
            MapOp::Put(key, amount) => PnCounter::perform(&mut map.entry(key.clone())?, amount),
            MapOp::Remove(key) => map.remove(key).map(drop),
            MapOp::Clear => map.clear(),
        }
    }
}

/// An operation on the one key that is looked at, and whether it inserted or removed that.
struct Turn<'s, 'a, K> {
    one: &'s Visible<'a, MapOp<K, i64>>,
    amount: Option<i64>,
    turns: bool,
}

/// Whether the key is there after the turns `past`: the last of them are insertions.
fn is_there<K>(seen: &Seen<'_, MapOp<K, i64>>, past: &[&Turn<'_, '_, K>]) -> bool {
    let turns = past.iter().filter(|turn| turn.turns);
    let last = |turn: &&&Turn<'_, '_, K>| {
        let mut later = past.iter().filter(|later| later.turns);
        !later.any(|later| seen.happened_before(turn.one, later.one))
    };
    let mut last = turns.filter(last).peekable();
    last.peek().is_some() && last.all(|turn| turn.amount.is_some())
}

/// What was done to `key`, each by what it had seen.
fn turns<'s, 'a, K: Key>(seen: &'s Seen<'a, MapOp<K, i64>>, key: &K) -> Vec<Turn<'s, 'a, K>> {
    let mut all: Vec<Turn<'s, 'a, K>> = Vec::new();
    for one in seen.iter() {
        let past = all.iter();
        let past = past.filter(|turn| seen.happened_before(turn.one, one));
        let there = is_there(seen, &past.collect::<Vec<_>>());
        let (amount, turns) = match one.op() {
            MapOp::Put(own, amount) if own == key => (Some(*amount), !there),
            MapOp::Remove(own) if own == key => (None, true),
            // It removes the keys that are there.
            MapOp::Clear if there => (None, true),
            _ => continue,
        };
        all.push(Turn { one, amount, turns });
    }
    all
}

/// A key is there if no removal is among the last of its insertions and removals; it shows the sum
/// of what none of them had seen.
impl<K: Key + Sample> Meaning for RwMap<K, PnCounter> {
    fn judge(seen: &Seen<'_, MapOp<K, i64>>, got: &BTreeMap<K, i128>) -> Verdict {
        let mut expected = BTreeMap::new();
        for key in (0..ELEMENTS).map(|place| K::sample(place as u8)) {
            let all = turns(seen, &key);
            if !is_there(seen, &all.iter().collect::<Vec<_>>()) {
                continue;
            }
            let stays = |put: &&Turn<'_, '_, K>| {
                let mut turns = all.iter().filter(|turn| turn.turns);
                !turns.any(|turn| seen.happened_before(put.one, turn.one))
            };
            let amounts = all.iter().filter(stays).filter_map(|put| put.amount);
            expected.insert(key, amounts.map(i128::from).sum());
        }
        Verdict::equal(got, &expected, || {
            "a key shows what no removal or insertion of it had seen, unless it is removed".into()
        })
    }
}
