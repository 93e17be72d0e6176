//! One entry of the zoo: a type, what is wrong with it, and how to run the kit on it.

use commute::testkit::{
    Capabilities, Explore, Faults, Laws, Random, Report, Schedule, Subject, Verb,
};

/// What the kit has to make of an entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Faulty: random schedules find it within the default budget.
    Mutant,
    /// Faulty: exhaustive search finds it, random schedules may miss it.
    Hard,
    /// Faulty, and not found by any engine yet.
    Missed,
    /// Looks faulty and is not: nothing may be found.
    Equivalent,
    /// Right: nothing may be found.
    Control,
}

/// What to run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Task {
    /// Random schedules, without the meaning of the type.
    Laws { seed: u64, schedules: u64 },
    /// Random schedules, with all laws.
    Random {
        seed: u64,
        schedules: u64,
        steps: usize,
    },
    /// All schedules of so many replicas and steps.
    Exhaustive { replicas: u32, steps: usize },
    /// This one.
    Replay(Schedule),
}

/// Steps of a random schedule.
pub const STEPS: usize = 40;

/// Most states of an exhaustive search.
pub const STATES_MAX: usize = 400_000;

/// One entry.
pub struct Entry {
    pub id: &'static str,
    /// What is wrong with it, or what it is.
    pub fault: &'static str,
    pub kind: Kind,
    /// Replicas and steps of the exhaustive search.
    pub scope: (u32, usize),
    /// Whether two runs find the same: not so where chance is the fault.
    pub steady: bool,
    pub means: Means,
    pub engine: Engine,
}

/// Does a task with such means.
pub type Engine = Box<dyn Fn(&Task, Means) -> Report + Send + Sync>;

/// With what it is searched.
#[derive(Clone, Copy)]
pub struct Means {
    /// Replicas of a random schedule.
    pub replicas: u32,
    /// Steps of the exhaustive search besides operations and exchanges.
    pub verbs: Faults,
}

/// The entry of the type with these capabilities; exhaustive to 2 replicas and 4 steps.
pub fn entry<T: Subject>(
    id: &'static str,
    kind: Kind,
    fault: &'static str,
    capabilities: fn() -> Capabilities<T>,
) -> Entry {
    Entry {
        id,
        fault,
        kind,
        scope: (2, 4),
        steady: true,
        means: Means {
            replicas: 3,
            verbs: Faults::none(),
        },
        engine: Box::new(move |task, means| run(task, means, capabilities())),
    }
}

impl Entry {
    /// The same with another scope of the exhaustive search.
    pub fn scope(mut self, replicas: u32, steps: usize) -> Entry {
        self.scope = (replicas, steps);
        self
    }

    /// The same, with random schedules of two replicas: who collects needs a word of each.
    pub fn on_two(mut self) -> Entry {
        self.means.replicas = 2;
        self
    }

    /// The same, with these steps alone in the exhaustive search.
    pub fn hunted(mut self, verbs: &[Verb]) -> Entry {
        self.means.verbs = Faults::only(verbs);
        self
    }

    /// Does the task.
    pub fn run(&self, task: &Task) -> Report {
        (self.engine)(task, self.means)
    }

    /// The same, of which two runs may find different things.
    pub fn unsteady(mut self) -> Entry {
        self.steady = false;
        self
    }
}

fn run<T: Subject>(task: &Task, means: Means, capabilities: Capabilities<T>) -> Report {
    match task.clone() {
        Task::Laws { seed, schedules } => Random::of(capabilities)
            .replicas(means.replicas)
            .seed(seed)
            .schedules(schedules)
            .steps(STEPS)
            .laws(Laws::without_meaning())
            .run(),
        Task::Random {
            seed,
            schedules,
            steps,
        } => Random::of(capabilities)
            .replicas(means.replicas)
            .seed(seed)
            .schedules(schedules)
            .steps(steps)
            .run(),
        Task::Exhaustive { replicas, steps } => Explore::of(capabilities)
            .faults(means.verbs)
            .replicas(replicas)
            .steps(steps)
            .states_max(STATES_MAX)
            .run(),
        Task::Replay(schedule) => Random::of(capabilities).replay(schedule),
    }
}
