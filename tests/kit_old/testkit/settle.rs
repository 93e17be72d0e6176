//! The end of a run: all replicas become equal, and then there is silence.

use super::step::{Step, Verb};
use super::subject::Subject;
use super::world::{Checked, World, ensure, same};

impl<S: Subject> World<S> {
    /// Heals, drops what waits, lets everyone answer everyone once, and compares.
    ///
    /// # Errors
    /// [`Broken`](super::Broken) names the law that does not hold.
    pub fn settle(&mut self) -> Checked {
        self.perform(Step {
            verb: Verb::Heal,
            at: 0,
            args: [0; 2],
        })?;
        let all = 0..self.nodes.len();
        all.clone().for_each(|at| self.discard(at));
        for from in all.clone() {
            for to in all.clone() {
                self.sync(from, to)?;
            }
        }
        for at in all.clone() {
            self.check(at, 1)?;
        }
        for from in all.clone() {
            for to in all.clone() {
                let (a, b) = (&self.nodes[from].replica, &self.nodes[to].replica);
                same("one round makes all equal", &a.to_bytes(), &b.to_bytes())?;
                let answer = a.delta_since(b.version());
                ensure("equal replicas are silent", answer.is_empty(), || {
                    format!("{answer:?}")
                })?;
            }
        }
        let everything = self.log_of_all_nodes();
        same(
            "nothing that anyone had is lost",
            &self.nodes[0].seen,
            &everything,
        )
    }

    fn log_of_all_nodes(&self) -> super::Events {
        let mut all = super::Events::default();
        self.nodes
            .iter()
            .for_each(|node| all.union_with(&node.seen));
        all
    }
}
