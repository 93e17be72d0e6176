//! Values whose types are not known here, by the shapes that the wire says they have.
//!
//! The join looks at dots and shapes and never at payloads, so such a value merges, is removed,
//! answers and is written as where its type is known. Payloads and keys are kept as their bytes:
//! equal ones have equal bytes, and the bytes of keys are in the order of the keys.

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::fmt::Debug;

use super::dyn_fields::{DynFields, PartFields, StateFields};
use super::with_rest::{WithRest, WithRestPart};
use super::{
    DotFun, DotMap, DotMapPart, DotSet, EditError, Fault, Latest, MergeError, Part, Place,
    Removable, Replicated, ShapeKind, Update,
};
use crate::Text;
use crate::clock::{Dots, Names, ReplicaId, Version};
use crate::codec::{DecodeError, DecodeErrorKind as Kind, Decoder, Encoder};

type Bytes = Vec<u8>;

/// What is kept under a tag: a value or some of its entries.
pub(crate) trait Dynamic: Sized + Debug {
    /// The shape on the wire.
    fn shape(&self) -> ShapeKind;

    /// Whether it holds nothing.
    fn is_hollow(&self) -> bool;

    /// A struct of these fields.
    fn of_fields(fields: DynFields<Self>) -> Self;

    /// The fields, if it is a struct.
    fn fields_mut(&mut self) -> Option<&mut DynFields<Self>>;

    /// Writes it without its shape.
    fn write(&self, encoder: &mut Encoder, place: Place);

    /// Reads what has this shape.
    fn read(decoder: &mut Decoder<'_>, shape: ShapeKind, place: Place)
    -> Result<Self, DecodeError>;
}

/// A value of any type.
#[derive(Clone, Debug)]
pub(crate) enum Dyn {
    Set(DotSet),
    Fun(DotFun<Bytes>),
    Latest(Latest<Bytes>),
    Map(Box<DynMap>),
    Struct(StateFields),
    Seq(Box<Text>),
}

/// Some entries of a [`Dyn`].
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum DynPart {
    Set(<DotSet as Replicated>::Part),
    Fun(<DotFun<Bytes> as Replicated>::Part),
    Latest(<Latest<Bytes> as Replicated>::Part),
    Map(DynMapPart),
    Struct(PartFields),
    Seq(<Text as Replicated>::Part),
}

/// Makes a call on whatever shape there is.
macro_rules! each {
    ($dyn:ident, $value:expr, $inner:ident => $call:expr) => {
        match $value {
            $dyn::Set($inner) => $call,
            $dyn::Fun($inner) => $call,
            $dyn::Latest($inner) => $call,
            $dyn::Map($inner) => $call,
            $dyn::Struct($inner) => $call,
            $dyn::Seq($inner) => $call,
        }
    };
}

/// Makes a call on two of one shape.
macro_rules! both {
    ($pair:expr, ($one:ident, $two:ident), ($a:ident, $b:ident) => $call:expr, _ => $other:expr) => {
        match $pair {
            ($one::Set($a), $two::Set($b)) => $call,
            ($one::Fun($a), $two::Fun($b)) => $call,
            ($one::Latest($a), $two::Latest($b)) => $call,
            ($one::Map($a), $two::Map($b)) => $call,
            ($one::Struct($a), $two::Struct($b)) => $call,
            ($one::Seq($a), $two::Seq($b)) => $call,
            _ => $other,
        }
    };
}

/// The shape of a field never changes.
const RESHAPED: MergeError = MergeError::Invalid(Fault::Reshaped);

impl Dyn {
    /// Nothing, in the shape of `part`.
    pub(super) fn for_part(part: &DynPart) -> Dyn {
        let child = match part {
            DynPart::Map(map) => map.child,
            _ => ShapeKind::DotSet,
        };
        Dyn::nothing(part.shape(), child)
    }

    /// Nothing, in the same shape.
    pub(super) fn hollow(&self) -> Dyn {
        let child = match self {
            Dyn::Map(map) => map.child,
            _ => ShapeKind::DotSet,
        };
        Dyn::nothing(self.shape(), child)
    }

    /// Nothing, of this shape; of a map also that of its children.
    fn nothing(shape: ShapeKind, child: ShapeKind) -> Dyn {
        // No shape depends on the place where it stands.
        let place = Place::Removable;
        match shape {
            ShapeKind::DotSet => Dyn::Set(DotSet::empty(place)),
            ShapeKind::DotFun => Dyn::Fun(DotFun::empty(place)),
            ShapeKind::Latest => Dyn::Latest(Latest::empty(place)),
            ShapeKind::DotMap => Dyn::Map(Box::new(DynMap {
                child,
                map: DotMap::empty(place),
            })),
            ShapeKind::Struct => Dyn::Struct(DynFields::default()),
            ShapeKind::Seq => Dyn::Seq(Box::new(Text::empty(place))),
        }
    }

    pub(super) fn entries(&self) -> u64 {
        each!(Dyn, self, inner => inner.entries())
    }

    pub(super) fn names(&self, of: &Dots, out: &mut Names) {
        each!(Dyn, self, inner => inner.names(of, out));
    }

    pub(super) fn part(&self, of: &Dots) -> DynPart {
        match self {
            Dyn::Set(inner) => DynPart::Set(inner.part(of)),
            Dyn::Fun(inner) => DynPart::Fun(inner.part(of)),
            Dyn::Latest(inner) => DynPart::Latest(inner.part(of)),
            Dyn::Map(inner) => DynPart::Map(inner.part(of)),
            Dyn::Struct(inner) => DynPart::Struct(inner.part(of)),
            Dyn::Seq(inner) => DynPart::Seq(inner.part(of)),
        }
    }

    pub(super) fn check(&self, part: &DynPart, known: &Version) -> Result<u64, MergeError> {
        both!((self, part), (Dyn, DynPart), (a, b) => a.check(b, known), _ => Err(RESHAPED))
    }

    pub(super) fn check_kill(&self, names: &Names) -> Result<(), MergeError> {
        each!(Dyn, self, inner => inner.check_kill(names))
    }

    pub(super) fn kill(&mut self, names: &Names) {
        each!(Dyn, self, inner => inner.kill(names));
    }

    /// Takes what was checked, so the shape is the same.
    pub(super) fn adopt(&mut self, part: DynPart, known: &Version) {
        both!((self, part), (Dyn, DynPart), (a, b) => a.adopt(b, known), _ => {});
    }

    pub(super) fn check_join(
        &self,
        mine: &Version,
        other: &Dyn,
        theirs: &Version,
    ) -> Result<u64, MergeError> {
        both!(
            (self, other), (Dyn, Dyn), (a, b) => a.check_join(mine, b, theirs), _ => Err(RESHAPED)
        )
    }

    /// Joins with what was checked, so the shape is the same.
    pub(super) fn join(&mut self, mine: &Version, other: &Dyn, theirs: &Version) {
        both!((self, other), (Dyn, Dyn), (a, b) => a.join(mine, b, theirs), _ => {});
    }

    pub(super) fn publish(&mut self, update: &Update) -> DynPart {
        match self {
            Dyn::Set(inner) => DynPart::Set(inner.publish(update)),
            Dyn::Fun(inner) => DynPart::Fun(inner.publish(update)),
            Dyn::Latest(inner) => DynPart::Latest(inner.publish(update)),
            Dyn::Map(inner) => DynPart::Map(inner.publish(update)),
            Dyn::Struct(inner) => DynPart::Struct(inner.publish(update)),
            Dyn::Seq(inner) => DynPart::Seq(inner.publish(update)),
        }
    }

    pub(super) fn rollback(&mut self) {
        each!(Dyn, self, inner => inner.rollback());
    }

    pub(super) fn reset(&mut self, update: &mut Update) -> Result<(), EditError> {
        match self {
            Dyn::Set(inner) => inner.reset(update),
            Dyn::Fun(inner) => inner.reset(update),
            Dyn::Map(inner) => inner.map.reset(update),
            Dyn::Struct(inner) => inner.reset(update),
            Dyn::Seq(inner) => inner.reset(update),
            // Refused where it could be reset, see `read`.
            Dyn::Latest(_) => Ok(()),
        }
    }
}

/// Rows of replicas cannot be removed, so they cannot stand where something may be.
fn check_place(decoder: &Decoder<'_>, shape: ShapeKind, place: Place) -> Result<(), DecodeError> {
    let fits = shape != ShapeKind::Latest || place == Place::Kept;
    let unknown = shape as u32;
    decoder.require(fits, Kind::NeedsNewer { unknown })
}

impl Dynamic for Dyn {
    fn shape(&self) -> ShapeKind {
        match self {
            Dyn::Set(_) => ShapeKind::DotSet,
            Dyn::Fun(_) => ShapeKind::DotFun,
            Dyn::Latest(_) => ShapeKind::Latest,
            Dyn::Map(_) => ShapeKind::DotMap,
            Dyn::Struct(_) => ShapeKind::Struct,
            Dyn::Seq(_) => ShapeKind::Seq,
        }
    }

    fn is_hollow(&self) -> bool {
        each!(Dyn, self, inner => inner.is_bottom())
    }

    fn of_fields(fields: StateFields) -> Dyn {
        Dyn::Struct(fields)
    }

    fn fields_mut(&mut self) -> Option<&mut StateFields> {
        match self {
            Dyn::Struct(fields) => Some(fields),
            _ => None,
        }
    }

    fn write(&self, encoder: &mut Encoder, place: Place) {
        each!(Dyn, self, inner => inner.encode(encoder, place));
    }

    fn read(decoder: &mut Decoder<'_>, shape: ShapeKind, place: Place) -> Result<Dyn, DecodeError> {
        check_place(decoder, shape, place)?;
        Ok(match shape {
            ShapeKind::DotSet => Dyn::Set(DotSet::decode(decoder, place)?),
            ShapeKind::DotFun => Dyn::Fun(DotFun::decode(decoder, place)?),
            ShapeKind::Latest => Dyn::Latest(Latest::decode(decoder, place)?),
            ShapeKind::DotMap => Dyn::Map(Box::new(DynMap::decode(decoder)?)),
            ShapeKind::Struct => Dyn::Struct(Replicated::decode(decoder, place)?),
            ShapeKind::Seq => Dyn::Seq(Box::new(Text::decode(decoder, place)?)),
        })
    }
}

impl DynPart {
    pub(super) fn entries(&self) -> u64 {
        each!(DynPart, self, inner => inner.entries())
    }

    pub(super) fn names(&self, out: &mut Names) {
        each!(DynPart, self, inner => inner.names(out));
    }

    pub(super) fn replicas(&self, out: &mut BTreeSet<ReplicaId>) {
        each!(DynPart, self, inner => inner.replicas(out));
    }

    pub(super) fn restrict(&mut self, dots: &Dots) {
        each!(DynPart, self, inner => inner.restrict(dots));
    }

    pub(super) fn remove(&mut self, names: &Names) {
        each!(DynPart, self, inner => inner.remove(names));
    }

    pub(super) fn union(&mut self, other: DynPart) -> Result<(), MergeError> {
        both!((self, other), (DynPart, DynPart), (a, b) => a.union(b), _ => Err(RESHAPED))
    }

    pub(super) fn content(&self, out: &mut Vec<u8>) {
        each!(DynPart, self, inner => inner.content(out));
    }
}

impl Dynamic for DynPart {
    fn shape(&self) -> ShapeKind {
        match self {
            DynPart::Set(_) => ShapeKind::DotSet,
            DynPart::Fun(_) => ShapeKind::DotFun,
            DynPart::Latest(_) => ShapeKind::Latest,
            DynPart::Map(_) => ShapeKind::DotMap,
            DynPart::Struct(_) => ShapeKind::Struct,
            DynPart::Seq(_) => ShapeKind::Seq,
        }
    }

    fn is_hollow(&self) -> bool {
        each!(DynPart, self, inner => inner.is_empty())
    }

    fn of_fields(fields: PartFields) -> DynPart {
        DynPart::Struct(fields)
    }

    fn fields_mut(&mut self) -> Option<&mut PartFields> {
        match self {
            DynPart::Struct(fields) => Some(fields),
            _ => None,
        }
    }

    fn write(&self, encoder: &mut Encoder, place: Place) {
        each!(DynPart, self, inner => inner.encode(encoder, place));
    }

    fn read(
        decoder: &mut Decoder<'_>,
        shape: ShapeKind,
        place: Place,
    ) -> Result<DynPart, DecodeError> {
        check_place(decoder, shape, place)?;
        Ok(match shape {
            ShapeKind::DotSet => DynPart::Set(Part::decode(decoder, place)?),
            ShapeKind::DotFun => DynPart::Fun(Part::decode(decoder, place)?),
            ShapeKind::Latest => DynPart::Latest(Part::decode(decoder, place)?),
            ShapeKind::DotMap => DynPart::Map(DynMapPart::decode(decoder)?),
            ShapeKind::Struct => DynPart::Struct(Part::decode(decoder, place)?),
            ShapeKind::Seq => DynPart::Seq(Part::decode(decoder, place)?),
        })
    }
}

/// A map of any keys and children.
#[derive(Clone, Debug)]
pub(crate) struct DynMap {
    /// The shape of all children.
    child: ShapeKind,
    map: DotMap<Bytes, StateFields>,
}

impl DynMap {
    fn is_bottom(&self) -> bool {
        self.map.is_bottom()
    }

    fn entries(&self) -> u64 {
        self.map.entries()
    }

    fn names(&self, of: &Dots, out: &mut Names) {
        self.map.names(of, out);
    }

    fn part(&self, of: &Dots) -> DynMapPart {
        DynMapPart {
            child: self.child,
            map: self.map.part(of),
        }
    }

    fn check(&self, part: &DynMapPart, known: &Version) -> Result<u64, MergeError> {
        match self.child == part.child {
            true => self.map.check(&part.map, known),
            false => Err(RESHAPED),
        }
    }

    fn check_kill(&self, names: &Names) -> Result<(), MergeError> {
        self.map.check_kill(names)
    }

    fn kill(&mut self, names: &Names) {
        self.map.kill(names);
    }

    fn adopt(&mut self, part: DynMapPart, known: &Version) {
        self.map.adopt(part.map, known);
    }

    fn check_join(
        &self,
        mine: &Version,
        other: &DynMap,
        theirs: &Version,
    ) -> Result<u64, MergeError> {
        match self.child == other.child {
            true => self.map.check_join(mine, &other.map, theirs),
            false => Err(RESHAPED),
        }
    }

    fn join(&mut self, mine: &Version, other: &DynMap, theirs: &Version) {
        self.map.join(mine, &other.map, theirs);
    }

    fn publish(&mut self, update: &Update) -> DynMapPart {
        DynMapPart {
            child: self.child,
            map: self.map.publish(update),
        }
    }

    fn rollback(&mut self) {
        self.map.rollback();
    }

    fn encode(&self, encoder: &mut Encoder, _: Place) {
        self.map.encode_as(self.child, encoder);
    }

    fn decode(decoder: &mut Decoder<'_>) -> Result<DynMap, DecodeError> {
        let child = decoder.any_shape()?;
        let read = |d: &mut Decoder<'_>| {
            let child = Dyn::read(d, child, Place::Removable)?;
            Ok(WithRest::from(DynFields::bare(child)))
        };
        let map = DotMap::decode_children(decoder, read)?;
        Ok(DynMap { child, map })
    }
}

/// Some entries of a [`DynMap`].
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct DynMapPart {
    child: ShapeKind,
    map: DotMapPart<Bytes, PartFields>,
}

impl DynMapPart {
    fn is_empty(&self) -> bool {
        self.map.is_empty()
    }

    fn entries(&self) -> u64 {
        self.map.entries()
    }

    fn names(&self, out: &mut Names) {
        self.map.names(out);
    }

    fn replicas(&self, out: &mut BTreeSet<ReplicaId>) {
        self.map.replicas(out);
    }

    fn restrict(&mut self, dots: &Dots) {
        self.map.restrict(dots);
    }

    fn remove(&mut self, names: &Names) {
        self.map.remove(names);
    }

    fn union(&mut self, other: DynMapPart) -> Result<(), MergeError> {
        match self.child == other.child {
            true => self.map.union(other.map),
            false => Err(RESHAPED),
        }
    }

    fn content(&self, out: &mut Vec<u8>) {
        self.map.content(out);
    }

    fn encode(&self, encoder: &mut Encoder, _: Place) {
        self.map.encode_as(self.child, encoder);
    }

    fn decode(decoder: &mut Decoder<'_>) -> Result<DynMapPart, DecodeError> {
        let child = decoder.any_shape()?;
        let read = |d: &mut Decoder<'_>| {
            let child = DynPart::read(d, child, Place::Removable)?;
            Ok(WithRestPart::from(DynFields::bare(child)))
        };
        let map = DotMapPart::decode_children(decoder, read)?;
        Ok(DynMapPart { child, map })
    }
}
