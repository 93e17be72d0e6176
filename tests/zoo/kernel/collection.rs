//! Collection: an update like any other, with a list of what all have seen to be dead.

use std::collections::BTreeMap;

use commute::testkit::{Collecting, Outcome, Rejected};
use commute::{Dots, EntryId, ReplicaId, Version};

use super::edit::Update;
use super::{Alphabet, Delta, Entry, Fault, Kernel, Names};

/// How many replicas take part in collection.
const MEMBERS: u32 = 2;

impl Kernel {
    /// Makes a collection an update that all receive, as all but one fault do.
    pub fn publish_collection(&mut self, update: Update) -> Outcome {
        if update.is_empty() || self.fault != Fault::CollectsSilently {
            return self.publish(update);
        }
        self.core
            .live
            .retain(|name, _| !update.kills.contains(name));
        self.publish(Update {
            live: vec![Entry::Ack],
            ..Update::default()
        })
    }

    /// What an update that collects at `cut` changes.
    pub fn collection(&self, cut: &Dots) -> Update {
        let mut update = Update {
            collects: true,
            ..Update::default()
        };
        let all = &self.core.version;
        let cut = match self.fault {
            Fault::CollectsUnstable => all,
            _ => cut,
        };
        self.collect_text(cut, &mut update.kills);
        self.collect_flags(cut, &mut update.kills);
        match self.fault {
            Fault::FoldsAll | Fault::LogRefolds => self.fold(all, &mut update),
            _ => self.fold(cut, &mut update),
        }
        update
    }

    fn collect_text(&self, cut: &Dots, kills: &mut Names) {
        let deleted = |name: &EntryId, stable: bool| {
            self.core.live.iter().any(|(record, entry)| match entry {
                Entry::Record { target } => target == name && (!stable || cut.contains(record.dot)),
                _ => false,
            })
        };
        let is_char = |entry: &Entry| matches!(entry, Entry::Char { .. });
        let chars = self.core.live.iter().filter(|(_, entry)| is_char(entry));
        let chars: Vec<EntryId> = chars.map(|(name, _)| *name).collect();
        let mut gone = Names::new();
        loop {
            let before = gone.len();
            for name in chars
                .iter()
                .filter(|name| cut.contains(name.dot) && deleted(name, true))
            {
                if self.fault == Fault::NonLeafCollected || self.is_leaf(*name, &gone) {
                    gone.insert(*name);
                }
            }
            if gone.len() == before {
                break;
            }
        }
        let records = self.core.live.iter().filter(|(_, entry)| match entry {
            Entry::Record { target } => gone.contains(target),
            _ => false,
        });
        kills.extend(records.map(|(name, _)| *name));
        if self.fault != Fault::RecordsOnly {
            kills.extend(gone);
        }
    }

    fn is_leaf(&self, name: EntryId, gone: &Names) -> bool {
        let hangs = |(child, entry): (&EntryId, &Entry)| match entry {
            Entry::Char { origin, .. } => *origin == Some(name) && !gone.contains(child),
            _ => false,
        };
        !self.core.live.iter().any(hangs)
    }

    fn collect_flags(&self, cut: &Dots, kills: &mut Names) {
        for (out, entry) in &self.core.live {
            let Entry::Out(e) = entry else {
                continue;
            };
            let ins = self
                .core
                .live
                .iter()
                .filter(|(_, entry)| **entry == Entry::In(*e));
            let ins: Names = ins.map(|(name, _)| *name).collect();
            let stable = |name: &EntryId| cut.contains(name.dot);
            match self.fault {
                _ if !stable(out) => continue,
                Fault::OutsOnly => {}
                Fault::StableInsOnly => kills.extend(ins.iter().copied().filter(stable)),
                Fault::UnstableIns => kills.extend(ins),
                _ if !ins.iter().all(stable) => continue,
                _ => kills.extend(ins),
            }
            kills.insert(*out);
        }
    }

    /// Adds up the increments of each replica in the greatest one.
    fn fold(&self, cut: &Dots, update: &mut Update) {
        let mut of: BTreeMap<ReplicaId, Vec<(EntryId, u64)>> = BTreeMap::new();
        for (name, entry) in &self.core.live {
            if let Entry::Amount { sum, .. } = entry
                && cut.contains(name.dot)
            {
                let key = match self.fault {
                    Fault::FoldsAcross => self.me,
                    _ => name.dot.replica,
                };
                of.entry(key).or_default().push((*name, *sum));
            }
        }
        for amounts in of.into_values().filter(|amounts| amounts.len() > 1) {
            self.fold_one(&amounts, update);
        }
    }

    fn fold_one(&self, amounts: &[(EntryId, u64)], update: &mut Update) {
        let Some(((greatest, kept), rest)) = amounts.split_last() else {
            return;
        };
        let sum: u64 = amounts.iter().map(|(_, sum)| sum).sum();
        update.kills.extend(rest.iter().map(|(name, _)| *name));
        match self.fault {
            Fault::FoldRemints => {
                update.kills.insert(*greatest);
                update.live.push(Entry::Amount { sum, folded: false });
            }
            Fault::FoldForgets => {
                let entry = Entry::Amount {
                    sum: *kept,
                    folded: true,
                };
                update.folds.insert(*greatest, entry);
            }
            _ => {
                let entry = Entry::Amount { sum, folded: true };
                update.folds.insert(*greatest, entry);
            }
        }
    }

    /// Notes what the author of a delta has seen, although the delta may wait.
    pub fn hear(&mut self, delta: &Delta) {
        if self.fault != Fault::CutWithoutOwn {
            return;
        }
        for dot in delta.claims.iter() {
            let heard = self.heard.entry(dot.replica).or_default();
            *heard = heard.union(&delta.after);
        }
    }

    /// Whether it was there from the start; those that join later have greater ids, and only read.
    pub fn is_member(&self) -> bool {
        (1..=MEMBERS).any(|n| self.me == crate::faults::founder(n))
    }

    /// What all members have seen, as far as this replica knows; `None` while some are silent.
    pub fn cut(&self) -> Option<Dots> {
        let mut last: BTreeMap<ReplicaId, Dots> = BTreeMap::new();
        for dot in self.core.version.iter() {
            last.insert(dot.replica, Dots::from(dot));
        }
        last.insert(self.me, self.core.version.clone());
        for (id, heard) in &self.heard {
            let last = last.entry(*id).or_default();
            *last = last.union(heard);
        }
        if (last.len() as u32) < MEMBERS {
            return None;
        }
        let mut cut = self.core.version.clone();
        for heads in last.into_values() {
            cut = cut.intersection(&self.past(heads));
        }
        Some(cut)
    }

    /// `dots` and all that they follow.
    fn past(&self, mut dots: Dots) -> Dots {
        loop {
            let mut all = dots.clone();
            for (dot, follows) in &self.core.follows {
                if all.contains(*dot) {
                    all = all.union(follows);
                }
            }
            if all == dots {
                return all;
            }
            dots = all;
        }
    }
}

/// An entry of the log: everyone may drop what this replica drops.
impl Collecting for Kernel {
    fn collect(&mut self, stable: &Version) -> Result<(), Rejected> {
        let cut = Dots::from(stable);
        if !cut.is_subset(&self.core.version) {
            return Err(Rejected::new("beyond what this replica has seen"));
        }
        let update = self.collection(&cut);
        match self.fault {
            Fault::LogUnnamed => {
                self.core
                    .live
                    .retain(|name, _| !update.kills.contains(name));
                self.core.live.extend(update.folds);
            }
            _ => drop(self.publish_collection(update)),
        }
        Ok(())
    }
}

impl Alphabet {
    pub fn collects(self) -> bool {
        use Alphabet::{CountCollected, FlagsCollected, TextCollected};
        matches!(self, CountCollected | FlagsCollected | TextCollected)
    }
}
