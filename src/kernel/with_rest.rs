//! A value and the fields of it that its type does not know.

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use super::dyn_fields::{DynFields, PartFields, StateFields};
use super::dynamic::{Dyn, DynPart, Dynamic};
use super::{EditError, MergeError, Part, Place, Removable, Replicated, ShapeKind, Update, weave};
use crate::clock::{Dots, EntryId, Names, ReplicaId, Version};
use crate::codec::{DecodeError, Decoder, Encoder};

/// What is unknown; `None` if it would hold nothing.
type Rest<D> = Option<Box<DynFields<D>>>;

/// A value as a container holds it: with the fields, at any depth of structs, that peers with a
/// newer type have and this one does not.
///
/// A struct has no room for them, so the container keeps them beside it: a state for its root, a
/// map for each key. One word where nothing is unknown. In bytes and seals both are one struct.
#[derive(Clone, Debug)]
pub(crate) struct WithRest<S> {
    pub(crate) value: S,
    rest: Rest<Dyn>,
}

impl<S> From<S> for WithRest<S> {
    fn from(value: S) -> WithRest<S> {
        WithRest { value, rest: None }
    }
}

impl<S> WithRest<S> {
    /// Changes what is unknown.
    fn with_rest<T>(&mut self, change: impl FnOnce(&mut StateFields) -> T) -> T {
        let mut rest = self.rest.take().unwrap_or_default();
        let result = change(&mut rest);
        self.rest = Some(rest).filter(|rest| !rest.is_bottom());
        result
    }
}

impl<S: Replicated> Replicated for WithRest<S> {
    type Part = WithRestPart<S::Part>;
    type Edit<'a> = S::Edit<'a>;
    type View = S::View;

    const HAS_LOCAL: bool = S::HAS_LOCAL;

    fn kind(place: Place) -> ShapeKind {
        S::kind(place)
    }

    fn empty(place: Place) -> WithRest<S> {
        WithRest::from(S::empty(place))
    }

    fn edit<'a>(&'a mut self, update: &'a mut Update) -> S::Edit<'a> {
        self.value.edit(update)
    }

    fn view(&self) -> S::View {
        self.value.view()
    }

    fn visible(&self) -> bool {
        self.value.visible()
    }

    fn is_bottom(&self) -> bool {
        self.value.is_bottom() && self.rest.is_none()
    }

    fn entries(&self) -> u64 {
        self.value.entries() + self.rest.as_ref().map_or(0, |rest| rest.entries())
    }

    fn names(&self, of: &Dots, out: &mut Names) {
        self.value.names(of, out);
        self.rest.iter().for_each(|rest| rest.names(of, out));
    }

    fn for_each_entry(&self, of: &Dots, visit: &mut dyn FnMut(EntryId)) {
        self.value.for_each_entry(of, visit);
        let rest = self.rest.iter();
        rest.for_each(|rest| rest.for_each_entry(of, visit));
    }

    // Only structs have fields that are unknown, and these are neither.
    fn is_one_place() -> bool {
        S::is_one_place()
    }

    fn checks_names() -> bool {
        S::checks_names()
    }

    fn common(&self, other: &Self, theirs: &Version) -> Option<u64> {
        self.value.common(&other.value, theirs)
    }

    fn part(&self, of: &Dots) -> WithRestPart<S::Part> {
        let rest = self.rest.as_ref().map(|rest| rest.part(of));
        WithRestPart::new(self.value.part(of), rest)
    }

    fn check(&self, part: &WithRestPart<S::Part>, known: &Version) -> Result<u64, MergeError> {
        let common = self.value.check(&part.value, known)?;
        let rest = match (&self.rest, &part.rest) {
            (_, None) => 0,
            (Some(rest), Some(part)) => rest.check(part, known)?,
            (None, Some(part)) => StateFields::default().check(part, known)?,
        };
        Ok(common + rest)
    }

    fn check_kill(&self, names: &Names) -> Result<(), MergeError> {
        self.value.check_kill(names)?;
        self.rest.iter().try_for_each(|rest| rest.check_kill(names))
    }

    fn kill(&mut self, names: &Names) {
        self.value.kill(names);
        if self.rest.is_some() {
            self.with_rest(|rest| rest.kill(names));
        }
    }

    fn adopt(&mut self, part: WithRestPart<S::Part>, known: &Version) {
        self.value.adopt(part.value, known);
        if let Some(part) = part.rest {
            self.with_rest(|rest| rest.adopt(*part, known));
        }
    }

    fn check_join(
        &self,
        mine: &Version,
        other: &WithRest<S>,
        theirs: &Version,
    ) -> Result<u64, MergeError> {
        let common = self.value.check_join(mine, &other.value, theirs)?;
        let rest = match (&self.rest, &other.rest) {
            (_, None) => 0,
            (Some(rest), Some(other)) => rest.check_join(mine, other, theirs)?,
            (None, Some(other)) => StateFields::default().check_join(mine, other, theirs)?,
        };
        Ok(common + rest)
    }

    fn join(&mut self, mine: &Version, other: &WithRest<S>, theirs: &Version) {
        self.value.join(mine, &other.value, theirs);
        match &other.rest {
            Some(other) => self.with_rest(|rest| rest.join(mine, other, theirs)),
            None if self.rest.is_some() => {
                self.with_rest(|rest| rest.join(mine, &StateFields::default(), theirs));
            }
            None => {}
        }
    }

    fn publish(&mut self, update: &Update) -> WithRestPart<S::Part> {
        let part = self.value.publish(update);
        if self.rest.is_none() {
            return WithRestPart::new(part, None);
        }
        let rest = self.with_rest(|rest| rest.publish(update));
        WithRestPart::new(part, Some(rest))
    }

    fn rollback(&mut self) {
        self.value.rollback();
        self.rest.iter_mut().for_each(|rest| rest.rollback());
    }

    fn take_local(&mut self, from: &WithRest<S>) {
        self.value.take_local(&from.value);
    }

    fn encode(&self, encoder: &mut Encoder, place: Place) {
        match &self.rest {
            None => self.value.encode(encoder, place),
            Some(rest) => encode(
                encoder,
                |e| self.value.encode(e, place),
                |e| rest.encode(e, place),
            ),
        }
    }

    fn decode(decoder: &mut Decoder<'_>, place: Place) -> Result<WithRest<S>, DecodeError> {
        let (value, rest) = decode(decoder, S::kind(place), place, |d| S::decode(d, place))?;
        Ok(WithRest { value, rest })
    }
}

impl<S: Removable> Removable for WithRest<S> {
    fn reset(&mut self, update: &mut Update) -> Result<(), EditError> {
        self.value.reset(update)?;
        // What is dead now stays in place until the update ends, so that it can be undone.
        self.rest.iter_mut().try_for_each(|rest| rest.reset(update))
    }
}

/// Writes two structs as one.
fn encode(
    encoder: &mut Encoder,
    known: impl FnOnce(&mut Encoder),
    rest: impl FnOnce(&mut Encoder),
) {
    let known = encoder.aside(known);
    let rest = encoder.aside(rest);
    encoder.raw(&weave::bytes(&known, &rest));
}

/// Reads with `read`, and keeps what it finds unknown.
fn decode<T, D: Dynamic>(
    decoder: &mut Decoder<'_>,
    kind: ShapeKind,
    place: Place,
    read: impl FnOnce(&mut Decoder<'_>) -> Result<T, DecodeError>,
) -> Result<(T, Rest<D>), DecodeError> {
    if kind != ShapeKind::Struct {
        return Ok((read(decoder)?, None));
    }
    let (value, unknown) = decoder.keeping_unknown(read)?;
    let mut rest = DynFields::default();
    for field in &unknown {
        rest.read(decoder, field, place)?;
    }
    let rest = Some(rest).filter(|_| !unknown.is_empty());
    Ok((value, rest.map(Box::new)))
}

/// Some entries of a [`WithRest`].
#[derive(Clone, Default, PartialEq, Debug)]
pub(crate) struct WithRestPart<P> {
    pub(crate) value: P,
    rest: Rest<DynPart>,
}

impl<P> From<P> for WithRestPart<P> {
    fn from(value: P) -> WithRestPart<P> {
        WithRestPart { value, rest: None }
    }
}

impl<P> WithRestPart<P> {
    fn new(value: P, rest: Option<PartFields>) -> WithRestPart<P> {
        let rest = rest.filter(|rest| !rest.is_empty()).map(Box::new);
        WithRestPart { value, rest }
    }

    /// Changes what is unknown, if there is anything.
    fn with_rest(&mut self, change: impl FnOnce(&mut PartFields)) {
        if let Some(rest) = &mut self.rest {
            change(rest);
            self.rest = self.rest.take().filter(|rest| !rest.is_empty());
        }
    }
}

impl<P: Part> Part for WithRestPart<P> {
    fn kind(place: Place) -> ShapeKind {
        P::kind(place)
    }

    fn is_empty(&self) -> bool {
        self.value.is_empty() && self.rest.is_none()
    }

    fn entries(&self) -> u64 {
        self.value.entries() + self.rest.as_ref().map_or(0, |rest| rest.entries())
    }

    fn names(&self, out: &mut Names) {
        self.value.names(out);
        self.rest.iter().for_each(|rest| rest.names(out));
    }

    fn for_each_entry(&self, visit: &mut dyn FnMut(EntryId)) {
        self.value.for_each_entry(visit);
        self.rest.iter().for_each(|rest| rest.for_each_entry(visit));
    }

    fn replicas(&self, out: &mut BTreeSet<ReplicaId>) {
        self.value.replicas(out);
        self.rest.iter().for_each(|rest| rest.replicas(out));
    }

    fn restrict(&mut self, dots: &Dots) {
        self.value.restrict(dots);
        self.with_rest(|rest| rest.restrict(dots));
    }

    fn remove(&mut self, names: &Names) {
        self.value.remove(names);
        self.with_rest(|rest| rest.remove(names));
    }

    fn union(&mut self, other: WithRestPart<P>) -> Result<(), MergeError> {
        self.value.union(other.value)?;
        match (&mut self.rest, other.rest) {
            (Some(rest), Some(other)) => rest.union(*other)?,
            (None, other) => self.rest = other,
            (Some(_), None) => {}
        }
        Ok(())
    }

    fn content(&self, out: &mut Vec<u8>) {
        let Some(rest) = &self.rest else {
            return self.value.content(out);
        };
        let (mut known, mut unknown) = (Vec::new(), Vec::new());
        self.value.content(&mut known);
        rest.content(&mut unknown);
        out.append(&mut weave::content(&known, &unknown));
    }

    fn encode(&self, encoder: &mut Encoder, place: Place) {
        match &self.rest {
            None => self.value.encode(encoder, place),
            Some(rest) => encode(
                encoder,
                |e| self.value.encode(e, place),
                |e| rest.encode(e, place),
            ),
        }
    }

    fn decode(decoder: &mut Decoder<'_>, place: Place) -> Result<WithRestPart<P>, DecodeError> {
        let (value, rest) = decode(decoder, P::kind(place), place, |d| P::decode(d, place))?;
        Ok(WithRestPart { value, rest })
    }
}
