//! Registers that keep concurrent values, alone, under keys and under keys of keys.

use commute::kernel::{DotFun, DotMap, EditError, Removable};

use super::forward::{Editing, forward};

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

/// Increments under keys: every one counts until its key is removed.
#[derive(Clone, Debug)]
pub struct Tallies(DotMap<u8, DotFun<u64>>);

forward!(Tallies as DotMap<u8, DotFun<u64>>);

impl Editing<'_, Tallies> {
    pub fn clear(&mut self) -> Result<(), EditError> {
        self.value.0.reset(self.update)
    }

    pub fn add(&mut self, key: u8, amount: u64) -> Result<(), EditError> {
        self.value.0.child(key).add(amount, self.update).map(drop)
    }

    pub fn remove(&mut self, key: u8) -> Result<bool, EditError> {
        self.value.0.remove(&key, self.update)
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
