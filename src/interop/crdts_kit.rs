//! Types of the crate `crdts`, and all others that have its traits, under the test kit.
//!
//! A [`Driver`] says how a type is used: which operations there are and what a user sees. With
//! [`MergeDriver`] a type that is [`CvRDT`] becomes the subject [`Merging`]; with [`ApplyDriver`] one
//! that is [`CmRDT`] becomes [`Applying`], under the delivery that the driver declares.
//!
//! # Examples
//! ```
//! use commute::interop::crdts_kit::{ApplyDriver, Applying, Driver};
//! use commute::testkit::{Delivery, Source, Subject};
//! use commute::ReplicaId;
//! use crdts::{Dot, VClock};
//!
//! /// A clock that only ticks.
//! #[derive(Debug)]
//! struct Ticks;
//!
//! impl Driver for Ticks {
//!     type Crdt = VClock<ReplicaId>;
//!     type Op = u8;
//!     type View = u64;
//!     fn choose(_: &Self::Crdt, _: &mut Source<'_>) -> Option<u8> {
//!         Some(1)
//!     }
//!     fn view(clock: &Self::Crdt) -> u64 {
//!         clock.dots.values().sum()
//!     }
//! }
//!
//! impl ApplyDriver for Ticks {
//!     const NEEDS: Delivery = Delivery::Fifo;
//!     fn make(clock: &Self::Crdt, me: ReplicaId, _: &u8) -> Option<Dot<ReplicaId>> {
//!         Some(clock.inc(me))
//!     }
//! }
//!
//! let mut a = Applying::<Ticks>::new(ReplicaId::from(1));
//! a.perform(&1);
//! assert_eq!(a.view(), 1);
//! ```

use std::fmt::{self, Debug};

use ::crdts::{CmRDT, CvRDT};

use crate::ReplicaId;
use crate::testkit::{
    Applied, Delivery, Fingerprint, OpBased, Outcome, Rejected, Seen, Source, Specified,
    StateBased, Subject, Verdict,
};

/// How the kit uses a type: its operations and what a user sees.
pub trait Driver: Debug + 'static {
    /// The type.
    type Crdt: Clone + Debug + Default + PartialEq + 'static;
    /// What a user does.
    type Op: Clone + Debug + 'static;
    /// What a user sees.
    type View: PartialEq + Debug + 'static;

    /// An operation that is possible now, chosen by `source` alone; `None` if there is none.
    fn choose(crdt: &Self::Crdt, source: &mut Source<'_>) -> Option<Self::Op>;

    /// What the user sees now.
    fn view(crdt: &Self::Crdt) -> Self::View;

    /// Feeds all that the further behaviour depends on into `out`, by default the `Debug` text.
    ///
    /// Types that hold hash maps need an own one: their text is another one each time.
    fn fingerprint(crdt: &Self::Crdt, out: &mut Fingerprint) {
        out.debug(crdt);
    }

    /// The name in reports; the type's name without its paths by default.
    fn name() -> String {
        crate::testkit::short(std::any::type_name::<Self::Crdt>())
    }
}

/// How the kit uses a type that merges.
pub trait MergeDriver: Driver<Crdt: CvRDT> {
    /// Whether `validate_merge` is asked first, and what it refuses is refused.
    const VALIDATES: bool = false;

    /// Does `op` as the user of replica `me`.
    fn perform(crdt: &mut Self::Crdt, me: ReplicaId, op: &Self::Op) -> Outcome;
}

/// How the kit uses a type that applies operations.
pub trait ApplyDriver: Driver<Crdt: CmRDT<Op: Clone + Debug + 'static>> {
    /// In which order operations are delivered.
    const NEEDS: Delivery;
    /// Whether an operation may be delivered twice, as [`CmRDT`] asks.
    const DUPLICATES: bool = true;
    /// Whether `validate_op` is asked first, and what it refuses is refused.
    const VALIDATES: bool = false;

    /// The operation to apply and send when the user of replica `me` does `op`; `None` if it has no
    /// effect.
    fn make(crdt: &Self::Crdt, me: ReplicaId, op: &Self::Op) -> Option<<Self::Crdt as CmRDT>::Op>;
}

/// What a type means, a function of the visible operations.
pub trait SpecifiedDriver: Driver {
    /// Judges what a replica shows that has seen `seen`.
    fn check(seen: &Seen<'_, Self::Op>, got: &Self::View) -> Verdict;
}

/// Makes and applies the operation for `op`: what [`MergeDriver::perform`] is for a type that has
/// operations, too.
pub fn apply_made<D: ApplyDriver>(crdt: &mut D::Crdt, me: ReplicaId, op: &D::Op) -> Outcome {
    match D::make(crdt, me, op) {
        Some(made) => {
            crdt.apply(made);
            Outcome::Done
        }
        None => Outcome::Nothing,
    }
}

/// A replica of a type that merges.
pub struct Merging<D: Driver> {
    /// Its id, the actor of its operations.
    pub me: ReplicaId,
    /// Its state.
    pub crdt: D::Crdt,
}

impl<D: Driver> Debug for Merging<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Merging")
            .field("me", &self.me)
            .field("crdt", &self.crdt)
            .finish()
    }
}

impl<D: MergeDriver> Subject for Merging<D> {
    type Op = D::Op;
    type View = D::View;

    fn new(replica: ReplicaId) -> Merging<D> {
        Merging {
            me: replica,
            crdt: D::Crdt::default(),
        }
    }

    fn duplicate(&self) -> Merging<D> {
        Merging {
            me: self.me,
            crdt: self.crdt.clone(),
        }
    }

    fn choose(&self, source: &mut Source<'_>) -> Option<D::Op> {
        D::choose(&self.crdt, source)
    }

    fn perform(&mut self, op: &D::Op) -> Outcome {
        D::perform(&mut self.crdt, self.me, op)
    }

    fn view(&self) -> D::View {
        D::view(&self.crdt)
    }

    fn name() -> String {
        D::name()
    }

    fn fingerprint(&self, out: &mut Fingerprint) {
        out.debug(&self.me);
        D::fingerprint(&self.crdt, out);
    }
}

impl<D: MergeDriver> StateBased for Merging<D> {
    fn merge(&mut self, other: &Merging<D>) -> Result<(), Rejected> {
        if D::VALIDATES {
            let valid = self.crdt.validate_merge(&other.crdt);
            valid.map_err(Rejected::new)?;
        }
        self.crdt.merge(other.crdt.clone());
        Ok(())
    }

    fn same_state(&self, other: &Merging<D>) -> bool {
        self.crdt == other.crdt
    }
}

impl<D: MergeDriver + SpecifiedDriver> Specified for Merging<D> {
    fn check(seen: &Seen<'_, D::Op>, got: &D::View) -> Verdict {
        D::check(seen, got)
    }
}

type Made<D> = <<D as Driver>::Crdt as CmRDT>::Op;

/// A replica of a type that applies operations; where the type merges, too, it does both.
pub struct Applying<D: ApplyDriver> {
    /// Its id, the actor of its operations.
    pub me: ReplicaId,
    /// Its state.
    pub crdt: D::Crdt,
    outbox: Vec<Made<D>>,
}

impl<D: ApplyDriver> Debug for Applying<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Applying")
            .field("me", &self.me)
            .field("crdt", &self.crdt)
            .finish_non_exhaustive()
    }
}

impl<D: ApplyDriver> Subject for Applying<D> {
    type Op = D::Op;
    type View = D::View;

    fn new(replica: ReplicaId) -> Applying<D> {
        Applying {
            me: replica,
            crdt: D::Crdt::default(),
            outbox: Vec::new(),
        }
    }

    fn duplicate(&self) -> Applying<D> {
        Applying {
            me: self.me,
            crdt: self.crdt.clone(),
            outbox: self.outbox.clone(),
        }
    }

    fn choose(&self, source: &mut Source<'_>) -> Option<D::Op> {
        D::choose(&self.crdt, source)
    }

    fn perform(&mut self, op: &D::Op) -> Outcome {
        let Some(made) = D::make(&self.crdt, self.me, op) else {
            return Outcome::Nothing;
        };
        self.outbox.push(made.clone());
        self.crdt.apply(made);
        Outcome::Done
    }

    fn view(&self) -> D::View {
        D::view(&self.crdt)
    }

    fn name() -> String {
        D::name()
    }

    fn fingerprint(&self, out: &mut Fingerprint) {
        out.debug(&self.me);
        D::fingerprint(&self.crdt, out);
        out.debug(&self.outbox);
    }
}

impl<D: ApplyDriver> OpBased for Applying<D> {
    type Message = Made<D>;
    const NEEDS: Delivery = D::NEEDS;
    const DUPLICATES: bool = D::DUPLICATES;

    fn outbox(&mut self) -> Vec<Made<D>> {
        std::mem::take(&mut self.outbox)
    }

    fn receive(&mut self, message: &Made<D>) -> Result<Applied, Rejected> {
        if D::VALIDATES {
            let valid = self.crdt.validate_op(message);
            valid.map_err(Rejected::new)?;
        }
        self.crdt.apply(message.clone());
        Ok(Applied::New)
    }
}

impl<D: ApplyDriver<Crdt: CvRDT>> StateBased for Applying<D> {
    fn merge(&mut self, other: &Applying<D>) -> Result<(), Rejected> {
        if D::VALIDATES {
            let valid = self.crdt.validate_merge(&other.crdt);
            valid.map_err(Rejected::new)?;
        }
        self.crdt.merge(other.crdt.clone());
        Ok(())
    }

    fn same_state(&self, other: &Applying<D>) -> bool {
        self.crdt == other.crdt
    }
}

impl<D: ApplyDriver + SpecifiedDriver> Specified for Applying<D> {
    fn check(seen: &Seen<'_, D::Op>, got: &D::View) -> Verdict {
        D::check(seen, got)
    }
}
