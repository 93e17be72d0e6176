//! A map whose values are replicated themselves.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::borrow::Borrow;

use super::MapChange;
use crate::clock::Names;
use crate::codec::Key;
use crate::kernel::{
    DotMap, EditError, EditView, Iter, MapBefore, Removable, Update, Watched,
    newtype::{debug_as_view, replicated_newtype},
};

/// An observed-remove map: each key holds a replicated value, and removing a key takes back what it
/// has seen of the value.
///
/// | | |
/// |---|---|
/// | conflict | A removes `k` while B updates its value: `k` stays with B's update alone (update wins) |
/// | delivery | any order, duplicates allowed; an early delta waits for its past |
/// | conflict | A removes `k` while B updates within an element of a list in its value: the element is deleted; B's update is in `hidden` |
/// | space | O(live entries of all values + replicas); no tombstones but those of the values |
/// | not guaranteed | that a value is there whole or not at all: a removal resets what it has seen |
///
/// **Reset rule.** `remove(k)` resets the value under `k` as far as this replica has seen it; what is
/// added concurrently stays. So a counter that others go on to increment restarts from their
/// increments, a nested map keeps the keys set concurrently, a text keeps what was typed concurrently.
/// Of lists and texts the elements seen are deleted, and there a deletion wins: what is written within
/// such an element concurrently does not show, nor does the key if that is all there is. It can be
/// read: [`hidden`](OrMap::hidden), then [`List::hidden`](crate::List::hidden).
/// A key is there as long as its value shows something: a set has an element, a register a value, a
/// counter was counted on. A key whose value was emptied from within is gone.
///
/// Values may be any type that is [`Removable`]: counters, registers, flags, sets, maps, structs of
/// these by `#[derive(Replicated)]`.
///
/// Edits, on the [`EditView`]: `entry`, `remove`, `clear`.
///
/// Source: Almeida et al. 2018, section 7 (`ORMap`), with one causal context for the whole state.
///
/// # Examples
/// ```
/// use commute::{OrMap, PnCounter, Replica, ReplicaId};
/// let mut a = Replica::<OrMap<String, PnCounter>>::new(ReplicaId::from(1));
/// a.edit(|map| map.entry("votes".into()).add(5))?;
/// let mut b = a.fork_as(ReplicaId::from(2));
/// a.edit(|map| map.remove("votes"))?;                  // has seen 5
/// b.edit(|map| map.entry("votes".into()).add(3))?;     // concurrent
/// a.merge(&b)?;
/// assert_eq!(a.get("votes").map(|votes| votes.value()), Some(3));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct OrMap<K, V>(DotMap<K, V>);

impl<K: Key, V: Removable> OrMap<K, V> {
    /// The value of `key`. O(log n).
    pub fn get<Q>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
        Q: Ord + ?Sized,
    {
        self.0.get(key).filter(|value| value.visible())
    }

    /// Whether `key` is there. O(log n).
    pub fn contains_key<Q>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
        Q: Ord + ?Sized,
    {
        self.get(key).is_some()
    }

    /// The number of keys. O(n).
    pub fn len(&self) -> usize {
        self.iter().count()
    }

    /// Whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }

    /// Keys and values in ascending order of keys.
    pub fn iter(&self) -> Iter<'_, K, V, (&K, &V)> {
        self.0
            .select(|key, value| value.visible().then_some((key, value)))
    }

    /// The keys that are not there though something of their values is stored, in ascending order.
    ///
    /// That are the tombstones of lists and texts, and what was written within elements of lists while
    /// somebody removed the key.
    ///
    /// # Examples
    /// ```
    /// use commute::{List, OrMap, Replica, ReplicaId, Text, text::Chars};
    /// let mut a = Replica::<OrMap<String, List<Text>>>::new(ReplicaId::from(1));
    /// a.edit(|map| map.entry("todo".into()).push_empty()?.insert(Chars(0), "tea"))?;
    /// let mut b = a.fork_as(ReplicaId::from(2));
    /// a.edit(|map| map.remove("todo"))?;
    /// b.edit(|map| map.entry("todo".into()).edit(0)?.insert(Chars(3), "pot"))?;   // concurrent
    /// a.merge(&b)?;
    /// assert!(!a.contains_key("todo"));
    /// let (_, list) = a.hidden().next().ok_or("nothing")?;
    /// let (_, text) = list.hidden().next().ok_or("nothing")?;
    /// assert_eq!(text, "pot");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn hidden(&self) -> Iter<'_, K, V, (&K, &V)> {
        self.0
            .select(|key, value| (!value.visible()).then_some((key, value)))
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

impl<K: Key, V: Removable> EditView<'_, OrMap<K, V>> {
    /// The edit view of the value of `key`, which is there from the first change on. O(log n).
    pub fn entry(&mut self, key: K) -> V::Edit<'_> {
        self.state.0.child(key).edit(self.update)
    }

    /// Resets the value of `key` as far as it is seen here; returns whether the key was there.
    ///
    /// # Errors
    /// Those of the value's own removal.
    ///
    /// # Complexity
    /// O(log n) and the size of the value; the delta names what it kills.
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
    ///
    /// # Complexity
    /// O(size of all values).
    pub fn clear(&mut self) -> Result<(), EditError> {
        self.state.0.reset(self.update)
    }
}

impl<'a, K: Key, V: Removable> IntoIterator for &'a OrMap<K, V> {
    type Item = (&'a K, &'a V);
    type IntoIter = Iter<'a, K, V, (&'a K, &'a V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// With plain values as the values compare with: sets with sets, counters with numbers.
impl<K: Key, V: Removable + PartialEq<W>, W> PartialEq<BTreeMap<K, W>> for OrMap<K, V> {
    fn eq(&self, other: &BTreeMap<K, W>) -> bool {
        let mut others = other.iter();
        let same = |(key, value): (&K, &V)| {
            others
                .next()
                .is_some_and(|(name, plain)| key == name && value == plain)
        };
        self.iter().all(same) && others.next().is_none()
    }
}

impl<K: Key, V: Removable> Removable for OrMap<K, V> {
    fn reset(&mut self, update: &mut Update) -> Result<(), EditError> {
        self.0.reset(update)
    }
}

debug_as_view!(impl[K: Key, V: Removable<View: core::fmt::Debug>] OrMap<K, V>);

replicated_newtype! {
    impl[K: Key, V: Removable] OrMap<K, V> as DotMap<K, V>;
    type View = BTreeMap<K, V::View>;
    fn view(this) { this.0.view() }
    fn visible(this) { this.0.visible() }
}

impl<K: Key, V: Removable + Watched> Watched for OrMap<K, V> {
    type Change = MapChange<K, V::View, V::Change>;
    type Before = MapBefore<K, V>;

    fn remember(&self, part: &Self::Part, dead: &Names, before: &mut MapBefore<K, V>) {
        self.0.remember(part, dead, before);
    }

    fn changes(&self, before: MapBefore<K, V>) -> Vec<Self::Change> {
        self.0.changes(before)
    }

    fn follow(view: &mut BTreeMap<K, V::View>, change: Self::Change) {
        change.make(view, V::follow);
    }
}
