//! A map of plain values, of which the last write wins.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::borrow::Borrow;

use super::MapChange;
use crate::clock::{Names, Stamp, Stamped};
use crate::codec::{Key, Payload};
use crate::kernel::{
    DotFun, DotMap, EditError, EditView, Iter, Removable, Replaced, Update, Watched,
    newtype::{debug_as_view, replicated_newtype},
};
use crate::register::{newest, write};

/// A map whose values are written as a whole: of concurrent writes under one key the one with the
/// greatest stamp shows, as in an [`LwwRegister`](crate::LwwRegister).
///
/// | | |
/// |---|---|
/// | conflict | A writes `k` while B does: the greater [`Stamp`], then the greater replica id |
/// | conflict | A removes `k` while B writes it: B's value stays (a removal takes back what it has seen) |
/// | delivery | any order, duplicates allowed; an early delta waits for its past |
/// | space | O(keys x concurrent writes of each + replicas); no tombstones |
/// | not guaranteed | that the last one by the clock on the wall wins: clocks differ |
///
/// Edits, on the [`EditView`]: `insert`, `remove`, `clear`, `extend`.
///
/// Source: as [`LwwRegister`](crate::LwwRegister), one under each key of an observed-remove map.
///
/// # Examples
/// ```
/// use commute::{LwwMap, Replica, ReplicaId, Stamp};
/// let mut a = Replica::<LwwMap<String, u64>>::new(ReplicaId::from(1));
/// let mut b = Replica::<LwwMap<String, u64>>::new(ReplicaId::from(2));
/// a.edit(|map| map.insert("size".into(), 7, Stamp::from_millis(2_000)))?;
/// b.edit(|map| map.insert("size".into(), 9, Stamp::from_millis(1_000)))?;
/// a.merge(&b)?;
/// assert_eq!(a.get("size"), Some(&7));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct LwwMap<K, V>(DotMap<K, DotFun<Stamped<V>>>);

impl<K: Key, V: Payload> LwwMap<K, V> {
    /// The value of `key`. O(log n).
    pub fn get<Q>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
        Q: Ord + ?Sized,
    {
        let (_, held) = newest(self.0.get(key)?)?;
        Some(&held.value)
    }

    /// Whether `key` is there. O(log n).
    pub fn contains_key<Q>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
        Q: Ord + ?Sized,
    {
        self.0.get(key).is_some()
    }

    /// The values of `key` that lost to a concurrent write and that nobody has replaced yet.
    pub fn conflicts<Q>(&self, key: &Q) -> impl Iterator<Item = &V>
    where
        K: Borrow<Q>,
        Q: Ord + ?Sized,
    {
        let writes = self.0.get(key);
        let winner = writes.and_then(newest).map(|(entry, _)| entry);
        let writes = writes.into_iter().flat_map(DotFun::iter);
        let others = writes.filter(move |(entry, _)| Some(*entry) != winner);
        others.map(|(_, held)| &held.value)
    }

    /// The stamp of the write under `key` that wins. O(log n).
    ///
    /// [`Stamp::millis_ahead_of`] the own clock tells whether it was written by a fast clock.
    pub fn stamp<Q>(&self, key: &Q) -> Option<Stamp>
    where
        K: Borrow<Q>,
        Q: Ord + ?Sized,
    {
        let (_, held) = newest(self.0.get(key)?)?;
        Some(held.stamp)
    }

    /// Whether a value of `key` lost to a concurrent write and nobody has replaced it yet. O(log n).
    pub fn is_conflict<Q>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
        Q: Ord + ?Sized,
    {
        self.0.get(key).is_some_and(|writes| writes.len() > 1)
    }

    /// The number of keys. O(1).
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Keys and values in ascending order of keys.
    pub fn iter(&self) -> Iter<'_, K, DotFun<Stamped<V>>, (&K, &V)> {
        self.0
            .select(|key, writes| Some((key, &newest(writes)?.1.value)))
    }

    /// The keys in ascending order.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &K> {
        self.iter().map(|(key, _)| key)
    }

    /// The values in ascending order of their keys.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &V> {
        self.iter().map(|(_, value)| value)
    }
}

impl<K: Key, V: Payload> EditView<'_, LwwMap<K, V>> {
    /// Writes `value` under `key`; returns the stamp of the write, which is `clock` unless a value
    /// seen there has a greater one.
    ///
    /// # Errors
    /// [`EditError::StampExhausted`] after the last stamp there is: remove the key first.
    ///
    /// # Complexity
    /// O(log n + concurrent values of the key).
    pub fn insert(&mut self, key: K, value: V, clock: Stamp) -> Result<Stamp, EditError> {
        let writes = self.state.0.child(key);
        write(writes, value, (clock, u64::MAX), self.update)
    }

    /// Removes `key` as far as it is seen here; returns whether it was there.
    ///
    /// # Errors
    /// None today; the result keeps the verbs alike.
    ///
    /// # Complexity
    /// O(log n + concurrent values of the key).
    pub fn remove<Q>(&mut self, key: &Q) -> Result<bool, EditError>
    where
        K: Borrow<Q>,
        Q: Ord + ?Sized,
    {
        self.state.0.remove(key, self.update)
    }

    /// Removes every key seen here.
    ///
    /// # Errors
    /// As [`remove`](EditView::remove).
    pub fn clear(&mut self) -> Result<(), EditError> {
        self.state.0.reset(self.update)
    }

    /// Writes all `pairs`, each as [`insert`](EditView::insert) does.
    ///
    /// # Errors
    /// As [`insert`](EditView::insert).
    pub fn extend(
        &mut self,
        pairs: impl IntoIterator<Item = (K, V)>,
        clock: Stamp,
    ) -> Result<(), EditError> {
        let mut pairs = pairs.into_iter();
        pairs.try_for_each(|(key, value)| self.insert(key, value, clock).map(drop))
    }
}

impl<'a, K: Key, V: Payload> IntoIterator for &'a LwwMap<K, V> {
    type Item = (&'a K, &'a V);
    type IntoIter = Iter<'a, K, DotFun<Stamped<V>>, (&'a K, &'a V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<K: Key, V: Payload> PartialEq<BTreeMap<K, V>> for LwwMap<K, V> {
    fn eq(&self, other: &BTreeMap<K, V>) -> bool {
        self.iter().eq(other)
    }
}

impl<K: Key, V: Payload> Removable for LwwMap<K, V> {
    fn reset(&mut self, update: &mut Update) -> Result<(), EditError> {
        self.0.reset(update)
    }
}

debug_as_view!(impl[K: Key, V: Payload] LwwMap<K, V>);

replicated_newtype! {
    impl[K: Key, V: Payload] LwwMap<K, V> as DotMap<K, DotFun<Stamped<V>>>;
    type View = BTreeMap<K, V>;
    fn view(this) { this.iter().map(|(key, value)| (key.clone(), value.clone())).collect() }
    fn visible(this) { !this.is_empty() }
}

impl<K: Key, V: Payload> Watched for LwwMap<K, V> {
    type Change = MapChange<K, V, Replaced<V>>;
    type Before = BTreeMap<K, Option<V>>;

    fn remember(&self, part: &Self::Part, dead: &Names, before: &mut Self::Before) {
        for (key, _) in self.0.touched(part, dead) {
            let shown = self.get(&key).cloned();
            before.entry(key).or_insert(shown);
        }
    }

    fn changes(&self, before: Self::Before) -> Vec<Self::Change> {
        let change = |(key, old): (K, Option<V>)| match (old, self.get(&key).cloned()) {
            (None, None) => None,
            (Some(_), None) => Some(MapChange::Removed { key }),
            (None, Some(value)) => Some(MapChange::Inserted { key, value }),
            (Some(old), Some(new)) if old == new => None,
            (Some(old), Some(new)) => {
                let change = Replaced { old, new };
                Some(MapChange::Changed { key, change })
            }
        };
        before.into_iter().filter_map(change).collect()
    }

    fn follow(view: &mut BTreeMap<K, V>, change: Self::Change) {
        change.make(view, |value, change| *value = change.new);
    }
}
