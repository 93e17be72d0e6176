//! Everything that is checked of one type, once for all tests of a suite.

use std::path::PathBuf;
use std::time::Duration;

use super::capabilities::Capabilities;
use super::coverage::Mark;
use super::environment::Environment;
use super::explore::Explore;
use super::failure::Failure;
use super::faults::Faults;
use super::golden::{Golden, write_golden};
use super::law::{Law, Laws, alike};
use super::opportunities::Opportunities;
use super::random::Random;
use super::regressions::{Regressions, plain};
use super::report::Report;
use super::step::Verb;
use super::subject::Subject;

/// How many states of a release are written down.
const GOLDEN: u64 = 8;

/// How long an exhaustive search of a suite goes on, unless it is complete before.
const SEARCH_TIME: Duration = Duration::from_secs(20);

/// Everything that is checked of one type within the budget of `cargo test`.
///
/// First the schedules that failed once (`tests/regressions/<name>/*.txt`), then random ones, then
/// exhaustive searches of two and of three replicas. `COMMUTE_KIT_SEED`, `_SCHEDULES`, `_STEPS` and
/// `_SECONDS` set the seed, the number and length of the random schedules and a cap on the time of
/// each search; with `COMMUTE_KIT_REPLAY` only that schedule is run. A schedule that fails is
/// written to the folder of regressions. Suites of one package must have different names.
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
    asked: Environment,
}

impl<T: Subject> Suite<T> {
    /// A suite by the name of its folder of regressions, for a type of the package in `package`.
    pub fn new(name: &'static str, package: &str, can: Capabilities<T>) -> Suite<T> {
        Suite {
            name,
            package: package.into(),
            can,
            faults: Faults::all(),
            seed: 1,
            schedules: 500,
            steps: 40,
            replicas: 3,
            states: 20_000,
            depth: 3,
            asked: Environment::new(),
        }
    }

    /// The seed of the random schedules; 1 by default.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
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
    /// by then; 20,000 and 3 by default. After 20 seconds it need not be complete to that depth, but
    /// to one step; the report says how far it came.
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
            wrong: self.asked.wrong.clone(),
            asked: laws_of(&self.can),
        };
        if !all.wrong.is_empty() {
            return all;
        }
        if let Some(schedule) = &self.asked.replay {
            all.add(self.random().replay(schedule.clone()));
            return all;
        }
        self.golden(&mut all);
        let kept = Regressions::new(&self.package, self.name);
        for (file, schedule) in kept.read() {
            match schedule {
                Ok(schedule) => all.add(self.random().replay(schedule)),
                Err(why) => all.inconclusive.push(format!("{}: {why}", file.display())),
            }
        }
        let random = self.random().every_law().run();
        self.vacuous(&random, &mut all);
        all.add(random);
        for replicas in [2, 3] {
            let search = Explore::of(self.can.clone())
                .replicas(replicas)
                .steps(usize::from(u8::MAX))
                .laws(all.unbroken())
                .every_law()
                .time_budget(SEARCH_TIME)
                .states_budget(self.states, self.depth);
            all.add(match self.asked.time {
                Some(most) => search.time_max(most).run(),
                None => search.run(),
            });
        }
        kept.remember(&all.failures);
        all
    }

    fn random(&self) -> super::RandomSearch<T> {
        let random = Random::of(self.can.clone())
            .seed(self.asked.seed.unwrap_or(self.seed))
            .faults(self.faults)
            .replicas(self.replicas)
            .schedules(self.asked.schedules.unwrap_or(self.schedules))
            .steps(self.asked.steps.unwrap_or(self.steps));
        match self.asked.time {
            Some(most) => random.time_max(most),
            None => random,
        }
    }

    /// What older releases wrote, from its folder; first writes down what this one writes, if asked.
    fn golden(&mut self, all: &mut SuiteReport) {
        let folder = self.package.join("tests/golden").join(plain(self.name));
        if let Some(release) = self.asked.golden.clone() {
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

    /// Steps that never had an effect test nothing (H2).
    fn vacuous(&self, report: &Report, all: &mut SuiteReport) {
        if !report.failures().is_empty() {
            return;
        }
        // Whether a type has groups, can be asked too much, or lets anything wait is its own matter.
        use Verb::{Clone, Cut, Discard, Group, Overcollect};
        let optional = [Group, Cut, Overcollect, Discard, Clone];
        let random = self.random();
        let mut opportunities = Opportunities::new();
        (0..report.schedules()).for_each(|at| opportunities.count(&random.schedule(at)));
        let possible = self.faults.within(&self.can);
        let required = Verb::ALL.iter().filter(|verb| {
            possible.has(**verb) && opportunities.suffice(**verb) && !optional.contains(verb)
        });
        let coverage = report.coverage();
        let never = required.filter(|verb| coverage.effective(**verb) == 0);
        all.vacuous
            .extend(never.map(|verb| format!("a step `{}`", verb.name())));
        if coverage.count(Mark::Done) == 0 {
            all.vacuous.push(Mark::Done.text().into());
        }
    }
}

/// The laws that the tests of a suite ask for, each in its own.
fn laws_of<T: Subject>(can: &Capabilities<T>) -> Laws {
    use Law::{
        Bounds, D1, D2, D3, D4, G1, G2, G3, G4, H1, H2, I1, J1, J2, J3, J4, J5, J6, J7, J8, N1, N2,
        N3, N4, N5, O1, O2, O3, O4, P1, P2, P3, P4, P5, Panic, R1, S1, S2, S3, S4, T1, T2, T3,
    };
    let groups: [(bool, &[Law]); 8] = [
        (true, &[S2, S3, R1, I1, H1, H2, Panic, Bounds]),
        (can.state.is_some(), &[J1, J2, J3, J4, J5, J6, J7, J8]),
        (can.delta.is_some(), &[D1, D2, D3, D4]),
        (can.ops.is_some(), &[O1, O2, O3, O4]),
        (can.bytes.is_some(), &[P1, P2, P3, P4, P5]),
        (can.collect.is_some(), &[G1, G2, G3, G4]),
        (can.version.is_some(), &[N1, N2, N3, N4, N5]),
        (can.spec.is_some(), &[S1, S4, T1, T2, T3]),
    ];
    let asked = groups.iter().filter(|(can, _)| *can);
    let laws = asked.flat_map(|(_, laws)| laws.iter());
    laws.fold(Laws::NONE, |all, law| all.with(*law))
}

/// What the suite of one type found.
#[derive(Clone, Debug)]
pub struct SuiteReport {
    name: &'static str,
    failures: Vec<Failure>,
    vacuous: Vec<String>,
    inconclusive: Vec<String>,
    searched: Vec<String>,
    /// Settings that could not be read.
    wrong: Vec<String>,
    /// The laws that have a test of their own.
    asked: Laws,
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
    /// [`Law::Bounds`] also if a search could not spend its budget; for every law if a variable
    /// `COMMUTE_KIT_*` could not be read.
    #[track_caller]
    pub fn check(&self, law: Law) {
        assert!(
            self.wrong.is_empty(),
            "{}: {}",
            self.name,
            self.wrong.join("; ")
        );
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

    /// [`check`](Self::check) for the laws that no other test of the suite asks for: those that are
    /// found without being looked for, and whatever a specification names.
    ///
    /// # Panics
    /// If one of them broke.
    #[track_caller]
    pub fn check_others(&self) {
        let others = Law::ALL.iter().filter(|law| !self.asked.has(**law));
        others.for_each(|law| self.check(*law));
    }

    /// The laws that are worth asking for.
    fn unbroken(&self) -> Laws {
        let all = self.broken().map(Laws::like);
        all.fold(Laws::ALL, Laws::minus)
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
