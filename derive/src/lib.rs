//! `#[derive(Replicated)]`.
