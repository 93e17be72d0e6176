use commute::{GCounter, OrSet, Replicated};

#[derive(Debug, Replicated)]
struct Board(OrSet<String>, #[replicated(tag = 1)] GCounter);

#[derive(Debug, Replicated)]
struct Same(
    #[replicated(tag = 1)] OrSet<String>,
    #[replicated(tag = 1)] GCounter,
);

fn main() {}
