//! What the types of the zoo mean, as functions of what a replica has seen.

use std::collections::BTreeSet;
use std::fmt::Debug;

use commute::testkit::{Seen, Verdict, Visible};

/// What a user of a set does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SetOp {
    Add(u8),
    Remove(u8),
    Clear,
}

impl SetOp {
    fn adds(&self, element: u8) -> bool {
        *self == SetOp::Add(element)
    }

    fn removes(&self, element: u8) -> bool {
        *self == SetOp::Remove(element) || *self == SetOp::Clear
    }
}

fn ids<'a, Op: 'a>(ops: impl IntoIterator<Item = &'a Visible<'a, Op>>) -> String {
    let ids: Vec<String> = ops.into_iter().map(|one| one.id().to_string()).collect();
    ids.join(" ")
}

fn elements(seen: &Seen<'_, SetOp>) -> BTreeSet<u8> {
    let added = seen.iter().filter_map(|one| match one.op() {
        SetOp::Add(element) => Some(*element),
        _ => None,
    });
    added.collect()
}

fn exactly<V: PartialEq + Debug, Op>(got: &V, expected: &V, seen: &Seen<'_, Op>) -> Verdict {
    Verdict::equal(got, expected, || format!("of {}", ids(seen.iter())))
}

/// The sum of all amounts.
pub fn sum(seen: &Seen<'_, i64>, got: &i64) -> Verdict {
    exactly(got, &seen.iter().map(|one| one.op()).sum(), seen)
}

/// The largest value, 0 at first.
pub fn largest(seen: &Seen<'_, u64>, got: &u64) -> Verdict {
    let largest = seen.iter().map(|one| *one.op()).max();
    exactly(got, &largest.unwrap_or(0), seen)
}

/// An element is in if some addition of it was not seen by any removal.
pub fn add_wins(seen: &Seen<'_, SetOp>, got: &BTreeSet<u8>) -> Verdict {
    let stays = |element: u8| {
        let mut adds = seen.iter().filter(|one| one.op().adds(element));
        adds.any(|add| {
            let mut removes = seen.iter().filter(|one| one.op().removes(element));
            !removes.any(|remove| seen.happened_before(add, remove))
        })
    };
    let mut expected = elements(seen);
    expected.retain(|element| stays(*element));
    exactly(got, &expected, seen)
}

/// An element is in if it was added and each removal was seen by some addition.
pub fn remove_wins(seen: &Seen<'_, SetOp>, got: &BTreeSet<u8>) -> Verdict {
    let stays = |element: u8| {
        let mut removes = seen.iter().filter(|one| one.op().removes(element));
        removes.all(|remove| {
            let mut adds = seen.iter().filter(|one| one.op().adds(element));
            adds.any(|add| seen.happened_before(remove, add))
        })
    };
    let mut expected = elements(seen);
    expected.retain(|element| stays(*element));
    exactly(got, &expected, seen)
}

/// The elements that were added and never removed, ascending.
pub fn two_phase(seen: &Seen<'_, SetOp>, got: &Vec<u8>) -> Verdict {
    let mut expected: Vec<u8> = elements(seen).into_iter().collect();
    expected.retain(|element| !seen.iter().any(|one| one.op().removes(*element)));
    exactly(got, &expected, seen)
}

/// On if some enabling was not seen by any disabling.
pub fn enable_wins(seen: &Seen<'_, bool>, got: &bool) -> Verdict {
    let expected = maximal(seen).any(|one| *one.op());
    exactly(got, &expected, seen)
}

/// On if it was ever enabled and each disabling was seen by some enabling.
pub fn disable_wins(seen: &Seen<'_, bool>, got: &bool) -> Verdict {
    let expected = !seen.is_empty() && maximal(seen).all(|one| *one.op());
    exactly(got, &expected, seen)
}

/// The operations that no visible one had seen.
fn maximal<'s, 'a, Op>(
    seen: &'s Seen<'a, Op>,
) -> impl Iterator<Item = &'s Visible<'a, Op>> + use<'s, 'a, Op> {
    let newer = |one: &&Visible<'a, Op>| seen.iter().any(|two| seen.happened_before(one, two));
    seen.iter().filter(move |one| !newer(one))
}

/// All values that were written last, one for each write.
pub fn siblings(seen: &Seen<'_, u8>, got: &Vec<u8>) -> Verdict {
    let mut expected: Vec<u8> = maximal(seen).map(|one| *one.op()).collect();
    expected.sort_unstable();
    exactly(got, &expected, seen)
}

/// The value of some write that none had seen; which one, the laws on states say.
pub fn one_of_the_last(seen: &Seen<'_, u8>, got: &Option<u8>) -> Verdict {
    let expected: Vec<u8> = maximal(seen).map(|one| *one.op()).collect();
    let right = match got {
        None => expected.is_empty(),
        Some(got) => expected.contains(got),
    };
    match right {
        true => Verdict::Right,
        false => Verdict::wrong(
            format!("one of {expected:?}"),
            format!("written by {}", ids(maximal(seen))),
        ),
    }
}

/// The value of a write with the longest chain of writes before it.
pub fn latest(seen: &Seen<'_, u8>, got: &Option<u8>) -> Verdict {
    let last = seen.iter().map(Visible::depth).max();
    let winners = || seen.iter().filter(|one| Some(one.depth()) == last);
    let right = match got {
        None => seen.is_empty(),
        Some(got) => winners().any(|one| one.op() == got),
    };
    match right {
        true => Verdict::Right,
        false => {
            let values: Vec<u8> = winners().map(|one| *one.op()).collect();
            Verdict::wrong(
                format!("one of {values:?}"),
                format!("the latest are {}", ids(winners())),
            )
        }
    }
}
