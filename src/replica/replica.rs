//! A state that edits under its own id.

use alloc::vec::Vec;
use core::fmt;
use core::ops::Deref;

use super::{Applied, Delta, State};
use crate::clock::{Dot, ReplicaId};
use crate::kernel::{EditError, MergeError, Replicated, Update, Watched, WithRest};

/// One replica of a value of type `S`.
///
/// It derefs to its [`State`] and through it to the value, so everything that reads is found there.
/// It is not `Clone`, because two replicas with one id would give different updates the same name:
/// [`fork_as`](Replica::fork_as) makes a copy with an id of its own.
///
/// # Examples
/// ```
/// use commute::{OrSet, Replica, ReplicaId};
///
/// let mut a = Replica::<OrSet<String>>::new(ReplicaId::from(1));
/// let mut b = Replica::<OrSet<String>>::new(ReplicaId::from(2));
/// let (_, delta) = a.update(|set| set.insert("new".into()))?;
/// b.absorb(&delta)?;
/// b.edit(|set| set.remove("new"))?;
/// a.edit(|set| set.insert("new".into()))?;   // concurrent with the removal
/// a.absorb(&b.delta_since(a.version()))?;
/// assert!(a.contains("new"));                // add wins
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Replica<S: Replicated> {
    pub(crate) id: ReplicaId,
    pub(crate) state: State<S>,
    /// Sections of a save that this version does not know, kept as they were.
    pub(crate) unknown_sections: alloc::vec::Vec<(u32, alloc::vec::Vec<u8>)>,
}

impl<S: Replicated> Replica<S> {
    /// An empty replica.
    ///
    /// `id` must be used by no other replica, now or ever; take a random one.
    pub fn new(id: ReplicaId) -> Replica<S> {
        Replica::from_state(State::new(), id)
    }

    /// A replica that goes on from `state` under a new id.
    pub fn from_state(state: State<S>, id: ReplicaId) -> Replica<S> {
        Replica {
            id,
            state,
            unknown_sections: alloc::vec::Vec::new(),
        }
    }

    /// The id under which this replica edits.
    pub fn id(&self) -> ReplicaId {
        self.id
    }

    /// The state without the identity, to be stored or sent whole.
    pub fn state(&self) -> &State<S> {
        &self.state
    }

    /// Gives up the identity and keeps the state.
    pub fn into_state(self) -> State<S> {
        self.state
    }

    /// A copy of this replica under another id. O(1): both share the state until one changes.
    ///
    /// The copy starts without waiting deltas. `id` must be new: a copy under a used id makes
    /// updates that others refuse with [`MergeError::IdentityReused`].
    pub fn fork_as(&self, id: ReplicaId) -> Replica<S> {
        Replica::from_state(self.state.duplicate(), id)
    }

    /// Changes the value in one atomic update and returns what to send.
    ///
    /// `change` gets the edit view of the value and reads its own writes. If it fails or panics,
    /// everything it did is undone. A change without effect mints no dot and returns an empty delta.
    ///
    /// # Errors
    /// Whatever `change` returns; [`EditError::CounterExhausted`] after 2^64 - 1 updates. The state
    /// is unchanged then.
    ///
    /// # Complexity
    /// That of the edits, O(log n) each unless they say otherwise; and one copy of the state, O(n), if
    /// a clone or a fork still shares it.
    pub fn update<R>(
        &mut self,
        change: impl FnOnce(&mut S::Edit<'_>) -> Result<R, EditError>,
    ) -> Result<(R, Delta<S>), EditError> {
        self.try_update(change)
    }

    /// Like [`update`](Replica::update), for a closure with an error type of its own.
    ///
    /// # Errors
    /// As [`update`](Replica::update).
    pub fn try_update<R, E: From<EditError>>(
        &mut self,
        change: impl FnOnce(&mut S::Edit<'_>) -> Result<R, E>,
    ) -> Result<(R, Delta<S>), E> {
        let counter = self.state.core.version.get(self.id).checked_add(1);
        let counter = counter.ok_or(EditError::CounterExhausted)?;
        let mut update = Update::new(Dot::new(self.id, counter));
        let mut guard = RollbackGuard {
            value: &mut self.state.core_mut().value,
            armed: true,
        };
        let result = change(&mut guard.value.edit(&mut update))?;
        guard.armed = false;
        drop(guard);
        let delta = self.state.publish(update).unwrap_or_else(Delta::empty);
        Ok((result, delta))
    }

    /// Like [`update`](Replica::update) without the delta: peers get the change by
    /// [`delta_since`](State::delta_since).
    ///
    /// # Errors
    /// As [`update`](Replica::update).
    pub fn edit<R>(
        &mut self,
        change: impl FnOnce(&mut S::Edit<'_>) -> Result<R, EditError>,
    ) -> Result<R, EditError> {
        self.update(change).map(|(result, _)| result)
    }

    /// Like [`edit`](Replica::edit), for a closure with an error type of its own.
    ///
    /// # Errors
    /// As [`update`](Replica::update).
    pub fn try_edit<R, E: From<EditError>>(
        &mut self,
        change: impl FnOnce(&mut S::Edit<'_>) -> Result<R, E>,
    ) -> Result<R, E> {
        self.try_update(change).map(|(result, _)| result)
    }

    /// Includes `delta`, or keeps it waiting until its causal past is there.
    ///
    /// # Errors
    /// [`MergeError`], among them [`MergeError::IdentityReused`] for an update under this replica's
    /// own id that it has not made. The replica is unchanged then, and stays usable.
    ///
    /// # Complexity
    /// See [`State::absorb`].
    pub fn absorb(&mut self, delta: &Delta<S>) -> Result<Applied, MergeError> {
        self.check_own_claims(delta)?;
        self.state.absorb(delta)
    }

    /// Like [`absorb`](Replica::absorb), and returns what changed in the view, of what had waited
    /// too; see [`Watched`].
    ///
    /// # Errors
    /// As [`absorb`](Replica::absorb).
    pub fn absorb_with_changes(
        &mut self,
        delta: &Delta<S>,
    ) -> Result<(Applied, Vec<S::Change>), MergeError>
    where
        S: Watched,
    {
        self.check_own_claims(delta)?;
        self.state.absorb_with_changes(delta)
    }

    /// Joins with the state of another replica (or with a bare [`State`]).
    ///
    /// # Errors
    /// As [`absorb`](Replica::absorb).
    ///
    /// # Complexity
    /// See [`State::merge`].
    pub fn merge(&mut self, other: &State<S>) -> Result<Applied, MergeError> {
        self.check_own(other.core.version.get(self.id))?;
        self.state.merge(other)
    }

    /// Like [`merge`](Replica::merge), and returns what changed in the view; see [`Watched`].
    ///
    /// # Errors
    /// As [`absorb`](Replica::absorb).
    pub fn merge_with_changes(
        &mut self,
        other: &State<S>,
    ) -> Result<(Applied, Vec<S::Change>), MergeError>
    where
        S: Watched,
    {
        self.check_own(other.core.version.get(self.id))?;
        self.state.merge_with_changes(other)
    }

    /// R10: nobody else can know an update of mine that I do not know.
    fn check_own_claims(&self, delta: &Delta<S>) -> Result<(), MergeError> {
        let claims = delta.claims().of(self.id);
        self.check_own(claims.and_then(|runs| runs.last()).unwrap_or(0))
    }

    fn check_own(&self, counter: u64) -> Result<(), MergeError> {
        match counter <= self.state.core.version.get(self.id) {
            true => Ok(()),
            false => Err(MergeError::IdentityReused { replica: self.id }),
        }
    }

    /// Drops all waiting deltas; the next answer brings them again.
    pub fn drop_waiting(&mut self) {
        self.state.drop_waiting();
    }

    /// Bounds what waits from now on.
    pub fn set_waiting_limits(&mut self, limits: super::WaitingLimits) {
        self.state.set_waiting_limits(limits);
    }

    /// Forgets who removed what; see [`State::drop_ledger`].
    pub fn drop_ledger(&mut self) {
        self.state.drop_ledger();
    }

    /// Takes the errors of deltas that had waited; see [`State::take_rejected`].
    pub fn take_rejected(&mut self) -> alloc::vec::Vec<MergeError> {
        self.state.take_rejected()
    }
}

/// Undoes the running update unless it is disarmed, on error and on panic alike.
struct RollbackGuard<'a, S: Replicated> {
    value: &'a mut WithRest<S>,
    armed: bool,
}

impl<S: Replicated> Drop for RollbackGuard<'_, S> {
    fn drop(&mut self) {
        if self.armed {
            self.value.rollback();
        }
    }
}

impl<S: Replicated> Deref for Replica<S> {
    type Target = State<S>;

    fn deref(&self) -> &State<S> {
        &self.state
    }
}

/// Equal states; the ids do not matter.
impl<S: Replicated> PartialEq for Replica<S> {
    fn eq(&self, other: &Replica<S>) -> bool {
        self.state == other.state
    }
}

impl<S: Replicated> Eq for Replica<S> {}

impl<S: Replicated> fmt::Debug for Replica<S>
where
    S::View: fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replica")
            .field("id", &self.id)
            .field("state", &self.state)
            .finish()
    }
}
