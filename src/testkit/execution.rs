//! Runs a schedule without checks, for the replicas that come of it.

use std::rc::Rc;

use super::capabilities::Capabilities;
use super::law::Laws;
use super::schedule::Schedule;
use super::subject::Subject;
use super::world::{Effort, World};

/// The replicas after `schedule`, by their places; no law is checked.
///
/// They are states of one execution, which is what laws and properties are about: states that were
/// made each on its own may hold different updates under one name. A step whose result breaks a law
/// by itself, a refused merge for example, ends the run.
///
/// # Panics
/// If the type does.
///
/// # Examples
/// ```
/// use commute::testkit::{Capabilities, execute};
/// use commute::{GCounter, Replica};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let can = Capabilities::<Replica<GCounter>>::new().state();
/// let replicas = execute(&can, &"k1 n2 | 0:do 1 | 0>1 | 1:do 1".parse()?);
/// assert!(replicas[1].view() > replicas[0].view());
/// # Ok(())
/// # }
/// ```
pub fn execute<T: Subject>(can: &Capabilities<T>, schedule: &Schedule) -> Vec<T> {
    let effort = Effort {
        laws: Laws::NONE,
        every: u64::MAX,
        history: false,
    };
    let mut world = World::new(Rc::new(can.table.clone()), schedule.replicas, effort);
    for (number, step) in schedule.steps.iter().enumerate() {
        world.step = number + 1;
        if world.perform(*step).is_err() {
            break;
        }
    }
    let nodes = world.nodes.iter();
    nodes
        .map(|node| node.subject.get::<T>().duplicate())
        .collect()
}
