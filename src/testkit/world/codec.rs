//! The laws about bytes.

use super::super::law::Law;
use super::super::subject::Subject;
use super::{Checked, Node, World, broken};

impl<T: Subject> World<T> {
    pub(super) fn check_bytes(&mut self, at: usize, node: &Node<T>) -> Checked {
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
            if read.view() != subject.view() {
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
            true => self.check_foreign(at, node, bytes),
            false => Ok(()),
        }
    }

    /// Bytes may leave out what matters later: the state read must also count as equal.
    fn check_state_read(&self, at: usize, subject: &T, read: &T) -> Checked {
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

    /// Some change of the bytes is refused, or it is the one spelling of another state.
    fn check_foreign(&mut self, at: usize, node: &Node<T>, mut bytes: Vec<u8>) -> Checked {
        let Some(table) = self.can.bytes else {
            return Ok(());
        };
        let len = bytes.len() as u64;
        let what = match self.rng.below(4) {
            0 => {
                bytes.push(self.rng.below(3) as u8);
                "a byte more"
            }
            1 => {
                bytes.truncate(self.rng.below(len.max(1)) as usize);
                "cut short"
            }
            2 if len > 0 => {
                bytes[self.rng.below(len) as usize] = 0xff;
                "one byte is 255"
            }
            _ if len > 0 => {
                bytes[self.rng.below(len) as usize] ^= 1 << self.rng.below(8);
                "one bit is another"
            }
            _ => "",
        };
        let Ok(read) = (table.decode)(&bytes, node.id) else {
            return Ok(());
        };
        let written = (table.encode)(&read);
        if written == bytes || !self.wants(Law::P2) {
            return Ok(());
        }
        let mut wrong = broken(
            Law::P2,
            Some(at),
            format!("{bytes:02x?} is read"),
            format!("refused, or written the same; it is written {written:02x?}"),
        );
        wrong.why = format!("the bytes of a state with a change: {what}");
        Err(wrong)
    }
}
