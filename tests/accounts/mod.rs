//! A balance that holders of a lease read and write, at whatever resource.

use commute::coord::{Established, EstablishedCell, FencedCell, FencedResource, FencingToken};

/// An account at some resource.
pub trait Account {
    /// What a holder does first; `None` if it is not let in.
    fn enter(&self, token: &FencingToken) -> Option<Box<dyn Access + '_>>;
}

/// What a holder does with it.
pub trait Access {
    fn read(&mut self) -> Option<i64>;
    /// Whether the write was accepted.
    fn write(&mut self, balance: i64) -> bool;
}

impl Account for FencedCell<i64> {
    fn enter(&self, token: &FencingToken) -> Option<Box<dyn Access + '_>> {
        Some(Box::new(self.establish_blocking(token).ok()?))
    }
}

impl Access for EstablishedCell<'_, i64> {
    fn read(&mut self) -> Option<i64> {
        self.read_blocking().ok()
    }

    fn write(&mut self, balance: i64) -> bool {
        self.write_blocking(balance).is_ok()
    }
}
