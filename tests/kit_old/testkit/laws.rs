//! The laws about states, checked at every replica that changed.

use std::cmp::Ordering;

use commute::codec::Limits;
use commute::{Applied, Dot, Replica, State};

use super::log::Events;
use super::mail::Held;
use super::subject::{Seen, Subject};
use super::world::{Broken, Checked, Sample, World, ensure, same};

impl<S: Subject> World<S> {
    /// Checks replica `at` against the log; with `draws`, the costly laws too, that many times.
    ///
    /// # Errors
    /// [`Broken`] names the law that does not hold.
    pub fn check(&mut self, at: usize, draws: usize) -> Checked {
        self.check_version(at)?;
        self.check_waiting(at)?;
        let node = &self.nodes[at];
        let (seen, bytes) = (node.seen.clone(), node.replica.to_bytes());
        self.canonical(&seen, bytes)?;
        if draws > 0 {
            self.check_view(at)?;
            self.check_bytes(at)?;
            let sample = self.sample(at);
            for _ in 0..draws {
                self.check_several(&sample)?;
            }
            self.keep(sample);
        }
        Ok(())
    }

    /// The version is what was delivered, in whole updates with their whole past (N2, N3), and
    /// heads are its maximal events (N5).
    fn check_version(&mut self, at: usize) -> Checked {
        let node = &self.nodes[at];
        let version = node.replica.version();
        let each = |(id, last)| (1..=last).map(move |counter| Dot::new(id, counter));
        let claimed = self.log.events(version.iter().flat_map(each));
        let claimed = claimed.map_err(|dot| Broken {
            law: "a version includes only what exists",
            what: format!("{dot:?} in {version:?}"),
        })?;
        let law = "a version includes what was delivered and could be included, no more";
        let expected = self.log.dots(&node.seen);
        ensure(law, claimed == node.seen, || {
            format!("got {version:?}\n      expected {expected:?}")
        })?;
        let past = self.log.past(&claimed);
        ensure(
            "a version is causally closed",
            past.is_subset(&claimed),
            || {
                let missing = self.log.dots(&past.difference(&claimed));
                format!("{version:?} lacks {missing:?}")
            },
        )?;
        let heads = self.log.dots(&claimed.difference(&past));
        same(
            "heads are the maximal updates",
            node.replica.heads(),
            &heads,
        )?;
        if heads.len() > 1 {
            self.mark("concurrent heads");
        }
        Ok(())
    }

    fn check_waiting(&mut self, at: usize) -> Checked {
        let node = &mut self.nodes[at];
        let rejected = node.replica.take_rejected();
        same("nothing honest is refused", &rejected, &Vec::new())?;
        let law = "nothing waits but what lacks something";
        same(law, &node.replica.waiting(), &node.waiting.len())?;
        let (mut needs, mut held) = (Events::default(), node.seen.clone());
        for waiting in &node.waiting {
            needs.union_with(&waiting.needs);
            held.union_with(&waiting.claims);
        }
        let needs = self.log.dots(&needs.difference(&held));
        let missing = node.replica.missing();
        ensure(law, needs.is_subset(&missing), || {
            format!("missing {missing:?}, needed {needs:?}")
        })?;
        same(law, &missing.beyond(node.replica.version()), &missing)
    }

    /// One set of events has one byte string, at all replicas and at all times (N1).
    pub fn canonical(&mut self, seen: &Events, bytes: Vec<u8>) -> Checked {
        match self.canon.get(seen) {
            Some(known) => same("equal versions have equal bytes", &bytes, known),
            None => {
                self.canon.insert(seen.clone(), bytes);
                Ok(())
            }
        }
    }

    /// The view is what the included operations mean.
    pub fn check_view(&mut self, at: usize) -> Checked {
        let node = &self.nodes[at];
        let seen = Seen {
            log: &self.log,
            events: &node.seen,
        };
        let view = S::read(node.replica.state());
        S::judge(&seen, &view, &mut self.memory).map_err(|wrong| Broken {
            law: "the view is what the included operations mean",
            what: format!("got {}\n      expected {}", wrong.got, wrong.expected),
        })
    }

    fn check_bytes(&self, at: usize) -> Checked {
        let replica = &self.nodes[at].replica;
        let law = "a state and its bytes are the same";
        let bytes = replica.to_bytes();
        let state = State::<S>::from_bytes(&bytes, &Limits::default());
        let state = state.map_err(|error| Broken {
            law,
            what: format!("{error:?}"),
        })?;
        same(law, &state.to_bytes(), &bytes)?;
        same(law, &state.view(), &replica.view())?;
        same(law, &state.digest(), &replica.digest())?;
        let law = "a resumed save is the same replica";
        let save = replica.save();
        let resumed = Replica::<S>::resume(&save, &Limits::default());
        let resumed = resumed.map_err(|error| Broken {
            law,
            what: format!("{error:?}"),
        })?;
        same(law, &resumed.save(), &save)?;
        let nothing = replica.delta_since(replica.version());
        ensure(
            "an answer to an equal version is empty",
            nothing.is_empty(),
            || format!("{nothing:?}"),
        )
    }

    /// The laws about two and three states: `x` and two older ones.
    fn check_several(&mut self, x: &Sample<S>) -> Checked {
        if self.samples.is_empty() {
            return Ok(());
        }
        let mut draw = || self.samples[self.rng.index(self.samples.len())].clone();
        let (y, z) = (draw(), draw());
        let xy = self.joined(x, &y)?;
        let yx = self.joined(&y, x)?;
        let law = "merge is commutative";
        same(law, &xy.state.to_bytes(), &yx.state.to_bytes())?;
        let left = self.joined(&xy, &z)?;
        let yz = self.joined(&y, &z)?;
        let right = self.joined(x, &yz)?;
        let law = "merge is associative";
        same(law, &left.state.to_bytes(), &right.state.to_bytes())?;
        let law = "merge is idempotent";
        let again = self.joined(&xy, &y)?;
        same(law, &again.state.to_bytes(), &xy.state.to_bytes())?;
        let order = xy.state.version().partial_cmp(x.state.version());
        let grown = matches!(order, Some(Ordering::Greater | Ordering::Equal));
        ensure("merge only adds", grown, || {
            format!("{:?}", xy.state.version())
        })?;

        // An answer is as good as the whole state, also for whom it was not meant.
        let answer = self.hold(x.state.delta_since(y.state.version()))?;
        let answered = self.absorbed(&y, &answer)?;
        let law = "an answer is as good as the whole state";
        same(law, &answered.state.to_bytes(), &yx.state.to_bytes())?;
        self.absorbed(&z, &answer)?;
        // What was joined knows less about removals, and answers as well.
        let relayed = self.hold(xy.state.delta_since(z.state.version()))?;
        let relayed = self.absorbed(&z, &relayed)?;
        same(law, &relayed.state.to_bytes(), &left.state.to_bytes())
    }

    /// `x` merged with `y`, which must be the state of both their events.
    fn joined(&mut self, x: &Sample<S>, y: &Sample<S>) -> Checked<Sample<S>> {
        let mut joined = x.clone();
        let applied = joined.state.merge(&y.state);
        let expected = match y.seen.is_subset(&x.seen) {
            true => Applied::Duplicate,
            false => Applied::New,
        };
        same("a state is merged", &applied, &Ok(expected))?;
        joined.seen.union_with(&y.seen);
        self.canonical(&joined.seen, joined.state.to_bytes())?;
        Ok(joined)
    }

    /// `x` after `held`, which is included exactly if its needs are met.
    pub fn absorbed(&mut self, x: &Sample<S>, held: &Held<S>) -> Checked<Sample<S>> {
        let mut after = x.clone();
        let mut state = x.state.clone();
        let applied = state.absorb(&held.delta);
        state.drop_waiting();
        let right = match applied {
            Ok(Applied::Duplicate) => held.claims.is_subset(&x.seen),
            Ok(Applied::New) => {
                after.seen.union_with(&held.claims);
                held.needs.is_subset(&x.seen) && after.seen != x.seen
            }
            Ok(Applied::Waiting(_)) => {
                let met = held.needs.is_subset(&x.seen);
                !met && !held.claims.is_subset(&x.seen)
            }
            _ => false,
        };
        ensure("absorb says what became of a delta", right, || {
            format!("{applied:?} for {:?}", held.delta)
        })?;
        self.canonical(&after.seen, state.to_bytes())?;
        after.state = state;
        Ok(after)
    }
}
