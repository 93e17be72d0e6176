//! The implementations of the kernel's traits for the struct itself.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::parse_quote;
use syn::spanned::Spanned;

use crate::change::expand_change;
use crate::model::{Field, Model};
use crate::part::expand_part;
use crate::views::{expand_edit, expand_view};

pub(crate) fn expand(model: &Model) -> TokenStream {
    let (value, part) = (expand_value(model), expand_part(model));
    let (edit, view) = (expand_edit(model), expand_view(model));
    let removable = expand_removable(model);
    let change = expand_change(model);
    quote! { #value #removable #edit #view #part #change }
}

/// `<Type as Replicated>`, so that an error about it points at the type.
pub(crate) fn replicated(field: &Field) -> TokenStream {
    let ty = &field.ty;
    quote_spanned! { ty.span() => <#ty as ::commute::kernel::Replicated> }
}

/// `<Type as Replicated>::Name`.
pub(crate) fn associated(field: &Field, name: &str) -> TokenStream {
    let (ty, name) = (&field.ty, format_ident!("{name}"));
    quote_spanned! { ty.span() => <#ty as ::commute::kernel::Replicated>::#name }
}

fn expand_value(model: &Model) -> TokenStream {
    let name = &model.name;
    let part = format_ident!("{name}Part");
    let generics = model.conditional();
    let (parameters, arguments, clause) = generics.split_for_impl();
    let views = expand_value_views(model);
    let merges = expand_value_merges(model);
    let reads = expand_value_reads(model);
    let local = expand_value_local(model);
    let bytes = expand_value_bytes(model);
    quote! {
        #[automatically_derived]
        impl #parameters ::commute::kernel::Replicated for #name #arguments #clause {
            type Part = #part #arguments;
            #views
            #reads
            #merges
            #local
            #bytes
        }
    }
}

fn expand_value_views(model: &Model) -> TokenStream {
    let name = &model.name;
    let (edit, view) = (format_ident!("{name}Edit"), format_ident!("{name}View"));
    let (_, arguments, _) = model.generics.split_for_impl();
    let borrowed = borrowed(model.generics.clone(), "'edit");
    let (_, edit_arguments, _) = borrowed.split_for_impl();
    let members: Vec<_> = model.fields.iter().map(|field| &field.member).collect();
    let types: Vec<_> = model.fields.iter().map(replicated).collect();
    let local: Vec<_> = model.local.iter().map(|field| &field.member).collect();
    let defaults = model.local.iter().map(|field| {
        let ty = &field.ty;
        quote_spanned! { ty.span() => <#ty as ::core::default::Default>::default() }
    });
    let values = quote! { #( #types::view(&self.#members) ),* };
    let names = model.fields.iter().map(|field| &field.name);
    let value = match model.is_tuple {
        true => quote! { #view(#values) },
        false => quote! { #view { #( #names: #types::view(&self.#members), )* } },
    };
    quote! {
        type Edit<'edit> = #edit #edit_arguments where Self: 'edit;
        type View = #view #arguments;

        fn kind(_: ::commute::kernel::Place) -> ::commute::kernel::ShapeKind {
            ::commute::kernel::ShapeKind::Struct
        }

        fn empty(place: ::commute::kernel::Place) -> Self {
            Self {
                #( #members: #types::empty(place), )*
                #( #local: #defaults, )*
            }
        }

        fn edit<'edit>(
            &'edit mut self,
            update: &'edit mut ::commute::kernel::Update,
        ) -> Self::Edit<'edit> {
            #edit { state: self, update }
        }

        fn view(&self) -> Self::View {
            #value
        }
    }
}

fn expand_value_reads(model: &Model) -> TokenStream {
    let members: Vec<_> = model.fields.iter().map(|field| &field.member).collect();
    let names: Vec<_> = model.fields.iter().map(|field| &field.name).collect();
    let types: Vec<_> = model.fields.iter().map(replicated).collect();
    let part = format_ident!("{}Part", model.name);
    quote! {
        fn visible(&self) -> bool {
            #( #types::visible(&self.#members) )||*
        }

        fn is_bottom(&self) -> bool {
            #( #types::is_bottom(&self.#members) )&&*
        }

        fn entries(&self) -> u64 {
            #( #types::entries(&self.#members) )+*
        }

        fn names(&self, of: &::commute::Dots, out: &mut ::commute::Names) {
            #( #types::names(&self.#members, of, out); )*
        }

        fn part(&self, of: &::commute::Dots) -> Self::Part {
            #part { #( #names: #types::part(&self.#members, of), )* }
        }

        fn publish(&mut self, update: &::commute::kernel::Update) -> Self::Part {
            #part { #( #names: #types::publish(&mut self.#members, update), )* }
        }

        fn rollback(&mut self) {
            #( #types::rollback(&mut self.#members); )*
        }
    }
}

fn expand_value_merges(model: &Model) -> TokenStream {
    let members: Vec<_> = model.fields.iter().map(|field| &field.member).collect();
    let names: Vec<_> = model.fields.iter().map(|field| &field.name).collect();
    let types: Vec<_> = model.fields.iter().map(replicated).collect();
    quote! {
        fn check(
            &self,
            part: &Self::Part,
            known: &::commute::Version,
        ) -> ::core::result::Result<u64, ::commute::MergeError> {
            let mut common = 0;
            #( common += #types::check(&self.#members, &part.#names, known)?; )*
            ::core::result::Result::Ok(common)
        }

        fn check_kill(
            &self,
            names: &::commute::Names,
        ) -> ::core::result::Result<(), ::commute::MergeError> {
            #( #types::check_kill(&self.#members, names)?; )*
            ::core::result::Result::Ok(())
        }

        fn kill(&mut self, names: &::commute::Names) {
            #( #types::kill(&mut self.#members, names); )*
        }

        fn adopt(&mut self, part: Self::Part, known: &::commute::Version) {
            #( #types::adopt(&mut self.#members, part.#names, known); )*
        }

        fn check_join(
            &self,
            mine: &::commute::Version,
            other: &Self,
            theirs: &::commute::Version,
        ) -> ::core::result::Result<u64, ::commute::MergeError> {
            let mut common = 0;
            #( common += #types::check_join(&self.#members, mine, &other.#members, theirs)?; )*
            ::core::result::Result::Ok(common)
        }

        fn join(&mut self, mine: &::commute::Version, other: &Self, theirs: &::commute::Version) {
            #( #types::join(&mut self.#members, mine, &other.#members, theirs); )*
        }
    }
}

/// Fields that are not replicated, here and below.
fn expand_value_local(model: &Model) -> TokenStream {
    let members: Vec<_> = model.fields.iter().map(|field| &field.member).collect();
    let types: Vec<_> = model.fields.iter().map(replicated).collect();
    let local: Vec<_> = model.local.iter().map(|field| &field.member).collect();
    let any = !local.is_empty();
    let copies = model.local.iter().map(|field| {
        let ty = &field.ty;
        quote_spanned! { ty.span() => <#ty as ::core::clone::Clone>::clone_from }
    });
    quote! {
        const HAS_LOCAL: bool = #any #( || #types::HAS_LOCAL )*;

        fn take_local(&mut self, from: &Self) {
            #( #copies(&mut self.#local, &from.#local); )*
            #( #types::take_local(&mut self.#members, &from.#members); )*
        }
    }
}

fn expand_value_bytes(model: &Model) -> TokenStream {
    let by_tag = model.by_tag();
    let tags: Vec<_> = by_tag.iter().map(|field| field.tag).collect();
    let members: Vec<_> = by_tag.iter().map(|field| &field.member).collect();
    let types: Vec<_> = by_tag.iter().map(|field| replicated(field)).collect();
    let helpers = quote! { ::commute::kernel::fields };
    quote! {
        fn encode(
            &self,
            encoder: &mut ::commute::codec::Encoder,
            place: ::commute::kernel::Place,
        ) {
            #helpers::encode_count(encoder, [ #( !#types::is_bottom(&self.#members) ),* ]);
            #( #helpers::encode_field(encoder, place, #tags, &self.#members); )*
        }

        fn decode(
            decoder: &mut ::commute::codec::Decoder<'_>,
            place: ::commute::kernel::Place,
        ) -> ::core::result::Result<Self, ::commute::codec::DecodeError> {
            let mut value = <Self as ::commute::kernel::Replicated>::empty(place);
            #helpers::decode(decoder, |tag, decoder| match tag {
                #( #tags => #helpers::decode_field(decoder, place, &mut value.#members), )*
                _ => #helpers::unknown(decoder, tag),
            })?;
            ::core::result::Result::Ok(value)
        }
    }
}

fn expand_removable(model: &Model) -> TokenStream {
    let name = &model.name;
    let members: Vec<_> = model.fields.iter().map(|field| &field.member).collect();
    let types: Vec<_> = model.fields.iter().map(|field| &field.ty).collect();
    let mut generics = model.conditional();
    let clause = generics.make_where_clause();
    for ty in &types {
        // `for<'any>` lets the bound be false without being an error: the struct is just not removable.
        let bound = parse_quote!(for<'any> #ty: ::commute::kernel::Removable);
        clause.predicates.push(bound);
    }
    let (parameters, _, clause) = generics.split_for_impl();
    let (_, arguments, _) = model.generics.split_for_impl();
    quote! {
        #[automatically_derived]
        impl #parameters ::commute::kernel::Removable for #name #arguments #clause {
            fn reset(
                &mut self,
                update: &mut ::commute::kernel::Update,
            ) -> ::core::result::Result<(), ::commute::EditError> {
                #( <#types as ::commute::kernel::Removable>::reset(&mut self.#members, update)?; )*
                ::core::result::Result::Ok(())
            }
        }
    }
}

/// The parameters of the edit view: a lifetime more.
pub(crate) fn borrowed(mut generics: syn::Generics, lifetime: &str) -> syn::Generics {
    let lifetime = syn::Lifetime::new(lifetime, proc_macro2::Span::call_site());
    generics.params.insert(0, parse_quote!(#lifetime));
    generics
}
