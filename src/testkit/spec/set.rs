//! Sets: of each element, which of its insertions and removals count.
//!
//! Source: Bieniusa et al. 2012, "An optimized conflict-free replicated set" (add wins); Baquero et
//! al. 2017, "Pure operation-based replicated data types" (remove wins); Shapiro et al. 2011, "A
//! comprehensive study of convergent and commutative replicated data types" (two-phase).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

use super::why::names;
use crate::testkit::{Seen, Verdict, Visible};

/// What an operation means for a set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SetOp<T> {
    /// Inserts an element.
    Insert(T),
    /// Removes an element.
    Remove(T),
    /// Removes every element.
    Clear,
}

/// An operation on a set.
pub trait AsSetOp {
    /// What the set holds.
    type Element: Ord + Debug;

    /// What it means; `None` if nothing.
    fn as_set_op(&self) -> Option<SetOp<Self::Element>>;
}

impl<T: Ord + Clone + Debug> AsSetOp for SetOp<T> {
    type Element = T;

    fn as_set_op(&self) -> Option<SetOp<T>> {
        Some(self.clone())
    }
}

/// The visible operations on one element, in order.
struct Touching<'s, 'a, Op> {
    inserts: Vec<&'s Visible<'a, Op>>,
    removes: Vec<&'s Visible<'a, Op>>,
}

impl<Op> Default for Touching<'_, '_, Op> {
    fn default() -> Self {
        Touching {
            inserts: Vec::new(),
            removes: Vec::new(),
        }
    }
}

/// All elements that visible operations name, and the visible clears.
struct Elements<'s, 'a, Op, K> {
    seen: &'s Seen<'a, Op>,
    of: BTreeMap<K, Touching<'s, 'a, Op>>,
    clears: Vec<&'s Visible<'a, Op>>,
}

impl<'s, 'a, Op, K: Ord> Elements<'s, 'a, Op, K> {
    fn new(seen: &'s Seen<'a, Op>, meaning: impl Fn(&Op) -> Option<SetOp<K>>) -> Self {
        let mut all = Elements {
            seen,
            of: BTreeMap::new(),
            clears: Vec::new(),
        };
        for one in seen.iter() {
            match meaning(one.op()) {
                Some(SetOp::Insert(key)) => all.of.entry(key).or_default().inserts.push(one),
                Some(SetOp::Remove(key)) => all.of.entry(key).or_default().removes.push(one),
                Some(SetOp::Clear) => all.clears.push(one),
                None => {}
            }
        }
        all
    }
}

/// Who wins.
#[derive(Clone, Copy)]
enum Rule {
    GrowOnly,
    AddWins,
    RemoveWins,
    TwoPhase,
}

impl Rule {
    fn holds<Op, K: Ord>(self, all: &Elements<'_, '_, Op, K>, of: &Touching<'_, '_, Op>) -> bool {
        let seen = all.seen;
        let before = |a: &Visible<'_, Op>, b: &Visible<'_, Op>| seen.happened_before(a, b);
        match self {
            Rule::GrowOnly => !of.inserts.is_empty(),
            Rule::AddWins => of.inserts.iter().any(|insert| {
                let removes = of.removes.iter().chain(&all.clears);
                !removes.into_iter().any(|remove| before(insert, remove))
            }),
            Rule::RemoveWins => {
                let mut removes = of.removes.iter().chain(&all.clears);
                let answered = |remove: &&Visible<'_, Op>| {
                    of.inserts.iter().any(|insert| before(remove, insert))
                };
                !of.inserts.is_empty() && removes.all(answered)
            }
            Rule::TwoPhase => {
                let cleared = |clear: &&Visible<'_, Op>| {
                    of.inserts.iter().any(|insert| before(insert, clear))
                };
                !of.inserts.is_empty() && of.removes.is_empty() && !all.clears.iter().any(cleared)
            }
        }
    }

    /// Why an element is to be there, or not.
    fn why<Op, K: Ord + Debug>(
        self,
        all: &Elements<'_, '_, Op, K>,
        key: &K,
        of: Option<&Touching<'_, '_, Op>>,
    ) -> String {
        let Some(of) = of.filter(|of| !of.inserts.is_empty()) else {
            return format!("no insert of {key:?} is visible");
        };
        let seen = all.seen;
        let inserts = names(of.inserts.iter().copied());
        let removals = || of.removes.iter().chain(&all.clears).copied();
        let saw_any = |remove: &&Visible<'_, Op>| {
            let mut inserts = of.inserts.iter();
            inserts.any(|insert| seen.happened_before(insert, remove))
        };
        let seen_by_any = |remove: &&Visible<'_, Op>| {
            let mut inserts = of.inserts.iter();
            inserts.any(|insert| seen.happened_before(remove, insert))
        };
        let survives = |insert: &&Visible<'_, Op>| {
            !removals().any(|remove| seen.happened_before(insert, remove))
        };
        match (self, self.holds(all, of)) {
            (Rule::GrowOnly, _) => format!("{inserts} inserted {key:?}"),
            (Rule::AddWins, true) => {
                let survivors = names(of.inserts.iter().copied().filter(survives));
                format!("{survivors} inserted {key:?} and no visible remove had seen that")
            }
            (Rule::AddWins, false) => {
                let removes = names(removals().filter(saw_any));
                format!(
                    "every insert of {key:?} that is visible ({inserts}) was seen by a visible \
                     remove ({removes})"
                )
            }
            (Rule::RemoveWins, true) => match names(removals()) {
                none if none.is_empty() => {
                    format!("{inserts} inserted {key:?} and no remove of it is visible")
                }
                removes => format!(
                    "every remove of {key:?} that is visible ({removes}) was seen by a visible \
                     insert ({inserts})"
                ),
            },
            (Rule::RemoveWins, false) => {
                let removes = names(removals().filter(|remove| !seen_by_any(remove)));
                format!(
                    "{removes} removed {key:?} and no visible insert of it ({inserts}) had seen \
                     that"
                )
            }
            (Rule::TwoPhase, true) => {
                format!("{inserts} inserted {key:?} and no remove of it is visible")
            }
            (Rule::TwoPhase, false) => {
                let clears = all.clears.iter().copied().filter(saw_any);
                let removes = names(of.removes.iter().copied().chain(clears));
                format!("{removes} removed {key:?}, and what was removed stays away")
            }
        }
    }

    fn members<Op, K: Ord>(
        self,
        seen: &Seen<'_, Op>,
        meaning: impl Fn(&Op) -> Option<SetOp<K>>,
    ) -> BTreeSet<K> {
        let mut all = Elements::new(seen, meaning);
        let of = std::mem::take(&mut all.of);
        let there = of.into_iter().filter(|(_, of)| self.holds(&all, of));
        there.map(|(key, _)| key).collect()
    }

    fn check<Op: AsSetOp>(self, seen: &Seen<'_, Op>, got: &BTreeSet<Op::Element>) -> Verdict {
        let all = Elements::new(seen, AsSetOp::as_set_op);
        let mut named = all.of.iter();
        let wrong = named.find(|(key, of)| self.holds(&all, of) != got.contains(key));
        let wrong = wrong.map(|(key, of)| (key, Some(of)));
        let invented = || got.iter().find(|key| !all.of.contains_key(key));
        let Some((key, of)) = wrong.or_else(|| invented().map(|key| (key, None))) else {
            return Verdict::Right;
        };
        let there = all.of.iter().filter(|(_, of)| self.holds(&all, of));
        let expected: BTreeSet<&Op::Element> = there.map(|(key, _)| key).collect();
        Verdict::wrong(format!("{expected:?}"), self.why(&all, key, of))
    }
}

/// All that was inserted; removals have no effect.
///
/// # Complexity
/// O(n log n), like all of this file but for the pairs of inserts and removes of one element.
pub fn grow_only_set<Op, K: Ord>(
    seen: &Seen<'_, Op>,
    meaning: impl Fn(&Op) -> Option<SetOp<K>>,
) -> BTreeSet<K> {
    Rule::GrowOnly.members(seen, meaning)
}

/// An element is there if an insert of it was not seen by any visible remove or clear.
pub fn add_wins_set<Op, K: Ord>(
    seen: &Seen<'_, Op>,
    meaning: impl Fn(&Op) -> Option<SetOp<K>>,
) -> BTreeSet<K> {
    Rule::AddWins.members(seen, meaning)
}

/// An element is there if it was inserted and every visible remove of it was seen by a visible
/// insert of it.
///
/// A clear counts as a remove of every element, also of those that its author had not seen.
pub fn remove_wins_set<Op, K: Ord>(
    seen: &Seen<'_, Op>,
    meaning: impl Fn(&Op) -> Option<SetOp<K>>,
) -> BTreeSet<K> {
    Rule::RemoveWins.members(seen, meaning)
}

/// An element is there if it was inserted and never removed; what was removed stays away.
///
/// A clear removes the elements of which its author had seen an insert.
pub fn two_phase_set<Op, K: Ord>(
    seen: &Seen<'_, Op>,
    meaning: impl Fn(&Op) -> Option<SetOp<K>>,
) -> BTreeSet<K> {
    Rule::TwoPhase.members(seen, meaning)
}

/// A set that only grows ([`grow_only_set`]).
pub fn grow_only<Op: AsSetOp>(seen: &Seen<'_, Op>, got: &BTreeSet<Op::Element>) -> Verdict {
    Rule::GrowOnly.check(seen, got)
}

/// A set in which a concurrent insert wins over a remove ([`add_wins_set`]).
pub fn add_wins<Op: AsSetOp>(seen: &Seen<'_, Op>, got: &BTreeSet<Op::Element>) -> Verdict {
    Rule::AddWins.check(seen, got)
}

/// A set in which a concurrent remove wins over an insert ([`remove_wins_set`]).
pub fn remove_wins<Op: AsSetOp>(seen: &Seen<'_, Op>, got: &BTreeSet<Op::Element>) -> Verdict {
    Rule::RemoveWins.check(seen, got)
}

/// A set from which elements go for good ([`two_phase_set`]).
pub fn two_phase<Op: AsSetOp>(seen: &Seen<'_, Op>, got: &BTreeSet<Op::Element>) -> Verdict {
    Rule::TwoPhase.check(seen, got)
}

#[cfg(test)]
mod tests {
    use super::SetOp::{Clear, Insert, Remove};
    use super::*;
    use crate::testkit::History;
    use crate::testkit::spec::why::tests::why;

    /// r0 inserts and removes, r1 inserts concurrently, r2 removes what r1 inserted.
    fn history() -> History<SetOp<u8>> {
        History::new()
            .op(0, Insert(0), &[])
            .op(1, Insert(0), &[])
            .op(0, Remove(0), &[])
            .op(2, Remove(0), &["r1:1"])
            .op(1, Insert(0), &["r0:2"])
    }

    #[test]
    fn an_insert_stays_unless_a_remove_saw_it() {
        let (history, full) = (history(), BTreeSet::from([0]));
        let check =
            |names: &[&str], got: &BTreeSet<u8>| why(add_wins(&history.seen_of(names), got));
        let none = BTreeSet::new();
        assert_eq!(check(&["r0:1"], &full), "right");
        assert_eq!(check(&["r0:2"], &none), "right");
        assert_eq!(
            check(&["r0:2", "r1:1"], &none),
            "{0}: r1:1 inserted 0 and no visible remove had seen that"
        );
        assert_eq!(
            check(&["r0:2", "r2:1"], &full),
            "{}: every insert of 0 that is visible (r0:1, r1:1) was seen by a visible remove \
             (r0:2, r2:1)"
        );
        assert_eq!(check(&["r0:2", "r2:1", "r1:2"], &full), "right");
        assert_eq!(check(&[], &full), "{}: no insert of 0 is visible");
    }

    #[test]
    fn a_remove_stays_unless_an_insert_saw_it() {
        let (history, full) = (history(), BTreeSet::from([0]));
        let check =
            |names: &[&str], got: &BTreeSet<u8>| why(remove_wins(&history.seen_of(names), got));
        let none = BTreeSet::new();
        assert_eq!(
            check(&["r0:2", "r1:1"], &full),
            "{}: r0:2 removed 0 and no visible insert of it (r0:1, r1:1) had seen that"
        );
        assert_eq!(
            check(&["r1:2"], &none),
            "{0}: every remove of 0 that is visible (r0:2) was seen by a visible insert \
             (r0:1, r1:1, r1:2)"
        );
        assert_eq!(check(&["r1:2", "r2:1"], &none), "right");
        assert_eq!(
            check(&["r0:1"], &none),
            "{0}: r0:1 inserted 0 and no remove of it is visible"
        );
    }

    #[test]
    fn what_was_removed_stays_away_from_a_two_phase_set() {
        let (history, full) = (history(), BTreeSet::from([0]));
        assert_eq!(
            why(two_phase(&history.seen_of(&["r1:2"]), &full)),
            "{}: r0:2 removed 0, and what was removed stays away"
        );
        assert_eq!(why(grow_only(&history.seen(), &full)), "right");
        assert_eq!(
            why(grow_only(&history.seen(), &BTreeSet::from([0, 1]))),
            "{0}: no insert of 1 is visible"
        );
    }

    #[test]
    fn a_clear_is_a_remove_of_what_it_saw_or_of_everything() {
        let history = History::new()
            .op(0, Insert('a'), &[])
            .op(0, Clear, &[])
            .op(1, Insert('b'), &[])
            .op(2, Insert('a'), &["r0:2"]);
        let seen = history.seen();
        let meaning = |op: &SetOp<char>| Some(*op);
        assert_eq!(add_wins_set(&seen, meaning), ['a', 'b'].into());
        assert_eq!(remove_wins_set(&seen, meaning), ['a'].into());
        assert_eq!(two_phase_set(&seen, meaning), ['b'].into());
        assert_eq!(grow_only_set(&seen, meaning), ['a', 'b'].into());
    }
}
