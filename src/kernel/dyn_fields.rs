//! The fields of a struct whose type is not known here.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use super::dynamic::{Dyn, DynPart, Dynamic};
use super::fields;
use super::{
    EditError, EditView, MergeError, Part, Place, Removable, Replicated, ShapeKind, Update,
};
use crate::clock::{Dots, Names, ReplicaId, Version};
use crate::codec::{DecodeError, DecodeErrorKind as Kind, Decoder, Encoder, Unknown};

/// Fields by tag, ascending; each holds something, but for what the running update has emptied.
///
/// The child of a map whose type is not known has the shape that the map says instead of fields: it
/// is the only field, with the tag [`BARE`].
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct DynFields<D>(Vec<(u32, D)>);

/// The fields of a state.
pub(crate) type StateFields = DynFields<Dyn>;

/// Some entries of them.
pub(crate) type PartFields = DynFields<DynPart>;

/// No field of a struct has this tag.
const BARE: u32 = 0;

impl<D> Default for DynFields<D> {
    fn default() -> DynFields<D> {
        DynFields(Vec::new())
    }
}

impl<D: Dynamic> DynFields<D> {
    /// The child of a map that is no struct of known fields.
    pub(super) fn bare(child: D) -> DynFields<D> {
        DynFields([(BARE, child)].into())
    }

    fn get(&self, tag: u32) -> Option<&D> {
        let at = self.0.binary_search_by_key(&tag, |(tag, _)| *tag).ok()?;
        self.0.get(at).map(|(_, field)| field)
    }

    /// The field `tag`, first made by `new` if it is not there.
    fn entry(&mut self, tag: u32, new: impl FnOnce() -> D) -> &mut D {
        let at = match self.0.binary_search_by_key(&tag, |(tag, _)| *tag) {
            Ok(at) => at,
            Err(at) => {
                // Most have one field for ever.
                self.0.reserve_exact(1);
                self.0.insert(at, (tag, new()));
                at
            }
        };
        &mut self.0[at].1
    }

    fn values(&self) -> impl Iterator<Item = &D> {
        self.0.iter().map(|(_, field)| field)
    }

    fn values_mut(&mut self) -> impl Iterator<Item = &mut D> {
        self.0.iter_mut().map(|(_, field)| field)
    }

    fn drop_hollow(&mut self) {
        self.0.retain(|(_, field)| !field.is_hollow());
    }

    /// Whether there is a field that holds something.
    fn holds_nothing(&self) -> bool {
        self.values().all(D::is_hollow)
    }

    /// Reads a field that was passed over, and puts it where it belongs.
    pub(super) fn read(
        &mut self,
        decoder: &mut Decoder<'_>,
        unknown: &Unknown,
        place: Place,
    ) -> Result<(), DecodeError> {
        let field = decoder.revisit(unknown, |d| d.deeper(|d| read_field(d, place)))?;
        let mut fields = self;
        let (last, structs) = unknown.path().split_last().unwrap_or((&BARE, &[]));
        for tag in structs {
            // Only structs have fields that can be passed over.
            let within = fields.entry(*tag, || D::of_fields(DynFields::default()));
            let Some(inner) = within.fields_mut() else {
                return Err(decoder.error(Kind::Inconsistent));
            };
            fields = inner;
        }
        fields.entry(*last, || field);
        Ok(())
    }

    fn write(&self, encoder: &mut Encoder, place: Place) {
        if let [(BARE, child)] = self.0.as_slice() {
            return child.write(encoder, place);
        }
        let held = || self.0.iter().filter(|(_, field)| !field.is_hollow());
        encoder.varint(held().count() as u64);
        for (tag, field) in held() {
            fields::encode(encoder, *tag, field.shape(), |e| field.write(e, place));
        }
    }

    fn read_all(decoder: &mut Decoder<'_>, place: Place) -> Result<DynFields<D>, DecodeError> {
        let mut all = DynFields::default();
        fields::decode(decoder, |tag, d| {
            let field = read_nested(d, place)?;
            all.entry(tag, || field);
            Ok(())
        })?;
        Ok(all)
    }
}

/// Reads the shape of a field, and the field.
fn read_field<D: Dynamic>(decoder: &mut Decoder<'_>, place: Place) -> Result<D, DecodeError> {
    let shape = decoder.any_shape()?;
    let field = D::read(decoder, shape, place)?;
    decoder.require(!field.is_hollow(), Kind::NotCanonical)?;
    Ok(field)
}

/// Reads a field of an unknown struct.
///
/// The fields of this crate's own structs are no level of nesting, those of derived ones are. Which
/// it is cannot be seen, and a peer must not refuse what others take; so they are none here, and
/// structs in structs are counted by themselves, which bounds the depth as well.
fn read_nested<D: Dynamic>(decoder: &mut Decoder<'_>, place: Place) -> Result<D, DecodeError> {
    match decoder.next_byte() == Some(ShapeKind::Struct as u8) {
        true => decoder.in_struct(|d| read_field(d, place)),
        false => read_field(decoder, place),
    }
}

impl Replicated for StateFields {
    type Part = PartFields;
    type Edit<'a> = EditView<'a, StateFields>;
    type View = ();

    fn kind(_: Place) -> ShapeKind {
        ShapeKind::Struct
    }

    fn empty(_: Place) -> StateFields {
        DynFields::default()
    }

    fn edit<'a>(&'a mut self, update: &'a mut Update) -> EditView<'a, StateFields> {
        EditView::new(self, update)
    }

    fn view(&self) {}

    fn visible(&self) -> bool {
        false
    }

    fn is_bottom(&self) -> bool {
        self.holds_nothing()
    }

    fn entries(&self) -> u64 {
        self.values().map(Dyn::entries).sum()
    }

    fn names(&self, of: &Dots, out: &mut Names) {
        self.values().for_each(|field| field.names(of, out));
    }

    fn part(&self, of: &Dots) -> PartFields {
        let parts = self.0.iter().map(|(tag, field)| (*tag, field.part(of)));
        DynFields(parts.filter(|(_, part)| !part.is_hollow()).collect())
    }

    fn check(&self, part: &PartFields, known: &Version) -> Result<u64, MergeError> {
        let mut common = 0;
        for (tag, theirs) in &part.0 {
            common += match self.get(*tag) {
                Some(field) => field.check(theirs, known)?,
                None => Dyn::for_part(theirs).check(theirs, known)?,
            };
        }
        Ok(common)
    }

    fn check_kill(&self, names: &Names) -> Result<(), MergeError> {
        self.values().try_for_each(|field| field.check_kill(names))
    }

    fn kill(&mut self, names: &Names) {
        self.values_mut().for_each(|field| field.kill(names));
        self.drop_hollow();
    }

    fn adopt(&mut self, part: PartFields, known: &Version) {
        for (tag, theirs) in part.0 {
            let field = self.entry(tag, || Dyn::for_part(&theirs));
            field.adopt(theirs, known);
        }
        self.drop_hollow();
    }

    fn check_join(
        &self,
        mine: &Version,
        other: &StateFields,
        theirs: &Version,
    ) -> Result<u64, MergeError> {
        let mut common = 0;
        for (tag, field) in &other.0 {
            common += match self.get(*tag) {
                Some(held) => held.check_join(mine, field, theirs)?,
                None => field.hollow().check_join(mine, field, theirs)?,
            };
        }
        Ok(common)
    }

    fn join(&mut self, mine: &Version, other: &StateFields, theirs: &Version) {
        for (tag, held) in &mut self.0 {
            match other.get(*tag) {
                Some(field) => held.join(mine, field, theirs),
                None => held.join(mine, &held.hollow(), theirs),
            }
        }
        for (tag, field) in &other.0 {
            if self.get(*tag).is_none() {
                let new = self.entry(*tag, || field.hollow());
                new.join(mine, field, theirs);
            }
        }
        self.drop_hollow();
    }

    fn publish(&mut self, update: &Update) -> PartFields {
        let parts = self.0.iter_mut();
        let parts = parts.map(|(tag, field)| (*tag, field.publish(update)));
        let part = DynFields(parts.filter(|(_, part)| !part.is_hollow()).collect());
        self.drop_hollow();
        part
    }

    fn rollback(&mut self) {
        self.values_mut().for_each(Dyn::rollback);
    }

    fn encode(&self, encoder: &mut Encoder, place: Place) {
        self.write(encoder, place);
    }

    fn decode(decoder: &mut Decoder<'_>, place: Place) -> Result<StateFields, DecodeError> {
        DynFields::read_all(decoder, place)
    }
}

impl Removable for StateFields {
    fn reset(&mut self, update: &mut Update) -> Result<(), EditError> {
        self.values_mut().try_for_each(|field| field.reset(update))
    }
}

impl Part for PartFields {
    fn kind(_: Place) -> ShapeKind {
        ShapeKind::Struct
    }

    fn is_empty(&self) -> bool {
        self.holds_nothing()
    }

    fn entries(&self) -> u64 {
        self.values().map(DynPart::entries).sum()
    }

    fn names(&self, out: &mut Names) {
        self.values().for_each(|field| field.names(out));
    }

    fn replicas(&self, out: &mut BTreeSet<ReplicaId>) {
        self.values().for_each(|field| field.replicas(out));
    }

    fn restrict(&mut self, dots: &Dots) {
        self.values_mut().for_each(|field| field.restrict(dots));
        self.drop_hollow();
    }

    fn remove(&mut self, names: &Names) {
        self.values_mut().for_each(|field| field.remove(names));
        self.drop_hollow();
    }

    fn union(&mut self, other: PartFields) -> Result<(), MergeError> {
        for (tag, theirs) in other.0 {
            match self.0.binary_search_by_key(&tag, |(tag, _)| *tag) {
                Ok(at) => self.0[at].1.union(theirs)?,
                Err(at) => self.0.insert(at, (tag, theirs)),
            }
        }
        Ok(())
    }

    fn content(&self, out: &mut Vec<u8>) {
        for (tag, field) in self.0.iter().filter(|(_, field)| !field.is_hollow()) {
            match *tag {
                BARE => field.content(out),
                tag => fields::frame(out, tag, |out| field.content(out)),
            }
        }
    }

    fn encode(&self, encoder: &mut Encoder, place: Place) {
        self.write(encoder, place);
    }

    fn decode(decoder: &mut Decoder<'_>, place: Place) -> Result<PartFields, DecodeError> {
        DynFields::read_all(decoder, place)
    }
}
