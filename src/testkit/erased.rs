//! Replicas, operations and views of a type that the engines do not know.
//!
//! The engines are compiled once, for these, and not once more for every type under test: what a
//! type adds is one table of short functions. Each value is asked for its type when it is used; a
//! table is made of the functions of one type, so another one cannot come.

use std::any::Any;
use std::fmt::{self, Debug};
use std::rc::Rc;

use super::fingerprint::Fingerprint;
use super::source::Source;
use super::subject::{Outcome, Subject};
use crate::clock::ReplicaId;

/// The value as what it is.
#[allow(clippy::expect_used, reason = "a broken invariant of this file")]
pub(crate) fn cast<V: 'static>(erased: &dyn Any) -> &V {
    erased.downcast_ref().expect("an erased value of this type")
}

/// A replica.
pub(crate) struct DynSubject(Box<dyn Replicated>);

/// What every [`Subject`] can do, for [`DynSubject`].
trait Replicated: Any + Debug {
    fn duplicate(&self) -> DynSubject;
    fn fork_as(&self, replica: ReplicaId) -> DynSubject;
    fn choose(&self, source: &mut Source<'_>) -> Option<DynOp>;
    fn perform(&mut self, op: &DynOp) -> Outcome;
    fn view(&self) -> DynView;
    fn same_view(&self, other: &DynSubject) -> bool;
    fn shows(&self, view: &DynView) -> bool;
    fn fingerprint(&self, out: &mut Fingerprint);
    fn tick(&mut self, ms: u64);
    fn invariant(&self) -> Result<(), String>;
}

impl<T: Subject> Replicated for T {
    fn duplicate(&self) -> DynSubject {
        DynSubject::new(T::duplicate(self))
    }

    fn fork_as(&self, replica: ReplicaId) -> DynSubject {
        DynSubject::new(T::fork_as(self, replica))
    }

    fn choose(&self, source: &mut Source<'_>) -> Option<DynOp> {
        T::choose(self, source).map(DynOp::new)
    }

    fn perform(&mut self, op: &DynOp) -> Outcome {
        T::perform(self, op.get())
    }

    fn view(&self) -> DynView {
        DynView::new(T::view(self))
    }

    fn same_view(&self, other: &DynSubject) -> bool {
        T::view(self) == T::view(other.get())
    }

    fn shows(&self, view: &DynView) -> bool {
        T::view(self) == *view.get::<T::View>()
    }

    fn fingerprint(&self, out: &mut Fingerprint) {
        T::fingerprint(self, out);
    }

    fn tick(&mut self, ms: u64) {
        T::tick(self, ms);
    }

    fn invariant(&self) -> Result<(), String> {
        T::invariant(self)
    }
}

impl DynSubject {
    pub fn new(subject: impl Subject) -> DynSubject {
        DynSubject(Box::new(subject))
    }

    pub fn get<T: Subject>(&self) -> &T {
        let any: &dyn Any = &*self.0;
        cast(any)
    }

    #[allow(clippy::expect_used, reason = "a broken invariant of this file")]
    pub fn get_mut<T: Subject>(&mut self) -> &mut T {
        let any: &mut dyn Any = &mut *self.0;
        any.downcast_mut().expect("an erased value of this type")
    }

    pub fn duplicate(&self) -> DynSubject {
        self.0.duplicate()
    }

    pub fn fork_as(&self, replica: ReplicaId) -> DynSubject {
        self.0.fork_as(replica)
    }

    pub fn choose(&self, source: &mut Source<'_>) -> Option<DynOp> {
        self.0.choose(source)
    }

    pub fn perform(&mut self, op: &DynOp) -> Outcome {
        self.0.perform(op)
    }

    pub fn view(&self) -> DynView {
        self.0.view()
    }

    /// Whether its view is this one.
    pub fn shows(&self, view: &DynView) -> bool {
        self.0.shows(view)
    }

    /// Whether both show the same.
    pub fn same_view(&self, other: &DynSubject) -> bool {
        self.0.same_view(other)
    }

    pub fn fingerprint(&self, out: &mut Fingerprint) {
        self.0.fingerprint(out);
    }

    pub fn tick(&mut self, ms: u64) {
        self.0.tick(ms);
    }

    pub fn invariant(&self) -> Result<(), String> {
        self.0.invariant()
    }
}

impl Debug for DynSubject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// An operation.
#[derive(Clone)]
pub(crate) struct DynOp(Rc<dyn Operation>);

trait Operation: Any + Debug {}

impl<Op: Debug + 'static> Operation for Op {}

impl DynOp {
    pub fn new<Op: Debug + 'static>(op: Op) -> DynOp {
        DynOp(Rc::new(op))
    }

    pub fn get<Op: 'static>(&self) -> &Op {
        let any: &dyn Any = &*self.0;
        cast(any)
    }
}

impl Debug for DynOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What a user sees.
pub(crate) struct DynView(Box<dyn Shown>);

trait Shown: Any + Debug {
    fn same(&self, other: &DynView) -> bool;
}

impl<V: PartialEq + Debug + 'static> Shown for V {
    fn same(&self, other: &DynView) -> bool {
        self == other.get::<V>()
    }
}

impl DynView {
    fn new<V: PartialEq + Debug + 'static>(view: V) -> DynView {
        DynView(Box::new(view))
    }

    pub fn get<V: 'static>(&self) -> &V {
        let any: &dyn Any = &*self.0;
        cast(any)
    }
}

impl PartialEq for DynView {
    fn eq(&self, other: &DynView) -> bool {
        self.0.same(other)
    }
}

impl Debug for DynView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
