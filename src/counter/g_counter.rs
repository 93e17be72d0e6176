//! A counter that only grows.

use core::fmt;

use super::tally::Tally;
use crate::kernel::{
    EditError, EditView, Removable, Update,
    newtype::{debug_as_view, equals_view, replicated_newtype},
    watched_as_a_whole,
};

/// A counter that only grows.
///
/// Each replica keeps the total of its own increments; the value is the sum, so concurrent
/// increments all count, each exactly once however often it is delivered.
///
/// | | |
/// |---|---|
/// | conflict | A adds 1 while B adds 2: 3 |
/// | delivery | any order, duplicates allowed |
/// | space | one row per replica that ever counted; under a map key one entry per update that counts |
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
#[derive(Clone)]
pub struct GCounter(Tally<u64>);

impl GCounter {
    /// The sum of all increments. O(r).
    pub fn value(&self) -> u128 {
        self.0.iter().map(|amount| u128::from(*amount)).sum()
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
        match amount {
            0 => Ok(()),
            _ => self.state.0.add(amount, self.update),
        }
    }
}

debug_as_view!(impl[] GCounter);
equals_view!(impl[] GCounter);

replicated_newtype! {
    impl[] GCounter as Tally<u64>;
    type View = u128;
    fn view(this) { this.value() }
    fn visible(this) { !this.0.is_bottom() }
}

impl Removable for GCounter {
    fn reset(&mut self, update: &mut Update) -> Result<(), EditError> {
        self.0.reset(update)
    }
}

watched_as_a_whole! { impl[] GCounter }
