//! A small model of the causal kernel, and the holes that other rules have.
//!
//! Rule: a version is a causally closed set of updates; what comes early waits, whole, outside the
//! state; absence below the sender's version is the record of a removal.
//! Delivery: any order, any number of times. Space: everything is kept, this is a model.

mod collection;
mod counterexamples;
mod edit;
mod join;
mod meaning;
mod sync;

use std::collections::{BTreeMap, BTreeSet};

use commute::testkit::{Capabilities, Verb};
use commute::{Dot, Dots, EntryId, ReplicaId};

use crate::entry::Entry as ZooEntry;
use crate::faults::faults;

faults! {
    RightSet "kernel-set" Control (2, 4) "add-wins sets by the right rules";
    RightRegister "kernel-register" Control (2, 4) "registers by the right rules";
    RightCount "kernel-count" Control (2, 5) "counters under a key by the right rules";
    RightText "kernel-text" Control (2, 4) "text by the right rules";
    RightPairs "kernel-pairs" Control (2, 4) "updates of several entries by the right rules";
    RightMixed "kernel-mixed" Control (2, 2) "all types in one state by the right rules";
    RightCollectText "kernel-collect-text" Control (2, 5) "text with collection by the right rules";
    RightCollectCount "kernel-collect-count" Control (2, 6) "counters with folds by the right rules";
    RightCollectFlags "kernel-collect-flags" Control (2, 5) "remove-wins sets with collection";
    LogText "kernel-log-text" Control (2, 5) "text whose collections are entries of the log";
    LogCount "kernel-log-count" Control (2, 5) "counters whose folds are entries of the log";
    LogFlags "kernel-log-flags" Control (2, 5) "remove-wins sets with collections in the log";
    LogUnnamed "Z-COL-10" Mutant (2, 4) "a collection changes the state and is no update";
    LogUnsent "Z-COL-11" Mutant (2, 4) "the delta of a collection leaves out what it drops";
    LogRefolds "Z-COL-12" Mutant (2, 5) "a collection of all that is seen, stable or not, in the log";
    // A ins, A del, the delete -> B: B claims the insert and has not got it.
    TargetsClaimed "H1" Mutant (2, 4) "a delete of text claims the element it deletes";
    // A add, add, add; the first and the third -> B: the element of the first stays for ever.
    KillsClaimed "H2" Mutant (2, 5) "an update claims the entries it kills";
    // A write, write, write; the first and the third -> B.
    WritesClaimed "H2b" Mutant (2, 5) "a write claims the values it replaces";
    // A add, add; the second -> B, then the first -> B: both live.
    NeedsIgnored "H2c" Mutant (2, 4) "a kill of what has not arrived is forgotten";
    // A makes 1, 2, 3; B gets 2, then the group of 1 and 3.
    OneByOne "H3" Mutant (2, 4) "what waits is tried one at a time";
    // A adds two elements in one update and removes one of them.
    KillTakesDot "H4a" Mutant (2, 4) "a kill takes all entries of the update";
    WireNamesDots "H4b" Mutant (2, 4) "a kill list on the wire names updates";
    JoinPerDot "H4c" Mutant (2, 4) "the join compares what is live per update";
    WhollyDeadOnly "H4d" Mutant (2, 5) "an answer without records names wholly dead updates only";
    RangeOfNames "H4e" Mutant (2, 5) "a kill list is compressed to a range of names";
    ExceptionsOfNews "H4f" Mutant (2, 5) "exceptions are taken from what is sent only";
    // A add, add; A sends update 1 out of its state: dead without its killer.
    SelectionSent "H5" Mutant (2, 4) "an answer is a selection out of the state";
    // A writes, B writes, joined: B's is dropped; a reset that saw only A's comes.
    WinnerOnly "H6" Mutant (2, 5) "a join keeps only the winning value";
    // A inc -> B; A inc (replaces); B removes the key; join: 2 instead of 1.
    Cumulative "H7" Mutant (2, 5) "an increment replaces the own ones before it";
    // A add, add; 1 -> B; A has dropped its records and answers exactly.
    FallbackKnown "H8" Mutant (2, 4) "who takes a whole state counts the kills as known";
    // A ins, A {add and ins after it}; the second -> B: the set shows it, the text does not.
    TornUpdate "H9" Mutant (2, 4) "a piece of text waits, the rest of its update shows";
    TimeNotAdvanced "H10" Mutant (2, 5) "the clock of a text does not advance on receipt";
    // A ins t -> B; A del t; B ins u after t; A's delete -> B; A ins w at the start; B collects t.
    NonLeafCollected "H12" Mutant (2, 5) "a tombstone that others hang on is collected";
    CollectedEarly "H13" Equivalent (2, 5) "a collection needs nothing: it names stable things";
    // A inc, inc; B removes having seen the first, sees the second, acks; A folds at once.
    CutWithoutOwn "H14k" Hard (2, 8) "a cut from acks whose author's own updates are missing";
    // A ins 0, 1; deletes 1; all seen; A ins after 1 still; B collects 1.
    TombstoneOrigin "H15" Mutant (2, 5) "an insert names a tombstone as its neighbour";
    // A add -> B; B add; B answers A; C takes that answer.
    AnswerWithoutBase "H19" Mutant (3, 4) "an answer does not name what it builds on";
    FallbackWithoutBase "H19b" Mutant (2, 4) "an answer without records does not name its base";
    // P and its copy Q add and remove, each something else, under the same names.
    Unsealed "H21" Mutant (2, 3) "states leave out the seals of updates: an id used twice is silent";
    // A out; B out; ack; A in; B's out -> A; ack; A collects; B in; A's out -> B; B collects.
    UnstableIns "H22" Hard (2, 8) "a stable out goes with the ins it beats, stable or not";
    FoldRemints "Z-COL-1" Mutant (2, 5) "a fold makes a new entry for the sum";
    FoldsAll "Z-COL-2" Mutant (2, 5) "a fold takes increments that are not stable";
    FoldsAcross "Z-COL-3" Hard (2, 9) "a fold adds up increments of different replicas";
    FoldForgets "Z-COL-4" Mutant (2, 4) "a fold drops the increments without adding them up";
    RecordsOnly "Z-COL-5" Mutant (2, 4) "a collection drops delete records and keeps the elements";
    OutsOnly "Z-COL-6" Mutant (2, 4) "a collection drops outs and keeps the ins they beat";
    CollectsSilently "Z-COL-7" Mutant (2, 4) "a collection drops at home and tells nobody";
    CollectsUnstable "Z-COL-8" Mutant (2, 5) "a collection takes all tombstones, stable or not";
    StableInsOnly "Z-COL-9" Mutant (2, 5) "a stable out goes with the stable ins only";
    HeadsPile "Z-KER-1" Mutant (2, 4) "heads are never replaced by later updates";
    HeadsOwn "Z-KER-2" Mutant (2, 4) "an update follows only its author's own last one";
    RecordsHole "Z-KER-3" Mutant (2, 4) "dropped records still count as known";
    GroupUnion "Z-KER-4" Mutant (2, 4) "a group keeps what its members kill in each other";
    GroupForgets "Z-KER-5" Mutant (2, 4) "a group loses the kills of its second member";
    CutForgets "Z-KER-6" Mutant (2, 3) "cutting a delta loses what it kills below the cut";
    CutNeedsNothing "Z-KER-7" Mutant (2, 3) "a cut delta does not name what was cut off";
    MergeUnion "Z-KER-8" Mutant (2, 4) "a join takes what is live on either side";
    MergeSleeps "Z-KER-9" Mutant (2, 4) "what waits is not looked at after a merge";
    WaitingClaimed "Z-KER-10" Mutant (2, 4) "what waits is counted in the version";
    WaitingOne "Z-KER-11" Mutant (2, 4) "only the newest waiting delta is kept";
    AnswersAll "Z-KER-12" Mutant (2, 3) "an answer to an equal version is not empty";
    KillsForgotten "Z-KER-13" Mutant (2, 3) "an answer leaves out what was removed";
    EarlyKills "Z-KER-14" Mutant (2, 4) "a waiting delta removes at once";
    OldestWins "Z-KER-15" Mutant (2, 5) "a write does not replace what it saw";
    RelayForgets "Z-KER-16" Mutant (2, 4) "records of a relayed update are taken as empty";
}

/// What a run's operations are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Alphabet {
    Set,
    Register,
    Count,
    Incs,
    Text,
    Pairs,
    Torn,
    Mixed,
    Flags,
    TextCollected,
    CountCollected,
    FlagsCollected,
}

impl Fault {
    fn alphabet(self) -> Alphabet {
        use Alphabet::*;
        match self {
            Fault::RightRegister | Fault::WritesClaimed | Fault::WinnerOnly => Register,
            Fault::OldestWins => Register,
            Fault::RightCount | Fault::Cumulative => Count,
            Fault::RightText | Fault::TargetsClaimed | Fault::TimeNotAdvanced => Text,
            Fault::RightPairs | Fault::KillTakesDot | Fault::WireNamesDots => Pairs,
            Fault::JoinPerDot | Fault::WhollyDeadOnly | Fault::RangeOfNames => Pairs,
            Fault::ExceptionsOfNews => Pairs,
            Fault::TornUpdate => Torn,
            Fault::RightMixed => Mixed,
            Fault::RightCollectFlags | Fault::OutsOnly | Fault::StableInsOnly => FlagsCollected,
            Fault::LogFlags | Fault::UnstableIns => Flags,
            Fault::LogCount | Fault::LogUnnamed | Fault::LogRefolds => Count,
            Fault::FoldsAcross => Incs,
            Fault::LogText | Fault::LogUnsent => Text,
            Fault::RightCollectCount | Fault::CutWithoutOwn | Fault::CollectedEarly => {
                CountCollected
            }
            Fault::FoldRemints | Fault::FoldsAll | Fault::FoldForgets => CountCollected,
            Fault::RightCollectText | Fault::NonLeafCollected => TextCollected,
            Fault::TombstoneOrigin | Fault::RecordsOnly => TextCollected,
            Fault::CollectsSilently | Fault::CollectsUnstable => TextCollected,
            _ => Set,
        }
    }
}

pub fn entries() -> Vec<ZooEntry> {
    let found = ALL.iter().filter(|fault| **fault != NOT_FOUND);
    found.map(|fault| fault.entry_with_means()).collect()
}

/// A fault that no engine finds within its budget: an answer without records that reaches a third
/// replica.
const NOT_FOUND: Fault = Fault::FallbackWithoutBase;

impl Fault {
    /// With as many ways to exchange as the fault needs: each makes the search larger.
    fn entry_with_means(self) -> ZooEntry {
        match self {
            Fault::RightMixed => self.entry(|| base().delta().operations().versioned().specified()),
            Fault::TargetsClaimed | Fault::KillsClaimed | Fault::WritesClaimed => {
                self.entry(|| base().state().operations().versioned().specified())
            }
            Fault::HeadsOwn | Fault::TornUpdate | Fault::TimeNotAdvanced => {
                self.entry(|| base().state().operations().versioned().specified())
            }
            Fault::CutWithoutOwn => {
                let entry = self.entry(|| base().operations().specified());
                entry.on_two().hunted(&[Verb::Do, Verb::Pull])
            }
            Fault::CollectedEarly => self.entry(|| base().operations().specified()).on_two(),
            Fault::LogText | Fault::LogCount | Fault::LogFlags => self.entry(collecting),
            Fault::FoldsAcross | Fault::UnstableIns => {
                let entry = self.entry(collecting_by_message);
                let verbs = [Verb::Do, Verb::Pull, Verb::Collect];
                entry.on_two().hunted(&verbs)
            }
            Fault::LogUnnamed | Fault::LogUnsent | Fault::LogRefolds => {
                self.entry(|| base().delta().versioned().collecting().specified())
            }
            Fault::CollectsSilently => self.entry(|| base().delta().specified()).on_two(),
            _ if self.alphabet().collects() => self.entry(|| base().state().specified()).on_two(),
            Fault::OneByOne => self
                .entry(|| base().delta().versioned().specified())
                .on_two(),
            _ => self.entry(|| base().delta().versioned().specified()),
        }
    }
}

/// Everything that a kernel with collections can do.
fn collecting() -> Capabilities<Kernel> {
    let all = base().delta().operations().versioned();
    all.collecting().specified()
}

/// The same by messages alone, which is a smaller search.
fn collecting_by_message() -> Capabilities<Kernel> {
    base().operations().versioned().collecting().specified()
}

fn base() -> Capabilities<Kernel> {
    Capabilities::new()
}

/// What lives at a place of the state.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Entry {
    /// Of an add-wins set.
    Element(u8),
    /// Of a register.
    Value {
        time: u64,
        value: u8,
    },
    /// Of a counter under a key; a fold raises it.
    Amount {
        sum: u64,
        folded: bool,
    },
    /// Of a remove-wins set.
    In(u8),
    Out(u8),
    /// Of a text.
    Char {
        time: u64,
        origin: Option<EntryId>,
    },
    /// A character is deleted.
    Record {
        target: EntryId,
    },
    /// Something to say, so that others know what its author has seen.
    Ack,
}

pub type Live = BTreeMap<EntryId, Entry>;

pub type Names = BTreeSet<EntryId>;

/// The state and what it is a function of.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Core {
    version: Dots,
    /// What each update directly follows.
    follows: BTreeMap<Dot, Dots>,
    live: Live,
    /// The updates that are collections.
    marks: Dots,
    /// What each update was, as a fingerprint.
    seals: BTreeMap<Dot, u128>,
    /// The greatest time of a character.
    time: u64,
}

/// What dies besides the claimed updates' entries that are not listed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Kill {
    Named(Names),
    AllBut { of: Dots, except: Names },
}

/// What is sent: an update, an answer, or several of these as one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Delta {
    claims: Dots,
    after: Dots,
    follows: BTreeMap<Dot, Dots>,
    live: Live,
    kills: Vec<Kill>,
    marks: Dots,
    seals: BTreeMap<Dot, u128>,
    time: u64,
    records: Records,
}

/// Which update removed what; a cache.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Records {
    kills: BTreeMap<Dot, Names>,
    /// The updates whose removals are all known.
    complete: Dots,
}

/// One replica.
#[derive(Clone, Debug)]
pub struct Kernel {
    fault: Fault,
    me: ReplicaId,
    made: u64,
    last: Option<Dot>,
    core: Core,
    records: Records,
    waiting: Vec<Delta>,
    outbox: Vec<Delta>,
    /// What authors of waiting updates have seen, for the fault that counts it.
    heard: BTreeMap<ReplicaId, Dots>,
}
