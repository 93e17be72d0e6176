//! `#[derive(Replicated)]` for the crate `commute`, which re-exports it with its feature `derive`.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod change;
mod expand;
mod model;
mod part;
mod views;

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
/// - `BoardView`: the plain value, with the view of each field under its name; it has `Debug`,
///   `Clone` and `PartialEq`, and with the feature `serde` of `commute` also `Serialize`, if the
///   views of all fields have it.
/// - `BoardPart`: the fragment that deltas carry.
///
/// A struct may have type parameters and constants, with bounds and a `where` clause; what its
/// fields need is added to it. It owns what it holds, so it has no lifetime.
///
/// # Fields without names
/// The view of a tuple struct is a tuple struct. In the edit view the method of field 0 is
/// `field_0`, and so on.
///
/// # Tags
/// On the wire a field is known by its tag, a number from 1 to 2^32 - 1: the `n` of
/// `#[replicated(tag = n)]`, and without it the upper 32 bits of the 64-bit FNV-1a hash of the
/// field's name (without `r#`). So fields may be reordered freely, and
///
/// - **a new field** is empty in old data; peers with the old struct keep what it holds without
///   seeing it: they merge it, remove it with the key of a map that it is under, and pass it on;
/// - **a removed field** is kept and passed on in the same way;
/// - **a renamed field** keeps its data only if it gets its old tag as an attribute;
/// - **a field with another type** needs another name or tag.
///
/// The only replicated field of a tuple struct has the hash of its number in decimal. If there are
/// several, each must have a tag of its own, so that moving one cannot mean another one silently.
/// Two fields with one tag are an error at compile time.
///
/// # Fields that are not replicated
/// `#[replicated(skip)]` makes a field local: a cache, a handle, a selection. Its type has `Default`
/// and `Clone`; it is in no delta, bytes, save, view or digest and starts with its default value,
/// also where a state was read from bytes. Merges leave it alone, and clones and forks get a copy.
/// The edit view has a method of its name that returns `&mut`; an update that fails does not undo
/// what it did there, and one that does nothing else has no effect. A struct below a map loses its
/// local fields with its key.
///
/// A state whose type has local fields is not taken over whole by a merge into one that lacks
/// updates: such a merge costs O(n) instead of O(replicas).
///
/// A struct cannot hold itself, not even below a map or a list: a tree is a `Value`, or a map of nodes
/// by id in which each names its parent.
///
/// # Attributes
/// - on a field: `#[replicated(tag = 7)]`, the tag; `#[replicated(skip)]`, not replicated;
/// - on the struct: `#[replicated(view(derive(Eq, Hash)))]`, any attributes for the view, separated
///   by commas. If these derive `Serialize`, it is not implemented once more.
#[proc_macro_derive(Replicated, attributes(replicated))]
pub fn derive_replicated(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    match model::Model::new(input) {
        Ok(model) => expand::expand(&model).into(),
        Err(error) => error.into_compile_error().into(),
    }
}
