//! A line for each promise.

use std::process::ExitCode;

/// Prints a line for each promise and counts those that are short.
#[derive(Default)]
pub struct Marks {
    short: u32,
}

impl Marks {
    /// `value` must be at least `must`.
    pub fn at_least(&mut self, name: &str, value: f64, must: f64) {
        self.line(name, value, must, value >= must);
    }

    /// `value` must be at most `must`.
    pub fn at_most(&mut self, name: &str, value: f64, must: f64) {
        self.line(name, value, must, value <= must);
    }

    /// A value that is told and not promised.
    pub fn info(&self, name: &str, value: f64) {
        println!("info {name} {}", digits(value));
    }

    /// Fails if a promise was short.
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(u8::from(self.short > 0))
    }

    fn line(&mut self, name: &str, value: f64, must: f64, ok: bool) {
        let verdict = if ok { "ok" } else { "short" };
        println!(
            "mark {name} {} must={must} goal={must} {verdict}",
            digits(value)
        );
        self.short += u32::from(!ok);
    }
}

/// Three digits at least, all of those before the point.
fn digits(value: f64) -> String {
    match value.abs() {
        100.0.. => format!("{value:.0}"),
        10.0.. => format!("{value:.1}"),
        1.0.. => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}
