//! The step language.
//!
//! Every number of a step is taken modulo what exists when it is performed, and a step that cannot
//! be performed does nothing. So every sub-sequence of a schedule is a schedule.

use std::fmt;
use std::str::FromStr;

macro_rules! verbs {
    ($($(#[$doc:meta])* $verb:ident $name:literal $arity:literal $weight:literal,)*) => {
        /// What a step does. `at` is the replica that does it, `a` and `b` are its arguments.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[non_exhaustive]
        pub enum Verb {
            $($(#[$doc])* $verb,)*
        }

        impl Verb {
            /// Every verb.
            pub const ALL: &'static [Verb] = &[$(Verb::$verb),*];

            /// Its name in schedules.
            pub const fn name(self) -> &'static str {
                match self { $(Verb::$verb => $name,)* }
            }

            /// How many arguments it has.
            pub const fn arity(self) -> usize {
                match self { $(Verb::$verb => $arity,)* }
            }

            /// How often it is drawn, among those that the type can do.
            pub(crate) const fn weight(self) -> u64 {
                match self { $(Verb::$verb => $weight,)* }
            }
        }
    };
}

verbs! {
    /// Does an operation; `a` holds all its choices.
    Do "do" 1 20,
    /// Merges its whole state into replica `a` at once; written `0>1`.
    Merge "merge" 1 8,
    /// Sends replica `a` at once what that one lacks, as a delta; written `0~1`.
    Sync "sync" 1 4,
    /// Takes message `a` of those of all operations that it lacks, at once.
    Pull "pull" 1 12,
    /// Puts its whole state in flight.
    State "state" 0 2,
    /// Puts its state's bytes in flight.
    Bytes "bytes" 0 2,
    /// Puts in flight what replica `a` lacks now, as a delta.
    Answer "answer" 1 4,
    /// Puts in flight the message (or delta) of operation `a` of all that it has seen.
    Update "update" 1 3,
    /// Puts two or three of the last messages in flight as one; `a` chooses them.
    Group "group" 1 4,
    /// Like `group`, less what it has itself.
    Cut "cut" 1 1,
    /// Takes letter `b` of sender `a`.
    Take "take" 2 12,
    /// Takes letter `b` of sender `a`, which stays in flight.
    Again "again" 2 2,
    /// Letter `a` of this sender is lost.
    Lose "lose" 1 1,
    /// Splits the network: bit k of `a` is the side of replica k.
    Split "split" 1 1,
    /// Ends the split.
    Heal "heal" 0 1,
    /// Stores its state.
    Save "save" 0 2,
    /// Stops without warning.
    Crash "crash" 0 1,
    /// Goes on from what it stored last, under a new id.
    Restart "restart" 0 3,
    /// Stops in an orderly way and goes on at once under its own id.
    Resume "resume" 0 1,
    /// A new replica joins, from the state of this one if states can be sent.
    Join "join" 0 1,
    /// Drops what every replica has seen.
    Collect "collect" 0 6,
    /// Asks to drop more than it has seen; `a` says how much more.
    Overcollect "overcollect" 1 1,
    /// Its clock moves on by `a` milliseconds.
    Tick "tick" 1 2,
    /// Drops its records of who removed what.
    Forget "forget" 0 2,
    /// Drops what waits.
    Discard "discard" 0 1,
    /// Replica `a` becomes a copy of this one, id included.
    Clone "clone" 1 0,
}

impl Verb {
    /// Whether its first argument is another replica.
    pub(crate) const fn names_replica(self) -> bool {
        matches!(
            self,
            Verb::Merge | Verb::Sync | Verb::Answer | Verb::Take | Verb::Again | Verb::Clone
        )
    }

    /// Whether it moves single updates, never all that is lacking.
    pub(crate) const fn moves_updates(self) -> bool {
        matches!(
            self,
            Verb::Pull | Verb::Update | Verb::Group | Verb::Cut | Verb::Take | Verb::Again
        )
    }

    /// The sign between two replicas, for verbs written so.
    const fn sign(self) -> Option<char> {
        match self {
            Verb::Merge => Some('>'),
            Verb::Sync => Some('~'),
            _ => None,
        }
    }
}

/// One step; `Debug` gives its text in schedules.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Step {
    /// What it does.
    pub verb: Verb,
    /// The replica that does it.
    pub at: u32,
    /// Its arguments; those beyond the verb's arity are 0.
    pub args: [u32; 2],
}

impl Step {
    /// A step with as many arguments as the verb has.
    pub const fn new(verb: Verb, at: u32, args: [u32; 2]) -> Step {
        Step { verb, at, args }
    }

    /// Its numbers, each of which may be lowered.
    pub(crate) fn numbers(&mut self) -> impl Iterator<Item = &mut u32> {
        let arity = self.verb.arity();
        std::iter::once(&mut self.at).chain(self.args.iter_mut().take(arity))
    }
}

impl fmt::Debug for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(sign) = self.verb.sign() {
            return write!(f, "{}{sign}{}", self.at, self.args[0]);
        }
        write!(f, "{}:{}", self.at, self.verb.name())?;
        let args = self.args.iter().take(self.verb.arity());
        args.into_iter().try_for_each(|arg| write!(f, " {arg}"))
    }
}

/// A text that is no schedule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NotASchedule {
    /// The part that could not be read.
    pub part: String,
}

impl fmt::Display for NotASchedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not a part of a schedule: {:?}", self.part)
    }
}

impl std::error::Error for NotASchedule {}

impl FromStr for Step {
    type Err = NotASchedule;

    fn from_str(text: &str) -> Result<Step, NotASchedule> {
        let wrong = || NotASchedule { part: text.into() };
        parse(text.trim()).ok_or_else(wrong)
    }
}

fn parse(text: &str) -> Option<Step> {
    for verb in Verb::ALL {
        if let Some((at, to)) = verb.sign().and_then(|sign| text.split_once(sign)) {
            let (at, to) = (at.trim().parse().ok()?, to.trim().parse().ok()?);
            return Some(Step::new(*verb, at, [to, 0]));
        }
    }
    let (at, rest) = text.split_once(':')?;
    let mut words = rest.split_whitespace();
    let name = words.next()?;
    let verb = *Verb::ALL.iter().find(|verb| verb.name() == name)?;
    let mut step = Step::new(verb, at.trim().parse().ok()?, [0; 2]);
    for arg in step.args.iter_mut().take(verb.arity()) {
        *arg = words.next()?.parse().ok()?;
    }
    words.next().is_none().then_some(step)
}
