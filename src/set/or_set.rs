//! A set in which additions win.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::borrow::Borrow;

use super::readers::set_readers;
use crate::codec::Key;
use crate::kernel::{
    DotMap, DotSet, EditError, EditView, Removable,
    newtype::{debug_as_view, replicated_newtype},
};
use crate::set::change::watched_set;

/// An observed-remove set: a removal takes back the additions it has seen, no others.
///
/// | | |
/// |---|---|
/// | conflict | A removes `x` while B adds it: `x` stays (add wins) |
/// | delivery | any order, duplicates allowed; an early delta waits for its past |
/// | space | O(live elements x concurrent additions of each + replicas); no tombstones |
/// | not guaranteed | that an element is added once: concurrent additions are one element |
///
/// Elements are [`Key`]s: numbers, texts, tuples of these, or a type of your own that delegates.
///
/// Edits, on the [`EditView`]: `insert`, `remove`, `retain`, `clear`, `extend`.
///
/// Source: Bieniusa et al. 2012, "An optimized conflict-free replicated set", arXiv:1210.3368.
///
/// # Examples
/// ```
/// use commute::{OrSet, Replica, ReplicaId};
/// let mut a = Replica::<OrSet<String>>::new(ReplicaId::from(1));
/// a.edit(|set| set.insert("x".into()))?;
/// let mut b = a.fork_as(ReplicaId::from(2));
/// a.edit(|set| set.remove("x"))?;
/// b.edit(|set| set.insert("x".into()))?;   // concurrent
/// a.merge(&b)?;
/// assert!(a.contains("x"));                // add wins
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct OrSet<T>(DotMap<T, DotSet>);

impl<T: Key> OrSet<T> {
    /// The number of elements. O(1).
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T: Key> EditView<'_, OrSet<T>> {
    /// Adds `value`; returns whether it was absent.
    ///
    /// Adding a present element is an update too: it survives a concurrent removal.
    ///
    /// # Errors
    /// [`EditError::TooManyEntries`] after 2^31 additions in one update.
    ///
    /// # Complexity
    /// O(log n + d), d = concurrent additions of `value` seen here.
    pub fn insert(&mut self, value: T) -> Result<bool, EditError> {
        let dots = self.state.0.child(value);
        let absent = dots.is_empty();
        dots.add(self.update)?;
        Ok(absent)
    }

    /// Removes `value` as far as this replica has seen it; returns whether it was present.
    ///
    /// Only the additions seen here are taken back; one made concurrently elsewhere stays. Removing
    /// an absent element has no effect.
    ///
    /// # Errors
    /// None today; the result keeps the verbs alike.
    ///
    /// # Complexity
    /// O(log n + d), d = concurrent additions of `value` seen here; so is the delta.
    pub fn remove<Q>(&mut self, value: &Q) -> Result<bool, EditError>
    where
        T: Borrow<Q>,
        Q: Ord + ?Sized,
    {
        self.state.0.remove(value, self.update)
    }

    /// Removes the elements seen here for which `keep` does not hold.
    ///
    /// # Errors
    /// As [`remove`](EditView::remove).
    ///
    /// # Complexity
    /// O(n + d log n), d = elements removed.
    pub fn retain(&mut self, mut keep: impl FnMut(&T) -> bool) -> Result<(), EditError> {
        let doomed = self.state.iter().filter(|value| !keep(value));
        let doomed: Vec<T> = doomed.cloned().collect();
        let mut doomed = doomed.iter();
        doomed.try_for_each(|value| self.remove(value).map(drop))
    }

    /// Removes every element seen here.
    ///
    /// # Errors
    /// As [`remove`](EditView::remove).
    ///
    /// # Complexity
    /// O(n log n); the delta names what it removes in ranges.
    pub fn clear(&mut self) -> Result<(), EditError> {
        self.state.0.reset(self.update)
    }
}

impl<T: Key> Removable for OrSet<T> {
    fn reset(&mut self, update: &mut crate::kernel::Update) -> Result<(), EditError> {
        self.0.reset(update)
    }
}

set_readers!(OrSet of DotSet, shown if |dots: &DotSet| !dots.is_empty());

debug_as_view!(impl[T: Key] OrSet<T>);

replicated_newtype! {
    impl[T: Key] OrSet<T> as DotMap<T, DotSet>;
    type View = BTreeSet<T>;
    fn view(this) { this.iter().cloned().collect() }
    fn visible(this) { !this.is_empty() }
}

watched_set! { impl[T: Key] OrSet<T>, of T }
