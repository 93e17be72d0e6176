//! How often the steps of a kind could have had an effect: whether a search was long enough to say
//! that they never had one.

use super::schedule::Schedule;
use super::step::{Step, Verb};

const VERBS: usize = Verb::ALL.len();

/// So many steps that could have had an effect and had none are no accident.
const ENOUGH: u64 = 30;
/// A collection needs that all replicas have seen something: most steps have to be in its favour.
const ENOUGH_COLLECTIONS: u64 = 400;

/// Counts of steps that could have had an effect, by verb.
pub(crate) struct Opportunities([u64; VERBS]);

/// What happened in a schedule, as far as it can be told without the type.
#[derive(Default)]
struct Past {
    /// The replicas that did an operation, that sent something, and that are down.
    did: u64,
    sent: u64,
    down: u64,
    split: bool,
}

impl Opportunities {
    pub fn new() -> Opportunities {
        Opportunities([0; VERBS])
    }

    /// Adds those of one schedule.
    pub fn count(&mut self, schedule: &Schedule) {
        let mut past = Past::default();
        for step in &schedule.steps {
            if past.may(*step, schedule.replicas) {
                self.0[step.verb as usize] += 1;
            }
            past.goes_on(*step, schedule.replicas);
        }
    }

    /// Whether a right type must have made an effect by now.
    pub fn suffice(&self, verb: Verb) -> bool {
        let enough = match verb {
            Verb::Collect => ENOUGH_COLLECTIONS,
            _ => ENOUGH,
        };
        self.0[verb as usize] >= enough
    }
}

fn bit(replica: u32, replicas: u32) -> u64 {
    1 << ((replica % replicas.max(1)) % 64)
}

impl Past {
    /// Whether `step` may have an effect.
    fn may(&self, step: Step, replicas: u32) -> bool {
        let at = bit(step.at, replicas);
        if step.verb.names_replica() && replicas < 2 {
            return false;
        }
        if self.down & at != 0 {
            return step.verb == Verb::Restart;
        }
        match step.verb {
            Verb::Restart => false,
            Verb::Heal => self.split,
            Verb::Take | Verb::Again => !self.split && self.sent & bit(step.args[0], replicas) != 0,
            Verb::Lose => self.sent & at != 0,
            Verb::Pull => !self.split && self.did & !at != 0,
            Verb::Update | Verb::Save => self.did & at != 0,
            Verb::Merge | Verb::Sync | Verb::Answer => !self.split,
            Verb::Collect => self.did.count_ones() == replicas,
            _ => true,
        }
    }

    fn goes_on(&mut self, step: Step, replicas: u32) {
        let at = bit(step.at, replicas);
        if self.down & at != 0 {
            if step.verb == Verb::Restart {
                self.down &= !at;
                self.did &= !at;
            }
            return;
        }
        match step.verb {
            Verb::Do => self.did |= at,
            Verb::State | Verb::Bytes => self.sent |= at,
            // What was sent may be used up.
            Verb::Take => self.sent &= !bit(step.args[0], replicas),
            Verb::Lose => self.sent &= !at,
            Verb::Crash => self.down |= at,
            Verb::Split => self.split = !step.args[0].is_multiple_of(1 << replicas.min(31)),
            Verb::Heal => self.split = false,
            _ => {}
        }
    }
}

#[test]
fn only_what_could_have_had_an_effect_counts() {
    let mut all = Opportunities::new();
    let text = "k1 n2 | 0:heal | 0:split 1 | 0:heal | 0:restart | 0:crash | 0:save | 0:restart";
    all.count(&text.parse().unwrap_or_default());
    let count = |verb: Verb| all.0[verb as usize];
    assert_eq!((count(Verb::Heal), count(Verb::Restart)), (1, 1));
    assert_eq!((count(Verb::Save), count(Verb::Crash)), (0, 1));
    assert!(!all.suffice(Verb::Heal));
}
