//! The laws about one, two and three states of one execution.

use std::any::Any;
use std::rc::Rc;

use super::super::erased::DynSubject;
use super::super::events::Events;
use super::super::law::Law;
use super::super::run::passed;
use super::super::subject::{Applied, Gaps};
use super::super::table::DeltaTable;
use super::joins::{Made, Operand};
use super::luck::Choice;
use super::{Cargo, Checked, Node, Via, World, broken};

/// Samples kept for the laws about several states.
const SAMPLES_MAX: usize = 8;

impl World {
    /// The laws about `x`, the state of replica `at`, if it is `new`, and about it and two other
    /// states of this execution.
    pub(super) fn check_several(&mut self, at: usize, x: &Rc<Node>, new: bool) -> Checked {
        if self.can.state.is_none() {
            return Ok(());
        }
        let asker = x;
        let Some(x) = &self.without_waiting(asker) else {
            return Ok(());
        };
        if !asker.waiting.is_empty() {
            self.check_asking(at, asker, x)?;
        }
        if self.effort.every <= 1 {
            self.check_present(at, x)?;
        }
        if self.effort.history {
            let (y, z) = (self.some_state(at, 0), self.some_state(at, 1));
            if let (Some(y), Some(z)) = (self.without_waiting(&y), self.without_waiting(&z)) {
                self.check_three(at, x, &y, &z, true)?;
            }
        }
        match new {
            true => self.named(self.check_alone(at, x), at, &[x]),
            false => Ok(()),
        }
    }

    /// Passes over a law that is not asked for, such as a refusal: the other laws are.
    pub(super) fn unasked(&self, result: Checked) -> Checked {
        passed(self.effort.laws, result).map(drop)
    }

    /// The same laws for the states that exist now.
    fn check_present(&mut self, at: usize, x: &Rc<Node>) -> Checked {
        let others = self.nodes.iter().enumerate();
        let others = others.filter(|(place, node)| *place != at && !node.down);
        let others = others.filter_map(|(place, node)| Some((place, self.without_waiting(node)?)));
        let others: Vec<(usize, Rc<Node>)> = others.collect();
        if let [(place, y), (other, z)] = &others[..] {
            let new = [self.is_new(&[at, *place]), self.is_new(&[at, *other])];
            return self.check_all_three(at, [x, y, z], new);
        }
        for (number, (place, y)) in others.iter().enumerate() {
            let (_, z) = &others[(number + 1) % others.len()];
            let new = self.is_new(&[at, *place]);
            self.check_three(at, x, y, z, new)?;
        }
        Ok(())
    }

    /// What waits may be dropped at any time, so who asks must not count on it: the answer serves it
    /// without what waits, too.
    fn check_asking(&mut self, at: usize, asker: &Node, quiet: &Node) -> Checked {
        let Some(table) = self.can.delta.filter(|_| self.wants(Law::D2)) else {
            return Ok(());
        };
        let other = self.some_state(at, 2);
        let Some(other) = self.without_waiting(&other) else {
            return Ok(());
        };
        let answer = (table.since)(&other.subject, &*(table.seen)(&asker.subject));
        let answered = self.absorbed(at, Law::D2, &quiet.subject, &*answer)?;
        let joined = self.joined(at, self.state(quiet), self.state(&other))?;
        let why = "x asks, drops what waits, and takes the answer; and x joined with the other one";
        self.must_be(Law::D2, at, Operand::Bare(&answered), joined.get(), why)
    }

    /// The same replica with nothing waiting, which a merge would wake; `None` if the type has no
    /// way to drop it.
    fn without_waiting(&self, node: &Rc<Node>) -> Option<Rc<Node>> {
        if node.waiting.is_empty() {
            return Some(Rc::clone(node));
        }
        let mut quiet = node.duplicate();
        quiet.waiting.clear();
        match (self.can.version, self.can.bytes) {
            (Some(table), _) => (table.drop_waiting)(&mut quiet.subject),
            // What waits is no part of the bytes.
            (None, Some(table)) if !table.keeps_waiting => {
                let bytes = (table.encode)(&node.subject);
                quiet.subject = (table.decode)(&bytes, node.id).ok()?;
            }
            _ => return None,
        }
        Some(Rc::new(quiet))
    }

    fn others(&self, at: usize) -> impl Iterator<Item = &Rc<Node>> {
        let up = move |(place, node): &(usize, &Rc<Node>)| *place != at && !node.down;
        self.nodes
            .iter()
            .enumerate()
            .filter(up)
            .map(|(_, node)| node)
    }

    /// Another replica as it is now, or an older state of any; another choice for each `nth`.
    fn some_state(&self, at: usize, nth: u64) -> Rc<Node> {
        let count = self.nodes.len() + self.samples.len();
        let place = self.luck.of(Choice::Partner, nth).below(count as u64) as usize;
        match self.nodes.get(place) {
            Some(node) if !node.down && place != at => Rc::clone(node),
            Some(_) => Rc::clone(self.others(at).next().unwrap_or(&self.nodes[at])),
            None => Rc::clone(&self.samples[place - self.nodes.len()]),
        }
    }

    /// Keeps a state at times, in the end in the place of a random older one.
    pub(super) fn sample(&mut self, node: &Rc<Node>) {
        if self.can.state.is_none() {
            return;
        }
        let Some(node) = &self.without_waiting(node) else {
            return;
        };
        let mut luck = self.luck.of(Choice::Sample, 0);
        let rare = if self.samples.len() < SAMPLES_MAX {
            4
        } else {
            16
        };
        if luck.below(rare) != 0 {
            return;
        }
        let mut copy = node.duplicate();
        copy.id = Self::observer();
        copy.subject = node.subject.fork_as(copy.id);
        let copy = Rc::new(copy);
        if self.samples.len() < SAMPLES_MAX {
            self.samples.push(copy);
        } else {
            let place = luck.below(SAMPLES_MAX as u64) as usize;
            self.samples[place] = copy;
        }
    }

    fn must_be(
        &self,
        law: Law,
        at: usize,
        got: Operand<'_>,
        expected: Operand<'_>,
        why: &str,
    ) -> Checked {
        if !self.wants(law) || self.are_alike(got, expected) {
            return Ok(());
        }
        let (got, expected) = (got.subject(), expected.subject());
        let mut wrong = broken(law, Some(at), format!("{got:?}"), format!("{expected:?}"));
        wrong.why = why.into();
        Err(wrong)
    }

    /// Says which states a law was broken by: x, the state of replica `at`, y and z.
    fn named(&self, result: Checked, at: usize, states: &[&Node]) -> Checked {
        result.map_err(|mut wrong| {
            for (name, node) in ["x", "y", "z"].iter().zip(states) {
                let what = match *name {
                    "x" => format!("x is r{at}, it has seen "),
                    _ => format!("{name} is a state that has seen "),
                };
                let gap = if wrong.why.is_empty() { "" } else { "; " };
                wrong.why += &format!("{gap}{what}{}", self.log.names(&node.seen));
            }
            wrong
        })
    }

    /// The laws about `x` and `y`, if they are new together, and those that take `z`, too.
    fn check_three(
        &mut self,
        at: usize,
        x: &Rc<Node>,
        y: &Rc<Node>,
        z: &Rc<Node>,
        new: bool,
    ) -> Checked {
        if new {
            self.check_two(at, x, y)?;
        }
        let joins = self.check_joins(at, [x, y, z]).map(drop);
        self.unasked(self.named(joins, at, &[x, y, z]))?;
        let beside = self.check_beside(at, x, y, z);
        self.unasked(self.named(beside, at, &[x, y, z]))
    }

    /// The same for three that are all there are: `x` with the others in both orders.
    fn check_all_three(
        &mut self,
        at: usize,
        [x, y, z]: [&Rc<Node>; 3],
        [new_y, new_z]: [bool; 2],
    ) -> Checked {
        if new_y {
            self.check_two(at, x, y)?;
        }
        if new_z {
            self.check_two(at, x, z)?;
        }
        let joins = self.check_both_orders(at, [x, y, z]);
        self.unasked(self.named(joins, at, &[x, y, z]))?;
        for [y, z] in [[y, z], [z, y]] {
            let beside = self.check_beside(at, x, y, z);
            self.unasked(self.named(beside, at, &[x, y, z]))?;
        }
        Ok(())
    }

    /// The join of all three by both of the others first.
    fn check_both_orders(&mut self, at: usize, [x, y, z]: [&Rc<Node>; 3]) -> Checked {
        let all = self.check_joins(at, [x, y, z])?;
        let xz = self.joined(at, self.state(x), self.state(z))?;
        let other = self.joined(at, xz.get(), self.state(y))?;
        let why = "(x, z), y and (x, y), z";
        self.must_be(Law::J2, at, other.get(), all.get(), why)?;
        if x.seen.union(&z.seen).is_subset(&y.seen) {
            let why = "y has seen all that x and z have";
            self.must_be(Law::J7, at, other.get(), self.state(y), why)?;
        }
        Ok(())
    }

    /// The join of all three, which must not hang on the order.
    fn check_joins(&mut self, at: usize, [x, y, z]: [&Rc<Node>; 3]) -> Checked<Made> {
        let (a, b, c) = (self.state(x), self.state(y), self.state(z));
        let xy = self.joined(at, a, b)?;
        let left = self.joined(at, xy.get(), c)?;
        let yz = self.joined(at, b, c)?;
        let right = self.joined(at, a, yz.get())?;
        let why = "(x, y), z and x, (y, z)";
        self.must_be(Law::J2, at, left.get(), right.get(), why)?;
        let both = x.seen.union(&y.seen);
        if both.is_subset(&z.seen) {
            let why = "z has seen all that x and y have";
            self.must_be(Law::J7, at, left.get(), c, why)?;
        }
        // Where each system is seen once, this stands for its end.
        if !self.effort.history {
            self.check_meaning(left.get(), &[x, y, z], "x, y and z joined")?;
        }
        Ok(left)
    }

    /// A join, which no replica holds, is what the operations that its states have seen mean.
    fn check_meaning(&mut self, join: Operand<'_>, of: &[&Node], what: &str) -> Checked {
        let (mut seen, mut via) = (Events::default(), Via::STATE);
        for node in of {
            seen.add_all(&node.seen);
            via.add(node.via);
        }
        if !self.is_new_meaning(join, &seen) {
            return Ok(());
        }
        let made = self.check_made(None, None, join.subject(), &seen, via);
        made.map_err(|mut wrong| {
            let why = match wrong.why.is_empty() {
                true => String::new(),
                false => format!("; {}", wrong.why),
            };
            wrong.why = format!("{what}{why}");
            wrong
        })
    }

    /// What equal states, and third parties, make of the join of `x` and `y`.
    fn check_beside(&mut self, at: usize, x: &Node, y: &Node, z: &Node) -> Checked {
        if self.wants(Law::J8) && !self.collected && self.same(&x.subject, &y.subject) {
            self.check_equal_states(at, x, y, z)?;
        }
        self.check_third_party(at, x, y, z)
    }

    /// The laws about `x` alone.
    fn check_alone(&self, at: usize, x: &Node) -> Checked {
        let a = self.state(x);
        let with_itself = || {
            let xx = self.joined(at, a, a)?;
            self.must_be(Law::J3, at, xx.get(), a, "x joined with itself, and x")
        };
        self.unasked(with_itself())?;
        if !self.wants(Law::J4) {
            return Ok(());
        }
        let empty = (self.can.make)(x.id);
        let with_empty = self.joined(at, a, Operand::Bare(&empty))?;
        let why = "x joined with an empty replica, and x";
        self.must_be(Law::J4, at, with_empty.get(), a, why)
    }

    /// The laws about `x` and `y`.
    fn check_two(&mut self, at: usize, x: &Rc<Node>, y: &Rc<Node>) -> Checked {
        let joins = self.check_join(at, x, y);
        self.unasked(self.named(joins, at, &[x, y]))?;
        let answers = self.check_answers(at, x, y);
        self.unasked(self.named(answers, at, &[x, y]))
    }

    /// What the join of `x` and `y` must be.
    fn check_join(&mut self, at: usize, x: &Rc<Node>, y: &Rc<Node>) -> Checked {
        let (a, b) = (self.state(x), self.state(y));
        let xy = self.joined(at, a, b)?;
        let xy = xy.get();
        let yx = self.joined(at, b, a)?;
        let why = "x joined with y, and y joined with x";
        self.must_be(Law::J1, at, xy, yx.get(), why)?;
        let again = self.joined(at, xy, b)?;
        let why = "x joined with y twice, and once";
        self.must_be(Law::J5, at, again.get(), xy, why)?;
        let grown = self.joined(at, a, xy)?;
        let why = "x is not within x joined with y";
        self.must_be(Law::J6, at, grown.get(), xy, why)?;
        self.check_meaning(xy, &[x, y], "x and y joined")
    }

    /// Equal states show the same and do the same.
    fn check_equal_states(&self, at: usize, x: &Node, y: &Node, z: &Node) -> Checked {
        let (a, b) = (&x.subject, &y.subject);
        if !a.same_view(b) {
            let (got, expected) = (format!("{:?}", a.view()), format!("{:?}", b.view()));
            let mut wrong = broken(Law::J8, Some(at), got, expected);
            wrong.why = "these states count as equal".into();
            return Err(wrong);
        }
        let z = self.state(z);
        let (xz, yz) = (
            self.joined(at, self.state(x), z)?,
            self.joined(at, self.state(y), z)?,
        );
        let why = "equal states joined with the same third";
        self.must_be(Law::J8, at, xz.get(), yz.get(), why)
    }

    /// An answer is as good as the whole state.
    fn check_answers(&mut self, at: usize, x: &Node, y: &Node) -> Checked {
        let Some(table) = self.can.delta else {
            return Ok(());
        };
        let (a, b) = (&x.subject, &y.subject);
        let answer = (table.since)(a, &*(table.seen)(b));
        let xy = self.joined(at, self.state(y), self.state(x))?;
        let answered = self.absorbed(at, Law::D2, b, &*answer)?;
        let why = "y after the answer of x, and y joined with x";
        self.must_be(Law::D2, at, Operand::Bare(&answered), xy.get(), why)?;
        // Nothing for who has less than x is still an answer to who has as much as x.
        let sure = table.gaps != Gaps::Excluded || x.seen.is_subset(&y.seen);
        if self.wants(Law::D4) && sure {
            let nothing = (table.since)(a, &*(table.seen)(a));
            if let Ok(after) = self.absorbed(at, Law::D4, b, &*nothing) {
                let why = "y after what x knows beyond itself";
                self.must_be(Law::D4, at, Operand::Bare(&after), self.state(y), why)?;
            }
        }
        self.check_forgetful(at, x, y, xy.get())
    }

    /// The answer of `x` to `y` is right for `z` too, for whom it was not meant.
    fn check_third_party(&mut self, at: usize, x: &Node, y: &Node, z: &Node) -> Checked {
        let Some(table) = self.can.delta else {
            return Ok(());
        };
        let serves = self.wants(Law::N4) && x.seen.intersection(&y.seen).is_subset(&z.seen);
        if !serves && self.can.version.is_none() {
            return Ok(());
        }
        let answer = (table.since)(&x.subject, &*(table.seen)(&y.subject));
        if serves {
            self.check_served(at, [x, y, z], &*answer)?;
        }
        self.check_cut(at, [x, y, z], &*answer)
    }

    /// `z` takes the `answer` of `x` to `y`.
    fn check_served(&mut self, at: usize, [x, y, z]: [&Node; 3], answer: &dyn Any) -> Checked {
        // It may ask for all that the asker had; only a version tells what that was.
        let sure = y.seen.is_subset(&z.seen);
        let excluded = |table: DeltaTable| table.gaps == Gaps::Excluded;
        if !sure && (self.can.version.is_none() || self.can.delta.is_none_or(excluded)) {
            return Ok(());
        }
        let after = match self.absorbed(at, Law::N4, &z.subject, answer) {
            Err(_) if !sure => return Ok(()),
            after => after?,
        };
        let seen = z.seen.union(&x.seen.difference(&y.seen));
        let mut via = z.via;
        via.add(x.via);
        via.add(Via::DELTA);
        self.check_made(Some(Law::N4), Some(at), &after, &seen, via)
    }

    /// The answer of `x` to `y`, less what `z` has: `z` gets all of it, and who lacks what was cut
    /// off notices that.
    fn check_cut(&self, at: usize, [x, y, z]: [&Node; 3], answer: &dyn Any) -> Checked {
        let Some(table) = self.can.delta.filter(|_| self.can.version.is_some()) else {
            return Ok(());
        };
        let claims = x.seen.difference(&y.seen);
        let off = claims.intersection(&z.seen);
        if off.is_empty() || claims == off {
            return Ok(());
        }
        let Some(cut) = (table.beyond)(answer, &*(table.seen)(&z.subject)) else {
            return Ok(());
        };
        if self.wants(Law::N4) && x.seen.intersection(&y.seen).is_subset(&z.seen) {
            let (got, expected) = (
                self.absorbed(at, Law::N4, &z.subject, &*cut)?,
                self.absorbed(at, Law::N4, &z.subject, answer)?,
            );
            let why = "z after the answer of x to y less what z has, and after all of it";
            self.must_be(
                Law::N4,
                at,
                Operand::Bare(&got),
                Operand::Bare(&expected),
                why,
            )?;
        }
        let mut early = y.subject.duplicate();
        match (table.absorb)(&mut early, &*cut) {
            Ok(Applied::New | Applied::Duplicate)
                if self.wants(Law::D3) && table.gaps == Gaps::Detected =>
            {
                let mut wrong = broken(
                    Law::D3,
                    Some(at),
                    "applied",
                    format!("noticed that it lacks {}", self.log.names(&off)),
                );
                wrong.why = "y after the answer of x to y less what z has".into();
                Err(wrong)
            }
            _ => Ok(()),
        }
    }

    /// The answer of one that has dropped its records of removals is as good.
    fn check_forgetful(&mut self, at: usize, x: &Node, y: &Node, xy: Operand<'_>) -> Checked {
        let (Some(version), Some(delta)) = (self.can.version, self.can.delta) else {
            return Ok(());
        };
        let mut forgetful = x.subject.duplicate();
        (version.drop_records)(&mut forgetful);
        let answer = (delta.since)(&forgetful, &*(delta.seen)(&y.subject));
        let answered = self.absorbed(at, Law::N4, &y.subject, &*answer)?;
        let why = "y answered by x without removal records";
        self.must_be(Law::N4, at, Operand::Bare(&answered), xy, why)
    }

    fn absorbed(
        &self,
        at: usize,
        law: Law,
        subject: &DynSubject,
        delta: &dyn Any,
    ) -> Checked<DynSubject> {
        let mut after = subject.fork_as(Self::observer());
        if let Some(table) = self.can.delta {
            let taken = (table.absorb)(&mut after, delta);
            if !matches!(taken, Ok(Applied::New | Applied::Duplicate)) {
                let got = format!("{taken:?}");
                return Err(broken(
                    law,
                    Some(at),
                    got,
                    "included: what it needs is there",
                ));
            }
        }
        Ok(after)
    }

    /// What an operation did, against the state before it.
    pub(super) fn check_operation(
        &mut self,
        at: usize,
        before: Operand<'_>,
        costly: bool,
    ) -> Checked {
        if self.cloned || !self.nodes[at].waiting.is_empty() {
            return Ok(());
        }
        let can = Rc::clone(&self.can);
        let node = Rc::clone(&self.nodes[at]);
        if let (Some(table), Some(carrier)) = (can.delta, self.carriers.last().map(Rc::clone))
            && let Cargo::Delta(delta) = &carrier.cargo
        {
            if self.wants(Law::D4) {
                (table.bound)(&node.subject, &**delta)
                    .map_err(|what| broken(Law::D4, Some(at), what, "within its bound"))?;
            }
            let again = || {
                let after = self.absorbed(at, Law::D1, before.subject(), &**delta)?;
                let why = "the state before with the delta, and the state after";
                let (got, expected) = (Operand::Bare(&after), self.state(&node));
                self.must_be(Law::D1, at, got, expected, why)
            };
            if self.wants(Law::D1) {
                self.unasked(again())?;
            }
        }
        if costly && can.state.is_some() {
            let after = self.state(&node);
            let grown = self.joined(at, before, after)?;
            let why = "the state before joined with the state after the operation";
            self.must_be(Law::J6, at, grown.get(), after, why)?;
        }
        Ok(())
    }

    /// All that anyone has seen.
    pub(super) fn everything(&self) -> Events {
        let mut all = Events::default();
        self.nodes.iter().for_each(|node| all.add_all(&node.seen));
        all
    }
}
