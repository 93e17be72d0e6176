//! Who killed what: a cache that makes answers small.
//!
//! A state does not record removals. To answer a peer exactly, a replica remembers for recent
//! updates what each killed; for older ones it falls back to naming what is live. Any record may be
//! dropped at any time: only the size of answers changes.

use alloc::collections::{BTreeMap, VecDeque};

use crate::clock::{Dot, Dots, EntryId, Names, Ranges, ReplicaId, Version};
use crate::kernel::EntryMap;

/// For each update in `complete`: what it killed, where it killed anything.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Records {
    pub(crate) kills: BTreeMap<Dot, Names>,
    pub(crate) complete: Dots,
}

impl Records {
    pub(crate) fn one(dot: Dot, killed: &Names) -> Records {
        let mut records = Records {
            kills: BTreeMap::new(),
            complete: Dots::from(dot),
        };
        if !killed.is_empty() {
            records.kills.insert(dot, killed.clone());
        }
        records
    }

    /// The records of `dots`. O(ranges of `dots` * log records + what is found).
    pub(crate) fn restrict(&self, dots: &Dots) -> Records {
        let kills = dots.ranges().flat_map(|(id, first, last)| {
            self.kills.range(Dot::new(id, first)..=Dot::new(id, last))
        });
        Records {
            kills: kills.map(|(dot, names)| (*dot, names.clone())).collect(),
            complete: dots.intersection(&self.complete),
        }
    }

    pub(crate) fn union_with(&mut self, other: &Records) {
        for (dot, names) in &other.kills {
            self.kills.entry(*dot).or_insert_with(|| names.clone());
        }
        self.complete.union_with(&other.complete);
    }

    /// Everything that the recorded updates killed; `None` if that weighs far more than the records.
    pub(crate) fn all(&self) -> Option<Names> {
        let kills: alloc::vec::Vec<&Names> = self.kills.values().collect();
        Names::union_of(&kills)
    }

    /// All replicas that are named, some more than once.
    pub(crate) fn replicas(&self) -> impl Iterator<Item = ReplicaId> + '_ {
        let killers = self.kills.iter();
        let killed =
            killers.flat_map(|(dot, names)| core::iter::once(dot.replica).chain(names.replicas()));
        killed.chain(self.complete.replicas())
    }

    /// These records, or none if readers would refuse them.
    pub(crate) fn readable(self) -> Records {
        match self.all() {
            Some(_) => self,
            None => Records::default(),
        }
    }
}

/// The records of one replica, bounded, and the seals of recent updates.
#[derive(Clone, Default, Debug)]
pub(crate) struct Ledger {
    pub(crate) records: Records,
    kill_order: VecDeque<Dot>,
    // Of an update, under the name of its entry 0.
    seals: EntryMap<u64>,
    seal_order: VecDeque<Dot>,
}

/// Records kept at least; more as the state grows (an eighth of its live entries).
const RECORDS_MIN: u64 = 1024;
pub(crate) const SEALS_MAX: usize = 1024;

impl Ledger {
    /// Takes over `records` of updates that were just included.
    pub(crate) fn learn(&mut self, records: &Records, live: u64) {
        for dot in records.kills.keys() {
            if !self.records.kills.contains_key(dot) {
                self.kill_order.push_back(*dot);
            }
        }
        self.records.union_with(records);
        let most = usize::try_from(RECORDS_MIN.max(live / 8)).unwrap_or(usize::MAX);
        while self.kill_order.len() > most {
            let Some(oldest) = self.kill_order.pop_front() else {
                break;
            };
            self.forget_through(oldest);
        }
    }

    /// Forgets `dot` and, so that `complete` stays a few ranges, what its replica did before.
    fn forget_through(&mut self, dot: Dot) {
        let from = Dot::new(dot.replica, 0);
        let old: alloc::vec::Vec<Dot> = self
            .records
            .kills
            .range(from..=dot)
            .map(|(dot, _)| *dot)
            .collect();
        old.iter()
            .for_each(|dot| drop(self.records.kills.remove(dot)));
        if old.len() > 1 {
            self.kill_order
                .retain(|kept| !(kept.replica == dot.replica && *kept <= dot));
        }
        let kept = self
            .records
            .complete
            .of(dot.replica)
            .cloned()
            .unwrap_or_default();
        let kept = kept.difference(&Ranges::span(0, dot.counter));
        self.records.complete.put(dot.replica, kept);
    }

    /// Forgets all records; answers fall back to naming what is live.
    pub(crate) fn forget(&mut self) {
        *self = Ledger::default();
    }

    /// Notes the seal after the update `dot`.
    pub(crate) fn note_seal(&mut self, dot: Dot, seal: u64) {
        if self.seals.insert(EntryId::new(dot, 0), seal).is_none() {
            self.seal_order.push_back(dot);
        }
        while self.seal_order.len() > SEALS_MAX {
            let Some(oldest) = self.seal_order.pop_front() else {
                break;
            };
            self.seals.remove(EntryId::new(oldest, 0));
        }
    }

    pub(crate) fn seal(&self, dot: Dot) -> Option<u64> {
        self.seals.get(EntryId::new(dot, 0)).copied()
    }

    pub(crate) fn seals(&self) -> impl Iterator<Item = (Dot, u64)> + '_ {
        self.seals.iter().map(|(entry, seal)| (entry.dot, *seal))
    }

    /// Whether all that `other` knows is known here.
    pub(crate) fn includes(&self, other: &Ledger) -> bool {
        let complete = &self.records.complete;
        other.records.complete.intersection(complete) == other.records.complete
            && other.seals().all(|(dot, _)| self.seal(dot).is_some())
            && other
                .records
                .kills
                .keys()
                .all(|dot| self.records.kills.contains_key(dot))
    }

    /// The known seals of `replica` beyond what `version` includes are dropped.
    pub(crate) fn is_within(&self, version: &Version) -> bool {
        self.records.complete.is_within(version)
            && self.records.kills.keys().all(|dot| version.contains(*dot))
            && self.seals().all(|(dot, _)| version.contains(dot))
    }
}
