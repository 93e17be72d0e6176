//! Ends a test that hangs.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// Runs `work`; the whole process ends if it takes longer than a minute.
pub(crate) fn within_a_minute<T>(work: impl FnOnce() -> T) -> T {
    let (done, ended) = channel::<()>();
    thread::spawn(move || {
        if ended.recv_timeout(Duration::from_secs(60)) == Err(RecvTimeoutError::Timeout) {
            eprintln!("still running after a minute");
            std::process::abort();
        }
    });
    let value = work();
    drop(done);
    value
}
