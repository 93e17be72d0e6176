//! What replicas send each other.

use core::fmt;

use super::ledger::Records;
use super::seal::SealSpan;
use crate::clock::{ByReplica, Dot, Dots, Names, ReplicaId, Version};
use crate::kernel::{Fault, Kills, MergeError, Part, Replicated, WithRestPart};

/// Some updates: one, a group of several, or the answer to a peer's version.
///
/// A delta is indivisible: a replica takes it whole, or keeps it waiting whole until the updates it
/// builds on are there. Groups may have gaps and may be grouped in any order; a delta may be sent to
/// any peer, any number of times.
///
/// # Complexity
/// A delta is as large as what it brings. An answer is larger where the sender no longer knows who
/// removed what: then it names, as ranges, what is live of what the receiver knows.
#[must_use = "a delta is there to be sent; `edit` makes none, and `delta_since` answers what a peer lacks"]
pub struct Delta<S: Replicated> {
    /// Made by one update: `seals` and `ledger` follow from the rest.
    pub(crate) original: bool,
    pub(crate) claims: Dots,
    /// Needed first, together with the predecessors of the claimed ranges.
    pub(crate) after: Dots,
    pub(crate) heads: Dots,
    pub(crate) seals: ByReplica<SealSpan>,
    pub(crate) part: WithRestPart<S::Part>,
    pub(crate) kills: Kills,
    pub(crate) ledger: Records,
}

impl<S: Replicated> Delta<S> {
    /// The delta that brings nothing, neutral under [`merge`](Delta::merge).
    pub fn empty() -> Delta<S> {
        Delta {
            original: false,
            claims: Dots::new(),
            after: Dots::new(),
            heads: Dots::new(),
            seals: ByReplica::new(),
            part: WithRestPart::default(),
            kills: Kills::default(),
            ledger: Records::default(),
        }
    }

    /// Whether it brings nothing.
    pub fn is_empty(&self) -> bool {
        self.claims.is_empty()
    }

    /// The updates it brings.
    pub fn claims(&self) -> &Dots {
        &self.claims
    }

    /// The updates that must be included before it, or come together with it.
    pub fn needs(&self) -> Dots {
        let mut needs = self.predecessors();
        needs.union_with(&self.after);
        needs.difference(&self.claims)
    }

    /// Whether all that it builds on is in `version`; if not, [`needs`](Delta::needs) tells more.
    pub(crate) fn is_next(&self, version: &Version) -> bool {
        let follows = |(id, first, _)| first <= version.get(id).saturating_add(1);
        self.claims.ranges().all(follows) && self.after.is_within(version)
    }

    /// The update before each claimed range.
    fn predecessors(&self) -> Dots {
        let before = self.claims.ranges().filter(|(_, first, _)| *first > 1);
        before
            .map(|(replica, first, _)| Dot::new(replica, first - 1))
            .collect()
    }

    /// What this delta names of its causal past, itself included.
    pub(crate) fn covers(&self) -> Dots {
        let mut covers = self.predecessors();
        covers.union_with(&self.after);
        covers.union_with(&self.claims);
        covers
    }

    /// How much it weighs in memory, in entries and ranges.
    pub(crate) fn items(&self) -> u64 {
        let ranges = self.claims.ranges().count() + self.after.ranges().count();
        let ranges = ranges + self.kills.all_of.ranges().count();
        let named = self.kills.also.weight() + self.kills.except.weight();
        let records = self.ledger.kills.values().map(Names::weight).sum::<u64>();
        self.part
            .entries()
            .saturating_add(ranges as u64 + named + records + 1)
    }

    pub(crate) fn live(&self) -> Names {
        let mut live = Names::new();
        self.part.names(&mut live);
        live
    }

    /// Makes one delta of two. Any grouping in any order gives the same.
    ///
    /// # Errors
    /// [`MergeError::IdentityReused`] if both bring one update with different content;
    /// [`MergeError::Invalid`] if they contradict each other. `self` is unchanged then.
    ///
    /// # Complexity
    /// O((n + m) log (n + m)) in the sizes of both.
    pub fn merge(&mut self, other: &Delta<S>) -> Result<(), MergeError> {
        if other.is_empty() {
            return Ok(());
        }
        if self.is_empty() || self == other {
            *self = other.clone();
            return Ok(());
        }
        *self = self.union(other)?;
        Ok(())
    }

    fn union(&self, other: &Delta<S>) -> Result<Delta<S>, MergeError> {
        let (mine, theirs) = (self.live(), other.live());
        let mut part = self.part.clone();
        let mut more = other.part.clone();
        part.remove(&dying(&mine, &theirs, other));
        more.remove(&dying(&theirs, &mine, self));
        part.union(more)?;

        let claims = self.claims.union(&other.claims);
        let mut ledger = self.ledger.clone();
        ledger.union_with(&other.ledger);
        let kills = self.kills.union(&other.kills, &claims);
        let union = Delta::<S> {
            original: false,
            after: self.after.union(&other.after).difference(&claims),
            heads: join_heads(
                &self.heads,
                &other.heads,
                &other.heads.difference(&self.covers()),
                &other.covers(),
            ),
            seals: self.union_seals(other)?,
            part,
            kills: kills.ok_or(MergeError::Invalid(Fault::TooIntricate))?,
            ledger: ledger.readable(),
            claims,
        };
        match union.is_consistent() {
            true => Ok(union),
            false => Err(MergeError::Invalid(Fault::NameTwice)),
        }
    }

    /// R12b: whether what it says does not contradict itself. Honest deltas never do.
    pub(crate) fn is_consistent(&self) -> bool {
        let (claims, kills) = (&self.claims, &self.kills);
        if claims.is_empty() {
            return *self == Delta::empty();
        }
        let disjoint = |dots: &Dots| dots.intersection(claims).is_empty();
        let live = self.live();
        live.len() == self.part.entries()
            && live.dots().is_subset(claims)
            && disjoint(&self.after)
            && disjoint(&kills.all_of)
            && disjoint(&kills.also.dots())
            && kills.all_of.is_subset(&self.after)
            && kills.except.dots().is_subset(&kills.all_of)
            && kills.also.dots().intersection(&kills.all_of).is_empty()
            && self.heads_are_possible()
            && match self.original {
                true => kills.all_of.is_empty() && !(live.is_empty() && kills.also.is_empty()),
                false => self.records_are_possible(&live),
            }
    }

    fn heads_are_possible(&self) -> bool {
        // Within a range of claims each update follows the one before.
        let followed = |(id, first, last): (ReplicaId, u64, u64)| {
            let heads = self.heads.of(id);
            first < last && heads.is_some_and(|runs| runs.intersects(first, last - 1))
        };
        !self.heads.is_empty()
            && self.heads.is_subset(&self.claims.union(&self.after))
            && !self.claims.ranges().any(followed)
    }

    fn records_are_possible(&self, live: &Names) -> bool {
        let records = &self.ledger;
        let filled =
            |(dot, names): (&Dot, &Names)| records.complete.contains(*dot) && !names.is_empty();
        let recorded =
            |names: Names| names.is_disjoint(live) && self.kills.cover(&names, &self.claims);
        records.complete.is_subset(&self.claims)
            && records.kills.iter().all(filled)
            && records.all().is_some_and(recorded)
    }

    fn union_seals(&self, other: &Delta<S>) -> Result<ByReplica<SealSpan>, MergeError> {
        let mut seals = self.seals.clone();
        for (id, theirs) in other.seals.iter() {
            let Some(mine) = seals.get_mut(id) else {
                seals.insert(id, *theirs);
                continue;
            };
            let ends = |delta: &Delta<S>| {
                let runs = delta.claims.of(id);
                runs.and_then(|runs| Some((runs.first()?, runs.last()?)))
            };
            let (Some(x), Some(y)) = (ends(self), ends(other)) else {
                continue;
            };
            if x.1 == y.1 && mine.after != theirs.after {
                return Err(MergeError::IdentityReused { replica: id });
            }
            if x.1 < y.1 {
                mine.after = theirs.after;
            }
            mine.before = match x.0.cmp(&y.0) {
                core::cmp::Ordering::Less => mine.before,
                core::cmp::Ordering::Equal => mine.before.or(theirs.before),
                core::cmp::Ordering::Greater => theirs.before,
            };
        }
        Ok(seals)
    }

    /// The part of this delta that a peer with `version` lacks, or all of it if that is smaller.
    /// O(size).
    pub fn beyond(&self, version: &Version) -> Delta<S> {
        let had = self.claims.within(version);
        if had.is_empty() {
            return self.clone();
        }
        let claims = self.claims.beyond(version);
        if claims.is_empty() {
            return Delta::empty();
        }
        let mut part = self.part.clone();
        part.restrict(&claims);
        let live = self.live().restrict(&had);
        if self.kills.except.weight_with(&live)
            > Names::most([&self.kills.except, &live].into_iter())
        {
            return self.clone();
        }
        let mut kills = self.kills.clone();
        kills.all_of.union_with(&had);
        kills.except.union_with(&live);
        let span = |(id, seals): (ReplicaId, &SealSpan)| {
            claims.of(id)?;
            let before = if had.of(id).is_some() {
                None
            } else {
                seals.before
            };
            Some((id, SealSpan { before, ..*seals }))
        };
        Delta {
            original: false,
            after: self.after.union(&had),
            heads: self.heads.clone(),
            seals: self.seals.iter().filter_map(span).collect(),
            part,
            kills,
            ledger: self.ledger.restrict(&claims).readable(),
            claims,
        }
    }
}

/// Which of `mine` die by `other`: it claims or kills them and does not list them live.
fn dying<S: Replicated>(mine: &Names, theirs: &Names, other: &Delta<S>) -> Names {
    let mut dead = mine.restrict(&other.claims).difference(theirs);
    dead.union_with(&other.kills.among(mine));
    dead
}

/// The maximal updates of two sets: of theirs also those that mine do not cover, which are `new`,
/// and what theirs cover of their past (R5). O(heads), so that no update costs a look at all replicas.
pub(crate) fn join_heads(mine: &Dots, theirs: &Dots, new: &Dots, they_cover: &Dots) -> Dots {
    let mut heads = theirs.intersection(mine);
    heads.union_with(&mine.difference(they_cover));
    heads.union_with(new);
    heads
}

impl<S: Replicated> Clone for Delta<S> {
    fn clone(&self) -> Delta<S> {
        Delta {
            original: self.original,
            claims: self.claims.clone(),
            after: self.after.clone(),
            heads: self.heads.clone(),
            seals: self.seals.clone(),
            part: self.part.clone(),
            kills: self.kills.clone(),
            ledger: self.ledger.clone(),
        }
    }
}

impl<S: Replicated> PartialEq for Delta<S> {
    fn eq(&self, other: &Delta<S>) -> bool {
        self.original == other.original
            && self.claims == other.claims
            && self.after == other.after
            && self.heads == other.heads
            && self.seals == other.seals
            && self.kills == other.kills
            && self.ledger == other.ledger
            && self.part == other.part
    }
}

impl<S: Replicated> fmt::Debug for Delta<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Delta")
            .field("claims", &self.claims)
            .field("after", &self.after)
            .field("part", &self.part)
            .field("kills", &self.kills)
            .finish_non_exhaustive()
    }
}
