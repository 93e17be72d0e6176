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
//! let got = ["rice", "tea"].into();
//! let Verdict::Wrong { expected, why, .. } = spec::add_wins(&history.seen(), &got) else {
//!     panic!("replica 1 had seen the tea");
//! };
//! assert_eq!(expected, r#"{"rice"}"#);
//! let seen = "was seen by a visible remove (r1:1)";
//! assert_eq!(why, format!(r#"every insert of "tea" that is visible (r0:1) {seen}"#));
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

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use crate::testkit::{Seen, Verdict};

    type Check<Op, View> = fn(&Seen<'_, Op>, &View) -> Verdict;

    fn fits<Op, View>(_: impl Fn(&Seen<'_, Op>, &View) -> Verdict) {}

    #[test]
    fn ready_made_checks_are_functions_of_what_was_seen_and_the_view() {
        let _: [Check<SetOp<u8>, BTreeSet<u8>>; 4] = [grow_only, add_wins, remove_wins, two_phase];
        let _: [Check<FlagOp, bool>; 2] = [flag_enable_wins, flag_disable_wins];
        let _: [Check<RegisterOp<u8>, Option<u8>>; 3] = [any_last, max, min];
        let _: Check<(u64, RegisterOp<u8>), Option<u8>> = lww;
        let _: Check<RegisterOp<u8>, Vec<u8>> = maximal_writes;
        let _: Check<i64, i128> = sum;
        let _: Check<CounterOp, i64> = reset_counter;
        let _: Check<ListOp<char>, String> = strong_list;
        let _: Check<MapOp<u8, u64>, BTreeMap<u8, u64>> = counter_map;
        fits::<MapOp<u8, u64>, BTreeMap<u8, u64>>(per_key(sum));
        fits::<MapOp<u8, SetOp<u8>>, BTreeMap<u8, BTreeSet<u8>>>(per_key(add_wins));
        fits::<ListOp<char>, String>(non_interleaving(Level::Maximal));
    }
}
