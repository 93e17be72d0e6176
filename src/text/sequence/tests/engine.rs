//! Random concurrent histories of several replicas: the engine is the pure rule.

use std::collections::BTreeMap;

use quickcheck::{QuickCheck, TestResult};

use super::{Random, entry, replica, text_of};
use crate::clock::{EntryId, ReplicaId};
use crate::text::rga::{Delete, Insert, Rga, implied_origins};
use crate::text::sequence::{ElementRun, Part, Sequence};
use crate::text::units::Chars;

/// An update as the oracle takes it, and as the engine takes it.
struct Update {
    author: usize,
    counter: u64,
    /// What its author had: the number of updates of each replica.
    past: Vec<usize>,
    inserts: Vec<Insert<char>>,
    deletes: Vec<Delete>,
    part: Part,
}

struct Peer {
    engine: Sequence,
    rule: Rga<char>,
    counter: u64,
    have: Vec<usize>,
    /// Where it likes to edit.
    caret: usize,
}

struct World {
    random: Random,
    peers: Vec<Peer>,
    updates: Vec<Vec<Update>>,
}

/// Ids whose order is not the order of the peers.
fn id(peer: usize) -> u128 {
    [7 << 64, 3, (5 << 64) + 9, 3 << 100][peer]
}

impl World {
    fn new(seed: u64) -> Self {
        let mut random = Random(seed);
        let count = 2 + random.below(3);
        let peer = |_| Peer {
            engine: Sequence::new(),
            rule: Rga::new(),
            counter: 0,
            have: vec![0; count],
            caret: 0,
        };
        Self {
            random,
            peers: (0..count).map(peer).collect(),
            updates: (0..count).map(|_| Vec::new()).collect(),
        }
    }

    fn insert(&mut self, at: usize, update: &mut Update, index: &mut u32) {
        let len = [1, 1, 1, 2, 5][self.random.below(5)];
        let text = self.random.text(len);
        let peer = &mut self.peers[update.author];
        let first = entry(id(update.author), update.counter, *index);
        let mut origin = peer.rule.origin_at(at);
        let lamport = peer.rule.next_lamport();
        let made = peer
            .engine
            .insert(Chars(at), &text, first)
            .unwrap()
            .unwrap();
        assert_eq!((made.origin, made.lamport), (origin, lamport));
        for (i, payload) in text.chars().enumerate() {
            let id = entry(id(update.author), update.counter, *index);
            let insert = Insert {
                id,
                lamport: lamport + i as u64,
                origin,
                payload,
            };
            peer.rule.integrate(insert).unwrap();
            update.inserts.push(insert);
            origin = Some(id);
            *index += 2;
        }
        peer.caret = at + len;
    }

    fn delete(&mut self, at: usize, update: &mut Update, index: &mut u32) {
        let peer = &mut self.peers[update.author];
        let len = (1 + self.random.below(3)).min(peer.engine.len().0 - at);
        let first = entry(id(update.author), update.counter, *index);
        let runs = peer
            .engine
            .delete(Chars(at), Chars(at + len), first)
            .unwrap();
        assert_eq!(
            runs.iter()
                .map(|run| run.names.len() as usize)
                .sum::<usize>(),
            len
        );
        for _ in 0..len {
            let target = peer.rule.origin_at(at + 1).unwrap();
            let delete = Delete {
                id: entry(id(update.author), update.counter, *index),
                target,
            };
            peer.rule.delete(delete).unwrap();
            update.deletes.push(delete);
            *index += 2;
        }
        peer.caret = at;
    }

    fn edit(&mut self, author: usize) {
        let jump = [1, 1, 1, 2, 4][self.random.below(5)];
        let peer = &mut self.peers[author];
        peer.counter += jump;
        let (counter, past) = (peer.counter, peer.have.clone());
        let (inserts, deletes, part) = (Vec::new(), Vec::new(), Part::default());
        let mut update = Update {
            author,
            counter,
            past,
            inserts,
            deletes,
            part,
        };
        let mut index = [0, 0, 0, 4][self.random.below(4)];
        for _ in 0..[1, 1, 1, 3][self.random.below(4)] {
            let len = self.peers[author].engine.len().0;
            let caret = self.peers[author].caret.min(len);
            let at = if self.random.below(3) > 0 {
                caret
            } else {
                self.random.below(len + 1)
            };
            match self.random.below(5) {
                0 if at > 0 => self.delete(at - 1, &mut update, &mut index),
                1 if at < len => self.delete(at, &mut update, &mut index),
                _ => self.insert(at, &mut update, &mut index),
            }
            index += [0, 0, 0, 2][self.random.below(4)];
        }
        let peer = &mut self.peers[author];
        peer.engine
            .part(replica(id(author)), counter, counter, &mut update.part);
        peer.have[author] += 1;
        self.updates[author].push(update);
    }

    /// The next update of `from` goes to `to`, if that has its past.
    fn deliver(&mut self, from: usize, to: usize) -> bool {
        let peer = &mut self.peers[to];
        let Some(update) = self.updates[from].get(peer.have[from]) else {
            return false;
        };
        if update
            .past
            .iter()
            .zip(&peer.have)
            .any(|(past, have)| past > have)
        {
            return false;
        }
        peer.engine.absorb(&update.part).unwrap();
        for insert in &update.inserts {
            peer.rule.integrate(*insert).unwrap();
        }
        for delete in &update.deletes {
            peer.rule.delete(*delete).unwrap();
        }
        peer.have[from] += 1;
        true
    }

    /// All that `to` misses of `from` goes there at once, some of it again.
    fn answer(&mut self, from: usize, to: usize) {
        let mut part = Part::default();
        for other in 0..self.peers.len() {
            let known = self.peers[to].have[other].saturating_sub(self.random.below(3));
            let start = known
                .checked_sub(1)
                .map_or(0, |i| self.updates[other][i].counter);
            self.peers[from]
                .engine
                .part(replica(id(other)), start, u64::MAX, &mut part);
        }
        let (have, source) = (self.peers[to].have.clone(), self.peers[from].have.clone());
        self.peers[to].engine.absorb(&part).unwrap();
        let missing: Vec<&Update> = (0..have.len())
            .flat_map(|i| self.updates[i].iter().take(source[i]).skip(have[i]))
            .collect();
        let mut inserts: Vec<_> = missing.iter().flat_map(|update| &update.inserts).collect();
        inserts.sort_by_key(|insert| (insert.lamport, insert.id.dot.replica));
        for insert in inserts {
            self.peers[to].rule.integrate(*insert).unwrap();
        }
        for delete in missing.iter().flat_map(|update| &update.deletes) {
            self.peers[to].rule.delete(*delete).unwrap();
        }
        for (have, source) in self.peers[to].have.iter_mut().zip(source) {
            *have = source.max(*have);
        }
    }

    fn run(&mut self, steps: usize) {
        let count = self.peers.len();
        for _ in 0..steps {
            let (a, b) = (self.random.below(count), self.random.below(count));
            match self.random.below(12) {
                0..6 => self.edit(a),
                6..11 => drop(self.deliver(a, b)),
                _ => self.answer(a, b),
            }
        }
        while (0..count * count).any(|i| self.deliver(i / count, i % count)) {}
    }
}

type Listed = Vec<(EntryId, u64, bool)>;

fn elements(runs: impl Iterator<Item = ElementRun>) -> Listed {
    let each = |run: ElementRun| {
        (0..run.names.len()).map(move |i| {
            (
                run.names.nth(i).at(run.replica),
                run.lamport + u64::from(i),
                run.visible,
            )
        })
    };
    runs.flat_map(each).collect()
}

fn same_as_rule(engine: &Sequence, rule: &Rga<char>) {
    engine.tree.assert_sound();
    let listed = rule.elements().iter();
    let expect: Listed = listed
        .map(|e| (e.insert.id, e.insert.lamport, e.is_visible()))
        .collect();
    assert_eq!(elements(engine.runs()), expect);
    assert_eq!(text_of(engine), rule.visible().collect::<String>());
    let keys: Vec<(u64, ReplicaId)> = expect
        .iter()
        .map(|(id, lamport, _)| (*lamport, id.dot.replica))
        .collect();
    let implied = implied_origins(&keys);
    let mut records = BTreeMap::new();
    for (element, implied) in rule.elements().iter().zip(implied) {
        assert_eq!(element.insert.origin, implied.map(|i| expect[i].0));
        assert_eq!(
            engine.origin_of(element.insert.id),
            Some(element.insert.origin)
        );
        let shown = element.is_visible().then_some(element.insert.payload);
        assert_eq!(engine.char_of(element.insert.id), shown);
        records.extend(element.deleted_by.iter().map(|id| (*id, element.insert.id)));
    }
    assert_eq!(engine.record_count(), records.len() as u64);
    assert_eq!(engine.element_count(), expect.len() as u64);
    assert_eq!(engine.clock() + 1, rule.next_lamport());
    for (record, target) in &records {
        assert_eq!(engine.target_of(*record), Some(*target));
    }
    for (position, id) in expect.iter().filter(|e| e.2).map(|e| e.0).enumerate() {
        assert_eq!(engine.id_at(Chars(position)), Some(id));
        assert_eq!(engine.position_of(id), Some(Chars(position)));
    }
}

fn same(a: &Sequence, b: &Sequence) {
    assert_eq!(a.runs().collect::<Vec<_>>(), b.runs().collect::<Vec<_>>());
    assert_eq!(
        a.record_runs().collect::<Vec<_>>(),
        b.record_runs().collect::<Vec<_>>()
    );
    assert_eq!((text_of(a), a.clock()), (text_of(b), b.clock()));
}

fn rebuilt(engine: &Sequence) -> Sequence {
    let runs: Vec<_> = engine.runs().collect();
    let records: Vec<_> = engine.record_runs().collect();
    Sequence::build(&runs, &text_of(engine), &records, engine.clock()).unwrap()
}

#[test]
fn the_engine_is_the_pure_rule_on_any_history_in_any_causal_order() {
    fn check(seed: u64) -> TestResult {
        let mut world = World::new(seed);
        let steps = 20 + world.random.below(200);
        world.run(steps);
        for peer in &world.peers {
            same_as_rule(&peer.engine, &peer.rule);
            same(&peer.engine, &world.peers[0].engine);
        }
        TestResult::passed()
    }
    QuickCheck::new()
        .tests(150)
        .quickcheck(check as fn(u64) -> TestResult);
}

#[test]
fn a_sequence_is_rebuilt_from_its_lists_and_goes_on_from_there() {
    fn check(seed: u64) -> TestResult {
        let mut world = World::new(seed);
        world.run(100);
        for peer in &mut world.peers {
            peer.engine = rebuilt(&peer.engine);
            same_as_rule(&peer.engine, &peer.rule);
        }
        world.run(60);
        for peer in &world.peers {
            same_as_rule(&peer.engine, &peer.rule);
        }
        TestResult::passed()
    }
    QuickCheck::new()
        .tests(60)
        .quickcheck(check as fn(u64) -> TestResult);
}

#[test]
fn an_empty_sequence_takes_everything_in_one_part() {
    fn check(seed: u64) -> TestResult {
        let mut world = World::new(seed);
        world.run(120);
        let (mut part, mut fresh) = (Part::default(), Sequence::new());
        for peer in 0..world.peers.len() {
            world.peers[0]
                .engine
                .part(replica(id(peer)), 0, u64::MAX, &mut part);
        }
        fresh.absorb(&part).unwrap();
        same(&fresh, &world.peers[0].engine);
        fresh.absorb(&part).unwrap();
        same_as_rule(&fresh, &world.peers[0].rule);
        TestResult::passed()
    }
    QuickCheck::new()
        .tests(60)
        .quickcheck(check as fn(u64) -> TestResult);
}

#[test]
fn a_failed_update_leaves_no_trace() {
    fn check(seed: u64) -> TestResult {
        let mut world = World::new(seed);
        world.run(80);
        for peer in 0..world.peers.len() {
            let before = world.peers[peer].engine.clone();
            let rule = world.peers[peer].rule.clone();
            let (counter, kept) = (world.peers[peer].counter, world.updates[peer].len());
            world.peers[peer].engine.begin();
            for _ in 0..1 + world.random.below(5) {
                world.edit(peer);
            }
            world.peers[peer].engine.rollback();
            same(&world.peers[peer].engine, &before);
            same_as_rule(&world.peers[peer].engine, &rule);
            world.peers[peer].rule = rule;
            world.peers[peer].counter = counter;
            world.peers[peer].have[peer] = kept;
            world.updates[peer].truncate(kept);
        }
        world.run(40);
        for peer in &world.peers {
            same_as_rule(&peer.engine, &peer.rule);
        }
        TestResult::passed()
    }
    QuickCheck::new()
        .tests(60)
        .quickcheck(check as fn(u64) -> TestResult);
}
