//! What users do, and the updates it makes.

use std::collections::BTreeMap;

use commute::testkit::{Fingerprint, Outcome, Source, Subject};
use commute::{Dot, Dots, EntryId, ReplicaId};

use super::meaning::View;
use super::{Alphabet, Core, Delta, Entry, Fault, Kernel, Live, Names, Records};
use crate::list_meaning::ListOp;

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Op {
    Add(u8),
    Remove(u8),
    Write(u8),
    Reset,
    Inc,
    RemoveKey,
    In(u8),
    Out(u8),
    List(ListOp),
    /// Adds two elements in one update.
    AddBoth,
    /// Adds an element and inserts a character in one update.
    AddAndInsert(u8, ListOp),
    /// Tells the others what this replica has seen.
    Ack,
    /// Collects what the acks allow.
    Collect,
}

/// What one update changes.
#[derive(Default)]
pub struct Update {
    pub live: Vec<Entry>,
    pub kills: Names,
    /// Entries of older updates that get another payload.
    pub folds: Live,
    pub collects: bool,
}

impl Update {
    pub fn is_empty(&self) -> bool {
        self.live.is_empty() && self.kills.is_empty() && self.folds.is_empty()
    }
}

impl Kernel {
    fn names(&self, of: impl Fn(&Entry) -> bool) -> Names {
        let live = self.core.live.iter().filter(|(_, entry)| of(entry));
        live.map(|(name, _)| *name).collect()
    }

    fn changes(&self, op: &Op) -> Update {
        let mut update = Update::default();
        match op {
            Op::Add(e) => self.add(*e, &mut update),
            Op::AddBoth => [0, 1].into_iter().for_each(|e| self.add(e, &mut update)),
            Op::AddAndInsert(e, list) => {
                self.add(*e, &mut update);
                self.edit_text(list, &mut update);
            }
            Op::Remove(e) => update.kills = self.names(|entry| *entry == Entry::Element(*e)),
            Op::Write(value) => self.write(*value, &mut update),
            Op::Reset => update.kills = self.names(|entry| matches!(entry, Entry::Value { .. })),
            Op::Inc => self.increment(&mut update),
            Op::RemoveKey => {
                update.kills = self.names(|entry| matches!(entry, Entry::Amount { .. }));
            }
            Op::In(e) => self.switch(Entry::In(*e), *e, &mut update),
            Op::Out(e) => self.switch(Entry::Out(*e), *e, &mut update),
            Op::List(list) => self.edit_text(list, &mut update),
            Op::Ack => {
                update.kills = self.names(|entry| *entry == Entry::Ack);
                update.kills.retain(|name| name.dot.replica == self.me);
                update.live.push(Entry::Ack);
            }
            Op::Collect => return self.cut().map_or(update, |cut| self.collection(&cut)),
        }
        update
    }

    fn add(&self, e: u8, update: &mut Update) {
        update
            .kills
            .extend(self.names(|entry| *entry == Entry::Element(e)));
        update.live.push(Entry::Element(e));
    }

    fn write(&self, value: u8, update: &mut Update) {
        let time = self.core.live.values().map(|entry| match entry {
            Entry::Value { time, .. } => *time,
            _ => 0,
        });
        let time = 1 + time.max().unwrap_or(0);
        if self.fault != Fault::OldestWins {
            update.kills = self.names(|entry| matches!(entry, Entry::Value { .. }));
        }
        update.live.push(Entry::Value { time, value });
    }

    fn increment(&self, update: &mut Update) {
        let mut sum = 1;
        if self.fault == Fault::Cumulative {
            let own = self.names(|entry| matches!(entry, Entry::Amount { .. }));
            let own = own.into_iter().filter(|name| name.dot.replica == self.me);
            for name in own {
                if let Some(Entry::Amount { sum: before, .. }) = self.core.live.get(&name) {
                    sum += before;
                }
                update.kills.insert(name);
            }
        }
        update.live.push(Entry::Amount { sum, folded: false });
    }

    fn switch(&self, to: Entry, e: u8, update: &mut Update) {
        let either = |entry: &Entry| matches!(entry, Entry::In(x) | Entry::Out(x) if *x == e);
        update.kills = self.names(either);
        update.live.push(to);
    }

    fn edit_text(&self, list: &ListOp, update: &mut Update) {
        let shown = self.shown();
        match list {
            ListOp::Insert { after, .. } => {
                let after = after.map(|tag| shown.iter().copied().find(|name| name.dot == tag));
                if after != Some(None) {
                    update.live.push(Entry::Char {
                        time: self.core.time + 1,
                        origin: self.origin(after.flatten()),
                    });
                }
            }
            ListOp::Delete(tag) => {
                let target = shown.into_iter().find(|name| name.dot == *tag);
                update
                    .live
                    .extend(target.map(|target| Entry::Record { target }));
            }
        }
    }

    /// What an insert right of `after` names.
    fn origin(&self, after: Option<EntryId>) -> Option<EntryId> {
        if self.fault != Fault::TombstoneOrigin {
            return after;
        }
        let order = self.order();
        let shown = self.shown();
        let start = order.iter().position(|name| Some(*name) == after);
        let right = &order[start.map_or(0, |at| at + 1)..];
        let hidden = right.iter().take_while(|name| !shown.contains(name));
        hidden.last().copied().or(after)
    }

    /// Publishes an update, if it changes anything.
    pub fn publish(&mut self, update: Update) -> Outcome {
        if update.is_empty() {
            return Outcome::Nothing;
        }
        let Update {
            live,
            kills,
            folds,
            collects,
        } = update;
        let follows = match self.fault {
            Fault::HeadsOwn => self.last().into_iter().collect(),
            _ => self.core.heads(),
        };
        self.made += 1;
        let dot = Dot::new(self.me, self.made);
        let named = live.into_iter().zip(0..);
        let mut live: Live = named
            .map(|(entry, n)| (EntryId::new(dot, n), entry))
            .collect();
        live.extend(folds);
        let mut delta = self.message(dot, live, kills.clone());
        delta.follows.insert(dot, follows.clone());
        let past = match self.fault {
            Fault::HeadsOwn => &follows,
            _ => &self.core.version,
        };
        delta.after = past.difference(&delta.claims);
        let seal = Fingerprint::of_debug(&(&delta.live, &kills));
        if self.fault != Fault::Unsealed {
            delta.seals.insert(dot, seal);
        }
        if collects {
            delta.marks.insert(dot);
        }
        let mut own = delta.clone();
        own.claims = dot.into();
        own.kills = vec![super::Kill::Named(kills)];
        self.integrate(&own);
        self.core.time = self.core.time.max(delta.time);
        self.outbox.push(delta);
        self.last = Some(dot);
        // Of an id used twice: what waits under it was never made here.
        let (me, version) = (self.me, &self.core.version);
        let known = |dot: Dot| dot.replica != me || version.contains(dot);
        self.waiting.retain(|delta| delta.claims.iter().all(known));
        Outcome::Done
    }

    fn last(&self) -> Option<Dot> {
        (self.made > 0).then(|| Dot::new(self.me, self.made))
    }

    /// The delta of the update `dot`; what it follows is still to be added.
    fn message(&self, dot: Dot, live: Live, mut kills: Names) -> Delta {
        let mut claims = Dots::from(dot);
        let targets = live.values().filter_map(|entry| match entry {
            Entry::Record { target } => Some(target.dot),
            _ => None,
        });
        match self.fault {
            Fault::TargetsClaimed => claims = claims.union(&targets.collect()),
            Fault::KillsClaimed | Fault::WritesClaimed => {
                claims = claims.union(&kills.iter().map(|name| name.dot).collect());
            }
            _ => {}
        }
        let time = live.values().map(|entry| match entry {
            Entry::Char { time, .. } => *time,
            _ => 0,
        });
        let records = Records {
            kills: BTreeMap::from([(dot, kills.clone())]),
            complete: dot.into(),
        };
        kills.retain(|name| !claims.contains(name.dot));
        Delta {
            after: Dots::new(),
            follows: BTreeMap::new(),
            time: time.max().unwrap_or(0),
            kills: vec![self.on_the_wire(kills)],
            marks: Dots::new(),
            seals: BTreeMap::new(),
            claims,
            live,
            records,
        }
    }

    fn choose_text(&self, source: &mut Source<'_>) -> ListOp {
        let shown: Vec<Dot> = self.shown().iter().map(|name| name.dot).collect();
        if source.chance(1, 3)
            && let Some(tag) = source.pick(&shown)
        {
            return ListOp::Delete(*tag);
        }
        self.choose_insert(source)
    }

    fn choose_insert(&self, source: &mut Source<'_>) -> ListOp {
        let shown = self.shown();
        let place = source.below(shown.len() as u64 + 1) as usize;
        ListOp::Insert {
            after: place.checked_sub(1).map(|left| shown[left].dot),
            tag: Dot::new(self.me, self.made + 1),
        }
    }

    fn choose_set(&self, source: &mut Source<'_>) -> Op {
        let present: Vec<u8> = self.view().set.into_iter().collect();
        match source.below(3) {
            2 => source.pick(&present).map_or(Op::Add(0), |e| Op::Remove(*e)),
            e => Op::Add(e as u8),
        }
    }

    /// An edit, an ack if there is something to tell, a collection if there is something to drop.
    fn or_collect(&self, edits: Alphabet, source: &mut Source<'_>) -> Op {
        let last: Dots = self.last().into_iter().collect();
        let acks = self.core.heads() != last;
        let update = self.cut().map(|cut| self.collection(&cut));
        let collects = update.is_some_and(|update| !update.is_empty());
        let choices = 2 + u64::from(acks) + u64::from(collects);
        match source.below(choices) {
            2 if acks => Op::Ack,
            2 | 3 => Op::Collect,
            _ => self.choose_of(edits, source),
        }
    }

    fn choose_of(&self, alphabet: Alphabet, source: &mut Source<'_>) -> Op {
        let mut one = |of: &[Op]| source.pick(of).cloned().unwrap_or(Op::Inc);
        match alphabet {
            Alphabet::Set => self.choose_set(source),
            Alphabet::Register => one(&[Op::Write(0), Op::Write(1), Op::Reset]),
            Alphabet::Count => one(&[Op::Inc, Op::RemoveKey]),
            Alphabet::Incs => Op::Inc,
            Alphabet::Flags => one(&[Op::In(0), Op::Out(0)]),
            Alphabet::Pairs => one(&[Op::AddBoth, Op::Remove(0), Op::Remove(1)]),
            Alphabet::CountCollected => self.or_collect(Alphabet::Count, source),
            Alphabet::FlagsCollected => self.or_collect(Alphabet::Flags, source),
            Alphabet::TextCollected => self.or_collect(Alphabet::Text, source),
            Alphabet::Text => Op::List(self.choose_text(source)),
            Alphabet::Torn => match source.below(2) {
                0 => Op::List(self.choose_insert(source)),
                _ => Op::AddAndInsert(0, self.choose_insert(source)),
            },
            Alphabet::Mixed => {
                use Alphabet::{Count, Flags, Pairs, Register, Set, Text, Torn};
                let all = [Set, Text, Register, Count, Pairs, Flags, Torn];
                let which = source.pick(&all).copied().unwrap_or(Set);
                self.choose_of(which, source)
            }
        }
    }
}

impl Subject for Kernel {
    type Op = Op;
    type View = View;

    fn new(me: ReplicaId) -> Kernel {
        Kernel {
            fault: Fault::chosen(),
            me,
            made: 0,
            last: None,
            core: Core::default(),
            records: Records::default(),
            waiting: Vec::new(),
            outbox: Vec::new(),
            heard: BTreeMap::new(),
        }
    }

    fn name() -> String {
        Fault::chosen().id().into()
    }

    fn duplicate(&self) -> Kernel {
        self.clone()
    }

    fn choose(&self, source: &mut Source<'_>) -> Option<Op> {
        let alphabet = self.fault.alphabet();
        (self.is_member() || !alphabet.collects()).then(|| self.choose_of(alphabet, source))
    }

    fn perform(&mut self, op: &Op) -> Outcome {
        let update = self.changes(op);
        match update.collects {
            true => self.publish_collection(update),
            false => self.publish(update),
        }
    }

    fn view(&self) -> View {
        self.shows()
    }
}
