//! A plain encoding for the states of the zoo: numbers in full, maps by ascending key.

use std::collections::BTreeMap;

use commute::testkit::Rejected;
use commute::{Dot, ReplicaId};

pub fn put_u64(out: &mut Vec<u8>, number: u64) {
    out.extend(number.to_be_bytes());
}

pub fn put_id(out: &mut Vec<u8>, id: ReplicaId) {
    out.extend(id.to_bytes());
}

pub fn put_dot(out: &mut Vec<u8>, dot: Dot) {
    put_id(out, dot.replica);
    put_u64(out, dot.counter);
}

/// Takes bytes from the front.
pub struct Reader<'a>(pub &'a [u8]);

impl Reader<'_> {
    fn array<const N: usize>(&mut self) -> Result<[u8; N], Rejected> {
        let Some((first, rest)) = self.0.split_first_chunk::<N>() else {
            return Err(Rejected::new("cut short"));
        };
        self.0 = rest;
        Ok(*first)
    }

    pub fn u8(&mut self) -> Result<u8, Rejected> {
        Ok(self.array::<1>()?[0])
    }

    pub fn bool(&mut self) -> Result<bool, Rejected> {
        match self.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Rejected::new("neither true nor false")),
        }
    }

    pub fn u64(&mut self) -> Result<u64, Rejected> {
        Ok(u64::from_be_bytes(self.array()?))
    }

    pub fn i64(&mut self) -> Result<i64, Rejected> {
        Ok(i64::from_be_bytes(self.array()?))
    }

    pub fn id(&mut self) -> Result<ReplicaId, Rejected> {
        Ok(ReplicaId::from_bytes(self.array()?))
    }

    pub fn dot(&mut self) -> Result<Dot, Rejected> {
        let dot = Dot::new(self.id()?, self.u64()?);
        match dot.counter {
            0 => Err(Rejected::new("a dot of count 0")),
            _ => Ok(dot),
        }
    }

    /// A map of up to 255 pairs, each key larger than the one before.
    pub fn ascending<K: Ord + Copy, V>(
        &mut self,
        mut pair: impl FnMut(&mut Self) -> Result<(K, V), Rejected>,
    ) -> Result<BTreeMap<K, V>, Rejected> {
        let mut all = BTreeMap::new();
        for _ in 0..self.u8()? {
            let (key, value) = pair(self)?;
            if all.last_key_value().is_some_and(|(last, _)| key <= *last) {
                return Err(Rejected::new("out of order"));
            }
            all.insert(key, value);
        }
        Ok(all)
    }

    /// Nothing may be left.
    pub fn end(&self) -> Result<(), Rejected> {
        match self.0.is_empty() {
            true => Ok(()),
            false => Err(Rejected::new("bytes left over")),
        }
    }
}
