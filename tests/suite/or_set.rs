//! `OrSet` as a subject.

use std::collections::BTreeSet;

use commute::OrSet;
use commute::kernel::{EditError, EditView};

use crate::testkit::spec::{Change, add_wins, same};
use crate::testkit::{Mismatch, Seen, Source, Subject};

impl Subject for OrSet<u8> {
    type Op = Change<u8>;
    type Memory = ();
    const NAME: &'static str = "OrSet<u8>";

    fn act(
        set: &mut EditView<'_, OrSet<u8>>,
        source: &mut Source,
    ) -> Result<Option<Change<u8>>, EditError> {
        act(set, source).map(Some)
    }

    fn judge(
        seen: &Seen<'_, Change<u8>>,
        view: &BTreeSet<u8>,
        (): &mut (),
    ) -> Result<(), Mismatch> {
        same(view, &add_wins(seen, |op| Some(*op)))
    }
}

/// Two elements only, so that operations meet.
pub fn act(
    set: &mut EditView<'_, OrSet<u8>>,
    source: &mut Source,
) -> Result<Change<u8>, EditError> {
    let kind = source.below(8);
    let value = source.below(2) as u8;
    Ok(match kind {
        0..4 => {
            set.insert(value)?;
            Change::Put(value, ())
        }
        4..7 => {
            set.remove(&value)?;
            Change::Remove(value)
        }
        _ => {
            set.clear()?;
            Change::Clear
        }
    })
}
