//! A counter that grows and shrinks.

use core::fmt;

use super::tally::Tally;
use crate::kernel::{
    EditError, EditView, Removable, Update,
    newtype::{debug_as_view, equals_view, replicated_newtype},
    watched_as_a_whole,
};

/// A counter that grows and shrinks.
///
/// Each replica keeps the totals of its own increments and of its own decrements; the value is the
/// difference of the sums, so concurrent changes all count, each exactly once.
///
/// | | |
/// |---|---|
/// | conflict | A adds 5 while B subtracts 2: 3 |
/// | delivery | any order, duplicates allowed |
/// | space | one row per replica that ever counted; under a map key one entry per update that counts |
/// | not guaranteed | a lower bound: two replicas may each spend the last unit |
///
/// Edits, on the [`EditView`]: `add`, `subtract`.
///
/// Source: Shapiro et al. 2011, "A comprehensive study of CRDTs", specification 7.
///
/// # Examples
/// ```
/// use commute::{PnCounter, Replica, ReplicaId};
/// let mut a = Replica::<PnCounter>::new(ReplicaId::from(1));
/// let mut b = Replica::<PnCounter>::new(ReplicaId::from(2));
/// a.edit(|n| n.add(5))?;
/// b.edit(|n| n.subtract(2))?;
/// a.merge(&b)?;
/// assert_eq!(a.value(), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct PnCounter(Tally<(u64, u64)>);

impl PnCounter {
    /// All increments less all decrements. O(r).
    pub fn value(&self) -> i128 {
        self.0
            .iter()
            .map(|(up, down)| i128::from(*up) - i128::from(*down))
            .sum()
    }
}

impl fmt::Display for PnCounter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value().fmt(f)
    }
}

impl EditView<'_, PnCounter> {
    /// Adds `amount`. Adding 0 has no effect. O(log r).
    ///
    /// # Errors
    /// [`EditError::CounterOverflow`] if this replica's own increments would pass 2^64 - 1 in all.
    /// The value itself cannot overflow.
    pub fn add(&mut self, amount: u64) -> Result<(), EditError> {
        self.change(amount, 0)
    }

    /// Subtracts `amount`. Subtracting 0 has no effect. O(log r).
    ///
    /// # Errors
    /// [`EditError::CounterOverflow`] if this replica's own decrements would pass 2^64 - 1 in all.
    pub fn subtract(&mut self, amount: u64) -> Result<(), EditError> {
        self.change(0, amount)
    }

    fn change(&mut self, up: u64, down: u64) -> Result<(), EditError> {
        match (up, down) {
            (0, 0) => Ok(()),
            amounts => self.state.0.add(amounts, self.update),
        }
    }
}

debug_as_view!(impl[] PnCounter);
equals_view!(impl[] PnCounter);

replicated_newtype! {
    impl[] PnCounter as Tally<(u64, u64)>;
    type View = i128;
    fn view(this) { this.value() }
    fn visible(this) { !this.0.is_bottom() }
}

impl Removable for PnCounter {
    fn reset(&mut self, update: &mut Update) -> Result<(), EditError> {
        self.0.reset(update)
    }
}

watched_as_a_whole! { impl[] PnCounter }
