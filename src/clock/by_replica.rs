//! Values by replica.

use alloc::collections::{BTreeMap, btree_map};
use alloc::vec::Vec;
use core::hash::{Hash, Hasher};

use super::ReplicaId;

/// As many replicas are kept in an array.
const FEW: usize = 32;

/// A map from replicas: a sorted array while they are few, which is the rule, else a search tree.
///
/// Maps are copied, compared and merged far more often than a replica is added; what comes from
/// outside may name many, in any order.
#[derive(Clone)]
pub(crate) struct ByReplica<V> {
    entries: Entries<V>,
}

#[derive(Clone)]
enum Entries<V> {
    Few(Vec<(ReplicaId, V)>),
    Many(BTreeMap<ReplicaId, V>),
}

use Entries::{Few, Many};

impl<V> ByReplica<V> {
    pub(crate) const fn new() -> ByReplica<V> {
        ByReplica {
            entries: Few(Vec::new()),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn len(&self) -> usize {
        match &self.entries {
            Few(few) => few.len(),
            Many(many) => many.len(),
        }
    }

    /// Ascending by replica.
    pub(crate) fn iter(&self) -> Iter<'_, V> {
        match &self.entries {
            Few(few) => Iter::Few(few.iter()),
            Many(many) => Iter::Many(many.iter()),
        }
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &V> {
        self.iter().map(|(_, value)| value)
    }

    pub(crate) fn get(&self, replica: ReplicaId) -> Option<&V> {
        match &self.entries {
            Few(few) => place(few, replica).ok().map(|at| &few[at].1),
            Many(many) => many.get(&replica),
        }
    }

    pub(crate) fn get_mut(&mut self, replica: ReplicaId) -> Option<&mut V> {
        match &mut self.entries {
            Few(few) => place(few, replica).ok().map(|at| &mut few[at].1),
            Many(many) => many.get_mut(&replica),
        }
    }

    /// Its value; the default, if it had none.
    pub(crate) fn entry(&mut self, replica: ReplicaId) -> &mut V
    where
        V: Default,
    {
        self.make_room();
        match &mut self.entries {
            Few(few) => {
                let at = match place(few, replica) {
                    Ok(at) => at,
                    Err(at) => {
                        few.insert(at, (replica, V::default()));
                        at
                    }
                };
                &mut few[at].1
            }
            Many(many) => many.entry(replica).or_default(),
        }
    }

    /// Becomes a tree if one more might be too many for an array.
    fn make_room(&mut self) {
        if let Few(few) = &mut self.entries
            && few.len() == FEW
        {
            self.entries = Many(core::mem::take(few).into_iter().collect());
        }
    }

    pub(crate) fn insert(&mut self, replica: ReplicaId, value: V) {
        self.make_room();
        match &mut self.entries {
            Few(few) => match place(few, replica) {
                Ok(at) => few[at].1 = value,
                Err(at) => few.insert(at, (replica, value)),
            },
            Many(many) => drop(many.insert(replica, value)),
        }
    }

    pub(crate) fn remove(&mut self, replica: ReplicaId) {
        match &mut self.entries {
            Few(few) => {
                if let Ok(at) = place(few, replica) {
                    few.remove(at);
                }
            }
            Many(many) => drop(many.remove(&replica)),
        }
    }

    /// Takes over what only `other` has, and calls `join` where both have a value.
    pub(crate) fn join(&mut self, other: &ByReplica<V>, mut join: impl FnMut(&mut V, &V))
    where
        V: Clone,
    {
        for (id, theirs) in other.iter() {
            match self.get_mut(id) {
                Some(mine) => join(mine, theirs),
                None => self.insert(id, theirs.clone()),
            }
        }
    }
}

/// Where it is, or where it belongs.
fn place<V>(few: &[(ReplicaId, V)], replica: ReplicaId) -> Result<usize, usize> {
    match few.last() {
        // Who builds a map does so in order.
        Some((last, _)) if *last < replica => Err(few.len()),
        _ => few.binary_search_by_key(&replica, |entry| entry.0),
    }
}

impl<V> FromIterator<(ReplicaId, V)> for ByReplica<V> {
    fn from_iter<I: IntoIterator<Item = (ReplicaId, V)>>(entries: I) -> ByReplica<V> {
        let mut all = ByReplica::new();
        for (id, value) in entries {
            all.insert(id, value);
        }
        all
    }
}

impl<V: core::fmt::Debug> core::fmt::Debug for ByReplica<V> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl<V> Default for ByReplica<V> {
    fn default() -> ByReplica<V> {
        ByReplica::new()
    }
}

impl<V: PartialEq> PartialEq for ByReplica<V> {
    fn eq(&self, other: &ByReplica<V>) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

impl<V: Eq> Eq for ByReplica<V> {}

impl<V: Hash> Hash for ByReplica<V> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.len().hash(state);
        self.iter().for_each(|entry| entry.hash(state));
    }
}

/// The entries of a [`ByReplica`].
pub(crate) enum Iter<'a, V> {
    Few(core::slice::Iter<'a, (ReplicaId, V)>),
    Many(btree_map::Iter<'a, ReplicaId, V>),
}

impl<V> Clone for Iter<'_, V> {
    fn clone(&self) -> Self {
        match self {
            Iter::Few(few) => Iter::Few(few.clone()),
            Iter::Many(many) => Iter::Many(many.clone()),
        }
    }
}

impl<'a, V> Iterator for Iter<'a, V> {
    type Item = (ReplicaId, &'a V);

    fn next(&mut self) -> Option<(ReplicaId, &'a V)> {
        match self {
            Iter::Few(few) => few.next().map(|(id, value)| (*id, value)),
            Iter::Many(many) => many.next().map(|(id, value)| (*id, value)),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match self {
            Iter::Few(few) => few.size_hint(),
            Iter::Many(many) => many.size_hint(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeMap;

    /// All maps over four replicas, as bits.
    fn map(bits: u32) -> (ByReplica<u32>, BTreeMap<ReplicaId, u32>) {
        let chosen = (0..4_u32).rev().filter(|at| bits >> at & 1 == 1);
        let (mut map, mut model) = (ByReplica::new(), BTreeMap::new());
        for at in chosen {
            let id = ReplicaId::from(u128::from(at));
            map.insert(id, bits + at);
            model.insert(id, bits + at);
        }
        (map, model)
    }

    #[test]
    fn many_are_kept_as_few_are() {
        let id = |n: usize| ReplicaId::from((n * 37 % 101) as u128);
        for count in [FEW - 1, FEW, FEW + 1, 3 * FEW] {
            let (mut map, mut model) = (ByReplica::new(), BTreeMap::new());
            for n in 0..count {
                *map.entry(id(n)) += n;
                map.insert(id(n + 1), n);
                model.insert(id(n), model.get(&id(n)).map_or(n, |old| old + n));
                model.insert(id(n + 1), n);
            }
            assert!(map.iter().eq(model.iter().map(|(id, n)| (*id, n))));
            // Equal to one that never was larger, whatever it is kept in.
            let mut small = ByReplica::new();
            for n in 0..=count {
                match n % 5 {
                    0 => small.insert(id(n), model[&id(n)]),
                    _ => map.remove(id(n)),
                }
            }
            assert_eq!(map, small);
            assert_eq!(small, map);
            assert_eq!(map.len(), count / 5 + 1);
            let hash = |map: &ByReplica<usize>| {
                let mut state = std::hash::DefaultHasher::new();
                map.hash(&mut state);
                state.finish()
            };
            assert_eq!(hash(&map), hash(&small));
        }
    }

    fn same(map: &ByReplica<u32>, model: &BTreeMap<ReplicaId, u32>) {
        assert!(map.iter().eq(model.iter().map(|(id, value)| (*id, value))));
        assert_eq!((map.len(), map.is_empty()), (model.len(), model.is_empty()));
        for id in (0..5).map(ReplicaId::from) {
            assert_eq!(map.get(id), model.get(&id));
        }
    }

    #[test]
    fn it_is_a_map() {
        for a in 0..16 {
            let (mut x, mut p) = map(a);
            same(&x, &p);
            for b in 0..16 {
                let (y, q) = map(b);
                let (mut joined, mut expected) = (x.clone(), p.clone());
                joined.join(&y, |mine, theirs| *mine = 100 * *mine + theirs);
                for (id, theirs) in &q {
                    let join = |mine: &mut u32| *mine = 100 * *mine + theirs;
                    expected.entry(*id).and_modify(join).or_insert(*theirs);
                }
                same(&joined, &expected);
            }
            for id in (0..5).map(ReplicaId::from) {
                *x.entry(id) += 7;
                *p.entry(id).or_default() += 7;
                same(&x, &p);
                let (mut less, mut model) = (x.clone(), p.clone());
                less.remove(ReplicaId::from(2));
                model.remove(&ReplicaId::from(2));
                same(&less, &model);
            }
        }
    }
}
