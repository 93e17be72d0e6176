//! What a merge changes in the view of the struct, by field.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Ident, parse_quote};

use crate::model::{Field, Model};
use crate::views::members;

/// `open_tasks` as `OpenTasks`.
fn variant(field: &Field) -> Ident {
    let name = field.name.to_string();
    let words = name.trim_start_matches("r#").split('_');
    let camel: String = words
        .flat_map(|word| {
            let mut letters = word.chars();
            let first = letters.next().map(|letter| letter.to_uppercase());
            first.into_iter().flatten().chain(letters)
        })
        .collect();
    match syn::parse_str::<Ident>(&camel) {
        Ok(_) => Ident::new(&camel, field.name.span()),
        Err(_) => format_ident!("Field{camel}"),
    }
}

/// The enum of changes has the changes of the fields as its parameters, so that it needs no bounds.
pub(crate) fn expand_change(model: &Model) -> TokenStream {
    let (name, visibility) = (&model.name, &model.visibility);
    let change = format_ident!("{name}Change");
    let variants: Vec<Ident> = model.fields.iter().map(variant).collect();
    let docs = model.fields.iter().map(|field| {
        let text = format!(" A change of `{}`.", field.label());
        quote! { #[doc = #text] }
    });
    let text = format!(" A change in the view of a [`{name}`].");
    let watched = expand_watched(model, &variants);
    quote! {
        #[doc = #text]
        #[derive(
            ::core::clone::Clone,
            ::core::fmt::Debug,
            ::core::cmp::PartialEq,
            ::core::cmp::Eq,
        )]
        #[allow(dead_code, reason = "changes may be printed or compared only")]
        #visibility enum #change< #( #variants ),* > {
            #( #docs #variants(#variants), )*
        }

        #watched
    }
}

fn expand_watched(model: &Model, variants: &[Ident]) -> TokenStream {
    let name = &model.name;
    let change = format_ident!("{name}Change");
    let types: Vec<_> = model.fields.iter().map(|field| &field.ty).collect();
    let mut generics = model.conditional();
    let clause = generics.make_where_clause();
    for ty in &types {
        // `for<'any>` lets the bound be false without being an error: the struct is not watched then.
        let bound = parse_quote!(for<'any> #ty: ::commute::kernel::Watched);
        clause.predicates.push(bound);
    }
    let (parameters, _, clause) = generics.split_for_impl();
    let (_, arguments, _) = model.generics.split_for_impl();
    let own: Vec<_> = model.fields.iter().map(|field| &field.member).collect();
    let parts: Vec<_> = model.fields.iter().map(|field| &field.name).collect();
    let shown = members(model);
    let befores: Vec<Ident> = (0..types.len())
        .map(|at| format_ident!("before_{at}"))
        .collect();
    let watched = quote! { ::commute::kernel::Watched };
    // Pairs of pairs have `Default` however many there are.
    let before = types.iter().rev().fold(quote! { () }, |rest, ty| {
        quote! { (<#ty as #watched>::Before, #rest) }
    });
    let pattern = befores.iter().rev().fold(quote! { () }, |rest, before| {
        quote! { (#before, #rest) }
    });
    quote! {
        #[automatically_derived]
        impl #parameters #watched for #name #arguments #clause {
            type Change = #change< #( <#types as #watched>::Change ),* >;
            type Before = #before;

            fn remember(
                &self,
                part: &Self::Part,
                dead: &::commute::Names,
                before: &mut Self::Before,
            ) {
                let #pattern = before;
                #( <#types as #watched>::remember(&self.#own, &part.#parts, dead, #befores); )*
            }

            fn changes(
                &self,
                before: Self::Before,
            ) -> ::commute::kernel::fields::Vec<Self::Change> {
                let #pattern = before;
                let mut changes = ::commute::kernel::fields::Vec::new();
                #(
                    let of_field = <#types as #watched>::changes(&self.#own, #befores);
                    changes.extend(of_field.into_iter().map(#change::#variants));
                )*
                changes
            }

            fn follow(view: &mut Self::View, change: Self::Change) {
                match change {
                    #( #change::#variants(change) =>
                        <#types as #watched>::follow(&mut view.#shown, change), )*
                }
            }
        }
    }
}
