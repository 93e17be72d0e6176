//! What happened: the operations of an execution, and what each had seen.

use std::fmt;
use std::rc::Rc;

use super::erased::DynOp;
use super::fingerprint::Fingerprint;
use crate::clock::{Dot, ReplicaId};

/// A set of event numbers.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Events {
    low: u128,
    /// Without zeros at its end.
    high: Vec<u64>,
}

impl Events {
    /// Adds `number`.
    pub fn insert(&mut self, number: usize) {
        match number.checked_sub(128) {
            None => self.low |= 1 << number,
            Some(beyond) => {
                let word = beyond / 64;
                if self.high.len() <= word {
                    self.high.resize(word + 1, 0);
                }
                self.high[word] |= 1 << (beyond % 64);
            }
        }
    }

    /// Whether `number` is in it.
    pub fn has(&self, number: usize) -> bool {
        match number.checked_sub(128) {
            None => self.low >> number & 1 == 1,
            Some(beyond) => {
                let word = self.high.get(beyond / 64).copied().unwrap_or(0);
                word >> (beyond % 64) & 1 == 1
            }
        }
    }

    /// Adds all of `other`.
    pub fn add_all(&mut self, other: &Events) {
        self.low |= other.low;
        if self.high.len() < other.high.len() {
            self.high.resize(other.high.len(), 0);
        }
        for (mine, theirs) in self.high.iter_mut().zip(&other.high) {
            *mine |= theirs;
        }
    }

    /// Removes `number`.
    fn remove(&mut self, number: usize) {
        match number.checked_sub(128) {
            None => self.low &= !(1 << number),
            Some(beyond) => {
                if let Some(word) = self.high.get_mut(beyond / 64) {
                    *word &= !(1 << (beyond % 64));
                }
                self.trim();
            }
        }
    }

    /// Removes all of `other`.
    fn remove_all(&mut self, other: &Events) {
        self.low &= !other.low;
        for (mine, theirs) in self.high.iter_mut().zip(&other.high) {
            *mine &= !theirs;
        }
        self.trim();
    }

    /// What is in either.
    #[must_use]
    pub fn union(&self, other: &Events) -> Events {
        let mut all = self.clone();
        all.add_all(other);
        all
    }

    /// What is in both.
    #[must_use]
    pub fn intersection(&self, other: &Events) -> Events {
        let high = self.high.iter().zip(&other.high).map(|(a, b)| a & b);
        let mut both = Events {
            low: self.low & other.low,
            high: high.collect(),
        };
        both.trim();
        both
    }

    /// What is not in `other`.
    #[must_use]
    pub fn difference(&self, other: &Events) -> Events {
        let mut left = self.clone();
        left.remove_all(other);
        left
    }

    fn trim(&mut self) {
        while self.high.last() == Some(&0) {
            self.high.pop();
        }
    }

    /// Whether all of it is in `other`.
    pub fn is_subset(&self, other: &Events) -> bool {
        let mut high = self.high.iter().enumerate();
        self.low & !other.low == 0
            && high.all(|(at, word)| word & !other.high.get(at).copied().unwrap_or(0) == 0)
    }

    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.low == 0 && self.high.is_empty()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        let high: u32 = self.high.iter().map(|word| word.count_ones()).sum();
        (self.low.count_ones() + high) as usize
    }

    /// The largest number.
    pub fn last(&self) -> Option<usize> {
        match self.high.last() {
            Some(word) => Some(128 + 64 * self.high.len() - 1 - word.leading_zeros() as usize),
            None => 127_usize.checked_sub(self.low.leading_zeros() as usize),
        }
    }

    /// The numbers, ascending.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        let mut low = self.low;
        let first = std::iter::from_fn(move || {
            let number = low.trailing_zeros();
            low &= low.wrapping_sub(1);
            (number < 128).then_some(number as usize)
        });
        let words = self.high.iter().enumerate();
        let high = words.flat_map(|(at, word)| {
            let word = *word;
            let bits = (0..64_usize).filter(move |bit| word >> bit & 1 == 1);
            bits.map(move |bit| 128 + at * 64 + bit)
        });
        first.chain(high)
    }
}

impl fmt::Debug for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

impl FromIterator<usize> for Events {
    fn from_iter<I: IntoIterator<Item = usize>>(numbers: I) -> Events {
        let mut events = Events::default();
        numbers.into_iter().for_each(|number| events.insert(number));
        events
    }
}

/// The name of an operation: `r0:1` is the first one of replica 0, `r0b:1` the first one after its
/// first restart under a new id.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct OpId {
    /// The place of the replica.
    pub replica: u16,
    /// How often that place was given a new id before.
    pub incarnation: u16,
    /// Counts from 1.
    pub number: u32,
}

impl fmt::Display for OpId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "r{}", self.replica)?;
        match self.incarnation {
            0 => {}
            // b, c, ... as far as the letters reach.
            n @ 1..=25 => write!(f, "{}", char::from(b'a' + n as u8))?,
            n => write!(f, ".{n}")?,
        }
        write!(f, ":{}", self.number)
    }
}

/// One operation that was done.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    pub id: OpId,
    /// Under which id it was done.
    pub author: ReplicaId,
    /// `None` for an update that a collection made: it means nothing to a user.
    pub op: Option<DynOp>,
    /// All that its author had seen, itself left out.
    pub past: Events,
    /// What the type calls it, if it has names.
    pub dot: Option<Dot>,
    /// Of its name, the operation and all of its past.
    pub print: u128,
    /// How long the longest chain of operations is that ends in it.
    pub depth: u32,
}

/// All operations of an execution, in the order in which they were done.
#[derive(Clone, Debug)]
pub(crate) struct Log {
    events: Rc<Vec<Rc<Event>>>,
    /// The sum of their fingerprints.
    print: u128,
    /// Whether some past lacks the past of what is in it: then its heads do not tell all of it.
    open: bool,
}

impl Log {
    pub fn new() -> Log {
        Log {
            events: Rc::default(),
            print: 0,
            open: false,
        }
    }

    /// How long the longest chain of operations is that ends in one with this past.
    pub fn depth_after(&self, past: &Events) -> u32 {
        let mut deepest = 0;
        self.for_heads(past, |head| deepest = deepest.max(head.depth));
        1 + deepest
    }

    /// Calls `f` for those of `events` that no other of them had seen, and for others if the log is
    /// open.
    fn for_heads(&self, events: &Events, mut f: impl FnMut(&Event)) {
        if self.open {
            return events.iter().for_each(|number| f(self.get(number)));
        }
        let mut left = events.clone();
        while let Some(last) = left.last() {
            let head = self.get(last);
            f(head);
            left.remove_all(&head.past);
            left.remove(last);
        }
    }

    /// Adds an operation and returns its number.
    pub fn push(&mut self, event: Event) -> usize {
        self.print = self.print.wrapping_add(event.print);
        self.open = self.open || !self.past(&event.past).is_subset(&event.past);
        let events = Rc::make_mut(&mut self.events);
        events.push(Rc::new(event));
        events.len() - 1
    }

    pub fn len(&self) -> usize {
        self.events.len()
    }

    pub fn get(&self, number: usize) -> &Event {
        &self.events[number]
    }

    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Event> {
        self.events.iter().map(|event| &**event)
    }

    /// The fingerprint of all of them, whatever their order.
    pub fn print_of_all(&self) -> u128 {
        self.print
    }

    /// The fingerprint of a set of events, whatever their numbers.
    pub fn print(&self, events: &Events) -> u128 {
        let prints = events.iter().map(|number| self.get(number).print);
        prints.fold(0, u128::wrapping_add)
    }

    /// The fingerprint of an operation with this name, choice and past.
    pub fn print_of(&self, id: OpId, op: Option<&DynOp>, past: &Events) -> u128 {
        let mut out = Fingerprint::new();
        out.number(
            u64::from(id.replica) << 48 | u64::from(id.incarnation) << 32 | u64::from(id.number),
        );
        match op {
            Some(op) => out.debug(op),
            None => out.bytes(b"collection"),
        }
        out.nested(self.print(past));
        out.value()
    }

    /// All that some of `events` had seen.
    pub fn past(&self, events: &Events) -> Events {
        let mut past = Events::default();
        self.for_heads(events, |head| past.add_all(&head.past));
        past
    }

    /// `r0:1 r1:2`
    pub fn names(&self, events: &Events) -> String {
        if events.is_empty() {
            return "nothing".into();
        }
        let names: Vec<String> = events
            .iter()
            .map(|number| self.get(number).id.to_string())
            .collect();
        names.join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::SplitMix64;
    use std::collections::BTreeSet;

    #[test]
    fn sets_of_events_behave_like_sets() {
        let mut rng = SplitMix64::new(7);
        for _ in 0..200 {
            let mut draw = || {
                (0..rng.below(20))
                    .map(|_| rng.below(400) as usize)
                    .collect::<BTreeSet<usize>>()
            };
            let (a, b) = (draw(), draw());
            let [x, y] = [&a, &b].map(|set| set.iter().copied().collect::<Events>());
            assert!(x.iter().eq(a.iter().copied()) && x.len() == a.len());
            assert!(x.union(&y).iter().eq(a.union(&b).copied()));
            assert!(x.difference(&y).iter().eq(a.difference(&b).copied()));
            assert!(x.intersection(&y).iter().eq(a.intersection(&b).copied()));
            let back: Events = x.difference(&y).iter().collect();
            assert_eq!(back, x.difference(&y));
            assert_eq!(x.last(), a.last().copied());
            assert_eq!(x.is_subset(&y), a.is_subset(&b));
            assert_eq!(x == y, a == b);
            assert!(
                a.iter().all(|n| x.has(*n)) && (0..500).filter(|n| x.has(*n)).count() == a.len()
            );
            let mut less = x.clone();
            a.iter().rev().for_each(|n| less.remove(*n));
            assert_eq!(less, Events::default());
        }
    }

    /// The past of a set and its depth are those of all that is in it, whether the pasts are closed
    /// or some lack a part.
    #[test]
    fn the_past_is_that_of_all_events() {
        let mut rng = SplitMix64::new(3);
        for run in 0..100 {
            let mut log = Log::new();
            for number in 0..rng.below(200) as usize {
                let chosen = |_: &usize| rng.below(8) == 0;
                let mut past: Events = (0..number).filter(chosen).collect();
                if run % 2 == 0 {
                    past.add_all(&slow_past(&log, &past));
                }
                let deepest = past.iter().map(|before| log.get(before).depth).max();
                assert_eq!(log.depth_after(&past), 1 + deepest.unwrap_or(0));
                log.push(Event {
                    id: OpId {
                        replica: 0,
                        incarnation: 0,
                        number: number as u32 + 1,
                    },
                    author: ReplicaId::MIN,
                    op: None,
                    depth: log.depth_after(&past),
                    past,
                    dot: None,
                    print: 0,
                });
            }
            let some = |_: &usize| rng.below(3) == 0;
            let some: Events = (0..log.len()).filter(some).collect();
            assert_eq!(log.past(&some), slow_past(&log, &some));
        }
    }

    fn slow_past(log: &Log, events: &Events) -> Events {
        let pasts = events.iter().map(|number| &log.get(number).past);
        pasts.fold(Events::default(), |all, past| all.union(past))
    }

    #[test]
    fn names_tell_incarnations_apart() {
        let id = |incarnation| OpId {
            replica: 2,
            incarnation,
            number: 3,
        };
        assert_eq!(id(0).to_string(), "r2:3");
        assert_eq!(id(1).to_string(), "r2b:3");
        assert_eq!(id(25).to_string(), "r2z:3");
        assert_eq!(id(26).to_string(), "r2.26:3");
    }
}
