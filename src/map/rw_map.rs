//! A map of replicated values in which removals win.

use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::borrow::Borrow;

use super::MapChange;
use crate::clock::Names;
use crate::codec::Key;
use crate::kernel::newtype::debug_as_view;
use crate::kernel::structs::{replicated_struct, struct_part};
use crate::kernel::{
    DotMap, DotMapPart, EditError, EditView, MapBefore, Part, Removable, Replicated, Update,
    Watched,
};
use crate::set::RwSet;

/// A remove-wins map: a key is there if it was inserted and every removal of it has been seen by an
/// insertion.
///
/// | | |
/// |---|---|
/// | conflict | A removes `k` while B updates its value: `k` is gone (remove wins); B's update is in `conflicts` |
/// | conflict | A removes `k` while B inserts it: `k` is gone |
/// | delivery | any order, duplicates allowed; an early delta waits for its past |
/// | space | O(live entries of all values + keys removed and not inserted again + replicas) |
/// | not guaranteed | that an update shows: a removal it has not seen takes it back |
///
/// **Reset rule.** `remove(k)` resets what this replica has seen of the value, and hides what it has
/// not: as long as nobody who has seen the removal inserts `k` again. `entry(k)` inserts `k` if it
/// is not there, and then resets what is seen of the value, so that the key starts anew. So of the
/// updates of `k` those show that neither a removal nor an insertion of `k` had seen, while `k` is
/// there. An update that is concurrent to a removal *and* to the insertion after it shows with that.
///
/// A removal is a record in the state, also of a key that is not there. The record stays until an
/// insertion that has seen it replaces it.
///
/// Unlike in an [`OrMap`](crate::OrMap) a key is there whatever its value shows.
///
/// Edits, on the [`EditView`]: `entry`, `remove`, `clear`.
///
/// Source: Almeida et al. 2018, section 7 (`RWSet` for the keys, `ORMap` for the values).
///
/// # Examples
/// ```
/// use commute::{PnCounter, Replica, ReplicaId, RwMap};
/// let mut a = Replica::<RwMap<String, PnCounter>>::new(ReplicaId::from(1));
/// a.edit(|map| map.entry("votes".into())?.add(5))?;
/// let mut b = a.fork_as(ReplicaId::from(2));
/// a.edit(|map| map.remove("votes"))?;
/// b.edit(|map| map.entry("votes".into())?.add(3))?;     // concurrent
/// a.merge(&b)?;
/// assert!(!a.contains_key("votes"));                    // remove wins
/// assert_eq!(a.conflicts().count(), 1);                 // the 3 may still be read
/// a.edit(|map| map.entry("votes".into())?.add(1))?;
/// assert_eq!(a.get("votes").map(|votes| votes.value()), Some(1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct RwMap<K, V> {
    keys: RwSet<K>,
    values: DotMap<K, V>,
    /// What a key shows of whose value nothing is stored.
    blank: V,
}

impl<K: Key, V: Removable> RwMap<K, V> {
    /// The value of `key`. O(log n).
    pub fn get<Q>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
        Q: Ord + ?Sized,
    {
        let value = || self.values.get(key).unwrap_or(&self.blank);
        self.contains_key(key).then(value)
    }

    /// Whether `key` is there. O(log n).
    pub fn contains_key<Q>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
        Q: Ord + ?Sized,
    {
        self.keys.contains(key)
    }

    /// The number of keys. O(n + r), r = removal records.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there is no key. O(1 + r).
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Keys and values in ascending order of keys. O(log n) each.
    pub fn iter(&self) -> RwMapIter<'_, K, V> {
        let keys = self.keys.iter();
        RwMapIter { keys, map: self }
    }

    /// The keys in ascending order.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &K> {
        self.keys.iter()
    }

    /// The values in ascending order of their keys. O(log n) each.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &V> {
        self.iter().map(|(_, value)| value)
    }

    /// What was written to keys that are gone and that no removal of them had seen, in ascending
    /// order of keys.
    pub fn conflicts(&self) -> impl DoubleEndedIterator<Item = (&K, &V)> {
        let hidden = |(key, value): &(&K, &V)| value.visible() && !self.keys.contains(*key);
        self.values.iter().filter(hidden)
    }

    /// The keys that are gone of whose values something is stored that does not show, in ascending
    /// order; see [`OrMap::hidden`](crate::OrMap::hidden).
    pub fn hidden(&self) -> impl DoubleEndedIterator<Item = (&K, &V)> {
        let hidden = |(key, value): &(&K, &V)| !value.visible() && !self.keys.contains(*key);
        self.values.iter().filter(hidden)
    }
}

/// Keys and values of an [`RwMap`], in ascending order of keys.
#[derive(Clone)]
pub struct RwMapIter<'a, K: Key, V> {
    keys: <&'a RwSet<K> as IntoIterator>::IntoIter,
    map: &'a RwMap<K, V>,
}

impl<'a, K: Key, V: Removable> RwMapIter<'a, K, V> {
    fn with_value(&self, key: &'a K) -> (&'a K, &'a V) {
        let value = self.map.values.get(key);
        (key, value.unwrap_or(&self.map.blank))
    }
}

impl<'a, K: Key, V: Removable> Iterator for RwMapIter<'a, K, V> {
    type Item = (&'a K, &'a V);

    fn next(&mut self) -> Option<(&'a K, &'a V)> {
        let key = self.keys.next()?;
        Some(self.with_value(key))
    }
}

impl<'a, K: Key, V: Removable> DoubleEndedIterator for RwMapIter<'a, K, V> {
    fn next_back(&mut self) -> Option<(&'a K, &'a V)> {
        let key = self.keys.next_back()?;
        Some(self.with_value(key))
    }
}

impl<'a, K: Key, V: Removable> IntoIterator for &'a RwMap<K, V> {
    type Item = (&'a K, &'a V);
    type IntoIter = RwMapIter<'a, K, V>;

    fn into_iter(self) -> RwMapIter<'a, K, V> {
        self.iter()
    }
}

impl<K: Key, V: Removable> EditView<'_, RwMap<K, V>> {
    /// The edit view of the value of `key`, which is inserted if it is not there.
    ///
    /// # Errors
    /// [`EditError::TooManyEntries`] after 2^31 changes in one update.
    ///
    /// # Complexity
    /// O(log n), and the size of what an insertion resets.
    pub fn entry(&mut self, key: K) -> Result<V::Edit<'_>, EditError> {
        if !self.state.keys.contains(&key) {
            self.state.keys.edit(self.update).insert(key.clone())?;
            self.state.values.remove(&key, self.update)?;
        }
        Ok(self.state.values.child(key).edit(self.update))
    }

    /// Removes `key`, here and wherever it is inserted or updated concurrently; returns whether it
    /// was there.
    ///
    /// # Errors
    /// As [`entry`](EditView::entry).
    ///
    /// # Complexity
    /// O(log n) and the size of the value.
    pub fn remove<Q>(&mut self, key: &Q) -> Result<bool, EditError>
    where
        K: Borrow<Q>,
        Q: Ord + ToOwned<Owned = K> + ?Sized,
    {
        self.state.values.remove(key, self.update)?;
        self.state.keys.edit(self.update).remove(key)
    }

    /// Removes every key that is there.
    ///
    /// # Errors
    /// As [`remove`](EditView::remove).
    ///
    /// # Complexity
    /// O(size of all values).
    pub fn clear(&mut self) -> Result<(), EditError> {
        let keys: Vec<K> = self.state.keys.iter().cloned().collect();
        keys.iter().try_for_each(|key| self.remove(key).map(drop))
    }
}

impl<K: Key, V: Removable> Removable for RwMap<K, V> {
    /// Resets all that is seen: also removals, which hide what is written concurrently.
    fn reset(&mut self, update: &mut Update) -> Result<(), EditError> {
        self.keys.reset(update)?;
        self.values.reset(update)
    }
}

debug_as_view!(impl[K: Key, V: Removable<View: core::fmt::Debug>] RwMap<K, V>);
/// What is remembered of the value of each key, and whether it was shown.
impl<K: Key, V: Removable + Watched> Watched for RwMap<K, V> {
    type Change = MapChange<K, V::View, V::Change>;
    type Before = MapBefore<K, V>;

    fn remember(&self, part: &Self::Part, dead: &Names, before: &mut MapBefore<K, V>) {
        let mut touched = self.values.touched(&part.values, dead);
        for key in self.keys.touched(&part.keys, dead) {
            touched.entry(key).or_default();
        }
        for (key, dead) in touched {
            let part = part.values.get(&key).cloned().unwrap_or_default();
            let visible = self.contains_key(&key);
            let value = self.values.get(&key);
            before.remember((key, visible), value, &part, &dead);
        }
    }

    fn changes(&self, before: MapBefore<K, V>) -> Vec<Self::Change> {
        before.changes(|key| self.get(key))
    }

    fn follow(view: &mut BTreeMap<K, V::View>, change: Self::Change) {
        change.make(view, V::follow);
    }
}

/// With plain values as the values compare with: sets with sets, counters with numbers.
impl<K: Key, V: Removable + PartialEq<W>, W> PartialEq<BTreeMap<K, W>> for RwMap<K, V> {
    fn eq(&self, other: &BTreeMap<K, W>) -> bool {
        let same =
            |((key, value), (name, plain)): ((&K, &V), (&K, &W))| key == name && value == plain;
        self.len() == other.len() && self.iter().zip(other).all(same)
    }
}

replicated_struct! {
    impl[K: Key, V: Removable] RwMap<K, V>, RwMapPart: RwMapPart<K, V::Part> {
        1 => keys: RwSet<K>,
        2 => values: DotMap<K, V>,
        ; blank
    }
    type Edit = EditView<'a, RwMap<K, V>>;
    fn edit(map, update) { EditView::new(map, update) }
    type View = BTreeMap<K, V::View>;
    fn view(this) {
        this.iter().map(|(key, value)| (key.clone(), value.view())).collect()
    }
    fn visible(that) { !that.is_empty() }
}

/// Some entries of an [`RwMap`]: insertions and removals of keys, and values by key.
#[derive(Clone, PartialEq, Debug)]
pub struct RwMapPart<K: Key, P> {
    keys: <RwSet<K> as Replicated>::Part,
    values: DotMapPart<K, P>,
}

impl<K: Key, P> Default for RwMapPart<K, P> {
    fn default() -> RwMapPart<K, P> {
        RwMapPart {
            keys: Default::default(),
            values: DotMapPart::default(),
        }
    }
}

struct_part! {
    impl[K: Key, P: Part] RwMapPart<K, P> { 1 => keys, 2 => values, }
}
