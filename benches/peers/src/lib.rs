//! What the measurements share.

pub mod heap;
pub mod marks;
pub mod rounds;
