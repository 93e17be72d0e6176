//! Where all choices come from.

use crate::env::SplitMix64;

/// How many unique numbers of an operation are near each other.
const UNIQUE_NEAR: u64 = 8;
/// The bit above which its others differ; more than 2^24 operations of a replica reach it.
const UNIQUE_FAR: u32 = 33;

/// A source of choices: random, enumerated, replayed or read from bytes.
///
/// The choices of one operation are one number, in mixed radix with the first choice as the lowest
/// digit; a schedule stores that number (`0:do 17`), the search counts through them, and it is the
/// same operation for all.
///
/// Choice 0 is the first that a search tries and the one that shrinking goes to: put the plainest
/// operation first.
#[derive(Debug)]
pub struct Source<'a> {
    engine: Engine<'a>,
    /// Where the numbers of this operation begin, if it is one of an execution.
    unique: Option<u64>,
    uniques: u64,
}

#[derive(Debug)]
enum Engine<'a> {
    Random(SplitMix64),
    Number {
        left: u64,
        span: u64,
        rest: SplitMix64,
    },
    Odometer {
        odometer: &'a mut Odometer,
        at: usize,
    },
    Bytes(&'a [u8]),
}

impl<'a> Source<'a> {
    /// Choices from a seed, the same on every machine and in every release.
    pub fn random(seed: u64) -> Source<'static> {
        Source::of(Engine::Random(SplitMix64::new(seed)))
    }

    /// The choices held in `number`; those beyond 32 bits of choice follow from it at random.
    pub fn number(number: u64) -> Source<'static> {
        Source::of(Engine::Number {
            left: number,
            span: 1,
            rest: SplitMix64::new(number),
        })
    }

    /// The choices that `odometer` stands at.
    pub fn odometer(odometer: &'a mut Odometer) -> Source<'a> {
        Source::of(Engine::Odometer { odometer, at: 0 })
    }

    /// Choices from bytes, of a fuzzer for example; zeros when they are used up.
    pub fn bytes(bytes: &'a [u8]) -> Source<'a> {
        Source::of(Engine::Bytes(bytes))
    }

    fn of(engine: Engine<'a>) -> Source<'a> {
        Source {
            engine,
            unique: None,
            uniques: 0,
        }
    }

    pub(crate) fn with_unique(mut self, first: u64) -> Source<'a> {
        self.unique = Some(first * UNIQUE_NEAR);
        self
    }

    /// A number below `n`; 0 if `n` is 0.
    pub fn below(&mut self, n: u64) -> u64 {
        if n <= 1 {
            return 0;
        }
        match &mut self.engine {
            Engine::Random(random) => random.next_u64() % n,
            Engine::Number { left, span, rest } => {
                if *span > u64::from(u32::MAX) {
                    return rest.next_u64() % n;
                }
                *span = span.saturating_mul(n);
                let digit = *left % n;
                *left /= n;
                digit
            }
            Engine::Odometer { odometer, at } => {
                *at += 1;
                odometer.digit(*at - 1, n)
            }
            Engine::Bytes(bytes) => take(bytes, n),
        }
    }

    /// One of `choices`; `None` if there are none.
    pub fn pick<'c, T>(&mut self, choices: &'c [T]) -> Option<&'c T> {
        choices.get(self.below(choices.len() as u64) as usize)
    }

    /// True in `part` of `whole` cases.
    pub fn chance(&mut self, part: u64, whole: u64) -> bool {
        self.below(whole) < part
    }

    /// A number that no other call in the execution gets, for up to 500,000 calls of one operation;
    /// small at first.
    pub fn unique(&mut self) -> u64 {
        let nth = self.uniques;
        self.uniques += 1;
        match self.unique {
            None => nth + 1,
            // The next operation has the numbers after these 8: others are far above.
            Some(first) => first + nth % UNIQUE_NEAR + 1 + ((nth / UNIQUE_NEAR) << UNIQUE_FAR),
        }
    }

    /// Whether all choices are tried one after the other.
    ///
    /// A type may leave out choices then, but only as the last ones of an operation, and as if each
    /// were 0: the operation is performed, and replayed, by its number alone, without this. A search
    /// that finds another operation under a number says so and is inconclusive.
    pub fn is_exhaustive(&self) -> bool {
        matches!(self.engine, Engine::Odometer { .. })
    }

    /// Whether the choices are used up: always false but for bytes.
    pub fn is_spent(&self) -> bool {
        matches!(self.engine, Engine::Bytes([]))
    }
}

/// A number below `n` from as few bytes as hold it.
fn take(bytes: &mut &[u8], n: u64) -> u64 {
    let mut value = 0;
    let mut reach = 1_u64;
    while reach < n {
        let Some((first, rest)) = bytes.split_first() else {
            break;
        };
        *bytes = rest;
        value = value << 8 | u64::from(*first);
        reach = reach.saturating_mul(256);
    }
    value % n
}

/// More choices than that of one operation are not counted through.
const DIGITS_MAX: usize = 64;

/// Counts through all choices that something asks for.
///
/// # Examples
/// ```
/// use commute::testkit::{Odometer, Source};
///
/// let mut odometer = Odometer::new();
/// let mut all = Vec::new();
/// loop {
///     let mut source = Source::odometer(&mut odometer);
///     let first = source.below(2);
///     all.push((first, if first == 1 { source.below(3) } else { 0 }));
///     if !odometer.advance() {
///         break;
///     }
/// }
/// assert_eq!(all, [(0, 0), (1, 0), (1, 1), (1, 2)]);
/// ```
#[derive(Clone, Default, Debug)]
pub struct Odometer {
    /// Each digit with its radix.
    digits: Vec<(u64, u64)>,
}

impl Odometer {
    /// Stands at the first of all choices.
    pub fn new() -> Odometer {
        Odometer::default()
    }

    fn digit(&mut self, at: usize, n: u64) -> u64 {
        // Whoever draws until it likes what it gets must get each number at times.
        if at >= DIGITS_MAX {
            return at as u64 % n;
        }
        match self.digits.get_mut(at) {
            Some((digit, radix)) => {
                *radix = n;
                (*digit).min(n - 1)
            }
            None => {
                self.digits.push((0, n));
                0
            }
        }
    }

    /// Moves to the next choices; false if there are none.
    pub fn advance(&mut self) -> bool {
        while let Some((digit, radix)) = self.digits.last_mut() {
            *digit += 1;
            if digit < radix {
                return true;
            }
            self.digits.pop();
        }
        false
    }

    /// The number for [`Source::number`] that gives these choices; `None` beyond 32 bits.
    pub fn number(&self) -> Option<u64> {
        let mut number = 0_u64;
        let mut span = 1_u64;
        for (digit, radix) in &self.digits {
            if span > u64::from(u32::MAX) {
                return None;
            }
            number = number.checked_add(digit.checked_mul(span)?)?;
            span = span.checked_mul(*radix)?;
        }
        Some(number)
    }
}

#[test]
fn unique_numbers_never_come_twice() {
    let mut all = std::collections::BTreeSet::new();
    for first in 0..200 {
        let mut source = Source::number(0).with_unique(first);
        all.extend((0..100).map(|_| source.unique()));
    }
    assert_eq!(all.len(), 200 * 100);
    let mut alone = Source::random(1);
    assert!((1..=20).all(|number| alone.unique() == number));
}

#[test]
fn drawing_until_it_is_liked_ends() {
    let mut odometer = Odometer::new();
    let mut source = Source::odometer(&mut odometer);
    while source.chance(3, 4) {}
    let mut source = Source::odometer(&mut odometer);
    while !source.chance(1, 4) {}
}
