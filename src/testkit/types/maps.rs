//! Maps as subjects.

use std::collections::BTreeMap;

use super::registers::{LwwOp, winner};
use super::{ELEMENTS, Sample};
use crate::clock::Stamp;
use crate::codec::{Key, Payload};
use crate::counter::PnCounter;
use crate::kernel::{EditError, EditView, Place, Removable};
use crate::map::{LwwMap, OrMap};
use crate::testkit::replica::{Exercise, Meaning};
use crate::testkit::spec::{self, MapOp, RegisterOp};
use crate::testkit::{Seen, Source, Verdict};

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
