//! Which kinds of steps a run contains.

use super::step::Verb;
use super::table::Table;

/// The kinds of steps that a run may contain, as far as the type is capable of them.
///
/// # Examples
/// ```
/// use commute::testkit::{Faults, Verb};
///
/// let calm = Faults::none();                       // operations, and exchanges at once
/// assert!(calm.has(Verb::Merge) && !calm.has(Verb::Crash));
/// assert!(calm.with(Verb::Crash).has(Verb::Crash));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Faults(u64);

impl Faults {
    /// Every kind of step; `clone` only in schedules of its own.
    pub fn all() -> Faults {
        Faults(u64::MAX)
    }

    /// No faults: operations, exchanges at once, collections.
    pub fn none() -> Faults {
        use Verb::{Collect, Do, Merge, Pull, Sync};
        Faults::only(&[Do, Merge, Sync, Pull, Collect])
    }

    /// Exactly these.
    pub fn only(verbs: &[Verb]) -> Faults {
        verbs.iter().fold(Faults(0), |all, verb| all.with(*verb))
    }

    /// With steps of this kind.
    #[must_use]
    pub const fn with(self, verb: Verb) -> Faults {
        Faults(self.0 | 1 << verb as u64)
    }

    /// Without steps of this kind.
    #[must_use]
    pub const fn without(self, verb: Verb) -> Faults {
        Faults(self.0 & !(1 << verb as u64))
    }

    /// Whether steps of this kind are among them.
    pub const fn has(self, verb: Verb) -> bool {
        self.0 >> verb as u64 & 1 == 1
    }

    /// Those of them that the type is capable of.
    pub(crate) fn within(self, can: &Table) -> Faults {
        let possible = Verb::ALL
            .iter()
            .filter(|verb| self.has(**verb) && capable(can, **verb));
        possible.fold(Faults(0), |all, verb| all.with(*verb))
    }

    /// Each of them with its weight.
    pub(crate) fn weights(self) -> Vec<(Verb, u64)> {
        let with_weight = |verb: &Verb| (*verb, verb.weight());
        let drawn = |(verb, weight): &(Verb, u64)| self.has(*verb) && *weight > 0;
        Verb::ALL.iter().map(with_weight).filter(drawn).collect()
    }
}

fn capable(can: &Table, verb: Verb) -> bool {
    let (state, delta, ops) = (can.state.is_some(), can.delta.is_some(), can.ops.is_some());
    let carried = delta || ops;
    let mailed = carried || state;
    match verb {
        Verb::Do | Verb::Join | Verb::Tick => true,
        Verb::Merge | Verb::State => state,
        Verb::Sync | Verb::Answer | Verb::Cut => delta,
        Verb::Pull | Verb::Update | Verb::Group => carried,
        Verb::Bytes => state && can.bytes.is_some(),
        Verb::Take | Verb::Again | Verb::Lose | Verb::Split | Verb::Heal => mailed,
        Verb::Save | Verb::Crash | Verb::Restart | Verb::Resume => can.bytes.is_some(),
        Verb::Collect | Verb::Overcollect => can.collect.is_some(),
        Verb::Forget | Verb::Discard | Verb::Clone => can.version.is_some(),
    }
}
