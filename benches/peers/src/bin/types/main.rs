//! Speed and memory of the types beside `crdts` and std; `benches/marks types` runs it.
//!
//! Every value is a ratio of two measurements of one run. `docs/benchmarks.md` says what each of
//! them compares.

mod growth;
mod merges;
mod or_set;
mod pairs;
mod sets;
mod words;

use std::process::ExitCode;

use commute_peers::heap::Counting;
use commute_peers::marks::Marks;

#[global_allocator]
static HEAP: Counting = Counting;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    // Started once more under callgrind, to count the instructions of one operation.
    if let [probe, operation, size, count] = &args[..]
        && probe == "probe"
    {
        growth::probe(operation, number(size), number(count));
        return ExitCode::SUCCESS;
    }
    let quick = args.iter().any(|arg| arg == "--quick");
    let mut marks = Marks::default();
    or_set::measure(&mut marks, quick);
    merges::measure(&mut marks, quick);
    words::measure(&mut marks, quick);
    growth::measure(&mut marks, quick);
    marks.exit_code()
}

fn number(text: &str) -> u64 {
    text.parse().expect("a number")
}
