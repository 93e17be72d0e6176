//! A network that delays, reorders, duplicates and loses, and does so the same way every time.

use std::collections::BTreeMap;

use commute::env::SplitMix64;

/// What a link does to messages. Time is counted in recorded edits, of [`TICKS`] each.
#[derive(Clone, Copy, Debug)]
pub struct Weather {
    /// Of 100 messages so many are lost.
    pub lost_percent: u64,
    /// Of 100 messages so many arrive twice.
    pub doubled_percent: u64,
    /// A message travels for up to so many ticks, so that it may be overtaken.
    pub delay_ticks_max: u64,
}

/// How much time passes between two recorded edits.
pub const TICKS: u64 = 8;

impl Weather {
    /// Every message arrives once, before the next edit.
    pub const FAIR: Weather = Weather {
        lost_percent: 0,
        doubled_percent: 0,
        delay_ticks_max: 0,
    };

    /// Between people who type: one of five messages comes later than the next edit.
    pub const ROUGH: Weather = Weather {
        lost_percent: 10,
        doubled_percent: 10,
        delay_ticks_max: TICKS + TICKS / 4,
    };

    /// To those who only listen: a message may be overtaken by some thirty later ones.
    pub const STORM: Weather = Weather {
        lost_percent: 10,
        doubled_percent: 10,
        delay_ticks_max: 32 * TICKS,
    };
}

/// What links did to their messages.
#[derive(Clone, Copy, Default, Debug)]
pub struct Traffic {
    /// Messages sent.
    pub sent: u64,
    /// Second copies made on the way.
    pub doubled: u64,
    /// Messages lost, copies not counted.
    pub dropped: u64,
}

impl Traffic {
    /// Both together.
    pub fn add(&mut self, other: Traffic) {
        self.sent += other.sent;
        self.doubled += other.doubled;
        self.dropped += other.dropped;
    }
}

/// What is on its way to one receiver. A message is known by the number of the update it carries.
#[derive(Debug)]
pub struct Link {
    weather: Weather,
    random: SplitMix64,
    /// By arrival; the second number tells apart what arrives in the same tick.
    on_the_way: BTreeMap<(u64, u64), usize>,
    copies: u64,
    traffic: Traffic,
}

impl Link {
    /// A link with nothing on its way.
    pub fn new(weather: Weather, seed: u64) -> Link {
        Link {
            weather,
            random: SplitMix64::new(seed),
            on_the_way: BTreeMap::new(),
            copies: 0,
            traffic: Traffic::default(),
        }
    }

    /// Sends `update` right after the edit number `edit`.
    pub fn send(&mut self, edit: usize, update: usize) {
        self.traffic.sent += 1;
        if self.random.below(100) < self.weather.lost_percent {
            self.traffic.dropped += 1;
            return;
        }
        self.put_on_the_way(edit, update);
        if self.random.below(100) < self.weather.doubled_percent {
            self.traffic.doubled += 1;
            self.put_on_the_way(edit, update);
        }
    }

    fn put_on_the_way(&mut self, edit: usize, update: usize) {
        let delay = self.random.below(self.weather.delay_ticks_max + 1);
        self.copies += 1;
        let arrival = (edit as u64 * TICKS + delay, self.copies);
        self.on_the_way.insert(arrival, update);
    }

    /// Takes the next message that has arrived before the edit number `edit`.
    pub fn receive(&mut self, edit: usize) -> Option<usize> {
        let first = self.on_the_way.first_entry()?;
        match first.key().0 < edit as u64 * TICKS {
            true => Some(first.remove()),
            false => None,
        }
    }

    /// Takes the next message, however long it still has to travel.
    pub fn receive_at_last(&mut self) -> Option<usize> {
        self.on_the_way.pop_first().map(|(_, update)| update)
    }

    /// What the link did so far.
    pub fn traffic(&self) -> Traffic {
        self.traffic
    }
}
