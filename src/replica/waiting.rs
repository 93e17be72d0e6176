//! Deltas that came before their causal past.
//!
//! What waits is no part of the version, equality, digest or state bytes: nothing of it is claimed,
//! so it may be dropped at any time and the next answer brings it again, together with its past.

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::vec::Vec;

use super::Delta;
use crate::clock::{Dot, Dots, Version};
use crate::kernel::Replicated;

/// How much may wait. Beyond it the oldest waiting delta is dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct WaitingLimits {
    /// The most deltas.
    pub deltas_max: usize,
    /// The most entries and ranges in all of them together.
    pub items_max: u64,
}

impl Default for WaitingLimits {
    /// 4,096 deltas with 2^20 items.
    fn default() -> WaitingLimits {
        WaitingLimits {
            deltas_max: 4096,
            items_max: 1 << 20,
        }
    }
}

impl WaitingLimits {
    /// At most this many deltas with this many items in all.
    #[must_use]
    pub const fn new(deltas_max: usize, items_max: u64) -> WaitingLimits {
        WaitingLimits {
            deltas_max,
            items_max,
        }
    }
}

/// The first dot that a delta claims, and a number to tell apart those that share it.
type Ticket = (Dot, u32);

#[derive(Debug)]
pub(crate) struct Waiting<S: Replicated> {
    deltas: BTreeMap<Ticket, Delta<S>>,
    // Each waiting delta under one dot that it needs and one that it brings: others may bring it.
    by_dot: BTreeMap<Dot, BTreeSet<Ticket>>,
    // How many tickets `by_dot` holds.
    filed: usize,
    arrival: VecDeque<Ticket>,
    items: u64,
    groups: usize,
    limits: WaitingLimits,
}

impl<S: Replicated> Default for Waiting<S> {
    fn default() -> Waiting<S> {
        Waiting {
            deltas: BTreeMap::new(),
            by_dot: BTreeMap::new(),
            filed: 0,
            arrival: VecDeque::new(),
            items: 0,
            groups: 0,
            limits: WaitingLimits::default(),
        }
    }
}

impl<S: Replicated> Waiting<S> {
    pub(crate) fn len(&self) -> usize {
        self.deltas.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Delta<S>> {
        self.deltas.values()
    }

    pub(crate) fn set_limits(&mut self, limits: WaitingLimits) {
        self.limits = limits;
        self.drop_beyond_limits();
    }

    pub(crate) fn clear(&mut self) {
        *self = Waiting {
            limits: self.limits,
            ..Waiting::default()
        };
    }

    /// Puts `delta` in unless it is there already.
    pub(crate) fn insert(&mut self, delta: Delta<S>, version: &Version) {
        let Some(first) = delta.claims().iter().next() else {
            return;
        };
        let Some(awaited) = awaited(&delta, version) else {
            return;
        };
        let alike = self.deltas.range((first, 0)..=(first, u32::MAX));
        let mut number = 0;
        for ((_, at), held) in alike {
            if *held == delta {
                return;
            }
            number = at.saturating_add(1);
        }
        let ticket = (first, number);
        self.items = self.items.saturating_add(delta.items());
        self.groups += usize::from(delta.claims().len() > 1);
        self.deltas.insert(ticket, delta);
        self.file(ticket, awaited);
        self.arrival.push_back(ticket);
        self.drop_beyond_limits();
    }

    fn file(&mut self, ticket: Ticket, awaited: [Dot; 2]) {
        for dot in awaited {
            let new = self.by_dot.entry(dot).or_default().insert(ticket);
            self.filed += usize::from(new);
        }
        // A waiting delta is filed twice at most; the rest are stale.
        if self.filed > 4 * self.deltas.len() + 32 {
            let deltas = &self.deltas;
            self.by_dot.retain(|_, tickets| {
                tickets.retain(|ticket| deltas.contains_key(ticket));
                !tickets.is_empty()
            });
            self.filed = self.by_dot.values().map(BTreeSet::len).sum();
        }
    }

    fn drop_beyond_limits(&mut self) {
        while self.deltas.len() > self.limits.deltas_max || self.items > self.limits.items_max {
            let Some(oldest) = self.arrival.pop_front() else {
                return;
            };
            self.remove(oldest);
        }
    }

    fn remove(&mut self, ticket: Ticket) -> Option<Delta<S>> {
        let delta = self.deltas.remove(&ticket)?;
        self.items = self.items.saturating_sub(delta.items());
        self.groups -= usize::from(delta.claims().len() > 1);
        if self.deltas.is_empty() {
            // Stale tickets need no clean-up of their own.
            self.by_dot.clear();
            self.filed = 0;
            self.arrival.clear();
        } else if self.arrival.len() > 2 * self.deltas.len() + 16 {
            let deltas = &self.deltas;
            self.arrival.retain(|ticket| deltas.contains_key(ticket));
        }
        Some(delta)
    }

    /// Takes out the deltas that need not wait now that `version` includes `new`.
    ///
    /// Their needs are met, or others brought what they bring.
    ///
    /// Each wake-up looks at the deltas filed under the new dots only.
    pub(crate) fn take_ready(&mut self, new: &Dots, version: &Version) -> Vec<Delta<S>> {
        let mut woken = BTreeSet::new();
        for (id, first, last) in new.ranges() {
            let range = Dot::new(id, first)..=Dot::new(id, last);
            let dots: Vec<Dot> = self.by_dot.range(range).map(|(dot, _)| *dot).collect();
            for dot in dots {
                let tickets = self.by_dot.remove(&dot).unwrap_or_default();
                self.filed -= tickets.len();
                // Not `append`, which builds the set anew for each dot.
                woken.extend(tickets);
            }
        }
        let mut ready = Vec::new();
        for ticket in woken {
            let Some(delta) = self.deltas.get(&ticket) else {
                continue;
            };
            match awaited(delta, version) {
                Some(awaited) => self.file(ticket, awaited),
                None => ready.extend(self.remove(ticket)),
            }
        }
        ready
    }

    /// Takes out the greatest set of deltas whose needs are met by `version` and by each other.
    ///
    /// Two groups can need each other (R7), so trying them one at a time is not enough; single
    /// updates cannot, so without a group nothing is scanned.
    pub(crate) fn take_mutual(&mut self, version: &Version) -> Vec<Delta<S>> {
        if self.groups == 0 {
            return Vec::new();
        }
        let blocked = self.blocked(version);
        let tickets = self.deltas.keys().filter(|at| !blocked.contains(at));
        let together: Vec<Ticket> = tickets.copied().collect();
        together
            .into_iter()
            .filter_map(|ticket| self.remove(ticket))
            .collect()
    }

    /// The deltas that need something which neither is included nor brought by one that is not blocked.
    ///
    /// Of each range of needs only the end is looked at: whoever brings it also needs, or brings, what
    /// lies before. Each delta is blocked once, so this is O(n log n) in the needs and claims.
    fn blocked(&self, version: &Version) -> BTreeSet<Ticket> {
        let mut needed_by = BTreeMap::<Dot, Vec<Ticket>>::new();
        for (ticket, delta) in &self.deltas {
            for (id, _, last) in delta.needs().beyond(version).ranges() {
                needed_by
                    .entry(Dot::new(id, last))
                    .or_default()
                    .push(*ticket);
            }
        }
        let mut offers: BTreeMap<Dot, usize> = needed_by.keys().map(|dot| (*dot, 0)).collect();
        for delta in self.deltas.values() {
            for (id, first, last) in delta.claims().ranges() {
                let brought = offers.range_mut(Dot::new(id, first)..=Dot::new(id, last));
                brought.for_each(|(_, offers)| *offers += 1);
            }
        }
        let mut lost: Vec<Dot> = Vec::new();
        lost.extend(offers.iter().filter(|(_, n)| **n == 0).map(|(dot, _)| *dot));
        let mut blocked = BTreeSet::new();
        while let Some(dot) = lost.pop() {
            for ticket in needed_by.remove(&dot).unwrap_or_default() {
                let Some(delta) = self.deltas.get(&ticket).filter(|_| blocked.insert(ticket))
                else {
                    continue;
                };
                for (id, first, last) in delta.claims().ranges() {
                    let range = Dot::new(id, first)..=Dot::new(id, last);
                    for (dot, offers) in offers.range_mut(range) {
                        *offers -= 1;
                        if *offers == 0 {
                            lost.push(*dot);
                        }
                    }
                }
            }
        }
        blocked
    }
}

/// A dot that `delta` needs and one that it brings, both beyond `version`; `None` if either is not.
fn awaited<S: Replicated>(delta: &Delta<S>, version: &Version) -> Option<[Dot; 2]> {
    let first = |dots: Dots| {
        let first = dots.ranges().next();
        first.map(|(replica, counter, _)| Dot::new(replica, counter))
    };
    let needed = first(delta.needs().beyond(version))?;
    let brought = first(delta.claims().beyond(version))?;
    Some([needed, brought])
}
