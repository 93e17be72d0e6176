//! Which capabilities of a type a run uses.

use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::Arc;

use super::erased::{DynSubject, cast};
use super::golden::Golden;
use super::seen::Seen;
use super::subject::{
    Collecting, DeltaBased, OpBased, Persisted, Specified, StateBased, Subject, Verdict, Versioned,
};
use super::table::{
    BytesTable, CollectTable, DeltaTable, Erased, OpTable, StateTable, Table, VersionTable,
};

/// Which capabilities of `T` a run uses: what is not named here is not tested.
///
/// # Examples
/// `Capabilities::<MyType>::new().state().encoded().specified()`
pub struct Capabilities<T: Subject> {
    pub(crate) table: Table,
    subject: PhantomData<fn() -> T>,
}

impl<T: Subject> Capabilities<T> {
    /// None yet: the replicas cannot even talk to each other.
    pub fn new() -> Capabilities<T> {
        Capabilities {
            table: Table {
                name: T::name,
                make: |replica| DynSubject::new(T::new(replica)),
                state: None,
                delta: None,
                ops: None,
                bytes: None,
                collect: None,
                version: None,
                spec: None,
                golden: Arc::default(),
            },
            subject: PhantomData,
        }
    }

    /// Merges whole states.
    #[must_use]
    pub fn state(mut self) -> Self
    where
        T: StateBased,
    {
        self.table.state = Some(StateTable {
            merge: |a, b| T::merge(a.get_mut(), b.get()),
            same: |a, b| T::same_state(a.get(), b.get()),
        });
        self
    }

    /// Exchanges deltas; and merges states, which every delta type can.
    #[must_use]
    pub fn delta(mut self) -> Self
    where
        T: DeltaBased,
    {
        self.table.delta = Some(DeltaTable {
            gaps: T::GAPS,
            seen: |replica| Rc::new(replica.get::<T>().seen()),
            since: |replica, seen| Rc::new(replica.get::<T>().delta_since(cast(seen))),
            absorb: |replica, delta| replica.get_mut::<T>().absorb(cast(delta)),
            transmit: |delta| Ok(Rc::new(<T as DeltaBased>::transmit(cast(delta))?)),
            group: |a, b| Some(Rc::new(<T as DeltaBased>::group(cast(a), cast(b))?)),
            beyond: |delta, seen| Some(Rc::new(T::beyond(cast(delta), cast(seen))?)),
            bound: |replica, delta| replica.get::<T>().delta_bound(cast(delta)),
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
        self.table.ops = Some(OpTable {
            needs: T::NEEDS,
            duplicates: T::DUPLICATES,
            detects: T::DETECTS,
            produce: |replica, op| {
                let (outcome, messages) = replica.get_mut::<T>().produce(op.get());
                (outcome, erased(messages))
            },
            outbox: |replica| erased(replica.get_mut::<T>().outbox()),
            receive: |replica, message| replica.get_mut::<T>().receive(cast(message)),
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
        self.table.bytes = Some(BytesTable {
            keeps_waiting: T::KEEPS_WAITING,
            encode: |replica| replica.get::<T>().encode(),
            decode: |bytes, replica| T::decode(bytes, replica).map(DynSubject::new),
            save: |replica| replica.get::<T>().save(),
            resume: |bytes, replica| T::resume(bytes, replica).map(DynSubject::new),
        });
        self
    }

    /// Bytes that older releases wrote: they are read before anything else is tried (P4). Besides,
    /// it must be `encoded`.
    #[must_use]
    pub fn golden(mut self, golden: Golden) -> Self {
        self.table.golden = Arc::new(golden);
        self
    }

    /// Drops what everyone has seen.
    #[must_use]
    pub fn collecting(mut self) -> Self
    where
        T: Collecting,
    {
        self.table.collect = Some(CollectTable {
            collect: |replica, stable| replica.get_mut::<T>().collect(stable),
            size_max: |replica, replicas| replica.get::<T>().size_max(replicas),
        });
        self
    }

    /// Its state is a function of a causally closed version.
    #[must_use]
    pub fn versioned(mut self) -> Self
    where
        T: Versioned,
    {
        self.table.version = Some(VersionTable {
            included: |replica| replica.get::<T>().included(),
            heads: |replica| replica.get::<T>().heads(),
            last_update: |replica| replica.get::<T>().last_update(),
            waiting: |replica| replica.get::<T>().waiting(),
            missing: |replica| replica.get::<T>().missing(),
            drop_waiting: |replica| replica.get_mut::<T>().drop_waiting(),
            drop_records: |replica| replica.get_mut::<T>().drop_records(),
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
        self.table.spec = Some(Arc::new(move |log, events, orders, view| {
            spec(&Seen::new(log, events, Some(orders)), view.get())
        }));
        self
    }
}

fn erased<M: 'static>(messages: Vec<M>) -> Vec<Erased> {
    let erase = |message: M| -> Erased { Rc::new(message) };
    messages.into_iter().map(erase).collect()
}

impl<T: Subject> Default for Capabilities<T> {
    fn default() -> Self {
        Capabilities::new()
    }
}

impl<T: Subject> Clone for Capabilities<T> {
    fn clone(&self) -> Self {
        Capabilities {
            table: self.table.clone(),
            subject: PhantomData,
        }
    }
}
