//! One test per law: `convergence_suite!`, and what it runs once for all of them.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::capabilities::Capabilities;
use super::coverage::Mark;
use super::explore::Explore;
use super::failure::Failure;
use super::faults::Faults;
use super::golden::{Golden, write_golden};
use super::law::Law;
use super::random::{Random, alike};
use super::report::Report;
use super::schedule::Schedule;
use super::step::Verb;
use super::subject::Subject;

/// How many states of a release are written down.
const GOLDEN: u64 = 8;

/// Everything that is checked of one type within the budget of `cargo test`.
///
/// First the schedules that failed once (`tests/regressions/<name>/*.txt`), then random ones, then
/// exhaustive searches of two and of three replicas. `COMMUTE_KIT_SEED`, `_SCHEDULES`, `_STEPS` and
/// `_SECONDS` set the seed, the number and length of the random schedules and a cap on the time of
/// each search; with `COMMUTE_KIT_REPLAY` only that schedule is run. A schedule that fails is
/// written to the folder of regressions.
///
/// What older releases wrote is in `tests/golden/<name>/*.txt` (see [`Golden`]), and must be read as
/// what it showed (P4). `COMMUTE_KIT_GOLDEN=v1` writes down eight states of this release there, as
/// `v1-0.txt` and so on; files that are there stay as they are.
///
/// [`convergence_suite!`](crate::convergence_suite) makes one and a test for each law.
#[must_use]
pub struct Suite<T: Subject> {
    name: &'static str,
    package: PathBuf,
    can: Capabilities<T>,
    faults: Faults,
    seed: u64,
    schedules: u64,
    steps: usize,
    replicas: u32,
    states: usize,
    depth: usize,
    time_max: Option<Duration>,
}

impl<T: Subject> Suite<T> {
    /// A suite by the name of its folder of regressions, for a type of the package in `package`.
    pub fn new(name: &'static str, package: &str, can: Capabilities<T>) -> Suite<T> {
        Suite {
            name,
            package: package.into(),
            can,
            faults: Faults::all(),
            seed: setting("SEED").unwrap_or(1),
            schedules: 500,
            steps: 40,
            replicas: 3,
            states: 20_000,
            depth: 3,
            time_max: setting("SECONDS").map(Duration::from_secs),
        }
    }

    /// How many random schedules there are; 500 by default.
    pub fn schedules(mut self, schedules: u64) -> Self {
        self.schedules = schedules;
        self
    }

    /// How many steps a random schedule has; up to 40 by default.
    pub fn steps(mut self, steps: usize) -> Self {
        self.steps = steps;
        self
    }

    /// How many replicas a random schedule has; 3 by default.
    pub fn replicas(mut self, replicas: u32) -> Self {
        self.replicas = replicas;
        self
    }

    /// How many states each exhaustive search may visit, and the depth to which it must be complete
    /// by then; 20,000 and 3 by default.
    pub fn states(mut self, states: usize, depth: usize) -> Self {
        self.states = states;
        self.depth = depth;
        self
    }

    /// Which kinds of steps the random schedules have; all by default.
    pub fn faults(mut self, faults: Faults) -> Self {
        self.faults = faults;
        self
    }

    /// Runs everything.
    pub fn run(mut self) -> SuiteReport {
        let mut all = SuiteReport {
            name: self.name,
            failures: Vec::new(),
            vacuous: Vec::new(),
            inconclusive: Vec::new(),
            searched: Vec::new(),
        };
        if let Ok(text) = std::env::var("COMMUTE_KIT_REPLAY") {
            match text.parse() {
                Ok(schedule) => all.add(self.random().replay(schedule)),
                Err(error) => all
                    .inconclusive
                    .push(format!("COMMUTE_KIT_REPLAY: {error}")),
            }
            return all;
        }
        self.golden(&mut all);
        self.regressions(&mut all);
        let random = self.random().every_law().run();
        self.vacuous(&random, &mut all);
        all.add(random);
        for replicas in [2, 3] {
            let search = Explore::of(self.can.clone())
                .replicas(replicas)
                .steps(usize::from(u8::MAX))
                .states_budget(self.states, self.depth);
            all.add(match self.time_max {
                Some(most) => search.time_max(most).run(),
                None => search.run(),
            });
        }
        self.remember(&all);
        all
    }

    fn random(&self) -> super::RandomSearch<T> {
        let random = Random::of(self.can.clone())
            .seed(self.seed)
            .faults(self.faults)
            .replicas(self.replicas)
            .schedules(setting("SCHEDULES").unwrap_or(self.schedules))
            .steps(setting("STEPS").map_or(self.steps, |steps| steps as usize));
        match self.time_max {
            Some(most) => random.time_max(most),
            None => random,
        }
    }

    /// What older releases wrote, from its folder; first writes down what this one writes, if asked.
    fn golden(&mut self, all: &mut SuiteReport) {
        let folder = self.package.join("tests/golden").join(self.name);
        if let Ok(release) = std::env::var("COMMUTE_KIT_GOLDEN") {
            let random = self.random();
            let schedules = (0..GOLDEN).map(|at| random.schedule(at));
            if let Err(error) = write_golden(&self.can, schedules, &folder, &release) {
                let error = format!("COMMUTE_KIT_GOLDEN: {error}");
                all.inconclusive.push(error);
            }
        }
        match Golden::read(&folder) {
            Ok(golden) if golden.is_empty() => {}
            Ok(golden) => self.can = self.can.clone().golden(golden),
            Err(error) => all.inconclusive.push(error),
        }
    }

    fn folder(&self) -> PathBuf {
        self.package.join("tests/regressions").join(self.name)
    }

    /// What failed once, from its files, in the order of their names.
    fn regressions(&self, all: &mut SuiteReport) {
        let entries = std::fs::read_dir(self.folder()).into_iter().flatten();
        let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        files.sort_unstable();
        for file in files.iter().filter(|file| is_text(file)) {
            let text = std::fs::read_to_string(file).unwrap_or_default();
            match text.parse::<Schedule>() {
                Ok(schedule) => all.add(self.random().replay(schedule)),
                Err(error) => all
                    .inconclusive
                    .push(format!("{}: {error}", file.display())),
            }
        }
    }

    /// Writes down what failed, to be run first from now on.
    fn remember(&self, all: &SuiteReport) {
        // Only beside other tests: not where a package was unpacked to be read.
        if all.failures.is_empty() || !self.package.join("tests").is_dir() {
            return;
        }
        let _ = std::fs::create_dir_all(self.folder());
        for failure in &all.failures {
            let file = self
                .folder()
                .join(format!("{}.txt", failure.broken.law.code()));
            if !file.exists() {
                let _ = std::fs::write(file, as_lines(failure));
            }
        }
    }

    /// Steps that never had an effect test nothing (H2).
    fn vacuous(&self, report: &Report, all: &mut SuiteReport) {
        if report.schedules() < 300 || !report.is_clean() {
            return;
        }
        // Whether a type has groups, can be asked too much, or lets anything wait is its own matter.
        use Verb::{Clone, Cut, Discard, Group, Overcollect};
        let optional = [Group, Cut, Overcollect, Discard, Clone];
        let possible = self.faults.within(&self.can);
        let required = Verb::ALL
            .iter()
            .filter(|verb| possible.has(**verb) && verb.weight() > 0 && !optional.contains(verb));
        let coverage = report.coverage();
        let never = required.filter(|verb| coverage.effective(**verb) == 0);
        all.vacuous
            .extend(never.map(|verb| format!("a step `{}`", verb.name())));
        if coverage.count(Mark::Done) == 0 {
            all.vacuous.push(Mark::Done.text().into());
        }
    }
}

fn is_text(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "txt")
}

fn as_lines(failure: &Failure) -> String {
    let schedule = &failure.schedule;
    let mut text = format!(
        "# {}   {}\nk1 n{}\n",
        failure.subject, failure.broken.law, schedule.replicas
    );
    for step in &schedule.steps {
        let _ = writeln!(text, "{step}");
    }
    text
}

/// `COMMUTE_KIT_<name>` as a number.
fn setting(name: &str) -> Option<u64> {
    std::env::var(format!("COMMUTE_KIT_{name}"))
        .ok()?
        .parse()
        .ok()
}

/// What the suite of one type found.
#[derive(Clone, Debug)]
pub struct SuiteReport {
    name: &'static str,
    failures: Vec<Failure>,
    vacuous: Vec<String>,
    inconclusive: Vec<String>,
    searched: Vec<String>,
}

impl SuiteReport {
    fn add(&mut self, report: Report) {
        self.searched.push(report.to_string());
        self.inconclusive
            .extend(report.inconclusive().map(String::from));
        for failure in report.failures() {
            let known = self
                .failures
                .iter()
                .any(|other| other.broken.law == failure.broken.law);
            if !known {
                self.failures.push(failure.clone());
            }
        }
    }

    /// Does nothing if `law` holds.
    ///
    /// # Panics
    /// With the failure, if it broke; for H2, if a kind of step never had an effect; for
    /// [`Law::Bounds`] also if a search could not spend its budget.
    #[track_caller]
    pub fn check(&self, law: Law) {
        if let Some(failure) = self
            .failures
            .iter()
            .find(|failure| failure.broken.law == law)
        {
            panic!("\n{failure}");
        }
        if law == Law::H2 && !self.vacuous.is_empty() {
            panic!(
                "{}: never had an effect: {}",
                self.name,
                self.vacuous.join(", ")
            );
        }
        if law == Law::Bounds && !self.inconclusive.is_empty() {
            panic!(
                "{}: inconclusive: {}",
                self.name,
                self.inconclusive.join("; ")
            );
        }
        // Shown with `cargo test -- --nocapture`.
        if law == Law::S3 {
            self.searched.iter().for_each(|line| print!("{line}"));
        }
    }

    /// [`check`](Self::check) for the laws about the meaning of a type.
    ///
    /// # Panics
    /// If one of them broke.
    #[track_caller]
    pub fn check_meaning(&self) {
        let meaning = [Law::S1, Law::T1, Law::T2, Law::T3];
        meaning.into_iter().for_each(|law| self.check(law));
    }

    /// The laws that broke.
    pub fn broken(&self) -> impl Iterator<Item = Law> + '_ {
        self.failures.iter().map(|failure| failure.broken.law)
    }

    /// Whether nothing broke that is `like` this law: one fault may break several.
    pub fn holds(&self, like: Law) -> bool {
        !self.broken().any(|law| alike(law, like))
    }
}

/// Checks a replicated type: one `#[test]` per law, in a module of its own.
///
/// After the type come its capabilities, as far as they are to be tested: `state`, `delta`,
/// `operations`, `encoded`, `collecting`, `versioned` for the traits of `commute::testkit`, and its
/// meaning: `specified` for its own [`Specified`](crate::testkit::Specified), or `spec = f` for a
/// function, among them those of `commute::testkit::spec`. Last may come `with = |suite| ...` to
/// change the budget of the [`Suite`](crate::testkit::Suite).
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
            #![allow(unused_imports)]
            use super::*;
            use $crate::testkit::spec::*;
            use $crate::testkit::{Capabilities, Law, Suite, SuiteReport};

            fn report() -> &'static SuiteReport {
                static REPORT: ::std::sync::OnceLock<SuiteReport> = ::std::sync::OnceLock::new();
                REPORT.get_or_init(|| {
                    let can = Capabilities::<$type>::new();
                    let package = ::core::env!("CARGO_MANIFEST_DIR");
                    let suite = |can| Suite::new(::core::stringify!($name), package, can);
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
            $crate::__laws!($($words)+);
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
            suite: Suite<T>,
            with: impl FnOnce(Suite<T>) -> Suite<T>,
        ) -> Suite<T> {
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
            report().check(Law::$law);
        }
    )* };
}

/// The laws of each capability.
#[doc(hidden)]
#[macro_export]
macro_rules! __laws {
    (state $(, $($rest:tt)*)?) => {
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
        $crate::__laws!($($($rest)*)?);
    };
    (delta $(, $($rest:tt)*)?) => {
        $crate::__law!(
            d1_the_delta_of_an_operation_does_what_it_did D1,
            d2_a_delta_is_as_good_as_the_state D2,
            d3_a_delta_may_come_again_and_a_gap_is_noticed D3,
            d4_what_is_known_is_not_sent D4,
        );
        $crate::__laws!(state $(, $($rest)*)?);
    };
    (operations $(, $($rest:tt)*)?) => {
        $crate::__law!(
            o1_the_same_messages_give_the_same_state O1,
            o2_messages_and_states_lead_to_the_same O2,
            o3_nothing_honest_is_refused O3,
            o4_an_illegal_delivery_does_no_harm O4,
        );
        $crate::__laws!($($($rest)*)?);
    };
    (encoded $(, $($rest:tt)*)?) => {
        $crate::__law!(
            p1_a_state_is_its_bytes P1,
            p2_one_state_has_one_byte_string P2,
            p3_foreign_bytes_are_refused P3,
            p4_the_bytes_of_older_releases_are_read P4,
            p5_a_replica_goes_on_after_a_crash P5,
        );
        $crate::__laws!($($($rest)*)?);
    };
    (collecting $(, $($rest:tt)*)?) => {
        $crate::__law!(
            g1_collecting_changes_no_view G1,
            g2_what_was_collected_stays_away G2,
            g3_collecting_too_much_is_refused G3,
            g4_what_is_kept_is_bounded G4,
        );
        $crate::__laws!($($($rest)*)?);
    };
    (versioned $(, $($rest:tt)*)?) => {
        $crate::__law!(
            n1_the_state_is_a_function_of_the_version N1,
            n2_versions_are_closed N2,
            n3_nothing_waits_that_lacks_nothing N3,
            n4_answers_are_right_for_everyone N4,
            n5_heads_are_the_maximal_updates N5,
        );
        $crate::__laws!($($($rest)*)?);
    };
    (specified $(, $($rest:tt)*)?) => {
        #[test]
        fn s1_the_view_is_what_the_operations_mean() {
            report().check_meaning();
        }
        $crate::__law!(s4_own_operations_show_at_once S4,);
        $crate::__laws!($($($rest)*)?);
    };
    (spec = $spec:expr $(, $($rest:tt)*)?) => {
        $crate::__laws!(specified $(, $($rest)*)?);
    };
    (with = $with:expr $(,)?) => {};
    () => {};
}
