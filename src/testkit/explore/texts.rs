//! Which choices of an operation are the same one.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use super::super::erased::{DynOp, DynSubject};
use super::super::fingerprint::Fingerprint;
use super::super::run::guarded;

/// In how many states it is looked whether operations with the same text do the same.
const LOOKS: u32 = 256;

/// The texts of the operations of one replica in one state: weights make a type offer the same one
/// more than once.
#[derive(Default)]
pub(super) struct Texts {
    /// With what each makes of the replica, while that is looked at.
    known: HashMap<u128, u128, BuildHasherDefault<Fingerprint>>,
    looks: u32,
    /// Two operations with the same text did something else.
    lie: bool,
}

impl Texts {
    pub fn begin(&mut self) {
        self.known.clear();
        self.looks = self.looks.saturating_add(1);
    }

    /// Whether `op` is none of those that were shown since it began.
    pub fn is_another(&mut self, subject: &DynSubject, op: &DynOp) -> bool {
        if self.lie {
            return true;
        }
        let mut made = 0;
        if self.looks <= LOOKS {
            // If it panics, its step will.
            let look = guarded(|| {
                let mut tried = subject.duplicate();
                tried.perform(op);
                let mut out = Fingerprint::new();
                tried.fingerprint(&mut out);
                Ok(out.value())
            });
            made = look.unwrap_or_default();
        }
        match self.known.insert(Fingerprint::of_debug(op), made) {
            None => true,
            Some(before) => {
                self.lie = before != made;
                self.lie
            }
        }
    }
}
