//! The laws about bytes.

use super::super::erased::DynSubject;
use super::super::law::Law;
use super::super::run::guarded;
use super::luck::Choice;
use super::{Checked, Node, World, broken};
use crate::env::SplitMix64;

impl World {
    pub(super) fn check_bytes(&mut self, at: usize, node: &Node) -> Checked {
        let Some(table) = self.can.bytes else {
            return Ok(());
        };
        let subject = &node.subject;
        let bytes = (table.encode)(subject);
        let hex = |bytes: &[u8]| format!("{bytes:02x?}");
        if self.wants(Law::P1) {
            let again = (table.encode)(subject);
            if again != bytes {
                return Err(broken(Law::P1, Some(at), hex(&again), hex(&bytes)));
            }
            let read = (table.decode)(&bytes, node.id)
                .map_err(|e| broken(Law::P1, Some(at), e.0, "its own bytes can be read"))?;
            if !read.same_view(subject) {
                let (got, expected) = (read.view(), subject.view());
                return Err(broken(
                    Law::P1,
                    Some(at),
                    format!("{got:?}"),
                    format!("{expected:?}"),
                ));
            }
            let written = (table.encode)(&read);
            if written != bytes {
                return Err(broken(Law::P1, Some(at), hex(&written), hex(&bytes)));
            }
            self.check_state_read(at, subject, &read)?;
        }
        if self.wants(Law::P5) {
            let resumed = (table.resume)(&(table.save)(subject), node.id)
                .map_err(|e| broken(Law::P5, Some(at), e.0, "what was saved can be read"))?;
            if !self.alike(&resumed, subject) {
                let (got, expected) = (format!("{resumed:?}"), format!("{subject:?}"));
                return Err(broken(Law::P5, Some(at), got, expected));
            }
        }
        match self.wants(Law::P2) || self.wants(Law::P3) {
            true => self.check_foreign(at, node, &bytes),
            false => Ok(()),
        }
    }

    /// Bytes may leave out what matters later: the state read must also count as equal.
    fn check_state_read(&self, at: usize, subject: &DynSubject, read: &DynSubject) -> Checked {
        match self
            .can
            .state
            .is_none_or(|table| (table.same)(subject, read))
        {
            true => Ok(()),
            false => {
                let (got, expected) = (format!("{read:?}"), format!("{subject:?}"));
                Err(broken(Law::P1, Some(at), got, expected))
            }
        }
    }

    /// Some changes of the bytes are refused, or are the one spelling of another right state.
    fn check_foreign(&mut self, at: usize, node: &Node, bytes: &[u8]) -> Checked {
        // Large states have more places to change, but each change costs as much as they are long.
        let changes = match bytes.len() {
            0..=255 => CHANGES,
            _ => 1,
        };
        for nth in 0..changes {
            self.check_change(at, node, bytes.to_vec(), nth)?;
        }
        Ok(())
    }

    fn check_change(&mut self, at: usize, node: &Node, mut bytes: Vec<u8>, nth: u64) -> Checked {
        let Some(table) = self.can.bytes else {
            return Ok(());
        };
        let what = change(&mut bytes, &mut self.luck.of(Choice::Bytes, nth));
        let why = format!("the bytes of a state with a change: {what}");
        let read = guarded(|| Ok((table.decode)(&bytes, node.id))).map_err(|mut wrong| {
            wrong.law = Law::P3;
            wrong.at = Some(at);
            wrong.got = format!("{bytes:02x?}: a panic: {}", wrong.got);
            wrong.expected = "refused".into();
            wrong.why.clone_from(&why);
            wrong
        })?;
        let Ok(read) = read else {
            return Ok(());
        };
        let written = (table.encode)(&read);
        if written != bytes && self.wants(Law::P2) {
            let mut wrong = broken(
                Law::P2,
                Some(at),
                format!("{bytes:02x?} is read"),
                format!("refused, or written the same; it is written {written:02x?}"),
            );
            wrong.why = why;
            return Err(wrong);
        }
        match read.invariant() {
            Err(what) if self.wants(Law::P3) => {
                let got = format!("{bytes:02x?} is read: {what}");
                let mut wrong = broken(Law::P3, Some(at), got, "refused: the invariant is broken");
                wrong.why = why;
                Err(wrong)
            }
            _ => Ok(()),
        }
    }
}

/// How many changes of a small state's bytes are tried at each check.
const CHANGES: u64 = 3;

/// The longest pieces of the bytes that change places.
const PIECE_MAX: u64 = 16;

/// Changes `bytes` in one place; says how.
fn change(bytes: &mut Vec<u8>, rng: &mut SplitMix64) -> &'static str {
    let len = bytes.len() as u64;
    if len == 0 {
        bytes.push(rng.below(3) as u8);
        return "a byte more";
    }
    let place = rng.below(len) as usize;
    match rng.below(9) {
        0 => {
            bytes.push(rng.below(3) as u8);
            "a byte more"
        }
        1 => {
            bytes.truncate(place);
            "cut short"
        }
        2 => {
            bytes[place] = 0xff;
            "one byte is 255"
        }
        // What a number of seven bits a byte is, spelled with a needless zero.
        3 => {
            if bytes[place] < 0x80 {
                bytes[place] |= 0x80;
                bytes.insert(place + 1, 0);
            }
            "one number is spelled longer"
        }
        4 => swap_pieces(bytes, place, rng),
        6 => double_piece(bytes, place, rng),
        5 => {
            let up = rng.below(2) == 0;
            let byte = bytes[place];
            bytes[place] = match up {
                true => byte.wrapping_add(1),
                false => byte.wrapping_sub(1),
            };
            "one byte is one more or less"
        }
        _ => {
            bytes[place] ^= 1 << rng.below(8);
            "one bit is another"
        }
    }
}

/// A piece is written over the one after it, as if an element of a list stood there twice.
fn double_piece(bytes: &mut [u8], place: usize, rng: &mut SplitMix64) -> &'static str {
    let most = ((bytes.len() - place) / 2).min(2 * PIECE_MAX as usize);
    if most > 0 {
        let len = 1 + rng.below(most as u64) as usize;
        bytes.copy_within(place..place + len, place + len);
    }
    "a piece is written over the one after it"
}

/// Two neighbouring pieces of equal length change places, as elements of a list would.
fn swap_pieces(bytes: &mut [u8], place: usize, rng: &mut SplitMix64) -> &'static str {
    let most = ((bytes.len() - place) / 2).min(PIECE_MAX as usize);
    if most > 0 {
        let len = 1 + rng.below(most as u64) as usize;
        bytes[place..place + 2 * len].rotate_left(len);
    }
    "two neighbouring pieces are exchanged"
}
