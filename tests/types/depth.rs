//! Every type in complete searches: all executions of three replicas of so many steps, each an
//! operation or a merge.
//!
//! The alphabets are smaller than those of the random schedules, so that depth is affordable: what
//! meets in six steps of three replicas needs one element and two values. `tests/long depth` goes
//! deeper.
#![cfg(feature = "testkit")]

use std::fmt::Debug;
use std::time::Duration;

use commute::testkit::spec::{FlagOp, MapOp, RegisterOp, SetOp};
use commute::testkit::{
    BoundedOp, Edits, Explore, Fingerprint, ListPlay, LwwOp, Meaning, Outcome, Rejected, Report,
    Seen, Source, Specified, StateBased, Subject, TextOp, ValuePlay, Verdict,
};
use commute::text::Chars;
use commute::{
    BoundedCounter, DwFlag, EwFlag, GCounter, GSet, List, LwwMap, LwwRegister, MaxRegister,
    MinRegister, MvRegister, OrMap, OrSet, PnCounter, Replica, ReplicaId, RwMap, RwSet, Text,
    TwoPhaseSet, Value,
};

/// A type with an alphabet of a few operations.
trait Alphabet: Meaning + Debug {
    fn few(&self, source: &mut Source<'_>) -> Option<Self::Op>;
}

/// A replica that does one operation of that alphabet at a time.
#[derive(Debug)]
struct Small<S: Alphabet>(Replica<S>);

impl<S: Alphabet> Subject for Small<S> {
    type Op = Edits<S::Op>;
    type View = S::View;

    fn new(replica: ReplicaId) -> Small<S> {
        Small(Replica::new(replica))
    }

    fn duplicate(&self) -> Small<S> {
        Small(self.0.duplicate())
    }

    fn fork_as(&self, replica: ReplicaId) -> Small<S> {
        Small(self.0.fork_as(replica))
    }

    fn choose(&self, source: &mut Source<'_>) -> Option<Edits<S::Op>> {
        let operations = vec![self.0.few(source)?];
        let fails = false;
        Some(Edits { operations, fails })
    }

    fn perform(&mut self, edits: &Edits<S::Op>) -> Outcome {
        self.0.perform(edits)
    }

    fn view(&self) -> S::View {
        self.0.view()
    }

    fn name() -> String {
        <Replica<S> as Subject>::name()
    }

    fn fingerprint(&self, out: &mut Fingerprint) {
        self.0.fingerprint(out);
    }

    fn invariant(&self) -> Result<(), String> {
        self.0.invariant()
    }
}

impl<S: Alphabet> StateBased for Small<S> {
    fn merge(&mut self, other: &Small<S>) -> Result<(), Rejected> {
        StateBased::merge(&mut self.0, &other.0)
    }

    fn same_state(&self, other: &Small<S>) -> bool {
        self.0.same_state(&other.0)
    }
}

impl<S: Alphabet> Specified for Small<S> {
    fn check(seen: &Seen<'_, Edits<S::Op>>, got: &S::View) -> Verdict {
        Replica::<S>::check(seen, got)
    }
}

macro_rules! alphabets {
    ($($type:ty: [$($op:expr),* $(,)?],)*) => { $(
        impl Alphabet for $type {
            fn few(&self, source: &mut Source<'_>) -> Option<Self::Op> {
                source.pick(&[$($op),*]).cloned()
            }
        }
    )* };
}

const fn write(value: u8, clock: u64) -> LwwOp<u8> {
    let write = RegisterOp::Write(value);
    LwwOp { clock, write }
}

const CLEAR: LwwOp<u8> = LwwOp {
    clock: 0,
    write: RegisterOp::Clear,
};

alphabets! {
    GCounter: [1, 3],
    PnCounter: [1, -2],
    BoundedCounter: [
        BoundedOp::Add(1), BoundedOp::Subtract(1), BoundedOp::Transfer(0, 1),
        BoundedOp::Transfer(1, 1),
    ],
    EwFlag: [FlagOp::Enable, FlagOp::Disable],
    DwFlag: [FlagOp::Enable, FlagOp::Disable],
    GSet<u8>: [SetOp::Insert(0), SetOp::Insert(1)],
    OrSet<u8>: [SetOp::Insert(0), SetOp::Remove(0), SetOp::Insert(1)],
    RwSet<u8>: [SetOp::Insert(0), SetOp::Remove(0), SetOp::Insert(1)],
    MvRegister<u8>: [RegisterOp::Write(0), RegisterOp::Write(1), RegisterOp::Clear],
    MaxRegister<u8>: [RegisterOp::Write(0), RegisterOp::Write(1), RegisterOp::Write(2)],
    MinRegister<u8>: [RegisterOp::Write(2), RegisterOp::Write(1), RegisterOp::Write(0)],
    LwwRegister<u8>: [write(0, 0), write(1, 1_000), CLEAR],
    LwwMap<u8, u8>: [(0, write(0, 0)), (0, write(1, 1_000)), (0, CLEAR)],
    RwMap<u8, PnCounter>: [MapOp::Put(0, 1), MapOp::Remove(0), MapOp::Put(1, 1)],
    Value: [(0, ValuePlay::Set(0)), (0, ValuePlay::Count(1)), (0, ValuePlay::Remove)],
    OrMap<u8, PnCounter>: [MapOp::Put(0, 1), MapOp::Remove(0), MapOp::Put(1, 1)],
}

impl Alphabet for TwoPhaseSet<u8> {
    fn few(&self, source: &mut Source<'_>) -> Option<SetOp<u8>> {
        let op = source.pick(&[SetOp::Insert(0), SetOp::Remove(0), SetOp::Insert(1)]);
        // A removal of what is not there has no effect.
        op.cloned()
            .filter(|op| *op != SetOp::Remove(0) || self.contains(&0))
    }
}

/// An element before all, the first one deleted or written.
impl Alphabet for List<u64> {
    fn few(&self, source: &mut Source<'_>) -> Option<ListPlay> {
        let at = 0;
        let first = self.iter().next().copied();
        let kind = source.below(if first.is_none() { 1 } else { 3 });
        Some(match (kind, first) {
            (1, Some(old)) => ListPlay::Set {
                at,
                old,
                new: source.unique(),
            },
            (2, Some(first)) => ListPlay::Delete {
                at,
                values: vec![first],
            },
            _ => ListPlay::Insert {
                at,
                left: None,
                values: vec![source.unique()],
                right: first,
            },
        })
    }
}

/// One character before all, after all, or the first one deleted.
impl Alphabet for Text {
    fn few(&self, source: &mut Source<'_>) -> Option<TextOp> {
        let shown: Vec<char> = self.chars().collect();
        let len = self.len::<Chars>().0;
        let kind = source.below(if len == 0 { 1 } else { 3 });
        let at = if kind == 1 { len } else { 0 };
        let gone = usize::from(kind == 2);
        let new = char::from_u32(0x1_0000 + (source.unique() & 0xffff) as u32);
        Some(TextOp {
            at,
            left: at.checked_sub(1).and_then(|at| shown.get(at)).copied(),
            deleted: shown.iter().take(gone).collect(),
            inserted: new.into_iter().filter(|_| gone == 0).collect(),
            right: shown.get(at + gone).copied(),
        })
    }
}

fn search<S: Alphabet>(steps: usize, seconds: Option<u64>) -> Report {
    let search = Explore::new::<Small<S>>().state().specified();
    let search = search.replicas(3).steps(steps).states_max(100_000_000);
    match seconds {
        Some(seconds) => search.time_budget(Duration::from_secs(seconds)),
        None => search,
    }
    .run()
}

/// `COMMUTE_LONG_<name>` as a number.
fn setting(name: &str) -> Option<u64> {
    let text = std::env::var(format!("COMMUTE_LONG_{name}")).ok()?;
    text.parse().ok()
}

/// To `COMMUTE_LONG_STEPS`, or as deep as `COMMUTE_LONG_SECONDS` allow.
fn deep<S: Alphabet>() {
    let steps = setting("STEPS").unwrap_or(6) as usize;
    let report = search::<S>(steps, setting("SECONDS"));
    report.unwrap_clean();
    let depth = report.complete_to().unwrap_or(0);
    println!("depth {depth}, {} states", report.states());
}

macro_rules! depths {
    ($($name:ident: $type:ty, $steps:expr;)*) => {
        $(
            #[test]
            fn $name() {
                let report = search::<$type>($steps, None);
                report.unwrap_clean();
                assert_eq!(report.complete_to(), Some($steps));
            }
        )*

        mod long {
            use super::*;
            $(
                #[test]
                #[ignore = "as long as one likes"]
                fn $name() {
                    deep::<$type>();
                }
            )*
        }
    };
}

depths! {
    g_counter: GCounter, 4;
    pn_counter: PnCounter, 4;
    bounded_counter: BoundedCounter, 4;
    or_set: OrSet<u8>, 4;
    text: Text, 4;
    list: List<u64>, 4;
    mv_register: MvRegister<u8>, 4;
    lww_register: LwwRegister<u8>, 4;
    max_register: MaxRegister<u8>, 4;
    min_register: MinRegister<u8>, 4;
    ew_flag: EwFlag, 4;
    dw_flag: DwFlag, 4;
    g_set: GSet<u8>, 4;
    two_phase_set: TwoPhaseSet<u8>, 4;
    rw_set: RwSet<u8>, 4;
    or_map_of_counters: OrMap<u8, PnCounter>, 4;
    rw_map_of_counters: RwMap<u8, PnCounter>, 3;
    lww_map: LwwMap<u8, u8>, 4;
    value: Value, 3;
}
