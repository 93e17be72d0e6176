//! Every [`Replica`] of this crate as a subject.
//!
//! A replicated type joins by [`Exercise`]: which operations there are and how an update does them.
//! Its replicas then exchange states, deltas and single updates, are stored, and are held to one
//! state per version. With [`Meaning`] their views are judged, too.

use std::fmt::{self, Debug};

use super::fingerprint::Fingerprint;
use super::seen::Seen;
use super::source::Source;
use super::subject::{
    Applied, Delivery, DeltaBased, OpBased, Outcome, Persisted, Rejected, Specified, StateBased,
    Subject, Verdict, Versioned,
};
use crate::clock::{Dot, Dots, ReplicaId, Version};
use crate::codec::Limits;
use crate::kernel::{EditError, MergeError, Replicated};
use crate::replica::{self, Delta, Replica, State};

/// How the kit exercises a replicated type.
///
/// The types of this crate have it: maps with any values that have it ([`RwMap`](crate::RwMap) with
/// counters), [`List`](crate::List) of `u64`. A struct forwards to its fields.
///
/// # Examples
#[cfg_attr(feature = "derive", doc = "```")]
#[cfg_attr(not(feature = "derive"), doc = "```ignore")]
/// use commute::kernel::EditError;
/// use commute::testkit::{Exercise, Source, spec::SetOp};
/// use commute::{GCounter, OrSet, Replicated};
///
/// #[derive(Replicated)]
/// struct Board { tags: OrSet<u8>, visits: GCounter }
///
/// #[derive(Clone, Debug)]
/// enum Op { Tags(SetOp<u8>), Visits(u64) }
///
/// impl Exercise for Board {
///     type Op = Op;
///     fn choose(&self, source: &mut Source<'_>) -> Option<Op> {
///         match source.below(2) {
///             0 => self.tags.choose(source).map(Op::Tags),
///             _ => self.visits.choose(source).map(Op::Visits),
///         }
///     }
///     fn perform(board: &mut BoardEdit<'_>, op: &Op) -> Result<(), EditError> {
///         match op {
///             Op::Tags(op) => OrSet::perform(&mut board.tags(), op),
///             Op::Visits(op) => GCounter::perform(&mut board.visits(), op),
///         }
///     }
/// }
/// ```
pub trait Exercise: Replicated<View: Debug + PartialEq + 'static> {
    /// What a user does.
    type Op: Clone + Debug + 'static;
    /// The most operations of one update.
    ///
    /// With 1 every update is one operation and none is made to fail, which is what a complete
    /// search has room for. Otherwise half of them are so.
    const OPERATIONS_MAX: u64 = 3;

    /// An operation that is possible now, chosen by `source` alone from what the value shows.
    ///
    /// Keep the alphabet tiny, so that operations collide.
    fn choose(&self, source: &mut Source<'_>) -> Option<Self::Op>;

    /// Does `op` within an update.
    ///
    /// # Errors
    /// Those of the edit.
    fn perform(edit: &mut Self::Edit<'_>, op: &Self::Op) -> Result<(), EditError>;

    /// Whether an operation that was chosen may be refused so; never by default.
    fn may_refuse(error: &EditError) -> bool {
        let _ = error;
        false
    }

    /// The name in reports; the type's name without its paths by default.
    fn name() -> String {
        super::name::short(std::any::type_name::<Self>())
    }
}

/// What the view of a replicated type means.
///
/// # Examples
#[cfg_attr(feature = "derive", doc = "```")]
#[cfg_attr(not(feature = "derive"), doc = "```ignore")]
/// # use commute::kernel::EditError;
/// use commute::testkit::{Exercise, Meaning, Seen, Source, Verdict, spec};
/// # use commute::{PnCounter, Replicated};
/// # #[derive(Replicated)]
/// # struct Board { votes: PnCounter }
/// # impl Exercise for Board {
/// #     type Op = i64;
/// #     fn choose(&self, source: &mut Source<'_>) -> Option<i64> { self.votes.choose(source) }
/// #     fn perform(board: &mut BoardEdit<'_>, op: &i64) -> Result<(), EditError> {
/// #         PnCounter::perform(&mut board.votes(), op)
/// #     }
/// # }
///
/// impl Meaning for Board {
///     fn judge(seen: &Seen<'_, i64>, got: &BoardView) -> Verdict {
///         spec::sum(seen, &got.votes)
///     }
/// }
/// ```
pub trait Meaning: Exercise {
    /// Judges what a replica shows that has seen `seen`; an update's operations come in order.
    fn judge(seen: &Seen<'_, Self::Op>, got: &Self::View) -> Verdict;
}

/// One update: operations that happen together or not at all.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Edits<Op> {
    /// What it does, in order.
    pub operations: Vec<Op>,
    /// Whether it fails after all of them, and so must leave no trace.
    pub fails: bool,
}

impl<Op: Debug> Debug for Edits<Op> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, op) in self.operations.iter().enumerate() {
            let comma = if at == 0 { "" } else { ", " };
            write!(f, "{comma}{op:?}")?;
        }
        match self.fails {
            true => f.write_str(", then fails"),
            false => Ok(()),
        }
    }
}

/// Why an update ended early; `None` if it was to fail.
struct Ended(Option<EditError>);

impl From<EditError> for Ended {
    fn from(error: EditError) -> Ended {
        Ended(Some(error))
    }
}

/// How many operations an update has, and whether it fails at its end.
fn draw_size(most: u64, source: &mut Source<'_>) -> (u64, bool) {
    let more = most.saturating_sub(1);
    if source.below(2.min(most)) == 0 {
        return (1, false);
    }
    let kind = source.below(2 * more);
    match kind.checked_sub(more) {
        None => (kind + 2, false),
        Some(failing) => (failing + 1, true),
    }
}

/// Panics unless `holds`; the kit reports that as law `Panic`, with the schedule.
fn demand(holds: bool, what: impl FnOnce() -> String) {
    assert!(holds, "{}", what());
}

fn update<S: Exercise>(replica: &mut Replica<S>, edits: &Edits<S::Op>) -> Result<Delta<S>, Ended> {
    let done = replica.try_update(|edit| {
        for op in &edits.operations {
            S::perform(edit, op)?;
        }
        match edits.fails {
            true => Err(Ended(None)),
            false => Ok(()),
        }
    });
    done.map(|((), delta)| delta)
}

/// Updates `replica`, and says what became of it and what to send.
fn attempt<S: Exercise>(
    replica: &mut Replica<S>,
    edits: &Edits<S::Op>,
) -> (Outcome, Option<Delta<S>>) {
    match update(replica, edits) {
        Ok(delta) if delta.is_empty() => (Outcome::Nothing, None),
        Ok(delta) => (Outcome::Done, Some(delta)),
        Err(Ended(None)) => (Outcome::Refused("it fails at its end".into()), None),
        Err(Ended(Some(error))) => {
            demand(S::may_refuse(&error), || {
                format!("{edits:?} is possible, but was refused: {error}")
            });
            (Outcome::Refused(error.to_string()), None)
        }
    }
}

impl<S: Exercise> Subject for Replica<S> {
    type Op = Edits<S::Op>;
    type View = S::View;

    fn new(replica: ReplicaId) -> Replica<S> {
        Replica::new(replica)
    }

    fn duplicate(&self) -> Replica<S> {
        Replica::from_state(self.state().clone(), self.id())
    }

    fn fork_as(&self, replica: ReplicaId) -> Replica<S> {
        Replica::fork_as(self, replica)
    }

    fn choose(&self, source: &mut Source<'_>) -> Option<Edits<S::Op>> {
        let mut operations = vec![S::choose(self, source)?];
        // Last, so that what a search leaves out are zeros at the end of the number.
        let (count, fails) = match source.is_exhaustive() {
            true => (1, false),
            false => draw_size(S::OPERATIONS_MAX, source),
        };
        // The later ones are chosen from what the earlier ones make of the value.
        let mut ahead = (count > 1).then(|| self.duplicate());
        while let (Some(ahead), Some(last)) = (&mut ahead, operations.last())
            && (operations.len() as u64) < count
        {
            let done = ahead.edit(|edit| S::perform(edit, last));
            match done.ok().and_then(|()| S::choose(ahead, source)) {
                Some(next) => operations.push(next),
                None => break,
            }
        }
        Some(Edits { operations, fails })
    }

    fn perform(&mut self, edits: &Edits<S::Op>) -> Outcome {
        attempt(self, edits).0
    }

    fn view(&self) -> S::View {
        self.state().view()
    }

    fn name() -> String {
        S::name()
    }

    fn fingerprint(&self, out: &mut Fingerprint) {
        out.bytes(&Replica::save(self));
    }

    /// No delta that had waited was refused when its turn came.
    fn invariant(&self) -> Result<(), String> {
        match self.state.rejected.first() {
            Some(error) => Err(format!("a delta that had waited was refused: {error}")),
            None => Ok(()),
        }
    }
}

impl<S: Exercise> StateBased for Replica<S> {
    fn merge(&mut self, other: &Replica<S>) -> Result<(), Rejected> {
        let known = self.version().includes(other.version());
        let applied = Replica::merge(self, other.state()).map_err(Rejected::new)?;
        demand((applied == replica::Applied::Duplicate) == known, || {
            format!("merge says {applied:?}, but known before: {known}")
        });
        Ok(())
    }

    fn same_state(&self, other: &Replica<S>) -> bool {
        self.state() == other.state()
    }
}

/// Takes `delta`, and holds what is said of it beforehand to what becomes of it.
fn take<S: Exercise>(replica: &mut Replica<S>, delta: &Delta<S>) -> Result<Applied, Rejected> {
    let checked = replica.check(delta);
    let taken = replica.absorb(delta);
    // The check is that of a state, which has no id of its own.
    let own = replica.id();
    let reused = taken == Err(MergeError::IdentityReused { replica: own });
    demand(reused || checked.is_ok() == taken.is_ok(), || {
        format!("check says {checked:?}, absorb {taken:?}")
    });
    Ok(match taken.map_err(Rejected::new)? {
        replica::Applied::New => Applied::New,
        replica::Applied::Duplicate => Applied::Duplicate,
        replica::Applied::Waiting(lacks) => {
            let missing = replica.missing_for(delta);
            demand(lacks == missing && !lacks.is_empty(), || {
                format!("it waits for {lacks:?}, but {missing:?} is missing")
            });
            Applied::Waiting
        }
    })
}

/// `delta` through its bytes.
fn read_back<S: Exercise>(delta: &Delta<S>) -> Result<Delta<S>, Rejected> {
    let bytes = delta.to_bytes();
    let read = Delta::from_bytes(&bytes, &Limits::default()).map_err(Rejected::new)?;
    if read != *delta {
        return Err(Rejected(format!("{delta:?} became {read:?}")));
    }
    match read.to_bytes() == bytes {
        true => Ok(read),
        false => Err(Rejected(format!("{delta:?} has two byte strings"))),
    }
}

/// Two deltas as one, whichever comes first, and no other after either comes again.
///
/// `None` if they are of two replicas under one id, which only some schedules have.
fn joined<S: Exercise>(a: &Delta<S>, b: &Delta<S>) -> Option<Delta<S>> {
    let merged = |a: &Delta<S>, b: &Delta<S>| {
        let mut both = a.clone();
        match both.merge(b) {
            Ok(()) => Some(both),
            Err(MergeError::IdentityReused { .. }) => None,
            Err(error) => panic!("{error} in a group of {a:?} and {b:?}"),
        }
    };
    let both = merged(a, b)?;
    let same = |other: Option<Delta<S>>, what: &str| {
        demand(other.as_ref() == Some(&both), || {
            format!("{what}: {both:?} and {other:?}")
        });
    };
    same(merged(b, a), "grouping is not commutative");
    same(merged(&both, b), "grouping is not idempotent");
    let claims = a.claims().union(b.claims());
    let needs = a.needs().union(&b.needs()).difference(&claims);
    demand(*both.claims() == claims && both.needs() == needs, || {
        format!("{both:?} claims and needs other updates than {a:?} and {b:?}")
    });
    Some(both)
}

impl<S: Exercise> DeltaBased for Replica<S> {
    type Delta = Delta<S>;
    type Seen = Version;

    fn seen(&self) -> Version {
        self.version().clone()
    }

    fn delta_since(&self, seen: &Version) -> Delta<S> {
        State::delta_since(self, seen)
    }

    fn absorb(&mut self, delta: &Delta<S>) -> Result<Applied, Rejected> {
        take(self, delta)
    }

    fn transmit(delta: &Delta<S>) -> Result<Delta<S>, Rejected> {
        read_back(delta)
    }

    fn group(a: &Delta<S>, b: &Delta<S>) -> Option<Delta<S>> {
        joined(a, b)
    }

    fn beyond(delta: &Delta<S>, seen: &Version) -> Option<Delta<S>> {
        Some(delta.beyond(seen))
    }
}

impl<S: Exercise> OpBased for Replica<S> {
    type Message = Delta<S>;
    const NEEDS: Delivery = Delivery::Causal;
    const DUPLICATES: bool = true;
    const DETECTS: bool = true;

    /// Nothing: an update returns its delta, see [`produce`](OpBased::produce).
    fn outbox(&mut self) -> Vec<Delta<S>> {
        Vec::new()
    }

    fn receive(&mut self, message: &Delta<S>) -> Result<Applied, Rejected> {
        take(self, message)
    }

    fn produce(&mut self, edits: &Edits<S::Op>) -> (Outcome, Vec<Delta<S>>) {
        let (outcome, delta) = attempt(self, edits);
        (outcome, delta.into_iter().collect())
    }

    fn transmit(message: &Delta<S>) -> Result<Delta<S>, Rejected> {
        read_back(message)
    }

    fn group(a: &Delta<S>, b: &Delta<S>) -> Option<Delta<S>> {
        joined(a, b)
    }
}

impl<S: Exercise> Persisted for Replica<S> {
    const KEEPS_WAITING: bool = true;

    fn encode(&self) -> Vec<u8> {
        self.to_bytes()
    }

    fn decode(bytes: &[u8], replica: ReplicaId) -> Result<Replica<S>, Rejected> {
        let state = State::from_bytes(bytes, &Limits::default()).map_err(Rejected::new)?;
        Ok(Replica::from_state(state, replica))
    }

    fn save(&self) -> Vec<u8> {
        Replica::save(self)
    }

    fn resume(bytes: &[u8], replica: ReplicaId) -> Result<Replica<S>, Rejected> {
        let resumed = Replica::<S>::resume(bytes, &Limits::default()).map_err(Rejected::new)?;
        match resumed.id() == replica {
            true => Ok(resumed),
            false => Err(Rejected(format!("it is {:?} now", resumed.id()))),
        }
    }
}

impl<S: Exercise> Versioned for Replica<S> {
    fn included(&self) -> Dots {
        Dots::from(self.version())
    }

    fn heads(&self) -> Dots {
        State::heads(self).clone()
    }

    fn last_update(&self) -> Option<Dot> {
        let counter = self.version().get(self.id());
        (counter > 0).then(|| Dot::new(self.id(), counter))
    }

    fn waiting(&self) -> usize {
        State::waiting(self)
    }

    fn missing(&self) -> Dots {
        State::missing(self)
    }

    fn drop_waiting(&mut self) {
        Replica::drop_waiting(self);
    }

    fn drop_records(&mut self) {
        self.drop_ledger();
    }
}

impl<S: Meaning> Specified for Replica<S> {
    fn check(seen: &Seen<'_, Edits<S::Op>>, got: &S::View) -> Verdict {
        let operations = seen.project(|edits| edits.operations.clone());
        S::judge(&operations, got)
    }
}

#[cfg(test)]
mod tests {
    use super::super::source::Odometer;
    use super::*;
    use crate::{OrSet, PnCounter, Text};

    /// Two replicas that update by turns and exchange all that is made.
    fn walk<S: Exercise>(seed: u64) -> [Replica<S>; 2] {
        let mut source = Source::random(seed);
        let mut replicas = [1, 2].map(|id| Replica::<S>::new(ReplicaId::from(id)));
        for turn in 0..40 {
            let at = turn % 2;
            let edits = Subject::choose(&replicas[at], &mut source).unwrap();
            let before = replicas[at].duplicate();
            let (outcome, deltas) = replicas[at].produce(&edits);
            assert_eq!(deltas.len(), usize::from(outcome == Outcome::Done));
            assert_eq!(
                before.same_state(&replicas[at]),
                outcome != Outcome::Done,
                "{edits:?}"
            );
            for delta in deltas {
                let delta = <Replica<S> as OpBased>::transmit(&delta).unwrap();
                assert_eq!(replicas[1 - at].receive(&delta), Ok(Applied::New));
            }
            assert_eq!(replicas[at].invariant(), Ok(()));
        }
        replicas
    }

    fn walks<S: Exercise>() {
        for seed in 0..20 {
            let [a, b] = walk::<S>(seed);
            assert!(a.same_state(&b));
            let again = <Replica<S> as Persisted>::resume(&Persisted::save(&a), a.id()).unwrap();
            let prints = [&a, &again].map(|replica| {
                let mut out = Fingerprint::new();
                replica.fingerprint(&mut out);
                out.value()
            });
            assert_eq!(prints[0], prints[1]);
        }
    }

    #[test]
    fn replicas_of_every_type_update_and_exchange() {
        walks::<PnCounter>();
        walks::<OrSet<u8>>();
        walks::<OrSet<String>>();
        walks::<Text>();
    }

    #[test]
    fn an_update_is_chosen_by_its_number() {
        let set = Replica::<OrSet<u8>>::new(ReplicaId::from(1));
        let shown = |number| {
            let edits = Subject::choose(&set, &mut Source::number(number)).unwrap();
            format!("{edits:?}")
        };
        assert_eq!(shown(0), "Insert(0)");
        let all: Vec<String> = (0..4_096).map(shown).collect();
        for edits in [
            "Clear",
            "Insert(0), then fails",
            "Insert(0), Insert(0), Insert(1)",
        ] {
            assert!(all.iter().any(|shown| shown == edits), "{edits}");
        }
    }

    /// What a search counts through is what a step performs by its number.
    fn counted<S: Exercise>(seed: u64) -> usize {
        let [replica, _] = walk::<S>(seed);
        let mut odometer = Odometer::new();
        let mut all = std::collections::BTreeSet::new();
        loop {
            let chosen = Subject::choose(&replica, &mut Source::odometer(&mut odometer));
            let by_number = Source::number(odometer.number().unwrap());
            let performed = Subject::choose(&replica, &mut { by_number });
            assert_eq!(format!("{chosen:?}"), format!("{performed:?}"));
            all.insert(format!("{chosen:?}"));
            if !odometer.advance() {
                return all.len();
            }
        }
    }

    #[test]
    fn a_search_performs_all_that_it_counts_through() {
        for seed in 0..4 {
            assert!(counted::<OrSet<u8>>(seed) >= 3);
            assert!(counted::<PnCounter>(seed) >= 4);
            assert!(counted::<crate::GCounter>(seed) >= 2);
            assert!(counted::<Text>(seed) >= 2);
        }
    }
}
