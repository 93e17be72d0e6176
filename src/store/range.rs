//! [`Range`], a half-open interval of keys, and [`Scan`], a range read that may stop early.

use super::Key;

/// All keys from `start` (included) to `end` (excluded).
///
/// # Examples
/// ```
/// use commute::store::{Key, Range};
///
/// let users = Range::prefix("users/");
/// assert!(users.contains(&Key::from("users/7")));
/// assert!(!users.contains(&Key::from("usersX")));
/// assert!(Range::between("b", "a").is_empty());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Range {
    start: Key,
    end: Option<Key>,
}

impl Range {
    /// Every key.
    pub fn all() -> Self {
        Self {
            start: Key::from([]),
            end: None,
        }
    }

    /// The keys from `start` on.
    pub fn from(start: impl Into<Key>) -> Self {
        Self {
            start: start.into(),
            end: None,
        }
    }

    /// The keys from `start` to before `end`; empty if `end <= start`.
    pub fn between(start: impl Into<Key>, end: impl Into<Key>) -> Self {
        Self {
            start: start.into(),
            end: Some(end.into()),
        }
    }

    /// The keys that begin with `prefix`.
    pub fn prefix(prefix: impl Into<Key>) -> Self {
        let start = prefix.into();
        let mut end = start.as_bytes().to_vec();
        while let Some(last) = end.pop() {
            if last < u8::MAX {
                end.push(last + 1);
                return Self {
                    start,
                    end: Some(Key::from(end)),
                };
            }
        }
        Self { start, end: None }
    }

    /// The least key that may be in the range.
    pub fn start(&self) -> &Key {
        &self.start
    }

    /// The key before which the range ends, `None` if it has no end.
    pub fn end(&self) -> Option<&Key> {
        self.end.as_ref()
    }

    /// Whether no key can be in the range.
    pub fn is_empty(&self) -> bool {
        self.end.as_ref().is_some_and(|end| *end <= self.start)
    }

    /// Whether `key` is in the range.
    pub fn contains(&self, key: &Key) -> bool {
        self.start <= *key && self.end.as_ref().is_none_or(|end| key < end)
    }

    /// The part of the range up to `last`, included.
    pub(crate) fn up_to(&self, last: &Key) -> Self {
        Self {
            start: self.start.clone(),
            end: Some(last.successor()),
        }
    }
}

/// A range read: the first `limit` records of a range, in the order of their keys.
///
/// A read that stops at its limit has seen the range only up to the last record it returned, and a
/// transaction that made it conflicts with changes only up to there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Scan {
    range: Range,
    limit: Option<usize>,
}

impl Scan {
    /// All records of `range`.
    pub fn new(range: Range) -> Self {
        Self { range, limit: None }
    }

    /// The first `limit` records of `range`.
    pub fn first(range: Range, limit: usize) -> Self {
        Self {
            range,
            limit: Some(limit),
        }
    }

    /// The range.
    pub fn range(&self) -> &Range {
        &self.range
    }

    /// The greatest number of records wanted, `None` for all.
    pub fn limit(&self) -> Option<usize> {
        self.limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_of_greatest_bytes_has_no_end() {
        assert_eq!(Range::prefix([255, 255]).end(), None);
        assert_eq!(Range::prefix([1, 255]).end(), Some(&Key::from([2])));
        assert_eq!(Range::prefix([]), Range::all());
    }

    #[test]
    fn the_part_up_to_a_key_holds_that_key_and_no_later_one() {
        let part = Range::all().up_to(&Key::from("m"));
        assert!(part.contains(&Key::from("m")));
        assert!(!part.contains(&Key::from("m\0")));
    }
}
