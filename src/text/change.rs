//! What changes in texts.

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

use super::Text;
use super::sequence::{DeleteRun, InsertRun, Part};
use super::units::Chars;
use crate::clock::{EntryId, Names};
use crate::kernel::Watched;

/// A change in the view of a text; its place is that after all changes before it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum TextChange {
    /// Characters came in.
    Inserted {
        /// Before which character.
        at: Chars,
        /// Which.
        text: String,
    },
    /// Characters went away.
    Deleted {
        /// From which character on.
        at: Chars,
        /// How many.
        count: usize,
    },
}

/// What is remembered of a text: names of elements, so that nothing hangs on how many steps the
/// merge has.
#[derive(Default)]
pub struct TextBefore {
    /// Visible when a step was about to hide them.
    gone: Vec<EntryId>,
    /// Not here when a step was about to bring them.
    new: BTreeSet<EntryId>,
}

/// Deletes from the right, so that no place moves.
fn deletions(places: Vec<usize>) -> Vec<TextChange> {
    let mut changes = Vec::new();
    for place in places.into_iter().rev() {
        match changes.last_mut() {
            Some(TextChange::Deleted { at, count }) if at.0 == place + 1 => {
                *at = Chars(place);
                *count += 1;
            }
            _ => changes.push(TextChange::Deleted {
                at: Chars(place),
                count: 1,
            }),
        }
    }
    changes
}

/// Inserts from the left, so that each place is that of the text as it will be.
fn insertions(characters: Vec<(usize, char)>) -> Vec<TextChange> {
    let mut changes = Vec::new();
    let mut end = None;
    for (place, character) in characters {
        match changes.last_mut() {
            Some(TextChange::Inserted { text, .. }) if end == Some(place) => text.push(character),
            _ => changes.push(TextChange::Inserted {
                at: Chars(place),
                text: String::from(character),
            }),
        }
        end = Some(place + 1);
    }
    changes
}

/// Where elements that are hidden now stood among those visible before, ascending.
///
/// `places` are those where they are hidden, ascending, and `new` those of visible new elements.
fn places_before(places: Vec<usize>, new: &[(usize, char)]) -> Vec<usize> {
    let before = |(gone, place): (usize, usize)| {
        let came = new.partition_point(|(at, _)| *at < place);
        place - came + gone
    };
    places.into_iter().enumerate().map(before).collect()
}

fn elements(run: &InsertRun) -> impl Iterator<Item = EntryId> + '_ {
    (0..run.names.len()).map(|at| run.names.nth(at).at(run.replica))
}

fn targets(run: &DeleteRun) -> impl Iterator<Item = EntryId> + '_ {
    (0..run.targets.len()).map(|at| run.targets.nth(at).at(run.target_replica))
}

impl Watched for Text {
    type Change = TextChange;
    type Before = TextBefore;

    fn remember(&self, part: &Part, _: &Names, before: &mut TextBefore) {
        let visible = |id: &EntryId| self.sequence.is_visible(*id) == Some(true);
        let hidden = part.deletes.iter().flat_map(targets).filter(visible);
        before.gone.extend(hidden);
        let new = part.inserts.iter().flat_map(elements);
        let new = new.filter(|id| !self.sequence.contains(*id));
        before.new.extend(new);
    }

    fn changes(&self, mut before: TextBefore) -> Vec<TextChange> {
        let place = |id: EntryId| self.sequence.position_of(id).map(|at| at.0);
        let shown = |id: &EntryId| Some((place(*id)?, self.sequence.char_of(*id)?));
        let mut came: Vec<(usize, char)> = before.new.iter().filter_map(shown).collect();
        came.sort_unstable();
        // Two steps may hide an element, and one may hide what another has brought.
        before.gone.sort_unstable();
        before.gone.dedup();
        let gone = before.gone.into_iter();
        let gone = gone.filter(|id| !before.new.contains(id));
        let mut places: Vec<usize> = gone.filter_map(place).collect();
        places.sort_unstable();
        let mut changes = deletions(places_before(places, &came));
        changes.extend(insertions(came));
        changes
    }

    fn follow(view: &mut String, change: TextChange) {
        let byte = |view: &String, at: usize| {
            let place = view.char_indices().nth(at);
            place.map_or(view.len(), |(byte, _)| byte)
        };
        match change {
            TextChange::Inserted { at, text } => view.insert_str(byte(view, at.0), &text),
            TextChange::Deleted { at, count } => {
                let start = byte(view, at.0);
                let end = start + byte(&view[start..].into(), count);
                view.drain(start..end);
            }
        }
    }
}
