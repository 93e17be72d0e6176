//! Sending and taking, and what must come of it.

use commute::codec::Limits;
use commute::{Applied, Delta, State};

use super::log::Events;
use super::subject::Subject;
use super::world::{Broken, Checked, Node, Sample, World, ensure, same};

/// A delta with its claims and needs as events.
pub struct Held<S: Subject> {
    pub delta: Delta<S>,
    pub claims: Events,
    pub needs: Events,
}

impl<S: Subject> Clone for Held<S> {
    fn clone(&self) -> Held<S> {
        Held {
            delta: self.delta.clone(),
            claims: self.claims.clone(),
            needs: self.needs.clone(),
        }
    }
}

/// What is in flight.
pub enum Message<S: Subject> {
    Delta(Held<S>),
    DeltaBytes(Vec<u8>),
    State(Sample<S>),
    StateBytes(Vec<u8>, Events),
    /// An answer, with the replica whose version was asked.
    Answer(Held<S>, usize),
}

impl<S: Subject> Clone for Message<S> {
    fn clone(&self) -> Message<S> {
        match self {
            Message::Delta(held) => Message::Delta(held.clone()),
            Message::DeltaBytes(bytes) => Message::DeltaBytes(bytes.clone()),
            Message::State(sample) => Message::State(sample.clone()),
            Message::StateBytes(bytes, seen) => Message::StateBytes(bytes.clone(), seen.clone()),
            Message::Answer(held, to) => Message::Answer(held.clone(), *to),
        }
    }
}

/// What must be included after `waiting` is tried on `seen`: the greatest set of deltas whose needs
/// are met by `seen` and by each other. Leaves in `waiting` what still waits.
pub fn settle<S: Subject>(seen: &mut Events, waiting: &mut Vec<Held<S>>) {
    let mut chosen: Vec<&Held<S>> = waiting.iter().collect();
    let mut reached;
    loop {
        reached = seen.clone();
        chosen
            .iter()
            .for_each(|held| reached.union_with(&held.claims));
        let before = chosen.len();
        chosen.retain(|held| held.needs.is_subset(&reached));
        if chosen.len() == before {
            break;
        }
    }
    *seen = reached;
    waiting.retain(|held| !held.claims.is_subset(seen));
}

impl<S: Subject> Node<S> {
    /// Brings `seen` and `waiting` up to date; says whether one at a time would not have done.
    fn expect(&mut self) -> bool {
        let mut one_by_one = self.seen.clone();
        let ready = |seen: &Events, held: &&Held<S>| {
            held.needs.is_subset(seen) && !held.claims.is_subset(seen)
        };
        while let Some(held) = self.waiting.iter().find(|held| ready(&one_by_one, held)) {
            one_by_one.union_with(&held.claims);
        }
        settle(&mut self.seen, &mut self.waiting);
        one_by_one != self.seen
    }
}

impl<S: Subject> World<S> {
    /// Notes what `delta` claims and needs, and checks its bytes.
    pub fn hold(&self, delta: Delta<S>) -> Checked<Held<S>> {
        let known = |dots: &commute::Dots| {
            self.log.events(dots.iter()).map_err(|dot| Broken {
                law: "a delta names only what exists",
                what: format!("{dot:?} in {delta:?}"),
            })
        };
        let (claims, needs) = (known(delta.claims())?, known(&delta.needs())?);
        let law = "a delta and its bytes are the same";
        let bytes = delta.to_bytes();
        let read = Delta::<S>::from_bytes(&bytes, &Limits::default());
        ensure(law, read.as_ref() == Ok(&delta), || {
            format!("{delta:?} became {read:?}")
        })?;
        ensure(law, read.is_ok_and(|read| read.to_bytes() == bytes), || {
            format!("{delta:?} has two spellings")
        })?;
        Ok(Held {
            delta,
            claims,
            needs,
        })
    }

    fn post(&mut self, from: usize, message: Message<S>) {
        let sequence = self.nodes[from].sent;
        self.nodes[from].sent += 1;
        self.mail.insert((from, sequence), message);
    }

    pub fn send_state(&mut self, from: usize, encoded: bool) -> Checked {
        let sample = self.sample(from);
        let message = match encoded {
            true => Message::StateBytes(sample.state.to_bytes(), sample.seen),
            false => Message::State(sample),
        };
        self.post(from, message);
        Ok(())
    }

    /// The answer of `from` to the version of `to`.
    fn answer(&self, from: usize, to: usize) -> Checked<Held<S>> {
        let version = self.nodes[to].replica.version();
        let held = self.hold(self.nodes[from].replica.delta_since(version))?;
        let lacking = self.nodes[from].seen.difference(&self.nodes[to].seen);
        same("an answer brings what is lacking", &held.claims, &lacking)?;
        Ok(held)
    }

    pub fn send_answer(&mut self, from: usize, to: usize, encoded: bool) -> Checked {
        let held = self.answer(from, to)?;
        if held.delta.is_empty() {
            return Ok(());
        }
        self.pool.push((from, held.clone()));
        let message = match encoded {
            true => Message::DeltaBytes(held.delta.to_bytes()),
            false => Message::Answer(held, to),
        };
        self.post(from, message);
        Ok(())
    }

    fn pooled(&self, pick: u32) -> Option<&(usize, Held<S>)> {
        self.pool.get(pick as usize % self.pool.len().max(1))
    }

    pub fn send_update(&mut self, from: usize, pick: u32, encoded: bool) -> Checked {
        let Some((_, held)) = self.pooled(pick) else {
            return Ok(());
        };
        let message = match encoded {
            true => Message::DeltaBytes(held.delta.to_bytes()),
            false => Message::Delta(held.clone()),
        };
        self.post(from, message);
        Ok(())
    }

    /// Two or three of the last updates as one; with `cut`, only what `from` lacks of them.
    pub fn send_group(&mut self, from: usize, choice: u32, cut: bool) -> Checked {
        let mut source = super::Source::new(u64::from(choice), 0);
        let count = 2 + source.below(2);
        let mut group = Delta::empty();
        for _ in 0..count {
            // Single ones and recent, so that groups with gaps fit into each other.
            let back = source.below(6.min(self.log.len()).max(1) as u64) as usize;
            let single = |(_, held): &&(usize, Held<S>)| held.claims.len() == 1;
            let Some((_, held)) = self.pool.iter().filter(single).nth_back(back) else {
                return Ok(());
            };
            let merged = group.merge(&held.delta);
            ensure("honest deltas can be grouped", merged.is_ok(), || {
                format!("{merged:?}")
            })?;
        }
        if cut {
            group = group.beyond(self.nodes[from].replica.version());
            self.mark("cut delta");
        }
        if !group.is_empty() {
            let held = self.hold(group)?;
            self.pool.push((from, held.clone()));
            self.post(from, Message::Delta(held));
        }
        Ok(())
    }

    /// Message `number` of `from`, or the next one that is still in flight.
    fn letter(&self, from: usize, number: u32) -> Option<(usize, u32)> {
        let number = number % self.nodes[from].sent.max(1);
        let later = self.mail.range((from, number)..=(from, u32::MAX));
        let any = self.mail.range((from, 0)..=(from, u32::MAX));
        later.chain(any).next().map(|(name, _)| *name)
    }

    pub fn lose(&mut self, from: usize, number: u32) {
        if let Some(name) = self.letter(from, number) {
            self.mail.remove(&name);
            self.mark("lost message");
        }
    }

    pub fn take(&mut self, at: usize, from: usize, number: u32, stays: bool) -> Checked {
        let Some(name) = self.letter(from, number) else {
            return Ok(());
        };
        if !self.reachable(at, from) {
            return Ok(());
        }
        let message = match stays {
            true => self.mail.get(&name).cloned(),
            false => self.mail.remove(&name),
        };
        self.tell(|| format!("takes message {}.{}", name.0, name.1));
        match message {
            Some(Message::Delta(held)) => self.absorb(at, &held),
            Some(Message::Answer(held, to)) => {
                if to != at && !held.claims.is_subset(&self.nodes[at].seen) {
                    self.mark("answer taken by a third party");
                }
                self.absorb(at, &held)
            }
            Some(Message::DeltaBytes(bytes)) => {
                let delta = Delta::from_bytes(&bytes, &Limits::default());
                let delta = delta.map_err(|error| Broken {
                    law: "a delta and its bytes are the same",
                    what: format!("{error:?}"),
                })?;
                let held = self.hold(delta)?;
                self.absorb(at, &held)
            }
            Some(Message::State(sample)) => self.merge_in(at, &sample),
            Some(Message::StateBytes(bytes, seen)) => {
                let state = State::from_bytes(&bytes, &Limits::default());
                let state = state.map_err(|error| Broken {
                    law: "a state and its bytes are the same",
                    what: format!("{error:?}"),
                })?;
                self.merge_in(at, &Sample { state, seen })
            }
            None => Ok(()),
        }
    }

    pub fn pull(&mut self, at: usize, pick: u32) -> Checked {
        let node = &self.nodes[at];
        let new = |(from, held): &&(usize, Held<S>)| {
            self.reachable(at, *from) && !held.claims.is_subset(&node.seen)
        };
        let new: Vec<_> = self.pool.iter().filter(new).collect();
        if new.is_empty() {
            return Ok(());
        }
        let held = new[pick as usize % new.len()].1.clone();
        self.tell(|| format!("takes {:?}", held.delta.claims()));
        self.absorb(at, &held)
    }

    pub fn sync(&mut self, from: usize, to: usize) -> Checked {
        if !self.reachable(from, to) {
            return Ok(());
        }
        let held = self.answer(from, to)?;
        self.absorb(to, &held)?;
        let complete = self.nodes[from].seen.is_subset(&self.nodes[to].seen);
        ensure("an answer never waits at whom it answers", complete, || {
            format!("{:?}", held.delta)
        })
    }

    pub fn merge(&mut self, from: usize, to: usize) -> Checked {
        match self.reachable(from, to) && from != to {
            true => {
                let sample = self.sample(from);
                self.merge_in(to, &sample)
            }
            false => Ok(()),
        }
    }

    fn merge_in(&mut self, at: usize, sample: &Sample<S>) -> Checked {
        let node = &mut self.nodes[at];
        let new = !sample.seen.is_subset(&node.seen);
        node.seen.union_with(&sample.seen);
        node.expect();
        let applied = node.replica.merge(&sample.state);
        let expected = Ok(match new {
            true => Applied::New,
            false => Applied::Duplicate,
        });
        same("a state is merged", &applied, &expected)
    }

    /// Absorbs, twice, and checks what is returned.
    fn absorb(&mut self, at: usize, held: &Held<S>) -> Checked {
        let node = &mut self.nodes[at];
        let duplicate = held.claims.is_subset(&node.seen);
        let alike = node.waiting.iter().any(|other| other.delta == held.delta);
        if !duplicate && !alike {
            node.waiting.push(held.clone());
        }
        let count = node.waiting.len();
        let mutual = node.expect();
        let arrived = held.claims.is_subset(&node.seen);
        let applied = node.replica.absorb(&held.delta);
        let right = match (&applied, duplicate, arrived) {
            (Ok(Applied::Duplicate), true, _) | (Ok(Applied::New), false, true) => true,
            (Ok(Applied::Waiting(missing)), false, false) => {
                let unmet = self.log.dots(&held.needs.difference(&node.seen));
                unmet.is_subset(missing) && missing.beyond(node.replica.version()) == *missing
            }
            _ => false,
        };
        ensure("absorb says what became of a delta", right, || {
            format!(
                "{applied:?} for {:?} (duplicate: {duplicate}, in: {arrived})",
                held.delta
            )
        })?;

        let before = node.replica.to_bytes();
        let again = node.replica.absorb(&held.delta);
        let still = match &again {
            Ok(Applied::Duplicate) => arrived,
            Ok(Applied::Waiting(_)) => !arrived,
            _ => false,
        };
        ensure("a delta that comes again changes nothing", still, || {
            format!("{again:?} for {:?}", held.delta)
        })?;
        let after = node.replica.to_bytes();
        same("a delta that comes again changes nothing", &after, &before)?;

        let woken = node.waiting.len() + 1 < count;
        match (duplicate, arrived) {
            (true, _) => self.mark("duplicate"),
            (false, true) if mutual => self.mark("deltas that needed each other"),
            (false, true) if woken => self.mark("waiting deltas woken"),
            (false, true) => self.mark("delta taken"),
            (false, false) => self.mark("delta that waits"),
        }
        Ok(())
    }
}
