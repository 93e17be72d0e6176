//! What views mean: functions of the visible operations and of which of them had seen which.
//!
//! Each specification comes in two forms. A pure function such as [`add_wins_set`] takes what a
//! replica has seen and a closure that says what an operation means, and gives the value to be
//! shown. A ready-made check such as [`add_wins`] takes operations that say it themselves, by a
//! small trait such as [`AsSetOp`], and judges a view; it fits
//! [`Specified::check`](super::Specified::check), and names the operations that make a view wrong.
//!
//! Sources: Burckhardt et al. 2014, "Replicated data types: specification, verification,
//! optimality" (values as functions of visibility); Attiya et al. 2016 (lists); Weidner and
//! Kleppmann 2023 (interleaving).
//!
//! # Complexity
//! Checks run after every step, so they format nothing unless a view is wrong. Below, n is the
//! number of visible operations and w how many of them are pairwise concurrent at most.
//!
//! # Examples
//! An own operation type says what it means:
//! ```
//! use commute::testkit::{History, Verdict, spec};
//! use spec::{AsSetOp, SetOp};
//!
//! #[derive(Clone, Debug)]
//! enum Cart { Put(&'static str), Empty, Pay }
//!
//! impl AsSetOp for Cart {
//!     type Element = &'static str;
//!     fn as_set_op(&self) -> Option<SetOp<&'static str>> {
//!         match self {
//!             Cart::Put(what) => Some(SetOp::Insert(what)),
//!             Cart::Empty => Some(SetOp::Clear),
//!             Cart::Pay => None,
//!         }
//!     }
//! }
//!
//! let history = History::new()
//!     .op(0, Cart::Put("tea"), &[])
//!     .op(1, Cart::Empty, &["r0:1"])
//!     .op(2, Cart::Put("rice"), &["r0:1"]);
//! let Verdict::Wrong { expected, why, .. } = spec::add_wins(&history.seen(), &["rice", "tea"].into())
//! else { panic!() };
//! assert_eq!(expected, r#"{"rice"}"#);
//! assert_eq!(why, r#"every insert of "tea" that is visible (r0:1) was seen by a visible remove (r1:1)"#);
//! ```

mod counter;
mod flag;
mod interleaving;
mod list;
mod map;
mod register;
mod set;
mod why;

pub use counter::{Amount, AsCounterOp, CounterOp, reset_counter, sum, sum_not_reset, sum_of};
pub use flag::{AsFlagOp, FlagOp, disable_wins, enable_wins, flag_disable_wins, flag_enable_wins};
pub use interleaving::{Level, non_interleaving, non_interleaving_by};
pub use list::{AsListOps, Elements, ListOp, elements_of, strong_list, strong_list_by};
pub use map::{
    AsMapOp, MapOp, counter_map, lww_map, lww_map_of, multi_value_map, multi_value_map_of,
    not_removed, per_key, per_key_by,
};
pub use register::{
    AsRegisterOp, RegisterOp, Stamped, any_last, greatest, last_write, least, lww, max, maximal,
    maximal_values, maximal_writes, min,
};
pub use set::{
    AsSetOp, SetOp, add_wins, add_wins_set, grow_only, grow_only_set, remove_wins, remove_wins_set,
    two_phase, two_phase_set,
};
