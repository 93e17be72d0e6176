//! Flags: which of two concurrent operations wins is the only question.

use super::why::{maximal_ops, names};
use crate::testkit::{Seen, Verdict, Visible};

/// What an operation means for a flag, which is off at first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FlagOp {
    /// Switches it on.
    Enable,
    /// Switches it off.
    Disable,
}

/// An operation on a flag.
pub trait AsFlagOp {
    /// What it means; `None` if nothing.
    fn as_flag_op(&self) -> Option<FlagOp>;
}

impl AsFlagOp for FlagOp {
    fn as_flag_op(&self) -> Option<FlagOp> {
        Some(*self)
    }
}

type Last<'s, 'a, Op> = Vec<(&'s Visible<'a, Op>, FlagOp)>;

/// The operations that no other one on the flag had seen.
fn last<'s, 'a, Op>(
    seen: &'s Seen<'a, Op>,
    meaning: impl Fn(&Op) -> Option<FlagOp>,
) -> Last<'s, 'a, Op> {
    let ops = seen
        .iter()
        .filter_map(|one| Some((one, meaning(one.op())?)));
    maximal_ops(seen, ops.collect())
}

fn has<Op>(last: &Last<'_, '_, Op>, what: FlagOp) -> bool {
    last.iter().any(|(_, op)| *op == what)
}

/// On if there is an enable that no visible disable had seen.
///
/// # Complexity
/// O(n w)
pub fn enable_wins<Op>(seen: &Seen<'_, Op>, meaning: impl Fn(&Op) -> Option<FlagOp>) -> bool {
    has(&last(seen, meaning), FlagOp::Enable)
}

/// On if it was enabled and every visible disable was seen by a visible enable.
///
/// # Complexity
/// O(n w)
pub fn disable_wins<Op>(seen: &Seen<'_, Op>, meaning: impl Fn(&Op) -> Option<FlagOp>) -> bool {
    let last = last(seen, meaning);
    !last.is_empty() && !has(&last, FlagOp::Disable)
}

/// A flag that stays on if it was switched on and off concurrently ([`enable_wins`]).
pub fn flag_enable_wins<Op: AsFlagOp>(seen: &Seen<'_, Op>, got: &bool) -> Verdict {
    let last = last(seen, AsFlagOp::as_flag_op);
    let expected = has(&last, FlagOp::Enable);
    Verdict::equal(got, &expected, || why(&last))
}

/// A flag that goes off if it was switched on and off concurrently ([`disable_wins`]).
pub fn flag_disable_wins<Op: AsFlagOp>(seen: &Seen<'_, Op>, got: &bool) -> Verdict {
    let last = last(seen, AsFlagOp::as_flag_op);
    let expected = !last.is_empty() && !has(&last, FlagOp::Disable);
    Verdict::equal(got, &expected, || why(&last))
}

fn why<Op>(last: &Last<'_, '_, Op>) -> String {
    let of = |what: FlagOp| {
        let those = last.iter().filter(move |(_, op)| *op == what);
        names(those.map(|(one, _)| *one))
    };
    let (on, off) = (of(FlagOp::Enable), of(FlagOp::Disable));
    match (on.is_empty(), off.is_empty()) {
        (true, true) => "it is off until it is enabled".into(),
        (false, true) => format!("{on} enabled it and no visible disable had seen that"),
        (true, false) => format!("{off} disabled it and no visible enable had seen that"),
        (false, false) => format!("{on} enabled it and {off} disabled it concurrently"),
    }
}

#[cfg(test)]
mod tests {
    use super::FlagOp::{Disable, Enable};
    use super::*;
    use crate::testkit::History;
    use crate::testkit::spec::why::tests::why;

    #[test]
    fn concurrent_operations_decide_by_the_rule() {
        let history = History::new()
            .op(0, Enable, &[])
            .op(1, Disable, &["r0:1"])
            .op(0, Enable, &[])
            .op(2, Enable, &["r0:2", "r1:1"]);
        let wins = |names: &[&str], got| {
            let seen = history.seen_of(names);
            [
                flag_enable_wins(&seen, &got),
                flag_disable_wins(&seen, &got),
            ]
            .map(why)
        };
        let both = "r0:2 enabled it and r1:1 disabled it concurrently";
        assert_eq!(
            wins(&["r0:2", "r1:1"], true),
            ["right".into(), format!("false: {both}")]
        );
        assert_eq!(
            wins(&["r0:2", "r1:1"], false),
            [format!("true: {both}"), "right".into()]
        );
        let on = "true: r2:1 enabled it and no visible disable had seen that";
        assert_eq!(wins(&["r2:1"], false), [on, on]);
        let off = "false: r1:1 disabled it and no visible enable had seen that";
        assert_eq!(wins(&["r1:1"], true), [off, off]);
        let never = "false: it is off until it is enabled";
        assert_eq!(wins(&[], true), [never, never]);
    }
}
