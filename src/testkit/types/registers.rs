//! Registers as subjects.

use std::fmt::Debug;

use super::Sample;
use crate::clock::{ReplicaId, Stamp};
use crate::codec::Payload;
use crate::kernel::{EditError, EditView};
use crate::register::{LwwRegister, MaxRegister, MinRegister, MvRegister};
use crate::testkit::replica::{Exercise, Meaning};
use crate::testkit::spec::{self, RegisterOp};
use crate::testkit::{Seen, Source, Verdict, Visible};

/// Values to write, so few that some meet.
const VALUES: u64 = 3;

fn value<T: Sample>(source: &mut Source<'_>) -> T {
    T::sample(source.below(VALUES) as u8)
}

fn write_or_clear<T: Sample>(source: &mut Source<'_>) -> RegisterOp<T> {
    match source.below(4) {
        0..3 => RegisterOp::Write(value(source)),
        _ => RegisterOp::Clear,
    }
}

impl<T: Payload + Ord + Sample> Exercise for MvRegister<T> {
    type Op = RegisterOp<T>;

    fn choose(&self, source: &mut Source<'_>) -> Option<RegisterOp<T>> {
        Some(write_or_clear(source))
    }

    fn perform(
        register: &mut EditView<'_, MvRegister<T>>,
        op: &RegisterOp<T>,
    ) -> Result<(), EditError> {
        match op {
            RegisterOp::Write(value) => register.set(value.clone()),
            RegisterOp::Clear => register.clear(),
        }
    }
}

impl<T: Payload + Ord + Sample> Meaning for MvRegister<T> {
    fn judge(seen: &Seen<'_, RegisterOp<T>>, got: &Vec<T>) -> Verdict {
        spec::maximal_writes(seen, got)
    }
}

impl<T: Payload + Ord + Sample> Exercise for MaxRegister<T> {
    type Op = RegisterOp<T>;

    fn choose(&self, source: &mut Source<'_>) -> Option<RegisterOp<T>> {
        Some(RegisterOp::Write(value(source)))
    }

    fn perform(
        register: &mut EditView<'_, MaxRegister<T>>,
        op: &RegisterOp<T>,
    ) -> Result<(), EditError> {
        match op {
            RegisterOp::Write(value) => register.set(value.clone()).map(drop),
            RegisterOp::Clear => Ok(()),
        }
    }
}

impl<T: Payload + Ord + Sample> Meaning for MaxRegister<T> {
    fn judge(seen: &Seen<'_, RegisterOp<T>>, got: &Option<T>) -> Verdict {
        spec::max(seen, got)
    }
}

impl<T: Payload + Ord + Sample> Exercise for MinRegister<T> {
    type Op = RegisterOp<T>;

    fn choose(&self, source: &mut Source<'_>) -> Option<RegisterOp<T>> {
        Some(RegisterOp::Write(value(source)))
    }

    fn perform(
        register: &mut EditView<'_, MinRegister<T>>,
        op: &RegisterOp<T>,
    ) -> Result<(), EditError> {
        match op {
            RegisterOp::Write(value) => register.set(value.clone()).map(drop),
            RegisterOp::Clear => Ok(()),
        }
    }
}

impl<T: Payload + Ord + Sample> Meaning for MinRegister<T> {
    fn judge(seen: &Seen<'_, RegisterOp<T>>, got: &Option<T>) -> Verdict {
        spec::min(seen, got)
    }
}

/// What a user does to a last-writer-wins register.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LwwOp<T> {
    /// What the clock of the writer shows, in milliseconds.
    pub clock: u64,
    /// What is written.
    pub write: RegisterOp<T>,
}

impl<T: Sample> LwwOp<T> {
    /// A write by a clock that may be behind those of others, or a clear.
    pub(super) fn choose(source: &mut Source<'_>) -> LwwOp<T> {
        let write = write_or_clear(source);
        let clock = match write {
            RegisterOp::Write(_) => source.below(3) * 1_000,
            RegisterOp::Clear => 0,
        };
        LwwOp { clock, write }
    }
}

/// The write that wins, of those that no later operation had seen, with its stamp: the clock of its
/// author, or the next one after what that had seen.
pub(super) fn winner<'s, 'a, Op, T>(
    seen: &'s Seen<'a, Op>,
    meaning: impl Fn(&Op) -> Option<LwwOp<T>>,
) -> Option<(T, &'s Visible<'a, Op>)> {
    let ops = seen.iter();
    let ops = ops.filter_map(|one| Some((one, meaning(one.op())?)));
    let ops: Vec<(&Visible<'a, Op>, LwwOp<T>)> = ops.collect();
    let mut stamps: Vec<Stamp> = Vec::new();
    // Those among `past` that nothing else among them had seen.
    let live = |past: &[usize]| -> Vec<usize> {
        let replaced = |at: usize| {
            let mut others = past.iter().filter(|other| **other != at);
            others.any(|other| seen.happened_before(ops[at].0, ops[*other].0))
        };
        let mut live = past.to_vec();
        live.retain(|at| !replaced(*at) && matches!(ops[*at].1.write, RegisterOp::Write(_)));
        live
    };
    for (at, (one, op)) in ops.iter().enumerate() {
        let past = (0..at).filter(|before| seen.happened_before(ops[*before].0, one));
        let past: Vec<usize> = past.collect();
        let before = live(&past).into_iter().map(|at| stamps[at]).max();
        let stamp = Stamp::from_millis(op.clock).after(before);
        stamps.push(stamp.unwrap_or_default());
    }
    let all: Vec<usize> = (0..ops.len()).collect();
    let wins = |at: &usize| -> (Stamp, ReplicaId) { (stamps[*at], ops[*at].0.author()) };
    let last = live(&all).into_iter().max_by_key(wins)?;
    let one = ops[last].0;
    match ops.into_iter().nth(last)?.1.write {
        RegisterOp::Write(value) => Some((value, one)),
        RegisterOp::Clear => None,
    }
}

impl<T: Payload + Ord + Sample> Exercise for LwwRegister<T> {
    type Op = LwwOp<T>;

    fn choose(&self, source: &mut Source<'_>) -> Option<LwwOp<T>> {
        Some(LwwOp::choose(source))
    }

    fn perform(
        register: &mut EditView<'_, LwwRegister<T>>,
        op: &LwwOp<T>,
    ) -> Result<(), EditError> {
        match &op.write {
            RegisterOp::Write(value) => {
                let clock = Stamp::from_millis(op.clock);
                register.set(value.clone(), clock).map(drop)
            }
            RegisterOp::Clear => register.clear(),
        }
    }
}

impl<T: Payload + Ord + Sample> Meaning for LwwRegister<T> {
    fn judge(seen: &Seen<'_, LwwOp<T>>, got: &Option<T>) -> Verdict {
        let last = winner(seen, |op| Some(op.clone()));
        let by = last.as_ref().map(|(_, one)| one.id());
        let value = last.map(|(value, _)| value);
        Verdict::equal(got, &value, || match by {
            Some(id) => format!("{id} has the greatest stamp of the last writes"),
            None => "no write is left".into(),
        })
    }
}
