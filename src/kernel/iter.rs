//! What the readers of sets, maps and registers iterate with.

use alloc::collections::btree_map;
use core::fmt;
use core::iter::FusedIterator;

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
    held: Held<'a, K, S>,
    show: Show<'a, K, S, Item>,
}

/// What is held under keys: values, or the children of a map.
enum Held<'a, K, S> {
    Values(btree_map::Iter<'a, K, S>),
    Children(btree_map::Iter<'a, K, WithRest<S>>),
}

impl<'a, K, S> Iterator for Held<'a, K, S> {
    type Item = (&'a K, &'a S);

    fn next(&mut self) -> Option<(&'a K, &'a S)> {
        match self {
            Held::Values(values) => values.next(),
            Held::Children(children) => children.next().map(|(key, child)| (key, &child.value)),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match self {
            Held::Values(values) => values.size_hint(),
            Held::Children(children) => children.size_hint(),
        }
    }
}

impl<'a, K, S> DoubleEndedIterator for Held<'a, K, S> {
    fn next_back(&mut self) -> Option<(&'a K, &'a S)> {
        match self {
            Held::Values(values) => values.next_back(),
            Held::Children(children) => {
                let last = children.next_back();
                last.map(|(key, child)| (key, &child.value))
            }
        }
    }
}

impl<K, S> Clone for Held<'_, K, S> {
    fn clone(&self) -> Self {
        match self {
            Held::Values(values) => Held::Values(values.clone()),
            Held::Children(children) => Held::Children(children.clone()),
        }
    }
}

/// What is shown of a key and what is held under it; `None` if it is not there for a reader.
pub(crate) type Show<'a, K, S, Item> = fn(&'a K, &'a S) -> Option<Item>;

impl<'a, K, S, Item> Iter<'a, K, S, Item> {
    pub(crate) fn new(
        values: btree_map::Iter<'a, K, S>,
        show: Show<'a, K, S, Item>,
    ) -> Iter<'a, K, S, Item> {
        let held = Held::Values(values);
        Iter { held, show }
    }

    pub(crate) fn of_children(
        children: btree_map::Iter<'a, K, WithRest<S>>,
        show: Show<'a, K, S, Item>,
    ) -> Iter<'a, K, S, Item> {
        let held = Held::Children(children);
        Iter { held, show }
    }
}

impl<'a, K, S, Item> Iterator for Iter<'a, K, S, Item> {
    type Item = Item;

    fn next(&mut self) -> Option<Item> {
        let show = self.show;
        self.held.find_map(|(key, held)| show(key, held))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, self.held.size_hint().1)
    }
}

impl<'a, K, S, Item> DoubleEndedIterator for Iter<'a, K, S, Item> {
    fn next_back(&mut self) -> Option<Item> {
        let show = self.show;
        let mut backwards = self.held.by_ref().rev();
        backwards.find_map(|(key, held)| show(key, held))
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
