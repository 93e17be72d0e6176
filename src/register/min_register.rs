//! A register that keeps the smallest value.

use crate::codec::Payload;
use crate::kernel::{
    DotFun, EditError, EditView, Place, Removable, Update,
    newtype::{debug_as_view, equals_view, replicated_newtype},
    watched_as_a_whole,
};

/// The smallest value that was ever set.
///
/// | | |
/// |---|---|
/// | conflict | A sets 3 while B sets 5: 3 |
/// | delivery | any order, duplicates allowed |
/// | space | concurrent values that were the smallest; under a map key, values set in rising order, too |
/// | not guaranteed | who set it |
///
/// Under a map key every `set` is recorded, also of a value that is not the smallest: a removal of
/// the key takes back what it has seen, and what is left decides.
///
/// Edits, on the [`EditView`]: `set`.
///
/// Source: Baquero et al. 2014, "Composition in state-based replicated data types", min lattice.
///
/// # Examples
/// ```
/// use commute::{MinRegister, Replica, ReplicaId};
/// let mut a = Replica::<MinRegister<u64>>::new(ReplicaId::from(1));
/// let mut b = Replica::<MinRegister<u64>>::new(ReplicaId::from(2));
/// a.edit(|most| most.set(3))?;
/// b.edit(|most| most.set(5))?;
/// a.merge(&b)?;
/// assert_eq!(a.value(), Some(&3));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct MinRegister<T>(DotFun<T>, Place);

impl<T: Payload + Ord> MinRegister<T> {
    /// The smallest value; `None` if nothing was set.
    pub fn value(&self) -> Option<&T> {
        self.0.iter().map(|(_, value)| value).min()
    }
}

impl<T: Payload + Ord> EditView<'_, MinRegister<T>> {
    /// Records `value`; returns whether it is the smallest now and was not before.
    ///
    /// # Errors
    /// [`EditError::TooManyEntries`] after 2^31 values in one update.
    ///
    /// # Complexity
    /// O(values held), of which there are few, see the type.
    pub fn set(&mut self, value: T) -> Result<bool, EditError> {
        let new = self.value().is_none_or(|held| value < *held);
        if !new && self.state.1 == Place::Kept {
            return Ok(false);
        }
        self.state.0.kill_if(self.update, |_, held| *held >= value);
        self.state.0.add(value, self.update)?;
        Ok(new)
    }
}

impl<T: Payload + Ord> Removable for MinRegister<T> {
    fn reset(&mut self, update: &mut Update) -> Result<(), EditError> {
        self.0.reset(update)
    }
}

debug_as_view!(impl[T: Payload + Ord] MinRegister<T>);
equals_view!(impl[T: Payload + Ord] MinRegister<T>);

replicated_newtype! {
    impl[T: Payload + Ord] MinRegister<T> as DotFun<T>, at its place;
    type View = Option<T>;
    fn view(this) { this.value().cloned() }
    fn visible(this) { !this.0.is_empty() }
}

watched_as_a_whole! { impl[T: Payload + Ord] MinRegister<T> }
