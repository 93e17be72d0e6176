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

/// What is different in the order of elements.
pub(crate) struct Difference {
    /// Where elements stood that are hidden now, ascending.
    pub gone: Vec<usize>,
    /// Where visible new elements stand, ascending.
    pub came: Vec<(usize, EntryId)>,
}

impl TextBefore {
    /// Whether this element is new.
    pub(crate) fn is_new(&self, id: EntryId) -> bool {
        self.new.contains(&id)
    }

    pub(crate) fn difference(mut self, text: &Text) -> Difference {
        let shown = |id: &EntryId| Some((text.position_of(*id)?, *id));
        let mut came: Vec<(usize, EntryId)> = self.new.iter().filter_map(shown).collect();
        came.sort_unstable();
        // Two steps may hide an element, and one may hide what another has brought.
        self.gone.sort_unstable();
        self.gone.dedup();
        self.gone.retain(|id| !self.new.contains(id));
        let place = |id: &EntryId| Some(text.sequence.position_of(*id)?.0);
        let mut places: Vec<usize> = self.gone.iter().filter_map(place).collect();
        places.sort_unstable();
        Difference {
            gone: places_before(places, &came),
            came,
        }
    }
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
fn insertions(characters: impl Iterator<Item = (usize, char)>) -> Vec<TextChange> {
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
fn places_before(places: Vec<usize>, new: &[(usize, EntryId)]) -> Vec<usize> {
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

    fn changes(&self, before: TextBefore) -> Vec<TextChange> {
        let Difference { gone, came } = before.difference(self);
        let mut changes = deletions(gone);
        let character = |(place, id)| Some((place, self.sequence.char_of(id)?));
        changes.extend(insertions(came.into_iter().filter_map(character)));
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
