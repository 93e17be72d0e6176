//! Joining two states.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cmp::Ordering;

use super::feed::Nobody;
use super::state::{Applied, State, reused};
use crate::clock::{Dots, Names, Ranges, ReplicaId};
use crate::kernel::{Fault, MergeError, Replicated, Watched};

/// What another state has that is not here, and the other way round.
struct Compared {
    new: Dots,
    /// Whether something is here that is not there.
    ahead: bool,
    /// Whether both know the seals of all that both include.
    all_known: bool,
}

impl<S: Replicated> State<S> {
    /// Joins with another state; the result is the same as absorbing its whole content.
    ///
    /// # Errors
    /// [`MergeError`]; the state is unchanged then.
    ///
    /// # Complexity
    /// O(n + m); O(r) if the versions are equal.
    pub fn merge(&mut self, other: &State<S>) -> Result<Applied, MergeError> {
        if Arc::ptr_eq(&self.core, &other.core) {
            return Ok(Applied::Duplicate);
        }
        let compared = self.compare(other)?;
        let heads = self.check_compared(other, &compared)?;
        if compared.new.is_empty() {
            return Ok(Applied::Duplicate);
        }
        // The state is a function of the version: where all is included, theirs is the join, but for
        // fields that are not replicated.
        let forward =
            !S::HAS_LOCAL && !compared.ahead && other.core.ledger.includes(&self.core.ledger);
        match forward {
            true => self.core = Arc::clone(&other.core),
            false => self.join(other, heads, &compared.new),
        }
        self.drain(compared.new, &mut Nobody);
        Ok(Applied::New)
    }

    /// Like [`merge`](State::merge), and returns what changed in the view.
    ///
    /// # Errors
    /// As [`merge`](State::merge).
    ///
    /// # Complexity
    /// That of [`check_merge`](State::check_merge) and of absorbing what `other` answers.
    pub fn merge_with_changes(
        &mut self,
        other: &State<S>,
    ) -> Result<(Applied, Vec<S::Change>), MergeError>
    where
        S: Watched,
    {
        self.check_merge(other)?;
        self.absorb_with_changes(&other.delta_since(self.version()))
    }

    fn join(&mut self, other: &State<S>, heads: Dots, new: &Dots) {
        let core = self.core_mut();
        core.value
            .join(&core.version, &other.core.value, &other.core.version);

        core.heads = heads;
        core.version.include(new);
        for id in new.replicas() {
            if let Some(seal) = other.core.seals.get(id) {
                core.note_seal(id, *seal);
            }
        }
        // Which entries are dead is known now, but not who killed them (H8): only what the other
        // side knows exactly is taken over.
        let records = other.core.ledger.records.restrict(new);
        core.ledger.learn(&records, core.value.entries());
    }

    /// Checks that [`merge`](State::merge) would take `other`.
    ///
    /// # Errors
    /// As [`merge`](State::merge).
    ///
    /// # Complexity
    /// As [`merge`](State::merge).
    pub fn check_merge(&self, other: &State<S>) -> Result<(), MergeError> {
        if Arc::ptr_eq(&self.core, &other.core) {
            return Ok(());
        }
        let compared = self.compare(other)?;
        self.check_compared(other, &compared).map(drop)
    }

    /// Compares the versions, and the seals (R39 c and d): where both know one of a replica, it is the
    /// same. One walk, as there may be thousands of replicas.
    fn compare(&self, other: &State<S>) -> Result<Compared, MergeError> {
        let (mut new, mut all_known, mut behind, mut shared) = (Dots::new(), true, false, 0);
        let mut mine = (self.core.version.cursor(), self.core.seals.cursor());
        let mut offered = other.core.seals.cursor();
        for (id, theirs) in other.core.version.iter() {
            let (seen, held, offered) = (mine.0.get(id), mine.1.get(id), offered.get(id));
            let Some(seen) = seen.copied() else {
                new.put(id, Ranges::span(1, theirs));
                continue;
            };
            shared += 1;
            let both = match seen.cmp(&theirs) {
                Ordering::Equal => (held.copied(), offered.copied()),
                Ordering::Less => {
                    new.put(id, Ranges::span(seen + 1, theirs));
                    (held.copied(), other.seal_at(id, seen))
                }
                Ordering::Greater => {
                    behind = true;
                    (self.seal_at(id, theirs), offered.copied())
                }
            };
            match both {
                (Some(a), Some(b)) if a != b => {
                    return Err(MergeError::IdentityReused { replica: id });
                }
                (Some(_), Some(_)) => {}
                _ => all_known = false,
            }
        }
        Ok(Compared {
            new,
            ahead: behind || shared < self.core.version.len(),
            all_known,
        })
    }

    /// Checks a join with `other`; returns the heads after it, none if it brings nothing.
    fn check_compared(&self, other: &State<S>, compared: &Compared) -> Result<Dots, MergeError> {
        let heads = match compared.new.is_empty() {
            // What is known to be the same history brings nothing, whatever is in it.
            true if compared.all_known || !compared.ahead => return Ok(Dots::new()),
            true => Dots::new(),
            false => self.joined_heads(other)?,
        };
        self.check_states(other)?;
        Ok(heads)
    }

    /// The heads after a join with `other`, which brings something; see
    /// [`check_heads`](State::check_heads).
    fn joined_heads(&self, other: &State<S>) -> Result<Dots, MergeError> {
        let (mine, theirs) = (&self.core, &other.core);
        let new = theirs.heads.beyond(&mine.version);
        let mut heads = theirs.heads.intersection(&mine.heads);
        heads.union_with(&mine.heads.beyond(&theirs.version));
        heads.union_with(&new);
        let last = |id| mine.version.get(id).max(theirs.version.get(id));
        let possible = |(id, runs): (ReplicaId, &Ranges)| runs.first() == Some(last(id));
        match !new.is_empty() && heads.by_replica().all(possible) {
            true => Ok(heads),
            false => Err(MergeError::Invalid(Fault::HeadsImpossible)),
        }
    }

    /// Entries live on both sides must be the same at the same place.
    fn check_states(&self, other: &State<S>) -> Result<(), MergeError> {
        let matching = self.core.value.check_join(
            &self.core.version,
            &other.core.value,
            &other.core.version,
        )?;
        let (mine, theirs) = (&self.core, &other.core);
        let common = mine.value.common(&theirs.value, &theirs.version);
        if S::is_one_place() || common == Some(matching) {
            return Ok(());
        }
        let both = Dots::from(&self.core.version.meet(&other.core.version));
        let (mut mine, mut theirs) = (Names::new(), Names::new());
        self.core.value.names(&both, &mut mine);
        other.core.value.names(&both, &mut theirs);
        let common = mine.intersection(&theirs);
        if matching != common.len() {
            return Err(reused(&common));
        }
        self.core.value.check_kill(&mine.difference(&theirs))?;
        // What is theirs alone is dead here, which a sequence does not know either.
        other.core.value.check_kill(&theirs.difference(&mine))
    }
}
