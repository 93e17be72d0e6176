//! Partitions, crashes, restarts, late joiners, collections, clocks, and ids used twice.

use std::rc::Rc;

use super::super::coverage::Mark;
use super::super::erased::DynSubject;
use super::super::events::{Event, Events};
use super::super::law::Law;
use super::super::step::Verb;
use super::super::story::Deed;
use super::joins::Operand;
use super::perform::Changed;
use super::{Checked, Node, REPLICAS_MAX, Saved, Via, World, broken};
use crate::clock::{ReplicaId, Version};

impl World {
    pub(super) fn split(&mut self, sides: u32) -> bool {
        let sides = u64::from(sides) & ((1 << self.nodes.len().min(63)) - 1);
        let changed = sides != self.sides;
        self.sides = sides;
        if changed {
            let side = |bit: u64| {
                let on = |at: &usize| sides >> (at % 64) & 1 == bit;
                let names = (0..self.nodes.len()).filter(on).map(|at| format!("r{at}"));
                names.collect::<Vec<String>>().join(" ")
            };
            let text = format!("partition: {} | {}", side(0), side(1));
            self.tell(|| Deed::Noted { at: None, text });
        }
        changed
    }

    pub(super) fn heal(&mut self) -> bool {
        let changed = self.sides != 0;
        self.sides = 0;
        if changed {
            self.tell(|| Deed::Noted {
                at: None,
                text: "the partition ends".into(),
            });
        }
        changed
    }

    pub(super) fn save(&mut self, at: usize) -> bool {
        let stored = self.store(at);
        if stored {
            self.mark(Mark::Saved);
            self.note(at, || "stores its state".into());
        }
        stored
    }

    fn store(&mut self, at: usize) -> bool {
        let Some(table) = self.can.bytes else {
            return false;
        };
        let node = self.node_mut(at);
        let bytes = (table.encode)(&node.subject);
        if node
            .saved
            .as_ref()
            .is_some_and(|saved| saved.bytes == bytes && saved.seen == node.seen)
        {
            return false;
        }
        node.saved = Some(Rc::new(Saved {
            bytes,
            seen: node.seen.clone(),
            via: node.via,
        }));
        true
    }

    pub(super) fn crash(&mut self, at: usize) -> bool {
        if self.can.bytes.is_none() {
            return false;
        }
        let node = self.node_mut(at);
        node.down = true;
        node.waiting.clear();
        let lost = node.saved.as_ref().map(|saved| &saved.seen) != Some(&node.seen);
        let text = match lost {
            true => "crashes and loses what it has not stored",
            false => "crashes",
        };
        if lost {
            self.mark(Mark::Crashed);
        }
        self.note(at, || text.into());
        true
    }

    pub(super) fn restart(&mut self, at: usize) -> Checked<bool> {
        if !self.nodes[at].down {
            return Ok(false);
        }
        let id = self.fresh_id();
        let saved = self.nodes[at].saved.clone();
        let subject = match (&saved, self.can.bytes) {
            (Some(saved), Some(table)) => (table.decode)(&saved.bytes, id)
                .map_err(|e| broken(Law::P5, Some(at), e.0, "what was stored can be read"))?,
            _ => (self.can.make)(id),
        };
        let node = self.node_mut(at);
        let incarnation = node.incarnation + 1;
        *node = Node::new(id, subject);
        node.incarnation = incarnation;
        if let Some(saved) = saved {
            node.seen = saved.seen.clone();
            node.via = saved.via;
            node.saved = Some(saved);
        }
        self.mark(Mark::Restarted);
        self.note(at, || "restarts under a new id".into());
        Ok(true)
    }

    pub(super) fn resume(&mut self, at: usize) -> Checked<bool> {
        let Some(table) = self.can.bytes else {
            return Ok(false);
        };
        let node = self.node_mut(at);
        let bytes = (table.save)(&node.subject);
        node.subject = (table.resume)(&bytes, node.id)
            .map_err(|e| broken(Law::P5, Some(at), e.0, "what was saved can be read"))?;
        if !table.keeps_waiting {
            node.waiting.clear();
        }
        self.mark(Mark::Resumed);
        self.note(at, || "stops and resumes".into());
        Ok(true)
    }

    /// A new replica; it starts from the state of its sponsor, which may have collected.
    pub(super) fn join(&mut self, sponsor: usize) -> Checked<Option<Changed>> {
        // What was collected is never concurrent to what a late one does: it starts with all of it.
        let alone = self.can.state.is_none() || !self.reachable(sponsor, self.nodes.len());
        let blind = self.collected && alone;
        if self.nodes.len() >= REPLICAS_MAX || self.cloned || blind {
            return Ok(None);
        }
        self.add_node();
        let at = self.nodes.len() - 1;
        self.mark(Mark::Joined);
        self.coverage.effect(Verb::Join);
        self.note(at, || "joins".into());
        if self.can.state.is_none() {
            return Ok(Some(at));
        }
        let changed = self.merge(sponsor, at)?;
        if self.collected {
            self.store(at);
        }
        Ok(changed)
    }

    /// What is causally stable at replica `at`: everyone has it, will have it after any crash, and
    /// had it before doing anything that `at` has not seen. Nothing concurrent to it can arrive.
    fn stable(&self, at: usize) -> Events {
        let unseen = |number: &usize| !self.nodes[at].seen.has(*number);
        let unseen = (0..self.log.len()).filter(unseen);
        unseen.fold(self.durable(), |stable, number| {
            stable.intersection(&self.log.get(number).past)
        })
    }

    /// What everyone has and will have after any crash.
    fn durable(&self) -> Events {
        let durable = |node: &Rc<Node>| match (node.down, &node.saved) {
            (false, _) => node.seen.clone(),
            (true, Some(saved)) => saved.seen.clone(),
            (true, None) => Events::default(),
        };
        let mut all = self.nodes.iter().map(durable);
        let first = all.next().unwrap_or_default();
        all.fold(first, |stable, durable| stable.intersection(&durable))
    }

    /// `events` as a version: of each replica, that many of its operations, up to the first gap.
    fn cut(&self, events: &Events) -> Version {
        let mut counters: Vec<(ReplicaId, u64, bool)> = Vec::new();
        for (number, event) in self.log.iter().enumerate() {
            let count = event
                .dot
                .map_or(u64::from(event.id.number), |dot| dot.counter);
            let has = events.has(number);
            match counters.iter_mut().find(|(id, ..)| *id == event.author) {
                Some((_, counter, open)) => {
                    *open &= has;
                    if *open {
                        *counter = count;
                    }
                }
                None => counters.push((event.author, if has { count } else { 0 }, has)),
            }
        }
        counters
            .into_iter()
            .map(|(id, counter, _)| (id, counter))
            .collect()
    }

    pub(super) fn collect(&mut self, at: usize) -> Checked<bool> {
        let Some(table) = self.can.collect else {
            return Ok(false);
        };
        let stable = self.stable(at);
        let cut = self.cut(&stable);
        if cut.is_empty() {
            return Ok(false);
        }
        // Acknowledged is only what is durable.
        for other in 0..self.nodes.len() {
            if !self.nodes[other].down {
                self.store(other);
            }
        }
        let of_user = |(number, event): (usize, &Event)| event.op.is_none() || stable.has(number);
        let all = self.log.iter().enumerate().all(of_user);
        let before = self.nodes[at].subject.duplicate();
        let node = self.node_mut(at);
        node.via.add(Via::COLLECTED);
        (table.collect)(&mut node.subject, &cut)
            .map_err(|e| broken(Law::G1, Some(at), format!("refused: {}", e.0), "collected"))?;
        self.collected = true;
        let made = self.enter_collection(at, &before)?;
        let after = &self.nodes[at].subject;
        if self.wants(Law::G1) && !before.same_view(after) {
            let (got, expected) = (after.view(), before.view());
            return Err(broken(
                Law::G1,
                Some(at),
                format!("{got:?}"),
                format!("{expected:?}"),
            ));
        }
        let changed = !self.same_bytes(&before, &self.nodes[at].subject);
        if changed {
            self.mark(Mark::Collected);
        }
        if all {
            self.check_size(at)?;
        }
        let names = self.log.names(&stable);
        self.note(at, || format!("collects what all have: {names}{made}"));
        Ok(changed)
    }

    /// A collection may be an update, which others receive like any other; says so if it is.
    fn enter_collection(&mut self, at: usize, before: &DynSubject) -> Checked<String> {
        let can = Rc::clone(&self.can);
        let Some(version) = can.version else {
            return Ok(String::new());
        };
        let subject = &self.nodes[at].subject;
        if (version.last_update)(subject) == (version.last_update)(before) {
            return Ok(String::new());
        }
        let id = self.next_op(at);
        let number = self.enter(at, None);
        let node = self.node_mut(at);
        let messages = can
            .ops
            .as_ref()
            .map(|table| (table.outbox)(&mut node.subject));
        let token = can.delta.map(|table| (table.seen)(before));
        self.carry_update(at, number, messages, token);
        self.check_operation(at, Operand::Bare(&before.fork_as(Self::observer())), true)?;
        Ok(format!("; makes {id}"))
    }

    /// What is kept once everything that ever happened is stable and collected (G4).
    fn check_size(&self, at: usize) -> Checked {
        let (Some(table), Some(bytes)) = (self.can.collect, self.can.bytes) else {
            return Ok(());
        };
        if !self.wants(Law::G4) {
            return Ok(());
        }
        let subject = &self.nodes[at].subject;
        let most = (table.size_max)(subject, self.nodes.len());
        let len = (bytes.encode)(subject).len();
        match len <= most {
            true => Ok(()),
            false => Err(broken(
                Law::G4,
                Some(at),
                format!("{len} bytes after everything was collected"),
                format!("at most {most} bytes"),
            )),
        }
    }

    /// A cut beyond what it has seen: refused, or nothing that is not seen is lost.
    pub(super) fn overcollect(&mut self, at: usize, beyond: u32) -> Checked<bool> {
        let Some(table) = self.can.collect else {
            return Ok(false);
        };
        let unseen = |number: &usize| !self.nodes[at].seen.has(*number);
        let unseen: Vec<usize> = (0..self.log.len()).filter(unseen).collect();
        let Some(number) = unseen.get(beyond as usize % unseen.len().max(1)) else {
            return Ok(false);
        };
        let stable = self.stable(at);
        let mut all: Events = stable.union(&self.log.get(*number).past);
        all.insert(*number);
        // Of others no more than what is stable, so that only this one operation is too much.
        let author = self.log.get(*number).author;
        let within = |number: &usize| stable.has(*number) || self.log.get(*number).author == author;
        let all: Events = all.iter().filter(within).collect();
        let cut = self.cut(&all);
        let mut tried = self.nodes[at].subject.duplicate();
        let result = (table.collect)(&mut tried, &cut);
        self.mark(Mark::Overcollected);
        if result.is_err() {
            return Ok(true);
        }
        self.check_harmless(at, tried, *number, &cut)?;
        Ok(true)
    }

    /// A collection beyond what was seen has changed nothing, neither now nor once the operation
    /// arrives that was not seen.
    fn check_harmless(
        &self,
        at: usize,
        mut tried: DynSubject,
        number: usize,
        cut: &Version,
    ) -> Checked {
        if !self.wants(Law::G3) {
            return Ok(());
        }
        let mut plain = self.nodes[at].subject.duplicate();
        let knows = |node: &&Rc<Node>| node.seen.has(number) && !node.down;
        let other = self.nodes.iter().find(knows).zip(self.can.state);
        let mut views = vec![(tried.view(), plain.view())];
        if let Some((other, table)) = other {
            let merged = (table.merge)(&mut tried, &other.subject).is_ok()
                == (table.merge)(&mut plain, &other.subject).is_ok();
            views.extend(merged.then(|| (tried.view(), plain.view())));
        }
        match views.into_iter().find(|(tried, plain)| tried != plain) {
            None => Ok(()),
            Some((tried, plain)) => Err(broken(
                Law::G3,
                Some(at),
                format!("{tried:?} after collecting up to {cut:?}"),
                format!("refused, or {plain:?}"),
            )),
        }
    }

    pub(super) fn tick(&mut self, at: usize, ms: u32) -> bool {
        // Mostly a little, as calls are apart; at times as much as leases and caches last.
        let ms = match (ms % 8, u64::from(ms / 8)) {
            (7, much) => much % 100_000 + 1,
            (_, little) => little % 32 + 1,
        };
        self.node_mut(at).subject.tick(ms);
        self.mark(Mark::Ticked);
        self.note(at, || format!("its clock moves on by {ms} ms"));
        true
    }

    pub(super) fn forget(&mut self, at: usize) -> bool {
        let Some(table) = self.can.version else {
            return false;
        };
        (table.drop_records)(&mut self.node_mut(at).subject);
        self.mark(Mark::Forgot);
        self.note(at, || "drops its removal records".into());
        true
    }

    pub(super) fn discard(&mut self, at: usize) -> bool {
        let Some(table) = self.can.version else {
            return false;
        };
        let node = self.node_mut(at);
        let some = !node.waiting.is_empty();
        node.waiting.clear();
        (table.drop_waiting)(&mut node.subject);
        if some {
            self.mark(Mark::Discarded);
            self.note(at, || "drops what waits".into());
        }
        some
    }

    /// Replica `to` becomes a copy of `at`, id included: what must never happen, and be noticed.
    pub(super) fn clone_id(&mut self, at: usize, to: usize) -> Option<Changed> {
        if at == to || self.cloned || self.can.version.is_none() || self.nodes[to].down {
            return None;
        }
        let mut twin = self.nodes[at].duplicate();
        twin.incarnation = self.nodes[to].incarnation + 1;
        twin.saved = None;
        self.nodes[to] = Rc::new(twin);
        self.cloned = true;
        self.mark(Mark::Cloned);
        self.coverage.effect(Verb::Clone);
        self.note(to, || format!("becomes a copy of r{at}, id included"));
        Some(to)
    }
}
