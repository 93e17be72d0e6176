//! A progress bar, drawn only for a person who has to wait.

use std::io::{IsTerminal, Write, stderr};
use std::time::Duration;

use commute::env::{Env, MonoTime, SystemEnv};

/// Whoever waits for less than this sees no bar.
const PATIENCE: Duration = Duration::from_millis(700);
const REDRAWN_AFTER: Duration = Duration::from_millis(100);
const WIDTH: usize = 40;

/// How far a task is.
#[derive(Debug)]
pub struct Progress {
    total: usize,
    done: usize,
    shown: bool,
    redraw_at: MonoTime,
}

impl Progress {
    /// Of `total` steps none is done.
    pub fn new(total: usize) -> Progress {
        Progress {
            total,
            done: 0,
            shown: false,
            redraw_at: SystemEnv::new().now().saturating_add(PATIENCE),
        }
    }

    /// One more step is done.
    pub fn step(&mut self) {
        self.done += 1;
        // The clock and the terminal are asked now and then only.
        if self.done.is_multiple_of(64) && SystemEnv::new().now() >= self.redraw_at {
            self.draw();
        }
    }

    fn draw(&mut self) {
        self.redraw_at = SystemEnv::new().now().saturating_add(REDRAWN_AFTER);
        if !stderr().is_terminal() {
            return;
        }
        self.shown = true;
        let percent = self.done * 100 / self.total.max(1);
        let bar = "#".repeat((percent * WIDTH / 100).min(WIDTH));
        // A terminal that is gone is no reason to stop.
        let _ = write!(stderr(), "\r  [{bar:<WIDTH$}] {percent:3} %");
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.shown {
            let _ = write!(stderr(), "\r{:width$}\r", "", width = WIDTH + 12);
        }
    }
}
