//! Runs one schedule.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use super::coverage::Coverage;
use super::failure::Broken;
use super::law::{Law, Laws};
use super::pulse::{Pulse, text_of};
use super::schedule::Schedule;
use super::story::Story;
use super::table::Table;
use super::world::{Checked, Effort, Traced, World, broken};

/// What came of a run.
pub(crate) struct Ran {
    /// What broke, and after how many steps; one more than there are for the end.
    pub broken: Option<(Box<Broken>, usize)>,
    pub coverage: Coverage,
    pub story: Story,
    pub trace: Vec<Traced>,
}

/// What a run should note besides its result.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Note {
    Nothing,
    Story,
    Trace,
}

/// Performs `schedule`, checking after every step, and settles.
pub(crate) fn run(
    can: &Rc<Table>,
    schedule: &Schedule,
    effort: Effort,
    note: Note,
    pulse: &Pulse,
) -> Ran {
    pulse.begins(schedule);
    let step = Cell::new(0);
    let mut world = None;
    let result = guarded(|| {
        let world = world.insert(World::new(Rc::clone(can), schedule.replicas, effort));
        match note {
            Note::Nothing => {}
            Note::Story => world.story = Some(Story::default()),
            Note::Trace => world.trace = Some(Vec::new()),
        }
        steps(world, schedule, &step, pulse)
    });
    let (coverage, mut story, trace, replicas) = match &mut world {
        Some(world) => (
            std::mem::take(&mut world.coverage),
            world.story.take().unwrap_or_default(),
            world.trace.take().unwrap_or_default(),
            world.nodes.len(),
        ),
        None => Default::default(),
    };
    story.replicas = replicas;
    // Its replicas may panic when they are dropped, too.
    let dropped = guarded(|| {
        drop(world);
        Ok(())
    });
    let result = passed(effort.laws, result.and(dropped));
    Ran {
        broken: result.err().map(|broken| (broken, step.get())),
        coverage,
        story,
        trace,
    }
}

fn steps(world: &mut World, schedule: &Schedule, at: &Cell<usize>, pulse: &Pulse) -> Checked {
    for (number, step) in schedule.steps.iter().enumerate() {
        at.set(number + 1);
        pulse.reaches(number + 1);
        if pulse.is_stopped() {
            return Err(too_large());
        }
        world.step = number + 1;
        let laws = world.effort.laws;
        if let Some(Some(changed)) = passed(laws, world.perform(*step))? {
            passed(laws, world.check_step(step.verb, changed))?;
        }
    }
    at.set(schedule.steps.len() + 1);
    pulse.reaches(schedule.steps.len());
    passed(world.effort.laws, world.settle()).map(drop)
}

/// Passes over a law that is not asked for: `None` if it was one that is found without being looked
/// for, such as a refusal. The run goes on, but for a panic, after which nothing can be trusted.
pub(crate) fn passed<R>(laws: Laws, result: Checked<R>) -> Checked<Option<R>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(broken) if laws.has(broken.law) => Err(broken),
        Err(_) => Ok(None),
    }
}

pub(crate) fn too_large() -> Box<Broken> {
    let most = super::pulse::GROWTH_MAX >> 20;
    broken(
        Law::Bounds,
        None,
        format!("the process has grown by more than {most} MiB while this type was tested"),
        "memory within bounds",
    )
}

/// The result of `f`; a panic is a broken law.
pub(crate) fn guarded<R>(f: impl FnOnce() -> Checked<R>) -> Checked<R> {
    catch_unwind(AssertUnwindSafe(f))
        .unwrap_or_else(|panic| Err(broken(Law::Panic, None, text_of(panic), "no panic")))
}

/// Whether two runs of the same schedule did the same.
pub(crate) fn same_trace(can: &Table, a: &[Traced], b: &[Traced]) -> Result<(), String> {
    for (at, (a, b)) in a.iter().zip(b).enumerate() {
        let same = match (a, b) {
            (Traced::Op(a), Traced::Op(b)) => a == b,
            (Traced::View(a), Traced::View(b)) => a == b,
            (Traced::State(a), Traced::State(b)) => {
                can.state.is_none_or(|table| (table.same)(a, b))
            }
            (Traced::Bytes(a), Traced::Bytes(b)) => a == b,
            _ => false,
        };
        if !same {
            let kind = match a {
                Traced::Op(_) => "another operation was chosen".into(),
                Traced::View(view) => format!("another view: {view:?}"),
                Traced::State(state) => format!("another state: {state:?}"),
                Traced::Bytes(_) => "other bytes were written".into(),
            };
            return Err(format!("{kind}, observation {at} of the run"));
        }
    }
    match a.len() == b.len() {
        true => Ok(()),
        false => Err("one run did more than the other".into()),
    }
}
