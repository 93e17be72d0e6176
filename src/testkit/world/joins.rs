//! Joins of states, of which an exhaustive search makes each once.
//!
//! The systems of a search differ in few replicas, so the laws ask for the same joins time and again.
//! A join is a function of two states, and the search tells states apart by their fingerprints
//! anyway: what was joined once is looked up, and states of one fingerprint need not be compared.

use std::rc::Rc;

use super::super::erased::DynSubject;
use super::super::events::Events;
use super::super::fingerprint::Fingerprint;
use super::super::law::Law;
use super::super::pulse::beat;
use super::{Checked, Node, World, broken};

/// A state that a law is about.
#[derive(Clone, Copy)]
pub(super) enum Operand<'a> {
    /// Of which no fingerprint is known.
    Bare(&'a DynSubject),
    Of(&'a Node),
    Kept(&'a Kept),
}

impl<'a> Operand<'a> {
    pub fn subject(self) -> &'a DynSubject {
        match self {
            Operand::Bare(subject) => subject,
            Operand::Of(node) => &node.subject,
            Operand::Kept(kept) => &kept.subject,
        }
    }

    fn print(self) -> Option<u128> {
        match self {
            Operand::Bare(_) => None,
            Operand::Of(node) => Some(node.state_print()),
            Operand::Kept(kept) => Some(kept.print),
        }
    }
}

/// A join.
pub(super) enum Made {
    Now(DynSubject),
    Kept(Rc<Kept>),
}

/// A join that will be asked for again.
pub(super) struct Kept {
    subject: DynSubject,
    print: u128,
}

impl Made {
    pub fn get(&self) -> Operand<'_> {
        match self {
            Made::Now(subject) => Operand::Bare(subject),
            Made::Kept(kept) => Operand::Kept(kept),
        }
    }
}

fn print_of(subject: &DynSubject) -> u128 {
    let mut out = Fingerprint::new();
    subject.fingerprint(&mut out);
    out.value()
}

impl World {
    /// The state of a replica.
    pub(super) fn state<'a>(&self, node: &'a Node) -> Operand<'a> {
        match self.memo {
            Some(_) => Operand::Of(node),
            None => Operand::Bare(&node.subject),
        }
    }

    /// `x` merged with `y`.
    pub(super) fn joined(&self, at: usize, x: Operand<'_>, y: Operand<'_>) -> Checked<Made> {
        let (Some(memo), Some(a), Some(b)) = (&self.memo, x.print(), y.print()) else {
            return self
                .made_by_merge(at, x.subject(), y.subject())
                .map(Made::Now);
        };
        if let Some(kept) = memo.join_of(a, b) {
            return Ok(Made::Kept(kept));
        }
        let subject = self.made_by_merge(at, x.subject(), y.subject())?;
        let print = print_of(&subject);
        let kept = Rc::new(Kept { subject, print });
        memo.keep_join(a, b, &kept);
        Ok(Made::Kept(kept))
    }

    fn made_by_merge(&self, at: usize, x: &DynSubject, y: &DynSubject) -> Checked<DynSubject> {
        beat();
        let mut joined = x.fork_as(Self::observer());
        if let Some(table) = self.can.state {
            (table.merge)(&mut joined, y).map_err(|error| {
                broken(Law::O3, Some(at), format!("refused: {}", error.0), "merged")
            })?;
        }
        Ok(joined)
    }

    /// Whether these are equal for all purposes.
    pub(super) fn are_alike(&self, x: Operand<'_>, y: Operand<'_>) -> bool {
        let alike = || self.alike(x.subject(), y.subject());
        let (Some(memo), Some(a), Some(b)) = (&self.memo, x.print(), y.print()) else {
            return alike();
        };
        // After collections less need be equal.
        a == b || memo.knows_alike(a, b) || alike() && memo.keep_alike(a, b, self.collected)
    }

    /// Whether this join was not judged yet as what `seen` means.
    pub(super) fn is_new_meaning(&self, join: Operand<'_>, seen: &Events) -> bool {
        let Some(print) = join.print() else {
            return true;
        };
        let mut out = Fingerprint::new();
        out.nested(print);
        out.nested(self.log.print(seen));
        self.is_new_as(out)
    }
}

impl Node {
    /// The fingerprint of its state alone.
    pub(super) fn state_print(&self) -> u128 {
        let print = self.state_print.get();
        let print = print.unwrap_or_else(|| print_of(&self.subject));
        self.state_print.set(Some(print));
        print
    }
}
