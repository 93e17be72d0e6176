//! What a merge changes in the view of a [`DotMap`].

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::{DotMap, Place, Removable, Watched};
use crate::clock::Names;
use crate::codec::Key;

/// A change in the view of a map: of keys `K` with the views `V`, whose changes are `C`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum MapChange<K, V, C> {
    /// This key was not there and is.
    Inserted {
        /// The key.
        key: K,
        /// What it shows.
        value: V,
    },
    /// This key was there and is not.
    Removed {
        /// The key.
        key: K,
    },
    /// The value of this key, which was there and is, changed.
    Changed {
        /// The key.
        key: K,
        /// What changed in its value.
        change: C,
    },
}

impl<K: Ord, V, C> MapChange<K, V, C> {
    /// Makes the change in a view; `follow` makes one in a value.
    pub(crate) fn make(self, view: &mut BTreeMap<K, V>, follow: impl FnOnce(&mut V, C)) {
        match self {
            MapChange::Inserted { key, value } => drop(view.insert(key, value)),
            MapChange::Removed { key } => drop(view.remove(&key)),
            MapChange::Changed { key, change } => {
                if let Some(value) = view.get_mut(&key) {
                    follow(value, change);
                }
            }
        }
    }
}

/// What is remembered of a map.
pub struct MapBefore<K, S: Watched>(BTreeMap<K, ValueBefore<S>>);

struct ValueBefore<S: Watched> {
    visible: bool,
    before: S::Before,
}

impl<K, S: Watched> Default for MapBefore<K, S> {
    fn default() -> MapBefore<K, S> {
        MapBefore(BTreeMap::new())
    }
}

impl<K: Key, S: Removable + Watched> MapBefore<K, S> {
    /// Remembers whether `key` is `visible` and what its value, if there is one, shows before `part`
    /// comes in there and `dead` dies.
    pub(crate) fn remember(
        &mut self,
        (key, visible): (K, bool),
        value: Option<&S>,
        part: &S::Part,
        dead: &Names,
    ) {
        let entry = self.0.entry(key).or_insert_with(|| ValueBefore {
            visible,
            before: S::Before::default(),
        });
        // Also of what is not shown: a later step may show it again.
        match value {
            Some(value) => value.remember(part, dead, &mut entry.before),
            None => S::empty(Place::Removable).remember(part, dead, &mut entry.before),
        }
    }

    /// What is different, now that this is `shown` of each key.
    pub(crate) fn changes<'s>(
        self,
        shown: impl Fn(&K) -> Option<&'s S>,
    ) -> Vec<MapChange<K, S::View, S::Change>> {
        let mut changes = Vec::new();
        for (key, value) in self.0 {
            match (value.visible, shown(&key)) {
                (false, None) => {}
                (true, None) => changes.push(MapChange::Removed { key }),
                (false, Some(shown)) => {
                    let value = shown.view();
                    changes.push(MapChange::Inserted { key, value });
                }
                (true, Some(shown)) => {
                    let key = || key.clone();
                    let inner = shown.changes(value.before).into_iter();
                    changes.extend(inner.map(|change| MapChange::Changed { key: key(), change }));
                }
            }
        }
        changes
    }
}

impl<K: Key, S: Removable + Watched> Watched for DotMap<K, S> {
    type Change = MapChange<K, S::View, S::Change>;
    type Before = MapBefore<K, S>;

    fn remember(&self, part: &Self::Part, dead: &Names, before: &mut MapBefore<K, S>) {
        for (key, dead) in self.touched(part, dead) {
            let part = part.get(&key).cloned().unwrap_or_default();
            let value = self.get(&key);
            let visible = value.is_some_and(S::visible);
            before.remember((key, visible), value, &part, &dead);
        }
    }

    fn changes(&self, before: MapBefore<K, S>) -> Vec<Self::Change> {
        before.changes(|key| self.get(key).filter(|value| value.visible()))
    }

    fn follow(view: &mut BTreeMap<K, S::View>, change: Self::Change) {
        change.make(view, S::follow);
    }
}
