//! The end of a run: everything is exchanged, and all replicas are equal.

use std::rc::Rc;

use super::super::events::{Events, OpId};
use super::super::law::Law;
use super::super::pulse::beat;
use super::super::step::Verb;
use super::super::story::Deed;
use super::luck::Choice;
use super::{Cargo, Checked, Node, World, broken};

#[derive(Clone, Copy)]
enum Route {
    States,
    Deltas,
    Messages,
}

impl World {
    /// Heals, restarts, exchanges everything, and compares.
    pub fn settle(&mut self) -> Checked {
        self.step += 1;
        self.reseed();
        self.heal();
        for at in 0..self.nodes.len() {
            self.restart(at)?;
            self.discard(at);
        }
        self.tell(|| Deed::Noted {
            at: None,
            text: "at the end everything is exchanged".into(),
        });
        // Messages and deltas from here on are not told one by one.
        let mut story = self.story.take();
        let result = self.exchange();
        if let Some(story) = &mut story {
            story.replicas = self.nodes.len();
        }
        self.story = story;
        result
    }

    fn exchange(&mut self) -> Checked {
        let mut routes = Vec::new();
        if self.can.state.is_some() {
            routes.push(Route::States);
        }
        if self.can.delta.is_some() {
            routes.push(Route::Deltas);
        }
        if self.can.ops.is_some() && !self.cloned {
            routes.push(Route::Messages);
        }
        if routes.is_empty() {
            return Ok(());
        }
        let route = self.luck.of(Choice::Route, 0).below(routes.len() as u64);
        let route = routes[route as usize];
        // What is passed on may wake what waits, which has to be passed on, too.
        loop {
            let before: Vec<Rc<Node>> = self.nodes.clone();
            self.round(route)?;
            let woken = before.iter().any(|node| !node.waiting.is_empty());
            let mut pairs = self.nodes.iter().zip(&before);
            if !woken || pairs.all(|(node, before)| node.seen == before.seen) {
                break;
            }
        }
        if self.cloned {
            return self.check_silent_agreement();
        }
        self.check_all_equal()?;
        for at in 0..self.nodes.len() {
            self.check(at, Verb::Heal)?;
        }
        // Now everything is stable.
        (0..self.nodes.len()).try_for_each(|at| self.collect(at).map(drop))
    }

    fn round(&mut self, route: Route) -> Checked {
        let all = 0..self.nodes.len();
        if let Route::Messages = route {
            return all.clone().try_for_each(|at| self.all_messages(at));
        }
        for from in all.clone() {
            for to in all.clone().filter(|to| *to != from) {
                beat();
                match route {
                    Route::States => self.merge(from, to)?,
                    _ => self.sync(from, to)?,
                };
            }
        }
        Ok(())
    }

    /// Every operation that anyone ever did, in the order in which they were done.
    fn all_messages(&mut self, at: usize) -> Checked {
        for place in 0..self.carriers.len() {
            let parcel = Rc::clone(&self.carriers[place]);
            let new = !parcel.claims.is_subset(&self.nodes[at].seen);
            beat();
            if new && matches!(parcel.cargo, Cargo::Messages(_)) && self.may_deliver(at, &parcel) {
                self.deliver(at, &parcel)?;
            }
        }
        Ok(())
    }

    fn check_all_equal(&self) -> Checked {
        if !self.wants(Law::S3) {
            return Ok(());
        }
        let all = self.everything();
        for (at, node) in self.nodes.iter().enumerate() {
            if node.seen != all {
                let lacking = self.log.names(&all.difference(&node.seen));
                let got = format!("r{at} lacks {lacking}");
                let mut wrong = broken(Law::S3, Some(at), got, "everything is everywhere");
                wrong.why = "all could talk to each other until nothing was new any more".into();
                return Err(wrong);
            }
            if !self.alike(&self.nodes[0].subject, &node.subject) {
                let (got, expected) = (&node.subject, &self.nodes[0].subject);
                let (got, expected) = match got.same_view(expected) {
                    true => (format!("{got:?}"), format!("{expected:?}")),
                    false => (
                        format!("{:?}", got.view()),
                        format!("{:?}", expected.view()),
                    ),
                };
                let mut wrong = broken(Law::S3, Some(at), got, expected);
                wrong.why = format!(
                    "r{at} and r0 (expected) have both seen {}",
                    self.log.names(&all)
                );
                return Err(wrong);
            }
        }
        Ok(())
    }

    /// Two replicas under one id must not agree in bytes after they gave two updates one name.
    fn check_silent_agreement(&self) -> Checked {
        for (at, a) in self.nodes.iter().enumerate() {
            for (other, b) in self.nodes.iter().enumerate().skip(at + 1) {
                let agree = a.id == b.id && self.same(&a.subject, &b.subject);
                let Some((x, y)) = self.one_name(at, other).filter(|_| agree) else {
                    continue;
                };
                if self.wants(Law::P5) {
                    return Err(broken(
                        Law::P5,
                        Some(at),
                        format!("equal states after {x} and after {y}"),
                        "an id that is used twice is noticed",
                    ));
                }
            }
        }
        Ok(())
    }

    /// Two different updates that two replicas gave one name; equal ones do no harm.
    fn one_name(&self, a: usize, b: usize) -> Option<(OpId, OpId)> {
        let made = |at: usize| {
            let by = (at as u16, self.nodes[at].incarnation);
            let events = self.log.iter().enumerate();
            events.filter(move |(_, event)| (event.id.replica, event.id.incarnation) == by)
        };
        made(a).find_map(|(number, x)| {
            let mut same_name = made(b).filter(|(_, y)| y.dot == x.dot);
            let (other, y) = same_name.next()?;
            // What is sent may also hold what waited for it, so equal operations count as equal too.
            let differ = format!("{:?}", x.op) != format!("{:?}", y.op)
                && self.sent_for(number) != self.sent_for(other);
            differ.then_some((x.id, y.id))
        })
    }

    /// What was sent for an operation, as text.
    fn sent_for(&self, number: usize) -> Option<Vec<String>> {
        let claims: Events = [number].into_iter().collect();
        let mut carriers = self.carriers.iter();
        let parcel = carriers.find(|parcel| parcel.claims == claims)?;
        match (&parcel.cargo, &self.can.delta, &self.can.ops) {
            (Cargo::Delta(delta), Some(table), _) => Some(vec![(table.debug)(&**delta)]),
            (Cargo::Messages(messages), _, Some(table)) => {
                let each = messages.iter().map(|message| (table.debug)(&**message));
                Some(each.collect())
            }
            _ => None,
        }
    }
}
