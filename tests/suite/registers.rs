//! Registers that keep concurrent values, alone, under keys and under keys of keys.

use std::collections::BTreeMap;

use commute::kernel::{DotFun, DotMap, EditError, Removable};

use super::forward::{Editing, forward};
use crate::testkit::spec::{Change, multi_value, same};
use crate::testkit::{Mismatch, Seen, Source, Subject};

/// A register: all values that were written concurrently and not overwritten.
#[derive(Clone, Debug)]
pub struct Register(DotFun<u64>);

forward!(Register as DotFun<u64>);

impl Editing<'_, Register> {
    pub fn write(&mut self, value: u64) -> Result<(), EditError> {
        self.clear();
        self.value.0.add(value, self.update).map(drop)
    }

    pub fn clear(&mut self) {
        self.value.0.kill_if(self.update, |_, _| true);
    }
}

type Write = Change<u8, u64>;

impl Subject for Register {
    type Op = Write;
    type Memory = ();
    const NAME: &'static str = "Register (DotFun<u64>)";

    fn act(
        register: &mut Editing<'_, Register>,
        source: &mut Source,
    ) -> Result<Option<Write>, EditError> {
        Ok(Some(match source.below(4) {
            3 => {
                register.clear();
                Change::Clear
            }
            _ => {
                let value = source.below(3);
                register.write(value)?;
                Change::Put(0, value)
            }
        }))
    }

    fn judge(seen: &Seen<'_, Write>, view: &Vec<u64>, (): &mut ()) -> Result<(), Mismatch> {
        let mut got = view.clone();
        got.sort_unstable();
        let expected = multi_value(seen, |op| Some(*op)).remove(&0);
        same(&got, &expected.unwrap_or_default())
    }
}

/// Registers under keys; removing a key resets its register.
#[derive(Clone, Debug)]
pub struct Registers(DotMap<u8, DotFun<u64>>);

forward!(Registers as DotMap<u8, DotFun<u64>>);

impl Editing<'_, Registers> {
    pub fn write(&mut self, key: u8, value: u64) -> Result<(), EditError> {
        let register = self.value.0.child(key);
        register.kill_if(self.update, |_, _| true);
        register.add(value, self.update).map(drop)
    }

    /// Writes beside what is there, so that a key has several entries of one update.
    pub fn append(&mut self, key: u8, value: u64) -> Result<(), EditError> {
        self.value.0.child(key).add(value, self.update).map(drop)
    }

    pub fn remove(&mut self, key: u8) -> Result<bool, EditError> {
        self.value.0.remove(&key, self.update)
    }

    pub fn clear(&mut self) -> Result<(), EditError> {
        self.value.0.reset(self.update)
    }
}

impl Subject for Registers {
    type Op = Write;
    type Memory = ();
    const NAME: &'static str = "Registers (DotMap<u8, DotFun<u64>>)";

    fn act(
        map: &mut Editing<'_, Registers>,
        source: &mut Source,
    ) -> Result<Option<Write>, EditError> {
        let kind = source.below(8);
        let key = source.below(3) as u8;
        Ok(Some(match kind {
            0..5 => {
                let value = source.below(3);
                map.write(key, value)?;
                Change::Put(key, value)
            }
            5..7 => {
                map.remove(key)?;
                Change::Remove(key)
            }
            _ => {
                map.clear()?;
                Change::Clear
            }
        }))
    }

    fn judge(
        seen: &Seen<'_, Write>,
        view: &BTreeMap<u8, Vec<u64>>,
        (): &mut (),
    ) -> Result<(), Mismatch> {
        let mut got = view.clone();
        got.values_mut().for_each(|values| values.sort_unstable());
        same(&got, &multi_value(seen, |op| Some(*op)))
    }
}

/// Increments under keys: every one counts until its key is removed.
#[derive(Clone, Debug)]
pub struct Tallies(DotMap<u8, DotFun<u64>>);

forward!(Tallies as DotMap<u8, DotFun<u64>>);

impl Editing<'_, Tallies> {
    pub fn add(&mut self, key: u8, amount: u64) -> Result<(), EditError> {
        self.value.0.child(key).add(amount, self.update).map(drop)
    }

    pub fn remove(&mut self, key: u8) -> Result<bool, EditError> {
        self.value.0.remove(&key, self.update)
    }
}

impl Subject for Tallies {
    type Op = Write;
    type Memory = ();
    const NAME: &'static str = "Tallies (DotMap<u8, DotFun<u64>>)";

    fn act(
        map: &mut Editing<'_, Tallies>,
        source: &mut Source,
    ) -> Result<Option<Write>, EditError> {
        let kind = source.below(4);
        let key = source.below(2) as u8;
        Ok(Some(match kind {
            3 => {
                map.remove(key)?;
                Change::Remove(key)
            }
            _ => {
                let amount = 1 + source.below(3);
                map.add(key, amount)?;
                Change::Put(key, amount)
            }
        }))
    }

    fn judge(
        seen: &Seen<'_, Write>,
        view: &BTreeMap<u8, Vec<u64>>,
        (): &mut (),
    ) -> Result<(), Mismatch> {
        let mut expected = BTreeMap::<u8, Vec<u64>>::new();
        for (key, amount) in crate::testkit::spec::not_removed(seen, |op| Some(*op)) {
            expected.entry(key).or_default().push(amount);
        }
        expected
            .values_mut()
            .for_each(|amounts| amounts.sort_unstable());
        let mut got = view.clone();
        got.values_mut().for_each(|amounts| amounts.sort_unstable());
        same(&got, &expected)
    }
}

/// Keys of keys; removing an outer key resets all under it.
#[derive(Clone, Debug)]
pub struct Nested(DotMap<u8, DotMap<u8, DotFun<u64>>>);

forward!(Nested as DotMap<u8, DotMap<u8, DotFun<u64>>>);

impl Editing<'_, Nested> {
    pub fn write(&mut self, outer: u8, inner: u8, value: u64) -> Result<(), EditError> {
        let register = self.value.0.child(outer).child(inner);
        register.kill_if(self.update, |_, _| true);
        register.add(value, self.update).map(drop)
    }

    pub fn remove(&mut self, outer: u8) -> Result<bool, EditError> {
        self.value.0.remove(&outer, self.update)
    }
}

/// What happens to a pair of keys; `None` as the inner key stands for all of them.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Deed {
    Write(u8, u8, u64),
    Remove(u8),
}

impl Subject for Nested {
    type Op = Deed;
    type Memory = ();
    const NAME: &'static str = "Nested (DotMap<u8, DotMap<u8, DotFun<u64>>>)";

    fn act(map: &mut Editing<'_, Nested>, source: &mut Source) -> Result<Option<Deed>, EditError> {
        let kind = source.below(3);
        let outer = source.below(2) as u8;
        Ok(Some(match kind {
            2 => {
                map.remove(outer)?;
                Deed::Remove(outer)
            }
            _ => {
                let (inner, value) = (source.below(2) as u8, source.below(3));
                map.write(outer, inner, value)?;
                Deed::Write(outer, inner, value)
            }
        }))
    }

    fn judge(
        seen: &Seen<'_, Deed>,
        view: &BTreeMap<u8, BTreeMap<u8, Vec<u64>>>,
        (): &mut (),
    ) -> Result<(), Mismatch> {
        // For one pair of keys at a time a removal of the outer key is one of that pair.
        let mut expected = BTreeMap::<u8, BTreeMap<u8, Vec<u64>>>::new();
        for (outer, inner) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let meaning = |op: &Deed| match *op {
                Deed::Write(o, i, value) if (o, i) == (outer, inner) => {
                    Some(Change::Put((), value))
                }
                Deed::Remove(o) if o == outer => Some(Change::Remove(())),
                _ => None,
            };
            if let Some(values) = multi_value(seen, meaning).remove(&()) {
                expected.entry(outer).or_default().insert(inner, values);
            }
        }
        let mut got = view.clone();
        let registers = got.values_mut().flat_map(|inner| inner.values_mut());
        registers.for_each(|values| values.sort_unstable());
        same(&got, &expected)
    }
}
