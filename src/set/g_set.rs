//! A set that only grows.

use alloc::collections::BTreeSet;

use super::readers::set_readers;
use crate::codec::Key;
use crate::kernel::{
    DotMap, DotSet, EditError, EditView, Place, Removable, Update,
    newtype::{debug_as_view, replicated_newtype},
};
use crate::set::change::watched_set;

/// A grow-only set: what was added stays.
///
/// | | |
/// |---|---|
/// | conflict | none: additions commute |
/// | delivery | any order, duplicates allowed; an early delta waits for its past |
/// | space | O(elements x concurrent additions of each + replicas) |
/// | not guaranteed | that an element can ever be taken back: see [`OrSet`](crate::OrSet) |
///
/// Under a map key the removal of the key takes back the additions that it has seen, so there an
/// addition of a present element is recorded, too.
///
/// Edits, on the [`EditView`]: `insert`, `extend`.
///
/// Source: Shapiro et al. 2011, specification 11.
///
/// # Examples
/// ```
/// use commute::{GSet, Replica, ReplicaId};
/// let mut a = Replica::<GSet<String>>::new(ReplicaId::from(1));
/// let mut b = Replica::<GSet<String>>::new(ReplicaId::from(2));
/// a.edit(|set| set.insert("x".into()))?;
/// b.edit(|set| set.insert("y".into()))?;
/// a.merge(&b)?;
/// assert_eq!(a.len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct GSet<T>(DotMap<T, DotSet>, Place);

impl<T: Key> GSet<T> {
    /// The number of elements. O(1).
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T: Key> EditView<'_, GSet<T>> {
    /// Adds `value`; returns whether it was absent. Adding a present element has no effect, save
    /// under a map key.
    ///
    /// # Errors
    /// [`EditError::TooManyEntries`] after 2^31 additions in one update.
    ///
    /// # Complexity
    /// O(log n).
    pub fn insert(&mut self, value: T) -> Result<bool, EditError> {
        let absent = !self.contains(&value);
        if absent || self.state.1 == Place::Removable {
            self.state.0.child(value).add(self.update)?;
        }
        Ok(absent)
    }
}

impl<T: Key> Removable for GSet<T> {
    fn reset(&mut self, update: &mut Update) -> Result<(), EditError> {
        self.0.reset(update)
    }
}

set_readers!(GSet of DotSet, shown if |dots: &DotSet| !dots.is_empty());

debug_as_view!(impl[T: Key] GSet<T>);

replicated_newtype! {
    impl[T: Key] GSet<T> as DotMap<T, DotSet>, at its place;
    type View = BTreeSet<T>;
    fn view(this) { this.iter().cloned().collect() }
    fn visible(this) { !this.is_empty() }
}

watched_set! { impl[T: Key] GSet<T>, of T }
