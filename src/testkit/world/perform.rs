//! What each step does.

use std::rc::Rc;

use super::super::coverage::Mark;
use super::super::erased::DynOp;
use super::super::events::{Event, Events};
use super::super::fingerprint::Fingerprint;
use super::super::law::Law;
use super::super::source::Source;
use super::super::step::{Step, Verb};
use super::super::story::Deed;
use super::super::subject::{Delivery, Gaps, Outcome};
use super::super::table::Erased;
use super::luck::Choice;
use super::{Cargo, Checked, Node, Parcel, Traced, World, broken};

/// The replica that a step may have changed.
pub(crate) type Changed = usize;

impl World {
    /// Performs one step; `None` if it had no effect.
    ///
    /// # Errors
    /// If what the step returns breaks a law.
    pub fn perform(&mut self, step: Step) -> Checked<Option<Changed>> {
        self.reseed();
        let at = self.place(step.at);
        let [a, b] = step.args;
        let other = self.place(a);
        if self.nodes[at].down && step.verb != Verb::Restart && step.verb != Verb::Heal {
            return Ok(None);
        }
        let changed = match step.verb {
            Verb::Do => self.act(at, a)?,
            Verb::Merge => return self.merge(at, other),
            Verb::Sync => return self.sync(at, other),
            Verb::Pull => self.pull(at, a)?,
            Verb::State => self.send_state(at),
            Verb::Bytes => self.send_bytes(at),
            Verb::Answer => self.send_answer(at, other)?,
            Verb::Update => self.send_update(at, a),
            Verb::Group => self.send_group(at, a, false),
            Verb::Cut => self.send_group(at, a, true),
            Verb::Take => self.take(at, other, b, false)?,
            Verb::Again => self.take(at, other, b, true)?,
            Verb::Lose => self.lose(at, a),
            Verb::Split => self.split(a),
            Verb::Heal => self.heal(),
            Verb::Save => self.save(at),
            Verb::Crash => self.crash(at),
            Verb::Restart => self.restart(at)?,
            Verb::Resume => self.resume(at)?,
            Verb::Join => return self.join(at),
            Verb::Collect => self.collect(at)?,
            Verb::Overcollect => self.overcollect(at, a)?,
            Verb::Tick => self.tick(at, a),
            Verb::Forget => self.forget(at),
            Verb::Discard => self.discard(at),
            Verb::Clone => return Ok(self.clone_id(at, other)),
        };
        if changed {
            self.coverage.effect(step.verb);
        }
        // A collection may change what no law compares.
        let looked = changed || matches!(step.verb, Verb::Collect | Verb::Overcollect);
        Ok(looked.then_some(at))
    }

    /// A user does something; `choice` holds what.
    fn act(&mut self, at: usize, choice: u32) -> Checked<bool> {
        let node = &self.nodes[at];
        // Unique per place and count, so that independent steps commute.
        let first = (u64::from(node.incarnation) << 40 | u64::from(node.done)) * 64 + at as u64;
        let mut source = Source::number(u64::from(choice)).with_unique(first);
        let Some(op) = node.subject.choose(&mut source) else {
            return Ok(false);
        };
        if let Some(trace) = &mut self.trace {
            trace.push(Traced::Op(Fingerprint::of_debug(&op)));
        }
        let costly = self.costly();
        let before = (costly || self.can.delta.is_some() && self.can.ops.is_none())
            .then(|| Rc::clone(&self.nodes[at]));
        let can = Rc::clone(&self.can);
        // Where messages carry operations, deltas of single ones are made at times.
        let at_times = self.luck.of(Choice::Carry, 0).below(4) == 0;
        let delta = can.delta.filter(|_| at_times || can.ops.is_none());
        let token = delta.map(|table| (table.seen)(&self.nodes[at].subject));
        let node = self.node_mut(at);
        let (outcome, messages) = match &can.ops {
            Some(table) => {
                let (outcome, messages) = (table.produce)(&mut node.subject, &op);
                (outcome, Some(messages))
            }
            None => (node.subject.perform(&op), None),
        };
        let told = format_if(self.story.is_some(), || format!("{op:?}"));
        if outcome != Outcome::Done {
            let sent = messages.map_or(0, |messages| messages.len());
            return self.not_done(at, &told, &outcome, sent, before.as_deref());
        }
        if self.collected {
            self.mark(Mark::AfterCollection);
        }
        let id = self.next_op(at);
        let number = self.enter(at, Some(op));
        self.mark(Mark::Done);
        self.tell(|| Deed::Did {
            at,
            op: told,
            made: Ok(id.to_string()),
        });
        self.carry_update(at, number, messages, token);
        if let Some(before) = before {
            let result = self.check_operation(at, self.state(&before), costly);
            self.unasked(result)?;
        }
        Ok(true)
    }

    /// Enters into the log what replica `at` has just made; its number.
    pub(super) fn enter(&mut self, at: usize, op: Option<DynOp>) -> usize {
        let id = self.next_op(at);
        let table = self.can.version;
        let node = self.node_mut(at);
        node.done += 1;
        let past = node.seen.clone();
        let dot = table.and_then(|table| (table.last_update)(&node.subject));
        let author = node.id;
        let print = match self.prints {
            true => self.log.print_of(id, op.as_ref(), &past),
            false => 0,
        };
        let depth = self.log.depth_after(&past);
        let number = self.log.push(Event {
            depth,
            id,
            author,
            op,
            past,
            dot,
            print,
        });
        self.node_mut(at).seen.insert(number);
        number
    }

    /// Keeps what carries update `number`: its messages, and its delta beyond `token`.
    pub(super) fn carry_update(
        &mut self,
        at: usize,
        number: usize,
        messages: Option<Vec<Erased>>,
        token: Option<Erased>,
    ) {
        let claims: Events = [number].into_iter().collect();
        if let Some(messages) = messages {
            let needs = self.needs_of(number);
            self.carry(
                at,
                Cargo::Messages(messages),
                claims.clone(),
                needs,
                "message",
            );
        }
        if let (Some(table), Some(token)) = (self.can.delta, token) {
            let delta = (table.since)(&self.nodes[at].subject, &*token);
            let needs = self.log.get(number).past.clone();
            self.carry(at, Cargo::Delta(delta), claims, needs, "delta");
        }
    }

    fn not_done(
        &mut self,
        at: usize,
        op: &str,
        outcome: &Outcome,
        sent: usize,
        before: Option<&Node>,
    ) -> Checked<bool> {
        let (mark, why) = match outcome {
            Outcome::Refused(reason) => (Mark::Refused, format!("refused: {reason}")),
            _ => (Mark::Nothing, "no effect".into()),
        };
        self.mark(mark);
        self.tell(|| Deed::Did {
            at,
            op: op.into(),
            made: Err(why),
        });
        if sent > 0 && self.wants(Law::R1) {
            let got = format!("{sent} messages of an operation that did nothing");
            return Err(broken(Law::R1, Some(at), got, "nothing to send"));
        }
        let Some(before) = before.filter(|_| self.wants(Law::R1)) else {
            return Ok(true);
        };
        let (before, after) = (&before.subject, &self.nodes[at].subject);
        match self.same(before, after) && before.same_view(after) {
            true => Ok(true),
            false => Err(broken(
                Law::R1,
                Some(at),
                format!("{after:?}"),
                format!("{before:?}"),
            )),
        }
    }

    fn carry(
        &mut self,
        from: usize,
        cargo: Cargo,
        claims: Events,
        needs: Events,
        payload: &'static str,
    ) {
        let parcel = Parcel {
            from,
            cargo,
            claims,
            base: needs.clone(),
            needs,
            asked: None,
            payload,
        };
        Rc::make_mut(&mut self.carriers).push(Rc::new(parcel));
    }

    /// What must be delivered before the messages of an operation.
    fn needs_of(&self, number: usize) -> Events {
        let event = self.log.get(number);
        match self.can.ops.as_ref().map(|table| table.needs) {
            Some(Delivery::Causal) => event.past.clone(),
            Some(Delivery::Fifo) => {
                let mine = |before: &usize| {
                    let other = self.log.get(*before).id;
                    (other.replica, other.incarnation) == (event.id.replica, event.id.incarnation)
                };
                event.past.iter().filter(mine).collect()
            }
            _ => Events::default(),
        }
    }

    /// Whether the network may deliver `parcel` to replica `at` now.
    pub fn may_deliver(&self, at: usize, parcel: &Parcel) -> bool {
        let seen = &self.nodes[at].seen;
        let known = parcel.claims.is_subset(seen);
        let ready = parcel.needs.is_subset(seen) && parcel.base.is_subset(seen);
        match (&parcel.cargo, &self.can.ops, &self.can.delta) {
            (Cargo::Messages(_), Some(ops), _) => {
                // A part that is known, or kept already, is a duplicate too.
                let kept = self.nodes[at].waiting.iter();
                let kept = kept.fold(seen.clone(), |all, held| all.union(&held.claims));
                let fresh = parcel.claims.intersection(&kept).is_empty();
                (ready || ops.detects) && (fresh || ops.duplicates) && (!known || ops.duplicates)
            }
            (Cargo::Delta(_), _, Some(delta)) => ready || delta.gaps != Gaps::Excluded,
            _ => true,
        }
    }
}

fn format_if(wanted: bool, text: impl FnOnce() -> String) -> String {
    match wanted {
        true => text(),
        false => String::new(),
    }
}
