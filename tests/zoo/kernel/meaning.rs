//! What the state shows, and what it should.

use std::collections::{BTreeMap, BTreeSet};

use commute::testkit::{Seen, Specified, Verdict, Visible};
use commute::{Dot, EntryId};

use super::edit::Op;
use super::{Entry, Fault, Kernel, Names};
use crate::list_meaning::{self, ListOp};

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct View {
    pub set: BTreeSet<u8>,
    /// The value with the greatest time, then the greatest replica id.
    register: Option<u8>,
    pub sum: u64,
    pub flags: BTreeSet<u8>,
    text: Vec<Dot>,
}

impl Kernel {
    pub fn shows(&self) -> View {
        let live = &self.core.live;
        let elements = |of: fn(&Entry) -> Option<u8>| live.values().filter_map(of).collect();
        let outs: BTreeSet<u8> = elements(|entry| match entry {
            Entry::Out(e) => Some(*e),
            _ => None,
        });
        let ins: BTreeSet<u8> = elements(|entry| match entry {
            Entry::In(e) => Some(*e),
            _ => None,
        });
        View {
            set: elements(|entry| match entry {
                Entry::Element(e) => Some(*e),
                _ => None,
            }),
            register: self.newest(),
            sum: live.values().map(amount).sum(),
            flags: ins.difference(&outs).copied().collect(),
            text: self.shown().iter().map(|name| name.dot).collect(),
        }
    }

    fn newest(&self) -> Option<u8> {
        let values = self
            .core
            .live
            .iter()
            .filter_map(|(name, entry)| match entry {
                Entry::Value { time, value } => Some((*time, name.dot.replica, *value)),
                _ => None,
            });
        let newest = match self.fault {
            Fault::OldestWins => values.min(),
            _ => values.max(),
        };
        newest.map(|(_, _, value)| value)
    }

    /// The characters in order, hidden ones included: children of one by descending time, then
    /// descending replica id; those whose origin was collected hang on the start.
    pub fn order(&self) -> Vec<EntryId> {
        let mut children: BTreeMap<Option<EntryId>, Vec<(u64, EntryId)>> = BTreeMap::new();
        for (name, entry) in &self.core.live {
            if let Entry::Char { time, origin } = entry {
                let origin = origin.filter(|origin| self.core.live.contains_key(origin));
                children.entry(origin).or_default().push((*time, *name));
            }
        }
        for of in children.values_mut() {
            of.sort_by_key(|(time, name)| (*time, name.dot.replica));
        }
        let mut order = Vec::new();
        // The last one of a list comes first.
        let mut open = children.remove(&None).unwrap_or_default();
        while let Some((_, name)) = open.pop() {
            order.push(name);
            open.extend(children.remove(&Some(name)).unwrap_or_default());
        }
        order
    }

    /// The characters that are not deleted, in order.
    pub fn shown(&self) -> Vec<EntryId> {
        let deleted: Names = self.core.live.values().filter_map(target).collect();
        let order = self.order().into_iter();
        order.filter(|name| !deleted.contains(name)).collect()
    }
}

fn amount(entry: &Entry) -> u64 {
    match entry {
        Entry::Amount { sum, .. } => *sum,
        _ => 0,
    }
}

fn target(entry: &Entry) -> Option<EntryId> {
    match entry {
        Entry::Record { target } => Some(*target),
        _ => None,
    }
}

type One<'a> = Visible<'a, Op>;

/// The operations of `of` that none of `over` follows.
fn standing<'s, 'a>(
    seen: &'s Seen<'a, Op>,
    of: impl Fn(&Op) -> bool,
    over: impl Fn(&Op) -> bool,
) -> Vec<&'s One<'a>> {
    let over: Vec<&One<'a>> = seen.iter().filter(|one| over(one.op())).collect();
    let stands = |one: &&One<'a>| !over.iter().any(|other| seen.happened_before(one, other));
    seen.iter()
        .filter(|one| of(one.op()))
        .filter(stands)
        .collect()
}

fn adds(op: &Op, e: u8) -> bool {
    match op {
        Op::Add(x) | Op::AddAndInsert(x, _) => *x == e,
        Op::AddBoth => e < 2,
        _ => false,
    }
}

fn set(seen: &Seen<'_, Op>) -> BTreeSet<u8> {
    let in_it = |e: &u8| !standing(seen, |op| adds(op, *e), |op| *op == Op::Remove(*e)).is_empty();
    (0..2).filter(in_it).collect()
}

fn flags(seen: &Seen<'_, Op>) -> BTreeSet<u8> {
    let in_it = |e: &u8| {
        let either = |op: &Op| *op == Op::In(*e) || *op == Op::Out(*e);
        let last = standing(seen, either, either);
        !last.is_empty() && last.iter().all(|one| *one.op() == Op::In(*e))
    };
    (0..2).filter(in_it).collect()
}

fn register(seen: &Seen<'_, Op>, got: Option<u8>) -> Verdict {
    let writes = |op: &Op| matches!(op, Op::Write(_));
    let last = standing(seen, writes, |op| writes(op) || *op == Op::Reset);
    let values = last.iter().map(|one| match one.op() {
        Op::Write(value) => *value,
        _ => 0,
    });
    let values: BTreeSet<u8> = values.collect();
    let right = match got {
        Some(value) => values.contains(&value),
        None => values.is_empty(),
    };
    match right {
        true => Verdict::Right,
        false => Verdict::wrong(
            format!("register: one of {values:?}"),
            "no later write is seen",
        ),
    }
}

fn list_op(op: &Op) -> Option<ListOp> {
    match op {
        Op::List(list) | Op::AddAndInsert(_, list) => Some(list.clone()),
        _ => None,
    }
}

impl Specified for Kernel {
    fn check(seen: &Seen<'_, Op>, got: &View) -> Verdict {
        let sum = standing(seen, |op| *op == Op::Inc, |op| *op == Op::RemoveKey).len() as u64;
        let why = |what: &'static str| move || what.to_string();
        Verdict::equal(
            &got.set,
            &set(seen),
            why("adds that no seen removal had seen"),
        )
        .and(|| Verdict::equal(&got.sum, &sum, why("increments that no removal had seen")))
        .and(|| Verdict::equal(&got.flags, &flags(seen), why("the last ones, out wins")))
        .and(|| register(seen, got.register))
        .and(|| list_meaning::check(&seen.project(list_op), &got.text))
    }
}
