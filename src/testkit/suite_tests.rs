//! One `#[test]` for each law.

/// Checks a replicated type: one `#[test]` per law, in a module of its own.
///
/// After the type come its capabilities, as far as they are to be tested: `state`, `delta`,
/// `operations`, `encoded`, `collecting`, `versioned` for the traits of `commute::testkit`, and its
/// meaning: `specified` for its own [`Specified`](crate::testkit::Specified), or `spec = f` for a
/// function, among them those of `commute::testkit::spec`, whose names need no path. Last may come `with = |suite| ...` to
/// change the budget of the [`Suite`](crate::testkit::Suite).
///
/// The test `nothing_else_breaks` fails for every law that has no test of its own there.
///
/// # Examples
/// ```
/// use commute::{OrSet, Replica};
///
/// commute::convergence_suite!(
///     or_set: Replica<OrSet<u8>>,
///     delta, operations, encoded, versioned, specified,
///     with = |suite| suite.schedules(1_000)
/// );
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! convergence_suite {
    ($name:ident: $type:ty, $($words:tt)+) => {
        mod $name {
            #[allow(unused_imports, reason = "names of specifications may be written bare")]
            use $crate::testkit::spec::*;

            fn report() -> &'static $crate::testkit::SuiteReport {
                // Names of the user win over all others.
                #[allow(unused_imports, reason = "what is named may have a path")]
                use super::*;
                static REPORT: ::std::sync::OnceLock<$crate::testkit::SuiteReport> =
                    ::std::sync::OnceLock::new();
                REPORT.get_or_init(|| {
                    let can = $crate::testkit::Capabilities::<$type>::new();
                    let package = ::core::env!("CARGO_MANIFEST_DIR");
                    let suite = |can| {
                        $crate::testkit::Suite::new(::core::stringify!($name), package, can)
                    };
                    $crate::__suite!(can, suite, $($words)+)
                })
            }

            $crate::__law!(
                s2_replicas_that_have_seen_the_same_are_equal S2,
                s3_all_become_equal S3,
                r1_what_is_refused_leaves_no_trace R1,
                i1_the_invariant_holds I1,
                h1_the_same_schedule_does_the_same H1,
                h2_every_kind_of_step_has_an_effect H2,
                nothing_panics Panic,
                every_call_returns_and_the_budget_is_spent Bounds,
            );
            $crate::__laws!(@without_state $($words)+);

            #[test]
            fn nothing_else_breaks() {
                report().check_others();
            }
        }
    };
}

/// Names the capabilities and runs the suite.
#[doc(hidden)]
#[macro_export]
macro_rules! __suite {
    ($can:expr, $suite:ident, spec = $spec:expr $(, $($rest:tt)*)?) => {
        $crate::__suite!($can.spec($spec), $suite, $($($rest)*)?)
    };
    ($can:expr, $suite:ident, with = $with:expr $(,)?) => {{
        fn apply<T: $crate::testkit::Subject>(
            suite: $crate::testkit::Suite<T>,
            with: impl FnOnce($crate::testkit::Suite<T>) -> $crate::testkit::Suite<T>,
        ) -> $crate::testkit::Suite<T> {
            with(suite)
        }
        apply($suite($can), $with).run()
    }};
    ($can:expr, $suite:ident, $word:ident $(, $($rest:tt)*)?) => {
        $crate::__suite!($can.$word(), $suite, $($($rest)*)?)
    };
    ($can:expr, $suite:ident,) => {
        $suite($can).run()
    };
}

/// A test for each law.
#[doc(hidden)]
#[macro_export]
macro_rules! __law {
    ($($test:ident $law:ident,)*) => { $(
        #[test]
        fn $test() {
            report().check($crate::testkit::Law::$law);
        }
    )* };
}

/// The laws of each capability. `delta` includes `state`, which may be named as well.
#[doc(hidden)]
#[macro_export]
macro_rules! __laws {
    (@with_state state $(, $($rest:tt)*)?) => {
        $crate::__laws!(@with_state $($($rest)*)?);
    };
    (@without_state state $(, $($rest:tt)*)?) => {
        $crate::__law!(
            j1_merge_is_commutative J1,
            j2_merge_is_associative J2,
            j3_merge_is_idempotent J3,
            j4_an_empty_replica_changes_nothing J4,
            j5_merging_again_changes_nothing J5,
            j6_operations_and_merges_only_add J6,
            j7_merge_gives_no_more_than_both_have J7,
            j8_states_that_include_each_other_are_equal J8,
        );
        $crate::__laws!(@with_state $($($rest)*)?);
    };
    (@$seen:ident delta $(, $($rest:tt)*)?) => {
        $crate::__law!(
            d1_the_delta_of_an_operation_does_what_it_did D1,
            d2_a_delta_is_as_good_as_the_state D2,
            d3_a_delta_may_come_again_and_a_gap_is_noticed D3,
            d4_what_is_known_is_not_sent D4,
        );
        $crate::__laws!(@$seen state $(, $($rest)*)?);
    };
    (@$seen:ident operations $(, $($rest:tt)*)?) => {
        $crate::__law!(
            o1_the_same_messages_give_the_same_state O1,
            o2_messages_and_states_lead_to_the_same O2,
            o3_nothing_honest_is_refused O3,
            o4_an_illegal_delivery_does_no_harm O4,
        );
        $crate::__laws!(@$seen $($($rest)*)?);
    };
    (@$seen:ident encoded $(, $($rest:tt)*)?) => {
        $crate::__law!(
            p1_a_state_is_its_bytes P1,
            p2_one_state_has_one_byte_string P2,
            p3_foreign_bytes_are_refused P3,
            p4_the_bytes_of_older_releases_are_read P4,
            p5_a_replica_goes_on_after_a_crash P5,
        );
        $crate::__laws!(@$seen $($($rest)*)?);
    };
    (@$seen:ident collecting $(, $($rest:tt)*)?) => {
        $crate::__law!(
            g1_collecting_changes_no_view G1,
            g2_what_was_collected_stays_away G2,
            g3_collecting_too_much_is_refused G3,
            g4_what_is_kept_is_bounded G4,
        );
        $crate::__laws!(@$seen $($($rest)*)?);
    };
    (@$seen:ident versioned $(, $($rest:tt)*)?) => {
        $crate::__law!(
            n1_the_state_is_a_function_of_the_version N1,
            n2_versions_are_closed N2,
            n3_nothing_waits_that_lacks_nothing N3,
            n4_answers_are_right_for_everyone N4,
            n5_heads_are_the_maximal_updates N5,
        );
        $crate::__laws!(@$seen $($($rest)*)?);
    };
    (@$seen:ident specified $(, $($rest:tt)*)?) => {
        #[test]
        fn s1_the_view_is_what_the_operations_mean() {
            report().check_meaning();
        }
        $crate::__law!(s4_own_operations_show_at_once S4,);
        $crate::__laws!(@$seen $($($rest)*)?);
    };
    (@$seen:ident spec = $spec:expr $(, $($rest:tt)*)?) => {
        $crate::__laws!(@$seen specified $(, $($rest)*)?);
    };
    (@$seen:ident with = $with:expr $(,)?) => {};
    (@$seen:ident) => {};
}
