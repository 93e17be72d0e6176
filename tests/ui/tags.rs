use commute::{GCounter, OrSet, Replicated};

#[derive(Debug, Replicated)]
struct Same {
    #[replicated(tag = 1)]
    tags: OrSet<String>,
    count: GCounter,
    #[replicated(tag = 1)]
    other: GCounter,
}

#[derive(Debug, Replicated)]
struct Zero {
    #[replicated(tag = 0)]
    tags: OrSet<String>,
}

#[derive(Debug, Replicated)]
struct Twice {
    #[replicated(tag = 1, tag = 2)]
    tags: OrSet<String>,
}

fn main() {}
