//! Replicas that start alike.
#![expect(clippy::unwrap_used, reason = "in helpers of tests")]

use commute::{EditError, Replica, ReplicaId, Replicated};

pub(crate) fn replica<S: Replicated>(id: u128) -> Replica<S> {
    Replica::new(ReplicaId::from(id))
}

pub(crate) fn pair<S: Replicated>(
    first: impl FnOnce(&mut S::Edit<'_>) -> Result<(), EditError>,
) -> [Replica<S>; 2] {
    let mut a = replica::<S>(1);
    a.edit(first).unwrap();
    let b = a.fork_as(ReplicaId::from(2));
    [a, b]
}
