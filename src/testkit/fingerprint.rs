//! 128-bit fingerprints, by which the search tells states apart.

use std::fmt;

/// Takes in bytes and gives a 128-bit fingerprint.
///
/// Two multiply-and-fold lanes; against accidents, not against attackers.
#[derive(Clone, Debug)]
pub struct Fingerprint {
    a: u64,
    b: u64,
}

const M: u64 = 0x9e37_79b9_7f4a_7c15;
const N: u64 = 0xc2b2_ae3d_27d4_eb4f;

fn fold(x: u64, y: u64) -> u64 {
    let product = u128::from(x).wrapping_mul(u128::from(y));
    (product >> 64) as u64 ^ product as u64
}

impl Fingerprint {
    /// Of nothing yet.
    pub const fn new() -> Fingerprint {
        Fingerprint { a: N, b: M }
    }

    /// Takes in a number.
    pub fn number(&mut self, number: u64) {
        self.a = fold(self.a ^ number, M).wrapping_add(self.b);
        self.b = fold(self.b ^ number.rotate_left(32), N) ^ self.a.rotate_left(17);
    }

    /// Takes in bytes and their length.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.part(bytes);
        self.number(bytes.len() as u64);
    }

    fn part(&mut self, bytes: &[u8]) {
        let mut chunks = bytes.chunks_exact(8);
        for chunk in &mut chunks {
            let mut word = [0; 8];
            word.copy_from_slice(chunk);
            self.number(u64::from_le_bytes(word));
        }
        let rest = chunks.remainder();
        if !rest.is_empty() {
            let mut word = [0; 8];
            word[..rest.len()].copy_from_slice(rest);
            self.number(u64::from_le_bytes(word) ^ (rest.len() as u64) << 56);
        }
    }

    /// Takes in another fingerprint.
    pub fn nested(&mut self, other: u128) {
        self.number(other as u64);
        self.number((other >> 64) as u64);
    }

    /// Takes in the `Debug` text of `value`.
    pub fn debug(&mut self, value: &impl fmt::Debug) {
        use fmt::Write;
        let _ = write!(self, "{value:?}");
        self.number(M);
    }

    /// The fingerprint of all that was taken in.
    pub fn value(&self) -> u128 {
        u128::from(fold(self.a, N ^ self.b)) << 64 | u128::from(fold(self.b, M ^ self.a))
    }

    /// The fingerprint of one `Debug` text.
    pub fn of_debug(value: &impl fmt::Debug) -> u128 {
        let mut out = Fingerprint::new();
        out.debug(value);
        out.value()
    }
}

impl Default for Fingerprint {
    fn default() -> Fingerprint {
        Fingerprint::new()
    }
}

impl fmt::Write for Fingerprint {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.part(text.as_bytes());
        self.number(text.len() as u64);
        Ok(())
    }
}

/// So that anything that is `Hash` can be taken in: `value.hash(fingerprint)`.
impl std::hash::Hasher for Fingerprint {
    fn finish(&self) -> u64 {
        self.value() as u64
    }

    fn write(&mut self, bytes: &[u8]) {
        self.part(bytes);
    }

    fn write_u8(&mut self, number: u8) {
        self.number(u64::from(number));
    }

    fn write_u32(&mut self, number: u32) {
        self.number(u64::from(number));
    }

    fn write_u64(&mut self, number: u64) {
        self.number(number);
    }

    fn write_u128(&mut self, number: u128) {
        self.nested(number);
    }

    fn write_usize(&mut self, number: usize) {
        self.number(number as u64);
    }
}

#[test]
fn small_differences_show() {
    let of = |bytes: &[u8]| {
        let mut out = Fingerprint::new();
        out.bytes(bytes);
        out.value()
    };
    let mut all = std::collections::BTreeSet::new();
    let mut count = 0;
    for len in 0..20_usize {
        for at in 0..len {
            for bit in 0..8 {
                let mut bytes = vec![0; len];
                bytes[at] = 1 << bit;
                all.insert(of(&bytes));
                count += 1;
            }
        }
        all.insert(of(&vec![0; len]));
        count += 1;
    }
    assert_eq!(all.len(), count);
}
