//! A counter that only grows.

use core::fmt;

use crate::kernel::{EditError, EditView, Latest, newtype::replicated_newtype};

/// A counter that only grows.
///
/// Each replica keeps the total of its own increments; the value is the sum, so concurrent
/// increments all count, each exactly once however often it is delivered.
///
/// | | |
/// |---|---|
/// | conflict | A adds 1 while B adds 2: 3 |
/// | delivery | any order, duplicates allowed |
/// | space | one row per replica that ever counted |
/// | not guaranteed | a read sees only the increments that have arrived |
///
/// Edits, on the [`EditView`]: `add`.
///
/// Source: Shapiro et al. 2011, "A comprehensive study of CRDTs", specification 6.
///
/// # Examples
/// ```
/// use commute::{GCounter, Replica, ReplicaId};
/// let mut a = Replica::<GCounter>::new(ReplicaId::from(1));
/// let mut b = Replica::<GCounter>::new(ReplicaId::from(2));
/// a.edit(|n| n.add(1))?;
/// b.edit(|n| n.add(2))?;
/// a.merge(&b)?;
/// assert_eq!(a.value(), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct GCounter(Latest<u64>);

impl GCounter {
    /// The sum of all increments. O(r).
    pub fn value(&self) -> u128 {
        self.0.iter().map(|(_, row)| u128::from(*row)).sum()
    }
}

impl fmt::Display for GCounter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value().fmt(f)
    }
}

impl EditView<'_, GCounter> {
    /// Adds `amount`. Adding 0 has no effect. O(log r).
    ///
    /// # Errors
    /// [`EditError::CounterOverflow`] if this replica's own increments would pass 2^64 - 1. The
    /// value itself, a sum of such rows, cannot overflow.
    pub fn add(&mut self, amount: u64) -> Result<(), EditError> {
        if amount == 0 {
            return Ok(());
        }
        let row = self
            .state
            .0
            .get(self.update.dot().replica)
            .copied()
            .unwrap_or(0);
        let row = row.checked_add(amount).ok_or(EditError::CounterOverflow)?;
        self.state.0.set(row, self.update)
    }
}

replicated_newtype! {
    impl[] GCounter as Latest<u64>;
    type View = u128;
    fn view(this) { this.value() }
    fn visible(this) { this.value() != 0 }
}
