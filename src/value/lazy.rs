//! A replicated value that takes one word until somebody touches it.

use alloc::boxed::Box;

use crate::clock::{Dots, Names, Version};
use crate::codec::{DecodeError, Decoder, Encoder};
use crate::kernel::{EditError, MergeError, Part, Place, Removable, Replicated, ShapeKind, Update};

/// A value at a removable place that is made when it is first written to.
#[derive(Clone, Debug)]
pub struct Lazy<S>(Option<Box<S>>);

impl<S: Removable> Lazy<S> {
    pub(super) fn get(&self) -> Option<&S> {
        self.0.as_deref()
    }

    pub(super) fn get_mut(&mut self) -> &mut S {
        self.0
            .get_or_insert_with(|| Box::new(S::empty(Place::Removable)))
    }

    /// Keeps it while it holds something or is `wanted`.
    pub(super) fn settle(&mut self, wanted: bool) {
        if wanted {
            self.get_mut();
        } else if self.is_bottom() {
            self.0 = None;
        }
    }

    pub(super) fn or_empty<R>(&self, read: impl FnOnce(&S) -> R) -> R {
        match &self.0 {
            Some(inner) => read(inner),
            None => read(&S::empty(Place::Removable)),
        }
    }
}

impl<S: Removable> Replicated for Lazy<S> {
    type Part = S::Part;
    type Edit<'a> = S::Edit<'a>;
    type View = S::View;

    fn kind(_: Place) -> ShapeKind {
        S::kind(Place::Removable)
    }

    fn empty(_: Place) -> Lazy<S> {
        Lazy(None)
    }

    fn edit<'a>(&'a mut self, update: &'a mut Update) -> S::Edit<'a> {
        self.get_mut().edit(update)
    }

    fn view(&self) -> S::View {
        self.or_empty(S::view)
    }

    fn visible(&self) -> bool {
        self.get().is_some_and(S::visible)
    }

    fn is_bottom(&self) -> bool {
        self.get().is_none_or(S::is_bottom)
    }

    fn entries(&self) -> u64 {
        self.get().map_or(0, S::entries)
    }

    fn names(&self, of: &Dots, out: &mut Names) {
        if let Some(inner) = self.get() {
            inner.names(of, out);
        }
    }

    fn part(&self, of: &Dots) -> S::Part {
        self.get().map(|inner| inner.part(of)).unwrap_or_default()
    }

    fn check(&self, part: &S::Part, known: &Version) -> Result<u64, MergeError> {
        match part.is_empty() {
            true => Ok(0),
            false => self.or_empty(|inner| inner.check(part, known)),
        }
    }

    fn check_kill(&self, names: &Names) -> Result<(), MergeError> {
        self.get().map_or(Ok(()), |inner| inner.check_kill(names))
    }

    fn kill(&mut self, names: &Names) {
        if let Some(inner) = &mut self.0 {
            inner.kill(names);
        }
    }

    fn adopt(&mut self, part: S::Part, known: &Version) {
        if !part.is_empty() {
            self.get_mut().adopt(part, known);
        }
    }

    fn check_join(
        &self,
        mine: &Version,
        other: &Lazy<S>,
        theirs: &Version,
    ) -> Result<u64, MergeError> {
        match other.get() {
            Some(other) => self.or_empty(|inner| inner.check_join(mine, other, theirs)),
            None => Ok(0),
        }
    }

    fn join(&mut self, mine: &Version, other: &Lazy<S>, theirs: &Version) {
        match other.get() {
            Some(other) => self.get_mut().join(mine, other, theirs),
            None => {
                if let Some(inner) = &mut self.0 {
                    inner.join(mine, &S::empty(Place::Removable), theirs);
                }
            }
        }
    }

    fn publish(&mut self, update: &Update) -> S::Part {
        let inner = self.0.as_mut();
        inner.map(|inner| inner.publish(update)).unwrap_or_default()
    }

    fn rollback(&mut self) {
        if let Some(inner) = &mut self.0 {
            inner.rollback();
        }
    }

    fn encode(&self, encoder: &mut Encoder, _: Place) {
        self.or_empty(|inner| inner.encode(encoder, Place::Removable));
    }

    fn decode(decoder: &mut Decoder<'_>, _: Place) -> Result<Lazy<S>, DecodeError> {
        let inner = S::decode(decoder, Place::Removable)?;
        Ok(Lazy(Some(Box::new(inner))))
    }
}

impl<S: Removable> Removable for Lazy<S> {
    fn reset(&mut self, update: &mut Update) -> Result<(), EditError> {
        match &mut self.0 {
            Some(inner) => inner.reset(update),
            None => Ok(()),
        }
    }
}
