use commute::{GCounter, OrSet, Replicated};

#[derive(Debug, Replicated)]
struct Tagged {
    #[replicated(skip, tag = 1)]
    cache: u32,
    votes: GCounter,
}

#[derive(Debug, Replicated)]
struct Nothing {
    #[replicated(skip)]
    tags: OrSet<String>,
}

#[derive(Debug, Replicated)]
struct Unit;

fn main() {}
