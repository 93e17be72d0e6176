//! Answers, messages and what waits.

use commute::testkit::{Applied, Delivery, DeltaBased, OpBased, Rejected, StateBased, Versioned};
use commute::{Dot, Dots, EntryId};

use super::{Core, Delta, Entry, Fault, Kernel, Kill, Names, Records};

impl StateBased for Kernel {
    fn merge(&mut self, other: &Kernel) -> Result<(), Rejected> {
        let whole = Delta::of(&other.core, &other.records);
        self.compare_seals(&whole)?;
        self.integrate(&whole);
        if self.fault != Fault::MergeSleeps {
            self.wake();
        }
        Ok(())
    }

    fn same_state(&self, other: &Kernel) -> bool {
        let timeless = |core: &Core| Core {
            time: 0,
            ..core.clone()
        };
        match self.fault {
            Fault::TimeNotAdvanced => timeless(&self.core) == timeless(&other.core),
            _ => self.core == other.core,
        }
    }
}

impl Kernel {
    /// One name for two updates: an id is used twice.
    fn compare_seals(&self, delta: &Delta) -> Result<(), Rejected> {
        let other =
            |(dot, seal): (&Dot, &u128)| self.core.seals.get(dot).is_some_and(|mine| mine != seal);
        match delta.seals.iter().any(other) {
            true => Err(Rejected::new("an id is used twice")),
            false => Ok(()),
        }
    }

    fn take(&mut self, delta: &Delta) -> Result<Applied, Rejected> {
        if delta.claims.is_subset(&self.core.version) {
            return Ok(Applied::Duplicate);
        }
        self.compare_seals(delta)?;
        self.hear(delta);
        if self.fault == Fault::WaitingOne {
            self.waiting.clear();
        }
        let key = |delta: &Delta| (delta.claims.clone(), delta.needs(self.fault));
        if !self.waiting.iter().any(|other| key(other) == key(delta)) {
            self.waiting.push(delta.clone());
            self.waiting
                .sort_by_key(|delta| delta.claims.iter().collect::<Vec<_>>());
        }
        self.wake();
        if delta.claims.is_subset(&self.core.version) {
            return Ok(Applied::New);
        }
        self.while_waiting(delta);
        Ok(Applied::Waiting)
    }

    /// What must not happen: something of a waiting delta has an effect.
    fn while_waiting(&mut self, delta: &Delta) {
        match self.fault {
            Fault::TornUpdate => {
                let set = delta
                    .live
                    .iter()
                    .filter(|(_, entry)| matches!(entry, Entry::Element(_)));
                let set: Vec<_> = set.map(|(name, entry)| (*name, entry.clone())).collect();
                self.core.live.extend(set);
            }
            Fault::EarlyKills => {
                let named = |name: &EntryId| {
                    let names = delta.kills.iter().map(|kill| match kill {
                        Kill::Named(names) => names.contains(name),
                        Kill::AllBut { .. } => false,
                    });
                    names.into_iter().any(|killed| killed)
                };
                self.core.live.retain(|name, _| !named(name));
            }
            Fault::WaitingClaimed => self.core.version = self.core.version.union(&delta.claims),
            _ => {}
        }
    }

    fn answer(&self, seen: &Dots) -> Delta {
        let version = &self.core.version;
        let news = match self.fault {
            Fault::SelectionSent => version.difference(seen).iter().take(1).collect(),
            Fault::AnswersAll if version.is_subset(seen) => version.clone(),
            _ => version.difference(seen),
        };
        let both = version.intersection(seen);
        let known = news.is_subset(&self.records.complete);
        let kills = match known {
            true => self.recorded_kills(&news),
            false => self.all_but(&news, &both),
        };
        let is_news = |name: &EntryId, entry: &Entry| {
            news.contains(name.dot) || matches!(entry, Entry::Amount { folded: true, .. })
        };
        let live = self
            .core
            .live
            .iter()
            .filter(|(name, entry)| is_news(name, entry));
        let mut records = self.records.clone();
        records.complete = records.complete.intersection(&news);
        records
            .kills
            .retain(|dot, _| records.complete.contains(*dot));
        Delta {
            after: match self.fault {
                Fault::AnswerWithoutBase => Dots::new(),
                Fault::FallbackWithoutBase if !known => Dots::new(),
                _ => both,
            },
            follows: self.follows_of(&news),
            live: live.map(|(name, entry)| (*name, entry.clone())).collect(),
            kills: match self.fault {
                Fault::KillsForgotten => Vec::new(),
                Fault::LogUnsent if news.is_subset(&self.core.marks) => Vec::new(),
                _ => vec![kills],
            },
            marks: self.core.marks.intersection(&news),
            seals: self.core.seals.clone(),
            time: self.core.time,
            records,
            claims: news,
        }
    }

    fn follows_of(&self, dots: &Dots) -> std::collections::BTreeMap<Dot, Dots> {
        let of = self
            .core
            .follows
            .iter()
            .filter(|(dot, _)| dots.contains(**dot));
        of.map(|(dot, follows)| (*dot, follows.clone())).collect()
    }

    /// The entries that the updates `news` killed, by the records.
    fn recorded_kills(&self, news: &Dots) -> Kill {
        let by = self
            .records
            .kills
            .iter()
            .filter(|(dot, _)| news.contains(**dot));
        let names: Names = by.flat_map(|(_, names)| names.iter().copied()).collect();
        let outside = names
            .into_iter()
            .filter(|name| !news.contains(name.dot))
            .collect();
        self.on_the_wire(outside)
    }

    /// A list of kills as it is sent.
    pub fn on_the_wire(&self, names: Names) -> Kill {
        match (self.fault, names.first(), names.last()) {
            (Fault::WireNamesDots, ..) => Kill::AllBut {
                of: names.iter().map(|name| name.dot).collect(),
                except: Names::new(),
            },
            (Fault::RangeOfNames, Some(first), Some(last)) => {
                let within = self
                    .core
                    .live
                    .keys()
                    .filter(|name| (first..=last).contains(name));
                Kill::Named(within.copied().chain(names.iter().copied()).collect())
            }
            _ => Kill::Named(names),
        }
    }

    /// All entries of the updates `both` that this replica has not got.
    fn all_but(&self, news: &Dots, both: &Dots) -> Kill {
        let names = self.core.live.keys().copied();
        match self.fault {
            Fault::WhollyDeadOnly => {
                let alive: Dots = names.map(|name| name.dot).collect();
                Kill::AllBut {
                    of: both.difference(&alive),
                    except: Names::new(),
                }
            }
            Fault::ExceptionsOfNews => Kill::AllBut {
                of: both.clone(),
                except: names.filter(|name| news.contains(name.dot)).collect(),
            },
            _ => Kill::AllBut {
                of: both.clone(),
                except: names.filter(|name| both.contains(name.dot)).collect(),
            },
        }
    }
}

impl DeltaBased for Kernel {
    type Delta = Delta;
    type Seen = Dots;

    fn seen(&self) -> Dots {
        self.core.version.clone()
    }

    fn delta_since(&self, seen: &Dots) -> Delta {
        self.answer(seen)
    }

    fn absorb(&mut self, delta: &Delta) -> Result<Applied, Rejected> {
        self.take(delta)
    }

    fn group(a: &Delta, b: &Delta) -> Option<Delta> {
        Some(a.with(b, Fault::chosen()))
    }

    fn beyond(delta: &Delta, seen: &Dots) -> Option<Delta> {
        let fault = Fault::chosen();
        let below = delta.claims.intersection(seen);
        let mut cut = delta.clone();
        cut.claims = delta.claims.difference(seen);
        cut.after = match fault {
            Fault::CutNeedsNothing => delta.after.clone(),
            _ => delta.after.union(&below),
        };
        let except = delta
            .live
            .keys()
            .copied()
            .filter(|name| below.contains(name.dot));
        let kill = Kill::AllBut {
            except: except.collect(),
            of: below.clone(),
        };
        if fault != Fault::CutForgets {
            cut.kills.push(kill);
        }
        // A fold changes an entry that may be below.
        let folded = |entry: &Entry| matches!(entry, Entry::Amount { folded: true, .. });
        cut.live
            .retain(|name, entry| !below.contains(name.dot) || folded(entry));
        cut.follows.retain(|dot, _| !below.contains(*dot));
        cut.seals.retain(|dot, _| !below.contains(*dot));
        cut.marks = cut.marks.difference(&below);
        cut.records = Records::default();
        Some(cut)
    }

    fn delta_bound(&self, delta: &Delta) -> Result<(), String> {
        match delta.claims.is_subset(&self.core.version) {
            true => Ok(()),
            false => Err("it claims what its maker has not got".into()),
        }
    }
}

impl OpBased for Kernel {
    type Message = Delta;
    const NEEDS: Delivery = Delivery::Causal;
    const DUPLICATES: bool = true;
    const DETECTS: bool = true;

    fn outbox(&mut self) -> Vec<Delta> {
        std::mem::take(&mut self.outbox)
    }

    fn receive(&mut self, message: &Delta) -> Result<Applied, Rejected> {
        self.take(message)
    }

    fn group(a: &Delta, b: &Delta) -> Option<Delta> {
        Some(a.with(b, Fault::chosen()))
    }
}

impl Versioned for Kernel {
    fn included(&self) -> Dots {
        self.core.version.clone()
    }

    fn heads(&self) -> Dots {
        match self.fault {
            Fault::HeadsPile => self.core.version.clone(),
            _ => self.core.heads(),
        }
    }

    fn last_update(&self) -> Option<Dot> {
        self.last
    }

    fn waiting(&self) -> usize {
        self.waiting.len()
    }

    fn missing(&self) -> Dots {
        let needs = self.waiting.iter().map(|delta| delta.needs(self.fault));
        let needs = needs.fold(Dots::new(), |all, needs| all.union(&needs));
        let claims = self.waiting.iter().map(|delta| &delta.claims);
        let there = claims.fold(self.core.version.clone(), |all, claims| all.union(claims));
        needs.difference(&there)
    }

    fn drop_waiting(&mut self) {
        self.waiting.clear();
    }

    fn drop_records(&mut self) {
        self.records.kills.clear();
        if self.fault != Fault::RecordsHole {
            self.records.complete = Dots::new();
        }
    }
}
