//! A derived struct: one update touches text, counter and set.

use commute::kernel::EditError;
use commute::testkit::spec::{self, SetOp};
use commute::testkit::{Exercise, Meaning, Seen, Source, TextOp, Verdict};
use commute::{OrSet, PnCounter, Replicated, Text};

#[derive(Replicated)]
pub struct Whole {
    body: Text,
    count: PnCounter,
    tags: OrSet<u8>,
}

/// One operation on one field; an update makes several.
#[derive(Clone, Debug)]
pub enum Play {
    Body(TextOp),
    Count(i64),
    Tags(SetOp<u8>),
}

impl Exercise for Whole {
    type Op = Play;

    fn choose(&self, source: &mut Source<'_>) -> Option<Play> {
        match source.below(3) {
            0 => self.body.choose(source).map(Play::Body),
            1 => self.count.choose(source).map(Play::Count),
            _ => self.tags.choose(source).map(Play::Tags),
        }
    }

    fn perform(whole: &mut WholeEdit<'_>, op: &Play) -> Result<(), EditError> {
        match op {
            Play::Body(op) => Text::perform(&mut whole.body(), op),
            Play::Count(op) => PnCounter::perform(&mut whole.count(), op),
            Play::Tags(op) => OrSet::perform(&mut whole.tags(), op),
        }
    }
}

impl Meaning for Whole {
    fn judge(seen: &Seen<'_, Play>, got: &WholeView) -> Verdict {
        let tags = seen.project(|op| match op {
            Play::Tags(op) => Some(*op),
            _ => None,
        });
        let count = seen.project(|op| match op {
            Play::Count(op) => Some(*op),
            _ => None,
        });
        let body = seen.project(|op| match op {
            Play::Body(op) => Some(op.clone()),
            _ => None,
        });
        spec::add_wins(&tags, &got.tags)
            .and(|| spec::sum(&count, &got.count))
            .and(|| Text::judge(&body, &got.body))
    }
}
