//! `Text` as a subject. Every character of a run is another one, so that the order shows.

use commute::Text;
use commute::kernel::{EditError, EditView};
use commute::text::Chars;

use crate::testkit::spec::{ListOp, Order, list};
use crate::testkit::{Mismatch, Seen, Source, Subject};

/// What one operation inserted and deleted, character by character.
pub type Edits = Vec<ListOp<char>>;

impl Subject for Text {
    type Op = Edits;
    type Memory = Order<char>;
    const NAME: &'static str = "Text";

    fn act(text: &mut EditView<'_, Text>, source: &mut Source) -> Result<Option<Edits>, EditError> {
        act(text, source).map(Some)
    }

    fn judge(
        seen: &Seen<'_, Edits>,
        view: &String,
        order: &mut Order<char>,
    ) -> Result<(), Mismatch> {
        judge(seen, Edits::clone, view, order)
    }
}

/// Typing, pasting, deleting and replacing.
pub fn act(text: &mut EditView<'_, Text>, source: &mut Source) -> Result<Edits, EditError> {
    let mut edits = Edits::new();
    let len = text.len::<Chars>().0;
    let from = source.below(len as u64 + 1) as usize;
    let to = (from + source.below(3) as usize).min(len);
    let kind = source.below(6);
    if kind >= 3 {
        let gone = text.chars().skip(from).take(to - from);
        edits.extend(gone.map(ListOp::Delete));
        text.delete(Chars(from)..Chars(to))?;
    }
    if kind != 3 {
        insert(text, from, 1 + source.below(3), source, &mut edits)?;
    }
    Ok(edits)
}

fn insert(
    text: &mut EditView<'_, Text>,
    at: usize,
    count: u64,
    source: &mut Source,
    edits: &mut Edits,
) -> Result<(), EditError> {
    let new: String = (0..count).map(|_| letter(source.serial())).collect();
    let mut left = at.checked_sub(1).and_then(|at| text.chars().nth(at));
    let right = text.chars().nth(at);
    for value in new.chars() {
        edits.push(ListOp::Insert { left, value, right });
        left = Some(value);
    }
    text.insert(Chars(at), &new)
}

/// Another character for each number, of one to four bytes and one or two UTF-16 units.
fn letter(serial: u64) -> char {
    let first = match serial % 4 {
        0 if serial < 90 => 0x21,
        1 => 0x400,
        2 => 0x4e00,
        _ => 0x1_f000,
    };
    u32::try_from(serial)
        .ok()
        .and_then(|n| char::from_u32(first + n))
        .unwrap_or('?')
}

pub fn judge<Op>(
    seen: &Seen<'_, Op>,
    meaning: impl Fn(&Op) -> Edits,
    view: &str,
    order: &mut Order<char>,
) -> Result<(), Mismatch> {
    let shown: Vec<char> = view.chars().collect();
    list(seen, meaning, &shown, order)
}
