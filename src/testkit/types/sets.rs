//! Sets as subjects.

use std::collections::BTreeSet;
use std::fmt::Debug;

use super::{ELEMENTS, Sample};
use crate::codec::Key;
use crate::kernel::{EditError, EditView};
use crate::set::{GSet, RwSet, TwoPhaseSet};
use crate::testkit::replica::{Exercise, Meaning};
use crate::testkit::spec::{self, SetOp};
use crate::testkit::{Seen, Source, Verdict};

impl<T: Key + Sample + Debug> Exercise for GSet<T> {
    type Op = SetOp<T>;

    fn choose(&self, source: &mut Source<'_>) -> Option<SetOp<T>> {
        Some(SetOp::Insert(T::sample(source.below(ELEMENTS + 1) as u8)))
    }

    fn perform(set: &mut EditView<'_, GSet<T>>, op: &SetOp<T>) -> Result<(), EditError> {
        match op {
            SetOp::Insert(value) => set.insert(value.clone()).map(drop),
            _ => Ok(()),
        }
    }
}

impl<T: Key + Sample + Debug> Meaning for GSet<T> {
    fn judge(seen: &Seen<'_, SetOp<T>>, got: &BTreeSet<T>) -> Verdict {
        spec::grow_only(seen, got)
    }
}

/// Inserts or removes one of two elements.
fn choose<T: Sample>(source: &mut Source<'_>) -> Option<SetOp<T>> {
    let inserts = source.below(2) == 0;
    let element = T::sample(source.below(ELEMENTS) as u8);
    Some(match inserts {
        true => SetOp::Insert(element),
        false => SetOp::Remove(element),
    })
}

impl<T: Key + Sample + Debug> Exercise for RwSet<T> {
    type Op = SetOp<T>;

    fn choose(&self, source: &mut Source<'_>) -> Option<SetOp<T>> {
        choose(source)
    }

    fn perform(set: &mut EditView<'_, RwSet<T>>, op: &SetOp<T>) -> Result<(), EditError> {
        match op {
            SetOp::Insert(value) => set.insert(value.clone()).map(drop),
            SetOp::Remove(value) => set.remove(value).map(drop),
            SetOp::Clear => Ok(()),
        }
    }
}

impl<T: Key + Sample + Debug> Meaning for RwSet<T> {
    fn judge(seen: &Seen<'_, SetOp<T>>, got: &BTreeSet<T>) -> Verdict {
        spec::remove_wins(seen, got)
    }
}

impl<T: Key + Sample + Debug> Exercise for TwoPhaseSet<T> {
    type Op = SetOp<T>;

    fn choose(&self, source: &mut Source<'_>) -> Option<SetOp<T>> {
        // A removal of what is not there has no effect, also on what the same update inserts.
        Some(match choose(source)? {
            SetOp::Remove(value) if !self.contains(&value) => SetOp::Insert(value),
            op => op,
        })
    }

    fn perform(set: &mut EditView<'_, TwoPhaseSet<T>>, op: &SetOp<T>) -> Result<(), EditError> {
        match op {
            SetOp::Insert(value) => set.insert(value.clone()).map(drop),
            SetOp::Remove(value) => set.remove(value).map(drop),
            SetOp::Clear => Ok(()),
        }
    }
}

impl<T: Key + Sample + Debug> Meaning for TwoPhaseSet<T> {
    fn judge(seen: &Seen<'_, SetOp<T>>, got: &BTreeSet<T>) -> Verdict {
        spec::two_phase(seen, got)
    }
}
