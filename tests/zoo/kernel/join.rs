//! The one join, of states and of deltas.

use std::collections::BTreeMap;

use commute::{Dot, Dots, EntryId};

use super::{Core, Delta, Entry, Fault, Kernel, Kill, Live, Names, Records};

impl Kill {
    /// What is left of it outside `claims`.
    fn outside(&self, claims: &Dots) -> Kill {
        match self {
            Kill::Named(names) => {
                let outside = names.iter().filter(|name| !claims.contains(name.dot));
                Kill::Named(outside.copied().collect())
            }
            Kill::AllBut { of, except } => Kill::AllBut {
                of: of.difference(claims),
                except: except.clone(),
            },
        }
    }

    fn takes(&self, name: EntryId) -> bool {
        match self {
            Kill::Named(names) => names.contains(&name),
            Kill::AllBut { of, except } => of.contains(name.dot) && !except.contains(&name),
        }
    }
}

impl Core {
    /// The maximal updates.
    pub fn heads(&self) -> Dots {
        let mut heads = self.version.clone();
        for dots in self.follows.values() {
            heads = heads.difference(dots);
        }
        heads
    }
}

impl Records {
    fn take_in(&mut self, other: &Records) {
        self.complete = self.complete.union(&other.complete);
        for (dot, names) in &other.kills {
            self.kills.insert(*dot, names.clone());
        }
    }
}

impl Delta {
    /// What must be there first.
    pub fn needs(&self, fault: Fault) -> Dots {
        let mut needs = match fault {
            Fault::NeedsIgnored => return Dots::new(),
            Fault::CollectedEarly if !self.marks.is_empty() => Dots::new(),
            _ => self.after.clone(),
        };
        for (id, first, _) in self.claims.ranges() {
            if first > 1 {
                needs.insert(Dot::new(id, first - 1));
            }
        }
        needs.difference(&self.claims)
    }

    fn kills(&self, name: EntryId) -> bool {
        let absent = self.claims.contains(name.dot) && !self.live.contains_key(&name);
        absent || self.kills.iter().any(|kill| kill.takes(name))
    }

    /// Both as one.
    pub fn with(&self, other: &Delta, fault: Fault) -> Delta {
        let mut live = self.live.clone();
        add(&mut live, &other.live);
        if fault != Fault::GroupUnion {
            let dead = |name: EntryId| self.kills(name) || other.kills(name);
            live.retain(|name, _| !dead(*name));
        }
        let claims = self.claims.union(&other.claims);
        let mut kills = self.kills.clone();
        if fault != Fault::GroupForgets {
            kills.extend(other.kills.iter().cloned());
        }
        let mut records = self.records.clone();
        records.take_in(&other.records);
        Delta {
            after: self.after.union(&other.after).difference(&claims),
            follows: joined(&self.follows, &other.follows),
            live,
            kills: kills.iter().map(|kill| kill.outside(&claims)).collect(),
            claims,
            marks: self.marks.union(&other.marks),
            seals: joined(&self.seals, &other.seals),
            time: self.time.max(other.time),
            records,
        }
    }

    /// The whole state as a delta.
    pub fn of(core: &Core, records: &Records) -> Delta {
        Delta {
            claims: core.version.clone(),
            after: Dots::new(),
            follows: core.follows.clone(),
            live: core.live.clone(),
            kills: Vec::new(),
            marks: core.marks.clone(),
            seals: core.seals.clone(),
            time: core.time,
            records: records.clone(),
        }
    }
}

fn joined<V: Clone>(a: &BTreeMap<Dot, V>, b: &BTreeMap<Dot, V>) -> BTreeMap<Dot, V> {
    let mut all = a.clone();
    for (dot, value) in b {
        all.entry(*dot).or_insert_with(|| value.clone());
    }
    all
}

/// Adds entries; of two forms of one, the fold counts.
fn add(live: &mut Live, more: &Live) {
    for (name, entry) in more {
        let mine = live.entry(*name).or_insert_with(|| entry.clone());
        if let Entry::Amount { folded: true, .. } = entry {
            *mine = entry.clone().max(mine.clone());
        }
    }
}

impl Kernel {
    /// Joins with `delta`, whose needs are there.
    pub fn integrate(&mut self, delta: &Delta) {
        let version = self.core.version.clone();
        let mut live = delta.live.clone();
        live.retain(|name, _| !version.contains(name.dot) || self.core.live.contains_key(name));
        let dead = self.dead(delta);
        add(&mut self.core.live, &live);
        self.core.live.retain(|name, _| !dead.contains(name));
        if self.fault == Fault::WinnerOnly {
            self.keep_winner();
        }
        self.core.version = version.union(&delta.claims);
        let own = delta.claims.iter().filter(|dot| dot.replica == self.me);
        self.made = own.map(|dot| dot.counter).fold(self.made, u64::max);
        self.core.follows = joined(&self.core.follows, &delta.follows);
        self.core.seals = joined(&self.core.seals, &delta.seals);
        self.core.marks = self.core.marks.union(&delta.marks);
        if self.fault != Fault::TimeNotAdvanced {
            self.core.time = self.core.time.max(delta.time);
        }
        match self.fault {
            Fault::FallbackKnown => {
                self.records.complete = self.records.complete.union(&delta.claims);
            }
            Fault::RelayForgets => {
                let known = &delta.records.complete;
                self.records.complete = self.records.complete.union(known);
                return;
            }
            _ => {}
        }
        self.records.take_in(&delta.records);
    }

    /// Which entries of this replica and of `delta` die in the join.
    fn dead(&self, delta: &Delta) -> Names {
        let names = self.core.live.keys().chain(delta.live.keys());
        let names: Names = names.copied().collect();
        let lives = |name: EntryId| delta.live.keys().any(|other| other.dot == name.dot);
        let killed = |name: EntryId| delta.kills.iter().any(|kill| kill.takes(name));
        let dots: Dots = match self.fault {
            Fault::KillTakesDot => names
                .iter()
                .copied()
                .filter(|n| killed(*n))
                .map(|n| n.dot)
                .collect(),
            _ => Dots::new(),
        };
        let dead = |name: &EntryId| match self.fault {
            Fault::MergeUnion => killed(*name),
            Fault::JoinPerDot => killed(*name) || delta.claims.contains(name.dot) && !lives(*name),
            Fault::KillTakesDot => dots.contains(name.dot) || delta.kills(*name),
            _ => delta.kills(*name),
        };
        names.into_iter().filter(dead).collect()
    }

    fn keep_winner(&mut self) {
        let values = self
            .core
            .live
            .iter()
            .filter_map(|(name, entry)| match entry {
                Entry::Value { time, .. } => Some((*time, name.dot.replica, *name)),
                _ => None,
            });
        let Some((_, _, winner)) = values.max() else {
            return;
        };
        let loses =
            |name: &EntryId, entry: &Entry| matches!(entry, Entry::Value { .. }) && *name != winner;
        self.core.live.retain(|name, entry| !loses(name, entry));
    }

    /// Takes in of what waits the greatest part whose needs are there.
    pub fn wake(&mut self) -> usize {
        let mut taken = 0;
        loop {
            let version = &self.core.version;
            self.waiting
                .retain(|delta| !delta.claims.is_subset(version));
            let ready = match self.fault {
                Fault::OneByOne => self.ready_alone(),
                _ => self.ready(),
            };
            let Some((first, rest)) = ready.split_first() else {
                return taken;
            };
            taken += ready.len();
            let fault = self.fault;
            let all = rest
                .iter()
                .fold(first.clone(), |all, one| all.with(one, fault));
            self.integrate(&all);
            self.waiting.retain(|delta| !ready.contains(delta));
        }
    }

    fn ready_alone(&self) -> Vec<Delta> {
        let ready = |delta: &&Delta| delta.needs(self.fault).is_subset(&self.core.version);
        self.waiting.iter().filter(ready).take(1).cloned().collect()
    }

    fn ready(&self) -> Vec<Delta> {
        let mut ready = self.waiting.clone();
        loop {
            let claims = ready.iter().fold(self.core.version.clone(), |all, delta| {
                all.union(&delta.claims)
            });
            let before = ready.len();
            ready.retain(|delta| delta.needs(self.fault).is_subset(&claims));
            if ready.len() == before {
                return ready;
            }
        }
    }
}
