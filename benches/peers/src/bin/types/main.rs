//! Speed and memory of the types beside `crdts` and std; `benches/marks types` runs it.
//!
//! Names of parts (`or_set`, `merges`, `words`, `growth`) measure these alone.
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
    let parts: [(&str, fn(&mut Marks, bool)); 4] = [
        ("or_set", or_set::measure),
        ("merges", merges::measure),
        ("words", words::measure),
        ("growth", growth::measure),
    ];
    let named = |name: &str| args.iter().any(|arg| arg == name);
    let all = !parts.iter().any(|(name, _)| named(name));
    let mut marks = Marks::default();
    for (name, measure) in parts {
        if all || named(name) {
            measure(&mut marks, quick);
        }
    }
    marks.exit_code()
}

fn number(text: &str) -> u64 {
    text.parse().expect("a number")
}
