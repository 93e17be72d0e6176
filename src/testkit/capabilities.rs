//! What a type can do, as a table that the engines read.

use std::any::Any;
use std::rc::Rc;
use std::sync::Arc;

use super::golden::Golden;
use super::seen::Seen;
use super::subject::{
    Applied, Collecting, Delivery, DeltaBased, Gaps, OpBased, Outcome, Persisted, Rejected,
    Specified, StateBased, Subject, Verdict, Versioned,
};
use crate::clock::{Dot, Dots, ReplicaId, Version};

/// A delta, a message or a `seen`, whatever its type.
pub(crate) type Erased = Rc<dyn Any>;

/// Which capabilities of `T` a run uses: what is not named here is not tested.
///
/// # Examples
/// `Capabilities::<MyType>::new().state().encoded().specified()`
pub struct Capabilities<T: Subject> {
    pub(crate) state: Option<StateTable<T>>,
    pub(crate) delta: Option<DeltaTable<T>>,
    pub(crate) ops: Option<OpTable<T>>,
    pub(crate) bytes: Option<BytesTable<T>>,
    pub(crate) collect: Option<CollectTable<T>>,
    pub(crate) version: Option<VersionTable<T>>,
    pub(crate) golden: Arc<Golden>,
    pub(crate) spec: Option<Spec<T>>,
}

pub(crate) type Spec<T> = Arc<
    dyn Fn(&Seen<'_, <T as Subject>::Op>, &<T as Subject>::View) -> Verdict + Send + Sync + 'static,
>;

pub(crate) struct StateTable<T> {
    pub merge: fn(&mut T, &T) -> Result<(), Rejected>,
    pub same: fn(&T, &T) -> bool,
}

pub(crate) struct DeltaTable<T> {
    pub gaps: Gaps,
    pub seen: fn(&T) -> Erased,
    pub since: fn(&T, &dyn Any) -> Erased,
    pub absorb: fn(&mut T, &dyn Any) -> Result<Applied, Rejected>,
    pub transmit: fn(&dyn Any) -> Result<Erased, Rejected>,
    pub group: fn(&dyn Any, &dyn Any) -> Option<Erased>,
    pub beyond: fn(&dyn Any, &dyn Any) -> Option<Erased>,
    pub bound: fn(&T, &dyn Any) -> Result<(), String>,
    pub debug: fn(&dyn Any) -> String,
}

pub(crate) struct OpTable<T: Subject> {
    pub needs: Delivery,
    pub duplicates: bool,
    pub detects: bool,
    pub produce: fn(&mut T, &T::Op) -> (Outcome, Vec<Erased>),
    pub outbox: fn(&mut T) -> Vec<Erased>,
    pub receive: fn(&mut T, &dyn Any) -> Result<Applied, Rejected>,
    pub transmit: fn(&dyn Any) -> Result<Erased, Rejected>,
    pub group: fn(&dyn Any, &dyn Any) -> Option<Erased>,
    pub debug: fn(&dyn Any) -> String,
}

pub(crate) struct BytesTable<T> {
    pub keeps_waiting: bool,
    pub encode: fn(&T) -> Vec<u8>,
    pub decode: fn(&[u8], ReplicaId) -> Result<T, Rejected>,
    pub save: fn(&T) -> Vec<u8>,
    pub resume: fn(&[u8], ReplicaId) -> Result<T, Rejected>,
}

pub(crate) struct CollectTable<T> {
    pub collect: fn(&mut T, &Version) -> Result<(), Rejected>,
    pub size_max: fn(&T, usize) -> usize,
}

pub(crate) struct VersionTable<T> {
    pub included: fn(&T) -> Dots,
    pub heads: fn(&T) -> Dots,
    pub last_update: fn(&T) -> Option<Dot>,
    pub waiting: fn(&T) -> usize,
    pub missing: fn(&T) -> Dots,
    pub drop_waiting: fn(&mut T),
    pub drop_records: fn(&mut T),
}

impl<T: Subject> Capabilities<T> {
    /// None yet: the replicas cannot even talk to each other.
    pub fn new() -> Capabilities<T> {
        Capabilities {
            state: None,
            delta: None,
            ops: None,
            bytes: None,
            collect: None,
            version: None,
            spec: None,
            golden: Arc::default(),
        }
    }

    /// Merges whole states.
    #[must_use]
    pub fn state(mut self) -> Self
    where
        T: StateBased,
    {
        self.state = Some(StateTable {
            merge: T::merge,
            same: T::same_state,
        });
        self
    }

    /// Exchanges deltas; and merges states, which every delta type can.
    #[must_use]
    pub fn delta(mut self) -> Self
    where
        T: DeltaBased,
    {
        self.delta = Some(DeltaTable {
            gaps: T::GAPS,
            seen: |replica| Rc::new(replica.seen()),
            since: |replica, seen| Rc::new(replica.delta_since(cast(seen))),
            absorb: |replica, delta| replica.absorb(cast(delta)),
            transmit: |delta| Ok(Rc::new(<T as DeltaBased>::transmit(cast(delta))?)),
            group: |a, b| Some(Rc::new(<T as DeltaBased>::group(cast(a), cast(b))?)),
            beyond: |delta, seen| Some(Rc::new(T::beyond(cast(delta), cast(seen))?)),
            bound: |replica, delta| replica.delta_bound(cast(delta)),
            debug: |delta| format!("{:?}", cast::<T::Delta>(delta)),
        });
        self.state()
    }

    /// Exchanges operations.
    #[must_use]
    pub fn operations(mut self) -> Self
    where
        T: OpBased,
    {
        self.ops = Some(OpTable {
            needs: T::NEEDS,
            duplicates: T::DUPLICATES,
            detects: T::DETECTS,
            produce: |replica, op| {
                let (outcome, messages) = replica.produce(op);
                (outcome, erased(messages))
            },
            outbox: |replica| erased(replica.outbox()),
            receive: |replica, message| replica.receive(cast(message)),
            transmit: |message| Ok(Rc::new(<T as OpBased>::transmit(cast(message))?)),
            group: |a, b| Some(Rc::new(<T as OpBased>::group(cast(a), cast(b))?)),
            debug: |message| format!("{:?}", cast::<T::Message>(message)),
        });
        self
    }

    /// Becomes bytes and comes back: stored states, crashes, restarts.
    #[must_use]
    pub fn encoded(mut self) -> Self
    where
        T: Persisted,
    {
        self.bytes = Some(BytesTable {
            keeps_waiting: T::KEEPS_WAITING,
            encode: T::encode,
            decode: T::decode,
            save: T::save,
            resume: T::resume,
        });
        self
    }

    /// Bytes that older releases wrote: they are read before anything else is tried (P4). Besides,
    /// it must be `encoded`.
    #[must_use]
    pub fn golden(mut self, golden: Golden) -> Self {
        self.golden = Arc::new(golden);
        self
    }

    /// Drops what everyone has seen.
    #[must_use]
    pub fn collecting(mut self) -> Self
    where
        T: Collecting,
    {
        self.collect = Some(CollectTable {
            collect: T::collect,
            size_max: T::size_max,
        });
        self
    }

    /// Its state is a function of a causally closed version.
    #[must_use]
    pub fn versioned(mut self) -> Self
    where
        T: Versioned,
    {
        self.version = Some(VersionTable {
            included: T::included,
            heads: T::heads,
            last_update: T::last_update,
            waiting: T::waiting,
            missing: T::missing,
            drop_waiting: T::drop_waiting,
            drop_records: T::drop_records,
        });
        self
    }

    /// Its views are judged by its own [`Specified::check`].
    #[must_use]
    pub fn specified(self) -> Self
    where
        T: Specified,
    {
        self.spec(T::check)
    }

    /// Its views are judged by `spec`, a function of what is visible.
    #[must_use]
    pub fn spec(
        mut self,
        spec: impl Fn(&Seen<'_, T::Op>, &T::View) -> Verdict + Send + Sync + 'static,
    ) -> Self {
        self.spec = Some(Arc::new(spec));
        self
    }

    /// Whether the replicas can exchange anything.
    pub(crate) fn connects(&self) -> bool {
        self.state.is_some() || self.ops.is_some()
    }
}

fn erased<M: 'static>(messages: Vec<M>) -> Vec<Erased> {
    let erase = |message: M| -> Erased { Rc::new(message) };
    messages.into_iter().map(erase).collect()
}

/// The tables are made of what `cast` is given, so another type cannot come.
#[allow(clippy::expect_used, reason = "a broken invariant of this file")]
fn cast<V: 'static>(erased: &dyn Any) -> &V {
    erased.downcast_ref().expect("an erased value of this type")
}

impl<T: Subject> Default for Capabilities<T> {
    fn default() -> Self {
        Capabilities::new()
    }
}

macro_rules! copy {
    ($($table:ident),*) => { $(
        impl<T: Subject> Clone for $table<T> {
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<T: Subject> Copy for $table<T> {}
    )* };
}

copy!(
    StateTable,
    DeltaTable,
    OpTable,
    BytesTable,
    CollectTable,
    VersionTable
);

impl<T: Subject> Clone for Capabilities<T> {
    fn clone(&self) -> Self {
        Capabilities {
            spec: self.spec.clone(),
            golden: Arc::clone(&self.golden),
            ..*self
        }
    }
}
