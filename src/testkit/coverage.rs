//! How often what happened, so that no fault is tested that never occurs (H2).

use std::fmt;

use super::Verb;

macro_rules! marks {
    ($($(#[$doc:meta])* $mark:ident $text:literal,)*) => {
        /// Something that a run should contain.
        #[non_exhaustive]
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum Mark {
            $(#[doc = $text] $(#[$doc])* $mark,)*
        }

        impl Mark {
            /// Every mark.
            pub const ALL: &'static [Mark] = &[$(Mark::$mark),*];

            /// In words.
            pub const fn text(self) -> &'static str {
                match self { $(Mark::$mark => $text,)* }
            }
        }
    };
}

marks! {
    Done "operation done",
    Nothing "operation without effect",
    Refused "operation refused",
    Concurrent "concurrent operations met",
    Merged "state merged that brought something",
    Included "delta or message included",
    Duplicate "duplicate taken",
    Waited "delta or message waited",
    Woken "waiting ones woken",
    Mutual "waiting ones that needed each other",
    Refusal "delivery against the contract refused",
    ThirdParty "answer taken by a third party",
    Lost "letter lost",
    Split "partition stopped a letter",
    Saved "state stored",
    Crashed "crash lost something",
    Restarted "restarted under a new id",
    Resumed "resumed under its own id",
    Joined "replica joined late",
    Collected "collection changed something",
    AfterCollection "operation after a collection",
    Overcollected "collection beyond what was seen",
    Forgot "removal records dropped",
    Discarded "waiting ones dropped",
    Ticked "clock moved",
    Cloned "id used twice",
    Noticed "id used twice was noticed",
}

const MARKS: usize = Mark::ALL.len();
const VERBS: usize = Verb::ALL.len();

/// Counts of what happened: by mark, and by verb those steps that had an effect.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Coverage {
    marks: [u64; MARKS],
    verbs: [u64; VERBS],
}

impl Coverage {
    pub(crate) const fn new() -> Coverage {
        Coverage {
            marks: [0; MARKS],
            verbs: [0; VERBS],
        }
    }

    pub(crate) const fn mark(&mut self, mark: Mark) {
        self.marks[mark as usize] += 1;
    }

    pub(crate) const fn effect(&mut self, verb: Verb) {
        self.verbs[verb as usize] += 1;
    }

    /// How often `mark` happened.
    pub const fn count(&self, mark: Mark) -> u64 {
        self.marks[mark as usize]
    }

    /// How many steps of this kind had an effect.
    pub const fn effective(&self, verb: Verb) -> u64 {
        self.verbs[verb as usize]
    }

    pub(crate) fn add(&mut self, other: &Coverage) {
        for (mine, theirs) in self.marks.iter_mut().zip(other.marks) {
            *mine += theirs;
        }
        for (mine, theirs) in self.verbs.iter_mut().zip(other.verbs) {
            *mine += theirs;
        }
    }
}

impl Default for Coverage {
    fn default() -> Coverage {
        Coverage::new()
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for mark in Mark::ALL.iter().filter(|mark| self.count(**mark) > 0) {
            writeln!(f, "{:>12}  {}", self.count(*mark), mark.text())?;
        }
        Ok(())
    }
}
