//! The fragment of a struct that deltas carry.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use crate::expand::associated;
use crate::model::{Field, Model};

pub(crate) fn expand_part(model: &Model) -> TokenStream {
    let (name, visibility) = (&model.name, &model.visibility);
    let part = format_ident!("{name}Part");
    let (_, _, defined) = model.generics.split_for_impl();
    let generics = model.conditional();
    let (parameters, arguments, clause) = generics.split_for_impl();
    let fields: Vec<_> = model.fields.iter().map(|field| &field.name).collect();
    let types = model.fields.iter().map(|field| associated(field, "Part"));
    let text = format!(" Some entries of a [`{name}`], by field.");
    let (values, bytes) = (expand_part_traits(model), expand_part_bytes(model));
    let content = expand_part_content(model);
    quote! {
        #[doc = #text]
        #visibility struct #part #parameters #defined {
            #( #fields: #types, )*
        }

        #values

        #[automatically_derived]
        impl #parameters ::commute::kernel::Part for #part #arguments #clause {
            fn kind(_: ::commute::kernel::Place) -> ::commute::kernel::ShapeKind {
                ::commute::kernel::ShapeKind::Struct
            }

            #content
            #bytes
        }
    }
}

/// The traits that every part has: a derive would bound the parameters instead of the parts.
fn expand_part_traits(model: &Model) -> TokenStream {
    let part = format_ident!("{}Part", model.name);
    let generics = model.conditional();
    let (parameters, arguments, clause) = generics.split_for_impl();
    let fields: Vec<_> = model.fields.iter().map(|field| &field.name).collect();
    let labels = model.fields.iter().map(Field::label);
    let text = part.to_string();
    quote! {
        #[automatically_derived]
        impl #parameters ::core::clone::Clone for #part #arguments #clause {
            fn clone(&self) -> Self {
                Self { #( #fields: ::core::clone::Clone::clone(&self.#fields), )* }
            }
        }

        #[automatically_derived]
        impl #parameters ::core::default::Default for #part #arguments #clause {
            fn default() -> Self {
                Self { #( #fields: ::core::default::Default::default(), )* }
            }
        }

        #[automatically_derived]
        impl #parameters ::core::cmp::PartialEq for #part #arguments #clause {
            fn eq(&self, other: &Self) -> bool {
                #( self.#fields == other.#fields )&&*
            }
        }

        #[automatically_derived]
        impl #parameters ::core::fmt::Debug for #part #arguments #clause {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.debug_struct(#text) #( .field(#labels, &self.#fields) )* .finish()
            }
        }
    }
}

fn expand_part_content(model: &Model) -> TokenStream {
    let fields: Vec<_> = model.fields.iter().map(|field| &field.name).collect();
    let call = quote! { ::commute::kernel::Part };
    quote! {
        fn is_empty(&self) -> bool {
            #( #call::is_empty(&self.#fields) )&&*
        }

        fn entries(&self) -> u64 {
            #( #call::entries(&self.#fields) )+*
        }

        fn names(&self, out: &mut ::commute::Names) {
            #( #call::names(&self.#fields, out); )*
        }

        fn replicas(
            &self,
            out: &mut ::commute::kernel::fields::BTreeSet<::commute::ReplicaId>,
        ) {
            #( #call::replicas(&self.#fields, out); )*
        }

        fn restrict(&mut self, dots: &::commute::Dots) {
            #( #call::restrict(&mut self.#fields, dots); )*
        }

        fn remove(&mut self, names: &::commute::Names) {
            #( #call::remove(&mut self.#fields, names); )*
        }

        fn union(&mut self, other: Self) -> ::core::result::Result<(), ::commute::MergeError> {
            #( #call::union(&mut self.#fields, other.#fields)?; )*
            ::core::result::Result::Ok(())
        }
    }
}

fn expand_part_bytes(model: &Model) -> TokenStream {
    let by_tag = model.by_tag();
    let tags: Vec<_> = by_tag.iter().map(|field| field.tag).collect();
    let fields: Vec<_> = by_tag.iter().map(|field| &field.name).collect();
    let call = quote! { ::commute::kernel::Part };
    let helpers = quote! { ::commute::kernel::fields };
    quote! {
        fn content(&self, out: &mut #helpers::Vec<u8>) {
            #( #helpers::content(out, #tags, &self.#fields); )*
        }

        fn encode(
            &self,
            encoder: &mut ::commute::codec::Encoder,
            place: ::commute::kernel::Place,
        ) {
            #helpers::encode_count(encoder, [ #( !#call::is_empty(&self.#fields) ),* ]);
            #( #helpers::encode_part(encoder, place, #tags, &self.#fields); )*
        }

        fn decode(
            decoder: &mut ::commute::codec::Decoder<'_>,
            place: ::commute::kernel::Place,
        ) -> ::core::result::Result<Self, ::commute::codec::DecodeError> {
            let mut part = <Self as ::core::default::Default>::default();
            #helpers::decode(decoder, |tag, decoder| match tag {
                #( #tags => #helpers::decode_part(decoder, place, &mut part.#fields), )*
                _ => #helpers::unknown(decoder, tag),
            })?;
            ::core::result::Result::Ok(part)
        }
    }
}
