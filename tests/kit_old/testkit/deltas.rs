//! The laws about deltas: groups, and what a peer lacks of one.

use commute::Delta;

use super::mail::Held;
use super::subject::Subject;
use super::world::{Checked, World, ensure, same};

impl<S: Subject> World<S> {
    /// Checks three random deltas of the run.
    ///
    /// # Errors
    /// [`Broken`](super::Broken) names the law that does not hold.
    pub fn check_deltas(&mut self) -> Checked {
        if self.pool.is_empty() || self.samples.is_empty() {
            return Ok(());
        }
        let mut draw = || self.pool[self.rng.index(self.pool.len())].1.clone();
        let (a, b, c) = (draw(), draw(), draw());
        let ab = self.grouped(&a, &b)?;
        let ba = self.grouped(&b, &a)?;
        same("grouping is commutative", &ab.delta, &ba.delta)?;
        let left = self.grouped(&ab, &c)?;
        let bc = self.grouped(&b, &c)?;
        let right = self.grouped(&a, &bc)?;
        same("grouping is associative", &left.delta, &right.delta)?;
        let again = self.grouped(&left, &b)?;
        same("grouping is idempotent", &again.delta, &left.delta)?;
        let alone = self.grouped(&a, &a)?;
        same("grouping is idempotent", &alone.delta, &a.delta)?;
        self.check_cut(&left)?;
        self.check_cut(&a)
    }

    /// `a` and `b` as one delta, which claims and needs what both do.
    fn grouped(&self, a: &Held<S>, b: &Held<S>) -> Checked<Held<S>> {
        let mut both = a.delta.clone();
        let merged = both.merge(&b.delta);
        ensure("honest deltas can be grouped", merged.is_ok(), || {
            format!("{merged:?}")
        })?;
        let both = self.hold(both)?;
        let law = "a group claims and needs what its members do";
        let claims = a.claims.union(&b.claims);
        same(law, &both.claims, &claims)?;
        let needs = a.needs.union(&b.needs).difference(&claims);
        same(law, &both.needs, &needs)?;
        Ok(both)
    }

    /// What a peer lacks of a delta does the same for it as the whole delta.
    fn check_cut(&mut self, whole: &Held<S>) -> Checked {
        let mut draw = || self.samples[self.rng.index(self.samples.len())].clone();
        let (x, z) = (draw(), draw());
        let cut: Delta<S> = whole.delta.beyond(x.state.version());
        let cut = self.hold(cut)?;
        let law = "a delta beyond a version is as good for who has that version";
        same(law, &cut.claims, &whole.claims.difference(&x.seen))?;
        let by_whole = self.absorbed(&x, whole)?;
        let by_cut = self.absorbed(&x, &cut)?;
        same(law, &by_cut.state.to_bytes(), &by_whole.state.to_bytes())?;
        // A third party waits for it or takes it rightly.
        self.absorbed(&z, &cut)?;
        Ok(())
    }
}
