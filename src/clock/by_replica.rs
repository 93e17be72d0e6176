//! Values by replica.

use alloc::collections::{BTreeMap, btree_map};
use core::hash::{Hash, Hasher};

use smallvec::SmallVec;

use super::ReplicaId;

/// As many replicas are kept in an array.
///
/// So many that states which many replicas have made are compared and merged by walking two arrays,
/// and so few that what comes from outside in the worst order moves a quarter of a megabyte for each
/// new replica at most.
const FEW: usize = if cfg!(test) { 32 } else { 4096 };

/// A map from replicas: a sorted array unless they are very many, then a search tree.
///
/// Maps are copied, compared and merged far more often than a replica is added. Most name one, so
/// one needs no allocation.
#[derive(Clone)]
pub(crate) struct ByReplica<V> {
    entries: Entries<V>,
}

#[derive(Clone)]
enum Entries<V> {
    Few(SmallVec<[(ReplicaId, V); 1]>),
    Many(BTreeMap<ReplicaId, V>),
}

use Entries::{Few, Many};

impl<V> ByReplica<V> {
    pub(crate) const fn new() -> ByReplica<V> {
        ByReplica {
            entries: Few(SmallVec::new_const()),
        }
    }

    pub(crate) fn one(replica: ReplicaId, value: V) -> ByReplica<V> {
        ByReplica {
            entries: Few(SmallVec::from_buf([(replica, value)])),
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

    pub(crate) fn into_values(self) -> impl Iterator<Item = V> {
        let (few, many) = match self.entries {
            Few(few) => (few, BTreeMap::new()),
            Many(many) => (SmallVec::new(), many),
        };
        few.into_iter().chain(many).map(|(_, value)| value)
    }

    /// The greatest replica.
    pub(crate) fn last(&self) -> Option<ReplicaId> {
        match &self.entries {
            Few(few) => few.last().map(|(id, _)| *id),
            Many(many) => many.last_key_value().map(|(id, _)| *id),
        }
    }

    pub(crate) fn get(&self, replica: ReplicaId) -> Option<&V> {
        match &self.entries {
            Few(few) => place(few, replica).ok().map(|at| &few[at].1),
            Many(many) => many.get(&replica),
        }
    }

    /// To look up many replicas in ascending order.
    pub(crate) fn cursor(&self) -> Cursor<'_, V> {
        let (few, many) = match &self.entries {
            Few(few) => (&few[..], None),
            Many(many) => (&[][..], Some(many)),
        };
        Cursor { few, many }
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

    pub(crate) fn insert(&mut self, replica: ReplicaId, value: V) -> Option<V> {
        self.make_room();
        match &mut self.entries {
            Few(few) => match place(few, replica) {
                Ok(at) => Some(core::mem::replace(&mut few[at].1, value)),
                Err(at) => {
                    few.insert(at, (replica, value));
                    None
                }
            },
            Many(many) => many.insert(replica, value),
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

    /// Keeps the values for which `keep` holds.
    pub(crate) fn retain(&mut self, mut keep: impl FnMut(&V) -> bool) {
        match &mut self.entries {
            Few(few) => few.retain(|(_, value)| keep(value)),
            Many(many) => many.retain(|_, value| keep(value)),
        }
    }

    /// Takes over what only `other` has, and calls `join` where both have a value.
    pub(crate) fn join(&mut self, other: &ByReplica<V>, mut join: impl FnMut(&mut V, &V))
    where
        V: Clone,
    {
        let mut start = 0;
        for (id, theirs) in other.iter() {
            if let Few(few) = &mut self.entries {
                start += skip(&few[start..], id);
                if let Some((held, mine)) = few.get_mut(start)
                    && *held == id
                {
                    join(mine, theirs);
                    start += 1;
                    continue;
                }
            } else if let Some(mine) = self.get_mut(id) {
                join(mine, theirs);
                continue;
            }
            self.insert(id, theirs.clone());
        }
    }
}

/// How many of `few` come before `replica`; quick if they are few.
#[inline]
fn skip<V>(few: &[(ReplicaId, V)], replica: ReplicaId) -> usize {
    let before = |entry: &(ReplicaId, V)| entry.0 < replica;
    if !few.first().is_some_and(before) {
        return 0;
    }
    let mut bound = 2;
    while few.get(bound - 1).is_some_and(before) {
        bound *= 2;
    }
    let known = bound / 2;
    known + few[known..bound.min(few.len())].partition_point(before)
}

/// Where it is, or where it belongs.
fn place<V>(few: &[(ReplicaId, V)], replica: ReplicaId) -> Result<usize, usize> {
    match few {
        [] => Err(0),
        // Who builds a map does so in order.
        [.., (last, _)] if *last < replica => Err(few.len()),
        [(only, _)] if *only == replica => Ok(0),
        _ => few.binary_search_by_key(&replica, |entry| entry.0),
    }
}

/// Looks up replicas in ascending order: all that two maps share takes one walk through both.
pub(crate) struct Cursor<'a, V> {
    /// What is left of the array.
    few: &'a [(ReplicaId, V)],
    many: Option<&'a BTreeMap<ReplicaId, V>>,
}

impl<'a, V> Cursor<'a, V> {
    /// The value of `replica`, which is greater than all that were asked for before.
    #[inline(always)]
    pub(crate) fn get(&mut self, replica: ReplicaId) -> Option<&'a V> {
        // Mostly both maps have the same replicas.
        if let [(id, value), rest @ ..] = self.few
            && *id == replica
        {
            self.few = rest;
            return Some(value);
        }
        self.search(replica)
    }

    #[inline(never)]
    fn search(&mut self, replica: ReplicaId) -> Option<&'a V> {
        if let Some(many) = self.many {
            return many.get(&replica);
        }
        self.few = &self.few[skip(self.few, replica)..];
        let ((_, value), rest) = self
            .few
            .split_first()
            .filter(|(entry, _)| entry.0 == replica)?;
        self.few = rest;
        Some(value)
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
                    0 => drop(small.insert(id(n), model[&id(n)])),
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
