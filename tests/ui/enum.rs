use commute::{OrSet, Replicated};

#[derive(Debug, Replicated)]
enum Board {
    Tags(OrSet<String>),
}

fn main() {}
