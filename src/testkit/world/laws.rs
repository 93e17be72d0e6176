//! What is checked at a replica after every step.

use std::rc::Rc;

use super::super::coverage::Mark;
use super::super::erased::{DynSubject, DynView};
use super::super::events::Events;
use super::super::failure::Broken;
use super::super::fingerprint::Fingerprint;
use super::super::law::Law;
use super::super::pulse::beat;
use super::super::step::Verb;
use super::super::subject::Verdict;
use super::super::table::BytesTable;
use super::{Canon, Checked, Kept, Node, Traced, Via, World, broken};

impl World {
    /// Checks replica `at` after a step.
    pub(super) fn check(&mut self, at: usize, verb: Verb) -> Checked {
        if self.cloned {
            return Ok(());
        }
        beat();
        self.luck.turn();
        let node = Rc::clone(&self.nodes[at]);
        let new = self.is_new(&[at]);
        if new {
            self.check_one(at, &node, verb)?;
        }
        if !self.effort.history {
            self.check_others(at, &node)?;
        }
        if self.costly() {
            self.check_several(at, &node, new)?;
        }
        if self.effort.history {
            self.sample(&node);
        }
        Ok(())
    }

    /// The laws about one replica.
    fn check_one(&mut self, at: usize, node: &Node, verb: Verb) -> Checked {
        if self.wants(Law::I1) {
            node.subject
                .invariant()
                .map_err(|what| broken(Law::I1, Some(at), what, "the invariant holds"))?;
        }
        self.trace_state(&node.subject);
        if self.story.is_some() {
            // A search prints it, so what is told of it must, too.
            node.subject.fingerprint(&mut Fingerprint::new());
        }
        if self.wants(Law::H1) && self.costly() && !node.subject.same_view(&node.subject) {
            let views = [node.subject.view(), node.subject.view()];
            let [got, expected] = views.map(|view| format!("{view:?}"));
            let mut wrong = broken(Law::H1, Some(at), got, expected);
            wrong.why = "two views of one state are not equal".into();
            return Err(wrong);
        }
        let known = self.canon.get(&node.seen);
        // What was judged once as what these operations mean is right again.
        let view = match known {
            Some(canon) if node.subject.shows(&canon.view) => None,
            _ => Some(node.subject.view()),
        };
        if let Some(view) = &view {
            self.check_view(at, node, view, verb)?;
        }
        self.check_version(at, node)?;
        if self.effort.history {
            self.check_canon(at, node, view)?;
        }
        match self.costly() {
            true => self.check_bytes(at, node),
            false => Ok(()),
        }
    }

    fn trace_state(&mut self, subject: &DynSubject) {
        let Some(trace) = &mut self.trace else {
            return;
        };
        trace.push(Traced::View(subject.view()));
        trace.push(Traced::State(subject.duplicate()));
        if let Some(table) = self.can.bytes {
            trace.push(Traced::Bytes((table.encode)(subject)));
        }
    }

    /// Equal states, ids left aside.
    pub(super) fn same(&self, a: &DynSubject, b: &DynSubject) -> bool {
        match (&self.can.state, &self.can.bytes) {
            (Some(table), _) => (table.same)(a, b),
            (None, Some(table)) => (table.encode)(a) == (table.encode)(b),
            (None, None) => a.same_view(b),
        }
    }

    /// Equal also in what their bytes hold, where there are bytes.
    pub(super) fn same_bytes(&self, a: &DynSubject, b: &DynSubject) -> bool {
        let bytes = |table: BytesTable| (table.encode)(a) == (table.encode)(b);
        self.same(a, b) && self.can.bytes.is_none_or(bytes)
    }

    /// Equal for all purposes; after collections only views need be.
    pub(super) fn alike(&self, a: &DynSubject, b: &DynSubject) -> bool {
        (self.collected && self.can.version.is_none() || self.same(a, b)) && a.same_view(b)
    }

    /// What the specification says of a view of `seen`; `None` if it is right.
    fn judge(&self, seen: &Events, view: &DynView) -> Option<Box<Broken>> {
        let laws = [Law::S1, Law::S4, Law::T1, Law::T2, Law::T3];
        let spec = self.can.spec.as_ref()?;
        if !laws.iter().any(|law| self.wants(*law)) {
            return None;
        }
        match spec(&self.log, seen, &self.orders, view) {
            Verdict::Wrong { law, expected, why } if self.wants(law) => Some(Box::new(Broken {
                law,
                at: None,
                got: format!("{view:?}"),
                expected,
                why,
            })),
            _ => None,
        }
    }

    fn check_view(&mut self, at: usize, node: &Node, view: &DynView, verb: Verb) -> Checked {
        let Some(mut wrong) = self.judge(&node.seen, view) else {
            return Ok(());
        };
        wrong.at = Some(at);
        if verb == Verb::Do && wrong.law == Law::S1 && self.wants(Law::S4) {
            let own = self.log.len() - 1;
            let before: Events = [own].into_iter().collect();
            let before = self.canon.get(&node.seen.difference(&before));
            if before.is_some_and(|canon| canon.view == *view) {
                wrong.law = Law::S4;
            }
        }
        Err(wrong)
    }

    /// Replicas that have seen the same are equal, at all times; `view` if it is another one than
    /// they showed before.
    fn check_canon(&mut self, at: usize, node: &Node, view: Option<DynView>) -> Checked {
        if let Some(canon) = self.canon.get(&node.seen) {
            let same = match &canon.state {
                Kept::Bytes(bytes) => self
                    .can
                    .bytes
                    .is_none_or(|t| (t.encode)(&node.subject) == *bytes),
                Kept::State(state) => self.same(state, &node.subject),
                Kept::Nothing => true,
            };
            let theirs = || canon.state.text();
            let shown = view.as_ref().unwrap_or(&canon.view);
            let shown = (shown, view.is_none());
            return self.compare(at, node, shown, (&canon.view, same, canon.via), theirs);
        }
        let state = match (self.can.bytes, self.can.state) {
            (Some(table), _) => Kept::Bytes((table.encode)(&node.subject)),
            (None, Some(_)) => Kept::State(node.subject.duplicate()),
            (None, None) => Kept::Nothing,
        };
        let (via, view) = (node.via, view.unwrap_or_else(|| node.subject.view()));
        self.canon
            .insert(node.seen.clone(), Canon { state, view, via });
        Ok(())
    }

    /// The same among the replicas that exist now.
    fn check_others(&self, at: usize, node: &Node) -> Checked {
        for (place, other) in self.nodes.iter().enumerate() {
            if place == at || other.down || other.seen != node.seen {
                continue;
            }
            let (view, their_view) = (node.subject.view(), other.subject.view());
            let shown = (&view, view == their_view);
            let same = self.same(&other.subject, &node.subject);
            let theirs = || format!("{:?}", other.subject);
            self.compare(at, node, shown, (&their_view, same, other.via), theirs)?;
        }
        Ok(())
    }

    fn compare(
        &self,
        at: usize,
        node: &Node,
        (view, shows): (&DynView, bool),
        (their_view, same, via): (&DynView, bool, Via),
        theirs: impl FnOnce() -> String,
    ) -> Checked {
        let law = self.law_of_difference(node.via, via);
        let same = same || law == Law::G2;
        if !self.wants(law) || same && shows {
            return Ok(());
        }
        let (got, expected) = match shows {
            true => (format!("{:?}", node.subject), theirs()),
            false => (format!("{view:?}"), format!("{their_view:?}")),
        };
        let mut wrong = broken(law, Some(at), got, expected);
        wrong.why = format!(
            "the other state came of the same operations: {}",
            self.log.names(&node.seen)
        );
        Err(wrong)
    }

    /// Which law two different states of the same operations break.
    fn law_of_difference(&self, a: Via, b: Via) -> Law {
        let mut both = a;
        both.add(b);
        let ops = both.has(Via::OPS);
        match self.can.version.is_some() {
            true => Law::N1,
            false if both.has(Via::COLLECTED) => Law::G2,
            false if ops && (both.has(Via::STATE) || both.has(Via::DELTA)) => Law::O2,
            false if ops => Law::O1,
            false if both.has(Via::DELTA) => Law::D2,
            false => Law::S2,
        }
    }

    /// A state that a check made of `seen`: it must be what any replica would be.
    ///
    /// `law` is what it breaks if it is not; by itself that is one of the specification, or S2.
    pub(super) fn check_made(
        &self,
        law: Option<Law>,
        at: Option<usize>,
        subject: &DynSubject,
        seen: &Events,
        via: Via,
    ) -> Checked {
        let known = self.canon.get(seen);
        let shows = known.is_some_and(|canon| subject.shows(&canon.view));
        if !shows && let Some(mut wrong) = self.judge(seen, &subject.view()) {
            wrong.law = law.unwrap_or(wrong.law);
            wrong.at = at;
            return Err(wrong);
        }
        let law = law.unwrap_or(Law::S2);
        let Some(canon) = known.filter(|_| self.wants(law)) else {
            return Ok(());
        };
        let only_views = canon.via.has(Via::COLLECTED) || via.has(Via::COLLECTED) || self.collected;
        let same = match &canon.state {
            _ if only_views && self.can.version.is_none() => true,
            Kept::Bytes(bytes) => self.can.bytes.is_none_or(|t| (t.encode)(subject) == *bytes),
            Kept::State(state) => self.same(state, subject),
            Kept::Nothing => true,
        };
        if same && shows {
            return Ok(());
        }
        let (got, expected) = match shows {
            true => (format!("{subject:?}"), canon.state.text()),
            false => (format!("{:?}", subject.view()), format!("{:?}", canon.view)),
        };
        let mut wrong = broken(law, at, got, expected);
        wrong.why = "expected is what a replica was that had seen the same".into();
        Err(wrong)
    }

    pub(super) fn mark_concurrent(&mut self, node: &Node) {
        let Some(last) = node.seen.last() else {
            return;
        };
        let past = self.log.get(last).past.len();
        if past + 1 < node.seen.len() {
            self.mark(Mark::Concurrent);
        }
    }
}
