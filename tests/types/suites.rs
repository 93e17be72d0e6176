//! The types of the crate under the suite that users run: one test per law.
#![cfg(feature = "testkit")]

use commute::{
    BoundedCounter, DwFlag, EwFlag, GCounter, GSet, List, LwwMap, LwwRegister, MaxRegister,
    MinRegister, MvRegister, OrMap, OrSet, PnCounter, Replica, RwMap, RwSet, Text, TwoPhaseSet,
    Value,
};

/// A small budget, since this is not optimised; `laws_*.rs` search further at random, and
/// `COMMUTE_KIT_SCHEDULES` does here.
macro_rules! suites {
    ($($name:ident: $type:ty,)*) => { $(
        commute::convergence_suite!(
            $name: Replica<$type>,
            delta, operations, encoded, versioned, specified,
            with = |suite| suite.schedules(40).states(400, 1)
        );
    )* };
}

suites! {
    g_counter: GCounter,
    pn_counter: PnCounter,
    bounded_counter: BoundedCounter,
    or_set: OrSet<u8>,
    text: Text,
    mv_register: MvRegister<u8>,
    lww_register: LwwRegister<u8>,
    max_register: MaxRegister<u8>,
    min_register: MinRegister<u8>,
    ew_flag: EwFlag,
    dw_flag: DwFlag,
    g_set: GSet<u8>,
    two_phase_set: TwoPhaseSet<u8>,
    rw_set: RwSet<u8>,
    or_map_of_counters: OrMap<u8, PnCounter>,
    lww_map: LwwMap<u8, u8>,
    list: List<u64>,
    rw_map: RwMap<u8, PnCounter>,
    value: Value,
}

/// Replicated values within lists, and these under keys: all laws but those of a meaning.
macro_rules! suites_of_laws {
    ($($name:ident: $type:ty,)*) => { $(
        commute::convergence_suite!(
            $name: Replica<$type>,
            delta, operations, encoded, versioned,
            with = |suite| suite.schedules(40).states(400, 1)
        );
    )* };
}

suites_of_laws! {
    list_of_counters: List<PnCounter>,
    list_of_texts: List<Text>,
    map_of_lists_of_sets: OrMap<u8, List<OrSet<u8>>>,
}

/// Names of the kit that a user has too, and both words of which one includes the other.
mod names {
    use commute::testkit::{Seen, Verdict};
    use commute::{GCounter, Replica};

    // Not the one of the kit.
    fn sum(_: &Seen<'_, commute::testkit::Edits<u64>>, _: &u128) -> Verdict {
        Verdict::Right
    }

    type Law = Replica<GCounter>;
    #[allow(dead_code, reason = "only in the way")]
    struct Suite;
    #[allow(dead_code, reason = "only in the way")]
    struct Capabilities;

    commute::convergence_suite!(
        own: Law, state, delta, spec = sum,
        with = |suite| suite.schedules(20).states(20, 1)
    );
}
