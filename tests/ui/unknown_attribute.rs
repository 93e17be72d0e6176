use commute::{GCounter, OrSet, Replicated};

#[derive(Debug, Replicated)]
struct Board {
    #[replicated(tga = 1)]
    tags: OrSet<String>,
    #[replicated(tag = 4_294_967_296)]
    count: GCounter,
}

#[derive(Debug, Replicated)]
#[replicated(tag = 1)]
struct Other {
    tags: OrSet<String>,
}

fn main() {}
