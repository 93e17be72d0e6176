//! `#[derive(Replicated)]` for the crate `commute`, which re-exports it with its feature `derive`.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod expand;
mod model;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Makes one replicated value of a struct of replicated values.
///
/// All fields share one version, so one update may change any number of them and is atomic. Beside
/// the implementation of `Replicated` (and of `Removable`, if every field has it) the derive
/// writes, each as visible as the struct itself:
///
/// - `BoardEdit<'_>` for a struct `Board`: the edit view, with a method per field that returns the
///   edit view of the field. It derefs to `Board`, so an update reads its own writes.
/// - `BoardView`: the plain value, with the view of each field under its name, as
///   `#[derive(Debug, Clone, PartialEq)]`.
/// - `BoardPart`: the fragment that deltas carry.
///
///
/// # Tags
/// On the wire a field is known by its tag, a number from 1 to 2^32 - 1: the `n` of
/// `#[replicated(tag = n)]`, and without it the upper 32 bits of the 64-bit FNV-1a hash of the
/// field's name (without `r#`). So fields may be reordered freely, and
///
/// - **a new field** is empty in old data; peers with the old struct refuse what names it as
///   `NeedsNewer` and keep their state;
/// - **a renamed field** keeps its data only if it gets its old tag as an attribute;
/// - **a field with another type** needs another name or tag.
///
/// Two fields with one tag are an error at compile time.
///
/// # Attributes
/// - on a field: `#[replicated(tag = 7)]`, the tag;
/// - on the struct: `#[replicated(view(derive(Eq, serde::Serialize)))]`, any attributes for the
///   view, separated by commas.
#[proc_macro_derive(Replicated, attributes(replicated))]
pub fn derive_replicated(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    match model::Model::new(input) {
        Ok(model) => expand::expand(&model).into(),
        Err(error) => error.into_compile_error().into(),
    }
}
