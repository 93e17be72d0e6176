use commute::{OrSet, Replicated};

#[derive(Debug, Replicated)]
struct Board<T> {
    tags: OrSet<T>,
}

fn main() {}
