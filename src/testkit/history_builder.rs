//! Histories written by hand, to test specifications with.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::marker::PhantomData;

use super::erased::DynOp;
use super::events::{Event, Events, Log, OpId};
use super::seen::{Orders, Seen};
use crate::clock::ReplicaId;

/// A history: who did what, and what each had seen then.
///
/// Operations are named as in reports: `r0:1` is the first one of replica 0.
///
/// # Examples
/// ```
/// use commute::testkit::{History, spec};
/// use spec::SetOp::{Insert, Remove};
///
/// // Replica 0 removes what it inserted, replica 1 inserts the same concurrently.
/// let history = History::new()
///     .op(0, Insert('x'), &[])
///     .op(0, Remove('x'), &[])
///     .op(1, Insert('x'), &[]);
/// let set = |shown: &[&str]| spec::add_wins_set(&history.seen_of(shown), |op| Some(op.clone()));
/// assert!(set(&["r0:2"]).is_empty());
/// assert!(set(&["r0:2", "r1:1"]).contains(&'x'));
/// ```
#[derive(Debug)]
pub struct History<Op> {
    log: Log,
    numbers: BTreeMap<String, usize>,
    own: BTreeMap<u16, Events>,
    orders: Orders,
    operations: PhantomData<Op>,
}

impl<Op: Debug + 'static> History<Op> {
    /// In which nothing was done.
    pub fn new() -> History<Op> {
        History {
            log: Log::new(),
            numbers: BTreeMap::new(),
            own: BTreeMap::new(),
            orders: RefCell::new(BTreeSet::new()),
            operations: PhantomData,
        }
    }

    /// Replica `replica` does `op`. It has seen its own operations and, of the others, `seen` and
    /// all that those had seen.
    ///
    /// # Panics
    /// If no operation has one of the names in `seen`.
    #[must_use]
    pub fn op(mut self, replica: u16, op: Op, seen: &[&str]) -> History<Op> {
        let mut past = self.closed(seen);
        let own = self.own.entry(replica).or_default();
        past.add_all(own);
        let id = OpId {
            replica,
            incarnation: 0,
            number: self.of(replica) + 1,
        };
        let op = DynOp::new(op);
        let print = self.log.print_of(id, Some(&op), &past);
        let depth = self.log.depth_after(&past);
        let number = self.log.push(Event {
            depth,
            id,
            author: ReplicaId::from(u128::from(id.replica) + 1),
            op: Some(op),
            past: past.clone(),
            dot: None,
            print,
        });
        past.insert(number);
        self.own.insert(replica, past);
        self.numbers.insert(id.to_string(), number);
        self
    }

    /// What a replica has seen that has seen everything.
    pub fn seen(&self) -> Seen<'_, Op> {
        Seen::new(
            &self.log,
            &(0..self.log.len()).collect(),
            Some(&self.orders),
        )
    }

    /// What a replica has seen that has seen `names` and all that those had seen.
    ///
    /// # Panics
    /// If no operation has one of the names.
    pub fn seen_of(&self, names: &[&str]) -> Seen<'_, Op> {
        Seen::new(&self.log, &self.closed(names), Some(&self.orders))
    }

    /// How many operations the replica did.
    fn of(&self, replica: u16) -> u32 {
        let own = self.log.iter().filter(|event| event.id.replica == replica);
        own.count() as u32
    }

    fn closed(&self, names: &[&str]) -> Events {
        let number = |name: &&str| match self.numbers.get(*name) {
            Some(number) => *number,
            None => panic!("no operation is named {name}"),
        };
        let named: Events = names.iter().map(number).collect();
        self.log.past(&named).union(&named)
    }
}

impl<Op: Debug + 'static> Default for History<Op> {
    fn default() -> History<Op> {
        History::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_seen_is_closed() {
        let history = History::new()
            .op(0, 'a', &[])
            .op(1, 'b', &["r0:1"])
            .op(2, 'c', &["r1:1"])
            .op(0, 'd', &[]);
        let shown = |names: &[&str]| -> String {
            let seen = history.seen_of(names);
            seen.iter().map(|one| *one.op()).collect()
        };
        assert_eq!([shown(&["r2:1"]), shown(&["r0:2"])], ["abc", "ad"]);
        let seen = history.seen();
        let [a, b, c, d] = seen.iter().as_slice() else {
            panic!("four operations");
        };
        assert!(seen.happened_before(a, c) && seen.happened_before(b, c));
        assert!(seen.concurrent(c, d) && seen.happened_before(a, d));
    }

    #[test]
    #[should_panic(expected = "no operation is named r1:1")]
    fn unknown_names_are_refused() {
        let _ = History::new().op(0, 'a', &["r1:1"]);
    }
}
