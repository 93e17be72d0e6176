//! What is typed together stays together: how far runs of concurrent insertions may mix.
//!
//! Source: Weidner and Kleppmann 2023, "The Art of the Fugue: Minimizing Interleaving in
//! Collaborative Text Editing", arXiv:2305.00583.

#[cfg(test)]
mod fugue;

use std::collections::BTreeMap;
use std::fmt::Debug;

use super::list::{AsListOps, Elements, Insertions, ListOp, placed};
use crate::testkit::{Law, Seen, Verdict, Visible};

/// How much must stay together.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Level {
    /// Runs typed forward.
    ///
    /// Every element is followed by all that was inserted after it, by what was inserted after
    /// those, and so on, with nothing else in between: the list is a depth-first walk of the tree
    /// in which the parent of an element is its left neighbour at insertion.
    Forward,
    /// Runs typed forward, and runs typed backward, each element before the last one.
    ///
    /// As [`Forward`](Level::Forward), and of two elements with the same left neighbour at
    /// insertion the one inserted before the other is, with all that belongs to it, directly before
    /// it: the list is a walk in order of the tree that Fugue builds. That is necessary for maximal
    /// non-interleaving; in which order concurrent runs stand is left to the type. Judged only
    /// where no visible insertion had seen a deletion: the neighbours that a user sees need not be
    /// those that the type inserts between then.
    Maximal,
}

/// Runs stay together as far as `level` says (law T3).
///
/// Says nothing about which elements are there; use it after [`strong_list`](super::strong_list):
/// `spec::strong_list(seen, got).and(|| spec::non_interleaving(Level::Forward)(seen, got))`.
///
/// # Examples
/// ```
/// use commute::testkit::{History, Verdict, spec};
/// use spec::{Level, ListOp::Insert};
///
/// let history = History::new()
///     .op(0, Insert { left: None, value: 'a', right: None }, &[])
///     .op(0, Insert { left: Some('a'), value: 'b', right: None }, &[])
///     .op(1, Insert { left: None, value: 'x', right: None }, &[]);
/// let check = spec::non_interleaving(Level::Forward);
/// assert_eq!(check(&history.seen(), &"xab".to_string()), Verdict::Right);
/// let Verdict::Wrong { why, .. } = check(&history.seen(), &"axb".to_string()) else { panic!() };
/// assert_eq!(why, "'x' (r1:1) stands between 'a' (r0:1) and 'b' (r0:2), which belong together");
/// ```
pub fn non_interleaving<Op, View>(level: Level) -> impl Fn(&Seen<'_, Op>, &View) -> Verdict
where
    Op: AsListOps,
    View: Elements<Element = Op::Element>,
{
    move |seen, got| non_interleaving_by(level, seen, &got.elements(), AsListOps::as_list_ops)
}

/// [`non_interleaving`] for operations whose meaning a closure gives.
///
/// # Complexity
/// O(n log n)
pub fn non_interleaving_by<Op, V: Ord + Clone + Debug>(
    level: Level,
    seen: &Seen<'_, Op>,
    got: &[V],
    meaning: impl Fn(&Op) -> Vec<ListOp<V>>,
) -> Verdict {
    let seen = seen.project(meaning);
    // Wrong elements are the business of another law.
    let Ok(all) = placed(&seen, got) else {
        return Verdict::Right;
    };
    let together = |level| together(level, &seen, got, &all);
    match level {
        Level::Maximal if !after_deletion(&seen) => {
            together(Level::Forward).and(|| together(Level::Maximal))
        }
        _ => together(Level::Forward),
    }
}

/// What `value` belongs to.
fn parent<'s, V: Ord>(level: Level, all: &Insertions<'s, '_, V>, value: &V) -> Option<&'s V> {
    let one = all.get(value)?;
    let right = one.right.filter(|_| level == Level::Maximal);
    // The right neighbour, if both have the same left one: it was there before `value` was.
    let right = right.filter(|right| all.get(right).is_some_and(|it| it.left == one.left));
    right.or(one.left)
}

/// Whether an insertion had seen a deletion.
fn after_deletion<V>(seen: &Seen<'_, ListOp<V>>) -> bool {
    let mut deletions: Vec<&Visible<'_, ListOp<V>>> = Vec::new();
    seen.iter().any(|one| match one.op() {
        ListOp::Insert { .. } => deletions.iter().any(|gone| seen.happened_before(gone, one)),
        ListOp::Delete(_) => {
            deletions.push(one);
            false
        }
    })
}

/// What is shown of an element and all that belongs to it.
#[derive(Clone, Copy)]
struct Span {
    count: usize,
    first: usize,
    last: usize,
}

impl Span {
    fn with(self, other: Span) -> Span {
        Span {
            count: self.count + other.count,
            first: self.first.min(other.first),
            last: self.last.max(other.last),
        }
    }

    const fn is_whole(self) -> bool {
        self.last - self.first + 1 == self.count
    }
}

/// Every element and all that belongs to it stand together; at the level of forward runs the
/// element is the first of them.
fn together<'s, V: Ord + Debug>(
    level: Level,
    seen: &'s Seen<'_, ListOp<V>>,
    got: &[V],
    all: &Insertions<'s, '_, V>,
) -> Verdict {
    let mut spans = BTreeMap::<&V, Span>::new();
    // What an element was inserted next to was there before, so that children come after parents.
    for op in seen.iter().as_slice().iter().rev() {
        let ListOp::Insert { value, .. } = op.op() else {
            continue;
        };
        let below = spans.get(value).copied();
        let own = all.get(value).and_then(|one| one.place);
        let own = own.map(|first| Span {
            count: 1,
            first,
            last: first,
        });
        let whole = match (own, below) {
            (Some(own), Some(below)) => own.with(below),
            (Some(only), None) | (None, Some(only)) => only,
            (None, None) => continue,
        };
        let first = own.is_none_or(|own| level > Level::Forward || own.first == whole.first);
        if !whole.is_whole() || !first {
            return mixed(level, got, all, value, whole);
        }
        if let Some(parent) = parent(level, all, value) {
            let of_parent = spans.get(parent).map_or(whole, |span| span.with(whole));
            spans.insert(parent, of_parent);
        }
    }
    Verdict::Right
}

/// Names what stands in between.
fn mixed<V: Ord + Debug>(
    level: Level,
    got: &[V],
    all: &Insertions<'_, '_, V>,
    root: &V,
    whole: Span,
) -> Verdict {
    let belongs = |value: &V| {
        let mut at = value;
        while at != root {
            match parent(level, all, at) {
                Some(next) => at = next,
                None => return false,
            }
        }
        true
    };
    let name = |value: &V| match all.get(value) {
        Some(one) => format!("{value:?} ({})", one.op.id()),
        None => format!("{value:?}"),
    };
    let wrong = |why| Verdict::Wrong {
        law: Law::T3,
        expected: "what was typed together in one piece".into(),
        why,
    };
    let within = &got[whole.first..=whole.last];
    let Some(at) = within.iter().position(|value| !belongs(value)) else {
        let why = format!("{} was inserted after {}", name(&within[0]), name(root));
        return wrong(why);
    };
    // The span starts and ends with elements that belong together.
    let after = within[at..]
        .iter()
        .find(|value| belongs(value))
        .unwrap_or(root);
    wrong(format!(
        "{} stands between {} and {}, which belong together",
        name(&within[at]),
        name(&within[at - 1]),
        name(after)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::History;
    use crate::testkit::spec::list::tests::edit;
    use crate::testkit::spec::why::tests::why_by;

    fn typed(by: &[(u16, &str, &[&str])]) -> History<ListOp<char>> {
        let empty = History::new();
        by.iter().fold(empty, |all, (replica, text, seen)| {
            all.op(*replica, edit(text), seen)
        })
    }

    fn check(level: Level, history: &History<ListOp<char>>, got: &str) -> String {
        let check = non_interleaving(level);
        let verdict = check(&history.seen(), &got.to_string());
        let why = why_by(Law::T3, verdict);
        why.replace("what was typed together in one piece: ", "")
    }

    #[test]
    fn forward_runs_stay_together() {
        let runs = typed(&[
            (0, ".a.", &[]),
            (0, "ab.", &[]),
            (0, "bc.", &[]),
            (1, ".x.", &[]),
            (1, "xy.", &[]),
        ]);
        for right in ["abcxy", "xyabc"] {
            assert_eq!(check(Level::Forward, &runs, right), "right");
            assert_eq!(check(Level::Maximal, &runs, right), "right");
        }
        assert_eq!(
            check(Level::Forward, &runs, "abxyc"),
            "'x' (r1:1) stands between 'b' (r0:2) and 'c' (r0:3), which belong together"
        );
        assert_eq!(
            check(Level::Forward, &runs, "xabcy"),
            "'a' (r0:1) stands between 'x' (r1:1) and 'y' (r1:2), which belong together"
        );
    }

    #[test]
    fn backward_runs_stay_together_at_the_higher_level() {
        let runs = typed(&[
            (0, ".b.", &[]),
            (0, ".ab", &[]),
            (1, ".y.", &[]),
            (1, ".xy", &[]),
        ]);
        assert_eq!(check(Level::Maximal, &runs, "abxy"), "right");
        assert_eq!(check(Level::Maximal, &runs, "xyab"), "right");
        assert_eq!(check(Level::Forward, &runs, "xaby"), "right");
        assert_eq!(
            check(Level::Maximal, &runs, "xaby"),
            "'a' (r0:2) stands between 'x' (r1:2) and 'y' (r1:1), which belong together"
        );
    }

    #[test]
    fn what_is_left_of_a_run_is_judged_too() {
        let runs = typed(&[
            (0, ".a.", &[]),
            (0, "ab.", &[]),
            (0, "bc.", &[]),
            (0, "-b", &[]),
            (1, ".x.", &[]),
        ]);
        assert_eq!(check(Level::Forward, &runs, "acx"), "right");
        assert_eq!(
            check(Level::Forward, &runs, "axc"),
            "'x' (r1:1) stands between 'a' (r0:1) and 'c' (r0:3), which belong together"
        );
        let after = typed(&[
            (0, ".a.", &[]),
            (0, "-a", &[]),
            (0, ".b.", &[]),
            (1, ".y.", &[]),
            (1, ".xy", &[]),
        ]);
        assert_eq!(check(Level::Maximal, &after, "xby"), "right");
    }

    #[test]
    fn what_was_inserted_after_an_element_is_after_it() {
        let pair = typed(&[(0, ".a.", &[]), (0, "ab.", &[])]);
        assert_eq!(
            check(Level::Forward, &pair, "ba"),
            "'b' (r0:2) was inserted after 'a' (r0:1)"
        );
    }
}
