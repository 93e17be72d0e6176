//! Work on many replicas at once.

use std::num::NonZeroUsize;
use std::thread;

use crate::peer::Failure;

/// Lets `work` loose on every item with its number, on as many threads as there are processors.
///
/// The items must not depend on each other: then the result is the same on any number of threads.
pub fn in_parallel<T: Send>(
    items: &mut [T],
    work: impl Fn(usize, &mut T) -> Result<(), Failure> + Sync,
) -> Result<(), Failure> {
    let threads = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let share = items.len().div_ceil(threads).max(1);
    let work = &work;
    thread::scope(|scope| {
        let run = |(group, items): (usize, &mut [T])| {
            let mut numbered = items.iter_mut().enumerate();
            numbered.try_for_each(|(at, item)| work(group * share + at, item))
        };
        let groups = items.chunks_mut(share).enumerate();
        let running: Vec<_> = groups
            .map(|group| scope.spawn(move || run(group)))
            .collect();
        running
            .into_iter()
            .try_for_each(|thread| match thread.join() {
                Ok(result) => result,
                Err(panic) => std::panic::resume_unwind(panic),
            })
    })
}
