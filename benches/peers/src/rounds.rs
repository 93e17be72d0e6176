//! Taking times in turns.

use std::hint::black_box;
use std::time::Instant;

/// Seconds that `run` takes; what it returns is dropped after the clock has stopped.
pub fn seconds<R>(run: impl FnOnce() -> R) -> f64 {
    let start = Instant::now();
    let result = black_box(run());
    let elapsed = start.elapsed();
    drop(result);
    elapsed.as_secs_f64()
}

/// The best of `rounds` of each contender, taken in turns, so that a busy machine disturbs all of
/// them alike.
pub fn best<const N: usize>(rounds: u32, mut round: impl FnMut() -> [f64; N]) -> [f64; N] {
    let mut best = [f64::INFINITY; N];
    for _ in 0..rounds {
        let times = round();
        best.iter_mut()
            .zip(times)
            .for_each(|(best, time)| *best = best.min(time));
    }
    best
}
