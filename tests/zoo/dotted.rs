//! The context of dotted types: how many updates of each replica are included.

use std::collections::BTreeMap;

use commute::testkit::Rejected;
use commute::{Dot, ReplicaId, Version};

use crate::bytes::{Reader, put_id, put_u64};

/// Of each replica, that many of its updates; no replica maps to 0.
#[derive(Clone, Default, PartialEq, Eq, Hash, Debug)]
pub struct Context(pub BTreeMap<ReplicaId, u64>);

impl Context {
    pub fn get(&self, id: ReplicaId) -> u64 {
        self.0.get(&id).copied().unwrap_or(0)
    }

    pub fn has(&self, dot: Dot) -> bool {
        dot.counter <= self.get(dot.replica)
    }

    /// The next dot of `id`, which is included from now on.
    pub fn mint(&mut self, id: ReplicaId) -> Dot {
        let count = self.0.entry(id).or_insert(0);
        *count += 1;
        Dot::new(id, *count)
    }

    pub fn raise(&mut self, id: ReplicaId, count: u64) {
        let mine = self.0.entry(id).or_insert(count);
        *mine = count.max(*mine);
    }

    pub fn join(&mut self, other: &Context) {
        for (id, count) in &other.0 {
            self.raise(*id, *count);
        }
    }

    /// What both include.
    pub fn meet(&self, other: &Context) -> Context {
        let both = self
            .0
            .iter()
            .map(|(id, count)| (*id, other.get(*id).min(*count)));
        Context(both.filter(|(_, count)| *count > 0).collect())
    }

    pub fn includes(&self, other: &Context) -> bool {
        other.0.iter().all(|(id, count)| *count <= self.get(*id))
    }

    /// The sum of all counts.
    pub fn sum(&self) -> u64 {
        self.0.values().sum()
    }

    /// Whether `cut` is no more than this.
    pub fn allows(&self, cut: &Version) -> Result<(), Rejected> {
        match cut.iter().all(|(id, count)| count <= self.get(id)) {
            true => Ok(()),
            false => Err(Rejected::new("not seen yet")),
        }
    }

    pub fn put(&self, out: &mut Vec<u8>) {
        out.push(self.0.len() as u8);
        for (id, count) in &self.0 {
            put_id(out, *id);
            put_u64(out, *count);
        }
    }

    pub fn read(from: &mut Reader<'_>) -> Result<Context, Rejected> {
        let counts = from.ascending(|from| Ok((from.id()?, from.u64()?)))?;
        match counts.values().all(|count| (1..1 << 32).contains(count)) {
            true => Ok(Context(counts)),
            false => Err(Rejected::new("a count of 0, or too large")),
        }
    }
}

/// The counts of `version`.
pub fn context_of(version: &Version) -> Context {
    Context(version.iter().collect())
}
