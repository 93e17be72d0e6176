//! A flag that enabling wins.

use crate::kernel::{
    DotSet, EditError, EditView, Removable, Update,
    newtype::{debug_as_view, equals_view, replicated_newtype},
    watched_as_a_whole,
};

/// A flag that is off at first and on if it was enabled concurrently with being disabled.
///
/// | | |
/// |---|---|
/// | conflict | A disables while B enables: on |
/// | delivery | any order, duplicates allowed; an early delta waits for its past |
/// | space | O(concurrent enables) |
/// | not guaranteed | that it is off after a disable: an enable it has not seen stays |
///
/// Edits, on the [`EditView`]: `enable`, `disable`, `set`.
///
/// Source: Almeida et al. 2018, "Delta state replicated data types", figure 14 (`EWFlag`).
///
/// # Examples
/// ```
/// use commute::{EwFlag, Replica, ReplicaId};
/// let mut a = Replica::<EwFlag>::new(ReplicaId::from(1));
/// a.edit(|flag| flag.enable())?;
/// let mut b = a.fork_as(ReplicaId::from(2));
/// a.edit(|flag| flag.disable())?;
/// b.edit(|flag| flag.enable())?;   // concurrent
/// a.merge(&b)?;
/// assert!(a.is_enabled());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct EwFlag(DotSet);

impl EwFlag {
    /// Whether it is on.
    pub fn is_enabled(&self) -> bool {
        !self.0.is_empty()
    }
}

impl EditView<'_, EwFlag> {
    /// Turns it on; also of a flag that is on it is an update, which survives a concurrent disable.
    ///
    /// # Errors
    /// [`EditError::TooManyEntries`] after 2^31 of them in one update.
    pub fn enable(&mut self) -> Result<(), EditError> {
        self.state.0.add(self.update).map(drop)
    }

    /// Takes back the enables seen here; of a flag that is off it has no effect.
    ///
    /// # Errors
    /// None today; the result keeps the verbs alike.
    pub fn disable(&mut self) -> Result<(), EditError> {
        self.state.0.reset(self.update)
    }

    /// [`enable`](EditView::enable) or [`disable`](EditView::disable).
    ///
    /// # Errors
    /// Theirs.
    pub fn set(&mut self, on: bool) -> Result<(), EditError> {
        match on {
            true => self.enable(),
            false => self.disable(),
        }
    }
}

impl Removable for EwFlag {
    fn reset(&mut self, update: &mut Update) -> Result<(), EditError> {
        self.0.reset(update)
    }
}

debug_as_view!(impl[] EwFlag);
equals_view!(impl[] EwFlag);

replicated_newtype! {
    impl[] EwFlag as DotSet;
    type View = bool;
    fn view(this) { this.is_enabled() }
    fn visible(this) { this.0.visible() }
}

watched_as_a_whole! { impl[] EwFlag }
