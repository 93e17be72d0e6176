//! Lists as subjects.

use std::collections::BTreeMap;

use crate::kernel::{EditError, EditView, Place, Removable};
use crate::list::List;
use crate::testkit::replica::{Exercise, Meaning};
use crate::testkit::spec::{self, Level, ListOp};
use crate::testkit::{Seen, Source, Verdict, Visible};

/// What a user does to a list of numbers, each of which is another one of the whole execution.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ListPlay {
    /// Inserts elements, one after the other.
    Insert {
        /// Before which index.
        at: usize,
        /// What stands before that.
        left: Option<u64>,
        /// What is inserted.
        values: Vec<u64>,
        /// What stands there.
        right: Option<u64>,
    },
    /// Deletes elements.
    Delete {
        /// The index of the first.
        at: usize,
        /// What stands there.
        values: Vec<u64>,
    },
    /// Writes an element.
    Set {
        /// Its index.
        at: usize,
        /// What it showed.
        old: u64,
        /// What it shows then.
        new: u64,
    },
    /// Deletes everything.
    Clear(Vec<u64>),
}

impl Exercise for List<u64> {
    type Op = ListPlay;

    fn choose(&self, source: &mut Source<'_>) -> Option<ListPlay> {
        let shown: Vec<u64> = self.iter().copied().collect();
        let len = shown.len() as u64;
        let kind = match len {
            0 => 0,
            _ => source.below(8),
        };
        let at = source.below(len + u64::from(kind < 4)) as usize;
        Some(match kind {
            0..4 => ListPlay::Insert {
                at,
                left: at.checked_sub(1).map(|before| shown[before]),
                values: (0..1 + source.below(2)).map(|_| source.unique()).collect(),
                right: shown.get(at).copied(),
            },
            4..6 => ListPlay::Set {
                at,
                old: shown[at],
                new: source.unique(),
            },
            6 => ListPlay::Delete {
                at,
                values: shown[at..].iter().take(2).copied().collect(),
            },
            _ => ListPlay::Clear(shown),
        })
    }

    fn perform(list: &mut EditView<'_, List<u64>>, op: &ListPlay) -> Result<(), EditError> {
        match op {
            ListPlay::Insert { at, values, .. } => {
                let mut each = values.iter().zip(*at..);
                each.try_for_each(|(value, at)| list.insert(at, *value))
            }
            ListPlay::Delete { at, values } => list.delete(*at..*at + values.len()),
            ListPlay::Set { at, new, .. } => list.set(*at, *new),
            ListPlay::Clear(_) => list.clear(),
        }
    }
}

/// What a user does to a list of replicated values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ElementsPlay<O> {
    /// Inserts an element before this index and does this to it.
    Insert(usize, O),
    /// Does this to the element at this index.
    Edit(usize, O),
    /// Deletes the element at this index.
    Delete(usize),
    /// Deletes everything.
    Clear,
}

/// Elements that are edited in place while others come and go.
impl<S: Removable + Exercise> Exercise for List<S> {
    type Op = ElementsPlay<S::Op>;

    fn choose(&self, source: &mut Source<'_>) -> Option<ElementsPlay<S::Op>> {
        let len = self.len() as u64;
        let kind = match len {
            0 => 0,
            _ => source.below(8),
        };
        let at = source.below(len + u64::from(kind < 3)) as usize;
        Some(match kind {
            0..3 => ElementsPlay::Insert(at, S::empty(Place::Removable).choose(source)?),
            3..6 => ElementsPlay::Edit(at, self.get(at)?.choose(source)?),
            6 => ElementsPlay::Delete(at),
            _ => ElementsPlay::Clear,
        })
    }

    fn perform(
        list: &mut EditView<'_, List<S>>,
        op: &ElementsPlay<S::Op>,
    ) -> Result<(), EditError> {
        match op {
            ElementsPlay::Insert(at, op) => S::perform(&mut list.insert_empty(*at)?, op),
            ElementsPlay::Edit(at, op) => S::perform(&mut list.edit(*at)?, op),
            ElementsPlay::Delete(at) => list.remove(*at),
            ElementsPlay::Clear => list.clear(),
        }
    }

    fn may_refuse(error: &EditError) -> bool {
        S::may_refuse(error)
    }
}

/// What every value ever written was written to: the value that its element was inserted with.
fn elements(seen: &Seen<'_, ListPlay>) -> BTreeMap<u64, u64> {
    let mut elements = BTreeMap::new();
    for one in seen.iter() {
        match one.op() {
            ListPlay::Insert { values, .. } => {
                elements.extend(values.iter().map(|value| (*value, *value)));
            }
            ListPlay::Set { old, new, .. } => {
                let element = elements.get(old).copied().unwrap_or(*old);
                elements.insert(*new, element);
            }
            ListPlay::Delete { .. } | ListPlay::Clear(_) => {}
        }
    }
    elements
}

/// The value of the greatest author among the last writes of each element.
fn last_values(seen: &Seen<'_, ListPlay>, elements: &BTreeMap<u64, u64>) -> BTreeMap<u64, u64> {
    let mut writes = BTreeMap::<u64, Vec<(&Visible<'_, ListPlay>, u64)>>::new();
    for one in seen.iter() {
        let written = match one.op() {
            ListPlay::Insert { values, .. } => values.as_slice(),
            ListPlay::Set { new, .. } => std::slice::from_ref(new),
            ListPlay::Delete { .. } | ListPlay::Clear(_) => &[],
        };
        for value in written {
            let writes = writes.entry(elements[value]).or_default();
            writes.retain(|(before, _)| !seen.happened_before(before, one));
            writes.push((one, *value));
        }
    }
    let last = writes.into_iter().filter_map(|(element, writes)| {
        let last = writes.into_iter().max_by_key(|(one, _)| one.author())?;
        Some((element, last.1))
    });
    last.collect()
}

/// The strong list specification of the elements, and each shows the last value written to it.
impl Meaning for List<u64> {
    fn judge(seen: &Seen<'_, ListPlay>, got: &Vec<u64>) -> Verdict {
        let all = elements(seen);
        let element = |value: &u64| all.get(value).copied().unwrap_or(*value);
        let order: Vec<u64> = got.iter().map(element).collect();
        let meaning = |op: &ListPlay| match op {
            ListPlay::Insert {
                left,
                values,
                right,
                ..
            } => {
                let mut left = left.as_ref().map(element);
                let right = right.as_ref().map(element);
                let each = values.iter().map(|value| {
                    let left = left.replace(*value);
                    let value = *value;
                    ListOp::Insert { left, value, right }
                });
                each.collect()
            }
            ListPlay::Delete { values, .. } | ListPlay::Clear(values) => {
                let gone = values.iter().map(element);
                gone.map(ListOp::Delete).collect()
            }
            ListPlay::Set { .. } => Vec::new(),
        };
        let values = || {
            let last = last_values(seen, &all);
            let expected = order.iter().filter_map(|element| last.get(element));
            let expected: Vec<u64> = expected.copied().collect();
            Verdict::equal(got, &expected, || {
                "of the last writes of an element that of the greatest replica shows".into()
            })
        };
        spec::strong_list_by(seen, &order, meaning)
            .and(|| spec::non_interleaving_by(Level::Forward, seen, &order, meaning))
            .and(values)
    }
}
