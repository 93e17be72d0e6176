//! What the derive writes.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;

use crate::model::{Field, Model};

pub(crate) fn expand(model: &Model) -> TokenStream {
    let (value, part) = (expand_value(model), expand_part(model));
    let (edit, view) = (expand_edit(model), expand_view(model));
    let removable = expand_removable(model);
    quote! { #value #removable #edit #view #part }
}

/// `<Type as Replicated>`, so that an error about it points at the type.
fn replicated(field: &Field) -> TokenStream {
    let ty = &field.ty;
    quote_spanned! { ty.span() => <#ty as ::commute::kernel::Replicated> }
}

fn expand_value(model: &Model) -> TokenStream {
    let name = &model.name;
    let part = format_ident!("{name}Part");
    let edit = format_ident!("{name}Edit");
    let view = format_ident!("{name}View");
    let fields: Vec<_> = model.fields.iter().map(|field| &field.name).collect();
    let types: Vec<_> = model.fields.iter().map(replicated).collect();
    let bytes = expand_value_bytes(model);
    quote! {
        #[automatically_derived]
        impl ::commute::kernel::Replicated for #name {
            type Part = #part;
            type Edit<'a> = #edit<'a>;
            type View = #view;

            fn kind(_: ::commute::kernel::Place) -> ::commute::kernel::ShapeKind {
                ::commute::kernel::ShapeKind::Struct
            }

            fn empty(place: ::commute::kernel::Place) -> Self {
                Self { #( #fields: #types::empty(place), )* }
            }

            fn edit<'a>(&'a mut self, update: &'a mut ::commute::kernel::Update) -> #edit<'a> {
                #edit { state: self, update }
            }

            fn view(&self) -> #view {
                #view { #( #fields: #types::view(&self.#fields), )* }
            }

            fn visible(&self) -> bool {
                #( #types::visible(&self.#fields) )||*
            }

            fn is_bottom(&self) -> bool {
                #( #types::is_bottom(&self.#fields) )&&*
            }

            fn entries(&self) -> u64 {
                #( #types::entries(&self.#fields) )+*
            }

            fn names(&self, of: &::commute::Dots, out: &mut ::commute::Names) {
                #( #types::names(&self.#fields, of, out); )*
            }

            fn part(&self, of: &::commute::Dots) -> #part {
                #part { #( #fields: #types::part(&self.#fields, of), )* }
            }

            fn check(
                &self,
                part: &#part,
                known: &::commute::Version,
            ) -> ::core::result::Result<u64, ::commute::MergeError> {
                let mut common = 0;
                #( common += #types::check(&self.#fields, &part.#fields, known)?; )*
                ::core::result::Result::Ok(common)
            }

            fn check_kill(
                &self,
                names: &::commute::Names,
            ) -> ::core::result::Result<(), ::commute::MergeError> {
                #( #types::check_kill(&self.#fields, names)?; )*
                ::core::result::Result::Ok(())
            }

            fn kill(&mut self, names: &::commute::Names) {
                #( #types::kill(&mut self.#fields, names); )*
            }

            fn adopt(&mut self, part: #part, known: &::commute::Version) {
                #( #types::adopt(&mut self.#fields, part.#fields, known); )*
            }

            fn check_join(
                &self,
                mine: &::commute::Version,
                other: &Self,
                theirs: &::commute::Version,
            ) -> ::core::result::Result<u64, ::commute::MergeError> {
                let mut common = 0;
                #( common += #types::check_join(&self.#fields, mine, &other.#fields, theirs)?; )*
                ::core::result::Result::Ok(common)
            }

            fn join(
                &mut self,
                mine: &::commute::Version,
                other: &Self,
                theirs: &::commute::Version,
            ) {
                #( #types::join(&mut self.#fields, mine, &other.#fields, theirs); )*
            }

            fn publish(&mut self, update: &::commute::kernel::Update) -> #part {
                #part { #( #fields: #types::publish(&mut self.#fields, update), )* }
            }

            fn rollback(&mut self) {
                #( #types::rollback(&mut self.#fields); )*
            }

            #bytes
        }
    }
}

fn expand_value_bytes(model: &Model) -> TokenStream {
    let by_tag = model.by_tag();
    let tags: Vec<_> = by_tag.iter().map(|field| field.tag).collect();
    let fields: Vec<_> = by_tag.iter().map(|field| &field.name).collect();
    let types: Vec<_> = by_tag.iter().map(|field| replicated(field)).collect();
    let helpers = quote! { ::commute::kernel::fields };
    quote! {
        fn encode(
            &self,
            encoder: &mut ::commute::codec::Encoder,
            place: ::commute::kernel::Place,
        ) {
            #helpers::encode_count(encoder, [ #( !#types::is_bottom(&self.#fields) ),* ]);
            #( #helpers::encode_field(encoder, place, #tags, &self.#fields); )*
        }

        fn decode(
            decoder: &mut ::commute::codec::Decoder<'_>,
            place: ::commute::kernel::Place,
        ) -> ::core::result::Result<Self, ::commute::codec::DecodeError> {
            let mut value = <Self as ::commute::kernel::Replicated>::empty(place);
            #helpers::decode(decoder, |tag, decoder| match tag {
                #( #tags => #helpers::decode_field(decoder, place, &mut value.#fields), )*
                _ => #helpers::unknown(decoder, tag),
            })?;
            ::core::result::Result::Ok(value)
        }
    }
}

fn expand_removable(model: &Model) -> TokenStream {
    let name = &model.name;
    let fields: Vec<_> = model.fields.iter().map(|field| &field.name).collect();
    let types: Vec<_> = model.fields.iter().map(|field| &field.ty).collect();
    // `for<'x>` lets the bound be false without being an error: the struct is just not removable.
    quote! {
        #[automatically_derived]
        impl ::commute::kernel::Removable for #name
        where
            #( for<'x> #types: ::commute::kernel::Removable, )*
        {
            fn reset(
                &mut self,
                update: &mut ::commute::kernel::Update,
            ) -> ::core::result::Result<(), ::commute::EditError> {
                #( <#types as ::commute::kernel::Removable>::reset(&mut self.#fields, update)?; )*
                ::core::result::Result::Ok(())
            }
        }
    }
}

fn expand_edit(model: &Model) -> TokenStream {
    let (name, visibility) = (&model.name, &model.visibility);
    let edit = format_ident!("{name}Edit");
    let fields: Vec<_> = model.fields.iter().map(|field| &field.name).collect();
    let types: Vec<_> = model.fields.iter().map(replicated).collect();
    let docs = model.fields.iter().map(|field| {
        let text = format!(" The edit view of `{}`.", field.name);
        quote! { #[doc = #text] }
    });
    let text = format!(" The edit view of a [`{name}`], to which it derefs.");
    quote! {
        #[doc = #text]
        #visibility struct #edit<'a> {
            state: &'a mut #name,
            update: &'a mut ::commute::kernel::Update,
        }

        #[allow(dead_code, reason = "a field may be edited from elsewhere or not at all")]
        impl #edit<'_> {
            #(
                #docs
                #visibility fn #fields(&mut self) -> #types::Edit<'_> {
                    #types::edit(&mut self.state.#fields, self.update)
                }
            )*
        }

        #[automatically_derived]
        impl ::core::ops::Deref for #edit<'_> {
            type Target = #name;

            fn deref(&self) -> &#name {
                self.state
            }
        }
    }
}

fn expand_view(model: &Model) -> TokenStream {
    let (name, visibility) = (&model.name, &model.visibility);
    let (view, attributes) = (format_ident!("{name}View"), &model.view);
    let fields = model.fields.iter().map(|field| {
        let (name, ty) = (&field.name, replicated(field));
        let text = format!(" The view of `{name}`.");
        let docs = match field.docs.as_slice() {
            [] => quote! { #[doc = #text] },
            docs => quote! { #( #docs )* },
        };
        quote! { #docs #visibility #name: #ty::View, }
    });
    let text = format!(" The plain value of a [`{name}`].");
    quote! {
        #[doc = #text]
        #[derive(::core::fmt::Debug, ::core::clone::Clone, ::core::cmp::PartialEq)]
        #( #[#attributes] )*
        #[allow(dead_code, reason = "a view may be printed or compared only")]
        #visibility struct #view {
            #( #fields )*
        }
    }
}

fn expand_part(model: &Model) -> TokenStream {
    let (name, visibility) = (&model.name, &model.visibility);
    let part = format_ident!("{name}Part");
    let fields: Vec<_> = model.fields.iter().map(|field| &field.name).collect();
    let types: Vec<_> = model.fields.iter().map(replicated).collect();
    let text = format!(" Some entries of a [`{name}`], by field.");
    let call = quote! { ::commute::kernel::Part };
    let bytes = expand_part_bytes(model);
    quote! {
        #[doc = #text]
        #[derive(
            ::core::clone::Clone,
            ::core::default::Default,
            ::core::cmp::PartialEq,
            ::core::fmt::Debug,
        )]
        #visibility struct #part {
            #( #fields: #types::Part, )*
        }

        #[automatically_derived]
        impl ::commute::kernel::Part for #part {

            fn kind(_: ::commute::kernel::Place) -> ::commute::kernel::ShapeKind {
                ::commute::kernel::ShapeKind::Struct
            }

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

            fn union(
                &mut self,
                other: Self,
            ) -> ::core::result::Result<(), ::commute::MergeError> {
                #( #call::union(&mut self.#fields, other.#fields)?; )*
                ::core::result::Result::Ok(())
            }

            #bytes
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
