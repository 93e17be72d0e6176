//! What the readers of sets, maps and registers iterate with.

use alloc::collections::btree_map;
use core::fmt;
use core::iter::FusedIterator;

use smallvec::{IntoIter, SmallVec};

use super::WithRest;

/// What a value shows of what it holds under its keys, in ascending order of these.
///
/// # Examples
/// ```
/// use commute::{OrSet, Replica, ReplicaId};
/// let mut a = Replica::<OrSet<u8>>::new(ReplicaId::from(1));
/// a.edit(|set| set.extend([2, 1, 3]))?;
/// let set: &OrSet<u8> = &a;
/// let mut sum = 0;
/// for value in set {
///     sum += value;
/// }
/// assert_eq!((sum, set.iter().next_back()), (6, Some(&3)));
/// # Ok::<(), commute::EditError>(())
/// ```
pub struct Iter<'a, K, S, Item> {
    held: btree_map::Iter<'a, K, WithRest<S>>,
    show: Show<'a, K, S, Item>,
}

/// What is shown of a key and what is held under it; `None` if it is not there for a reader.
pub(crate) type Show<'a, K, S, Item> = fn(&'a K, &'a S) -> Option<Item>;

impl<'a, K, S, Item> Iter<'a, K, S, Item> {
    pub(crate) fn new(
        held: btree_map::Iter<'a, K, WithRest<S>>,
        show: Show<'a, K, S, Item>,
    ) -> Iter<'a, K, S, Item> {
        Iter { held, show }
    }
}

impl<'a, K, S, Item> Iterator for Iter<'a, K, S, Item> {
    type Item = Item;

    fn next(&mut self) -> Option<Item> {
        let show = self.show;
        self.held.find_map(|(key, held)| show(key, &held.value))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, Some(self.held.len()))
    }
}

impl<'a, K, S, Item> DoubleEndedIterator for Iter<'a, K, S, Item> {
    fn next_back(&mut self) -> Option<Item> {
        let show = self.show;
        let mut backwards = self.held.by_ref().rev();
        backwards.find_map(|(key, held)| show(key, &held.value))
    }
}

impl<K, S, Item> FusedIterator for Iter<'_, K, S, Item> {}

impl<K, S, Item> Clone for Iter<'_, K, S, Item> {
    fn clone(&self) -> Self {
        Iter {
            held: self.held.clone(),
            show: self.show,
        }
    }
}

impl<K, S, Item: fmt::Debug> fmt::Debug for Iter<'_, K, S, Item> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.clone()).finish()
    }
}

/// The concurrent values of a register, in an order that is the same everywhere.
#[derive(Clone, Debug)]
pub struct Values<'a, V>(IntoIter<[&'a V; 1]>);

impl<'a, V> Values<'a, V> {
    pub(crate) fn new(values: impl Iterator<Item = &'a V>) -> Values<'a, V> {
        Values(values.collect::<SmallVec<_>>().into_iter())
    }
}

impl<'a, V> Iterator for Values<'a, V> {
    type Item = &'a V;

    fn next(&mut self) -> Option<&'a V> {
        self.0.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<V> DoubleEndedIterator for Values<'_, V> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.0.next_back()
    }
}

impl<V> ExactSizeIterator for Values<'_, V> {}

impl<V> FusedIterator for Values<'_, V> {}
