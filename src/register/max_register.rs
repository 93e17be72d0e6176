//! A register that keeps the greatest value.

use crate::codec::Payload;
use crate::kernel::{
    DotFun, EditError, EditView, Place, Removable, Update,
    newtype::{debug_as_view, equals_view, replicated_newtype},
    watched_as_a_whole,
};

/// The greatest value that was ever set.
///
/// | | |
/// |---|---|
/// | conflict | A sets 3 while B sets 5: 5 |
/// | delivery | any order, duplicates allowed |
/// | space | concurrent values that were the greatest; under a map key, values set in falling order, too |
/// | not guaranteed | who set it |
///
/// Under a map key every `set` is recorded, also of a value that is not the greatest: a removal of
/// the key takes back what it has seen, and what is left decides.
///
/// Edits, on the [`EditView`]: `set`.
///
/// Source: Baquero et al. 2014, "Composition in state-based replicated data types", max lattice.
///
/// # Examples
/// ```
/// use commute::{MaxRegister, Replica, ReplicaId};
/// let mut a = Replica::<MaxRegister<u64>>::new(ReplicaId::from(1));
/// let mut b = Replica::<MaxRegister<u64>>::new(ReplicaId::from(2));
/// a.edit(|most| most.set(3))?;
/// b.edit(|most| most.set(5))?;
/// a.merge(&b)?;
/// assert_eq!(a.value(), Some(&5));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct MaxRegister<T>(DotFun<T>, Place);

impl<T: Payload + Ord> MaxRegister<T> {
    /// The greatest value; `None` if nothing was set.
    pub fn value(&self) -> Option<&T> {
        self.0.iter().map(|(_, value)| value).max()
    }
}

impl<T: Payload + Ord> EditView<'_, MaxRegister<T>> {
    /// Records `value`; returns whether it is the greatest now and was not before.
    ///
    /// # Errors
    /// [`EditError::TooManyEntries`] after 2^31 values in one update.
    ///
    /// # Complexity
    /// O(values held), of which there are few, see the type.
    pub fn set(&mut self, value: T) -> Result<bool, EditError> {
        let new = self.value().is_none_or(|held| value > *held);
        if !new && self.state.1 == Place::Kept {
            return Ok(false);
        }
        self.state.0.kill_if(self.update, |_, held| *held <= value);
        self.state.0.add(value, self.update)?;
        Ok(new)
    }
}

impl<T: Payload + Ord> Removable for MaxRegister<T> {
    fn reset(&mut self, update: &mut Update) -> Result<(), EditError> {
        self.0.reset(update)
    }
}

debug_as_view!(impl[T: Payload + Ord] MaxRegister<T>);
equals_view!(impl[T: Payload + Ord] MaxRegister<T>);

replicated_newtype! {
    impl[T: Payload + Ord] MaxRegister<T> as DotFun<T>, at its place;
    type View = Option<T>;
    fn view(this) { this.value().cloned() }
    fn visible(this) { !this.0.is_empty() }
}

watched_as_a_whole! { impl[T: Payload + Ord] MaxRegister<T> }
