//! The counters as subjects.

use commute::kernel::{EditError, EditView};
use commute::{GCounter, PnCounter};

use crate::testkit::spec::{same, sum};
use crate::testkit::{Mismatch, Seen, Source, Subject};

impl Subject for GCounter {
    type Op = u64;
    type Memory = ();
    const NAME: &'static str = "GCounter";

    fn act(
        counter: &mut EditView<'_, GCounter>,
        source: &mut Source,
    ) -> Result<Option<u64>, EditError> {
        let amount = source.below(4);
        counter.add(amount)?;
        Ok(Some(amount))
    }

    fn judge(seen: &Seen<'_, u64>, view: &u128, (): &mut ()) -> Result<(), Mismatch> {
        same(&(*view as i128), &sum(seen, |amount| i128::from(*amount)))
    }
}

impl Subject for PnCounter {
    type Op = i64;
    type Memory = ();
    const NAME: &'static str = "PnCounter";

    fn act(
        counter: &mut EditView<'_, PnCounter>,
        source: &mut Source,
    ) -> Result<Option<i64>, EditError> {
        act(counter, source).map(Some)
    }

    fn judge(seen: &Seen<'_, i64>, view: &i128, (): &mut ()) -> Result<(), Mismatch> {
        same(view, &sum(seen, |amount| i128::from(*amount)))
    }
}

/// Adds or subtracts up to 3.
pub fn act(counter: &mut EditView<'_, PnCounter>, source: &mut Source) -> Result<i64, EditError> {
    let amount = source.below(4);
    match source.below(2) {
        0 => counter.add(amount).map(|()| amount as i64),
        _ => counter.subtract(amount).map(|()| -(amount as i64)),
    }
}
