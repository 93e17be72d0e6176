//! Exhaustive search in small scope: breadth first over the states of the whole system.

use std::collections::HashSet;
use std::hash::BuildHasherDefault;
use std::rc::Rc;
use std::time::{Duration, Instant};

use super::capabilities::Capabilities;
use super::failure::{Broken, Failure};
use super::faults::Faults;
use super::fingerprint::Fingerprint;
use super::law::Laws;
use super::pulse::{PATIENCE, Pulse};
use super::random::reported;
use super::report::{Report, searched};
use super::run::{Note, guarded, run};
use super::schedule::Schedule;
use super::seen::Seen;
use super::settings::capability_methods;
use super::source::{Odometer, Source};
use super::step::{Step, Verb};
use super::subject::{
    Collecting, DeltaBased, OpBased, Persisted, Specified, StateBased, Subject, Verdict, Versioned,
};
use super::world::{Effort, Memo, World};

/// Of how many new states one is brought to its end, to see whether all replicas become equal.
const SETTLE_EVERY: u128 = 16;

/// Searches all executions of a few replicas and steps.
///
/// States of the whole system that will behave the same are visited once, by fingerprint. Breadth
/// first, so that the first failure is one of the shortest.
///
/// # Examples
/// `Explore::new::<T>().state().specified().replicas(3).steps(6).run().unwrap_clean()`
#[derive(Clone, Copy, Debug)]
pub enum Explore {}

/// An exhaustive search, made by [`Explore`].
#[must_use]
pub struct ExhaustiveSearch<T: Subject> {
    pub(crate) can: Capabilities<T>,
    faults: Faults,
    laws: Laws,
    patience: Duration,
    replicas: u32,
    steps: usize,
    states_max: usize,
    time_max: Option<Duration>,
    /// A number of states after which the search has done its duty, if it is complete to a depth.
    budget: Option<(usize, usize)>,
}

impl Explore {
    /// All executions of 3 replicas and 6 steps, without faults; of `T`, whose
    /// capabilities are named next.
    #[allow(
        clippy::new_ret_no_self,
        reason = "the type under test is named by the call"
    )]
    pub fn new<T: Subject>() -> ExhaustiveSearch<T> {
        ExhaustiveSearch::with(Capabilities::new())
    }

    /// The same for a type with these capabilities.
    pub fn of<T: Subject>(can: Capabilities<T>) -> ExhaustiveSearch<T> {
        ExhaustiveSearch::with(can)
    }
}

/// How a state was reached.
struct Reached {
    before: u32,
    step: Step,
}

type Visited = HashSet<u128, BuildHasherDefault<Fingerprint>>;

impl<T: Subject> ExhaustiveSearch<T> {
    pub(crate) fn with(can: Capabilities<T>) -> ExhaustiveSearch<T> {
        ExhaustiveSearch {
            can,
            faults: Faults::none(),
            laws: Laws::ALL,
            patience: PATIENCE,
            replicas: 3,
            steps: 6,
            states_max: 5_000_000,
            time_max: None,
            budget: None,
        }
    }

    capability_methods!();

    /// How many replicas there are, 1 to 8. Three are needed for the hardest faults.
    pub fn replicas(mut self, replicas: u32) -> Self {
        self.replicas = replicas.clamp(1, 8);
        self
    }

    /// How many steps an execution has.
    pub fn steps(mut self, steps: usize) -> Self {
        self.steps = steps;
        self
    }

    /// The most states that are visited; if there are more the result is inconclusive.
    pub fn states_max(mut self, states: usize) -> Self {
        self.states_max = states;
        self
    }

    /// Stops after so many states; that is no failure if the search is complete to `depth` by then.
    pub fn states_budget(mut self, states: usize, depth: usize) -> Self {
        self.budget = Some((states, depth));
        self
    }

    /// A cap on the time; if it strikes before the search is complete the result is inconclusive.
    pub fn time_max(mut self, time: Duration) -> Self {
        self.time_max = Some(time);
        self
    }

    /// Searches.
    pub fn run(self) -> Report {
        reported::<T>(self.patience, move |pulse| Search::new(self).run(pulse))
    }
}

struct Search<T: Subject> {
    settings: ExhaustiveSearch<T>,
    can: Rc<Capabilities<T>>,
    faults: Faults,
    effort: Effort,
    visited: Visited,
    reached: Vec<Reached>,
    report: Report,
    start: Instant,
}

/// Why a level was not finished.
enum End {
    Enough,
    Failed(Box<Broken>, Schedule),
    Budget(String),
}

impl<T: Subject> Search<T> {
    fn new(settings: ExhaustiveSearch<T>) -> Search<T> {
        Search {
            can: Rc::new(settings.can.clone()),
            faults: settings.faults.within(&settings.can),
            effort: Effort {
                laws: settings.laws,
                every: 1,
                history: false,
            },
            visited: Visited::default(),
            reached: Vec::new(),
            report: Report::new(T::name()),
            #[allow(
                clippy::disallowed_methods,
                reason = "only a cap on the time hangs on it"
            )]
            start: Instant::now(),
            settings,
        }
    }

    fn run(mut self, pulse: &Pulse) -> Report {
        if !self.can.connects() {
            let why = "nothing connects the replicas: name a capability";
            self.report.inconclusive = Some(why.into());
            return self.report;
        }
        let mut world = World::new(Rc::clone(&self.can), self.settings.replicas, self.effort);
        world.prints = true;
        world.memo = Some(Rc::new(Memo::default()));
        self.visited.insert(world.print());
        self.reached.push(Reached {
            before: 0,
            step: Step::new(Verb::Heal, 0, [0; 2]),
        });
        let mut level = vec![(0, world)];
        for depth in 1..=self.settings.steps {
            match self.next_level(level, depth, pulse) {
                Ok(next) => level = next,
                Err(End::Enough) => break,
                Err(End::Budget(why)) => {
                    self.report.inconclusive = Some(why);
                    break;
                }
                Err(End::Failed(broken, schedule)) => {
                    self.failed(*broken, schedule, pulse);
                    break;
                }
            }
            self.report.complete = Some(depth);
            if level.is_empty() {
                break;
            }
        }
        self.report.states = self.reached.len() as u64;
        let searched = searched(&self.report);
        if let Some(failure) = self.report.failures.first_mut() {
            failure.searched = searched;
        }
        self.report
    }

    fn next_level(
        &mut self,
        level: Vec<(u32, World<T>)>,
        depth: usize,
        pulse: &Pulse,
    ) -> Result<Vec<(u32, World<T>)>, End> {
        let mut next = Vec::new();
        for (number, world) in level {
            self.within_budget(depth, pulse)?;
            let here = self.path(number, None);
            pulse.begins(&here);
            let steps = guarded(|| Ok(self.steps(&world)));
            let steps = steps.map_err(|broken| End::Failed(broken, here.clone()))?;
            for step in steps {
                pulse.tries(step);
                if let Some(child) = self.step(number, &world, step, pulse)? {
                    let reached = (self.reached.len() - 1) as u32;
                    if depth < self.settings.steps {
                        next.push((reached, child));
                    }
                }
            }
        }
        Ok(next)
    }

    fn within_budget(&self, depth: usize, pulse: &Pulse) -> Result<(), End> {
        let stopped = |why: &str| {
            let complete = depth - 1;
            End::Budget(format!(
                "stopped by {why} at {} states; complete to depth {complete} only",
                self.reached.len()
            ))
        };
        let states = self.reached.len();
        match self.settings.budget {
            Some((most, least)) if states > most && depth > least => return Err(End::Enough),
            Some((most, _)) if states > 20 * most => {
                return Err(stopped("the number of states"));
            }
            _ => {}
        }
        if states > self.settings.states_max {
            return Err(stopped("the number of states"));
        }
        if self
            .settings
            .time_max
            .is_some_and(|most| self.start.elapsed() >= most)
        {
            return Err(stopped("the time"));
        }
        match pulse.is_stopped() {
            true => Err(stopped("the memory")),
            false => Ok(()),
        }
    }

    /// Performs `step`; the system after it if that is a new one.
    fn step(
        &mut self,
        number: u32,
        world: &World<T>,
        step: Step,
        pulse: &Pulse,
    ) -> Result<Option<World<T>>, End> {
        let mut child = world.fork();
        let (mut is_new, mut print) = (false, 0);
        let result = guarded(|| {
            let Some(changed) = child.perform(step)? else {
                return Ok(());
            };
            print = child.print();
            is_new = self.visited.insert(print);
            match is_new {
                true => child.check_step(step.verb, changed),
                false => Ok(()),
            }
        });
        if let Err(broken) = result {
            return Err(End::Failed(broken, self.path(number, Some(step))));
        }
        if !is_new {
            return Ok(None);
        }
        self.report.coverage.add(&child.coverage);
        if print.is_multiple_of(SETTLE_EVERY) {
            let mut end = child.fork();
            pulse.beat();
            if let Err(broken) = guarded(|| end.settle()) {
                return Err(End::Failed(broken, self.path(number, Some(step))));
            }
        }
        self.reached.push(Reached {
            before: number,
            step,
        });
        Ok(Some(child))
    }

    /// The schedule that leads to a state, and one step more.
    fn path(&self, mut number: u32, last: Option<Step>) -> Schedule {
        let mut steps: Vec<Step> = last.into_iter().collect();
        while number > 0 {
            let reached = &self.reached[number as usize];
            steps.push(reached.step);
            number = reached.before;
        }
        steps.reverse();
        Schedule {
            replicas: self.settings.replicas,
            steps,
        }
    }

    fn failed(&mut self, broken: Broken, schedule: Schedule, pulse: &Pulse) {
        let effort = Effort {
            history: true,
            ..self.effort
        };
        let told = run(&self.can, &schedule, effort, Note::Story, pulse);
        // It may break another law a little earlier when all of history is compared.
        let broken = told.broken.map_or(broken, |(broken, _)| *broken);
        self.report.failures.push(Failure {
            subject: T::name(),
            broken,
            schedule,
            story: told.story,
            minimal: true,
            shrink_runs: 0,
            searched: String::new(),
        });
    }

    /// All steps that may do something in `world`.
    fn steps(&self, world: &World<T>) -> Vec<Step> {
        let mut steps = Vec::new();
        let count = world.nodes.len() as u32;
        for at in 0..count {
            if self.faults.has(Verb::Do) && !world.nodes[at as usize].down {
                self.operations(world, at, &mut steps);
            }
            for verb in Verb::ALL.iter().filter(|verb| self.faults.has(**verb)) {
                self.others(world, *verb, at, &mut steps);
            }
        }
        steps
    }

    /// Every operation that replica `at` can choose.
    fn operations(&self, world: &World<T>, at: u32, steps: &mut Vec<Step>) {
        let mut odometer = Odometer::new();
        let subject = &world.nodes[at as usize].subject;
        // Weights make a type offer the same operation more than once.
        let mut known = Visited::default();
        loop {
            let mut source = Source::odometer(&mut odometer);
            let new = match subject.choose(&mut source) {
                Some(op) => known.insert(Fingerprint::of_debug(&op)),
                None => false,
            };
            let number = odometer.number().and_then(|n| u32::try_from(n).ok());
            if let Some(number) = number.filter(|_| new) {
                steps.push(Step::new(Verb::Do, at, [number, 0]));
            }
            if !odometer.advance() {
                return;
            }
        }
    }

    fn others(&self, world: &World<T>, verb: Verb, at: u32, steps: &mut Vec<Step>) {
        let count = world.nodes.len() as u32;
        let mut push = |a: u32, b: u32| steps.push(Step::new(verb, at, [a, b]));
        match verb {
            Verb::Do | Verb::Clone | Verb::Tick => {}
            Verb::Merge | Verb::Sync | Verb::Answer => {
                (0..count)
                    .filter(|other| *other != at)
                    .for_each(|other| push(other, 0));
            }
            Verb::Pull => (0..world.carriers.len() as u32).for_each(|pick| push(pick, 0)),
            Verb::Update => (0..world.carriers.len() as u32).for_each(|pick| push(pick, 0)),
            Verb::Group | Verb::Cut => (0..72).for_each(|choice| push(choice, 0)),
            Verb::Take | Verb::Again => {
                for ((from, number), _) in &world.mail {
                    push(*from, *number);
                }
            }
            Verb::Lose | Verb::Split => {}
            _ => push(0, 0),
        }
    }
}
