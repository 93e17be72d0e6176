use commute::Replicated;

#[derive(Replicated)]
union Board {
    one: u32,
    other: f32,
}

fn main() {}
