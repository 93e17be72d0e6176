use commute::Replicated;

#[derive(Debug, Replicated)]
struct Board {}

fn main() {}
