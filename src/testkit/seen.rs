//! What a replica has seen: the operations visible to it, and which of them had seen which.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt::Debug;

use super::events::{Events, Log, OpId};
use super::replica::Edits;
use crate::clock::ReplicaId;

/// One visible operation.
#[derive(Debug)]
pub struct Visible<'a, Op> {
    id: OpId,
    author: ReplicaId,
    op: Held<'a, Op>,
    event: u32,
    /// Its place among those that were made of one operation by [`Seen::project`].
    part: u32,
    depth: u32,
}

#[derive(Debug)]
enum Held<'a, Op> {
    Lent(&'a Op),
    Own(Op),
}

impl<Op> Visible<'_, Op> {
    /// Its name in reports.
    pub fn id(&self) -> OpId {
        self.id
    }

    /// The operation.
    pub fn op(&self) -> &Op {
        match &self.op {
            Held::Lent(op) => op,
            Held::Own(op) => op,
        }
    }

    /// The place of the replica that did it; a restart under a new id keeps the place.
    pub fn replica(&self) -> u16 {
        self.id.replica
    }

    /// The id under which it was done, by which a type may settle ties; places are in another order.
    pub fn author(&self) -> ReplicaId {
        self.author
    }

    /// The length of the longest chain of operations that ends in it, each of which had seen the one
    /// before: the time of a Lamport clock that ticks with every operation.
    ///
    /// Parts that [`Seen::project`] made of one operation share its depth, and operations that it
    /// left out count.
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// A number that no other visible operation has, the same in all views of one execution.
    pub fn key(&self) -> u64 {
        u64::from(self.event) << 32 | u64::from(self.part)
    }
}

/// Pairs of elements in the order in which they were shown, over a whole execution.
pub(crate) type Orders = RefCell<BTreeSet<(u64, u64)>>;

/// All that one replica has seen; the kit keeps this account itself.
///
/// The operations come in the order in which they were done, so that each comes after its past.
pub struct Seen<'a, Op> {
    visible: Vec<Visible<'a, Op>>,
    log: &'a Log,
    orders: Option<&'a Orders>,
}

impl<'a, Op: 'static> Seen<'a, Op> {
    pub(crate) fn new(log: &'a Log, events: &Events, orders: Option<&'a Orders>) -> Seen<'a, Op> {
        let visible = |number: usize| {
            let event = log.get(number);
            Some(Visible {
                id: event.id,
                op: Held::Lent(event.op.as_ref()?.get()),
                event: number as u32,
                part: 0,
                depth: event.depth,
                author: event.author,
            })
        };
        let mut all = Vec::with_capacity(events.len());
        all.extend(events.iter().filter_map(visible));
        Seen {
            visible: all,
            log,
            orders,
        }
    }
}

impl<'a, Op> Seen<'a, Op> {
    /// The visible operations; each comes after those it had seen.
    pub fn iter(&self) -> std::slice::Iter<'_, Visible<'a, Op>> {
        self.visible.iter()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.visible.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.visible.is_empty()
    }

    /// Whether the author of `b` had seen `a` when it did `b`.
    pub fn happened_before(&self, a: &Visible<'_, Op>, b: &Visible<'_, Op>) -> bool {
        match a.event == b.event {
            true => a.part < b.part,
            false => self.log.get(b.event as usize).past.has(a.event as usize),
        }
    }

    /// Whether neither had seen the other.
    pub fn concurrent(&self, a: &Visible<'_, Op>, b: &Visible<'_, Op>) -> bool {
        a.key() != b.key() && !self.happened_before(a, b) && !self.happened_before(b, a)
    }

    /// The operations of one place.
    pub fn by(&self, replica: u16) -> impl Iterator<Item = &Visible<'a, Op>> {
        let at = move |visible: &&Visible<'a, Op>| visible.replica() == replica;
        self.visible.iter().filter(at)
    }

    /// The same history read as other operations: what each stands for, in order.
    ///
    /// For structs (the operations on one field), keys (those on one key) and updates that do
    /// several things at once.
    pub fn project<To, I: IntoIterator<Item = To>>(
        &self,
        mut of: impl FnMut(&Op) -> I,
    ) -> Seen<'a, To> {
        let mut visible: Vec<Visible<'a, To>> = Vec::new();
        for one in &self.visible {
            let first = match visible.last() {
                Some(last) if last.event == one.event => last.part + 1,
                _ => 0,
            };
            let parts = of(one.op()).into_iter().zip(first..);
            visible.extend(parts.map(|(op, part)| Visible {
                id: one.id,
                op: Held::Own(op),
                event: one.event,
                part,
                depth: one.depth,
                author: one.author,
            }));
        }
        Seen {
            visible,
            log: self.log,
            orders: self.orders,
        }
    }

    /// Notes that `a` was shown before `b` (two keys of elements); false if the opposite was ever
    /// shown in this execution, at any replica.
    pub fn shown_in_order(&self, a: u64, b: u64) -> bool {
        let Some(orders) = self.orders else {
            return true;
        };
        let mut orders = orders.borrow_mut();
        if orders.contains(&(b, a)) {
            return false;
        }
        orders.insert((a, b));
        true
    }
}

impl<'a, Op: Clone> Seen<'a, Edits<Op>> {
    /// The operations of all updates, each by itself: what a replica of this crate has seen, read as
    /// a specification of its type reads it.
    ///
    /// # Examples
    /// ```
    /// use commute::testkit::{Random, spec};
    /// use commute::{PnCounter, Replica};
    ///
    /// let report = Random::new::<Replica<PnCounter>>()
    ///     .delta()
    ///     .spec(|seen, got| spec::sum(&seen.each(), got))
    ///     .schedules(50)
    ///     .run();
    /// report.unwrap_clean();
    /// ```
    pub fn each(&self) -> Seen<'a, Op> {
        self.project(|edits| edits.operations.clone())
    }
}

impl<Op: Debug> Debug for Seen<'_, Op> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let each = self
            .visible
            .iter()
            .map(|one| (one.id.to_string(), one.op()));
        f.debug_map().entries(each).finish()
    }
}
