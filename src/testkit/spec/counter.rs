//! Counters: every visible amount counts once.

use std::fmt::Debug;

use super::why::names;
use crate::testkit::{Seen, Verdict, Visible};

/// Something that is an amount: an operation that adds it, or a view that shows it; beyond 127 bits
/// it wraps around.
pub trait Amount {
    /// The amount.
    fn amount(&self) -> i128;
}

macro_rules! amounts {
    ($($number:ty)*) => {
        $(impl Amount for $number {
            fn amount(&self) -> i128 {
                *self as i128
            }
        })*
    };
}

amounts! { i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize }

/// All amounts, each once. Wraps around beyond 128 bits.
///
/// # Complexity
/// O(n)
pub fn sum_of<Op>(seen: &Seen<'_, Op>, amount: impl Fn(&Op) -> i128) -> i128 {
    let amounts = seen.iter().map(|one| amount(one.op()));
    amounts.fold(0, i128::wrapping_add)
}

/// A counter: the view is the sum of all visible amounts ([`sum_of`]).
///
/// # Examples
/// ```
/// use commute::testkit::{History, Verdict, spec};
///
/// let history = History::new().op(0, 3_i64, &[]).op(1, -1, &[]);
/// assert_eq!(spec::sum(&history.seen(), &2_i64), Verdict::Right);
/// ```
pub fn sum<Op: Amount, V: Amount>(seen: &Seen<'_, Op>, got: &V) -> Verdict {
    let expected = sum_of(seen, Amount::amount);
    match got.amount() == expected {
        true => Verdict::Right,
        false => {
            let counted = seen.iter().map(|one| (one, one.op().amount()));
            Verdict::wrong(expected.to_string(), counts(counted))
        }
    }
}

/// What an operation means for a counter that can be reset.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CounterOp {
    /// Adds an amount.
    Add(i128),
    /// Takes back all that its author had seen.
    Reset,
}

/// An operation on a counter that can be reset.
pub trait AsCounterOp {
    /// What it means; `None` if nothing.
    fn as_counter_op(&self) -> Option<CounterOp>;
}

impl AsCounterOp for CounterOp {
    fn as_counter_op(&self) -> Option<CounterOp> {
        Some(*self)
    }
}

/// All amounts that no visible reset had seen.
///
/// # Complexity
/// O(n r), with r resets.
pub fn sum_not_reset<Op>(seen: &Seen<'_, Op>, meaning: impl Fn(&Op) -> Option<CounterOp>) -> i128 {
    let amounts = kept(seen, meaning).into_iter().map(|(_, amount)| amount);
    amounts.fold(0, i128::wrapping_add)
}

fn kept<'s, 'a, Op>(
    seen: &'s Seen<'a, Op>,
    meaning: impl Fn(&Op) -> Option<CounterOp>,
) -> Vec<(&'s Visible<'a, Op>, i128)> {
    let mut added = Vec::new();
    for one in seen.iter() {
        match meaning(one.op()) {
            Some(CounterOp::Add(amount)) => added.push((one, amount)),
            Some(CounterOp::Reset) => added.retain(|(add, _)| !seen.happened_before(add, one)),
            None => {}
        }
    }
    added
}

/// A counter that can be reset: the view is the sum of what no visible reset had seen.
pub fn reset_counter<Op: AsCounterOp, V: Amount>(seen: &Seen<'_, Op>, got: &V) -> Verdict {
    let kept = kept(seen, AsCounterOp::as_counter_op);
    let amounts = kept.iter().map(|(_, amount)| *amount);
    let expected = amounts.fold(0, i128::wrapping_add);
    if got.amount() == expected {
        return Verdict::Right;
    }
    let resets = |one: &&Visible<'_, Op>| one.op().as_counter_op() == Some(CounterOp::Reset);
    let resets = names(seen.iter().filter(resets));
    let kept = counts(kept);
    let why = match resets.is_empty() {
        true => kept,
        false => format!("{kept}; what else there is was seen by a reset ({resets})"),
    };
    Verdict::wrong(expected.to_string(), why)
}

/// `r0:1 counts 3, r1:1 counts -1`
pub(super) fn counts<'s, 'a: 's, Op: 'a>(
    counted: impl IntoIterator<Item = (&'s Visible<'a, Op>, i128)>,
) -> String {
    let each = |(one, amount): (&Visible<'_, Op>, i128)| format!("{} counts {amount}", one.id());
    let each: Vec<String> = counted.into_iter().map(each).collect();
    match each.is_empty() {
        true => "nothing visible counts".into(),
        false => each.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::History;
    use crate::testkit::spec::why::tests::why;

    #[test]
    fn every_amount_counts_once() {
        let history = History::new()
            .op(0, 3_i64, &[])
            .op(1, -1, &[])
            .op(0, 2, &[]);
        assert_eq!(sum(&history.seen(), &4_i64), Verdict::Right);
        assert_eq!(sum(&history.seen_of(&["r1:1"]), &-1_i32), Verdict::Right);
        assert_eq!(
            why(sum(&history.seen(), &7_i64)),
            "4: r0:1 counts 3, r1:1 counts -1, r0:2 counts 2"
        );
        let nothing = History::<u64>::new();
        assert_eq!(
            why(sum(&nothing.seen(), &1_u8)),
            "0: nothing visible counts"
        );
    }

    #[test]
    fn a_reset_takes_back_what_it_had_seen() {
        use CounterOp::{Add, Reset};
        let history = History::new()
            .op(0, Add(3), &[])
            .op(1, Add(5), &[])
            .op(0, Reset, &[])
            .op(0, Add(1), &[]);
        assert_eq!(reset_counter(&history.seen(), &6_u64), Verdict::Right);
        assert_eq!(
            why(reset_counter(&history.seen(), &9_u64)),
            "6: r1:1 counts 5, r0:3 counts 1; what else there is was seen by a reset (r0:2)"
        );
        let before = history.seen_of(&["r0:2"]);
        assert_eq!(sum_not_reset(&before, |op| Some(*op)), 0);
    }
}
