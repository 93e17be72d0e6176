//! Maps: values by key, with removal of keys.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

use super::counter::{Amount, counts};
use super::register::{RegisterOp, Stamped, maximal, maximal_writes, place};
use super::why::names;
use crate::clock::ReplicaId;
use crate::testkit::{OpId, Seen, Verdict, Visible};

/// What an operation means for a map.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MapOp<K, V> {
    /// Writes the value of a key, or changes it so.
    Put(K, V),
    /// Removes a key.
    Remove(K),
    /// Removes every key.
    Clear,
}

impl<K: PartialEq, V> MapOp<K, V> {
    /// Whether it removes `key`.
    fn removes(&self, key: &K) -> bool {
        match self {
            MapOp::Put(..) => false,
            MapOp::Remove(own) => own == key,
            MapOp::Clear => true,
        }
    }

    /// What it means for the register at `key`.
    fn at(self, key: &K) -> Option<RegisterOp<V>> {
        match self {
            MapOp::Put(own, value) => (own == *key).then_some(RegisterOp::Write(value)),
            removal => removal.removes(key).then_some(RegisterOp::Clear),
        }
    }
}

/// An operation on a map.
pub trait AsMapOp {
    /// What values are found by.
    type Key: Ord + Clone + Debug;
    /// What is written, or how a value is changed.
    type Value;

    /// What it means; `None` if nothing.
    fn as_map_op(&self) -> Option<MapOp<Self::Key, Self::Value>>;
}

impl<K: Ord + Clone + Debug, V: Clone> AsMapOp for MapOp<K, V> {
    type Key = K;
    type Value = V;

    fn as_map_op(&self) -> Option<MapOp<K, V>> {
        Some(self.clone())
    }
}

impl<S, Op: AsMapOp> AsMapOp for (S, Op) {
    type Key = Op::Key;
    type Value = Op::Value;

    fn as_map_op(&self) -> Option<MapOp<Op::Key, Op::Value>> {
        self.1.as_map_op()
    }
}

type Puts<'s, 'a, Op, K, V> = Vec<(&'s Visible<'a, Op>, K, V)>;

/// The puts that no visible removal of their key had seen.
fn kept<'s, 'a, Op, K: PartialEq, V>(
    seen: &'s Seen<'a, Op>,
    meaning: impl Fn(&Op) -> Option<MapOp<K, V>>,
) -> Puts<'s, 'a, Op, K, V> {
    let mut puts: Puts<'s, 'a, Op, K, V> = Vec::new();
    for one in seen.iter() {
        match meaning(one.op()) {
            Some(MapOp::Put(key, value)) => puts.push((one, key, value)),
            // What had not been done yet was not seen either.
            Some(removal) => puts
                .retain(|(put, key, _)| !removal.removes(key) || !seen.happened_before(put, one)),
            None => {}
        }
    }
    puts
}

/// What was put and not seen by a visible removal of its key, in the order in which it was done.
///
/// # Complexity
/// O(n r), with r removals.
pub fn not_removed<Op, K: PartialEq, V>(
    seen: &Seen<'_, Op>,
    meaning: impl Fn(&Op) -> Option<MapOp<K, V>>,
) -> Vec<(K, V)> {
    let kept = kept(seen, meaning).into_iter();
    kept.map(|(_, key, value)| (key, value)).collect()
}

/// A map of counters: each key shows the sum of the amounts put to it that no visible removal of it
/// had seen; a key is there if there is one, even if they come to 0. To add 0 has no effect.
pub fn counter_map<Op, V>(seen: &Seen<'_, Op>, got: &BTreeMap<Op::Key, V>) -> Verdict
where
    Op: AsMapOp,
    Op::Value: Amount,
    V: Amount,
{
    let mut kept = kept(seen, AsMapOp::as_map_op);
    kept.retain(|(_, _, value)| value.amount() != 0);
    let mut expected = BTreeMap::<&Op::Key, i128>::new();
    for (_, key, value) in &kept {
        let sum = expected.entry(key).or_default();
        *sum = sum.wrapping_add(value.amount());
    }
    let shown: BTreeMap<&Op::Key, i128> = got.iter().map(|(key, v)| (key, v.amount())).collect();
    match first_difference(&shown, &expected) {
        None => Verdict::Right,
        Some(key) => {
            let of_key = kept.iter().filter(|(_, own, _)| own == key);
            let counted = of_key.map(|(one, _, value)| (*one, value.amount()));
            let why = why_removed(seen, key, counts(counted));
            Verdict::wrong(format!("{expected:?}"), why)
        }
    }
}

/// The first key with different values, or with a value on one side only.
fn first_difference<'k, K: Ord, V: PartialEq>(
    a: &BTreeMap<&'k K, V>,
    b: &BTreeMap<&'k K, V>,
) -> Option<&'k K> {
    let differs = |key: &&&'k K| a.get(**key) != b.get(**key);
    let first = |map: &BTreeMap<&'k K, V>| map.keys().find(differs).copied();
    first(a).into_iter().chain(first(b)).min()
}

/// `at key "k" ...`, and what was removed there.
fn why_removed<Op: AsMapOp>(seen: &Seen<'_, Op>, key: &Op::Key, kept: String) -> String {
    let removal = |one: &&Visible<'_, Op>| match one.op().as_map_op() {
        Some(op) => op.removes(key),
        None => false,
    };
    let removals = names(seen.iter().filter(removal));
    match removals.is_empty() {
        true => format!("at key {key:?} {kept}"),
        false => format!("at key {key:?} {kept}; removals of it are visible ({removals})"),
    }
}

/// The value of each key by its last writer: the put or removal with the greatest stamp counts,
/// with ties as in [`last_write`](super::last_write). Where a removal is the last the key is not
/// there; a clear is a removal of every key.
///
/// # Complexity
/// O(n log n), and O(k) more for each clear, with k keys.
pub fn lww_map_of<Op, S: Ord + Clone, K: Ord + Clone, V: Ord>(
    seen: &Seen<'_, Op>,
    meaning: impl Fn(&Op) -> Option<(S, MapOp<K, V>)>,
) -> BTreeMap<K, V> {
    let last = last_of_keys(seen, meaning).into_iter();
    last.filter_map(|(key, last)| Some((key, last.value?)))
        .collect()
}

/// The last operation on a key. Compared in this order.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Last<S, V> {
    stamp: S,
    place: ReplicaId,
    value: Option<V>,
    id: OpId,
}

fn last_of_keys<Op, S: Ord + Clone, K: Ord + Clone, V: Ord>(
    seen: &Seen<'_, Op>,
    meaning: impl Fn(&Op) -> Option<(S, MapOp<K, V>)>,
) -> BTreeMap<K, Last<S, V>> {
    let mut all = BTreeMap::<K, Last<S, V>>::new();
    let mut cleared: Option<(S, ReplicaId, OpId)> = None;
    for one in seen.iter() {
        let Some((stamp, op)) = meaning(one.op()) else {
            continue;
        };
        let (place, id) = (place(one), one.id());
        let (key, value) = match op {
            MapOp::Put(key, value) => (key, Some(value)),
            MapOp::Remove(key) => (key, None),
            MapOp::Clear => {
                cleared = cleared.max(Some((stamp, place, id)));
                continue;
            }
        };
        let next = Last {
            stamp,
            place,
            value,
            id,
        };
        match all.get_mut(&key) {
            Some(last) if *last < next => *last = next,
            Some(_) => {}
            None => {
                all.insert(key, next);
            }
        }
    }
    if let Some((stamp, place, id)) = cleared {
        for last in all.values_mut() {
            let clear = Last {
                stamp: stamp.clone(),
                place,
                value: None,
                id,
            };
            if *last < clear {
                *last = clear;
            }
        }
    }
    all
}

/// A map of last-writer-wins registers ([`lww_map_of`]).
pub fn lww_map<Op>(seen: &Seen<'_, Op>, got: &BTreeMap<Op::Key, Op::Value>) -> Verdict
where
    Op: AsMapOp + Stamped,
    Op::Value: Ord + Debug,
    Op::Stamp: Clone,
{
    let all = last_of_keys(seen, |op: &Op| Some((op.stamp(), op.as_map_op()?)));
    let there = all
        .iter()
        .filter_map(|(key, last)| Some((key, last.value.as_ref()?)));
    let expected: BTreeMap<&Op::Key, &Op::Value> = there.collect();
    let shown: BTreeMap<&Op::Key, &Op::Value> = got.iter().collect();
    let Some(key) = first_difference(&shown, &expected) else {
        return Verdict::Right;
    };
    let why = match all.get(key) {
        None => format!("no visible operation put a value at key {key:?}"),
        Some(last) => {
            let did = match &last.value {
                Some(value) => format!("put {value:?} at key {key:?}"),
                None => format!("removed key {key:?}"),
            };
            format!(
                "{} {did} with the greatest stamp, {:?}",
                last.id, last.stamp
            )
        }
    };
    Verdict::wrong(format!("{expected:?}"), why)
}

/// The values of each key that no later put or removal of it had seen, as [`maximal`] gives them; a
/// key without any is not there.
///
/// # Complexity
/// O(k n w), with k keys.
pub fn multi_value_map_of<Op, K: Ord + Clone, V>(
    seen: &Seen<'_, Op>,
    meaning: impl Fn(&Op) -> Option<MapOp<K, V>>,
) -> BTreeMap<K, Vec<V>> {
    let keys = keys(seen, &meaning).into_iter();
    let values = keys.map(|key| {
        let values = maximal(seen, |op| meaning(op)?.at(&key));
        (key, values)
    });
    values.filter(|(_, values)| !values.is_empty()).collect()
}

/// The keys to which something visible was put.
fn keys<Op, K: Ord, V>(
    seen: &Seen<'_, Op>,
    meaning: impl Fn(&Op) -> Option<MapOp<K, V>>,
) -> BTreeSet<K> {
    let key = |one: &Visible<'_, Op>| match meaning(one.op())? {
        MapOp::Put(key, _) => Some(key),
        _ => None,
    };
    seen.iter().filter_map(key).collect()
}

/// A map of multi-value registers ([`multi_value_map_of`]), the values of a key in any order.
pub fn multi_value_map<Op>(seen: &Seen<'_, Op>, got: &BTreeMap<Op::Key, Vec<Op::Value>>) -> Verdict
where
    Op: AsMapOp,
    Op::Value: Ord + Clone + Debug,
{
    let none = Vec::new();
    let mut keys = keys(seen, AsMapOp::as_map_op);
    keys.extend(got.keys().cloned());
    for key in &keys {
        let register = seen.project(|op| op.as_map_op().and_then(|op| op.at(key)));
        let verdict = maximal_writes(&register, got.get(key).unwrap_or(&none));
        if verdict != Verdict::Right {
            return at_key(key, verdict);
        }
        // A key that shows no values is none.
        if got.get(key).is_some_and(Vec::is_empty) {
            return Verdict::wrong("no such key", format!("nothing is left at key {key:?}"));
        }
    }
    Verdict::Right
}

fn at_key<K: Debug>(key: &K, verdict: Verdict) -> Verdict {
    match verdict {
        Verdict::Right => Verdict::Right,
        Verdict::Wrong { law, expected, why } => Verdict::Wrong {
            law,
            expected: format!("{expected} at key {key:?}"),
            why: format!("at key {key:?}: {why}"),
        },
    }
}

/// A map whose values follow the specification `inner`: each key shows what the changes put to it
/// mean that no visible removal of the key had seen; a key without any is not there.
///
/// # Examples
/// ```
/// use std::collections::BTreeMap;
/// use commute::testkit::{History, Verdict, spec};
/// use spec::{MapOp::{Put, Remove}, SetOp::Insert};
///
/// let history = History::new()
///     .op(0, Put("a", Insert(1)), &[])
///     .op(0, Remove("a"), &[])
///     .op(1, Put("a", Insert(2)), &[]);
/// let got = BTreeMap::from([("a", [2].into())]);
/// assert_eq!(spec::per_key(spec::add_wins)(&history.seen(), &got), Verdict::Right);
/// ```
pub fn per_key<Op: AsMapOp, V>(
    inner: impl Fn(&Seen<'_, Op::Value>, &V) -> Verdict,
) -> impl Fn(&Seen<'_, Op>, &BTreeMap<Op::Key, V>) -> Verdict {
    move |seen, got| per_key_by(seen, got, AsMapOp::as_map_op, &inner)
}

/// [`per_key`] for operations whose meaning a closure gives.
///
/// # Complexity
/// O(n (k + r)) and k times that of `inner`, with k keys and r removals.
pub fn per_key_by<Op, K: Ord + Debug, To, V>(
    seen: &Seen<'_, Op>,
    got: &BTreeMap<K, V>,
    meaning: impl Fn(&Op) -> Option<MapOp<K, To>>,
    inner: impl Fn(&Seen<'_, To>, &V) -> Verdict,
) -> Verdict {
    let mut of = BTreeMap::<K, BTreeSet<u64>>::new();
    for (one, key, _) in kept(seen, &meaning) {
        of.entry(key).or_default().insert(one.key());
    }
    if let Some((key, ops)) = of.iter().find(|(key, _)| !got.contains_key(key)) {
        let put = names(seen.iter().filter(|one| ops.contains(&one.key())));
        let why = format!("{put} put to key {key:?} and no visible removal of it had seen that");
        return Verdict::wrong(format!("keys {:?}", of.keys()), why);
    }
    for (key, shown) in got {
        let Some(ops) = of.get(key) else {
            let why =
                format!("all that was put to key {key:?} was seen by a visible removal of it");
            return Verdict::wrong(format!("keys {:?}", of.keys()), why);
        };
        // `project` asks once for each operation, in order.
        let mut each = seen.iter();
        let restricted = seen.project(|op| {
            each.next().filter(|one| ops.contains(&one.key()))?;
            match meaning(op) {
                Some(MapOp::Put(_, to)) => Some(to),
                _ => None,
            }
        });
        let verdict = inner(&restricted, shown);
        if verdict != Verdict::Right {
            return at_key(key, verdict);
        }
    }
    Verdict::Right
}

#[cfg(test)]
mod tests {
    use super::MapOp::{Clear, Put, Remove};
    use super::*;
    use crate::testkit::History;
    use crate::testkit::spec::why::tests::why;
    use crate::testkit::spec::{SetOp, add_wins, sum};

    fn history() -> History<MapOp<char, i64>> {
        History::new()
            .op(0, Put('k', 1), &[])
            .op(1, Put('k', 2), &[])
            .op(0, Remove('k'), &[])
            .op(0, Put('l', 3), &[])
            .op(1, Put('k', 4), &[])
    }

    #[test]
    fn what_no_removal_saw_stays() {
        let history = history();
        let kept = not_removed(&history.seen(), |op| Some(*op));
        assert_eq!(kept, [('k', 2), ('l', 3), ('k', 4)]);
        let seen = history.seen();
        assert_eq!(
            why(counter_map(&seen, &[('k', 6), ('l', 3)].into())),
            "right"
        );
        assert_eq!(
            why(counter_map(&seen, &[('k', 7), ('l', 3)].into())),
            "{'k': 6, 'l': 3}: at key 'k' r1:1 counts 2, r1:2 counts 4; removals of it are \
             visible (r0:2)"
        );
        let values = multi_value_map_of(&seen, |op| Some(*op));
        assert_eq!(values, [('k', vec![4]), ('l', vec![3])].into());
        assert_eq!(why(multi_value_map(&seen, &values)), "right");
        assert_eq!(
            why(multi_value_map(&seen, &[('k', vec![4])].into())),
            "[3] at key 'l': at key 'l': r0:3 wrote 3 and nothing visible had seen it"
        );
        let (removed, empty) = (history.seen_of(&["r0:2"]), BTreeMap::from([('k', vec![])]));
        assert_eq!(
            why(multi_value_map(&removed, &empty)),
            "no such key: nothing is left at key 'k'"
        );
    }

    #[test]
    fn the_last_writer_of_each_key_wins() {
        let history = History::new()
            .op(0, (1, Put('k', 1)), &[])
            .op(1, (3, Put('k', 2)), &[])
            .op(0, (2, Remove('k')), &[])
            .op(2, (2, Clear), &[])
            .op(1, (2, Put('l', 5)), &[]);
        let check = |names: &[&str], got: &[(char, i32)]| {
            let got = got.iter().copied().collect();
            why(lww_map(&history.seen_of(names), &got))
        };
        assert_eq!(check(&["r0:2", "r1:1"], &[('k', 2)]), "right");
        assert_eq!(
            check(&["r0:2", "r1:1"], &[]),
            "{'k': 2}: r1:1 put 2 at key 'k' with the greatest stamp, 3"
        );
        assert_eq!(
            check(&["r1:2", "r2:1"], &[('k', 2), ('l', 5)]),
            "{'k': 2}: r2:1 removed key 'l' with the greatest stamp, 2"
        );
        assert_eq!(check(&["r1:2", "r2:1"], &[('k', 2)]), "right");
    }

    #[test]
    fn each_key_follows_the_inner_specification() {
        let history = history();
        let check = |names: &[&str], got: &[(char, i64)]| {
            let got = got.iter().copied().collect();
            why(per_key(sum)(&history.seen_of(names), &got))
        };
        assert_eq!(check(&["r0:2", "r1:1"], &[('k', 2)]), "right");
        assert_eq!(
            check(&["r0:2", "r1:1"], &[('k', 3)]),
            "2 at key 'k': at key 'k': r1:1 counts 2"
        );
        assert_eq!(
            check(&["r0:3"], &[('k', 1), ('l', 3)]),
            "keys ['l']: all that was put to key 'k' was seen by a visible removal of it"
        );
        assert_eq!(
            check(&["r0:3"], &[]),
            "keys ['l']: r0:3 put to key 'l' and no visible removal of it had seen that"
        );
        let nested = History::new()
            .op(0, Put('k', SetOp::Insert(1)), &[])
            .op(1, Put('k', SetOp::Remove(1)), &["r0:1"])
            .op(0, Put('k', SetOp::Insert(2)), &[]);
        let got = BTreeMap::from([('k', [2].into())]);
        assert_eq!(why(per_key(add_wins)(&nested.seen(), &got)), "right");
    }
}
