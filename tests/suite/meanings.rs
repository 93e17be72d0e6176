//! The operations of the test types, and what their views mean.

use std::collections::{BTreeMap, BTreeSet};

use commute::kernel::EditError;
use commute::testkit::spec::{self, MapOp, RegisterOp, SetOp};
use commute::testkit::{Exercise, Meaning, Seen, Source, Verdict};
use commute::{OrSet, PnCounter};

use super::board::{Board, BoardEdit};
use super::forward::Editing;
use super::registers::{Nested, Register, Registers, Tallies};

/// An operation on either field.
#[derive(Clone, Debug)]
pub enum Play {
    Set(SetOp<u8>),
    Count(i64),
}

impl Exercise for Board {
    type Op = Play;

    fn choose(&self, source: &mut Source<'_>) -> Option<Play> {
        match source.below(2) {
            0 => self.set.choose(source).map(Play::Set),
            _ => self.count.choose(source).map(Play::Count),
        }
    }

    fn perform(board: &mut BoardEdit<'_>, op: &Play) -> Result<(), EditError> {
        match op {
            Play::Set(op) => OrSet::perform(&mut board.set(), op),
            Play::Count(op) => PnCounter::perform(&mut board.count(), op),
        }
    }
}

impl Meaning for Board {
    fn judge(seen: &Seen<'_, Play>, got: &(BTreeSet<u8>, i128)) -> Verdict {
        let set = seen.project(|op| match op {
            Play::Set(op) => Some(*op),
            Play::Count(_) => None,
        });
        let count = seen.project(|op| match op {
            Play::Set(_) => None,
            Play::Count(op) => Some(*op),
        });
        spec::add_wins(&set, &got.0).and(|| spec::sum(&count, &got.1))
    }
}

impl Exercise for Register {
    type Op = RegisterOp<u64>;

    fn choose(&self, source: &mut Source<'_>) -> Option<RegisterOp<u64>> {
        Some(match source.below(3) {
            2 => RegisterOp::Clear,
            value => RegisterOp::Write(value),
        })
    }

    fn perform(
        register: &mut Editing<'_, Register>,
        op: &RegisterOp<u64>,
    ) -> Result<(), EditError> {
        match op {
            RegisterOp::Write(value) => register.write(*value),
            RegisterOp::Clear => {
                register.clear();
                Ok(())
            }
        }
    }
}

impl Meaning for Register {
    fn judge(seen: &Seen<'_, RegisterOp<u64>>, got: &Vec<u64>) -> Verdict {
        spec::maximal_writes(seen, got)
    }
}

/// An operation on keys with values.
pub type Write = MapOp<u8, u64>;

impl Exercise for Registers {
    type Op = Write;

    fn choose(&self, source: &mut Source<'_>) -> Option<Write> {
        Some(match (source.below(2), source.below(3) as u8) {
            (0, key) => MapOp::Put(key, source.below(2)),
            (_, 2) => MapOp::Clear,
            (_, key) => MapOp::Remove(key),
        })
    }

    fn perform(map: &mut Editing<'_, Registers>, op: &Write) -> Result<(), EditError> {
        match *op {
            MapOp::Put(key, value) => map.write(key, value),
            MapOp::Remove(key) => map.remove(key).map(drop),
            MapOp::Clear => map.clear(),
        }
    }
}

impl Meaning for Registers {
    fn judge(seen: &Seen<'_, Write>, got: &BTreeMap<u8, Vec<u64>>) -> Verdict {
        spec::multi_value_map(seen, got)
    }
}

impl Exercise for Tallies {
    type Op = Write;

    fn choose(&self, source: &mut Source<'_>) -> Option<Write> {
        let key = source.below(2) as u8;
        Some(match source.below(3) {
            2 => MapOp::Remove(key),
            amount => MapOp::Put(key, 1 + 2 * amount),
        })
    }

    fn perform(map: &mut Editing<'_, Tallies>, op: &Write) -> Result<(), EditError> {
        match *op {
            MapOp::Put(key, amount) => map.add(key, amount),
            MapOp::Remove(key) => map.remove(key).map(drop),
            MapOp::Clear => map.clear(),
        }
    }
}

impl Meaning for Tallies {
    fn judge(seen: &Seen<'_, Write>, got: &BTreeMap<u8, Vec<u64>>) -> Verdict {
        let mut expected = BTreeMap::<u8, Vec<u64>>::new();
        for (key, amount) in spec::not_removed(seen, |op| Some(*op)) {
            expected.entry(key).or_default().push(amount);
        }
        let [got, expected] = [got.clone(), expected].map(|mut map| {
            map.values_mut().for_each(|amounts| amounts.sort_unstable());
            map
        });
        Verdict::equal(&got, &expected, || "all that no removal had seen".into())
    }
}

/// What happens to a pair of keys; `None` as the inner key stands for all of them.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Deed {
    Write(u8, u8, u64),
    Remove(u8),
}

impl Exercise for Nested {
    type Op = Deed;

    fn choose(&self, source: &mut Source<'_>) -> Option<Deed> {
        let outer = source.below(2) as u8;
        Some(match source.below(3) {
            2 => Deed::Remove(outer),
            inner => Deed::Write(outer, inner as u8, source.below(2)),
        })
    }

    fn perform(map: &mut Editing<'_, Nested>, op: &Deed) -> Result<(), EditError> {
        match *op {
            Deed::Write(outer, inner, value) => map.write(outer, inner, value),
            Deed::Remove(outer) => map.remove(outer).map(drop),
        }
    }
}

impl Meaning for Nested {
    /// For one pair of keys at a time a removal of the outer key is one of that pair.
    fn judge(seen: &Seen<'_, Deed>, got: &BTreeMap<u8, BTreeMap<u8, Vec<u64>>>) -> Verdict {
        let pairs = seen.project(|op| match *op {
            Deed::Write(outer, inner, value) => vec![MapOp::Put((outer, inner), value)],
            Deed::Remove(outer) => vec![MapOp::Remove((outer, 0)), MapOp::Remove((outer, 1))],
        });
        let mut flat = BTreeMap::new();
        for (outer, registers) in got {
            for (inner, values) in registers {
                flat.insert((*outer, *inner), values.clone());
            }
            if registers.is_empty() {
                return Verdict::wrong("no such key", format!("nothing is left at {outer}"));
            }
        }
        spec::multi_value_map(&pairs, &flat)
    }
}
