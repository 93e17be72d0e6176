//! A flag that disabling wins.

use crate::kernel::{
    DotFun, EditError, EditView, Removable, Update,
    newtype::{debug_as_view, equals_view, replicated_newtype},
    watched_as_a_whole,
};

/// A flag that is off at first and off if it was disabled concurrently with being enabled.
///
/// | | |
/// |---|---|
/// | conflict | A disables while B enables: off |
/// | delivery | any order, duplicates allowed; an early delta waits for its past |
/// | space | O(concurrent changes) |
/// | not guaranteed | that it is on after an enable: a disable it has not seen wins |
///
/// Edits, on the [`EditView`]: `enable`, `disable`, `set`.
///
/// Source: the remove-wins set of one element; Almeida et al. 2018, section 7.
///
/// # Examples
/// ```
/// use commute::{DwFlag, Replica, ReplicaId};
/// let mut a = Replica::<DwFlag>::new(ReplicaId::from(1));
/// let mut b = Replica::<DwFlag>::new(ReplicaId::from(2));
/// a.edit(|flag| flag.disable())?;
/// b.edit(|flag| flag.enable())?;   // concurrent
/// a.merge(&b)?;
/// assert!(!a.is_enabled() && a.is_conflict());
/// a.edit(|flag| flag.enable())?;   // has seen both
/// assert!(a.is_enabled());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct DwFlag(DotFun<bool>);

impl DwFlag {
    /// Whether it is on.
    pub fn is_enabled(&self) -> bool {
        self.0.is_all_true()
    }

    /// Whether it is off though it was enabled concurrently, and nobody has changed it since.
    pub fn is_conflict(&self) -> bool {
        !self.is_enabled() && self.0.iter().any(|(_, on)| *on)
    }
}

impl EditView<'_, DwFlag> {
    /// Turns it on, unless it is disabled concurrently.
    ///
    /// # Errors
    /// [`EditError::TooManyEntries`] after 2^31 changes in one update.
    pub fn enable(&mut self) -> Result<(), EditError> {
        self.change(true)
    }

    /// Turns it off; also of a flag that is off it is an update, which wins over a concurrent enable.
    ///
    /// # Errors
    /// As [`enable`](EditView::enable).
    pub fn disable(&mut self) -> Result<(), EditError> {
        self.change(false)
    }

    fn change(&mut self, on: bool) -> Result<(), EditError> {
        self.state.0.kill_if(self.update, |_, _| true);
        self.state.0.add(on, self.update).map(drop)
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

impl Removable for DwFlag {
    fn reset(&mut self, update: &mut Update) -> Result<(), EditError> {
        self.0.reset(update)
    }
}

debug_as_view!(impl[] DwFlag);
equals_view!(impl[] DwFlag);

replicated_newtype! {
    impl[] DwFlag as DotFun<bool>;
    type View = bool;
    fn view(this) { this.is_enabled() }
    fn visible(this) { this.is_enabled() }
}

watched_as_a_whole! { impl[] DwFlag }
