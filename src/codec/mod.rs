//! Canonical bytes: one value, one byte string.
//!
//! The format is specified in `docs/wire-format.md`. Everything that arrives from outside is read by
//! a [`Decoder`], which checks every length against what remains *before* it allocates, refuses
//! every spelling but the canonical one, and reports the place of the first fault.

mod decoder;
mod encoder;
mod error;
mod frame;
mod key;
mod limits;
mod payload;

pub use decoder::Decoder;
pub(crate) use decoder::Unknown;
pub use encoder::Encoder;
pub use error::{DecodeError, DecodeErrorKind};
pub(crate) use frame::{FrameKind, open, seal};
pub use key::Key;
pub use limits::Limits;
pub use payload::Payload;
