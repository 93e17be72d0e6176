//! The engine of a suite: what failed before, then random schedules, then exhaustive searches.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::super::coverage::Mark;
use super::super::environment::Environment;
use super::super::golden::{Golden, write_golden};
use super::super::law::{Law, Laws};
use super::super::opportunities::Opportunities;
use super::super::regressions::{Regressions, plain};
use super::super::report::Report;
use super::super::step::Verb;
use super::super::table::Table;
use super::super::{explore, random};
use super::SuiteReport;

/// How many states of a release are written down.
const GOLDEN: u64 = 8;

/// How long an exhaustive search of a suite goes on, unless it is complete before.
const SEARCH_TIME: Duration = Duration::from_secs(20);

/// How a suite runs; see the methods of [`Suite`](super::Suite).
pub(super) struct Plan {
    name: &'static str,
    package: PathBuf,
    can: Table,
    /// Its random schedules, but for what the environment asks.
    pub random: random::Plan,
    pub states: usize,
    pub depth: usize,
    asked: Environment,
}

impl Plan {
    pub fn new(name: &'static str, package: PathBuf, can: Table) -> Plan {
        Plan {
            name,
            package,
            can,
            random: random::Plan {
                schedules: 500,
                ..random::Plan::new()
            },
            states: 20_000,
            depth: 3,
            asked: Environment::new(),
        }
    }

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
        self.golden(&mut all);
        if let Some(schedule) = &self.asked.replay {
            all.add(self.random().replay(self.can.clone(), schedule.clone()));
            return all;
        }
        let kept = Regressions::new(&self.package, self.name);
        for (file, schedule) in kept.read() {
            match schedule {
                Ok(schedule) => all.add(self.random().replay(self.can.clone(), schedule)),
                Err(why) => all.inconclusive.push(format!("{}: {why}", file.display())),
            }
        }
        let random = random::Plan {
            go_on: true,
            ..self.random()
        };
        let random = random.run(self.can.clone());
        self.vacuous(&random, &mut all);
        all.add(random);
        for replicas in [2, 3] {
            let search = explore::Plan {
                replicas,
                steps: usize::from(u8::MAX),
                laws: all.unbroken(),
                go_on: true,
                time_budget: Some(SEARCH_TIME),
                time_max: self.asked.time,
                budget: Some((self.states, self.depth)),
                ..explore::Plan::new()
            };
            all.add(search.run(self.can.clone()));
        }
        kept.remember(&all.failures);
        all
    }

    fn random(&self) -> random::Plan {
        let plan = self.random;
        random::Plan {
            seed: self.asked.seed.unwrap_or(plan.seed),
            schedules: self.asked.schedules.unwrap_or(plan.schedules),
            steps: self.asked.steps.unwrap_or(plan.steps),
            time_max: self.asked.time,
            ..plan
        }
    }

    /// What older releases wrote, from its folder; first writes down what this one writes, if asked.
    fn golden(&mut self, all: &mut SuiteReport) {
        let folder = self.package.join("tests/golden").join(plain(self.name));
        if let Some(release) = self.asked.golden.clone() {
            let random = self.random();
            let schedules = (0..GOLDEN).map(|at| random.schedule(&self.can, at));
            if let Err(error) = write_golden(&self.can, schedules, &folder, &release) {
                let error = format!("COMMUTE_KIT_GOLDEN: {error}");
                all.inconclusive.push(error);
            }
        }
        match Golden::read(&folder) {
            Ok(golden) if golden.is_empty() => {}
            Ok(golden) => self.can.golden = Arc::new(golden),
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
        (0..report.schedules()).for_each(|at| opportunities.count(&random.schedule(&self.can, at)));
        let possible = self.random.faults.within(&self.can);
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
fn laws_of(can: &Table) -> Laws {
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
