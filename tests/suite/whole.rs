//! A derived struct: one update touches text, counter and set.

use commute::kernel::EditError;
use commute::{OrSet, PnCounter, Replicated, Text};

use super::text::Edits;
use super::{counters, or_set, text};
use crate::testkit::spec::{Change, Order, add_wins, same, sum};
use crate::testkit::{Mismatch, Seen, Source, Subject};

#[derive(Replicated)]
pub struct Whole {
    body: Text,
    count: PnCounter,
    tags: OrSet<u8>,
}

/// One operation on one field; an update makes several.
#[derive(Clone, Debug)]
pub enum Play {
    Body(Edits),
    Count(i64),
    Tags(Change<u8>),
}

impl Subject for Whole {
    type Op = Play;
    type Memory = Order<char>;
    const NAME: &'static str = "Whole { Text, PnCounter, OrSet<u8> }";

    fn act(whole: &mut WholeEdit<'_>, source: &mut Source) -> Result<Option<Play>, EditError> {
        Ok(Some(match source.below(4) {
            0 => Play::Count(counters::act(&mut whole.count(), source)?),
            1 => Play::Tags(or_set::act(&mut whole.tags(), source)?),
            _ => Play::Body(text::act(&mut whole.body(), source)?),
        }))
    }

    fn judge(
        seen: &Seen<'_, Play>,
        view: &WholeView,
        order: &mut Order<char>,
    ) -> Result<(), Mismatch> {
        let tags = |op: &Play| match op {
            Play::Tags(change) => Some(*change),
            _ => None,
        };
        let count = |op: &Play| match op {
            Play::Count(amount) => i128::from(*amount),
            _ => 0,
        };
        same(&view.tags, &add_wins(seen, tags))?;
        same(&view.count, &sum(seen, count))?;
        let body = |op: &Play| match op {
            Play::Body(edits) => edits.clone(),
            _ => Edits::new(),
        };
        text::judge(seen, body, &view.body, order)
    }
}
