//! The pure rule of the replicated growable array, and nothing else.
//!
//! Rule: an element goes right of its origin, past every element with a greater id; hidden
//! elements count like all others. Ids are ordered by Lamport time, then 128-bit replica id.
//! Source: Roh et al. 2011, doi:10.1016/j.jpdc.2010.12.006 (RGA); the convergence of this form
//! is proved in Gomes et al. 2017, arXiv:1707.01747.
//! Delivery: causal; an element's origin and a record's target must have come before.
//! Space: everything ever inserted. Every operation is O(n).
//!
//! This is what the engine in [`sequence`](super::sequence) is tested against; it is short so
//! that it can be read next to the paper, and slow.

use alloc::vec::Vec;

use crate::clock::{EntryId, ReplicaId};

/// One inserted element, as it travels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Insert<T> {
    /// The name of the element.
    pub id: EntryId,
    /// Its Lamport time: greater than that of every element its author had.
    //= Roh et al. 2011 (RGA), section 4.1: the s4vector orders insertions consistently with
    //= causality; a Lamport time and the replica are what this order needs of it.
    pub lamport: u64,
    /// The element it was inserted after; `None` is the start.
    pub origin: Option<EntryId>,
    /// What it carries.
    pub payload: T,
}

/// The fact that one element was deleted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Delete {
    /// The name of this record.
    pub id: EntryId,
    /// The element it hides.
    pub target: EntryId,
}

/// Why an operation cannot be integrated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum RgaError {
    /// The origin of the insert is not here: it came before its causal past.
    UnknownOrigin(EntryId),
    /// The target of the delete is not here.
    UnknownTarget(EntryId),
    /// The insert's id is not greater than its origin's: no author can have made it.
    NotAfterOrigin(EntryId),
}

impl core::fmt::Display for RgaError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::UnknownOrigin(id) => write!(f, "origin {id:?} is not in the sequence"),
            Self::UnknownTarget(id) => write!(f, "target {id:?} is not in the sequence"),
            Self::NotAfterOrigin(id) => write!(f, "element {id:?} is not later than its origin"),
        }
    }
}

impl core::error::Error for RgaError {}

/// An element in the list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Element<T> {
    /// What was inserted.
    pub insert: Insert<T>,
    /// The delete records that name it, in order of their ids; hidden if there is one.
    pub deleted_by: Vec<EntryId>,
}

impl<T> Element<T> {
    /// Whether no delete record names this element.
    #[must_use]
    pub fn is_visible(&self) -> bool {
        self.deleted_by.is_empty()
    }

    fn key(&self) -> (u64, ReplicaId) {
        (self.insert.lamport, self.insert.id.dot.replica)
    }
}

/// The naive list: every element ever inserted, in document order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Rga<T> {
    elements: Vec<Element<T>>,
}

impl<T> Rga<T> {
    /// The empty list.
    #[must_use]
    pub fn new() -> Self {
        Self {
            elements: Vec::new(),
        }
    }

    /// All elements in document order, hidden ones included.
    #[must_use]
    pub fn elements(&self) -> &[Element<T>] {
        &self.elements
    }

    /// What is visible, in order.
    pub fn visible(&self) -> impl Iterator<Item = &T> {
        self.elements
            .iter()
            .filter(|e| e.is_visible())
            .map(|e| &e.insert.payload)
    }

    /// The Lamport time of the next local insert.
    //= Kernel rule R29: one more than the greatest of all elements, received ones included.
    #[must_use]
    pub fn next_lamport(&self) -> u64 {
        self.elements
            .iter()
            .map(|e| e.insert.lamport)
            .max()
            .map_or(1, |max| max.saturating_add(1))
    }

    /// The origin of a local insert before the visible element at `position`.
    //= Kernel rule R30: the nearest visible element; the paper takes tombstones as well.
    #[must_use]
    pub fn origin_at(&self, position: usize) -> Option<EntryId> {
        let left = position.checked_sub(1)?;
        self.elements
            .iter()
            .filter(|e| e.is_visible())
            .nth(left)
            .map(|e| e.insert.id)
    }

    /// Puts an element where the rule wants it; a known one changes nothing.
    ///
    /// # Errors
    /// [`RgaError::UnknownOrigin`] and [`RgaError::NotAfterOrigin`]; nothing changed.
    pub fn integrate(&mut self, insert: Insert<T>) -> Result<(), RgaError> {
        if self.find(insert.id).is_some() {
            return Ok(());
        }
        let key = (insert.lamport, insert.id.dot.replica);
        let mut at = match insert.origin {
            None => 0,
            Some(origin) => {
                let found = self.find(origin).ok_or(RgaError::UnknownOrigin(origin))?;
                if self.elements[found].key() >= key {
                    return Err(RgaError::NotAfterOrigin(insert.id));
                }
                found + 1
            }
        };
        //= Roh et al. 2011 (RGA), section 5 (remote Insert): start right of the left cobject,
        //= go past those with a greater id, tombstones included, stop before the first
        //= smaller one. A child is greater than its parent, so whole subtrees are passed.
        while self.elements.get(at).is_some_and(|next| next.key() > key) {
            at += 1;
        }
        self.elements.insert(
            at,
            Element {
                insert,
                deleted_by: Vec::new(),
            },
        );
        Ok(())
    }

    /// Hides the target of a record; a known record changes nothing.
    ///
    /// # Errors
    /// [`RgaError::UnknownTarget`]; nothing changed.
    //= Roh et al. 2011 (RGA), section 5 (remote Delete): the cobject stays as a tombstone.
    pub fn delete(&mut self, record: Delete) -> Result<(), RgaError> {
        let found = self
            .find(record.target)
            .ok_or(RgaError::UnknownTarget(record.target))?;
        let records = &mut self.elements[found].deleted_by;
        if let Err(place) = records.binary_search(&record.id) {
            records.insert(place, record.id);
        }
        Ok(())
    }

    /// The place of an element in the list.
    #[must_use]
    pub fn find(&self, id: EntryId) -> Option<usize> {
        self.elements.iter().position(|e| e.insert.id == id)
    }
}

/// The origins of a list that is given by its keys in document order, by one stack pass.
///
/// The origin of an element is the nearest one to its left with a smaller id: what stands
/// between the two was passed, or inserted after something that was, and is greater.
/// Returns places in the list; `None` is the start.
///
/// # Complexity
/// O(n).
#[must_use]
pub fn implied_origins(keys: &[(u64, ReplicaId)]) -> Vec<Option<usize>> {
    let mut open: Vec<usize> = Vec::new();
    let mut origins = Vec::with_capacity(keys.len());
    for (place, key) in keys.iter().enumerate() {
        while open.last().is_some_and(|&last| keys[last] > *key) {
            open.pop();
        }
        origins.push(open.last().copied());
        open.push(place);
    }
    origins
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Dot;

    fn id(replica: u128, counter: u64) -> EntryId {
        EntryId {
            dot: Dot {
                replica: ReplicaId::from(replica),
                counter,
            },
            index: 0,
        }
    }

    fn insert(id: EntryId, lamport: u64, origin: Option<EntryId>, payload: char) -> Insert<char> {
        Insert {
            id,
            lamport,
            origin,
            payload,
        }
    }

    fn text(rga: &Rga<char>) -> String {
        rga.visible().collect()
    }

    #[test]
    fn whole_subtrees_of_greater_siblings_are_passed() {
        let mut rga = Rga::new();
        rga.integrate(insert(id(1, 1), 1, None, 'a')).unwrap();
        // The greater sibling "xy" and its child stand right of their origin already.
        rga.integrate(insert(id(9, 1), 2, Some(id(1, 1)), 'x'))
            .unwrap();
        rga.integrate(insert(id(3, 1), 3, Some(id(9, 1)), 'y'))
            .unwrap();
        rga.delete(Delete {
            id: id(3, 2),
            target: id(3, 1),
        })
        .unwrap();
        rga.integrate(insert(id(2, 1), 2, Some(id(1, 1)), 'b'))
            .unwrap();
        rga.integrate(insert(id(2, 2), 3, Some(id(2, 1)), 'c'))
            .unwrap();
        assert_eq!(text(&rga), "axbc");
        assert_eq!(rga.next_lamport(), 4);
    }

    #[test]
    fn what_was_seen_is_not_put_in_twice_and_what_is_missing_is_an_error() {
        let mut rga = Rga::new();
        let a = insert(id(1, 1), 5, None, 'a');
        rga.integrate(a).unwrap();
        rga.integrate(a).unwrap();
        assert_eq!(text(&rga), "a");
        let orphan = insert(id(2, 1), 6, Some(id(7, 7)), 'b');
        assert_eq!(
            rga.integrate(orphan),
            Err(RgaError::UnknownOrigin(id(7, 7)))
        );
        let early = insert(id(2, 1), 5, Some(id(1, 1)), 'b');
        assert_eq!(rga.integrate(early), Ok(()));
        let early = insert(id(0, 1), 5, Some(id(1, 1)), 'b');
        assert_eq!(
            rga.integrate(early),
            Err(RgaError::NotAfterOrigin(id(0, 1)))
        );
        let record = Delete {
            id: id(2, 2),
            target: id(3, 3),
        };
        assert_eq!(rga.delete(record), Err(RgaError::UnknownTarget(id(3, 3))));
    }

    #[test]
    fn two_deletes_of_one_element_are_both_kept() {
        let mut rga = Rga::new();
        rga.integrate(insert(id(1, 1), 1, None, 'a')).unwrap();
        for replica in [3, 2, 3] {
            rga.delete(Delete {
                id: id(replica, 9),
                target: id(1, 1),
            })
            .unwrap();
        }
        assert_eq!(rga.elements()[0].deleted_by, [id(2, 9), id(3, 9)]);
        assert_eq!(text(&rga), "");
    }
}
