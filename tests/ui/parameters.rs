use std::marker::PhantomData;

use commute::{GCounter, Replicated};

#[derive(Debug, Replicated)]
struct Borrowed<'a> {
    #[replicated(skip)]
    name: &'a str,
    votes: GCounter,
}

#[derive(Debug, Replicated)]
struct Unused<T> {
    #[replicated(skip)]
    unit: PhantomData<T>,
    votes: GCounter,
}

fn main() {}
