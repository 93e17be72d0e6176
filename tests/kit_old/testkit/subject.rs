//! What a replicated type implements to be checked.

use std::fmt::Debug;

use commute::kernel::EditError;
use commute::{Replicated, State};

use super::log::{Events, Log};

/// The choices of one update, all held in one number.
#[derive(Debug)]
pub struct Source {
    left: u64,
    serial: u64,
}

impl Source {
    pub const fn new(choice: u64, serial: u64) -> Source {
        Source {
            left: choice,
            serial,
        }
    }

    /// A number below `n`, which is not 0; 0 once the choices are used up.
    pub const fn below(&mut self, n: u64) -> u64 {
        let chosen = self.left % n;
        self.left /= n;
        chosen
    }

    /// A number that no other operation of the run gets.
    pub const fn serial(&mut self) -> u64 {
        self.serial += 1;
        self.serial
    }
}

/// A replicated type under test.
pub trait Subject: Replicated<View: Debug + PartialEq> {
    /// What a user does.
    type Op: Clone + Debug;
    /// What the meaning remembers of earlier views, `()` for most types.
    type Memory: Default;
    /// The name in reports.
    const NAME: &'static str;

    /// Performs one operation, chosen by `source`, and says which; `None` if there is none.
    ///
    /// # Errors
    /// Those of the operation.
    fn act(edit: &mut Self::Edit<'_>, source: &mut Source) -> Result<Option<Self::Op>, EditError>;

    /// Compares `view` with what the operations in `seen` mean.
    ///
    /// # Errors
    /// [`Mismatch`] if it is another.
    fn judge(
        seen: &Seen<'_, Self::Op>,
        view: &Self::View,
        memory: &mut Self::Memory,
    ) -> Result<(), Mismatch>;

    /// What the user reads, if `view` alone does not tell all.
    fn read(state: &State<Self>) -> Self::View {
        state.view()
    }
}

/// A view that is not what it should be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mismatch {
    pub got: String,
    pub expected: String,
}

/// The operations that one replica sees.
#[derive(Debug)]
pub struct Seen<'a, Op> {
    pub log: &'a Log<Op>,
    pub events: &'a Events,
}

/// One operation: its event and its place in it.
#[derive(Debug)]
pub struct Done<'a, Op> {
    pub event: usize,
    pub place: usize,
    pub op: &'a Op,
}

impl<Op> Clone for Done<'_, Op> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<Op> Copy for Done<'_, Op> {}

impl<'a, Op> Seen<'a, Op> {
    /// The operations, in an order that extends happens-before.
    pub fn ops(&self) -> impl Iterator<Item = Done<'a, Op>> {
        let log = self.log;
        self.events.iter().flat_map(move |event| {
            let ops = log.get(event).ops.iter().enumerate();
            ops.map(move |(place, op)| Done { event, place, op })
        })
    }

    /// Whether whoever made `later` had seen `earlier`.
    pub fn before(&self, earlier: Done<'_, Op>, later: Done<'_, Op>) -> bool {
        match earlier.event == later.event {
            true => earlier.place < later.place,
            false => self.log.get(later.event).past.contains(earlier.event),
        }
    }
}
