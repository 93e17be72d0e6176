//! The types of the crate under the suite that users run: one test per law.
#![cfg(feature = "testkit")]

use commute::{GCounter, OrSet, PnCounter, Replica, Text};

/// The budget of this file; `laws_*.rs` search further at random.
macro_rules! suites {
    ($($name:ident: $type:ty,)*) => { $(
        commute::convergence_suite!(
            $name: Replica<$type>,
            delta, operations, encoded, versioned, specified,
            with = |suite| suite.schedules(300).states(3_000, 2)
        );
    )* };
}

suites! {
    g_counter: GCounter,
    pn_counter: PnCounter,
    or_set: OrSet<u8>,
    text: Text,
}
