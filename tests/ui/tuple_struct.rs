use commute::{OrSet, Replicated};

#[derive(Debug, Replicated)]
struct Board(OrSet<String>);

fn main() {}
