//! Registers: one value, written as a whole.

mod lww_register;
mod max_register;
mod min_register;
mod mv_register;

pub use lww_register::LwwRegister;
pub(crate) use lww_register::{newest, write};
pub use max_register::MaxRegister;
pub use min_register::MinRegister;
pub use mv_register::MvRegister;
