//! A register that keeps all concurrent values.

use alloc::vec::Vec;

use crate::codec::Payload;
use crate::kernel::{
    DotFun, EditError, EditView, Removable, Update, Values,
    newtype::{debug_as_view, equals_view, replicated_newtype},
    watched_as_a_whole,
};

/// A multi-value register: a write replaces the values it has seen; concurrent ones stay side by
/// side until somebody writes again.
///
/// | | |
/// |---|---|
/// | conflict | A writes 1 while B writes 2: both are there, to be shown or resolved by the next write |
/// | delivery | any order, duplicates allowed; an early delta waits for its past |
/// | space | O(concurrent writes) |
/// | not guaranteed | that there is one value |
///
/// Edits, on the [`EditView`]: `set`, `clear`.
///
/// Source: Shapiro et al. 2011, "A comprehensive study of CRDTs", section 3.2.2; Almeida et al.
/// 2018, section 7.
///
/// # Examples
/// ```
/// use commute::{MvRegister, Replica, ReplicaId};
/// let mut a = Replica::<MvRegister<String>>::new(ReplicaId::from(1));
/// let mut b = Replica::<MvRegister<String>>::new(ReplicaId::from(2));
/// a.edit(|title| title.set("Plan".into()))?;
/// b.edit(|title| title.set("Draft".into()))?;
/// a.merge(&b)?;
/// assert_eq!(a.view(), ["Plan", "Draft"]);
/// a.edit(|title| title.set("Plan, draft".into()))?;   // resolves it
/// assert_eq!(a.value(), Some(&"Plan, draft".to_string()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct MvRegister<T>(DotFun<T>);

impl<T: Payload> MvRegister<T> {
    /// The concurrent values, in an order that is the same everywhere.
    pub fn iter(&self) -> Values<'_, T> {
        self.0.values()
    }

    /// The number of concurrent values. O(1).
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no value: nothing was written, or all was cleared.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The only value; `None` if there is none or a conflict.
    pub fn value(&self) -> Option<&T> {
        let mut values = self.iter();
        values.next().filter(|_| values.next().is_none())
    }

    /// The value to show where only one can: that of the greatest replica id.
    pub fn winner(&self) -> Option<&T> {
        self.iter().last()
    }

    /// The values that were written concurrently to the [`winner`](MvRegister::winner), in the order
    /// of [`iter`](MvRegister::iter).
    pub fn conflicts(&self) -> impl Iterator<Item = &T> {
        self.iter().take(self.len().saturating_sub(1))
    }

    /// Whether several values are there, written concurrently.
    pub fn is_conflict(&self) -> bool {
        self.len() > 1
    }
}

impl<T: Payload> EditView<'_, MvRegister<T>> {
    /// Replaces all values seen here.
    ///
    /// # Errors
    /// [`EditError::TooManyEntries`] after 2^31 writes in one update.
    ///
    /// # Complexity
    /// O(concurrent values).
    pub fn set(&mut self, value: T) -> Result<(), EditError> {
        self.state.0.kill_if(self.update, |_, _| true);
        self.state.0.add(value, self.update).map(drop)
    }

    /// Removes all values seen here; what is written concurrently stays.
    ///
    /// # Errors
    /// None today; the result keeps the verbs alike.
    pub fn clear(&mut self) -> Result<(), EditError> {
        self.state.0.reset(self.update)
    }
}

impl<'a, T: Payload> IntoIterator for &'a MvRegister<T> {
    type Item = &'a T;
    type IntoIter = Values<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<T: Payload> Removable for MvRegister<T> {
    fn reset(&mut self, update: &mut Update) -> Result<(), EditError> {
        self.0.reset(update)
    }
}

debug_as_view!(impl[T: Payload] MvRegister<T>);
equals_view!(impl[T: Payload] MvRegister<T>);

replicated_newtype! {
    impl[T: Payload] MvRegister<T> as DotFun<T>;
    type View = Vec<T>;
    fn view(this) { this.iter().cloned().collect() }
    fn visible(this) { !this.is_empty() }
}

watched_as_a_whole! { impl[T: Payload] MvRegister<T> }
