//! The engine: level by level, each new state checked and brought to its end.

use std::collections::{BTreeSet, HashSet};
use std::hash::BuildHasherDefault;
use std::rc::Rc;
use std::time::Duration;

use super::super::deadline::{Deadline, system_clock};
use super::super::erased::{DynOp, DynSubject};
use super::super::failure::{Broken, Failure};
use super::super::faults::Faults;
use super::super::fingerprint::Fingerprint;
use super::super::law::{Law, Laws};
use super::super::pulse::{PATIENCE, Pulse, beat};
use super::super::random::{UNCONNECTED, only, replayable, reported, thorough, unshrunk};
use super::super::report::{Report, searched};
use super::super::run::{Note, guarded, passed, run};
use super::super::schedule::Schedule;
use super::super::source::{Odometer, Source};
use super::super::step::{Step, Verb};
use super::super::table::Table;
use super::super::world::{Checked, Effort, Memo, World};
use super::texts::Texts;

/// Of how many states that only merge one is brought to its end.
const SETTLE_EVERY: u128 = 16;

/// Of how many states it is looked whether copies differ.
const FORKS_TRIED: u32 = 256;

/// The most operations that are tried of one replica in one state.
const ALPHABET_MAX: usize = 4_096;

/// How an exhaustive search is made; see the methods of
/// [`ExhaustiveSearch`](super::ExhaustiveSearch).
#[derive(Clone, Copy)]
pub(crate) struct Plan {
    pub faults: Faults,
    pub laws: Laws,
    pub patience: Duration,
    pub replicas: u32,
    pub steps: usize,
    pub states_max: usize,
    pub time_max: Option<Duration>,
    pub time_budget: Option<Duration>,
    pub go_on: bool,
    /// A number of states after which the search has done its duty, if it is complete to a depth.
    pub budget: Option<(usize, usize)>,
}

impl Plan {
    pub fn new() -> Plan {
        Plan {
            faults: Faults::none(),
            laws: Laws::ALL,
            patience: PATIENCE,
            replicas: 3,
            steps: 6,
            states_max: 5_000_000,
            time_max: None,
            time_budget: None,
            go_on: false,
            budget: None,
        }
    }

    /// Searches.
    pub fn run(self, can: Table) -> Report {
        reported(can.name, self.patience, move |pulse| {
            Search::new(self, can).run(pulse)
        })
    }
}

/// How a state was reached.
struct Reached {
    before: u32,
    step: Step,
}

type Visited = HashSet<u128, BuildHasherDefault<Fingerprint>>;

struct Search {
    texts: Texts,
    plan: Plan,
    can: Rc<Table>,
    faults: Faults,
    effort: Effort,
    visited: Visited,
    reached: Vec<Reached>,
    report: Report,
    deadline: Deadline,
    time_budget: Deadline,
    /// Why not all operations of a state were tried.
    untried: Option<String>,
    /// Whether copies under another id were seen to differ, of so many states.
    differ: bool,
    forks_tried: u32,
    /// The numbers under which an operation was looked up.
    numbered: BTreeSet<u32>,
}

/// Why a level was not finished.
enum End {
    Enough,
    Failed,
    Budget(String),
}

impl Search {
    fn new(plan: Plan, can: Table) -> Search {
        Search {
            texts: Texts::default(),
            faults: plan.faults.within(&can),
            effort: Effort {
                laws: plan.laws.always(),
                every: 1,
                history: false,
            },
            visited: Visited::default(),
            reached: Vec::new(),
            report: Report::new((can.name)()),
            deadline: Deadline::new(plan.time_max, system_clock),
            time_budget: Deadline::new(plan.time_budget, system_clock),
            untried: None,
            differ: false,
            forks_tried: 0,
            numbered: BTreeSet::new(),
            plan,
            can: Rc::new(can),
        }
    }

    fn run(mut self, pulse: &Pulse) -> Report {
        let pointless = match (self.can.connects(), self.plan.steps) {
            (false, _) => Some(UNCONNECTED),
            (true, 0) => Some("executions of no steps are asked for"),
            _ => None,
        };
        if let Some(why) = pointless {
            self.report.inconclusive = Some(why.into());
            return self.report;
        }
        pulse.begins(&self.path(0, None));
        let mut world = World::new(Rc::clone(&self.can), self.plan.replicas, self.effort);
        world.prints = true;
        world.memo = Some(Rc::new(Memo::default()));
        self.visited.insert(world.print());
        self.reached.push(Reached {
            before: 0,
            step: Step::new(Verb::Heal, 0, [0; 2]),
        });
        let mut level = vec![(0, world)];
        for depth in 1..=self.plan.steps {
            match self.next_level(level, depth, pulse) {
                Ok(next) => level = next,
                Err(End::Enough | End::Failed) => break,
                Err(End::Budget(why)) => {
                    self.report.inconclusive = Some(why);
                    break;
                }
            }
            self.report.complete = Some(depth);
            if level.is_empty() {
                break;
            }
        }
        self.report.states = self.reached.len() as u64;
        self.report.must_have_done();
        self.report
    }

    fn next_level(
        &mut self,
        level: Vec<(u32, World)>,
        depth: usize,
        pulse: &Pulse,
    ) -> Result<Vec<(u32, World)>, End> {
        let mut next = Vec::new();
        for (number, world) in level {
            self.within_budget(depth, pulse)?;
            let here = self.path(number, None);
            pulse.begins(&here);
            let steps = guarded(|| Ok(self.steps(&world, pulse)));
            let steps = self.passed(steps, &here, pulse)?.unwrap_or_default();
            for step in steps {
                pulse.tries(step);
                if let Some(child) = self.step(number, &world, step, pulse)? {
                    let reached = (self.reached.len() - 1) as u32;
                    if depth < self.plan.steps {
                        next.push((reached, child));
                    }
                }
            }
            if let Some(why) = self.untried.take() {
                return Err(End::Budget(why));
            }
        }
        Ok(next)
    }

    /// The value of `result`; `None` if a law broke, which is a failure if it is asked for.
    fn passed<R>(
        &mut self,
        result: Checked<R>,
        schedule: &Schedule,
        pulse: &Pulse,
    ) -> Result<Option<R>, End> {
        let broken = match passed(self.effort.laws, result) {
            Ok(value) => return Ok(value),
            Err(broken) => broken,
        };
        let law = broken.law;
        self.failed(*broken, schedule.clone(), pulse);
        self.effort.laws = self.effort.laws.minus(Laws::like(law));
        pulse.keep(&self.report);
        match self.plan.go_on && law != Law::Bounds {
            true => Ok(None),
            false => Err(End::Failed),
        }
    }

    fn within_budget(&mut self, depth: usize, pulse: &Pulse) -> Result<(), End> {
        let states = self.reached.len();
        let complete = depth - 1;
        let stopped = |why: &str| {
            End::Budget(format!(
                "stopped by {why} at {states} states; complete to depth {complete} only"
            ))
        };
        if complete > 0 && self.time_budget.is_over() {
            if let Some((_, least)) = self.plan.budget.filter(|(_, least)| complete < *least) {
                self.report.note = Some(format!("stopped by the time, before depth {least}"));
            }
            return Err(End::Enough);
        }
        match self.plan.budget {
            Some((most, least)) if states > most && depth > least => return Err(End::Enough),
            Some((most, _)) if states > 20 * most => {
                return Err(stopped("the number of states"));
            }
            _ => {}
        }
        if states > self.plan.states_max {
            return Err(stopped("the number of states"));
        }
        if self.deadline.is_over() {
            let due = self.plan.budget.is_some_and(|(_, least)| complete >= least);
            return Err(if due {
                End::Enough
            } else {
                stopped("the time")
            });
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
        world: &World,
        step: Step,
        pulse: &Pulse,
    ) -> Result<Option<World>, End> {
        let here = |search: &Search| search.path(number, Some(step));
        let mut child = world.fork();
        child.effort = self.effort;
        let performed = guarded(|| {
            let changed = child.perform(step)?.unwrap_or(child.place(step.at));
            Ok((changed, child.print()))
        });
        let (changed, print) = match performed {
            Ok(done) => done,
            Err(broken) => {
                self.passed::<()>(Err(broken), &here(self), pulse)?;
                return Ok(None);
            }
        };
        self.report.coverage.add(&child.coverage);
        if !self.visited.insert(print) {
            return Ok(None);
        }
        self.every_law_of(&mut child, here, pulse, |child| {
            child.check_step(step.verb, changed)
        })?;
        let sampled = self.merges_only() && !self.forks_differ(&child, changed);
        if !sampled || print.is_multiple_of(SETTLE_EVERY) {
            self.every_law_of(&mut child, here, pulse, |child| child.fork().settle())?;
        }
        self.reached.push(Reached {
            before: number,
            step,
        });
        Ok(Some(child))
    }

    /// Whether the laws about three states have shown what the end of every system will be.
    fn merges_only(&self) -> bool {
        self.can.state.is_some()
            && self.can.delta.is_none()
            && self.can.ops.is_none()
            && self.plan.replicas <= 3
            // Those that join later, and those that are down, are in no join of three.
            && !self.faults.has(Verb::Join)
            && !self.faults.has(Verb::Crash)
    }

    /// Whether a copy under another id is another state: then the laws, which join copies, say
    /// nothing about merges that hang on the id.
    fn forks_differ(&mut self, world: &World, at: usize) -> bool {
        let subject = &world.nodes[at].subject;
        if !self.differ && self.forks_tried < FORKS_TRIED {
            self.forks_tried += 1;
            let print = |subject: &DynSubject| {
                let mut out = Fingerprint::new();
                subject.fingerprint(&mut out);
                out.value()
            };
            self.differ = print(subject) != print(&subject.fork_as(World::observer()));
        }
        self.differ
    }

    /// Checks until no law breaks that has not broken before.
    fn every_law_of(
        &mut self,
        child: &mut World,
        here: impl Fn(&Search) -> Schedule,
        pulse: &Pulse,
        mut check: impl FnMut(&mut World) -> Checked,
    ) -> Result<(), End> {
        let memo = child.memo.clone();
        loop {
            let laws = self.effort.laws;
            if let Err(broken) = guarded(|| check(child)) {
                self.passed::<()>(Err(broken), &here(self), pulse)?;
            }
            if self.effort.laws == laws {
                break;
            }
            // What was checked before that broke is checked again.
            child.effort = self.effort;
            child.memo = None;
        }
        child.memo = memo;
        Ok(())
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
            replicas: self.plan.replicas,
            law: None,
            steps,
        }
    }

    fn failed(&mut self, broken: Broken, schedule: Schedule, pulse: &Pulse) {
        let law = broken.law;
        // Alone, so that no other law breaks sooner when all of history is compared.
        let tell = |laws| run(&self.can, &schedule, thorough(laws), Note::Story, pulse);
        let mut told = tell(only(law));
        if told.broken.is_none() {
            told = tell(self.effort.laws);
        }
        let broken = told.broken.map_or(broken, |(broken, _)| *broken);
        self.report.states = self.reached.len() as u64;
        let failure = Failure {
            minimal: true,
            searched: searched(&self.report),
            ..unshrunk(self.can.name, broken, schedule, told.story)
        };
        self.report.add(replayable(&self.can, failure, pulse));
    }

    /// All steps that may do something in `world`.
    fn steps(&mut self, world: &World, pulse: &Pulse) -> Vec<Step> {
        let mut steps = Vec::new();
        let count = world.nodes.len() as u32;
        for at in 0..count {
            if self.faults.has(Verb::Do) && !world.nodes[at as usize].down {
                self.operations(world, at, &mut steps, pulse);
            }
            for verb in Verb::ALL.iter().filter(|verb| self.faults.has(**verb)) {
                self.others(world, *verb, at, &mut steps);
            }
        }
        steps
    }

    /// Every operation that replica `at` can choose.
    fn operations(&mut self, world: &World, at: u32, steps: &mut Vec<Step>, pulse: &Pulse) {
        let mut odometer = Odometer::new();
        let subject = &world.nodes[at as usize].subject;
        self.texts.begin();
        for _ in 0..ALPHABET_MAX {
            beat();
            let chosen = subject.choose(&mut Source::odometer(&mut odometer));
            let number = odometer.number().and_then(|n| u32::try_from(n).ok());
            match (chosen, number) {
                (None, _) => {}
                (Some(op), Some(number)) => {
                    let step = Step::new(Verb::Do, at, [number, 0]);
                    pulse.tries(step);
                    if self.texts.is_another(subject, &op) {
                        steps.push(step);
                    }
                    self.must_be_numbered(subject, number, &op);
                }
                (Some(_), None) => {
                    let why =
                        "an operation takes more than 32 bits of choices here; draw from fewer";
                    self.untried = Some(why.into());
                }
            }
            if !odometer.advance() {
                return;
            }
        }
        self.untried = Some(format!(
            "the alphabet has more than {ALPHABET_MAX} operations here; draw from fewer"
        ));
    }

    /// What is performed is found by its number: it must be what was chosen.
    fn must_be_numbered(&mut self, subject: &DynSubject, number: u32, chosen: &DynOp) {
        if !self.numbered.insert(number) {
            return;
        }
        let performed = subject.choose(&mut Source::number(u64::from(number)));
        let chosen = format!("{chosen:?}");
        let performed = performed.map(|op| format!("{op:?}"));
        if performed.as_ref() != Some(&chosen) {
            let why = format!(
                "`choose` offers {chosen}, but {} by the number of these choices, {number}; see \
                 `Source::is_exhaustive`",
                performed.as_deref().unwrap_or("nothing")
            );
            self.untried.get_or_insert(why);
        }
    }

    fn others(&self, world: &World, verb: Verb, at: u32, steps: &mut Vec<Step>) {
        let count = world.nodes.len() as u32;
        let mut push = |a: u32, b: u32| steps.push(Step::new(verb, at, [a, b]));
        match verb {
            Verb::Do => {}
            Verb::Merge | Verb::Sync | Verb::Answer | Verb::Clone => {
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
            Verb::Lose => {
                let mine = world.mail.iter().filter(|((from, _), _)| *from == at);
                mine.for_each(|((_, number), _)| push(*number, 0));
            }
            // Of two, it is the same split from both sides.
            Verb::Split if count > 2 || at == 0 => push(1 << at, 0),
            Verb::Split => {}
            _ => push(0, 0),
        }
    }
}
