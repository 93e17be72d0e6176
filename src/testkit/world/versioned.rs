//! The laws of types whose state is a function of a causally closed version.

use super::super::events::Events;
use super::super::law::Law;
use super::{Checked, Node, World, broken};
use crate::clock::Dots;

impl World {
    fn dots(&self, events: &Events) -> Dots {
        let dots = events.iter().filter_map(|number| self.log.get(number).dot);
        dots.collect()
    }

    /// The version is what was delivered, in whole updates with their whole past (N2, N3), and heads
    /// are its maximal updates (N5).
    pub(super) fn check_version(&mut self, at: usize, node: &Node) -> Checked {
        self.mark_concurrent(node);
        let Some(table) = self.can.version else {
            return Ok(());
        };
        let equal = |law: Law, got: &Dots, expected: &Dots| match got == expected {
            true => Ok(()),
            false => Err(broken(
                law,
                Some(at),
                format!("{got:?}"),
                format!("{expected:?}"),
            )),
        };
        if self.wants(Law::N2) {
            equal(
                Law::N2,
                &(table.included)(&node.subject),
                &self.dots(&node.seen),
            )?;
            let past = self.log.past(&node.seen);
            if !past.is_subset(&node.seen) {
                let missing = self.log.names(&past.difference(&node.seen));
                let got = format!("included without its past: {missing}");
                return Err(broken(
                    Law::N2,
                    Some(at),
                    got,
                    "a version is causally closed",
                ));
            }
        }
        if self.wants(Law::N5) {
            let heads = node.seen.difference(&self.log.past(&node.seen));
            equal(Law::N5, &(table.heads)(&node.subject), &self.dots(&heads))?;
        }
        if self.wants(Law::N3) {
            self.check_waiting(at, node)?;
        }
        Ok(())
    }

    fn check_waiting(&self, at: usize, node: &Node) -> Checked {
        let Some(table) = self.can.version else {
            return Ok(());
        };
        let count = (table.waiting)(&node.subject);
        // Two carriers of the same operation may be one or two for the type.
        if (count == 0) != node.waiting.is_empty() {
            return Err(broken(
                Law::N3,
                Some(at),
                format!("{count} wait"),
                format!("{} wait", node.waiting.len()),
            ));
        }
        let (mut needs, mut held) = (Events::default(), node.seen.clone());
        for waiting in &node.waiting {
            needs.add_all(&waiting.needs);
            held.add_all(&waiting.claims);
        }
        // Of the past that is missing a type may name the last updates only, but no others.
        let missing = (table.missing)(&node.subject);
        let expected = self.dots(&needs.difference(&held));
        let known = || {
            let seen = self.dots(&node.seen);
            missing.iter().any(|dot| seen.contains(dot))
        };
        let right = missing.is_empty() == expected.is_empty();
        match right && (missing.is_empty() || !known()) {
            true => Ok(()),
            false => Err(broken(
                Law::N3,
                Some(at),
                format!("missing {missing:?}"),
                format!("missing {expected:?}"),
            )),
        }
    }
}
