use commute::{GCounter, Replicated};

#[derive(Debug, Replicated)]
struct Board {
    votes: GCounter,
    names: Vec<bool>,
}

fn main() {}
