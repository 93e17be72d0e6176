//! What a merge changed in the view.

use alloc::vec::Vec;

use super::Replicated;
use crate::clock::Names;

/// A replicated value that says what a merge changed in its view: enough to keep a user interface
/// or an index in step without reading everything again.
///
/// [`Replica::absorb_with_changes`](crate::Replica::absorb_with_changes) and
/// [`merge_with_changes`](crate::Replica::merge_with_changes) return the changes; programs call
/// these. Taken in order, the changes lead from the view before to the view after:
/// [`follow`](Watched::follow) is one step. What a merge did not change is not among them. That is so of
/// what honest replicas write; a forged update that takes the value of a plain element of a
/// [`List`](crate::List), and leaves the element, is not told.
///
/// # Complexity
/// That of the merge; a counter, register or flag is looked at as a whole, of a set, map or text only
/// what the merge touches.
///
/// # Examples
/// ```
/// use commute::kernel::Watched;
/// use commute::set::SetChange;
/// use commute::{OrSet, Replica, ReplicaId};
/// let mut a = Replica::<OrSet<String>>::new(ReplicaId::from(1));
/// let mut b = Replica::<OrSet<String>>::new(ReplicaId::from(2));
/// let mut shown = b.view();
/// let (_, delta) = a.update(|set| set.insert("tea".into()))?;
/// let (_, changes) = b.absorb_with_changes(&delta)?;
/// assert_eq!(changes, [SetChange::Inserted("tea".into())]);
/// changes.into_iter().for_each(|change| OrSet::follow(&mut shown, change));
/// assert_eq!(shown, b.view());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Watched: Replicated {
    /// One change of the view.
    type Change;
    /// What is remembered of the view until the merge is done.
    type Before: Default;

    /// Remembers what the view shows where `part` brings something and `dead` dies, before they do.
    ///
    /// A merge may have several steps, since it wakes what waited; each is announced.
    fn remember(&self, part: &Self::Part, dead: &Names, before: &mut Self::Before);

    /// What is different from what was remembered.
    fn changes(&self, before: Self::Before) -> Vec<Self::Change>;

    /// Makes `change` in a view that is as it was before it.
    fn follow(view: &mut Self::View, change: Self::Change);
}

/// A value that is shown as a whole is another one now: a counter, a register, a flag.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Replaced<V> {
    /// What the view showed before.
    pub old: V,
    /// What it shows now.
    pub new: V,
}

/// Implements [`Watched`] for a type that is shown as a whole.
macro_rules! watched_as_a_whole {
    (impl[$($generics:tt)*] $type:ty) => {
        impl<$($generics)*> $crate::kernel::Watched for $type {
            type Change = $crate::kernel::Replaced<Self::View>;
            type Before = Option<Self::View>;

            fn remember(
                &self,
                _: &Self::Part,
                _: &$crate::clock::Names,
                before: &mut Self::Before,
            ) {
                before.get_or_insert_with(|| $crate::kernel::Replicated::view(self));
            }

            fn changes(&self, before: Self::Before) -> alloc::vec::Vec<Self::Change> {
                let changed = before.and_then(|old| {
                    let new = $crate::kernel::Replicated::view(self);
                    (old != new).then_some($crate::kernel::Replaced { old, new })
                });
                changed.into_iter().collect()
            }

            fn follow(view: &mut Self::View, change: Self::Change) {
                *view = change.new;
            }
        }
    };
}

pub(crate) use watched_as_a_whole;
