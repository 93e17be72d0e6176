//! A versioned store for data that must not merge: read, commit if nothing changed, watch.
//!
//! Every commit has a [`Revision`] of its own. A [`Transaction`] applies its writes only if all its
//! guards hold, and a refused one is told what it lost to. [`transact_blocking`] and [`transact`]
//! run a closure that way, again and again until it went through undisturbed:
//!
//! ```
//! use commute::env::SystemEnv;
//! use commute::store::{MemoryStore, TransactOptions, transact_blocking};
//! use std::error::Error;
//!
//! fn main() -> Result<(), Box<dyn Error>> {
//!     let env = SystemEnv::new();
//!     let store = MemoryStore::new(env)?;
//!     store.put("stock", "3")?;
//!     let sold = transact_blocking(&store, &env, &TransactOptions::default(), |tx| {
//!         let stock = tx.get("stock")?.ok_or("no such item")?;
//!         let left = stock.as_str()?.parse::<u64>()?.checked_sub(1).ok_or("sold out")?;
//!         tx.put("stock", left.to_string());
//!         Ok::<_, Box<dyn Error>>(left)
//!     })?;
//!     assert_eq!(sold.value, 2);
//!     assert_eq!(store.get("stock")?.unwrap().modified, sold.revision);
//!     Ok(())
//! }
//! ```
//!
//! [`MemoryStore`] is the store to start with; [`Store`] is the trait that others implement, and
//! [`DynStore`] its boxed twin.

mod attempt;
mod bytes;
mod capabilities;
mod contention;
mod dynamic;
mod error;
mod limits;
mod memory;
mod outcome;
mod range;
mod retry;
mod revision;
mod snapshot;
mod traits;
mod transact;
mod transact_error;
mod transaction;
mod watch;

pub use bytes::{Key, Value};
pub use capabilities::{Capabilities, MonotoneTokens, TtlCapability, TtlClock};
pub use contention::Contention;
pub use dynamic::{DynStore, DynWatch};
pub use error::{Limit, StoreError};
pub use limits::StoreLimits;
pub use memory::{MemoryOptions, MemoryStore, MemoryWatch};
pub use outcome::{Conflict, Outcome};
pub use range::{Range, Scan};
pub use retry::{TransactOptions, Transacted};
pub use revision::{Incarnation, Revision};
pub use snapshot::{Entry, Scanned, Snapshot};
pub use traits::{BlockingStore, Store, Watch};
pub use transact::{BlockingTx, Tx, transact, transact_blocking};
pub use transact_error::{TransactError, TxError};
pub use transaction::{Guard, Transaction, TransactionId, Write};
pub use watch::{Change, Commit};
