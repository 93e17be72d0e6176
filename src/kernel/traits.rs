//! What a replicated type is made of.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::fmt::Debug;

use super::{EditError, MergeError, Update};
use crate::clock::{Dots, EntryId, Names, ReplicaId, Version};
use crate::codec::{DecodeError, Decoder, Encoder};

/// Where a value stands; containers decide it, and it fixes the form a counter takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Place {
    /// A place that is never removed, such as a field of the root.
    Kept,
    /// A place that may be removed as a whole, such as the value under a map key.
    Removable,
}

/// The closed set of shapes, as written on the wire.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
#[repr(u8)]
pub enum ShapeKind {
    /// A set of entries.
    DotSet = 1,
    /// Entries with payloads.
    DotFun = 2,
    /// The newest entry of each replica.
    Latest = 3,
    /// Keys with a shape each.
    DotMap = 4,
    /// Fields by tag.
    Struct = 5,
    /// An ordered sequence.
    Seq = 6,
}

impl ShapeKind {
    pub(crate) const LAST: u8 = ShapeKind::Seq as u8;

    /// The shape with this number, if there is one.
    pub(crate) fn from_number(number: u8) -> Option<ShapeKind> {
        let all = [
            ShapeKind::DotSet,
            ShapeKind::DotFun,
            ShapeKind::Latest,
            ShapeKind::DotMap,
            ShapeKind::Struct,
            ShapeKind::Seq,
        ];
        all.into_iter().find(|kind| *kind as u8 == number)
    }
}

/// A replicated value: a store of entries. Implemented by the types of this crate and, for structs
/// of them, by `#[derive(Replicated)]`.
///
/// The methods below are what [`Replica`](crate::Replica) is built on; programs call the replica.
/// Every method that takes foreign content is preceded by its check, so none of them can fail half
/// way.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a replicated type",
    note = "use `Text`, `OrSet<T>`, a counter, or a struct of these with `#[derive(Replicated)]`"
)]
pub trait Replicated: Sized + Send + Sync + 'static {
    /// A fragment of a state: some live entries.
    type Part: Part;
    /// The view through which an update changes the value.
    type Edit<'a>
    where
        Self: 'a;
    /// The plain value that a user sees.
    type View;
    /// Whether there are fields that are not replicated, here or below.
    const HAS_LOCAL: bool = false;

    /// The shape on the wire at `place`.
    fn kind(place: Place) -> ShapeKind;

    /// The value nobody has touched.
    fn empty(place: Place) -> Self;

    /// The edit view of this value within `update`.
    fn edit<'a>(&'a mut self, update: &'a mut Update) -> Self::Edit<'a>;

    /// A copy of the plain value that a user sees. O(size).
    fn view(&self) -> Self::View;

    /// Whether a container shows this value.
    fn visible(&self) -> bool;

    /// Whether nothing is stored, so that a container may drop it.
    fn is_bottom(&self) -> bool;

    /// The number of live entries.
    fn entries(&self) -> u64;

    /// Adds to `out` the live entries created by `of`.
    fn names(&self, of: &Dots, out: &mut Names);

    /// Calls `visit` with each of the live entries created by `of`.
    fn for_each_entry(&self, of: &Dots, visit: &mut dyn FnMut(EntryId)) {
        let mut names = Names::new();
        self.names(of, &mut names);
        names.iter().for_each(visit);
    }

    /// Whether all entries stand at one place and can be killed, so that
    /// [`check_join`](Replicated::check_join) alone tells all that is live on both sides.
    fn is_one_place() -> bool {
        false
    }

    /// Whether [`decode`](Replicated::decode) makes sure that each entry is there once and that its
    /// update is known, so that nobody need collect the names of all.
    fn checks_names() -> bool {
        false
    }

    /// How many entries are live on both sides, wherever they stand, if that is cheap to tell and all
    /// of them can be killed.
    fn common(&self, other: &Self, theirs: &Version) -> Option<u64> {
        let _ = (other, theirs);
        None
    }

    /// The live entries created by `of`, with their content.
    fn part(&self, of: &Dots) -> Self::Part;

    /// Checks that [`adopt`](Replicated::adopt) can take `part`, and that entries live on both
    /// sides are equal.
    ///
    /// Returns how many are live on both sides at the same place.
    ///
    /// # Errors
    /// See [`MergeError`].
    fn check(&self, part: &Self::Part, known: &Version) -> Result<u64, MergeError>;

    /// Checks that the live entries among `names` may be killed from outside.
    ///
    /// # Errors
    /// [`MergeError::NeedsNewer`] for entries of sequences, which only a collection kills.
    fn check_kill(&self, names: &Names) -> Result<(), MergeError>;

    /// Drops the live entries among `names`.
    fn kill(&mut self, names: &Names);

    /// Adds the entries of `part` whose updates `known` does not include.
    fn adopt(&mut self, part: Self::Part, known: &Version);

    /// The check before [`join`](Replicated::join), as [`check`](Replicated::check).
    ///
    /// # Errors
    /// See [`MergeError`].
    fn check_join(&self, mine: &Version, other: &Self, theirs: &Version)
    -> Result<u64, MergeError>;

    /// Joins with another whole state: what is live on both sides stays, what is live on one side
    /// stays if the other has not seen its update.
    fn join(&mut self, mine: &Version, other: &Self, theirs: &Version);

    /// Ends `update` here: returns what it created and forgets how to undo it. O(update).
    fn publish(&mut self, update: &Update) -> Self::Part;

    /// Undoes everything since the last [`publish`](Replicated::publish). O(update).
    fn rollback(&mut self);

    /// Takes copies of the fields that are not replicated from another copy of this value.
    fn take_local(&mut self, from: &Self) {
        let _ = from;
    }

    /// Writes the state of a value at `place`.
    fn encode(&self, encoder: &mut Encoder, place: Place);

    /// Reads a state written by [`encode`](Replicated::encode).
    ///
    /// # Errors
    /// See [`DecodeError`].
    fn decode(decoder: &mut Decoder<'_>, place: Place) -> Result<Self, DecodeError>;
}

/// A replicated value that may stand at a [`Place::Removable`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot stand under a map key or in a list",
    note = "what stands there is reset when it is removed: use a replicated type that is `Removable`; the page of one that is not says why"
)]
pub trait Removable: Replicated {
    /// Removes everything that is seen here, as part of `update`; what is added concurrently stays.
    ///
    /// # Errors
    /// See [`EditError`].
    fn reset(&mut self, update: &mut Update) -> Result<(), EditError>;
}

/// A fragment of a state, as deltas carry it: entries with their content.
pub trait Part: Clone + Default + PartialEq + Debug + Send + Sync + 'static {
    /// The shape on the wire at `place`.
    fn kind(place: Place) -> ShapeKind;

    /// Whether there are no entries.
    fn is_empty(&self) -> bool;

    /// The number of entries.
    fn entries(&self) -> u64;

    /// Adds the names of the entries to `out`.
    fn names(&self, out: &mut Names);

    /// Calls `visit` with the name of each entry.
    fn for_each_entry(&self, visit: &mut dyn FnMut(EntryId)) {
        let mut names = Names::new();
        self.names(&mut names);
        names.iter().for_each(visit);
    }

    /// Adds the replicas named anywhere in the content to `out`.
    fn replicas(&self, out: &mut BTreeSet<ReplicaId>);

    /// Keeps only the entries created by `dots`.
    fn restrict(&mut self, dots: &Dots);

    /// Drops the entries `names`, which are dead in another delta that is about to be joined in.
    fn remove(&mut self, names: &Names);

    /// Adds the entries of `other`.
    ///
    /// # Errors
    /// [`MergeError::IdentityReused`] if a common entry differs.
    fn union(&mut self, other: Self) -> Result<(), MergeError>;

    /// Appends what a seal covers: each entry's place and payload; of a sequence the text inserted
    /// and where, and what was deleted.
    fn content(&self, out: &mut Vec<u8>);

    /// Writes the fragment of a value at `place`.
    fn encode(&self, encoder: &mut Encoder, place: Place);

    /// Reads a fragment written by [`encode`](Part::encode).
    ///
    /// # Errors
    /// See [`DecodeError`].
    fn decode(decoder: &mut Decoder<'_>, place: Place) -> Result<Self, DecodeError>;
}
