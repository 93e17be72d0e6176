//! Ends a test that hangs.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// Runs `work`; the whole process ends if it takes longer than two minutes.
pub(crate) fn within_two_minutes<T>(work: impl FnOnce() -> T) -> T {
    let (done, ended) = channel::<()>();
    thread::spawn(move || {
        if ended.recv_timeout(Duration::from_secs(120)) == Err(RecvTimeoutError::Timeout) {
            eprintln!("still running after two minutes");
            std::process::abort();
        }
    });
    let value = work();
    drop(done);
    value
}
