//! Flags as subjects.

use crate::flag::{DwFlag, EwFlag};
use crate::kernel::{EditError, EditView};
use crate::testkit::replica::{Exercise, Meaning};
use crate::testkit::spec::{self, FlagOp};
use crate::testkit::{Seen, Source, Verdict};

fn choose(source: &mut Source<'_>) -> Option<FlagOp> {
    source.pick(&[FlagOp::Enable, FlagOp::Disable]).copied()
}

impl Exercise for EwFlag {
    type Op = FlagOp;

    fn choose(&self, source: &mut Source<'_>) -> Option<FlagOp> {
        choose(source)
    }

    fn perform(flag: &mut EditView<'_, EwFlag>, op: &FlagOp) -> Result<(), EditError> {
        match op {
            FlagOp::Enable => flag.enable(),
            FlagOp::Disable => flag.disable(),
        }
    }
}

impl Meaning for EwFlag {
    fn judge(seen: &Seen<'_, FlagOp>, got: &bool) -> Verdict {
        spec::flag_enable_wins(seen, got)
    }
}

impl Exercise for DwFlag {
    type Op = FlagOp;

    fn choose(&self, source: &mut Source<'_>) -> Option<FlagOp> {
        choose(source)
    }

    fn perform(flag: &mut EditView<'_, DwFlag>, op: &FlagOp) -> Result<(), EditError> {
        match op {
            FlagOp::Enable => flag.enable(),
            FlagOp::Disable => flag.disable(),
        }
    }
}

impl Meaning for DwFlag {
    fn judge(seen: &Seen<'_, FlagOp>, got: &bool) -> Verdict {
        spec::flag_disable_wins(seen, got)
    }
}
