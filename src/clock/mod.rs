//! Identities and logical clocks: who made an update, which one, and what had been seen.

mod by_replica;
mod dot;
mod dots;
mod lamport;
mod names;
mod ranges;
mod replica_id;
mod stamp;
mod version;

pub(crate) use by_replica::ByReplica;
pub use dot::{Dot, EntryId};
pub use dots::Dots;
pub use lamport::Lamport;
pub use names::Names;
pub(crate) use names::{Block, Indices};
pub(crate) use ranges::Ranges;
pub use replica_id::{ParseReplicaIdError, ReplicaId};
pub use stamp::{Stamp, Stamped};
pub use version::Version;
