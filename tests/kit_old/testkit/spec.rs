//! What views mean: functions of the visible operations and of happens-before.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

use super::subject::{Done, Mismatch, Seen};

/// `got` must be `expected`.
///
/// # Errors
/// [`Mismatch`] if not.
pub fn same<T: PartialEq + Debug>(got: &T, expected: &T) -> Result<(), Mismatch> {
    match got == expected {
        true => Ok(()),
        false => Err(Mismatch {
            got: format!("{got:?}"),
            expected: format!("{expected:?}"),
        }),
    }
}

/// All amounts count, each once.
pub fn sum<Op>(seen: &Seen<'_, Op>, amount: impl Fn(&Op) -> i128) -> i128 {
    seen.ops().map(|done| amount(done.op)).sum()
}

/// What an operation means for a set, or for keys with values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change<K, V = ()> {
    Put(K, V),
    Remove(K),
    Clear,
}

impl<K: PartialEq, V> Change<K, V> {
    fn touches(&self, key: &K) -> bool {
        match self {
            Change::Put(own, _) | Change::Remove(own) => own == key,
            Change::Clear => true,
        }
    }

    const fn removes(&self) -> bool {
        !matches!(self, Change::Put(..))
    }
}

type Changes<'a, Op, K, V> = Vec<(Done<'a, Op>, Change<K, V>)>;

fn changes<'a, Op, K, V>(
    seen: &Seen<'a, Op>,
    meaning: impl Fn(&Op) -> Option<Change<K, V>>,
) -> Changes<'a, Op, K, V> {
    let change = |done: Done<'a, Op>| Some((done, meaning(done.op)?));
    seen.ops().filter_map(change).collect()
}

/// What was put and not removed by a visible removal that had seen it.
pub fn not_removed<Op, K: PartialEq + Clone, V: Clone>(
    seen: &Seen<'_, Op>,
    meaning: impl Fn(&Op) -> Option<Change<K, V>>,
) -> Vec<(K, V)> {
    let all = changes(seen, meaning);
    let removals: Vec<_> = all.iter().filter(|(_, change)| change.removes()).collect();
    let stays = |(done, change): &(Done<'_, Op>, Change<K, V>)| {
        let Change::Put(key, value) = change else {
            return None;
        };
        let mut undone = removals.iter().filter(|(_, removal)| removal.touches(key));
        let gone = undone.any(|(removal, _)| seen.before(*done, *removal));
        (!gone).then(|| (key.clone(), value.clone()))
    };
    all.iter().filter_map(stays).collect()
}

/// An element is there if some addition of it was not seen by any visible removal.
pub fn add_wins<Op, K: Ord + Clone>(
    seen: &Seen<'_, Op>,
    meaning: impl Fn(&Op) -> Option<Change<K>>,
) -> BTreeSet<K> {
    let added = not_removed(seen, meaning).into_iter();
    added.map(|(key, ())| key).collect()
}

/// Of each key, the values written that no later write or removal had seen.
pub fn multi_value<Op, K: Ord + Clone, V: Ord + Clone>(
    seen: &Seen<'_, Op>,
    meaning: impl Fn(&Op) -> Option<Change<K, V>>,
) -> BTreeMap<K, Vec<V>> {
    let all = changes(seen, meaning);
    let mut values = BTreeMap::<K, Vec<V>>::new();
    for (done, change) in &all {
        let Change::Put(key, value) = change else {
            continue;
        };
        let mut later = all.iter().filter(|(_, other)| other.touches(key));
        if !later.any(|(other, _)| seen.before(*done, *other)) {
            values.entry(key.clone()).or_default().push(value.clone());
        }
    }
    values
        .values_mut()
        .for_each(|values| values.sort_unstable());
    values
}

/// What an operation means for a list whose values are all different.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ListOp<V> {
    /// Inserted between its neighbours at that moment.
    Insert {
        left: Option<V>,
        value: V,
        right: Option<V>,
    },
    Delete(V),
}

/// In which order any two values were ever shown.
#[derive(Debug)]
pub struct Order<V> {
    before: BTreeSet<(V, V)>,
}

impl<V> Default for Order<V> {
    fn default() -> Order<V> {
        Order {
            before: BTreeSet::new(),
        }
    }
}

/// The list specification.
///
/// It shows what was inserted and not deleted; two values stand in one order in all views ever
/// shown; a value stands between the neighbours it was put between, as long as they are there.
/// Source: Attiya et al. 2016, "Specification and complexity of collaborative text editing",
/// section 3 (strong list specification).
///
/// # Errors
/// [`Mismatch`] if `got` is against it.
pub fn list<Op, V: Ord + Clone + Debug>(
    seen: &Seen<'_, Op>,
    meaning: impl Fn(&Op) -> Vec<ListOp<V>>,
    got: &[V],
    order: &mut Order<V>,
) -> Result<(), Mismatch> {
    let ops: Vec<ListOp<V>> = seen.ops().flat_map(|done| meaning(done.op)).collect();
    let mut expected = BTreeSet::new();
    for op in &ops {
        if let ListOp::Insert { value, .. } = op {
            expected.insert(value.clone());
        }
    }
    for op in &ops {
        if let ListOp::Delete(value) = op {
            expected.remove(value);
        }
    }
    let mut shown = got.to_vec();
    shown.sort_unstable();
    same(&shown, &expected.into_iter().collect())?;

    let place: BTreeMap<&V, usize> = got.iter().enumerate().map(|(at, v)| (v, at)).collect();
    let against = |x: &V, y: &V| Mismatch {
        got: format!("{got:?}"),
        expected: format!("{x:?} before {y:?}"),
    };
    let must = |x: &Option<V>, y: &Option<V>| match (x, y) {
        (Some(x), Some(y)) => match (place.get(x), place.get(y)) {
            (Some(i), Some(j)) if i > j => Err(against(x, y)),
            _ => Ok(()),
        },
        _ => Ok(()),
    };
    for op in &ops {
        if let ListOp::Insert { left, value, right } = op {
            let value = Some(value.clone());
            must(left, &value)?;
            must(&value, right)?;
        }
    }
    for (at, x) in got.iter().enumerate() {
        for y in &got[at + 1..] {
            if order.before.contains(&(y.clone(), x.clone())) {
                return Err(against(y, x));
            }
            order.before.insert((x.clone(), y.clone()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::log::{Event, Events, Log};
    use super::*;
    use commute::{Dot, ReplicaId};

    /// Adds an event of `replica` that has seen `past`.
    fn push<Op>(log: &mut Log<Op>, replica: u128, counter: u64, op: Op, past: &[usize]) {
        let mut events = Events::default();
        past.iter().for_each(|number| events.insert(*number));
        log.push(Event {
            dot: Dot::new(ReplicaId::from(replica), counter),
            ops: vec![op],
            past: events,
        });
    }

    fn some(numbers: &[usize]) -> Events {
        let mut events = Events::default();
        numbers.iter().for_each(|number| events.insert(*number));
        events
    }

    #[test]
    fn an_addition_stays_unless_a_removal_saw_it() {
        let mut log = Log::new();
        push(&mut log, 1, 1, Change::Put('x', ()), &[]);
        push(&mut log, 2, 1, Change::Put('x', ()), &[]);
        push(&mut log, 1, 2, Change::Remove('x'), &[0]);
        let shown = |numbers: &[usize]| {
            let events = some(numbers);
            let seen = Seen {
                log: &log,
                events: &events,
            };
            add_wins(&seen, |op| Some(*op)).len()
        };
        assert_eq!([shown(&[0]), shown(&[0, 2]), shown(&[0, 1, 2])], [1, 0, 1]);
    }

    #[test]
    fn concurrent_writes_stay_and_overwritten_ones_go() {
        let mut log = Log::new();
        push(&mut log, 1, 1, Change::Put('k', 1), &[]);
        push(&mut log, 2, 1, Change::Put('k', 2), &[]);
        push(&mut log, 1, 2, Change::Put('k', 3), &[0]);
        let events = some(&[0, 1, 2]);
        let seen = Seen {
            log: &log,
            events: &events,
        };
        let values = multi_value(&seen, |op| Some(*op));
        assert_eq!(values, BTreeMap::from([('k', vec![2, 3])]));
    }

    #[test]
    fn a_list_is_refused_for_each_of_three_reasons() {
        let insert = |left, value, right| ListOp::Insert { left, value, right };
        let mut log = Log::new();
        push(&mut log, 1, 1, insert(None, 'a', None), &[]);
        push(&mut log, 1, 2, insert(Some('a'), 'b', None), &[0]);
        push(&mut log, 2, 1, insert(None, 'c', Some('a')), &[0]);
        push(&mut log, 2, 2, ListOp::Delete('a'), &[0, 2]);
        let check = |numbers: &[usize], got: &str, order: &mut Order<char>| {
            let events = some(numbers);
            let seen = Seen {
                log: &log,
                events: &events,
            };
            let got: Vec<char> = got.chars().collect();
            list(&seen, |op| vec![op.clone()], &got, order).is_ok()
        };
        let mut order = Order::default();
        assert!(check(&[0, 1], "ab", &mut order));
        assert!(check(&[0, 1, 2, 3], "cb", &mut order));
        assert!(!check(&[0, 1, 2, 3], "cab", &mut order), "deleted");
        assert!(!check(&[0, 1, 2], "cba", &mut order), "a was put left of b");
        assert!(!check(&[0, 1, 2, 3], "bc", &mut order), "c b was shown");
    }
}
