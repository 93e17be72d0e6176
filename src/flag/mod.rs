//! Flags: on or off.

mod dw_flag;
mod ew_flag;

pub use dw_flag::DwFlag;
pub use ew_flag::EwFlag;
