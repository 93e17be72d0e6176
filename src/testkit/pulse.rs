//! Runs an engine on a thread of its own, so that a call that never returns is reported.

use std::cell::Cell;
use std::panic;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::time::Duration;

use super::schedule::Schedule;
use super::step::Step;

/// How long one call of the type under test may take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);
/// By how much the process may grow, in bytes.
pub(crate) const GROWTH_MAX: u64 = 3 << 30;
/// How often the engine is looked at.
const GLANCE: Duration = Duration::from_millis(25);

/// Where an engine is, for who watches it.
#[derive(Default)]
pub(crate) struct Pulse {
    /// Grows with every step of any run.
    steps: AtomicU64,
    stop: AtomicBool,
    at: Mutex<Option<Schedule>>,
    /// The number of the step that the present run is in.
    reached: AtomicUsize,
    /// The step that is tried after the schedule, in an exhaustive search.
    tried: Mutex<Option<Step>>,
}

impl Pulse {
    /// A step is about to be performed.
    pub fn beat(&self) {
        // Only the engine's thread writes it.
        let steps = self.steps.load(Ordering::Relaxed);
        self.steps.store(steps + 1, Ordering::Relaxed);
    }

    /// The run of `schedule` begins.
    pub fn begins(&self, schedule: &Schedule) {
        *self.at.lock().unwrap_or_else(PoisonError::into_inner) = Some(schedule.clone());
        self.reached.store(0, Ordering::Relaxed);
    }

    /// The step with this number, from 1, begins.
    pub fn reaches(&self, step: usize) {
        self.beat();
        self.reached.store(step, Ordering::Relaxed);
    }

    /// `step` is tried after the schedule that was named last.
    pub fn tries(&self, step: Step) {
        self.beat();
        *self.tried.lock().unwrap_or_else(PoisonError::into_inner) = Some(step);
    }

    /// Whether the process has grown too much.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// The schedule of the present run up to the step it is in.
    fn reached(&self) -> Option<Schedule> {
        let at = self.at.lock().unwrap_or_else(PoisonError::into_inner);
        at.as_ref().map(|schedule| {
            let mut schedule = schedule.clone();
            let tried = self.tried.lock().unwrap_or_else(PoisonError::into_inner);
            if tried.is_none() {
                let reached = self.reached.load(Ordering::Relaxed);
                schedule.steps.truncate(reached);
            }
            schedule.steps.extend(*tried);
            schedule
        })
    }
}

/// Why an engine gave no result.
pub(crate) enum Stuck {
    /// One call did not return within the patience.
    Loops(Option<Schedule>),
    /// The thread ended without a result: a fault of the kit itself.
    Died,
}

/// Runs `engine` and waits for its result, as long as it makes progress.
///
/// A call that never returns keeps its thread; the process goes on without it. If it also eats
/// memory without bound, nothing can stop it but the end of the process: the report is printed, and
/// the process aborts.
pub(crate) fn watched<R: Send + 'static>(
    patience: Duration,
    engine: impl FnOnce(&Pulse) -> R + Send + 'static,
) -> Result<R, Stuck> {
    let pulse = Arc::new(Pulse::default());
    let theirs = Arc::clone(&pulse);
    let (send, receive) = sync_channel(1);
    let thread = std::thread::Builder::new()
        .name("commute testkit".into())
        .stack_size(16 << 20)
        .spawn(move || {
            quietly();
            let result = engine(&theirs);
            let _ = send.send(result);
        });
    if thread.is_err() {
        return Err(Stuck::Died);
    }
    let start = resident();
    let (mut last, mut idle) = (u64::MAX, Duration::ZERO);
    loop {
        match receive.recv_timeout(GLANCE) {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Disconnected) => return Err(Stuck::Died),
            Err(RecvTimeoutError::Timeout) => {}
        }
        let grown = resident().saturating_sub(start);
        if grown > GROWTH_MAX {
            pulse.stop.store(true, Ordering::Relaxed);
        }
        if grown > 2 * GROWTH_MAX {
            last_words(&pulse, grown);
        }
        let steps = pulse.steps.load(Ordering::Relaxed);
        idle = match steps == last {
            true => idle + GLANCE,
            false => Duration::ZERO,
        };
        last = steps;
        if idle >= patience {
            return Err(Stuck::Loops(pulse.reached()));
        }
    }
}

fn last_words(pulse: &Pulse, grown: u64) -> ! {
    let schedule = pulse.reached().map(|schedule| schedule.to_string());
    eprintln!(
        "FAIL  {}\n      one call of the type under test has taken {} MiB and does not return\n      \
         replay  COMMUTE_KIT_REPLAY='{}'",
        super::Law::Bounds,
        grown >> 20,
        schedule.unwrap_or_default()
    );
    std::process::abort()
}

/// Bytes of memory that the process holds; 0 where the system does not say.
fn resident() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").ok();
    let pages = pages.and_then(|text| text.split(' ').nth(1)?.parse::<u64>().ok());
    pages.unwrap_or(0) * 4096
}

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Panics on this thread are caught and reported; they are not printed one by one.
fn quietly() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !QUIET.get() {
                before(info);
            }
        }));
    });
    QUIET.set(true);
}
