//! A set in which removals win.

use alloc::borrow::ToOwned;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::borrow::Borrow;

use super::readers::set_readers;
use crate::clock::Names;
use crate::codec::Key;
use crate::kernel::{
    DotFun, DotMap, EditError, EditView, Removable, Replicated, Update,
    newtype::{debug_as_view, replicated_newtype},
};
use crate::set::change::watched_set;

/// A remove-wins set: an element is there if it was added and every removal of it has been seen by
/// an addition.
///
/// | | |
/// |---|---|
/// | conflict | A removes `x` while B adds it: `x` is gone (remove wins) |
/// | delivery | any order, duplicates allowed; an early delta waits for its past |
/// | space | O(live elements + elements removed and not added again + replicas) |
/// | not guaranteed | that an addition shows: a removal it has not seen takes it back |
///
/// A removal is a record in the state, also of an element that is not there. The record stays until an
/// addition that has seen it replaces it.
///
/// Edits, on the [`EditView`]: `insert`, `remove`, `extend`, `clear`.
///
/// Source: Almeida et al. 2018, section 7 (`RWSet`), with marks as payloads.
///
/// # Examples
/// ```
/// use commute::{Replica, ReplicaId, RwSet};
/// let mut a = Replica::<RwSet<String>>::new(ReplicaId::from(1));
/// a.edit(|set| set.insert("x".into()))?;
/// let mut b = a.fork_as(ReplicaId::from(2));
/// a.edit(|set| set.remove("x"))?;
/// b.edit(|set| set.insert("x".into()))?;   // concurrent
/// a.merge(&b)?;
/// assert!(!a.contains("x"));               // remove wins
/// assert_eq!(a.conflicts().count(), 1);    // the addition may still be seen
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct RwSet<T>(DotMap<T, DotFun<bool>>);

impl<T: Key> RwSet<T> {
    /// The elements that `part` brings something for and of which something dies by `dead`.
    pub(crate) fn touched(
        &self,
        part: &<RwSet<T> as Replicated>::Part,
        dead: &Names,
    ) -> impl Iterator<Item = T> + use<T> {
        self.0.touched(part, dead).into_keys()
    }

    /// The number of elements. O(n + r), r = removal records.
    pub fn len(&self) -> usize {
        self.iter().count()
    }

    /// Whether there is no element. O(1 + r).
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }

    /// The elements whose addition lost to a concurrent removal that nobody has replaced yet, in
    /// ascending order.
    ///
    /// # Complexity
    /// O(n + r).
    pub fn conflicts(&self) -> impl DoubleEndedIterator<Item = &T> {
        let lost = |(_, marks): &(&T, &DotFun<bool>)| {
            !marks.is_all_true() && marks.iter().any(|(_, added)| *added)
        };
        self.0.iter().filter(lost).map(|(value, _)| value)
    }
}

impl<T: Key> EditView<'_, RwSet<T>> {
    /// Adds `value`; returns whether it was absent.
    ///
    /// It takes back the removals seen here; one made concurrently elsewhere wins.
    ///
    /// # Errors
    /// [`EditError::TooManyEntries`] after 2^31 changes in one update.
    ///
    /// # Complexity
    /// O(log n + d), d = concurrent changes of `value` seen here.
    pub fn insert(&mut self, value: T) -> Result<bool, EditError> {
        self.mark(value, true).map(|present| !present)
    }

    /// Removes `value`, here and wherever it is being added concurrently; returns whether it was
    /// present.
    ///
    /// # Errors
    /// As [`insert`](EditView::insert).
    ///
    /// # Complexity
    /// As [`insert`](EditView::insert).
    pub fn remove<Q>(&mut self, value: &Q) -> Result<bool, EditError>
    where
        T: Borrow<Q>,
        Q: Ord + ToOwned<Owned = T> + ?Sized,
    {
        self.mark(value.to_owned(), false)
    }

    /// Removes every element seen here, and wherever it is being added concurrently.
    ///
    /// # Errors
    /// As [`insert`](EditView::insert).
    ///
    /// # Complexity
    /// O(n log n); a record for each element stays.
    pub fn clear(&mut self) -> Result<(), EditError> {
        let all: Vec<T> = self.state.iter().cloned().collect();
        all.into_iter()
            .try_for_each(|value| self.mark(value, false).map(drop))
    }

    fn mark(&mut self, value: T, added: bool) -> Result<bool, EditError> {
        let marks = self.state.0.child(value);
        let present = marks.is_all_true();
        marks.kill_if(self.update, |_, _| true);
        marks.add(added, self.update)?;
        Ok(present)
    }
}

impl<T: Key> Removable for RwSet<T> {
    fn reset(&mut self, update: &mut Update) -> Result<(), EditError> {
        self.0.reset(update)
    }
}

set_readers!(RwSet of DotFun<bool>, shown if DotFun::is_all_true);

debug_as_view!(impl[T: Key] RwSet<T>);

replicated_newtype! {
    impl[T: Key] RwSet<T> as DotMap<T, DotFun<bool>>;
    type View = BTreeSet<T>;
    fn view(this) { this.iter().cloned().collect() }
    fn visible(this) { !this.is_empty() }
}

watched_set! { impl[T: Key] RwSet<T>, of T }
