//! What the suite of one type found.

use super::super::failure::Failure;
use super::super::law::{Law, Laws, alike};
use super::super::report::Report;

/// What the suite of one type found.
#[derive(Clone, Debug)]
pub struct SuiteReport {
    pub(super) name: &'static str,
    pub(super) failures: Vec<Failure>,
    pub(super) vacuous: Vec<String>,
    pub(super) inconclusive: Vec<String>,
    pub(super) searched: Vec<String>,
    /// Settings that could not be read.
    pub(super) wrong: Vec<String>,
    /// The laws that have a test of their own.
    pub(super) asked: Laws,
}

impl SuiteReport {
    pub(super) fn add(&mut self, report: Report) {
        self.searched.push(report.to_string());
        self.inconclusive
            .extend(report.inconclusive().map(String::from));
        for failure in report.failures() {
            let known = self
                .failures
                .iter()
                .any(|other| other.broken.law == failure.broken.law);
            if !known {
                self.failures.push(failure.clone());
            }
        }
    }

    /// Does nothing if `law` holds.
    ///
    /// # Panics
    /// With the failure, if it broke; for H2, if a kind of step never had an effect; for
    /// [`Law::Bounds`] also if a search could not spend its budget; for every law if a variable
    /// `COMMUTE_KIT_*` could not be read.
    #[track_caller]
    pub fn check(&self, law: Law) {
        assert!(
            self.wrong.is_empty(),
            "{}: {}",
            self.name,
            self.wrong.join("; ")
        );
        if let Some(failure) = self
            .failures
            .iter()
            .find(|failure| failure.broken.law == law)
        {
            panic!("\n{failure}");
        }
        if law == Law::H2 && !self.vacuous.is_empty() {
            panic!(
                "{}: never had an effect: {}",
                self.name,
                self.vacuous.join(", ")
            );
        }
        if law == Law::Bounds && !self.inconclusive.is_empty() {
            panic!(
                "{}: inconclusive: {}",
                self.name,
                self.inconclusive.join("; ")
            );
        }
        // Shown with `cargo test -- --nocapture`.
        if law == Law::S3 {
            self.searched.iter().for_each(|line| print!("{line}"));
        }
    }

    /// [`check`](Self::check) for the laws about the meaning of a type.
    ///
    /// # Panics
    /// If one of them broke.
    #[track_caller]
    pub fn check_meaning(&self) {
        // Not by a closure, which would name this line instead of the test.
        for law in [Law::S1, Law::T1, Law::T2, Law::T3] {
            self.check(law);
        }
    }

    /// [`check`](Self::check) for the laws that no other test of the suite asks for: those that are
    /// found without being looked for, and whatever a specification names.
    ///
    /// # Panics
    /// If one of them broke.
    #[track_caller]
    pub fn check_others(&self) {
        for law in Law::ALL.iter().filter(|law| !self.asked.has(**law)) {
            self.check(*law);
        }
    }

    /// The laws that are worth asking for.
    pub(super) fn unbroken(&self) -> Laws {
        let all = self.broken().map(Laws::like);
        all.fold(Laws::ALL, Laws::minus)
    }

    /// The laws that broke.
    pub fn broken(&self) -> impl Iterator<Item = Law> + '_ {
        self.failures.iter().map(|failure| failure.broken.law)
    }

    /// Whether nothing broke that is `like` this law: one fault may break several.
    pub fn holds(&self, like: Law) -> bool {
        !self.broken().any(|law| alike(law, like))
    }
}
