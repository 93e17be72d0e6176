//! Runs an engine on a thread of its own, so that a call that never returns is reported.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::time::Duration;

use super::report::Report;
use super::schedule::Schedule;
use super::step::Step;

/// How long one call of the type under test may take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);
/// By how much the process may grow, in bytes.
pub(crate) const GROWTH_MAX: u64 = 3 << 30;
/// How often the engine is looked at.
const GLANCE: Duration = Duration::from_millis(25);

/// How many engines run in this process.
static ENGINES: AtomicUsize = AtomicUsize::new(0);

/// Where an engine is, for who watches it.
#[derive(Default)]
pub(crate) struct Pulse {
    /// Grows with every step of any run.
    steps: AtomicU64,
    stop: AtomicBool,
    /// Whether another engine ran at the same time.
    shared: AtomicBool,
    at: Mutex<Option<Schedule>>,
    /// The number of the step that the present run is in.
    reached: AtomicUsize,
    /// The step that is tried after the schedule, in an exhaustive search.
    tried: Mutex<Option<Step>>,
    /// What was found so far, should a later call not return.
    found: Mutex<Option<Report>>,
}

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
    /// The pulse of the engine that runs on this thread.
    static HERE: RefCell<Option<Arc<Pulse>>> = const { RefCell::new(None) };
}

/// The next call of the type under test begins, within a step that makes many of them.
pub(crate) fn beat() {
    HERE.with_borrow(|pulse| {
        if let Some(pulse) = pulse {
            pulse.beat();
        }
    });
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

    /// Whether it has grown too much while other engines ran too, each of which may be the reason.
    pub fn is_stopped_by_some(&self) -> bool {
        self.is_stopped() && self.shared.load(Ordering::Relaxed)
    }

    /// Keeps a copy of what was found so far.
    pub fn keep(&self, report: &Report) {
        *self.found.lock().unwrap_or_else(PoisonError::into_inner) = Some(report.clone());
    }

    fn found(&self) -> Option<Report> {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.take()
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
    Loops,
    /// A call panicked where no single run could catch it.
    Panicked(String),
    /// There is no thread, or it ended without a result.
    Died,
}

/// Why an engine gave no result, what it was doing, and what it had found.
pub(crate) struct Stopped {
    pub stuck: Stuck,
    pub schedule: Option<Schedule>,
    pub found: Option<Report>,
}

/// One more engine, as long as this lives.
struct Running;

impl Running {
    fn new() -> Running {
        ENGINES.fetch_add(1, Ordering::Relaxed);
        Running
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        ENGINES.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Runs `engine` and waits for its result, as long as it makes progress.
///
/// A call that never returns keeps its thread; the process goes on without it. If it also eats
/// memory without bound, nothing can stop it but the end of the process: the report is printed, and
/// the process aborts.
pub(crate) fn watched(
    patience: Duration,
    engine: impl FnOnce(&Pulse) -> Report + Send + 'static,
) -> Result<Report, Box<Stopped>> {
    let pulse = Arc::new(Pulse::default());
    let theirs = Arc::clone(&pulse);
    let (send, receive) = sync_channel(1);
    let running = Running::new();
    let thread = std::thread::Builder::new()
        .name("commute testkit".into())
        .stack_size(16 << 20)
        .spawn(move || {
            quietly();
            HERE.set(Some(Arc::clone(&theirs)));
            let result = catch_unwind(AssertUnwindSafe(|| engine(&theirs)));
            // It counts for as long as it runs, also when nobody waits for it any more.
            drop(running);
            let _ = send.send(result.map_err(text_of));
        });
    let stopped = |stuck| {
        Box::new(Stopped {
            stuck,
            schedule: pulse.reached(),
            found: pulse.found(),
        })
    };
    if thread.is_err() {
        return Err(stopped(Stuck::Died));
    }
    let start = resident();
    let (mut last, mut idle) = (u64::MAX, Duration::ZERO);
    loop {
        match receive.recv_timeout(GLANCE) {
            Ok(Ok(report)) => return Ok(report),
            Ok(Err(panic)) => return Err(stopped(Stuck::Panicked(panic))),
            Err(RecvTimeoutError::Disconnected) => return Err(stopped(Stuck::Died)),
            Err(RecvTimeoutError::Timeout) => {}
        }
        if ENGINES.load(Ordering::Relaxed) > 1 {
            pulse.shared.store(true, Ordering::Relaxed);
        }
        let steps = pulse.steps.load(Ordering::Relaxed);
        idle = match steps == last {
            true => idle + GLANCE,
            false => Duration::ZERO,
        };
        last = steps;
        let grown = resident().saturating_sub(start);
        if grown > GROWTH_MAX {
            pulse.stop.store(true, Ordering::Relaxed);
        }
        // One that goes on will see that it has to stop.
        if grown > 2 * GROWTH_MAX && idle > Duration::ZERO {
            last_words(&pulse, grown);
        }
        if idle >= patience {
            return Err(stopped(Stuck::Loops));
        }
    }
}

/// The message of a panic.
pub(crate) fn text_of(panic: Box<dyn Any + Send>) -> String {
    let panic = match panic.downcast::<String>() {
        Ok(text) => return *text,
        Err(panic) => panic,
    };
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    // Dropping what somebody panicked with may panic again.
    std::mem::forget(panic);
    text.unwrap_or_else(|| "a panic without a message".into())
}

fn last_words(pulse: &Pulse, grown: u64) -> ! {
    let schedule = pulse.reached().map(|schedule| schedule.to_string());
    eprintln!(
        "FAIL  {}\n      the process has grown by {} MiB while this type was tested, and a call does not \
         return\n      \
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
