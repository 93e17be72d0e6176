//! A set whose elements are removed for ever.

use alloc::collections::BTreeSet;
use core::borrow::Borrow;

use super::readers::set_readers;
use crate::codec::Key;
use crate::kernel::{
    DotFun, DotMap, EditError, EditView, Place, Removable, Update,
    newtype::{debug_as_view, replicated_newtype},
};
use crate::set::change::watched_set;

/// A two-phase set: an element is added, may be removed, and never comes back.
///
/// | | |
/// |---|---|
/// | conflict | A removes `x` while B adds it: `x` is gone for ever |
/// | delivery | any order, duplicates allowed; an early delta waits for its past |
/// | space | O(all elements ever removed + live ones + replicas) |
/// | not guaranteed | that an addition has an effect: of a removed element it has none |
///
/// For revoked keys, closed accounts, spent tokens. Where elements come back use
/// [`OrSet`](crate::OrSet) or [`RwSet`](crate::RwSet).
///
/// Edits, on the [`EditView`]: `insert`, `remove`, `extend`.
///
/// Source: Shapiro et al. 2011, specification 12.
///
/// # Examples
/// ```
/// use commute::{Replica, ReplicaId, TwoPhaseSet};
/// let mut a = Replica::<TwoPhaseSet<String>>::new(ReplicaId::from(1));
/// a.edit(|set| set.insert("key".into()))?;
/// a.edit(|set| set.remove("key"))?;
/// assert_eq!(a.edit(|set| set.insert("key".into()))?, false);
/// assert!(!a.contains("key") && a.is_removed("key"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct TwoPhaseSet<T>(DotMap<T, DotFun<bool>>, Place);

impl<T: Key> TwoPhaseSet<T> {
    /// The number of elements. O(n + r), r = removed elements.
    pub fn len(&self) -> usize {
        self.iter().count()
    }

    /// Whether there is no element. O(1 + r).
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }

    /// Whether `value` was removed, and so can never be in the set again. O(log n).
    pub fn is_removed<Q>(&self, value: &Q) -> bool
    where
        T: Borrow<Q>,
        Q: Ord + ?Sized,
    {
        self.0.get(value).is_some_and(|marks| !marks.is_all_true())
    }
}

impl<T: Key> EditView<'_, TwoPhaseSet<T>> {
    /// Adds `value`; returns whether it is new: neither there nor removed.
    ///
    /// Otherwise it has no effect, save that under a map key an addition of a present element is
    /// recorded, so that it survives a removal of the key that has not seen it.
    ///
    /// # Errors
    /// [`EditError::TooManyEntries`] after 2^31 changes in one update.
    ///
    /// # Complexity
    /// O(log n).
    pub fn insert(&mut self, value: T) -> Result<bool, EditError> {
        let (place, removed) = (self.state.1, self.is_removed(&value));
        let present = self.contains(&value);
        if removed || present && place == Place::Kept {
            return Ok(false);
        }
        let marks = self.state.0.child(value);
        marks.kill_if(self.update, |_, _| true);
        marks.add(true, self.update)?;
        Ok(!present)
    }

    /// Removes `value` for ever; returns whether it was present. Of an absent element it has no
    /// effect.
    ///
    /// # Errors
    /// As [`insert`](EditView::insert).
    ///
    /// # Complexity
    /// O(log n + d), d = concurrent changes of `value` seen here.
    pub fn remove<Q>(&mut self, value: &Q) -> Result<bool, EditError>
    where
        T: Borrow<Q>,
        Q: Ord + ?Sized,
    {
        if !self.contains(value) {
            return Ok(false);
        }
        if let Some(marks) = self.state.0.child_of(value) {
            marks.kill_if(self.update, |_, _| true);
            marks.add(false, self.update)?;
        }
        Ok(true)
    }
}

impl<T: Key> Removable for TwoPhaseSet<T> {
    fn reset(&mut self, update: &mut Update) -> Result<(), EditError> {
        self.0.reset(update)
    }
}

set_readers!(TwoPhaseSet of DotFun<bool>, shown if DotFun::is_all_true);

debug_as_view!(impl[T: Key] TwoPhaseSet<T>);

replicated_newtype! {
    impl[T: Key] TwoPhaseSet<T> as DotMap<T, DotFun<bool>>, at its place;
    type View = BTreeSet<T>;
    fn view(this) { this.iter().cloned().collect() }
    fn visible(this) { !this.is_empty() }
}

watched_set! { impl[T: Key] TwoPhaseSet<T>, of T }
