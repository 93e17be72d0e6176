//! Sending and taking, and what must come of it.

use std::rc::Rc;

use super::super::coverage::Mark;
use super::super::erased::DynSubject;
use super::super::events::Events;
use super::super::law::Law;
use super::super::step::Verb;
use super::super::story::Deed;
use super::super::subject::{Applied, Delivery, Gaps, Rejected};
use super::luck::Choice;
use super::perform::Changed;
use super::send::name;
use super::{Cargo, Checked, Node, Parcel, Via, World, broken};

/// What must be included after `waiting` is tried on `seen`: the greatest set of parcels whose needs
/// are met by `seen` and by each other. Leaves in `waiting` what still waits.
fn settle(seen: &mut Events, waiting: &mut Vec<Rc<Parcel>>) {
    let mut chosen: Vec<&Rc<Parcel>> = waiting.iter().collect();
    let mut reached;
    loop {
        reached = seen.clone();
        chosen.iter().for_each(|held| reached.add_all(&held.claims));
        let before = chosen.len();
        chosen.retain(|held| held.needs.is_subset(&reached));
        if chosen.len() == before {
            break;
        }
    }
    *seen = reached;
    waiting.retain(|held| !held.claims.is_subset(seen));
}

impl Node {
    /// Brings `seen` and `waiting` up to date; says whether any woke, and whether they needed each
    /// other.
    pub(super) fn expect(&mut self) -> (bool, bool) {
        if self.waiting.is_empty() {
            return (false, false);
        }
        let before = self.waiting.len();
        let mut one_by_one = self.seen.clone();
        let ready = |seen: &Events, held: &&Rc<Parcel>| {
            held.needs.is_subset(seen) && !held.claims.is_subset(seen)
        };
        while let Some(held) = self.waiting.iter().find(|held| ready(&one_by_one, held)) {
            one_by_one.add_all(&held.claims);
        }
        settle(&mut self.seen, &mut self.waiting);
        (self.waiting.len() < before, one_by_one != self.seen)
    }
}

impl World {
    /// The state of `from` into `to`, at once.
    pub(super) fn merge(&mut self, from: usize, to: usize) -> Checked<Option<Changed>> {
        if self.can.state.is_none() || from == to || !self.can_talk(from, to) {
            return Ok(None);
        }
        let other = Rc::clone(&self.nodes[from]);
        let fresh = self.merge_in(to, &other.subject, &other.seen, other.via)?;
        self.coverage.effect(Verb::Merge);
        self.moved(from, to, "state", fresh);
        Ok(Some(to))
    }

    fn can_talk(&self, from: usize, to: usize) -> bool {
        !self.nodes[from].down && !self.nodes[to].down && self.reachable(from, to)
    }

    fn moved(&mut self, from: usize, to: usize, payload: &str, effect: String) {
        self.tell(|| Deed::Moved {
            from,
            to,
            payload: payload.into(),
            effect,
        });
    }

    fn merge_in(
        &mut self,
        at: usize,
        other: &DynSubject,
        seen: &Events,
        via: Via,
    ) -> Checked<String> {
        let Some(table) = self.can.state else {
            return Ok(String::new());
        };
        let fresh = self.fresh(at, seen);
        let brings = !seen.is_subset(&self.nodes[at].seen);
        if brings {
            self.mark(Mark::Merged);
        }
        let cloned = self.cloned;
        let node = self.node_mut(at);
        if let Err(error) = (table.merge)(&mut node.subject, other) {
            return self.refused(at, error, cloned, true);
        }
        node.seen.add_all(seen);
        node.via.add(Via::STATE);
        node.via.add(via);
        node.expect();
        Ok(fresh)
    }

    fn refused(&mut self, at: usize, error: Rejected, right: bool, say: bool) -> Checked<String> {
        if !right {
            return Err(broken(
                Law::O3,
                Some(at),
                format!("refused: {}", error.0),
                "taken: it is honest, and what the type declares to need is there",
            ));
        }
        if self.cloned && say {
            self.mark(Mark::Noticed);
        }
        Ok(format!("r{at} refuses: {}", error.0))
    }

    /// `r2 now sees r0:1`, if the run is told.
    fn fresh(&self, at: usize, brought: &Events) -> String {
        if self.story.is_none() {
            return String::new();
        }
        let fresh = brought.difference(&self.nodes[at].seen);
        match fresh.is_empty() {
            true => format!("nothing new for r{at}"),
            false => format!("r{at} now sees {}", self.log.names(&fresh)),
        }
    }

    /// The answer of `from` to what `to` has.
    pub(super) fn answer(&mut self, from: usize, to: usize) -> Checked<Option<Rc<Parcel>>> {
        let Some(table) = self.can.delta else {
            return Ok(None);
        };
        if from == to || !self.can_talk(from, to) {
            return Ok(None);
        }
        let (sender, asker) = (&self.nodes[from], &self.nodes[to]);
        let seen = (table.seen)(&asker.subject);
        let delta = (table.since)(&sender.subject, &*seen);
        if self.wants(Law::D4) {
            (table.bound)(&sender.subject, &*delta)
                .map_err(|what| broken(Law::D4, Some(from), what, "within the declared bound"))?;
        }
        Ok(Some(Rc::new(Parcel {
            from,
            cargo: Cargo::Delta(delta),
            claims: sender.seen.difference(&asker.seen),
            needs: sender.seen.intersection(&asker.seen),
            base: match self.can.version {
                Some(_) => Events::default(),
                None => asker.seen.clone(),
            },
            asked: Some(to),
            payload: "answer",
        })))
    }

    /// `from` sends `to` what it lacks, at once.
    pub(super) fn sync(&mut self, from: usize, to: usize) -> Checked<Option<Changed>> {
        let Some(parcel) = self.answer(from, to)? else {
            return Ok(None);
        };
        let effect = self.deliver(to, &parcel)?;
        self.coverage.effect(Verb::Sync);
        self.moved(from, to, "delta", effect);
        let complete = self.nodes[from].seen.is_subset(&self.nodes[to].seen);
        if !complete && !self.cloned {
            let lacking = self.nodes[from].seen.difference(&self.nodes[to].seen);
            return Err(broken(
                Law::D2,
                Some(to),
                format!("lacks {} after it was answered", self.log.names(&lacking)),
                "an answer includes all that was lacking",
            ));
        }
        Ok(Some(to))
    }

    /// The message of one operation, straight from where it is kept.
    pub(super) fn pull(&mut self, at: usize, pick: u32) -> Checked<bool> {
        let fits = |parcel: &&Rc<Parcel>| {
            !parcel.claims.is_subset(&self.nodes[at].seen)
                && self.reachable(at, parcel.from)
                && self.may_deliver(at, parcel)
        };
        let count = self.carriers.iter().filter(fits).count();
        let Some(place) = (pick as usize).checked_rem(count) else {
            return Ok(false);
        };
        let Some(parcel) = self.carriers.iter().filter(fits).nth(place).map(Rc::clone) else {
            return Ok(false);
        };
        let effect = self.deliver(at, &parcel)?;
        self.moved(parcel.from, at, parcel.payload, effect);
        Ok(true)
    }

    pub(super) fn take(
        &mut self,
        at: usize,
        from: usize,
        number: u32,
        stays: bool,
    ) -> Checked<bool> {
        let Some(place) = self.letter(from, number) else {
            return Ok(false);
        };
        if !self.reachable(at, from) {
            self.mark(Mark::Split);
            return Ok(false);
        }
        let (letter, parcel) = (self.mail[place].0, Rc::clone(&self.mail[place].1));
        if !self.may_deliver(at, &parcel) {
            return Ok(false);
        }
        if !stays {
            self.mail.remove(place);
        }
        if parcel.asked.is_some_and(|asked| asked != at) {
            self.mark(Mark::ThirdParty);
        }
        let effect = self.deliver(at, &parcel)?;
        self.tell(|| Deed::Took {
            from,
            at,
            payload: parcel.payload.into(),
            letter: name(letter),
            effect,
        });
        Ok(true)
    }

    /// `parcel` arrives; says what came of it.
    pub(super) fn deliver(&mut self, at: usize, parcel: &Parcel) -> Checked<String> {
        match &parcel.cargo {
            Cargo::State(node) => self.merge_in(at, &node.subject, &parcel.claims, node.via),
            Cargo::Bytes(bytes, id, via) => {
                let Some(table) = self.can.bytes else {
                    return Ok(String::new());
                };
                let other = (table.decode)(bytes, *id)
                    .map_err(|e| broken(Law::P1, Some(at), e.0, "sent bytes can be read"))?;
                self.merge_in(at, &other, &parcel.claims, *via)
            }
            Cargo::Delta(delta) => self.deliver_delta(at, &**delta, parcel),
            Cargo::Messages(messages) => self.deliver_messages(at, messages, parcel),
        }
    }

    fn deliver_delta(
        &mut self,
        at: usize,
        delta: &dyn std::any::Any,
        parcel: &Parcel,
    ) -> Checked<String> {
        let Some(table) = self.can.delta else {
            return Ok(String::new());
        };
        let sent = match self.luck.of(Choice::Transmit, 0).below(4) == 0 {
            true => Some(
                (table.transmit)(delta)
                    .map_err(|e| broken(Law::P1, Some(at), e.0, "a delta can be sent"))?,
            ),
            false => None,
        };
        let delta = sent.as_deref().unwrap_or(delta);
        let result = (table.absorb)(&mut self.node_mut(at).subject, delta);
        let rule = Rule {
            gap: Law::D3,
            waits: Law::N3,
            detects: table.gaps == Gaps::Detected,
            via: Via::DELTA,
        };
        let effect = self.arrived(at, parcel, result, rule)?;
        if self.costly() && self.wants(Law::D3) {
            self.again(at, parcel, rule)?;
        }
        Ok(effect)
    }

    fn deliver_messages(
        &mut self,
        at: usize,
        messages: &[super::super::table::Erased],
        parcel: &Parcel,
    ) -> Checked<String> {
        let Some(table) = self.can.ops else {
            return Ok(String::new());
        };
        let mut result = Ok(Applied::Duplicate);
        let through = self.luck.of(Choice::Transmit, 0).below(4) == 0;
        // Of a type that takes any order the messages of one operation need not stay in theirs.
        let turn = match table.needs == Delivery::Any && messages.len() > 1 {
            true => self
                .luck
                .of(Choice::Messages, 0)
                .below(messages.len() as u64) as usize,
            false => 0,
        };
        let (last, first) = messages.split_at(turn);
        for message in first.iter().chain(last) {
            let sent = match through {
                true => Some(
                    (table.transmit)(&**message)
                        .map_err(|e| broken(Law::P1, Some(at), e.0, "a message can be sent"))?,
                ),
                false => None,
            };
            let message = sent.as_deref().unwrap_or(&**message);
            let one = (table.receive)(&mut self.node_mut(at).subject, message);
            result = match (result, one) {
                (_, Err(error)) => Err(error),
                (Ok(Applied::Duplicate), one) => one,
                (all, Ok(Applied::Duplicate)) => all,
                (_, Ok(Applied::Waiting)) => Ok(Applied::Waiting),
                (all, _) => all,
            };
            if result.is_err() {
                break;
            }
        }
        if messages.is_empty() {
            result = Ok(Applied::New);
        }
        let rule = Rule {
            gap: Law::O4,
            waits: match self.can.version {
                Some(_) => Law::N3,
                None => Law::O3,
            },
            detects: table.detects,
            via: Via::OPS,
        };
        let effect = self.arrived(at, parcel, result, rule)?;
        if table.duplicates && self.costly() && self.wants(Law::O4) {
            self.again(at, parcel, rule)?;
        }
        Ok(effect)
    }

    /// Whether what the type says of an arrival is right; keeps the account of what it has seen.
    fn arrived(
        &mut self,
        at: usize,
        parcel: &Parcel,
        result: Result<Applied, Rejected>,
        rule: Rule,
    ) -> Checked<String> {
        let node = &self.nodes[at];
        let known = parcel.claims.is_subset(&node.seen);
        let ready = parcel.needs.is_subset(&node.seen);
        let sure = parcel.base.is_subset(&node.seen);
        let kept = node
            .waiting
            .iter()
            .any(|held| held.claims == parcel.claims && held.needs == parcel.needs);
        // Together with what waits it may be ready too.
        let ready = ready || (!known && self.wakes(at, parcel));
        if self.cloned {
            return self.arrived_cloned(at, parcel, result);
        }
        let says = |text: &str| text.to_string();
        let wrong =
            |law: Law, got: &str, expected: String| Err(broken(law, Some(at), got, expected));
        let lacking = || {
            let lacking = parcel.needs.difference(&node.seen);
            format!("it lacks {}", self.log.names(&lacking))
        };
        let exact = self.can.version.is_some();
        match result {
            Err(error) if ready && sure || known && exact => self.refused(at, error, false, true),
            Err(_) => {
                self.mark(Mark::Refusal);
                Ok(says("refused, for it came too early"))
            }
            Ok(Applied::New) if known && exact => wrong(
                rule.gap,
                "taken as new",
                says("a duplicate: all of it is included"),
            ),
            Ok(Applied::New) if !ready && !known && rule.detects => {
                wrong(rule.gap, "applied", format!("noticed that {}", lacking()))
            }
            // Without versions a type may call one that changes nothing a duplicate.
            Ok(Applied::Duplicate) if !known && !kept && (ready || !rule.detects) && !exact => {
                Ok(self.take_in(at, parcel, Applied::New, known, kept, rule.via))
            }
            Ok(Applied::Duplicate) if !known && !kept => {
                let what = format!("new: it brings {}", self.log.names(&parcel.claims));
                wrong(Law::O3, "taken for a duplicate", what)
            }
            Ok(Applied::Waiting) if ready && sure || known && exact => wrong(
                rule.waits,
                "kept waiting",
                format!("included: {}", self.contract(rule)),
            ),
            Ok(applied) => Ok(self.take_in(at, parcel, applied, known, kept, rule.via)),
        }
    }

    /// What was kept when something was delivered.
    fn contract(&self, rule: Rule) -> String {
        match (&self.can.ops, rule.via) {
            (Some(ops), Via::OPS) => {
                format!("the declared contract ({:?}) is kept", ops.needs)
            }
            _ => "what it needs is there".into(),
        }
    }

    fn take_in(
        &mut self,
        at: usize,
        parcel: &Parcel,
        applied: Applied,
        known: bool,
        kept: bool,
        via: Via,
    ) -> String {
        let fresh = self.fresh(at, &parcel.claims);
        match applied {
            _ if known => {
                self.mark(Mark::Duplicate);
                return format!("nothing new for r{at}");
            }
            Applied::Duplicate => return format!("r{at} keeps it already"),
            Applied::Waiting if kept => return format!("r{at} keeps it already"),
            Applied::Waiting => {
                let held = Rc::new(parcel.shallow());
                let lacking = parcel.needs.difference(&self.nodes[at].seen);
                let text = format!("r{at} keeps it: lacks {}", self.log.names(&lacking));
                let node = self.node_mut(at);
                node.waiting.push(held);
                node.expect();
                self.mark(Mark::Waited);
                return text;
            }
            Applied::New => {}
        }
        let node = self.node_mut(at);
        if node.waiting.is_empty() || parcel.needs.is_subset(&node.seen) {
            node.seen.add_all(&parcel.claims);
        } else {
            // It was ready together with some that wait.
            node.waiting.push(Rc::new(parcel.shallow()));
        }
        node.via.add(via);
        let (woken, mutual) = node.expect();
        node.seen.add_all(&parcel.claims);
        self.mark(Mark::Included);
        if woken {
            self.mark(Mark::Woken);
        }
        if mutual {
            self.mark(Mark::Mutual);
        }
        fresh
    }

    /// Whether `parcel` and what waits at `at` are ready together.
    fn wakes(&self, at: usize, parcel: &Parcel) -> bool {
        let node = &self.nodes[at];
        if node.waiting.is_empty() {
            return false;
        }
        let mut seen = node.seen.clone();
        let mut waiting = node.waiting.clone();
        waiting.push(Rc::new(parcel.shallow()));
        settle(&mut seen, &mut waiting);
        parcel.claims.is_subset(&seen)
    }

    /// With an id used twice an arrival may be refused; that is how it is noticed.
    fn arrived_cloned(
        &mut self,
        at: usize,
        parcel: &Parcel,
        result: Result<Applied, Rejected>,
    ) -> Checked<String> {
        match result {
            Err(error) => self.refused(at, error, true, true),
            Ok(Applied::Waiting) => Ok("waits".into()),
            Ok(_) => {
                self.node_mut(at).seen.add_all(&parcel.claims);
                Ok("taken".into())
            }
        }
    }

    /// The same parcel once more changes nothing.
    fn again(&mut self, at: usize, parcel: &Parcel, rule: Rule) -> Checked {
        let before = self.nodes[at].subject.duplicate();
        let view = before.view();
        let can = Rc::clone(&self.can);
        let subject = &mut self.node_mut(at).subject;
        let refused = match (&parcel.cargo, can.delta, &can.ops) {
            (Cargo::Delta(delta), Some(table), _) => (table.absorb)(subject, &**delta).is_err(),
            (Cargo::Messages(messages), _, Some(table)) => messages
                .iter()
                .any(|message| (table.receive)(subject, &**message).is_err()),
            _ => false,
        };
        let known = parcel.claims.is_subset(&self.nodes[at].seen);
        let after = &self.nodes[at].subject;
        let ready = parcel.needs.is_subset(&self.nodes[at].seen)
            && parcel.base.is_subset(&self.nodes[at].seen);
        if refused && known && ready && !self.cloned && rule.via == Via::DELTA {
            return Err(broken(
                rule.gap,
                Some(at),
                "refused when it came again",
                "a duplicate",
            ));
        }
        match self.same(&before, after) && after.view() == view {
            true => Ok(()),
            false => Err(broken(
                rule.gap,
                Some(at),
                format!("{:?} after it came again", after.view()),
                format!("{view:?}"),
            )),
        }
    }
}

/// How an arrival is judged.
#[derive(Clone, Copy)]
struct Rule {
    /// The law about gaps and duplicates.
    gap: Law,
    /// The law about what waits without need.
    waits: Law,
    /// Whether the type notices gaps.
    detects: bool,
    via: Via,
}
