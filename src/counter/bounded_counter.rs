//! A counter that never falls below zero.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::fmt;

use crate::clock::ReplicaId;
use crate::codec::{Decoder, Encoder, Payload};
use crate::kernel::{
    EditError, EditView, Latest,
    newtype::{debug_as_view, equals_view, replicated_newtype},
    watched_as_a_whole,
};

/// A counter that never falls below zero, whatever is partitioned: to subtract, a replica needs the
/// right to, which comes from its own additions or from another replica.
///
/// | | |
/// |---|---|
/// | conflict | A and B each spend what they have the right to: both count, and the value stays at least 0 |
/// | delivery | any order, duplicates allowed; an early delta waits for its past |
/// | space | O(replicas that counted + pairs of replicas that gave and took) |
/// | not guaranteed | that a replica may spend what is there: others may hold the right to it |
///
/// Another bound is a matter of adding: of a stock that must keep 10, count what is beyond 10.
/// Rights go from one replica to another by [`transfer`](EditView::transfer); a replica that goes
/// away for good takes the rights that it holds with it. The counter cannot stand under a map key: a
/// removal of the key would bring back what was spent.
///
/// Edits, on the [`EditView`]: `add`, `subtract`, `transfer`.
///
/// Source: Balegas et al. 2015, "Extending eventually consistent cloud databases for enforcing
/// numeric invariants", arXiv:1503.09052. That paper applies rows as they come; here a row waits for
/// its past, so no replica ever shows what was spent without the right it was spent by.
///
/// # Examples
/// ```
/// use commute::{BoundedCounter, EditError, Replica, ReplicaId};
/// let (here, there) = (ReplicaId::from(1), ReplicaId::from(2));
/// let mut a = Replica::<BoundedCounter>::new(here);
/// a.edit(|stock| stock.add(10))?;
/// let mut b = a.fork_as(there);
/// assert_eq!(b.edit(|stock| stock.subtract(1)), Err(EditError::NoRight { held: 0 }));
/// a.edit(|stock| stock.transfer(there, 4))?;
/// b.merge(&a)?;
/// b.edit(|stock| stock.subtract(4))?;
/// a.edit(|stock| stock.subtract(6))?;      // concurrent
/// a.merge(&b)?;
/// assert_eq!(a.value(), 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct BoundedCounter(Latest<Row>);

/// What one replica has done.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Row {
    added: u64,
    subtracted: u64,
    /// Rights given away, to whom; none is 0.
    given: BTreeMap<ReplicaId, u64>,
}

impl Payload for Row {
    fn encode(&self, out: &mut Vec<u8>) {
        let mut encoder = Encoder::new(Vec::new());
        encoder.varint(self.added);
        encoder.varint(self.subtracted);
        encoder.varint(self.given.len() as u64);
        for (id, amount) in &self.given {
            encoder.raw(&id.to_bytes());
            encoder.varint(*amount);
        }
        out.extend_from_slice(&encoder.into_bytes());
    }

    fn decode(bytes: &[u8]) -> Option<Row> {
        let mut decoder = Decoder::new(bytes, &crate::Limits::default());
        let mut row = Row {
            added: decoder.varint().ok()?,
            subtracted: decoder.varint().ok()?,
            given: BTreeMap::new(),
        };
        for _ in 0..decoder.count(17).ok()? {
            let id = ReplicaId::from_bytes(decoder.raw(16).ok()?.try_into().ok()?);
            let amount = decoder.varint().ok().filter(|amount| *amount > 0)?;
            let ascending = row
                .given
                .last_key_value()
                .is_none_or(|(last, _)| *last < id);
            row.given.insert(id, amount).is_none().then_some(())?;
            ascending.then_some(())?;
        }
        decoder.finish().ok()?;
        Some(row)
    }
}

impl BoundedCounter {
    /// All that was added less all that was subtracted. O(r), r = replicas that counted.
    ///
    /// At least 0 unless a replica broke the rules.
    pub fn value(&self) -> i128 {
        let rows = self.0.iter();
        rows.map(|(_, row)| i128::from(row.added) - i128::from(row.subtracted))
            .sum()
    }

    /// How much `replica` may subtract or give away. O(r log r).
    pub fn rights(&self, replica: ReplicaId) -> u64 {
        let rows = self.0.iter();
        let received =
            rows.map(|(_, row)| i128::from(row.given.get(&replica).copied().unwrap_or(0)));
        let own = self.0.get(replica).map_or(0, |row| {
            let given: i128 = row.given.values().copied().map(i128::from).sum();
            i128::from(row.added) - i128::from(row.subtracted) - given
        });
        let rights = own + received.sum::<i128>();
        // Of rows that break the rules nobody has a right.
        u64::try_from(rights.max(0)).unwrap_or(u64::MAX)
    }

    /// The replicas that counted, ascending.
    pub fn replicas(&self) -> impl Iterator<Item = ReplicaId> {
        self.0.iter().map(|(id, _)| id)
    }
}

impl fmt::Display for BoundedCounter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value().fmt(f)
    }
}

impl EditView<'_, BoundedCounter> {
    /// Adds `amount`, and as many rights for this replica. Adding 0 has no effect. O(log r).
    ///
    /// # Errors
    /// [`EditError::CounterOverflow`] if this replica's own additions would pass 2^64 - 1.
    pub fn add(&mut self, amount: u64) -> Result<(), EditError> {
        self.change(amount, |row| &mut row.added)
    }

    /// Subtracts `amount` by rights that this replica holds. Subtracting 0 has no effect. O(r log r).
    ///
    /// # Errors
    /// [`EditError::NoRight`] if it holds fewer, [`EditError::CounterOverflow`] if its own
    /// subtractions would pass 2^64 - 1.
    pub fn subtract(&mut self, amount: u64) -> Result<(), EditError> {
        self.must_hold(amount)?;
        self.change(amount, |row| &mut row.subtracted)
    }

    /// Gives `amount` of the rights that this replica holds to `to`, who may use them once it has
    /// received the update. To itself, or of 0, it has no effect. O(r log r).
    ///
    /// # Errors
    /// [`EditError::NoRight`] if it holds fewer, [`EditError::CounterOverflow`] if it would have given
    /// more than 2^64 - 1 to `to`.
    pub fn transfer(&mut self, to: ReplicaId, amount: u64) -> Result<(), EditError> {
        if to == self.update.dot().replica {
            return Ok(());
        }
        self.must_hold(amount)?;
        self.change(amount, |row| row.given.entry(to).or_default())
    }

    fn must_hold(&self, amount: u64) -> Result<(), EditError> {
        let held = self.state.rights(self.update.dot().replica);
        match held >= amount {
            true => Ok(()),
            false => Err(EditError::NoRight { held }),
        }
    }

    fn change(
        &mut self,
        amount: u64,
        part: impl FnOnce(&mut Row) -> &mut u64,
    ) -> Result<(), EditError> {
        if amount == 0 {
            return Ok(());
        }
        let own = self.state.0.get(self.update.dot().replica);
        let mut row = own.cloned().unwrap_or_default();
        let total = part(&mut row);
        *total = total
            .checked_add(amount)
            .ok_or(EditError::CounterOverflow)?;
        self.state.0.set(row, self.update)
    }
}

debug_as_view!(impl[] BoundedCounter);
equals_view!(impl[] BoundedCounter);

replicated_newtype! {
    impl[] BoundedCounter as Latest<Row>;
    type View = i128;
    fn view(this) { this.value() }
    fn visible(this) { !this.0.is_bottom() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Replica;

    fn replica(id: u128) -> Replica<BoundedCounter> {
        Replica::new(ReplicaId::from(id))
    }

    #[test]
    fn rows_have_one_spelling() {
        let row = Row {
            added: 300,
            subtracted: 1,
            given: [(ReplicaId::from(2), 5), (ReplicaId::from(9), 1)].into(),
        };
        let mut bytes = Vec::new();
        row.encode(&mut bytes);
        assert_eq!(Row::decode(&bytes), Some(row));
        for len in 0..bytes.len() {
            assert_eq!(Row::decode(&bytes[..len]), None);
        }
        let one = [&[0, 0, 1][..], &[0; 15], &[2, 0]].concat();
        assert_eq!(Row::decode(&one), None, "nothing given");
        let given = |id: u8| [&[0; 15][..], &[id, 1]].concat();
        let two = |a, b| [&[0, 0, 2][..], &given(a), &given(b)].concat();
        assert!(Row::decode(&two(1, 2)).is_some());
        assert_eq!(Row::decode(&two(2, 1)), None, "not ascending");
        assert_eq!(Row::decode(&two(1, 1)), None, "twice");
    }

    #[test]
    fn row_46_rights_are_neither_made_nor_lost() {
        let (mut a, mut b) = (replica(1), replica(2));
        assert_eq!(
            b.edit(|counter| counter.subtract(1)),
            Err(EditError::NoRight { held: 0 })
        );
        a.edit(|counter| counter.add(10)).unwrap();
        let version = a.version().clone();
        a.edit(|counter| counter.transfer(ReplicaId::from(1), 3))
            .unwrap();
        assert_eq!(*a.version(), version, "to itself it has no effect");
        a.edit(|counter| counter.transfer(ReplicaId::from(1), 11))
            .unwrap();
        assert_eq!(*a.version(), version, "however much");
        let too_many = a.edit(|counter| counter.transfer(ReplicaId::from(2), 11));
        assert_eq!(too_many, Err(EditError::NoRight { held: 10 }));
        a.edit(|counter| counter.transfer(ReplicaId::from(2), 3))
            .unwrap();
        b.merge(&a).unwrap();
        b.edit(|counter| counter.subtract(2)).unwrap();
        a.edit(|counter| counter.subtract(7)).unwrap();
        a.merge(&b).unwrap();
        let rights = [1, 2].map(|id| a.rights(ReplicaId::from(id)));
        assert_eq!((rights, a.value()), ([0, 1], 1));
        // In one update what was added or received counts at once.
        a.edit(|counter| {
            counter.add(5)?;
            counter.subtract(5)
        })
        .unwrap();
        assert_eq!(a.value(), 1);
        assert_eq!(alloc::format!("{}", **a), "1");
    }
}

watched_as_a_whole! { impl[] BoundedCounter }
