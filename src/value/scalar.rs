//! Values without parts.

use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Ordering;
use core::fmt;

/// A number of 64 bits in floating point, with one spelling for each value.
///
/// There is one NaN, which equals itself and is greater than all others, and one zero: -0.0 becomes
/// 0.0.
///
/// # Examples
/// ```
/// use commute::value::Float;
/// assert_eq!(Float::new(-0.0), Float::new(0.0));
/// assert_eq!(Float::new(-f64::NAN), Float::new(f64::NAN));
/// assert!(Float::new(-1.5) < Float::new(f64::INFINITY));
/// ```
#[derive(Clone, Copy)]
pub struct Float(f64);

impl Float {
    /// This number in its one spelling.
    pub fn new(number: f64) -> Float {
        match number {
            _ if number.is_nan() => Float(f64::NAN),
            _ if number == 0.0 => Float(0.0),
            _ => Float(number),
        }
    }

    /// The number.
    pub fn get(self) -> f64 {
        self.0
    }

    /// The number with these bits, if they are its one spelling.
    pub(super) fn from_canonical_bits(bits: u64) -> Option<Float> {
        let number = Float::new(f64::from_bits(bits));
        (number.to_bits() == bits).then_some(number)
    }

    pub(super) fn to_bits(self) -> u64 {
        match self.0.is_nan() {
            // The bits of `f64::NAN` are not the same on every machine.
            true => 0x7ff8_0000_0000_0000,
            false => self.0.to_bits(),
        }
    }
}

impl Ord for Float {
    fn cmp(&self, other: &Float) -> Ordering {
        let [a, b] = [self, other].map(|float| f64::from_bits(float.to_bits()));
        a.total_cmp(&b)
    }
}

impl PartialOrd for Float {
    fn partial_cmp(&self, other: &Float) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Float {
    fn eq(&self, other: &Float) -> bool {
        self.to_bits() == other.to_bits()
    }
}

impl Eq for Float {}

impl From<f64> for Float {
    fn from(number: f64) -> Float {
        Float::new(number)
    }
}

impl fmt::Debug for Float {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A value without parts, written as a whole.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub enum Scalar {
    /// Nothing, written on purpose.
    #[default]
    Null,
    /// Yes or no.
    Bool(bool),
    /// A whole number: every `i64` and `u64` is one.
    Int(i128),
    /// Any other number.
    Float(Float),
    /// A text that is written as a whole.
    String(String),
    /// Bytes.
    Bytes(Vec<u8>),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_have_one_spelling() {
        for number in [0.0, 1.5, -2.0, f64::MIN_POSITIVE, f64::INFINITY, f64::NAN] {
            let float = Float::new(number);
            assert_eq!(Float::from_canonical_bits(float.to_bits()), Some(float));
        }
        let minus_zero = (-0.0_f64).to_bits();
        for bits in [minus_zero, 0x7ff8_0000_0000_0001, 0xfff8_0000_0000_0000] {
            assert_eq!(Float::from_canonical_bits(bits), None);
        }
    }

    #[test]
    fn numbers_are_ordered() {
        let numbers = [f64::NEG_INFINITY, -1.0, 0.0, 2.5, f64::INFINITY, f64::NAN];
        let numbers = numbers.map(Float::new);
        assert!(numbers.is_sorted_by(|a, b| a < b));
    }
}
