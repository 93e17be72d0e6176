//! Ends a test that hangs.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// Runs `work`; the whole process ends if it hangs.
///
/// What it runs takes seconds: a slow machine is no failure.
pub(crate) fn without_hanging<T>(work: impl FnOnce() -> T) -> T {
    let (done, ended) = channel::<()>();
    thread::spawn(move || {
        if ended.recv_timeout(Duration::from_secs(20 * 60)) == Err(RecvTimeoutError::Timeout) {
            eprintln!("still running after twenty minutes");
            std::process::abort();
        }
    });
    let value = work();
    drop(done);
    value
}
