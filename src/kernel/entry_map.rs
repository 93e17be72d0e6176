//! Values by the entry that brought them.

use alloc::vec::Vec;
use core::mem;

use smallvec::SmallVec;

use crate::clock::{ByReplica, Dot, Dots, EntryId, ReplicaId, Version};

/// A map from live entries to values: per replica a list in order of creation.
///
/// Versions have no gaps, so whatever arrives from a replica is newer than all that is here of it
/// and goes to the end of its list: no search, no tree. What is removed from a long list leaves a
/// hole, and a list of which more than half are holes is closed up, so a removal costs O(log n),
/// amortised. A single entry takes no allocation.
#[derive(Clone, Debug)]
pub(crate) struct EntryMap<V> {
    // No replica maps to a list without a value.
    lists: ByReplica<List<V>>,
    len: usize,
}

#[derive(Clone, Debug)]
struct List<V> {
    // Ascending; the last one holds a value.
    slots: SmallVec<[Slot<V>; 1]>,
    live: usize,
}

#[derive(Clone, Debug)]
struct Slot<V> {
    counter: u64,
    index: u32,
    value: Option<V>,
}

/// Lists up to this length have no holes.
const SHORT: usize = 32;

impl<V> Default for List<V> {
    fn default() -> List<V> {
        List {
            slots: SmallVec::new(),
            live: 0,
        }
    }
}

impl<V> Slot<V> {
    fn new(entry: EntryId, value: V) -> Slot<V> {
        Slot {
            counter: entry.dot.counter,
            index: entry.index,
            value: Some(value),
        }
    }

    fn place(&self) -> (u64, u32) {
        (self.counter, self.index)
    }
}

fn place(entry: EntryId) -> (u64, u32) {
    (entry.dot.counter, entry.index)
}

impl<V> List<V> {
    fn find(&self, place: (u64, u32)) -> Result<usize, usize> {
        match &self.slots[..] {
            [.., last] if last.place() < place => Err(self.slots.len()),
            slots => slots.binary_search_by(|slot| slot.place().cmp(&place)),
        }
    }

    /// The slots of the updates `first..=last`.
    fn within(&self, first: u64, last: u64) -> &[Slot<V>] {
        let slots = &self.slots[..];
        let (start, end) = match slots {
            [] => (0, 0),
            [.., newest] if newest.counter < first => (0, 0),
            [oldest, .., newest] if first <= oldest.counter && newest.counter <= last => {
                (0, slots.len())
            }
            _ => (
                slots.partition_point(|slot| slot.counter < first),
                slots.partition_point(|slot| slot.counter <= last),
            ),
        };
        &slots[start..end.max(start)]
    }

    fn insert(&mut self, slot: Slot<V>) -> Option<V> {
        match self.find(slot.place()) {
            Ok(at) => {
                let old = mem::replace(&mut self.slots[at], slot).value;
                self.live += usize::from(old.is_none());
                old
            }
            Err(at) => {
                self.live += 1;
                self.slots.insert(at, slot);
                None
            }
        }
    }

    /// Adds ascending slots; returns how many are new.
    fn extend(&mut self, slots: impl Iterator<Item = Slot<V>>) -> usize {
        let (held, live) = (self.slots.len(), self.live);
        self.slots.extend(slots);
        let joint = &self.slots[held.saturating_sub(1)..];
        if joint.is_sorted_by(|a, b| a.place() < b.place()) {
            self.live += self.slots.len() - held;
        } else {
            self.slots.retain(|slot| slot.value.is_some());
            // Stable, so that what is here comes first.
            self.slots.sort_by_key(|slot| slot.place());
            self.slots.dedup_by_key(|slot| slot.place());
            self.live = self.slots.len();
        }
        self.live - live
    }

    fn remove(&mut self, place: (u64, u32)) -> Option<V> {
        let at = self.find(place).ok()?;
        let value = self.slots[at].value.take()?;
        self.live -= 1;
        if self.slots.len() <= SHORT {
            self.slots.remove(at);
        } else if self.slots.len() > 2 * self.live {
            self.close_up();
        }
        while self.slots.last().is_some_and(|slot| slot.value.is_none()) {
            self.slots.pop();
        }
        Some(value)
    }

    fn close_up(&mut self) {
        self.slots.retain(|slot| slot.value.is_some());
        self.slots.shrink_to_fit();
    }
}

impl<V> Default for EntryMap<V> {
    fn default() -> EntryMap<V> {
        EntryMap::new()
    }
}

impl<V> EntryMap<V> {
    pub(crate) const fn new() -> EntryMap<V> {
        EntryMap {
            lists: ByReplica::new(),
            len: 0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// O(log n).
    pub(crate) fn get(&self, entry: EntryId) -> Option<&V> {
        let list = self.lists.get(entry.dot.replica)?;
        let at = list.find(place(entry)).ok()?;
        list.slots[at].value.as_ref()
    }

    /// The value of the newest entry of the update `dot`.
    pub(crate) fn newest_mut(&mut self, dot: Dot) -> Option<&mut V> {
        let list = self.lists.get_mut(dot.replica)?;
        let up_to = list
            .slots
            .partition_point(|slot| slot.counter <= dot.counter);
        let newest = list.slots[..up_to].iter_mut().rev();
        let of_dot = newest.take_while(|slot| slot.counter == dot.counter);
        of_dot.filter_map(|slot| slot.value.as_mut()).next()
    }

    /// Entries and values, ascending.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (EntryId, &V)> {
        self.lists
            .iter()
            .flat_map(|(id, list)| live(id, &list.slots))
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &V> {
        self.iter().map(|(_, value)| value)
    }

    /// What `of` created. By the shorter side: a child of a map holds little of all that many
    /// replicas made.
    pub(crate) fn among(&self, of: &Dots) -> impl Iterator<Item = (EntryId, &V)> {
        let by_entry = of.ranges().nth(self.len).is_some();
        let all = by_entry.then(|| self.iter().filter(|(entry, _)| of.contains(entry.dot)));
        let ranges = (!by_entry).then(|| of.ranges()).into_iter().flatten();
        let within = ranges.flat_map(|(id, first, last)| {
            let list = self.lists.get(id);
            live(id, list.map_or(&[], |list| list.within(first, last)))
        });
        all.into_iter().flatten().chain(within)
    }

    /// What updates created that `known` does not include.
    pub(crate) fn beyond(&self, known: &Version) -> impl Iterator<Item = (EntryId, &V)> {
        let mut known = known.cursor();
        self.lists.iter().flat_map(move |(id, list)| {
            let first = known.get(id).map_or(Some(0), |seen| seen.checked_add(1));
            live(
                id,
                first.map_or(&[][..], |first| list.within(first, u64::MAX)),
            )
        })
    }

    /// Calls `visit` with the entries of the updates that `version` includes, and whether `other` holds
    /// them, too. O(n), by walking both.
    fn compare(
        &self,
        other: &EntryMap<V>,
        version: &Version,
        mut visit: impl FnMut(EntryId, bool),
    ) {
        let (mut known, mut others) = (version.cursor(), other.lists.cursor());
        for (id, list) in self.lists.iter() {
            let seen = known.get(id).copied().unwrap_or(0);
            let mut rest = others.get(id).map_or(&[][..], |list| &list.slots);
            for (entry, _) in live(id, list.within(0, seen)) {
                let place = place(entry);
                while rest.first().is_some_and(|slot| slot.place() < place) {
                    rest = &rest[1..];
                }
                let there = rest.first().filter(|slot| slot.place() == place);
                visit(entry, there.is_some_and(|slot| slot.value.is_some()));
            }
        }
    }

    /// What `version` includes and `other`, which has this version, does not hold: it is dead there.
    pub(crate) fn dead_in(&self, other: &EntryMap<V>, version: &Version) -> Vec<EntryId> {
        let mut dead = Vec::new();
        self.compare(other, version, |entry, there| {
            if !there {
                dead.push(entry);
            }
        });
        dead
    }

    /// How many entries of the updates that `version` includes both hold.
    pub(crate) fn common(&self, other: &EntryMap<V>, version: &Version) -> u64 {
        let mut common = 0;
        self.compare(other, version, |_, there| common += u64::from(there));
        common
    }

    /// O(1) if it is newer than all of its replica, else O(n).
    pub(crate) fn insert(&mut self, entry: EntryId, value: V) -> Option<V> {
        let list = self.lists.entry(entry.dot.replica);
        let old = list.insert(Slot::new(entry, value));
        self.len += usize::from(old.is_none());
        old
    }

    /// Adds entries, in any order; of equal ones the first. O(m log m) if they are newer than all that
    /// is here of their replicas, O(n + m log m) otherwise.
    pub(crate) fn extend(&mut self, mut new: Vec<(EntryId, V)>) {
        if !new.is_sorted_by_key(|(entry, _)| *entry) {
            // Sorts the names apart from the values, once for all types of these.
            new.sort_by_cached_key(|(entry, _)| *entry);
        }
        new.dedup_by_key(|(entry, _)| *entry);
        let mut new = new.into_iter().peekable();
        while let Some(id) = new.peek().map(|(entry, _)| entry.dot.replica) {
            let of_id = core::iter::from_fn(|| new.next_if(|(entry, _)| entry.dot.replica == id));
            let slots = of_id.map(|(entry, value)| Slot::new(entry, value));
            self.len += self.lists.entry(id).extend(slots);
        }
    }

    /// O(log n), amortised.
    pub(crate) fn remove(&mut self, entry: EntryId) -> Option<V> {
        let list = self.lists.get_mut(entry.dot.replica)?;
        let value = list.remove(place(entry))?;
        self.len -= 1;
        if list.live == 0 {
            self.lists.remove(entry.dot.replica);
        }
        Some(value)
    }
}

fn live<V>(id: ReplicaId, slots: &[Slot<V>]) -> impl Iterator<Item = (EntryId, &V)> {
    let entry = move |slot: &Slot<V>| EntryId::new(Dot::new(id, slot.counter), slot.index);
    slots
        .iter()
        .filter_map(move |slot| Some((entry(slot), slot.value.as_ref()?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeMap;

    use crate::env::SplitMix64;

    fn entry(replica: u64, counter: u64, index: u32) -> EntryId {
        EntryId::new(
            Dot::new(ReplicaId::from(u128::from(replica)), counter),
            index,
        )
    }

    fn some(random: &mut SplitMix64) -> EntryId {
        let [replica, counter, index] = [2, 60, 2].map(|most| random.below(most));
        entry(replica, counter + 1, index as u32)
    }

    #[test]
    fn nothing_is_beyond_the_greatest_counter() {
        let mut map = EntryMap::new();
        map.insert(entry(1, u64::MAX, 1), 7);
        let mut known = Version::new();
        assert_eq!(map.beyond(&known).count(), 1);
        known.raise(ReplicaId::from(1), u64::MAX);
        assert_eq!(map.beyond(&known).count(), 0);
    }

    fn same(map: &EntryMap<u64>, model: &BTreeMap<EntryId, u64>) {
        assert_eq!((map.len(), map.is_empty()), (model.len(), model.is_empty()));
        assert!(map.iter().eq(model.iter().map(|(entry, n)| (*entry, n))));
        assert!(map.values().eq(model.values()));
        assert!(map.lists.values().all(|list| list.live > 0));
        let live = |list: &List<u64>| list.slots.iter().filter(|s| s.value.is_some()).count();
        assert!(map.lists.values().all(|list| list.live == live(list)));
        let most = |list: &List<u64>| SHORT.max(2 * list.live) + 1;
        assert!(
            map.lists
                .values()
                .all(|list| list.slots.len() <= most(list))
        );
    }

    /// Versions of two replicas.
    fn version(a: u64, b: u64) -> Version {
        let seen = [(0, a), (1, b)].map(|(id, seen)| (ReplicaId::from(id), seen));
        Version::from_iter(seen)
    }

    #[test]
    fn it_is_a_map() {
        let mut random = SplitMix64::new(7);
        let (mut map, mut model) = (EntryMap::new(), BTreeMap::new());
        for n in 0..4_000 {
            let key = some(&mut random);
            // It grows for a while and shrinks for a while.
            match random.below(4) < 1 + n / 500 % 3 {
                true => assert_eq!(map.insert(key, n), model.insert(key, n)),
                false => assert_eq!(map.remove(key), model.remove(&key)),
            }
            if n % 100 == 99 {
                let batch = core::iter::repeat_with(|| (some(&mut random), n)).take(9);
                let batch: Vec<_> = batch.collect();
                for (key, n) in &batch {
                    model.entry(*key).or_insert(*n);
                }
                map.extend(batch);
            }
            assert_eq!(map.get(key), model.get(&key));
            same(&map, &model);
        }
    }

    #[test]
    fn choices_agree_with_those_of_a_plain_map() {
        let mut random = SplitMix64::new(8);
        for _ in 0..500 {
            let mut maps = [const { EntryMap::new() }; 2];
            for n in 0..random.below(200) {
                let key = some(&mut random);
                for map in &mut maps {
                    map.insert(key, n);
                }
            }
            for _ in 0..random.below(100) {
                let which = random.below(2) as usize;
                maps[which].remove(some(&mut random));
            }
            let [a, b] = &maps;
            let seen = version(random.below(62), random.below(62));
            let beyond = a.iter().filter(|(entry, _)| !seen.contains(entry.dot));
            assert!(a.beyond(&seen).eq(beyond));
            let gone =
                |(entry, _): &(EntryId, &u64)| seen.contains(entry.dot) && b.get(*entry).is_none();
            let dead: Vec<EntryId> = a.iter().filter(gone).map(|(entry, _)| entry).collect();
            assert_eq!(a.dead_in(b, &seen), dead);
            let of = Dots::from_iter((0..random.below(9)).map(|_| some(&mut random).dot));
            let chosen = a.iter().filter(|(entry, _)| of.contains(entry.dot));
            assert!(a.among(&of).eq(chosen));
            let dot = some(&mut random).dot;
            let newest = a.iter().filter(|(entry, _)| entry.dot == dot).last();
            let newest = newest.map(|(_, n)| *n);
            assert_eq!(maps[0].newest_mut(dot).copied(), newest);
        }
    }
}
