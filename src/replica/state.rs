//! A value under one version, without identity.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Deref;

use super::delta::join_heads;
use super::feed::{Feed, Nobody, Watcher};
use super::ledger::{Ledger, Records};
use super::seal::{self, SealSpan};
use super::waiting::Waiting;
use super::{Delta, Digest, WaitingLimits};
use crate::clock::{ByReplica, Dot, Dots, Names, Ranges, ReplicaId, Version};
use crate::kernel::{Fault, Kills, MergeError, Part, Place, Replicated, Watched, WithRest};

/// What became of a delta.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Applied {
    /// It brought something; deltas that waited for it are in now, too.
    New,
    /// All of it was included already.
    Duplicate,
    /// It came before its causal past and waits, whole, outside the state.
    ///
    /// These updates are missing, other waiting ones among them. What waits is bounded and may be
    /// dropped; ask with [`State::version`] and [`State::delta_since`] if nothing else brings them.
    Waiting(Dots),
}

/// A value under one version: what replicas agree on.
///
/// The value is a function of the version. Equal versions mean equal [`to_bytes`](State::to_bytes),
/// and merging is commutative, associative and idempotent. A state has no identity and cannot be
/// edited; a server that only stores and forwards holds states, everyone who edits a
/// [`Replica`](super::Replica). It derefs to the value.
///
/// Beside the value it holds two caches that are no part of equality, digest or bytes: deltas that
/// wait for their past, and a ledger of recent removals.
///
/// A clone shares all of it until one side changes, so a snapshot costs O(1), and the first change
/// after it O(n).
pub struct State<S: Replicated> {
    pub(crate) core: Arc<Core<S>>,
    pub(crate) waiting: Waiting<S>,
    pub(crate) rejected: Vec<MergeError>,
}

/// What a state and its snapshots share.
pub(crate) struct Core<S> {
    pub(crate) value: WithRest<S>,
    pub(crate) version: Version,
    pub(crate) heads: Dots,
    pub(crate) seals: ByReplica<u64>,
    pub(crate) ledger: Ledger,
}

/// The heads among what a delta covers, after it is included.
struct Heads {
    heads: Dots,
    covers: Dots,
}

impl Heads {
    /// O(heads of `covers`), so that no update costs a look at all replicas.
    fn put_into(self, all: &mut Dots) {
        for id in self.covers.replicas() {
            all.put(id, self.heads.of(id).cloned().unwrap_or_default());
        }
    }
}

/// At most this many errors of waiting deltas are kept for the caller.
const REJECTED_MAX: usize = 16;

impl<S: Replicated> State<S> {
    /// The state that includes nothing.
    pub fn new() -> State<S> {
        State {
            core: Arc::new(Core {
                value: WithRest::empty(Place::Kept),
                version: Version::new(),
                heads: Dots::new(),
                seals: ByReplica::new(),
                ledger: Ledger::default(),
            }),
            waiting: Waiting::default(),
            rejected: Vec::new(),
        }
    }

    /// To change it; what a snapshot shares is copied first.
    pub(crate) fn core_mut(&mut self) -> &mut Core<S> {
        Arc::make_mut(&mut self.core)
    }

    /// The updates that are included.
    pub fn version(&self) -> &Version {
        &self.core.version
    }

    /// The maximal updates: those that no other included update has seen.
    pub fn heads(&self) -> &Dots {
        &self.core.heads
    }

    /// A digest of the state bytes. O(state); compare versions first.
    pub fn digest(&self) -> Digest {
        Digest::of(&self.to_bytes())
    }

    /// A copy of the plain value that a user sees.
    pub fn view(&self) -> S::View {
        self.core.value.view()
    }

    /// How many deltas wait for their causal past.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// The updates that waiting deltas lack, other waiting ones not counted.
    pub fn missing(&self) -> Dots {
        let mut missing = Dots::new();
        let mut held = Dots::new();
        for delta in self.waiting.iter() {
            missing.union_with(&self.missing_for(delta));
            held.union_with(delta.claims());
        }
        missing.difference(&held)
    }

    /// Drops all waiting deltas; the next answer brings them again.
    pub fn drop_waiting(&mut self) {
        self.waiting.clear();
    }

    /// Bounds what waits from now on.
    pub fn set_waiting_limits(&mut self, limits: WaitingLimits) {
        self.waiting.set_limits(limits);
    }

    /// Forgets who removed what. Later answers are larger until new removals are recorded.
    pub fn drop_ledger(&mut self) {
        self.core_mut().ledger.forget();
    }

    /// Takes the errors of deltas that had waited and turned out wrong when their turn came.
    ///
    /// At most the last 16 are kept.
    pub fn take_rejected(&mut self) -> Vec<MergeError> {
        core::mem::take(&mut self.rejected)
    }

    /// Includes `delta`, or keeps it waiting until its causal past is there.
    ///
    /// # Errors
    /// [`MergeError`]; the state is unchanged then.
    ///
    /// # Complexity
    /// O(d log n) for an update or an exact answer of size d; O(n) at most for a fallback answer.
    pub fn absorb(&mut self, delta: &Delta<S>) -> Result<Applied, MergeError> {
        self.take(delta, &mut Nobody)
    }

    /// Like [`absorb`](State::absorb), and returns what changed in the view, of what had waited too.
    ///
    /// # Errors
    /// As [`absorb`](State::absorb).
    ///
    /// # Complexity
    /// See [`Watched`].
    pub fn absorb_with_changes(
        &mut self,
        delta: &Delta<S>,
    ) -> Result<(Applied, Vec<S::Change>), MergeError>
    where
        S: Watched,
    {
        let mut watcher = Watcher::new();
        let applied = self.take(delta, &mut watcher)?;
        Ok((applied, watcher.changes(self)))
    }

    fn take(&mut self, delta: &Delta<S>, feed: &mut impl Feed<S>) -> Result<Applied, MergeError> {
        self.check_seals(delta)?;
        let missing = self.missing_for(delta);
        if missing.is_empty() {
            let new = self.integrate(delta, feed)?;
            if new.is_empty() {
                return Ok(Applied::Duplicate);
            }
            self.drain(new, feed);
            return Ok(Applied::New);
        }
        let claims = delta.claims().clone();
        self.waiting.insert(delta.clone(), &self.core.version);
        self.drain_mutual(feed);
        match claims.is_within(&self.core.version) {
            true => Ok(Applied::New),
            false => Ok(Applied::Waiting(missing)),
        }
    }

    /// Checks that [`absorb`](State::absorb) would take `delta`, at once or after a wait.
    ///
    /// Of a delta that has to wait not everything can be checked yet; see
    /// [`take_rejected`](State::take_rejected).
    ///
    /// # Errors
    /// As [`absorb`](State::absorb).
    ///
    /// # Complexity
    /// As [`absorb`](State::absorb).
    pub fn check(&self, delta: &Delta<S>) -> Result<(), MergeError> {
        self.check_seals(delta)?;
        if !self.missing_for(delta).is_empty() {
            return Ok(());
        }
        let gone = self.check_entries(delta)?;
        match delta.claims.is_within(&self.core.version) {
            true => Ok(()),
            false => self.check_deaths(delta, gone).map(drop),
        }
    }

    /// What must come before `delta`: of each replica everything from the first unknown update on.
    ///
    /// Empty if `delta` need not wait.
    pub fn missing_for(&self, delta: &Delta<S>) -> Dots {
        let mut missing = Dots::new();
        // What is included has its past here, whatever else an answer names as its base.
        if delta.is_next(&self.core.version) || delta.claims.is_within(&self.core.version) {
            return missing;
        }
        for (id, _, last) in delta.needs().beyond(&self.core.version).ranges() {
            missing.add(id, self.core.version.get(id) + 1, last);
        }
        missing.difference(delta.claims())
    }

    /// Includes what waited for `new`, and what waited for that.
    pub(super) fn drain(&mut self, mut new: Dots, feed: &mut impl Feed<S>) {
        if self.waiting.len() == 0 {
            return;
        }
        while !new.is_empty() {
            let ready = self.waiting.take_ready(&new, &self.core.version);
            new = Dots::new();
            for delta in ready {
                new.union_with(&self.integrate_waiting(&delta, feed));
            }
        }
        self.drain_mutual(feed);
    }

    /// Includes groups that need each other, as one step.
    fn drain_mutual(&mut self, feed: &mut impl Feed<S>) {
        let mut together = self.waiting.take_mutual(&self.core.version).into_iter();
        let Some(mut all) = together.next() else {
            return;
        };
        for delta in together {
            if let Err(error) = all.merge(&delta) {
                self.reject(error);
            }
        }
        // Without the refused ones the others' past may be missing; the next answer brings them again.
        if !self.missing_for(&all).is_empty() {
            return;
        }
        let new = self.integrate_waiting(&all, feed);
        if !new.is_empty() {
            self.drain(new, feed);
        }
    }

    fn integrate_waiting(&mut self, delta: &Delta<S>, feed: &mut impl Feed<S>) -> Dots {
        let checked = self.check_seals(delta);
        let included = checked.and_then(|()| self.integrate(delta, feed));
        included.unwrap_or_else(|error| {
            self.reject(error);
            Dots::new()
        })
    }

    fn reject(&mut self, error: MergeError) {
        if self.rejected.len() == REJECTED_MAX {
            self.rejected.remove(0);
        }
        self.rejected.push(error);
    }

    /// R39 a and d: what is known of a replica's updates must have the same content.
    fn check_seals(&self, delta: &Delta<S>) -> Result<(), MergeError> {
        for (id, span) in delta.seals.iter() {
            let Some(runs) = delta.claims.of(id) else {
                continue;
            };
            let (Some(first), Some(last)) = (runs.first(), runs.last()) else {
                continue;
            };
            let same = |counter, seal| self.seal_at(id, counter).is_none_or(|held| held == seal);
            let before_agrees = span.before.is_none_or(|before| same(first - 1, before));
            if !before_agrees || !same(last, span.after) {
                return Err(MergeError::IdentityReused { replica: id });
            }
        }
        Ok(())
    }

    /// The seal of `id` after `counter` updates, if it is still known.
    pub(crate) fn seal_at(&self, id: ReplicaId, counter: u64) -> Option<u64> {
        if counter == 0 {
            return Some(seal::FIRST);
        }
        if counter == self.core.version.get(id) {
            return self.core.seals.get(id).copied();
        }
        self.core.ledger.seal(Dot::new(id, counter))
    }

    /// The one join (R8), for a delta whose needs are met; returns the updates that are new.
    fn integrate(&mut self, delta: &Delta<S>, feed: &mut impl Feed<S>) -> Result<Dots, MergeError> {
        let new = delta.claims.beyond(&self.core.version);
        let gone = self.check_entries(delta)?;
        if new.is_empty() {
            return Ok(new);
        }
        let (dead, heads) = self.check_deaths(delta, gone)?;
        let core = self.core_mut();
        feed.before(&core.value.value, &delta.part.value, &dead);
        if !dead.is_empty() {
            core.value.kill(&dead);
        }
        core.value.adopt(delta.part.clone(), &core.version);

        heads.put_into(&mut core.heads);
        core.version.include(&delta.claims);
        for (id, span) in delta.seals.iter() {
            if new.of(id).is_some() {
                core.note_seal(id, span.after);
            }
        }
        core.ledger.learn(&delta.ledger, core.value.entries());
        Ok(new)
    }

    /// The heads after `delta` is included.
    ///
    /// One must be new, since nothing included follows what is new; and each must be the last update
    /// of its replica, else the state would not be one that can be read again.
    fn check_heads(&self, delta: &Delta<S>) -> Result<Heads, MergeError> {
        let covers = delta.covers();
        let new = delta.heads.beyond(&self.core.version);
        // The other heads stay, and are the last updates of their replicas as before.
        let heads = join_heads(&self.core.heads_of(&covers), &delta.heads, &new, &covers);
        let last = |id| {
            let theirs = delta.claims.of(id).and_then(|runs| runs.last());
            self.core.version.get(id).max(theirs.unwrap_or(0))
        };
        let possible = |(id, runs): (ReplicaId, &Ranges)| runs.first() == Some(last(id));
        match !new.is_empty() && heads.by_replica().all(possible) {
            true => Ok(Heads { heads, covers }),
            false => Err(MergeError::Invalid(Fault::HeadsImpossible)),
        }
    }

    /// R39 a: entries that are live here and listed by `delta` are the same at the same place.
    ///
    /// Returns those that are live here and that `delta` claims without listing them.
    fn check_entries(&self, delta: &Delta<S>) -> Result<Names, MergeError> {
        let known = delta.claims.within(&self.core.version);
        let matching = self.core.value.check(&delta.part, &self.core.version)?;
        if known.is_empty() && matching == 0 {
            return Ok(Names::new());
        }
        let mut held = Names::new();
        self.core.value.names(&known, &mut held);
        let listed = delta.live();
        let common = held.intersection(&listed);
        match matching == common.len() {
            true => Ok(held.difference(&listed)),
            false => Err(reused(&common)),
        }
    }

    /// Which live entries die by `delta`, whose needs are met: `gone` and those that it kills; and
    /// the heads after it.
    fn check_deaths(&self, delta: &Delta<S>, gone: Names) -> Result<(Names, Heads), MergeError> {
        for (replica, _, last) in delta.kills.also.dots().ranges() {
            let dot = Dot::new(replica, last);
            if !self.core.version.contains(dot) {
                return Err(MergeError::Invalid(Fault::KillsUnknown(dot)));
            }
        }
        let heads = self.check_heads(delta)?;
        let mut dead = gone;
        let reach = delta.kills.reach();
        if !reach.is_empty() {
            let mut within = Names::new();
            self.core.value.names(&reach, &mut within);
            dead.union_with(&delta.kills.among(&within));
        }
        self.core.value.check_kill(&dead)?;
        Ok((dead, heads))
    }

    /// What a peer with `version` lacks: empty if it lacks nothing.
    ///
    /// An empty answer says that the peer lacks nothing; it proves nothing about ids. Peers with
    /// equal versions compare [`digest`](State::digest)s (or [`merge`](State::merge)): if these
    /// differ, an id was used twice.
    ///
    /// The answer never hides a removal. It is exact as long as the ledger knows who removed what,
    /// and otherwise also names, as ranges, what is live of what the peer knows.
    ///
    /// # Complexity
    /// O(answer * log n) if exact, O(n) otherwise.
    pub fn delta_since(&self, version: &Version) -> Delta<S> {
        let claims = self.core.version.difference(version);
        if claims.is_empty() {
            return Delta::empty();
        }
        let after = Dots::from(&version.meet(&self.core.version));
        let ledger = self.core.ledger.records.restrict(&claims).readable();
        let kills = exact_kills(&ledger, &claims).unwrap_or_else(|| self.fallback(&after));
        let span = |id: ReplicaId| {
            let after = self.core.seals.get(id).copied().unwrap_or(seal::FIRST);
            (
                id,
                SealSpan {
                    before: self.seal_at(id, version.get(id)),
                    after,
                },
            )
        };
        Delta {
            original: false,
            seals: claims.replicas().map(span).collect(),
            part: self.core.value.part(&claims),
            heads: self.core.heads.clone(),
            after,
            kills,
            ledger,
            claims,
        }
    }

    /// The complement of what is live among `known`.
    fn fallback(&self, known: &Dots) -> Kills {
        let mut except = Names::new();
        self.core.value.names(known, &mut except);
        Kills {
            all_of: known.clone(),
            except,
            also: Names::new(),
        }
    }

    /// Makes an update as replica `id`, whose dot is `dot`: see [`Replica::update`].
    pub(crate) fn publish(&mut self, update: crate::kernel::Update) -> Option<Delta<S>> {
        let dot = update.dot();
        let core = self.core_mut();
        let part = core.value.publish(&update);
        let killed = update.into_killed();
        if part.is_empty() && killed.is_empty() {
            return None;
        }
        let before = core.seals.get(dot.replica).copied().unwrap_or(seal::FIRST);
        let mut seen = core::mem::replace(&mut core.heads, Dots::from(dot));
        if dot.counter > 1 {
            seen = seen.difference(&Dots::from(Dot::new(dot.replica, dot.counter - 1)));
        }
        let after = seal::next(before, dot, &seen, &part, &killed);
        core.version.raise(dot.replica, dot.counter);
        core.note_seal(dot.replica, after);
        let records = Records::one(dot, &killed);
        core.ledger.learn(&records, core.value.entries());
        self.refuse_forged(dot);
        Some(Delta {
            original: true,
            claims: Dots::from(dot),
            after: seen,
            heads: Dots::from(dot),
            seals: ByReplica::one(
                dot.replica,
                SealSpan {
                    before: Some(before),
                    after,
                },
            ),
            part,
            kills: Kills::exactly(killed),
            ledger: records,
        })
    }

    /// Refuses what has waited for `dot`, or brings it, and came before it was made: somebody else uses
    /// the id.
    fn refuse_forged(&mut self, dot: Dot) {
        if self.waiting.len() == 0 {
            return;
        }
        let forged = self
            .waiting
            .take_ready(&Dots::from(dot), &self.core.version);
        for _ in forged {
            self.reject(MergeError::IdentityReused {
                replica: dot.replica,
            });
        }
    }

    /// The same with the same caches but nothing waiting. O(1).
    pub(crate) fn duplicate(&self) -> State<S> {
        State {
            core: Arc::clone(&self.core),
            waiting: Waiting::default(),
            rejected: Vec::new(),
        }
    }
}

/// What the updates `claims` killed outside themselves, if `records` tell and it is no bomb.
fn exact_kills(records: &Records, claims: &Dots) -> Option<Kills> {
    if records.complete != *claims {
        return None;
    }
    let all = records.all()?;
    let light = all.weight_cut(claims) <= Names::most([&all].into_iter());
    light.then(|| Kills::exactly(all.without(claims)))
}

pub(super) fn reused(common: &Names) -> MergeError {
    match common.replicas().next() {
        Some(replica) => MergeError::IdentityReused { replica },
        None => MergeError::Invalid(Fault::NameTwice),
    }
}

impl<S: Replicated> Core<S> {
    /// The heads among the updates of the replicas in `dots`.
    fn heads_of(&self, dots: &Dots) -> Dots {
        let mut heads = Dots::new();
        for id in dots.replicas() {
            if let Some(runs) = self.heads.of(id) {
                heads.put(id, runs.clone());
            }
        }
        heads
    }

    /// The last update of `id` that is included leads to `seal`.
    pub(super) fn note_seal(&mut self, id: ReplicaId, seal: u64) {
        self.seals.insert(id, seal);
        self.ledger
            .note_seal(Dot::new(id, self.version.get(id)), seal);
    }
}

impl<S: Replicated> Clone for Core<S> {
    fn clone(&self) -> Core<S> {
        let mut value = WithRest::empty(Place::Kept);
        value.join(&Version::new(), &self.value, &self.version);
        value.take_local(&self.value);
        Core {
            value,
            version: self.version.clone(),
            heads: self.heads.clone(),
            seals: self.seals.clone(),
            ledger: self.ledger.clone(),
        }
    }
}

impl<S: Replicated> Default for State<S> {
    fn default() -> State<S> {
        State::new()
    }
}

impl<S: Replicated> Clone for State<S> {
    fn clone(&self) -> State<S> {
        let mut copy = self.duplicate();
        self.waiting
            .iter()
            .for_each(|delta| copy.waiting.insert(delta.clone(), &copy.core.version));
        copy
    }
}

/// Equal versions and equal bytes.
impl<S: Replicated> PartialEq for State<S> {
    fn eq(&self, other: &State<S>) -> bool {
        Arc::ptr_eq(&self.core, &other.core)
            || self.core.version == other.core.version
                && self.core.heads == other.core.heads
                && self.core.seals == other.core.seals
                && self.value_bytes() == other.value_bytes()
    }
}

impl<S: Replicated> Eq for State<S> {}

impl<S: Replicated> Deref for State<S> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.core.value.value
    }
}

impl<S: Replicated> fmt::Debug for State<S>
where
    S::View: fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("State")
            .field("version", &self.core.version)
            .field("view", &self.view())
            .field("waiting", &self.waiting())
            .finish()
    }
}
