//! What happened: every update with the operations it made and the updates its author had.
//!
//! This is the kit's own account, kept without the sets and versions of the library.

use std::collections::BTreeMap;

use commute::{Dot, Dots};

/// A set of events, by their numbers in the log.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub struct Events {
    // The last word is not 0.
    words: Vec<u64>,
}

impl Events {
    pub fn contains(&self, number: usize) -> bool {
        let word = self.words.get(number / 64).copied().unwrap_or(0);
        word >> (number % 64) & 1 == 1
    }

    pub fn insert(&mut self, number: usize) {
        let at = number / 64;
        if self.words.len() <= at {
            self.words.resize(at + 1, 0);
        }
        self.words[at] |= 1 << (number % 64);
    }

    pub fn union_with(&mut self, other: &Events) {
        if self.words.len() < other.words.len() {
            self.words.resize(other.words.len(), 0);
        }
        let pairs = self.words.iter_mut().zip(&other.words);
        pairs.for_each(|(mine, theirs)| *mine |= theirs);
    }

    pub fn union(&self, other: &Events) -> Events {
        let mut all = self.clone();
        all.union_with(other);
        all
    }

    pub fn difference(&self, other: &Events) -> Events {
        let theirs = other.words.iter().copied().chain(std::iter::repeat(0));
        let words = self.words.iter().zip(theirs).map(|(x, y)| x & !y);
        let mut left = Events {
            words: words.collect(),
        };
        while left.words.last() == Some(&0) {
            left.words.pop();
        }
        left
    }

    pub fn is_subset(&self, other: &Events) -> bool {
        self.difference(other).words.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        let bits = |(at, word): (usize, &u64)| {
            let word = *word;
            (0..64)
                .filter(move |bit| word >> bit & 1 == 1)
                .map(move |bit| at * 64 + bit)
        };
        self.words.iter().enumerate().flat_map(bits)
    }

    pub fn len(&self) -> usize {
        self.words
            .iter()
            .map(|word| word.count_ones() as usize)
            .sum()
    }
}

/// One update.
#[derive(Debug)]
pub struct Event<Op> {
    pub dot: Dot,
    /// In the order in which they were made.
    pub ops: Vec<Op>,
    /// All that its author had, without itself.
    pub past: Events,
}

/// All updates of a run, in the order in which they were made.
#[derive(Debug)]
pub struct Log<Op> {
    events: Vec<Event<Op>>,
    numbers: BTreeMap<Dot, usize>,
}

impl<Op> Log<Op> {
    pub const fn new() -> Log<Op> {
        Log {
            events: Vec::new(),
            numbers: BTreeMap::new(),
        }
    }

    /// Adds an event and returns its number.
    pub fn push(&mut self, event: Event<Op>) -> usize {
        let number = self.events.len();
        self.numbers.insert(event.dot, number);
        self.events.push(event);
        number
    }

    /// How many updates there are.
    pub fn len(&self) -> usize {
        self.events.len()
    }

    pub fn get(&self, number: usize) -> &Event<Op> {
        &self.events[number]
    }

    /// The events with these names, or the first name that nobody gave.
    pub fn events(&self, dots: impl IntoIterator<Item = Dot>) -> Result<Events, Dot> {
        let mut events = Events::default();
        for dot in dots {
            events.insert(*self.numbers.get(&dot).ok_or(dot)?);
        }
        Ok(events)
    }

    /// The names of `events`.
    pub fn dots(&self, events: &Events) -> Dots {
        events.iter().map(|number| self.get(number).dot).collect()
    }

    /// All that some of `events` had seen.
    pub fn past(&self, events: &Events) -> Events {
        let mut past = Events::default();
        for number in events.iter() {
            past.union_with(&self.get(number).past);
        }
        past
    }
}

#[test]
fn sets_of_events_behave_like_sets() {
    use std::collections::BTreeSet;
    let mut rng = super::Rng::new(7);
    for _ in 0..100 {
        let mut draw = || {
            (0..rng.below(20))
                .map(|_| rng.below(200) as usize)
                .collect()
        };
        let (a, b): (BTreeSet<usize>, BTreeSet<usize>) = (draw(), draw());
        let [x, y] = [&a, &b].map(|set| {
            let mut events = Events::default();
            set.iter().for_each(|number| events.insert(*number));
            events
        });
        assert!(x.iter().eq(a.iter().copied()) && x.len() == a.len());
        assert!(x.union(&y).iter().eq(a.union(&b).copied()));
        assert!(x.difference(&y).iter().eq(a.difference(&b).copied()));
        assert_eq!(x.is_subset(&y), a.is_subset(&b));
        assert_eq!(x == y, a == b);
    }
}
