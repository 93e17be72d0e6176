//! What a search found.

use std::fmt;

use super::coverage::{Coverage, Mark};
use super::failure::Failure;
use super::law::Law;
use super::story::Story;

/// The result of a search: what was searched, what failed, what was reached.
#[must_use]
#[derive(Clone, Debug)]
pub struct Report {
    pub(crate) subject: String,
    pub(crate) schedules: u64,
    pub(crate) states: u64,
    pub(crate) complete: Option<usize>,
    pub(crate) failures: Vec<Failure>,
    pub(crate) inconclusive: Option<String>,
    pub(crate) coverage: Coverage,
    /// What is to be said of a search that is clean for all that.
    pub(crate) note: Option<String>,
    /// Of a replay.
    pub(crate) story: Option<Story>,
}

impl Report {
    pub(crate) fn new(subject: String) -> Report {
        Report {
            subject,
            schedules: 0,
            states: 0,
            complete: None,
            failures: Vec::new(),
            inconclusive: None,
            coverage: Coverage::new(),
            note: None,
            story: None,
        }
    }

    /// Whether the whole budget was spent and no law broke.
    pub fn is_clean(&self) -> bool {
        self.failures.is_empty() && self.inconclusive.is_none()
    }

    /// The laws that broke, the first failure of each.
    pub fn failures(&self) -> &[Failure] {
        &self.failures
    }

    /// The failure of `law`, if it broke.
    pub fn failure(&self, law: Law) -> Option<&Failure> {
        self.failures
            .iter()
            .find(|failure| failure.broken.law == law)
    }

    /// Why the search proves nothing, if it ended before its budget was spent.
    pub fn inconclusive(&self) -> Option<&str> {
        self.inconclusive.as_deref()
    }

    /// How many random schedules were run.
    pub fn schedules(&self) -> u64 {
        self.schedules
    }

    /// How many different states the exhaustive search visited.
    pub fn states(&self) -> u64 {
        self.states
    }

    /// The number of steps up to which the exhaustive search is complete.
    pub fn complete_to(&self) -> Option<usize> {
        self.complete
    }

    /// What happened how often.
    pub fn coverage(&self) -> &Coverage {
        &self.coverage
    }

    /// What the steps of a replay did, whether or not a law broke; `None` for a search.
    ///
    /// It prints as the drawing of a failure does.
    pub fn story(&self) -> Option<&Story> {
        self.story.as_ref()
    }

    /// Adds a failure, if it is the first one of its law.
    pub(crate) fn add(&mut self, failure: Failure) {
        if self.failure(failure.broken.law).is_none() {
            self.failures.push(failure);
        }
    }

    /// A search in which no operation was done has shown nothing.
    pub(crate) fn must_have_done(&mut self) {
        let idle = self.coverage.count(Mark::Done) == 0;
        if idle && self.failures.is_empty() && self.inconclusive.is_none() {
            let why = "no operation was ever done: none was chosen, or all were refused or without \
                       effect";
            self.inconclusive = Some(why.into());
        }
    }

    /// Does nothing if the report is clean.
    ///
    /// # Panics
    /// With the report, if a law broke or the budget was not spent.
    #[track_caller]
    pub fn unwrap_clean(&self) {
        assert!(self.is_clean(), "\n{self}");
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for failure in &self.failures {
            writeln!(f, "{failure}")?;
        }
        if let Some(why) = &self.inconclusive {
            writeln!(f, "INCONCLUSIVE  {}   {why}", self.subject)?;
        }
        if self.is_clean() {
            writeln!(f, "ok    {}   {}", self.subject, searched(self))?;
        }
        Ok(())
    }
}

/// `142,563 states; complete to depth 7`
pub(crate) fn searched(report: &Report) -> String {
    let mut parts = Vec::new();
    if report.story.is_some() {
        parts.push("replayed".into());
    } else if report.schedules > 0 {
        parts.push(format!("{} random schedules", grouped(report.schedules)));
    }
    if report.states > 0 {
        parts.push(format!("{} states", grouped(report.states)));
    }
    if let Some(depth) = report.complete {
        let clean = match report.failures.is_empty() {
            true => " without failure",
            false => "",
        };
        parts.push(format!("complete to depth {depth}{clean}"));
    }
    parts.extend(report.note.clone());
    parts.join("; ")
}

/// `142,563`
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[test]
fn thousands_are_set_apart() {
    assert_eq!(grouped(7), "7");
    assert_eq!(grouped(142_563), "142,563");
    assert_eq!(grouped(1_000), "1,000");
}
