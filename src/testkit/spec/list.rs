//! Lists and texts whose elements are all different: what is there, and in which order.
//!
//! Source: Attiya et al. 2016, "Specification and complexity of collaborative text editing",
//! section 3 (strong list specification). The order of two elements is compared over all views that
//! were ever shown; that the orders of different pairs from different views fit together in one
//! total order is not checked.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

use super::why::names;
use crate::testkit::{Law, Seen, Verdict, Visible};

/// What an operation means for a list whose elements are all different.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ListOp<V> {
    /// Inserts a value between its neighbours at that moment; `None` is the end of the list.
    Insert {
        /// What its author saw directly before it.
        left: Option<V>,
        /// What is inserted, nowhere else and never again.
        value: V,
        /// What its author saw directly after it.
        right: Option<V>,
    },
    /// Deletes a value for good.
    Delete(V),
}

/// An operation on a list.
pub trait AsListOps {
    /// What the list holds.
    type Element: Ord + Clone + Debug;

    /// What it means: one edit after the other. A replacement is a deletion and an insertion; a run
    /// of several elements is several insertions, each after the one before.
    fn as_list_ops(&self) -> Vec<ListOp<Self::Element>>;
}

impl<V: Ord + Clone + Debug> AsListOps for ListOp<V> {
    type Element = V;

    fn as_list_ops(&self) -> Vec<ListOp<V>> {
        vec![self.clone()]
    }
}

/// A view that is a list.
pub trait Elements {
    /// What it holds.
    type Element;

    /// All of it, in order.
    fn elements(&self) -> Vec<Self::Element>;
}

impl<V: Clone> Elements for Vec<V> {
    type Element = V;

    fn elements(&self) -> Vec<V> {
        self.clone()
    }
}

impl Elements for String {
    type Element = char;

    fn elements(&self) -> Vec<char> {
        self.chars().collect()
    }
}

/// One visible insertion.
pub(super) struct Inserted<'s, 'a, V> {
    pub op: &'s Visible<'a, ListOp<V>>,
    pub left: Option<&'s V>,
    pub right: Option<&'s V>,
    /// Where it is shown; `None` if it was deleted.
    pub place: Option<usize>,
}

/// The visible insertions by what they inserted, with their places in a view that shows the right
/// elements.
pub(super) type Insertions<'s, 'a, V> = BTreeMap<&'s V, Inserted<'s, 'a, V>>;

/// The elements that were inserted and not deleted, in any order.
///
/// # Complexity
/// O(n log n)
pub fn elements_of<Op, V: Ord>(
    seen: &Seen<'_, Op>,
    meaning: impl Fn(&Op) -> Vec<ListOp<V>>,
) -> BTreeSet<V> {
    let mut there = BTreeSet::new();
    let mut gone = BTreeSet::new();
    for op in seen.iter().flat_map(|one| meaning(one.op())) {
        match op {
            ListOp::Insert { value, .. } => there.insert(value),
            ListOp::Delete(value) => gone.insert(value),
        };
    }
    there.retain(|value| !gone.contains(value));
    there
}

/// Finds the place of every insertion; wrong if the view does not show the right elements.
pub(super) fn placed<'s, 'a, V: Ord + Debug>(
    seen: &'s Seen<'a, ListOp<V>>,
    got: &[V],
) -> Result<Insertions<'s, 'a, V>, Verdict> {
    let mut all = Insertions::new();
    for op in seen.iter() {
        if let ListOp::Insert { left, value, right } = op.op() {
            let (left, right) = (left.as_ref(), right.as_ref());
            let inserted = Inserted {
                op,
                left,
                right,
                place: None,
            };
            all.insert(value, inserted);
        }
    }
    let mut deleted = BTreeSet::new();
    for op in seen.iter() {
        if let ListOp::Delete(value) = op.op() {
            deleted.insert(value);
        }
    }
    for (place, value) in got.iter().enumerate() {
        let inserted = all.get_mut(value).filter(|one| one.place.is_none());
        match inserted.filter(|_| !deleted.contains(value)) {
            Some(inserted) => inserted.place = Some(place),
            None => return Err(wrong_elements(seen, got, value)),
        }
    }
    let lacking = |(value, one): &(&&V, &Inserted<'_, '_, V>)| {
        one.place.is_none() && !deleted.contains(**value)
    };
    match all.iter().find(lacking) {
        Some((value, _)) => Err(wrong_elements(seen, got, value)),
        None => Ok(all),
    }
}

/// What is wrong with `value`: there too often, or not there.
fn wrong_elements<V: Ord + Debug>(seen: &Seen<'_, ListOp<V>>, got: &[V], value: &V) -> Verdict {
    let mut expected: BTreeSet<&V> = BTreeSet::new();
    let mut gone: BTreeSet<&V> = BTreeSet::new();
    for op in seen.iter() {
        match op.op() {
            ListOp::Insert { value, .. } => expected.insert(value),
            ListOp::Delete(value) => gone.insert(value),
        };
    }
    expected.retain(|value| !gone.contains(value));
    let of =
        |wanted: fn(&ListOp<V>, &V) -> bool| names(seen.iter().filter(|op| wanted(op.op(), value)));
    let inserts = of(|op, value| matches!(op, ListOp::Insert { value: own, .. } if own == value));
    let deletes = of(|op, value| matches!(op, ListOp::Delete(own) if own == value));
    let why = match (inserts.is_empty(), deletes.is_empty()) {
        (true, _) => format!("no visible operation inserted {value:?}"),
        (false, false) => format!("{deletes} deleted {value:?}"),
        (false, true) => match got.iter().filter(|own| *own == value).count() {
            0 => format!("{inserts} inserted {value:?} and no visible operation deleted it"),
            times => format!("{inserts} inserted {value:?} once and it is shown {times} times"),
        },
    };
    Verdict::wrong(format!("these elements in some order: {expected:?}"), why)
}

/// The strong list specification.
///
/// The view shows what was inserted and not deleted (law S1); an element stands between the
/// neighbours it was put between, as long as they are there (T2); two elements stand in one order
/// in all views that any replica has ever shown (T1).
///
/// # Examples
/// ```
/// use commute::testkit::{History, Law, Verdict, spec};
/// use spec::ListOp::Insert;
///
/// let history = History::new()
///     .op(0, Insert { left: None, value: 'a', right: None }, &[])
///     .op(1, Insert { left: Some('a'), value: 'b', right: None }, &["r0:1"]);
/// assert_eq!(spec::strong_list(&history.seen(), &"ab".to_string()), Verdict::Right);
/// let Verdict::Wrong { law, why, .. } = spec::strong_list(&history.seen(), &"ba".to_string())
/// else { panic!() };
/// assert_eq!(law, Law::T2);
/// assert_eq!(why, "r1:1 inserted 'b' after 'a' (r0:1)");
/// ```
pub fn strong_list<Op, View>(seen: &Seen<'_, Op>, got: &View) -> Verdict
where
    Op: AsListOps,
    View: Elements<Element = Op::Element>,
{
    strong_list_by(seen, &got.elements(), AsListOps::as_list_ops)
}

/// [`strong_list`] for operations whose meaning a closure gives.
///
/// # Complexity
/// O(n log n + m^2 log m), with m elements shown: all pairs are compared with all earlier views.
pub fn strong_list_by<Op, V: Ord + Clone + Debug>(
    seen: &Seen<'_, Op>,
    got: &[V],
    meaning: impl Fn(&Op) -> Vec<ListOp<V>>,
) -> Verdict {
    let seen = seen.project(meaning);
    match placed(&seen, got) {
        Ok(all) => landed(&all).and_then(|()| one_order(&seen, got, &all)),
        Err(wrong) => Err(wrong),
    }
    .err()
    .unwrap_or(Verdict::Right)
}

fn by<V>(law: Law, expected: String, why: String) -> Result<V, Verdict> {
    Err(Verdict::Wrong { law, expected, why })
}

/// T2: every element stands between the neighbours it was put between.
fn landed<V: Ord + Debug>(all: &Insertions<'_, '_, V>) -> Result<(), Verdict> {
    let place = |value: &V| all.get(value).and_then(|one| one.place);
    for (value, one) in all {
        let Some(own) = one.place else {
            continue;
        };
        let left = one
            .left
            .filter(|left| place(left).is_some_and(|at| at > own));
        let right = one
            .right
            .filter(|right| place(right).is_some_and(|at| at < own));
        let name = |value: &V| {
            all.get(value)
                .map_or(String::new(), |one| one.op.id().to_string())
        };
        let id = one.op.id();
        if let Some(left) = left {
            let why = format!("{id} inserted {value:?} after {left:?} ({})", name(left));
            return by(Law::T2, format!("{left:?} before {value:?}"), why);
        }
        if let Some(right) = right {
            let why = format!("{id} inserted {value:?} before {right:?} ({})", name(right));
            return by(Law::T2, format!("{value:?} before {right:?}"), why);
        }
    }
    Ok(())
}

/// T1: no pair was ever shown the other way round.
fn one_order<V: Ord + Debug>(
    seen: &Seen<'_, ListOp<V>>,
    got: &[V],
    all: &Insertions<'_, '_, V>,
) -> Result<(), Verdict> {
    let inserts: Vec<_> = got.iter().filter_map(|value| all.get(value)).collect();
    for (at, x) in inserts.iter().enumerate() {
        for (y, after) in inserts[at + 1..].iter().zip(at + 1..) {
            if !seen.shown_in_order(x.op.key(), y.op.key()) {
                let (a, b) = (&got[at], &got[after]);
                let why = format!(
                    "{a:?} ({}) was shown after {b:?} ({}) before, at this or another replica",
                    x.op.id(),
                    y.op.id()
                );
                return by(Law::T1, format!("{b:?} before {a:?}"), why);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::testkit::History;
    use crate::testkit::spec::why::tests::{why, why_by};

    /// `"axb"`: x is inserted between a and b; `.` is an end, `-x` deletes.
    pub fn edit(text: &str) -> ListOp<char> {
        let of = |c: Option<char>| c.filter(|c| *c != '.');
        let mut chars = text.chars();
        match (chars.next(), chars.next(), chars.next()) {
            (Some('-'), Some(value), None) => ListOp::Delete(value),
            (left, Some(value), right) => ListOp::Insert {
                left: of(left),
                value,
                right: of(right),
            },
            _ => panic!("not an edit: {text}"),
        }
    }

    fn history() -> History<ListOp<char>> {
        History::new()
            .op(0, edit(".a."), &[])
            .op(0, edit("ab."), &[])
            .op(1, edit(".ca"), &["r0:1"])
            .op(1, edit("-a"), &[])
    }

    #[test]
    fn a_list_shows_what_was_inserted_and_not_deleted() {
        let history = history();
        let check =
            |names: &[&str], got: &str| why(strong_list(&history.seen_of(names), &got.to_string()));
        assert_eq!(check(&["r0:2", "r1:2"], "cb"), "right");
        let some = "these elements in some order: {'b', 'c'}";
        let all = ["r0:2", "r1:2"];
        assert_eq!(check(&all, "cab"), format!("{some}: r1:2 deleted 'a'"));
        assert_eq!(
            check(&all, "cbx"),
            format!("{some}: no visible operation inserted 'x'")
        );
        assert_eq!(
            check(&all, "c"),
            format!("{some}: r0:2 inserted 'b' and no visible operation deleted it")
        );
        assert_eq!(
            check(&all, "cbb"),
            format!("{some}: r0:2 inserted 'b' once and it is shown 2 times")
        );
        let there = elements_of(&history.seen(), AsListOps::as_list_ops);
        assert_eq!(there, ['b', 'c'].into());
    }

    #[test]
    fn edits_land_where_they_were_asked_for() {
        let history = history();
        let check = |got: &str| {
            let seen = history.seen_of(&["r0:2", "r1:1"]);
            why_by(
                Law::T2,
                strong_list(&seen, &got.chars().collect::<Vec<_>>()),
            )
        };
        assert_eq!(
            check("cba"),
            "'a' before 'b': r0:2 inserted 'b' after 'a' (r0:1)"
        );
        assert_eq!(
            check("acb"),
            "'c' before 'a': r1:1 inserted 'c' before 'a' (r0:1)"
        );
        assert_eq!(check("cab"), "right");
    }

    #[test]
    fn two_elements_keep_their_order() {
        let history = history();
        let seen = history.seen();
        let check = |got: &str| why_by(Law::T1, strong_list(&seen, &got.to_string()));
        assert_eq!(check("cb"), "right");
        assert_eq!(
            check("bc"),
            "'c' before 'b': 'b' (r0:2) was shown after 'c' (r1:1) before, at this or another \
             replica"
        );
    }
}
