//! What a merge changes in the view of a [`DotMap`].

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::{DotMap, Removable, Watched};
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

impl<K: Key, S: Removable + Watched> Watched for DotMap<K, S> {
    type Change = MapChange<K, S::View, S::Change>;
    type Before = MapBefore<K, S>;

    fn remember(&self, part: &Self::Part, dead: &Names, before: &mut MapBefore<K, S>) {
        for (key, dead) in self.touched(part, dead) {
            let child = self.get(&key);
            let value = before.0.entry(key.clone());
            let value = value.or_insert_with(|| ValueBefore {
                visible: child.is_some_and(S::visible),
                before: S::Before::default(),
            });
            if let Some(child) = child {
                let part = part.get(&key).cloned().unwrap_or_default();
                child.remember(&part, &dead, &mut value.before);
            }
        }
    }

    fn changes(&self, before: MapBefore<K, S>) -> Vec<Self::Change> {
        let mut changes = Vec::new();
        for (key, value) in before.0 {
            let child = self.get(&key).filter(|child| child.visible());
            match (value.visible, child) {
                (false, None) => {}
                (true, None) => changes.push(MapChange::Removed { key }),
                (false, Some(child)) => {
                    let value = child.view();
                    changes.push(MapChange::Inserted { key, value });
                }
                (true, Some(child)) => {
                    let key = || key.clone();
                    let inner = child.changes(value.before).into_iter();
                    changes.extend(inner.map(|change| MapChange::Changed { key: key(), change }));
                }
            }
        }
        changes
    }

    fn follow(view: &mut BTreeMap<K, S::View>, change: Self::Change) {
        change.make(view, S::follow);
    }
}
