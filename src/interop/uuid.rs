//! Replica ids as UUIDs, with the feature `uuid`.
//!
//! Every UUID is an id and every id is a UUID. Take version 4 for new replicas: version 7 tells
//! when a replica was made and lets the newer one win every tie.
//!
//! # Examples
//! ```
//! use commute::ReplicaId;
//! use uuid::Uuid;
//!
//! let id = ReplicaId::from(Uuid::from_u128(7));
//! assert_eq!(id, ReplicaId::from(7));
//! assert_eq!(Uuid::from(id).to_string(), id.to_string());
//! ```

use ::uuid::Uuid;

use crate::ReplicaId;

impl From<Uuid> for ReplicaId {
    fn from(uuid: Uuid) -> ReplicaId {
        ReplicaId::from_bytes(uuid.into_bytes())
    }
}

impl From<ReplicaId> for Uuid {
    fn from(id: ReplicaId) -> Uuid {
        Uuid::from_bytes(id.to_bytes())
    }
}
