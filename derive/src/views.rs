//! What people see and edit: the edit view and the plain view.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::parse_quote;

use crate::expand::{associated, borrowed, replicated};
use crate::model::{Field, Model};

pub(crate) fn expand_edit(model: &Model) -> TokenStream {
    let (name, visibility) = (&model.name, &model.visibility);
    let edit = format_ident!("{name}Edit");
    let definition = borrowed(model.generics.clone(), "'edit");
    let (_, _, defined) = definition.split_for_impl();
    let generics = borrowed(model.conditional(), "'edit");
    let (parameters, arguments, clause) = generics.split_for_impl();
    let (_, target, _) = model.generics.split_for_impl();
    let text = format!(" The edit view of a [`{name}`], to which it derefs.");
    let fields = model.fields.iter().map(|field| edit_method(model, field));
    let local = model.local.iter().map(|field| local_method(model, field));
    quote! {
        #[doc = #text]
        #visibility struct #edit #parameters #defined {
            state: &'edit mut #name #target,
            update: &'edit mut ::commute::kernel::Update,
        }

        #[allow(dead_code, reason = "a field may be edited from elsewhere or not at all")]
        impl #parameters #edit #arguments #clause {
            #( #fields )*
            #( #local )*
        }

        #[automatically_derived]
        impl #parameters ::core::ops::Deref for #edit #arguments #clause {
            type Target = #name #target;

            fn deref(&self) -> &Self::Target {
                self.state
            }
        }
    }
}

fn edit_method(model: &Model, field: &Field) -> TokenStream {
    let (visibility, name, member) = (&model.visibility, &field.name, &field.member);
    let ty = replicated(field);
    let text = format!(" The edit view of `{}`.", field.label());
    quote! {
        #[doc = #text]
        #visibility fn #name(&mut self) -> #ty::Edit<'_> {
            #ty::edit(&mut self.state.#member, self.update)
        }
    }
}

fn local_method(model: &Model, field: &Field) -> TokenStream {
    let (visibility, name, member) = (&model.visibility, &field.name, &field.member);
    let ty = &field.ty;
    let text = format!(
        " The local field `{}`, which is not replicated and not part of the update.",
        field.label()
    );
    quote! {
        #[doc = #text]
        #visibility fn #name(&mut self) -> &mut #ty {
            &mut self.state.#member
        }
    }
}

pub(crate) fn expand_view(model: &Model) -> TokenStream {
    let (name, visibility) = (&model.name, &model.visibility);
    let (view, attributes) = (format_ident!("{name}View"), &model.view);
    let (parameters, _, clause) = model.generics.split_for_impl();
    let fields = model.fields.iter().map(|field| {
        let ty = associated(field, "View");
        let text = format!(" The view of `{}`.", field.label());
        let docs = match field.docs.as_slice() {
            [] => quote! { #[doc = #text] },
            docs => quote! { #( #docs )* },
        };
        match model.is_tuple {
            true => quote! { #docs #visibility #ty },
            false => {
                let name = &field.name;
                quote! { #docs #visibility #name: #ty }
            }
        }
    });
    let body = match model.is_tuple {
        true => quote! { ( #( #fields, )* ) #clause; },
        false => quote! { #clause { #( #fields, )* } },
    };
    let text = format!(" The plain value of a [`{name}`].");
    let (compared, serialized) = (view_traits(model), view_serialize(model));
    quote! {
        #[doc = #text]
        #( #[#attributes] )*
        #[allow(dead_code, reason = "a view may be printed or compared only")]
        #visibility struct #view #parameters #body

        #compared
        #serialized
    }
}

/// The members of the view, which has no local fields.
pub(crate) fn members(model: &Model) -> Vec<syn::Member> {
    let numbered = model.fields.iter().enumerate();
    let member = |(at, field): (usize, &Field)| match model.is_tuple {
        true => syn::Member::from(at),
        false => field.member.clone(),
    };
    numbered.map(member).collect()
}

/// `Clone`, `Debug`, `PartialEq`: a derive would bound the parameters instead of the views.
fn view_traits(model: &Model) -> TokenStream {
    let view = format_ident!("{}View", model.name);
    let members = members(model);
    let labels: Vec<_> = model.fields.iter().map(Field::label).collect();
    let (debug, debug_each) = match model.is_tuple {
        true => (
            quote! { debug_tuple },
            quote! { #( .field(&self.#members) )* },
        ),
        false => {
            let each = quote! { #( .field(#labels, &self.#members) )* };
            (quote! { debug_struct }, each)
        }
    };
    let text = view.to_string();
    let clone = quote! {
        fn clone(&self) -> Self {
            Self { #( #members: ::core::clone::Clone::clone(&self.#members), )* }
        }
    };
    let eq = quote! {
        fn eq(&self, other: &Self) -> bool {
            #( self.#members == other.#members )&&*
        }
    };
    let fmt = quote! {
        fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
            f.#debug(#text) #debug_each .finish()
        }
    };
    let of = |bound: TokenStream, body| view_impl(model, &bound, body);
    let clone = of(quote! { ::core::clone::Clone }, clone);
    let eq = of(quote! { ::core::cmp::PartialEq }, eq);
    let fmt = of(quote! { ::core::fmt::Debug }, fmt);
    quote! { #clone #eq #fmt }
}

/// `impl Bound for BoardView`, if the views of all fields have it.
fn view_impl(model: &Model, bound: &TokenStream, body: TokenStream) -> TokenStream {
    let view = format_ident!("{}View", model.name);
    let (_, arguments, _) = model.generics.split_for_impl();
    let mut generics = model.conditional();
    let clause = generics.make_where_clause();
    for ty in model.fields.iter().map(replicated) {
        clause
            .predicates
            .push(parse_quote!(for<'any> #ty::View: #bound));
    }
    let (parameters, _, clause) = generics.split_for_impl();
    quote! {
        #[automatically_derived]
        impl #parameters #bound for #view #arguments #clause {
            #body
        }
    }
}

/// serde's `Serialize`, which `if_serde!` drops if `commute` is built without it.
fn view_serialize(model: &Model) -> TokenStream {
    if model.view_is_serialized() {
        return TokenStream::new();
    }
    let serde = quote! { ::commute::kernel::fields::serde };
    let body = serialize_body(model);
    let serialize = quote! {
        // Not the name of a parameter of the struct.
        fn serialize<__Serializer: #serde::Serializer>(
            &self,
            serializer: __Serializer,
        ) -> ::core::result::Result<__Serializer::Ok, __Serializer::Error> {
            #body
        }
    };
    let implementation = view_impl(model, &quote! { #serde::Serialize }, serialize);
    quote! { ::commute::if_serde! { #implementation } }
}

fn serialize_body(model: &Model) -> TokenStream {
    let text = format!("{}View", model.name);
    let members = members(model);
    let labels = model.fields.iter().map(|field| {
        let label = field.label();
        label.strip_prefix("r#").unwrap_or(&label).to_owned()
    });
    let count = members.len();
    if model.is_tuple && count == 1 {
        return quote! { serializer.serialize_newtype_struct(#text, &self.0) };
    }
    let serde = quote! { ::commute::kernel::fields::serde };
    let (form, start) = match model.is_tuple {
        true => (
            quote! { SerializeTupleStruct },
            quote! { serialize_tuple_struct },
        ),
        false => (quote! { SerializeStruct }, quote! { serialize_struct }),
    };
    let labels = labels.map(|label| match model.is_tuple {
        true => TokenStream::new(),
        false => {
            let label = label.to_token_stream();
            quote! { #label, }
        }
    });
    quote! {
        let mut fields = serializer.#start(#text, #count)?;
        #( #serde::ser::#form::serialize_field(&mut fields, #labels &self.#members)?; )*
        #serde::ser::#form::end(fields)
    }
}
