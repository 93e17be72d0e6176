//! Registers: which of the visible writes count.
//!
//! Source: Shapiro et al. 2011, "A comprehensive study of convergent and commutative replicated
//! data types", section 3.2 (last writer wins, multi-value).

use std::collections::BTreeSet;
use std::fmt::Debug;

use super::why::{maximal_ops, names};
use crate::clock::ReplicaId;
use crate::testkit::{Seen, Verdict, Visible};

/// What an operation means for a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RegisterOp<V> {
    /// Writes a value.
    Write(V),
    /// Empties it.
    Clear,
}

impl<V> RegisterOp<V> {
    fn value(self) -> Option<V> {
        match self {
            RegisterOp::Write(value) => Some(value),
            RegisterOp::Clear => None,
        }
    }
}

/// An operation on a register.
pub trait AsRegisterOp {
    /// What the register holds.
    type Value: Ord + Debug;

    /// What it means; `None` if nothing.
    fn as_register_op(&self) -> Option<RegisterOp<Self::Value>>;
}

impl<V: Ord + Clone + Debug> AsRegisterOp for RegisterOp<V> {
    type Value = V;

    fn as_register_op(&self) -> Option<RegisterOp<V>> {
        Some(self.clone())
    }
}

/// An operation that carries the stamp by which the last write is found.
pub trait Stamped {
    /// What it is compared by.
    type Stamp: Ord + Debug;

    /// Its stamp.
    fn stamp(&self) -> Self::Stamp;
}

/// An operation with a stamp.
impl<S: Ord + Clone + Debug, Op> Stamped for (S, Op) {
    type Stamp = S;

    fn stamp(&self) -> S {
        self.0.clone()
    }
}

impl<S, Op: AsRegisterOp> AsRegisterOp for (S, Op) {
    type Value = Op::Value;

    fn as_register_op(&self) -> Option<RegisterOp<Op::Value>> {
        self.1.as_register_op()
    }
}

/// The write with the greatest key and its value, which may be `None` for a write that empties.
///
/// The key is the stamp that the operation carries; of equal stamps the one of the replica with the
/// higher place counts, then the greater value. A type that settles ties by something else takes
/// that into its stamp.
///
/// # Complexity
/// O(n)
pub fn last_write<Op, S: Ord, V: Ord>(
    seen: &Seen<'_, Op>,
    key: impl Fn(&Op) -> Option<(S, V)>,
) -> Option<V> {
    let (_, (_, _, value)) = last_by(seen, key)?;
    Some(value)
}

type Stamp<S, V> = (S, ReplicaId, V);

pub(super) fn last_by<'s, 'a, Op, S: Ord, V: Ord>(
    seen: &'s Seen<'a, Op>,
    key: impl Fn(&Op) -> Option<(S, V)>,
) -> Option<(&'s Visible<'a, Op>, Stamp<S, V>)> {
    let writes = seen.iter().filter_map(|one| {
        let (stamp, value) = key(one.op())?;
        Some((one, (stamp, place(one), value)))
    });
    writes.max_by(|(_, a), (_, b)| a.cmp(b))
}

/// By which ties are settled.
pub(super) fn place<Op>(one: &Visible<'_, Op>) -> ReplicaId {
    one.author()
}

/// A last-writer-wins register: the view is the value of the last write ([`last_write`]), `None` if
/// there is none or it emptied the register.
///
/// # Examples
/// ```
/// use commute::testkit::{History, Verdict, spec};
/// use spec::RegisterOp::Write;
///
/// let history = History::new().op(0, (7, Write('a')), &[]).op(1, (5, Write('b')), &[]);
/// assert_eq!(spec::lww(&history.seen(), &Some('a')), Verdict::Right);
/// ```
pub fn lww<Op: AsRegisterOp + Stamped>(seen: &Seen<'_, Op>, got: &Option<Op::Value>) -> Verdict {
    let last = last_by(seen, |op| Some((op.stamp(), op.as_register_op()?.value())));
    let Some((one, (stamp, _, value))) = last else {
        return Verdict::equal(got, &None, || "no write is visible".into());
    };
    Verdict::equal(got, &value, || {
        let tied = |other: &&Visible<'_, Op>| {
            other.op().as_register_op().is_some() && other.op().stamp() == stamp
        };
        let ties = names(
            seen.iter()
                .filter(tied)
                .filter(|other| other.key() != one.key()),
        );
        let settled = match ties.is_empty() {
            true => String::new(),
            false => {
                format!("; of those with the same stamp ({ties}) its replica id is the highest")
            }
        };
        format!("{} has the greatest stamp, {stamp:?}{settled}", one.id())
    })
}

/// The writes that no other visible one had seen, each with its value; a clear leaves none.
fn last_values<'s, 'a, Op, V>(
    seen: &'s Seen<'a, Op>,
    meaning: impl Fn(&Op) -> Option<RegisterOp<V>>,
) -> Vec<(&'s Visible<'a, Op>, V)> {
    let ops = seen
        .iter()
        .filter_map(|one| Some((one, meaning(one.op())?)));
    let last = maximal_ops(seen, ops.collect()).into_iter();
    last.filter_map(|(one, op)| Some((one, op.value()?)))
        .collect()
}

/// The values that no later write or clear had seen, one for each write, in the order in which they
/// were written: a multi-value register.
///
/// # Complexity
/// O(n w)
pub fn maximal<Op, V>(
    seen: &Seen<'_, Op>,
    meaning: impl Fn(&Op) -> Option<RegisterOp<V>>,
) -> Vec<V> {
    let last = last_values(seen, meaning).into_iter();
    last.map(|(_, value)| value).collect()
}

/// A multi-value register: the view holds the value of each write that no other visible one had
/// seen ([`maximal`]), in any order. Equal values of concurrent writes stand there once for each.
pub fn maximal_writes<Op: AsRegisterOp>(seen: &Seen<'_, Op>, got: &Vec<Op::Value>) -> Verdict {
    let last = last_values(seen, AsRegisterOp::as_register_op);
    let mut expected: Vec<&Op::Value> = last.iter().map(|(_, value)| value).collect();
    let mut shown: Vec<&Op::Value> = got.iter().collect();
    expected.sort_unstable();
    shown.sort_unstable();
    Verdict::equal(&shown, &expected, || why_maximal(seen, &last, got))
}

/// A multi-value register that shows equal values once: the view holds the values of all writes
/// that no other visible one had seen ([`maximal`]).
pub fn maximal_values<Op: AsRegisterOp>(seen: &Seen<'_, Op>, got: &BTreeSet<Op::Value>) -> Verdict {
    let last = last_values(seen, AsRegisterOp::as_register_op);
    let expected: BTreeSet<&Op::Value> = last.iter().map(|(_, value)| value).collect();
    match got.iter().eq(expected.iter().copied()) {
        true => Verdict::Right,
        false => Verdict::wrong(format!("{expected:?}"), why_maximal(seen, &last, got)),
    }
}

/// A register of which nothing is known but that a write which another had seen does not come back:
/// the view is one of the values of [`maximal`], or `None` if there is none.
///
/// For types that find the last write by a stamp of their own that no operation carries. It is a
/// partial specification; that all replicas choose alike is law S2.
pub fn any_last<Op: AsRegisterOp>(seen: &Seen<'_, Op>, got: &Option<Op::Value>) -> Verdict {
    let ops = seen
        .iter()
        .filter_map(|one| Some((one, one.op().as_register_op()?)));
    let last = maximal_ops(seen, ops.collect());
    let mut values: Vec<(&Visible<'_, Op>, Option<Op::Value>)> = last
        .into_iter()
        .map(|(one, op)| (one, op.value()))
        .collect();
    if values.iter().any(|(_, value)| value == got) || values.is_empty() && got.is_none() {
        return Verdict::Right;
    }
    let expected: Vec<String> = values
        .iter()
        .map(|(_, value)| format!("{value:?}"))
        .collect();
    let kept: Vec<(&Visible<'_, Op>, Op::Value)> = values
        .drain(..)
        .filter_map(|(one, value)| Some((one, value?)))
        .collect();
    match expected.is_empty() {
        true => Verdict::wrong("None", "no write is visible"),
        false => Verdict::wrong(expected.join(" or "), why_maximal(seen, &kept, got)),
    }
}

/// Why these and no others: by the first value that is shown and should not be, or the reverse.
fn why_maximal<'g, Op: AsRegisterOp>(
    seen: &Seen<'_, Op>,
    last: &[(&Visible<'_, Op>, Op::Value)],
    got: impl IntoIterator<Item = &'g Op::Value>,
) -> String
where
    Op::Value: 'g,
{
    let mut left: Vec<&(&Visible<'_, Op>, Op::Value)> = last.iter().collect();
    for value in got {
        if let Some(at) = left.iter().position(|(_, own)| own == value) {
            left.remove(at);
        } else if last.iter().any(|(_, own)| own == value) {
            // Shown more often than written; a view that shows equal values once has no twins.
            let twins = names(
                last.iter()
                    .filter(|(_, own)| own == value)
                    .map(|(one, _)| *one),
            );
            return format!("only {twins} wrote {value:?} and no visible write had seen that");
        } else {
            return why_gone(seen, value);
        }
    }
    match left.first() {
        Some((one, value)) => {
            format!(
                "{} wrote {value:?} and nothing visible had seen it",
                one.id()
            )
        }
        None => "no visible write is left".into(),
    }
}

fn why_gone<Op: AsRegisterOp>(seen: &Seen<'_, Op>, value: &Op::Value) -> String {
    let writes: Vec<&Visible<'_, Op>> = seen
        .iter()
        .filter(|one| match one.op().as_register_op() {
            Some(RegisterOp::Write(own)) => own == *value,
            _ => false,
        })
        .collect();
    if writes.is_empty() {
        return format!("no visible operation wrote {value:?}");
    }
    let after = seen.iter().filter(|later| {
        later.op().as_register_op().is_some()
            && writes.iter().any(|one| seen.happened_before(one, later))
    });
    let after = names(after);
    let writes = names(writes);
    format!("{writes} wrote {value:?} and a visible write had seen that ({after})")
}

/// The greatest value written, and who wrote it first.
fn extreme<'s, 'a, Op, V>(
    seen: &'s Seen<'a, Op>,
    value: impl Fn(&Op) -> Option<V>,
    better: fn(&V, &V) -> bool,
) -> Option<(&'s Visible<'a, Op>, V)> {
    let writes = seen.iter().filter_map(|one| Some((one, value(one.op())?)));
    writes.reduce(|best, next| match better(&next.1, &best.1) {
        true => next,
        false => best,
    })
}

/// The greatest visible value.
///
/// # Complexity
/// O(n)
pub fn greatest<Op, V: Ord>(seen: &Seen<'_, Op>, value: impl Fn(&Op) -> Option<V>) -> Option<V> {
    extreme(seen, value, |a, b| a > b).map(|(_, value)| value)
}

/// The least visible value.
///
/// # Complexity
/// O(n)
pub fn least<Op, V: Ord>(seen: &Seen<'_, Op>, value: impl Fn(&Op) -> Option<V>) -> Option<V> {
    extreme(seen, value, |a, b| a < b).map(|(_, value)| value)
}

/// A register that shows the greatest visible value ([`greatest`]); a clear has no effect.
pub fn max<Op: AsRegisterOp>(seen: &Seen<'_, Op>, got: &Option<Op::Value>) -> Verdict {
    check_extreme(seen, got, |a, b| a > b)
}

/// A register that shows the least visible value ([`least`]); a clear has no effect.
pub fn min<Op: AsRegisterOp>(seen: &Seen<'_, Op>, got: &Option<Op::Value>) -> Verdict {
    check_extreme(seen, got, |a, b| a < b)
}

fn check_extreme<Op: AsRegisterOp>(
    seen: &Seen<'_, Op>,
    got: &Option<Op::Value>,
    better: fn(&Op::Value, &Op::Value) -> bool,
) -> Verdict {
    let value = |op: &Op| op.as_register_op()?.value();
    match extreme(seen, value, better) {
        None => Verdict::equal(got, &None, || "no write is visible".into()),
        Some((one, value)) => {
            let id = one.id();
            let expected = Some(value);
            Verdict::equal(got, &expected, || format!("{id} wrote it"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RegisterOp::{Clear, Write};
    use super::*;
    use crate::testkit::History;
    use crate::testkit::spec::why::tests::why;

    #[test]
    fn the_last_write_is_found_by_stamp_then_id_then_value() {
        let history = History::new()
            .op(0, (7, Write('a')), &[])
            .op(1, (7, Write('b')), &[])
            .op(2, (5, Write('c')), &["r1:1"])
            .op(2, (9, Clear), &[]);
        let check = |names: &[&str], got| why(lww(&history.seen_of(names), &got));
        assert_eq!(check(&["r0:1", "r2:1"], Some('b')), "right");
        assert_eq!(
            check(&["r0:1", "r2:1"], Some('a')),
            "Some('b'): r1:1 has the greatest stamp, 7; of those with the same stamp (r0:1) its \
             replica id is the highest"
        );
        assert_eq!(
            check(&["r2:2"], Some('c')),
            "None: r2:2 has the greatest stamp, 9"
        );
        assert_eq!(check(&[], Some('c')), "None: no write is visible");
        let key = |op: &(i32, RegisterOp<char>)| Some((op.0, op.1.value()));
        assert_eq!(
            last_write(&history.seen_of(&["r1:1"]), key),
            Some(Some('b'))
        );
    }

    #[test]
    fn concurrent_writes_stay_and_overwritten_ones_go() {
        let history = History::new()
            .op(0, Write(1), &[])
            .op(1, Write(2), &[])
            .op(0, Write(3), &[])
            .op(2, Write(3), &[])
            .op(2, Clear, &["r1:1"]);
        let seen = history.seen_of(&["r0:2", "r1:1", "r2:1"]);
        let check = |got: &[i32]| why(maximal_writes(&seen, &got.to_vec()));
        assert_eq!(check(&[3, 2, 3]), "right");
        assert_eq!(
            check(&[2, 3]),
            "[2, 3, 3]: r2:1 wrote 3 and nothing visible had seen it"
        );
        assert_eq!(
            check(&[3, 3, 2, 1]),
            "[2, 3, 3]: r0:1 wrote 1 and a visible write had seen that (r0:2)"
        );
        assert_eq!(
            check(&[2, 2, 3, 3]),
            "[2, 3, 3]: only r1:1 wrote 2 and no visible write had seen that"
        );
        assert_eq!(
            check(&[2, 3, 3, 4]),
            "[2, 3, 3]: no visible operation wrote 4"
        );
        assert_eq!(why(maximal_values(&seen, &[2, 3].into())), "right");
        assert_eq!(
            why(maximal_values(&seen, &[3].into())),
            "{2, 3}: r1:1 wrote 2 and nothing visible had seen it"
        );
        assert_eq!(maximal(&history.seen(), |op| Some(*op)), [3]);
    }

    #[test]
    fn one_of_the_last_writes_is_enough_where_stamps_are_unknown() {
        let history = History::new()
            .op(0, Write(1), &[])
            .op(1, Write(2), &["r0:1"])
            .op(0, Write(3), &[]);
        let check = |names: &[&str], got| why(any_last(&history.seen_of(names), &got));
        let both = ["r0:2", "r1:1"];
        assert_eq!([check(&both, Some(2)), check(&both, Some(3))], ["right"; 2]);
        assert_eq!(
            check(&both, Some(1)),
            "Some(2) or Some(3): r0:1 wrote 1 and a visible write had seen that (r1:1, r0:2)"
        );
        assert_eq!(check(&[], None), "right");
        assert_eq!(check(&[], Some(1)), "None: no write is visible");
    }

    #[test]
    fn extremes_name_their_writer() {
        let history = History::new()
            .op(0, Write(2), &[])
            .op(1, Write(5), &[])
            .op(2, Write(5), &[]);
        let seen = history.seen();
        assert_eq!(why(max(&seen, &Some(5))), "right");
        assert_eq!(why(max(&seen, &Some(2))), "Some(5): r1:1 wrote it");
        assert_eq!(why(min(&seen, &None)), "Some(2): r0:1 wrote it");
        let value = |op: &RegisterOp<i32>| op.value();
        assert_eq!(
            (greatest(&seen, value), least(&seen, value)),
            (Some(5), Some(2))
        );
    }
}
