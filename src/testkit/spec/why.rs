//! Operations by name, for the reasons in verdicts.

use crate::testkit::seen::{Seen, Visible};

/// `r0:1, r1:1`
pub(super) fn names<'s, 'a: 's, Op: 'a>(
    ops: impl IntoIterator<Item = &'s Visible<'a, Op>>,
) -> String {
    let mut names: Vec<String> = Vec::new();
    for op in ops {
        let name = op.id().to_string();
        // An operation that does several things is named once.
        if names.last() != Some(&name) {
            names.push(name);
        }
    }
    names.join(", ")
}

/// Those that none of the others had seen, in order; O(n w).
///
/// The past of an operation is closed, so that whatever was seen by any was seen by a maximal one.
pub(super) fn maximal_ops<'s, 'a, Op, T>(
    seen: &Seen<'_, Op>,
    ops: Vec<(&'s Visible<'a, Op>, T)>,
) -> Vec<(&'s Visible<'a, Op>, T)> {
    let mut maximal: Vec<(&'s Visible<'a, Op>, T)> = Vec::new();
    for (op, meaning) in ops.into_iter().rev() {
        let mut above = maximal.iter();
        if !above.any(|(later, _)| seen.happened_before(op, later)) {
            maximal.push((op, meaning));
        }
    }
    maximal.reverse();
    maximal
}

#[cfg(test)]
pub(super) mod tests {
    use crate::testkit::{Law, Verdict};

    /// `expected: why` of a verdict that is wrong by S1.
    pub fn why(verdict: Verdict) -> String {
        why_by(Law::S1, verdict)
    }

    pub fn why_by(broken: Law, verdict: Verdict) -> String {
        match verdict {
            Verdict::Right => "right".into(),
            Verdict::Wrong { law, expected, why } => {
                assert_eq!(law, broken);
                format!("{expected}: {why}")
            }
        }
    }
}
