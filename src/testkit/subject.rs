//! What a type under test implements: one small trait to start, one more per capability.

use std::fmt::Debug;

use super::fingerprint::Fingerprint;
use super::seen::Seen;
use super::source::Source;
use crate::clock::{Dot, Dots, ReplicaId, Version};

/// A replicated type under test.
///
/// One value is one replica. Everything it does must follow from the calls made to it: no clock of
/// its own, no random numbers, no iteration over a hash map whose order shows. The kit notices
/// (law H1).
///
/// `Debug` is what reports print and, unless [`fingerprint`](Subject::fingerprint) says otherwise,
/// how the exhaustive search tells states apart: derive it, with all fields.
///
/// # Examples
/// A counter that only grows, with everything needed to test it by merging:
/// ```
/// use std::collections::BTreeMap;
/// use commute::ReplicaId;
/// use commute::testkit::{Outcome, Random, Rejected, Source, StateBased, Subject};
///
/// #[derive(Clone, Debug, PartialEq)]
/// struct Count { me: ReplicaId, of: BTreeMap<ReplicaId, u64> }
///
/// impl Subject for Count {
///     type Op = u64;
///     type View = u64;
///     fn new(me: ReplicaId) -> Count { Count { me, of: BTreeMap::new() } }
///     fn duplicate(&self) -> Count { self.clone() }
///     fn choose(&self, source: &mut Source<'_>) -> Option<u64> { Some(1 + source.below(3)) }
///     fn perform(&mut self, amount: &u64) -> Outcome {
///         *self.of.entry(self.me).or_default() += amount;
///         Outcome::Done
///     }
///     fn view(&self) -> u64 { self.of.values().sum() }
/// }
///
/// impl StateBased for Count {
///     fn merge(&mut self, other: &Count) -> Result<(), Rejected> {
///         for (id, count) in &other.of {
///             let mine = self.of.entry(*id).or_default();
///             *mine = (*mine).max(*count);
///         }
///         Ok(())
///     }
///     fn same_state(&self, other: &Count) -> bool { self.of == other.of }
/// }
///
/// Random::new::<Count>().state().schedules(200).run().unwrap_clean();
/// ```
pub trait Subject: Sized + Debug + 'static {
    /// What a user does: `Add(3)`, `Insert(2, 'x')`.
    type Op: Clone + Debug + 'static;
    /// What a user sees.
    type View: PartialEq + Debug + 'static;

    /// An empty replica.
    ///
    /// The ids that the kit gives are small numbers in no order, but for the third, which fits in 64
    /// bits and not in 32; a type with shorter ids of its own has to map them.
    fn new(replica: ReplicaId) -> Self;

    /// A copy under the same id. Tests may copy what users may not.
    fn duplicate(&self) -> Self;

    /// A copy of what it has, as another replica; by default a plain copy.
    ///
    /// The laws are tried on copies of older states. A type that refuses to meet updates of its own
    /// id that it has not made needs another id for them.
    fn fork_as(&self, replica: ReplicaId) -> Self {
        let _ = replica;
        self.duplicate()
    }

    /// An operation that is possible now, chosen by `source` alone; `None` if there is none.
    ///
    /// Keep the alphabet tiny, one or two elements and values 0 to 3, so that operations collide.
    fn choose(&self, source: &mut Source<'_>) -> Option<Self::Op>;

    /// Does `op`, as this replica's user would.
    fn perform(&mut self, op: &Self::Op) -> Outcome;

    /// What the user sees now.
    fn view(&self) -> Self::View;

    /// The name in reports; the type's name without its paths by default.
    fn name() -> String {
        super::name::short(std::any::type_name::<Self>())
    }

    /// Feeds all that the further behaviour depends on, ids and buffers included, into `out`.
    ///
    /// The exhaustive search takes two replicas with equal fingerprints for one. The default feeds
    /// the `Debug` text; an own one is faster.
    fn fingerprint(&self, out: &mut Fingerprint) {
        out.debug(self);
    }

    /// The clock of this replica moved on by `ms` milliseconds.
    fn tick(&mut self, ms: u64) {
        let _ = ms;
    }

    /// What must hold at every replica at all times, beyond the laws (I1).
    ///
    /// # Errors
    /// Says what does not hold.
    fn invariant(&self) -> Result<(), String> {
        Ok(())
    }
}

/// What became of an operation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It was done and is to be seen everywhere.
    Done,
    /// It had no effect: nothing changed and nothing is to be sent.
    Nothing,
    /// It was refused for this reason: nothing changed.
    Refused(String),
}

/// What became of a delta or a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Applied {
    /// It is included now.
    New,
    /// It was included before.
    Duplicate,
    /// It is kept until what it needs is there.
    Waiting,
}

/// Why something was not taken; the replica is as it was.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rejected(pub String);

impl Rejected {
    /// For this reason.
    pub fn new(reason: impl std::fmt::Display) -> Rejected {
        Rejected(reason.to_string())
    }
}

/// Replicas exchange whole states.
pub trait StateBased: Subject {
    /// Joins with the state of another replica.
    ///
    /// # Errors
    /// [`Rejected`] is a broken law (O3): all states come from one honest execution.
    fn merge(&mut self, other: &Self) -> Result<(), Rejected>;

    /// Whether the states are equal, the replicas' own ids left aside.
    ///
    /// Where the type is [`Persisted`] too, equal states must have equal bytes (law `N1` or `S2`).
    fn same_state(&self, other: &Self) -> bool;
}

/// What a delta type does with a delta whose past has not arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Gaps {
    /// It notices: [`Applied::Waiting`] or [`Rejected`], never a silent application.
    Detected,
    /// It takes the delta alone, and is right to: what it shows then is judged by that.
    ///
    /// A delta then has to bring all operations that it was made of, also to a replica that lacks
    /// what the asker had. One that leaves out what the asker had by value, as
    /// `mine.difference(theirs)` does for a set, does not: two may have inserted the same. Such a
    /// type says `Excluded`.
    Allowed,
    /// It must not happen; the kit never delivers one.
    Excluded,
}

/// Replicas exchange what the other side lacks.
pub trait DeltaBased: StateBased {
    /// What is sent.
    type Delta: Clone + Debug + 'static;
    /// What a replica says of itself to be answered: a version, a context.
    type Seen: Clone + Debug + 'static;
    /// Whether deltas may arrive before their past.
    const GAPS: Gaps = Gaps::Detected;

    /// What this replica has.
    fn seen(&self) -> Self::Seen;

    /// What this replica has beyond `seen`.
    fn delta_since(&self, seen: &Self::Seen) -> Self::Delta;

    /// Includes `delta`.
    ///
    /// # Errors
    /// [`Rejected`] for a gap, if the type answers gaps so; else a broken law.
    fn absorb(&mut self, delta: &Self::Delta) -> Result<Applied, Rejected>;

    /// The delta as a peer reads it from the wire; a type with a codec encodes and decodes here.
    ///
    /// # Errors
    /// [`Rejected`] is a broken law (P1).
    fn transmit(delta: &Self::Delta) -> Result<Self::Delta, Rejected> {
        Ok(delta.clone())
    }

    /// Two deltas as one; `None` if the type has no groups.
    fn group(a: &Self::Delta, b: &Self::Delta) -> Option<Self::Delta> {
        let _ = (a, b);
        None
    }

    /// What of `delta` is beyond `seen`; `None` if the type cannot cut.
    fn beyond(delta: &Self::Delta, seen: &Self::Seen) -> Option<Self::Delta> {
        let _ = (delta, seen);
        None
    }

    /// Checks the size of a delta that this replica has just made (D4).
    ///
    /// # Errors
    /// Says by how much it is too large.
    fn delta_bound(&self, delta: &Self::Delta) -> Result<(), String> {
        let _ = delta;
        Ok(())
    }
}

/// In which order messages must be delivered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Delivery {
    /// In any order.
    Any,
    /// Those of one replica in the order in which it made them.
    Fifo,
    /// After all that their author had seen.
    Causal,
}

/// Replicas exchange operations.
pub trait OpBased: Subject {
    /// What is sent for an operation.
    type Message: Clone + Debug + 'static;
    /// What the type needs of the network. The kit keeps to it, unless [`DETECTS`](Self::DETECTS).
    const NEEDS: Delivery;
    /// Whether a message may be delivered twice.
    const DUPLICATES: bool = false;
    /// Whether the type notices deliveries that break its contract, and answers them with
    /// [`Applied::Waiting`] (it keeps the message) or [`Rejected`]. The kit makes them then (O4).
    const DETECTS: bool = false;

    /// The messages for what was performed since the last call, in order.
    fn outbox(&mut self) -> Vec<Self::Message>;

    /// Takes a message of another replica.
    ///
    /// # Errors
    /// [`Rejected`] for a delivery against the contract; for any other it is a broken law (O3).
    fn receive(&mut self, message: &Self::Message) -> Result<Applied, Rejected>;

    /// Performs `op` and returns its messages; by default `perform`, then `outbox`.
    fn produce(&mut self, op: &Self::Op) -> (Outcome, Vec<Self::Message>) {
        let outcome = self.perform(op);
        (outcome, self.outbox())
    }

    /// The message as a peer reads it from the wire; a type with a codec encodes and decodes here.
    ///
    /// # Errors
    /// [`Rejected`] is a broken law (P1).
    fn transmit(message: &Self::Message) -> Result<Self::Message, Rejected> {
        Ok(message.clone())
    }

    /// Two messages as one; `None` if the type has no groups.
    fn group(a: &Self::Message, b: &Self::Message) -> Option<Self::Message> {
        let _ = (a, b);
        None
    }
}

/// States become bytes and come back.
pub trait Persisted: Subject {
    /// Whether [`resume`](Self::resume) keeps what waits.
    const KEEPS_WAITING: bool = false;

    /// The state's only byte string, without the replica's own id.
    fn encode(&self) -> Vec<u8>;

    /// The state of `bytes`, as replica `replica`.
    ///
    /// # Errors
    /// [`Rejected`] for anything that [`encode`](Self::encode) does not write.
    fn decode(bytes: &[u8], replica: ReplicaId) -> Result<Self, Rejected>;

    /// What a replica stores to go on under its own id; [`encode`](Self::encode) by default.
    fn save(&self) -> Vec<u8> {
        self.encode()
    }

    /// The replica that saved `bytes` as its last deed, under its own id.
    ///
    /// # Errors
    /// [`Rejected`] is a broken law (P5).
    fn resume(bytes: &[u8], replica: ReplicaId) -> Result<Self, Rejected> {
        Self::decode(bytes, replica)
    }
}

/// The type drops what everyone has seen.
///
/// # What a cut holds
/// [`collect`](Self::collect) is given a causally stable cut. An operation is in it if every replica
/// has seen it and made it durable, and every operation that the collecting replica has *not* seen
/// has it in its past. So nothing that is concurrent to it can still arrive, neither from others nor
/// after a crash nor from replicas that join later.
///
/// The cut is a [`Version`]: of each replica, by its id, a count `n`, for its first `n` operations.
/// - A type that is not [`Versioned`] counts its operations with [`Outcome::Done`], from 1; what had
///   no effect or was refused does not count.
/// - A [`Versioned`] type is given its own names: the updates with the dots `(id, 1..=n)`,
///   collections that are updates included.
///
/// What one replica has in its past another one may have under a greater count: a cut is what is
/// known at *this* replica, and two replicas may be given different cuts.
///
/// # Collections that are updates
/// A [`Versioned`] type may make an update in `collect`, with a dot of its own; the kit sees it by
/// [`last_update`](Versioned::last_update). Others then receive it like any other update: by state,
/// by delta, as the messages in the [`outbox`](OpBased::outbox). It has no operation, so a
/// specification never sees it. A `Versioned` type must do so if it changes its state at all: the
/// state is a function of the version (N1).
pub trait Collecting: Subject {
    /// Drops what is not needed any more, now that nothing concurrent to the operations (for a
    /// [`Versioned`] type: updates) in `stable` can arrive.
    ///
    /// # Errors
    /// [`Rejected`] for a cut beyond what this replica has seen (G3).
    fn collect(&mut self, stable: &Version) -> Result<(), Rejected>;

    /// The most bytes that `encode` may give after everything was seen and collected (G4).
    fn size_max(&self, replicas: usize) -> usize {
        let _ = replicas;
        usize::MAX
    }
}

/// The meaning of the type: a function of what the replica has seen, nothing else.
pub trait Specified: Subject {
    /// Judges what a replica shows that has seen `seen`.
    fn check(seen: &Seen<'_, Self::Op>, got: &Self::View) -> Verdict;
}

/// What a specification says of a view.
#[must_use]
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// It may be shown.
    Right,
    /// It may not.
    Wrong {
        /// The law that it breaks.
        law: super::Law,
        /// What it should show, for the report.
        expected: String,
        /// Why, in terms of operations; name them by their [`OpId`](super::OpId).
        why: String,
    },
}

impl Verdict {
    /// `got` must equal `expected`.
    pub fn equal<V: PartialEq + Debug>(
        got: &V,
        expected: &V,
        why: impl FnOnce() -> String,
    ) -> Self {
        match got == expected {
            true => Verdict::Right,
            false => Verdict::wrong(format!("{expected:?}"), why()),
        }
    }

    /// Wrong by law S1.
    pub fn wrong(expected: impl Into<String>, why: impl Into<String>) -> Verdict {
        Verdict::Wrong {
            law: super::Law::S1,
            expected: expected.into(),
            why: why.into(),
        }
    }

    /// The first that is wrong.
    pub fn and(self, then: impl FnOnce() -> Verdict) -> Verdict {
        match self {
            Verdict::Right => then(),
            wrong => wrong,
        }
    }
}

/// The state is a function of a causally closed version (laws N1 to N5).
pub trait Versioned: Subject {
    /// The updates that the state includes.
    fn included(&self) -> Dots;

    /// The maximal ones among them.
    fn heads(&self) -> Dots;

    /// The name of the last update made here.
    fn last_update(&self) -> Option<Dot>;

    /// How many deltas or messages wait.
    fn waiting(&self) -> usize;

    /// What those that wait lack.
    fn missing(&self) -> Dots;

    /// Drops what waits.
    fn drop_waiting(&mut self);

    /// Drops the records of who removed what, if there are any.
    fn drop_records(&mut self);
}
