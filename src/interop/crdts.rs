//! The traits of the crate `crdts`, with the feature `crdts`.
//!
//! A [`State`] merges as a [`CvRDT`] and takes [`Delta`]s as a [`CmRDT`]; versions and dots
//! convert. `validate_merge` and `validate_op` tell in advance what [`State::merge`] and
//! [`State::absorb`] would return. As these traits ask for it, `merge` and `apply` cannot fail:
//! what is invalid leaves the state unchanged, and an early delta waits inside the state as usual.
//! Deltas may come in any order, not only each replica's in its own, as `CmRDT` asks of others.
//!
//! # Values of the other crate
//! Where fields allow it, values convert: grow-only sets and last-writer-wins registers of ours become
//! theirs. The way back is an update, since what is theirs has no history to be merged:
//! `set.extend(theirs.read())`, `register.set(theirs.val, theirs.marker)`.
//!
//! # Why not `ResetRemove`
//! `reset_remove(clock)` drops whatever `clock` covers, and is what lets a type stand in
//! `crdts::Map`. Here the absence of an entry whose update is included *is* the
//! record of its removal, so an update that removes has a dot like any other. `reset_remove` has
//! none:
//!
//! 1. A and B both include the update `a@1`, which added `x`. A's map removes the key of the set:
//!    the set at A is reset to nothing, and its version still is `{a: 1}`.
//! 2. B hears nothing of it. Now A and B have equal versions and different content. Whichever
//!    merges from the other learns nothing, because it includes `a@1` already: they never agree.
//!
//! Forgetting `a@1` instead of keeping it does not help, for then B brings `x` back; and a map
//! gives each value only the dots of its own key, so these have gaps, which a [`Version`] never
//! has. Let a struct or map of this crate hold the values: removals of whole keys are updates
//! there.
//!
//! # Examples
//! ```
//! use commute::{OrSet, Replica, ReplicaId, State};
//! use crdts::{CmRDT, CvRDT};
//!
//! let mut a = Replica::<OrSet<String>>::new(ReplicaId::from(1));
//! let (_, first) = a.update(|set| set.insert("x".into()))?;
//! let (_, second) = a.update(|set| set.remove("x"))?;
//!
//! let mut b = State::<OrSet<String>>::new();
//! assert!(b.validate_op(&second).is_err());   // `first` is missing
//! b.apply(second);                            // waits
//! b.apply(first);
//! assert_eq!(&b, a.state());
//!
//! let mut c = State::<OrSet<String>>::new();
//! c.validate_merge(&b)?;
//! CvRDT::merge(&mut c, b);
//! assert!(c.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use core::fmt;

use ::crdts::{CmRDT, CvRDT, VClock};

use crate::codec::{Key, Payload};
use crate::{
    Delta, Dot, Dots, GSet, LwwRegister, MergeError, ReplicaId, Replicated, Stamp, State, Version,
};

impl<S: Replicated> CvRDT for State<S> {
    type Validation = MergeError;

    fn validate_merge(&self, other: &State<S>) -> Result<(), MergeError> {
        self.check_merge(other)
    }

    /// Joins with `other`; one that does not validate changes nothing.
    fn merge(&mut self, other: State<S>) {
        let _ = State::merge(self, &other);
    }
}

impl<S: Replicated> CmRDT for State<S> {
    type Op = Delta<S>;
    type Validation = OpError;

    fn validate_op(&self, op: &Delta<S>) -> Result<(), OpError> {
        self.check(op).map_err(OpError::Merge)?;
        let missing = self.missing_for(op);
        match missing.is_empty() {
            true => Ok(()),
            false => Err(OpError::Missing(missing)),
        }
    }

    /// Includes `op`, or keeps it waiting; one that is invalid changes nothing.
    fn apply(&mut self, op: Delta<S>) {
        let _ = self.absorb(&op);
    }
}

/// Why a delta does not take effect at once.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum OpError {
    /// It is early: these updates come first. Applied now, it waits.
    Missing(Dots),
    /// It is invalid. Applied, it changes nothing.
    Merge(MergeError),
}

impl fmt::Display for OpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(dots) => write!(f, "updates are missing: {dots:?}"),
            Self::Merge(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for OpError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Missing(_) => None,
            Self::Merge(error) => Some(error),
        }
    }
}

impl From<&Version> for VClock<ReplicaId> {
    fn from(version: &Version) -> VClock<ReplicaId> {
        VClock {
            dots: version.iter().collect(),
        }
    }
}

impl From<Version> for VClock<ReplicaId> {
    fn from(version: Version) -> VClock<ReplicaId> {
        VClock::from(&version)
    }
}

/// Counters of 0 say nothing and are left out.
///
/// A version claims each update together with its causal past; so must the clock.
impl From<VClock<ReplicaId>> for Version {
    fn from(clock: VClock<ReplicaId>) -> Version {
        clock.dots.into_iter().collect()
    }
}

impl From<Dot> for ::crdts::Dot<ReplicaId> {
    fn from(dot: Dot) -> ::crdts::Dot<ReplicaId> {
        ::crdts::Dot::new(dot.replica, dot.counter)
    }
}

impl TryFrom<::crdts::Dot<ReplicaId>> for Dot {
    type Error = ZeroDotError;

    fn try_from(dot: ::crdts::Dot<ReplicaId>) -> Result<Dot, ZeroDotError> {
        match dot.counter {
            0 => Err(ZeroDotError { replica: dot.actor }),
            counter => Ok(Dot::new(dot.actor, counter)),
        }
    }
}

/// The same elements.
impl<T: Key> From<&GSet<T>> for ::crdts::GSet<T> {
    fn from(set: &GSet<T>) -> ::crdts::GSet<T> {
        let mut theirs = ::crdts::GSet::new();
        set.iter().for_each(|value| theirs.insert(value.clone()));
        theirs
    }
}

/// The value that wins, with its stamp as the marker; `None` if there is none.
///
/// Two registers of ours may win with one stamp, by their replicas; theirs has no tie to break, so
/// merging such ones is refused there.
impl<T: Payload> From<&LwwRegister<T>> for Option<::crdts::LWWReg<T, Stamp>> {
    fn from(register: &LwwRegister<T>) -> Option<::crdts::LWWReg<T, Stamp>> {
        let (val, marker) = (register.value()?.clone(), register.stamp()?);
        Some(::crdts::LWWReg { val, marker })
    }
}

/// A dot with the counter 0, which names no update.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ZeroDotError {
    /// Whose dot it is.
    pub replica: ReplicaId,
}

impl fmt::Display for ZeroDotError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "dot 0 of replica {} names no update", self.replica)
    }
}

impl core::error::Error for ZeroDotError {}
