//! A register whose last write wins.

use crate::clock::{EntryId, Stamp, Stamped};
use crate::codec::Payload;
use crate::kernel::{
    DotFun, EditError, EditView, Removable, Update,
    newtype::{debug_as_view, equals_view, replicated_newtype},
    watched_as_a_whole,
};

/// A last-writer-wins register: of concurrent writes the one with the greatest stamp shows.
///
/// A write that has seen another one replaces it whatever the clocks say, so a fast clock wins over
/// concurrent writes only, and nobody needs to catch up with it. What loses stays in
/// `conflicts` until the next write.
///
/// | | |
/// |---|---|
/// | conflict | A writes 1 while B writes 2: the greater [`Stamp`]; if equal, the greater replica id |
/// | delivery | any order, duplicates allowed; an early delta waits for its past |
/// | space | O(concurrent writes) |
/// | not guaranteed | that the last one by the clock on the wall wins: clocks differ |
///
/// Edits, on the [`EditView`]: `set`, `set_within`, `clear`.
///
/// Source: Shapiro et al. 2011, specification 8, on a multi-value register; stamps by Kulkarni et
/// al. 2014.
///
/// # Examples
/// ```
/// use commute::{LwwRegister, Replica, ReplicaId, Stamp};
/// let mut a = Replica::<LwwRegister<String>>::new(ReplicaId::from(1));
/// let mut b = Replica::<LwwRegister<String>>::new(ReplicaId::from(2));
/// // In programs `Stamp::from(env.wall())` of an `env::Env`, such as `env::SystemEnv`.
/// a.edit(|name| name.set("Ann".into(), Stamp::from_millis(5_000)))?;   // one hour fast, say
/// b.merge(&a)?;
/// b.edit(|name| name.set("Bea".into(), Stamp::from_millis(1_000)))?;   // later: has seen it
/// a.merge(&b)?;
/// assert_eq!(a.value(), Some(&"Bea".to_string()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct LwwRegister<T>(DotFun<Stamped<T>>);

/// The entry that wins: by stamp, then by replica, then by the later update of it.
pub(crate) fn newest<T: Payload>(entries: &DotFun<Stamped<T>>) -> Option<(EntryId, &Stamped<T>)> {
    entries
        .iter()
        .max_by_key(|(entry, held)| (held.stamp, *entry))
}

/// Replaces all that is seen, with a stamp after all of it; returns the stamp.
pub(crate) fn write<T: Payload>(
    entries: &mut DotFun<Stamped<T>>,
    value: T,
    (clock, ahead_max): (Stamp, u64),
    update: &mut Update,
) -> Result<Stamp, EditError> {
    let seen = newest(entries).map(|(_, held)| held.stamp);
    let stamp = clock.after(seen).ok_or(EditError::StampExhausted)?;
    let ahead = stamp.millis_ahead_of(clock);
    if ahead > ahead_max {
        return Err(EditError::ClockBehind { millis: ahead });
    }
    entries.kill_if(update, |_, _| true);
    entries.add(Stamped { stamp, value }, update)?;
    Ok(stamp)
}

impl<T: Payload> LwwRegister<T> {
    /// The value of the write that wins; `None` if there is none.
    pub fn value(&self) -> Option<&T> {
        newest(&self.0).map(|(_, held)| &held.value)
    }

    /// The stamp of the write that wins.
    ///
    /// [`Stamp::millis_ahead_of`] the own clock tells whether it was written by a fast clock.
    pub fn stamp(&self) -> Option<Stamp> {
        newest(&self.0).map(|(_, held)| held.stamp)
    }

    /// The values that lost to a concurrent write and that nobody has replaced yet.
    pub fn conflicts(&self) -> impl Iterator<Item = &T> {
        let winner = newest(&self.0).map(|(entry, _)| entry);
        let others = self.0.iter();
        let others = others.filter(move |(entry, _)| Some(*entry) != winner);
        others.map(|(_, held)| &held.value)
    }

    /// Whether a value lost to a concurrent write and nobody has replaced it yet.
    pub fn is_conflict(&self) -> bool {
        self.0.len() > 1
    }
}

impl<T: Payload> EditView<'_, LwwRegister<T>> {
    /// Replaces all values seen here; returns the stamp of the write, which is `clock` unless a
    /// value seen here has a greater one.
    ///
    /// # Errors
    /// [`EditError::StampExhausted`] after the last stamp there is, which a clock far beyond all
    /// others may have written: `clear` first.
    ///
    /// # Complexity
    /// O(concurrent values).
    pub fn set(&mut self, value: T, clock: Stamp) -> Result<Stamp, EditError> {
        write(&mut self.state.0, value, (clock, u64::MAX), self.update)
    }

    /// [`set`](EditView::set), refused if the stamp would be more than `ahead_max` milliseconds
    /// ahead of `clock`: a value seen here was written by a clock that is fast, or this one is slow.
    ///
    /// # Errors
    /// [`EditError::ClockBehind`], and those of `set`.
    pub fn set_within(
        &mut self,
        value: T,
        clock: Stamp,
        ahead_max: u64,
    ) -> Result<Stamp, EditError> {
        write(&mut self.state.0, value, (clock, ahead_max), self.update)
    }

    /// Removes all values seen here; what is written concurrently stays.
    ///
    /// # Errors
    /// None today; the result keeps the verbs alike.
    pub fn clear(&mut self) -> Result<(), EditError> {
        self.state.0.reset(self.update)
    }
}

impl<T: Payload> Removable for LwwRegister<T> {
    fn reset(&mut self, update: &mut Update) -> Result<(), EditError> {
        self.0.reset(update)
    }
}

debug_as_view!(impl[T: Payload] LwwRegister<T>);
equals_view!(impl[T: Payload] LwwRegister<T>);

replicated_newtype! {
    impl[T: Payload] LwwRegister<T> as DotFun<Stamped<T>>;
    type View = Option<T>;
    fn view(this) { this.value().cloned() }
    fn visible(this) { !this.0.is_empty() }
}

watched_as_a_whole! { impl[T: Payload] LwwRegister<T> }
