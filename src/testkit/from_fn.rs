//! A subject from closures, without a trait of its own.

use std::any::{Any, TypeId};
use std::collections::BTreeMap;
use std::fmt::{self, Debug};
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, PoisonError};

use super::capabilities::Capabilities;
use super::source::Source;
use super::subject::{Outcome, Rejected, StateBased, Subject};
use crate::clock::ReplicaId;

/// The capabilities of a type that merges, from five closures: an empty state, an operation that is
/// possible now, how replica `me` does it, how another state is merged in, and what a user sees.
///
/// States are compared by `==`, which must leave a replica's own id aside where they hold one.
///
/// The closures must not capture anything; one that does is refused when the test is compiled. They
/// are told apart by their types, so each call of this function in a program makes a subject of its
/// own.
///
/// # Examples
/// ```
/// use std::collections::BTreeMap;
/// use commute::ReplicaId;
/// use commute::testkit::{Outcome, Random, from_fn, spec};
///
/// let can = from_fn(
///     || BTreeMap::<ReplicaId, u64>::new(),
///     |_, source| Some(1 + source.below(3)),
///     |counts, me, amount: &u64| {
///         *counts.entry(me).or_default() += amount;
///         Outcome::Done
///     },
///     |counts, theirs| {
///         for (id, count) in theirs {
///             let mine = counts.entry(*id).or_default();
///             *mine = (*mine).max(*count);
///         }
///     },
///     |counts| counts.values().sum::<u64>(),
/// );
/// Random::of(can.spec(spec::sum)).schedules(100).run().unwrap_clean();
/// ```
pub fn from_fn<T, Op, View, N, C, P, M, V>(
    new: N,
    choose: C,
    perform: P,
    merge: M,
    view: V,
) -> Capabilities<FromFn<T, Op, View, (N, C, P, M, V)>>
where
    T: Clone + PartialEq + Debug + 'static,
    Op: Clone + Debug + 'static,
    View: PartialEq + Debug + 'static,
    N: Fn() -> T + Send + Sync + 'static,
    C: Fn(&T, &mut Source<'_>) -> Option<Op> + Send + Sync + 'static,
    P: Fn(&mut T, ReplicaId, &Op) -> Outcome + Send + Sync + 'static,
    M: Fn(&mut T, &T) + Send + Sync + 'static,
    V: Fn(&T) -> View + Send + Sync + 'static,
{
    const {
        assert!(
            size_of::<(N, C, P, M, V)>() == 0,
            "the closures must not capture anything"
        );
    }
    register((new, choose, perform, merge, view));
    Capabilities::new().state()
}

/// The closures by their types: [`Subject::new`] has nothing else to find them by.
///
/// Without captures two closures of one type do the same, so it does not matter who came first.
static FUNCTIONS: Mutex<BTreeMap<TypeId, Arc<dyn Any + Send + Sync>>> = Mutex::new(BTreeMap::new());

fn register<F: Send + Sync + 'static>(functions: F) {
    let mut all = FUNCTIONS.lock().unwrap_or_else(PoisonError::into_inner);
    all.entry(TypeId::of::<F>())
        .or_insert_with(|| Arc::new(functions));
}

fn registered<F: Send + Sync + 'static>() -> Arc<F> {
    let all = FUNCTIONS.lock().unwrap_or_else(PoisonError::into_inner);
    let found = all.get(&TypeId::of::<F>()).cloned();
    match found.map(Arc::downcast) {
        Some(Ok(functions)) => functions,
        _ => panic!("a subject of closures comes from `from_fn`"),
    }
}

/// A replica of a subject of closures; see [`from_fn`].
pub struct FromFn<T, Op, View, F> {
    /// Its id.
    pub me: ReplicaId,
    /// Its state.
    pub state: T,
    functions: Arc<F>,
    types: PhantomData<fn() -> (Op, View)>,
}

impl<T: Debug, Op, View, F> Debug for FromFn<T, Op, View, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FromFn")
            .field("me", &self.me)
            .field("state", &self.state)
            .finish()
    }
}

impl<T, Op, View, N, C, P, M, V> Subject for FromFn<T, Op, View, (N, C, P, M, V)>
where
    T: Clone + PartialEq + Debug + 'static,
    Op: Clone + Debug + 'static,
    View: PartialEq + Debug + 'static,
    N: Fn() -> T + Send + Sync + 'static,
    C: Fn(&T, &mut Source<'_>) -> Option<Op> + Send + Sync + 'static,
    P: Fn(&mut T, ReplicaId, &Op) -> Outcome + Send + Sync + 'static,
    M: Fn(&mut T, &T) + Send + Sync + 'static,
    V: Fn(&T) -> View + Send + Sync + 'static,
{
    type Op = Op;
    type View = View;

    fn new(replica: ReplicaId) -> Self {
        let functions = registered::<(N, C, P, M, V)>();
        FromFn {
            me: replica,
            state: (functions.0)(),
            functions,
            types: PhantomData,
        }
    }

    fn duplicate(&self) -> Self {
        FromFn {
            me: self.me,
            state: self.state.clone(),
            functions: Arc::clone(&self.functions),
            types: PhantomData,
        }
    }

    fn choose(&self, source: &mut Source<'_>) -> Option<Op> {
        (self.functions.1)(&self.state, source)
    }

    fn perform(&mut self, op: &Op) -> Outcome {
        (self.functions.2)(&mut self.state, self.me, op)
    }

    fn view(&self) -> View {
        (self.functions.4)(&self.state)
    }

    fn name() -> String {
        super::name::short(std::any::type_name::<T>())
    }
}

impl<T, Op, View, N, C, P, M, V> StateBased for FromFn<T, Op, View, (N, C, P, M, V)>
where
    T: Clone + PartialEq + Debug + 'static,
    Op: Clone + Debug + 'static,
    View: PartialEq + Debug + 'static,
    N: Fn() -> T + Send + Sync + 'static,
    C: Fn(&T, &mut Source<'_>) -> Option<Op> + Send + Sync + 'static,
    P: Fn(&mut T, ReplicaId, &Op) -> Outcome + Send + Sync + 'static,
    M: Fn(&mut T, &T) + Send + Sync + 'static,
    V: Fn(&T) -> View + Send + Sync + 'static,
{
    fn merge(&mut self, other: &Self) -> Result<(), Rejected> {
        (self.functions.3)(&mut self.state, &other.state);
        Ok(())
    }

    fn same_state(&self, other: &Self) -> bool {
        self.state == other.state
    }
}
