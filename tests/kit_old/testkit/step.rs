//! The step language.
//!
//! Every number of a step is taken modulo what exists when it is performed, and a step that cannot
//! be performed does nothing. So every sub-sequence of a schedule is a schedule.

use std::fmt;
use std::str::FromStr;

/// What a step does; `at` is the replica that does it, `a` and `b` are its arguments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verb {
    /// Makes an update; `a` holds all its choices.
    Do,
    /// Makes an update that fails at its end; `a` holds its choices.
    Fail,
    /// Takes delta `a` of those ever made that bring it something, at once.
    Pull,
    /// Sends its whole state.
    State,
    StateBytes,
    /// Sends the answer to the version of replica `a`.
    Answer,
    AnswerBytes,
    /// Sends delta `a` of all that were ever made.
    Update,
    UpdateBytes,
    /// Sends two or three of the last updates as one; `a` chooses them.
    Group,
    /// Sends what replica `at` lacks of a group; `a` chooses it.
    Cut,
    /// Takes message `b` of sender `a`.
    Take,
    /// Takes message `b` of sender `a`, which stays in flight.
    Again,
    /// Message `a` of this sender is lost.
    Lose,
    /// Splits the network: bit k of `a` is the side of replica k.
    Split,
    Heal,
    /// Stores the state bytes.
    Save,
    /// Crashes and goes on from the stored bytes under a new id.
    Crash,
    /// Stops and resumes a save made at that moment.
    Resume,
    /// Answers replica `a` at once.
    Sync,
    /// Answers replica `a` at once, which answers replica `b`.
    Relay,
    /// Merges its whole state into replica `a`.
    Merge,
    /// Forgets who removed what.
    Forget,
    /// Drops what waits.
    Discard,
}

/// Each verb with its name, the number of its arguments and its weight.
pub const VERBS: [(Verb, &str, usize, u64); 24] = [
    (Verb::Do, "do", 1, 20),
    (Verb::Fail, "fail", 1, 1),
    (Verb::Pull, "pull", 1, 10),
    (Verb::State, "state", 0, 1),
    (Verb::StateBytes, "state-bytes", 0, 1),
    (Verb::Answer, "answer", 1, 4),
    (Verb::AnswerBytes, "answer-bytes", 1, 1),
    (Verb::Update, "update", 1, 1),
    (Verb::UpdateBytes, "update-bytes", 1, 1),
    (Verb::Group, "group", 1, 6),
    (Verb::Cut, "cut", 1, 1),
    (Verb::Take, "take", 2, 12),
    (Verb::Again, "again", 2, 1),
    (Verb::Lose, "lose", 1, 1),
    (Verb::Split, "split", 1, 1),
    (Verb::Heal, "heal", 0, 1),
    (Verb::Save, "save", 0, 1),
    (Verb::Crash, "crash", 0, 1),
    (Verb::Resume, "resume", 0, 1),
    (Verb::Sync, "sync", 1, 1),
    (Verb::Relay, "relay", 2, 1),
    (Verb::Merge, "merge", 1, 1),
    (Verb::Forget, "forget", 0, 2),
    (Verb::Discard, "discard", 0, 1),
];

impl Verb {
    fn entry(self) -> (Verb, &'static str, usize, u64) {
        VERBS[self as usize]
    }

    pub fn name(self) -> &'static str {
        self.entry().1
    }

    /// Whether it sends or takes updates, never all that is lacking.
    pub fn moves_deltas(self) -> bool {
        matches!(
            self,
            Verb::Pull | Verb::Update | Verb::Group | Verb::Cut | Verb::Take | Verb::Again
        )
    }

    pub fn arity(self) -> usize {
        self.entry().2
    }
}

/// One step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    pub verb: Verb,
    pub at: u32,
    /// Those beyond the verb's arity are 0.
    pub args: [u32; 2],
}

impl Step {
    /// Its numbers, each of which may be lowered.
    pub fn numbers(&mut self) -> impl Iterator<Item = &mut u32> {
        let arity = self.verb.arity();
        std::iter::once(&mut self.at).chain(self.args.iter_mut().take(arity))
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.at, self.verb.name())?;
        let args = self.args.iter().take(self.verb.arity());
        args.into_iter().try_for_each(|arg| write!(f, " {arg}"))
    }
}

impl FromStr for Step {
    type Err = String;

    fn from_str(text: &str) -> Result<Step, String> {
        let wrong = || format!("not a step: {text:?}");
        let (at, rest) = text.trim().split_once(':').ok_or_else(wrong)?;
        let mut words = rest.split_whitespace();
        let name = words.next().ok_or_else(wrong)?;
        let verb = VERBS.iter().find(|entry| entry.1 == name);
        let mut step = Step {
            verb: verb.ok_or_else(wrong)?.0,
            at: at.parse().map_err(|_| wrong())?,
            args: [0; 2],
        };
        for arg in step.args.iter_mut().take(step.verb.arity()) {
            let word = words.next().ok_or_else(wrong)?;
            *arg = word.parse().map_err(|_| wrong())?;
        }
        match words.next() {
            Some(_) => Err(wrong()),
            None => Ok(step),
        }
    }
}

#[test]
fn the_table_of_verbs_is_in_their_order() {
    for (at, (verb, name, _, _)) in VERBS.iter().enumerate() {
        assert_eq!((*verb as usize, verb.name()), (at, *name));
    }
}
