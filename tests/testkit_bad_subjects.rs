//! Types that misbehave are reported; the kit neither hangs nor passes them.
#![cfg(feature = "testkit")]

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use commute::ReplicaId;
use commute::testkit::{
    Applied, Capabilities, Delivery, Explore, Law, OpBased, Outcome, Random, Rejected, Report,
    Source, StateBased, Subject,
};

/// What a type does wrong.
const RIGHT: u8 = 0;
const PANICS: u8 = 1;
const LOOPS: u8 = 2;
const FORGETS: u8 = 3;
const NEEDS_MORE: u8 = 4;
const DOES_NOTHING: u8 = 5;

/// Numbers that only come; with fault `F`.
#[derive(Clone, PartialEq, Debug)]
struct Numbers<const F: u8> {
    me: ReplicaId,
    all: BTreeSet<(ReplicaId, u64)>,
    new: Vec<(ReplicaId, u64)>,
}

static CALLS: AtomicU64 = AtomicU64::new(0);

impl<const F: u8> Numbers<F> {
    fn misbehave(&self) {
        match F {
            PANICS => panic!("three are too many"),
            LOOPS => loop {
                std::hint::spin_loop();
            },
            _ => {}
        }
    }
}

impl<const F: u8> Subject for Numbers<F> {
    type Op = ();
    type View = BTreeSet<(ReplicaId, u64)>;

    fn new(me: ReplicaId) -> Self {
        Numbers {
            me,
            all: BTreeSet::new(),
            new: Vec::new(),
        }
    }

    fn duplicate(&self) -> Self {
        self.clone()
    }

    fn choose(&self, _: &mut Source<'_>) -> Option<()> {
        (F != DOES_NOTHING).then_some(())
    }

    fn perform(&mut self, (): &()) -> Outcome {
        let next = match F {
            // Counted for the whole process: a second run counts on.
            FORGETS => CALLS.fetch_add(1, Ordering::Relaxed),
            _ => self.all.iter().filter(|(id, _)| *id == self.me).count() as u64,
        };
        self.all.insert((self.me, next));
        self.new.push((self.me, next));
        if self.all.len() == 3 {
            self.misbehave();
        }
        Outcome::Done
    }

    fn view(&self) -> Self::View {
        self.all.clone()
    }
}

impl<const F: u8> StateBased for Numbers<F> {
    fn merge(&mut self, other: &Self) -> Result<(), Rejected> {
        self.all.extend(&other.all);
        Ok(())
    }

    fn same_state(&self, other: &Self) -> bool {
        self.all == other.all
    }
}

impl<const F: u8> OpBased for Numbers<F> {
    type Message = (ReplicaId, u64);
    /// For `NEEDS_MORE` a lie.
    const NEEDS: Delivery = Delivery::Any;

    fn outbox(&mut self) -> Vec<Self::Message> {
        std::mem::take(&mut self.new)
    }

    fn receive(&mut self, (id, number): &Self::Message) -> Result<Applied, Rejected> {
        let gap = *number > 0 && !self.all.contains(&(*id, number - 1));
        if F == NEEDS_MORE && gap {
            return Err(Rejected::new("out of order"));
        }
        self.all.insert((*id, *number));
        Ok(Applied::New)
    }
}

fn merging<const F: u8>() -> Capabilities<Numbers<F>> {
    Capabilities::new().state()
}

fn both(random: Law, exhaustive: Law, reports: [Report; 2]) {
    for (law, report) in [random, exhaustive].into_iter().zip(&reports) {
        let failure = report.failures().first();
        assert_eq!(
            failure.map(|failure| failure.broken.law),
            Some(law),
            "{report}"
        );
        assert!(
            report.to_string().contains("COMMUTE_KIT_REPLAY="),
            "{report}"
        );
    }
}

fn searched<const F: u8>() -> [Report; 2] {
    // A busy machine may stop a right type for a while; an endless loop stops for ever.
    let patience = Duration::from_secs(3);
    [
        Random::of(merging::<F>())
            .schedules(100)
            .patience(patience)
            .run(),
        Explore::of(merging::<F>())
            .steps(4)
            .patience(patience)
            .run(),
    ]
}

#[test]
fn one_that_behaves_is_clean() {
    for report in searched::<RIGHT>() {
        report.unwrap_clean();
    }
}

#[test]
fn a_panic_is_reported_with_its_message() {
    let reports = searched::<PANICS>();
    assert!(reports[0].to_string().contains("three are too many"));
    assert!(reports[1].failures()[0].minimal);
    both(Law::Panic, Law::Panic, reports);
}

#[test]
fn a_call_that_never_returns_is_reported() {
    both(Law::Bounds, Law::Bounds, searched::<LOOPS>());
}

#[test]
fn one_that_does_something_else_each_time_is_reported() {
    let report = Random::of(merging::<FORGETS>()).schedules(10).run();
    let failure = report.failures().first();
    assert_eq!(
        failure.map(|failure| failure.broken.law),
        Some(Law::H1),
        "{report}"
    );
}

#[test]
fn one_that_breaks_its_delivery_contract_is_told_so() {
    let can = Capabilities::<Numbers<NEEDS_MORE>>::new().operations();
    let report = Random::of(can).schedules(100).run();
    let failure = report.failures().first();
    assert_eq!(
        failure.map(|failure| failure.broken.law),
        Some(Law::O3),
        "{report}"
    );
    assert!(report.to_string().contains("declares to need"), "{report}");
}

#[test]
fn without_an_exchange_or_a_spent_budget_nothing_is_proven() {
    let unconnected = Random::new::<Numbers<RIGHT>>().run();
    assert!(unconnected.inconclusive().is_some() && !unconnected.is_clean());
    let small = Explore::of(merging::<RIGHT>())
        .steps(6)
        .states_max(10)
        .run();
    assert!(small.inconclusive().is_some() && !small.is_clean());
    let short = Random::of(merging::<RIGHT>())
        .time_max(Duration::ZERO)
        .run();
    assert!(short.inconclusive().is_some() && !short.is_clean());
}

mod idle {
    use super::{DOES_NOTHING, Numbers};
    use commute::testkit::{Capabilities, Law, Suite};

    #[test]
    #[should_panic(expected = "never had an effect")]
    fn a_suite_in_which_nothing_happens_fails() {
        let can = Capabilities::<Numbers<DOES_NOTHING>>::new().state();
        let suite = Suite::new("idle", "no such folder", can).states(10, 0);
        suite.run().check(Law::H2);
    }
}
