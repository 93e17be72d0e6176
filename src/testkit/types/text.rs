//! Text as a subject.

use std::fmt::{self, Debug};

use crate::kernel::{EditError, EditView};
use crate::testkit::replica::{Exercise, Meaning};
use crate::testkit::spec::{self, AsListOps, Level, ListOp};
use crate::testkit::{Seen, Source, Verdict};
use crate::text::{Chars, Text};

/// What a user does to a text: deletes some characters and inserts others in their place.
///
/// Every inserted character is another one of the whole execution, so that the order shows.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TextOp {
    /// The position, in characters.
    pub at: usize,
    /// The character before it.
    pub left: Option<char>,
    /// The characters that are deleted from there on.
    pub deleted: String,
    /// The characters that are put there.
    pub inserted: String,
    /// The character after those that are deleted.
    pub right: Option<char>,
}

impl Debug for TextOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TextOp {
            at,
            deleted,
            inserted,
            ..
        } = self;
        match (deleted.is_empty(), inserted.is_empty()) {
            (true, _) => write!(f, "insert {inserted:?} at {at}"),
            (_, true) => write!(f, "delete {deleted:?} at {at}"),
            _ => write!(f, "replace {deleted:?} at {at} by {inserted:?}"),
        }
    }
}

impl AsListOps for TextOp {
    type Element = char;

    fn as_list_ops(&self) -> Vec<ListOp<char>> {
        let mut ops: Vec<ListOp<char>> = self.deleted.chars().map(ListOp::Delete).collect();
        let mut left = self.left;
        for value in self.inserted.chars() {
            ops.push(ListOp::Insert {
                left,
                value,
                right: self.right,
            });
            left = Some(value);
        }
        ops
    }
}

/// Typing, pasting, deleting and replacing.
impl Exercise for Text {
    type Op = TextOp;

    fn choose(&self, source: &mut Source<'_>) -> Option<TextOp> {
        let len = self.len::<Chars>().0;
        let kind = match len {
            0 => 0,
            _ => source.below(3),
        };
        let (most, deletes) = match kind {
            0 => (len + 1, false),
            _ => (len, true),
        };
        let at = source.below(most as u64) as usize;
        let gone = match deletes {
            true => 1 + source.below(2.min((len - at) as u64)) as usize,
            false => 0,
        };
        let new = match kind {
            1 => 0,
            _ => 1 + source.below(2),
        };
        let shown: Vec<char> = self.chars().collect();
        Some(TextOp {
            at,
            left: at.checked_sub(1).and_then(|at| shown.get(at)).copied(),
            deleted: shown.iter().skip(at).take(gone).collect(),
            inserted: (0..new).map(|_| letter(source.unique())).collect(),
            right: shown.get(at + gone).copied(),
        })
    }

    fn perform(text: &mut EditView<'_, Text>, op: &TextOp) -> Result<(), EditError> {
        let range = Chars(op.at)..Chars(op.at + op.deleted.chars().count());
        match (op.deleted.is_empty(), op.inserted.is_empty()) {
            (true, _) => text.insert(range.start, &op.inserted),
            (_, true) => text.delete(range),
            _ => text.replace(range, &op.inserted),
        }
    }
}

/// The strong list specification, and that what is typed forwards stays together.
impl Meaning for Text {
    fn judge(seen: &Seen<'_, TextOp>, got: &String) -> Verdict {
        let together = spec::non_interleaving(Level::Forward);
        spec::strong_list(seen, got).and(|| together(seen, got))
    }
}

/// Another character for each number, of one to four bytes and one or two UTF-16 units.
///
/// The engines put into the lowest 3 bits which one it is of its operation, into the next 6 its
/// replica, into the next 40 which operation of the replica it is, and above these how often the
/// replica was restarted. All are different for 256 operations of each and 8 restarts.
fn letter(number: u64) -> char {
    let number = (number as u32 & 0x1_ffff) + (number >> 49 & 7) as u32 * 0x2_0000;
    let (nth, place, done) = (number & 7, number >> 3 & 63, number >> 9);
    let early = done << 6 | place;
    let code = match nth {
        1 if place < 4 && done < 6 => u32::from('a') + done * 4 + place,
        1 if done < 32 => 0x3400 + early,
        2 if done < 32 && place & 1 == 0 => 0x4e00 + early,
        3 if done < 8 => 0x400 + early,
        _ => 0x1_0000 + number,
    };
    char::from_u32(code).unwrap_or('?')
}

#[test]
fn letters_are_all_different() {
    let restarts = [0, 1, 7].map(|restarts| restarts << 49);
    let numbers = restarts.iter().flat_map(|first| *first..*first + 0x2_0000);
    let all: std::collections::BTreeSet<char> = numbers.map(letter).collect();
    assert_eq!(all.len(), 3 * 0x2_0000);
    let widths: std::collections::BTreeSet<usize> = all.iter().map(|c| c.len_utf8()).collect();
    assert_eq!(widths.len(), 4);
}
