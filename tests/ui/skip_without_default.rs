use commute::{GCounter, Replicated};

#[derive(Debug)]
struct Handle(u32);

#[derive(Debug, Replicated)]
struct Board {
    #[replicated(skip)]
    handle: Handle,
    votes: GCounter,
}

fn main() {}
