//! Types that promise more of their messages than they keep, beside those that keep it.
//!
//! The contract is a parameter: the same type is right under one and wrong under another.

use std::collections::BTreeMap;

use commute::ReplicaId;
use commute::testkit::{
    Applied, Capabilities, Delivery, OpBased, Outcome, Rejected, Seen, Source, Specified, Subject,
    Verdict,
};

use crate::entry::{Entry, Kind, entry};
use crate::faults::founder;

pub fn entries() -> Vec<Entry> {
    vec![
        entry(
            "totals",
            Kind::Control,
            "totals, in the order in which they are made",
            || {
                Capabilities::<Totals<false>>::new()
                    .operations()
                    .specified()
            },
        )
        .scope(2, 5),
        entry(
            "Z-CON-1",
            Kind::Mutant,
            "totals that are said to need no order",
            || Capabilities::<Totals<true>>::new().operations().specified(),
        ),
        entry(
            "amounts",
            Kind::Control,
            "amounts, in any order, each once",
            || {
                Capabilities::<Amounts<false>>::new()
                    .operations()
                    .specified()
            },
        )
        .scope(2, 5),
        entry(
            "Z-CON-2",
            Kind::Mutant,
            "amounts that are said to bear being sent twice",
            || {
                Capabilities::<Amounts<true>>::new()
                    .operations()
                    .specified()
            },
        ),
        entry(
            "budget",
            Kind::Control,
            "rights to spend that come after their past",
            || {
                Capabilities::<Budget<false>>::new()
                    .operations()
                    .specified()
            },
        )
        .scope(3, 5),
        // A grants, A gives to B, B spends; C takes B's row first: -1 at C.
        entry(
            "H11",
            Kind::Hard,
            "rights to spend that come in any order",
            || Capabilities::<Budget<true>>::new().operations().specified(),
        )
        .scope(3, 6),
    ]
}

/// A counter whose messages say how much their author has counted in all.
#[derive(Clone, Debug)]
pub struct Totals<const ANY_ORDER: bool> {
    me: ReplicaId,
    of: BTreeMap<ReplicaId, u64>,
    outbox: Vec<(ReplicaId, u64)>,
}

impl<const ANY_ORDER: bool> Subject for Totals<ANY_ORDER> {
    type Op = u64;
    type View = u64;

    fn new(me: ReplicaId) -> Self {
        Totals {
            me,
            of: BTreeMap::new(),
            outbox: Vec::new(),
        }
    }

    fn duplicate(&self) -> Self {
        self.clone()
    }

    fn choose(&self, _: &mut Source<'_>) -> Option<u64> {
        Some(1)
    }

    fn perform(&mut self, amount: &u64) -> Outcome {
        let total = self.of.entry(self.me).or_default();
        *total += amount;
        self.outbox.push((self.me, *total));
        Outcome::Done
    }

    fn view(&self) -> u64 {
        self.of.values().sum()
    }
}

impl<const ANY_ORDER: bool> OpBased for Totals<ANY_ORDER> {
    type Message = (ReplicaId, u64);
    const NEEDS: Delivery = match ANY_ORDER {
        true => Delivery::Any,
        false => Delivery::Fifo,
    };

    fn outbox(&mut self) -> Vec<Self::Message> {
        std::mem::take(&mut self.outbox)
    }

    fn receive(&mut self, (id, total): &Self::Message) -> Result<Applied, Rejected> {
        self.of.insert(*id, *total);
        Ok(Applied::New)
    }
}

impl<const ANY_ORDER: bool> Specified for Totals<ANY_ORDER> {
    fn check(seen: &Seen<'_, u64>, got: &u64) -> Verdict {
        sum_of(seen, *got)
    }
}

fn sum_of(seen: &Seen<'_, u64>, got: u64) -> Verdict {
    let sum: u64 = seen.iter().map(|one| *one.op()).sum();
    Verdict::equal(&got, &sum, || "all amounts that are seen".into())
}

/// A counter whose messages are amounts.
#[derive(Clone, Debug)]
pub struct Amounts<const TWICE: bool> {
    sum: u64,
    outbox: Vec<u64>,
}

impl<const TWICE: bool> Subject for Amounts<TWICE> {
    type Op = u64;
    type View = u64;

    fn new(_: ReplicaId) -> Self {
        Amounts {
            sum: 0,
            outbox: Vec::new(),
        }
    }

    fn duplicate(&self) -> Self {
        self.clone()
    }

    fn choose(&self, source: &mut Source<'_>) -> Option<u64> {
        Some(1 + source.below(2))
    }

    fn perform(&mut self, amount: &u64) -> Outcome {
        self.sum += amount;
        self.outbox.push(*amount);
        Outcome::Done
    }

    fn view(&self) -> u64 {
        self.sum
    }
}

impl<const TWICE: bool> OpBased for Amounts<TWICE> {
    type Message = u64;
    const NEEDS: Delivery = Delivery::Any;
    const DUPLICATES: bool = TWICE;

    fn outbox(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.outbox)
    }

    fn receive(&mut self, amount: &u64) -> Result<Applied, Rejected> {
        self.sum += amount;
        Ok(Applied::New)
    }
}

impl<const TWICE: bool> Specified for Amounts<TWICE> {
    fn check(seen: &Seen<'_, u64>, got: &u64) -> Verdict {
        sum_of(seen, *got)
    }
}

/// What one replica did with its rights.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Row {
    granted: i64,
    given: BTreeMap<ReplicaId, i64>,
    spent: i64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Deed {
    /// Makes a right.
    Grant,
    /// Gives a right to another replica.
    Give(ReplicaId),
    /// Uses up a right.
    Spend,
}

/// A counter that never falls below zero: who spends has a right to.
///
/// Source: Balegas et al. 2015, "Extending eventually consistent cloud databases for enforcing
/// numeric invariants".
#[derive(Clone, Debug)]
pub struct Budget<const ANY_ORDER: bool> {
    me: ReplicaId,
    rows: BTreeMap<ReplicaId, Row>,
    outbox: Vec<(ReplicaId, Row)>,
}

impl<const ANY_ORDER: bool> Budget<ANY_ORDER> {
    fn rights(&self) -> i64 {
        let given = self.rows.values().map(|row| row.given.get(&self.me));
        let got: i64 = given.flatten().sum();
        let own = self.rows.get(&self.me).cloned().unwrap_or_default();
        own.granted + got - own.given.values().sum::<i64>() - own.spent
    }
}

impl<const ANY_ORDER: bool> Subject for Budget<ANY_ORDER> {
    type Op = Deed;
    type View = i64;

    fn new(me: ReplicaId) -> Self {
        Budget {
            me,
            rows: BTreeMap::new(),
            outbox: Vec::new(),
        }
    }

    fn duplicate(&self) -> Self {
        self.clone()
    }

    fn choose(&self, source: &mut Source<'_>) -> Option<Deed> {
        let other = (1..=2).map(founder).find(|id| *id != self.me);
        match (self.rights() > 0, source.below(2), other) {
            (true, 1, Some(other)) => Some(Deed::Give(other)),
            (true, ..) => Some(Deed::Spend),
            (false, ..) => (!self.rows.contains_key(&self.me)).then_some(Deed::Grant),
        }
    }

    fn perform(&mut self, deed: &Deed) -> Outcome {
        if *deed != Deed::Grant && self.rights() < 1 {
            return Outcome::Refused("no right is left".into());
        }
        let row = self.rows.entry(self.me).or_default();
        match deed {
            Deed::Grant => row.granted += 1,
            Deed::Give(to) => *row.given.entry(*to).or_default() += 1,
            Deed::Spend => row.spent += 1,
        }
        self.outbox.push((self.me, row.clone()));
        Outcome::Done
    }

    fn view(&self) -> i64 {
        self.rows.values().map(|row| row.granted - row.spent).sum()
    }

    fn invariant(&self) -> Result<(), String> {
        match self.view() {
            value @ ..0 => Err(format!("{value} is left")),
            _ => Ok(()),
        }
    }
}

impl<const ANY_ORDER: bool> OpBased for Budget<ANY_ORDER> {
    type Message = (ReplicaId, Row);
    const NEEDS: Delivery = match ANY_ORDER {
        true => Delivery::Fifo,
        false => Delivery::Causal,
    };

    fn outbox(&mut self) -> Vec<Self::Message> {
        std::mem::take(&mut self.outbox)
    }

    fn receive(&mut self, (id, row): &Self::Message) -> Result<Applied, Rejected> {
        self.rows.insert(*id, row.clone());
        Ok(Applied::New)
    }
}

impl<const ANY_ORDER: bool> Specified for Budget<ANY_ORDER> {
    fn check(seen: &Seen<'_, Deed>, got: &i64) -> Verdict {
        let value = |deed: &Deed| match deed {
            Deed::Grant => 1,
            Deed::Give(_) => 0,
            Deed::Spend => -1,
        };
        let sum: i64 = seen.iter().map(|one| value(one.op())).sum();
        Verdict::equal(got, &sum, || "what was granted less what was spent".into())
    }
}
