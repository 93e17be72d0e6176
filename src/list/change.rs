//! What changes in lists.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::list::ListPart;
use super::{Element, List};
use crate::clock::{EntryId, Names};
use crate::kernel::{Removable, Replaced, Replicated, Watched};
use crate::text::TextBefore;
use crate::text::change::Difference;

/// A change in the view of a list, of elements with the views `V`, whose changes are `C`.
///
/// Its index is that after all changes before it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ListChange<V, C> {
    /// An element came in.
    Inserted {
        /// Before which element.
        at: usize,
        /// What it shows.
        value: V,
    },
    /// An element went away.
    Removed {
        /// Which.
        at: usize,
    },
    /// An element that was there and is changed.
    Changed {
        /// Which.
        at: usize,
        /// What changed in it.
        change: C,
    },
}

/// An [`Element`] that says what a merge changed in it; see [`Watched`].
///
/// Every replicated type that is `Watched` has it, and so have the plain values of this crate.
pub trait WatchedElement: Element {
    /// One change of an element.
    type Change;
    /// What is remembered of an element until the merge is done.
    type Before: Default;

    /// Remembers what `shape` shows before `part` comes in and `dead` dies.
    fn remember(
        shape: &Self::Shape,
        part: &<Self::Shape as Replicated>::Part,
        dead: &Names,
        before: &mut Self::Before,
    );

    /// What is different from what was remembered.
    fn changes(shape: &Self::Shape, before: Self::Before) -> Vec<Self::Change>;

    /// Makes `change` in a view that is as it was before it.
    fn follow(view: &mut Self::View, change: Self::Change);
}

impl<S: Removable + Watched> WatchedElement for S {
    type Change = <S as Watched>::Change;
    type Before = <S as Watched>::Before;

    fn remember(shape: &S, part: &S::Part, dead: &Names, before: &mut Self::Before) {
        Watched::remember(shape, part, dead, before);
    }

    fn changes(shape: &S, before: Self::Before) -> Vec<Self::Change> {
        Watched::changes(shape, before)
    }

    fn follow(view: &mut <S as Replicated>::View, change: Self::Change) {
        <S as Watched>::follow(view, change);
    }
}

/// For `plain_element!`, which cannot name `Vec` in every crate.
#[doc(hidden)]
pub type Changes<C> = Vec<C>;

/// The change from what a plain element showed to what it shows; `None` if that is the same.
#[doc(hidden)]
pub fn replaced<T: PartialEq>(old: Option<T>, new: Option<T>) -> Vec<Replaced<T>> {
    let both = old.zip(new).filter(|(old, new)| old != new);
    let change = both.map(|(old, new)| Replaced { old, new });
    change.into_iter().collect()
}

/// What is remembered of a list.
pub struct ListBefore<T: WatchedElement> {
    order: TextBefore,
    elements: BTreeMap<EntryId, T::Before>,
}

impl<T: WatchedElement> Default for ListBefore<T> {
    fn default() -> ListBefore<T> {
        ListBefore {
            order: TextBefore::default(),
            elements: BTreeMap::new(),
        }
    }
}

impl<T: WatchedElement> Watched for List<T> {
    type Change = ListChange<T::View, T::Change>;
    type Before = ListBefore<T>;

    fn remember(
        &self,
        part: &ListPart<<T::Shape as Replicated>::Part>,
        dead: &Names,
        before: &mut ListBefore<T>,
    ) {
        self.order.remember(&part.order, dead, &mut before.order);
        for (id, dead) in self.values.touched(&part.values, dead) {
            if self.position_of(id).is_some() && !before.order.is_new(id) {
                let part = part.values.get(&id).cloned().unwrap_or_default();
                let element = before.elements.entry(id).or_default();
                T::remember(self.shape(id), &part, &dead, element);
            }
        }
    }

    fn changes(&self, before: ListBefore<T>) -> Vec<Self::Change> {
        let Difference { gone, came } = before.order.difference(&self.order);
        let gone = gone.into_iter().rev();
        let mut changes: Vec<_> = gone.map(|at| ListChange::Removed { at }).collect();
        let inserted = |(at, id)| {
            let value = T::view(self.shape(id))?;
            Some(ListChange::Inserted { at, value })
        };
        changes.extend(came.into_iter().filter_map(inserted));
        for (id, element) in before.elements {
            if let Some(at) = self.position_of(id) {
                let inner = T::changes(self.shape(id), element).into_iter();
                changes.extend(inner.map(|change| ListChange::Changed { at, change }));
            }
        }
        changes
    }

    fn follow(view: &mut Vec<T::View>, change: Self::Change) {
        match change {
            ListChange::Inserted { at, value } => view.insert(at.min(view.len()), value),
            ListChange::Removed { at } if at < view.len() => drop(view.remove(at)),
            ListChange::Removed { .. } => {}
            ListChange::Changed { at, change } => {
                if let Some(element) = view.get_mut(at) {
                    T::follow(element, change);
                }
            }
        }
    }
}
