//! The choices that checks make.

use crate::env::SplitMix64;

/// What is chosen; each draws from numbers of its own.
#[derive(Clone, Copy)]
pub(super) enum Choice {
    /// Whether the costly laws are checked.
    Costly,
    /// Which other state a law takes.
    Partner,
    /// Whether a state is kept for later checks.
    Sample,
    /// How bytes are changed.
    Bytes,
    /// In which order messages come.
    Messages,
    /// Whether messages go through bytes.
    Transmit,
    /// Whether a delta of an operation is made beside its messages.
    Carry,
    /// By what everything is exchanged at the end.
    Route,
}

/// Choices that hang on what has happened and on nothing else: not on the steps that had no effect,
/// nor on which other checks are made, so that a replay with all checks makes these, too.
#[derive(Clone, Debug)]
pub(super) struct Luck {
    seed: u64,
    turn: u64,
}

impl Luck {
    pub fn new(seed: u64) -> Luck {
        Luck { seed, turn: 0 }
    }

    /// Other choices from here on.
    pub fn turn(&mut self) {
        self.turn += 1;
    }

    /// The numbers of one choice, the `nth` of its kind in this turn.
    pub fn of(&self, what: Choice, nth: u64) -> SplitMix64 {
        let number = self.turn << 16 | nth << 8 | what as u64;
        SplitMix64::new(self.seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }
}
