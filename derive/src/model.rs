//! What the derive takes from a struct.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident};
use syn::meta::ParseNestedMeta;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{
    Attribute, Data, DeriveInput, Error, Fields, GenericParam, Generics, Ident, Index, LitInt,
    Member, Meta, Path, Result, Token, Type, Visibility, parenthesized, parse_quote,
};

/// A struct whose fields are replicated values.
pub(crate) struct Model {
    pub(crate) name: Ident,
    pub(crate) visibility: Visibility,
    /// The parameters, with everything in the `where` clause that the implementations need.
    pub(crate) generics: Generics,
    /// Attributes for the view.
    pub(crate) view: Vec<Meta>,
    /// Whether the fields have numbers instead of names.
    pub(crate) is_tuple: bool,
    /// The replicated fields in the order of the source; at least one.
    pub(crate) fields: Vec<Field>,
    /// The fields that are not replicated, in the order of the source.
    pub(crate) local: Vec<Field>,
}

/// One field.
pub(crate) struct Field {
    /// How the struct calls it.
    pub(crate) member: Member,
    /// How the edit view and the part call it.
    pub(crate) name: Ident,
    pub(crate) ty: Type,
    pub(crate) tag: u32,
    pub(crate) docs: Vec<Attribute>,
    /// Where an error about the tag belongs.
    tag_span: Span,
}

/// What the attributes of a field say.
#[derive(Default)]
struct Options {
    tag: Option<(u32, Span)>,
    skip: Option<Span>,
}

impl Model {
    pub(crate) fn new(input: DeriveInput) -> Result<Model> {
        let (source, is_tuple) = fields_of(&input)?;
        let view = view_attributes(&input.attrs)?;
        let mut errors = Errors::default();
        let numbered = source.into_iter().enumerate();
        let read = numbered.map(|(at, field)| Field::new(at, field, &mut errors));
        let (local, fields): (Vec<_>, Vec<_>) = read.flatten().partition(|(_, skip)| *skip);
        errors.finish()?;

        let first = |all: Vec<(Field, bool)>| all.into_iter().map(|(field, _)| field).collect();
        let (mut fields, local): (Vec<Field>, Vec<Field>) = (first(fields), first(local));
        if fields.is_empty() {
            let text = "`Replicated` needs a struct with at least one replicated field";
            return Err(Error::new(input.ident.span(), text));
        }
        give_tags(&mut fields, is_tuple)?;
        check_tags(&fields)?;
        Ok(Model {
            generics: bounded(input.generics, &fields, &local)?,
            name: input.ident,
            visibility: input.vis,
            view,
            is_tuple,
            fields,
            local,
        })
    }

    /// The fields in ascending order of tags, as they are written.
    pub(crate) fn by_tag(&self) -> Vec<&Field> {
        let mut fields: Vec<&Field> = self.fields.iter().collect();
        fields.sort_by_key(|field| field.tag);
        fields
    }

    /// The parameters of implementations, which hold only if all fields are replicated.
    ///
    /// `for<'any>` lets a bound be false: a field that is not replicated is then an error where its
    /// type stands, and not one in every method.
    pub(crate) fn conditional(&self) -> Generics {
        let mut generics = self.generics.clone();
        let concrete = self
            .fields
            .iter()
            .filter(|field| !depends(&field.ty, &self.generics));
        let types: Vec<&Type> = concrete.map(|field| &field.ty).collect();
        if !types.is_empty() {
            let clause = generics.make_where_clause();
            for ty in types {
                let bound = parse_quote!(for<'any> #ty: ::commute::kernel::Replicated);
                clause.predicates.push(bound);
            }
        }
        generics
    }

    /// Whether the view gets an implementation of serde's `Serialize` by its own attributes.
    pub(crate) fn view_is_serialized(&self) -> bool {
        let is_serialize =
            |path: &Path| path.segments.last().is_some_and(|s| s.ident == "Serialize");
        let derives = self
            .view
            .iter()
            .filter(|meta| meta.path().is_ident("derive"));
        let lists = derives.filter_map(|meta| meta.require_list().ok());
        let paths = lists.filter_map(|list| {
            list.parse_args_with(Punctuated::<Path, Token![,]>::parse_terminated)
                .ok()
        });
        paths.flatten().any(|path| is_serialize(&path))
    }
}

/// Errors found so far, all to be shown at once.
#[derive(Default)]
struct Errors(Option<Error>);

impl Errors {
    fn take<T>(&mut self, result: Result<T>) -> Option<T> {
        result.map_err(|error| self.add(error)).ok()
    }

    fn add(&mut self, error: Error) {
        match &mut self.0 {
            Some(all) => all.combine(error),
            None => self.0 = Some(error),
        }
    }

    fn finish(self) -> Result<()> {
        self.0.map_or(Ok(()), Err)
    }
}

/// The fields, and whether they have numbers instead of names.
fn fields_of(input: &DeriveInput) -> Result<(Vec<syn::Field>, bool)> {
    let refuse = |text| Err(Error::new(input.ident.span(), text));
    let fields = match &input.data {
        Data::Enum(_) => {
            return refuse(
                "`Replicated` cannot be derived for an enum: concurrent writers would disagree on \
                 the variant; use a struct, or a register whose value is the enum",
            );
        }
        Data::Union(_) => return refuse("`Replicated` cannot be derived for a union"),
        Data::Struct(data) => &data.fields,
    };
    match fields {
        Fields::Unit => refuse("`Replicated` needs a struct with at least one replicated field"),
        Fields::Named(named) => Ok((named.named.iter().cloned().collect(), false)),
        Fields::Unnamed(unnamed) => Ok((unnamed.unnamed.iter().cloned().collect(), true)),
    }
}

fn view_attributes(attributes: &[Attribute]) -> Result<Vec<Meta>> {
    let mut view = Vec::new();
    for attribute in attributes.iter().filter(|a| is_ours(a)) {
        attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident("view") {
                return Err(meta.error("unknown attribute, a struct takes `view(..)`"));
            }
            let content;
            parenthesized!(content in meta.input);
            view.extend(Punctuated::<Meta, Token![,]>::parse_terminated(&content)?);
            Ok(())
        })?;
    }
    Ok(view)
}

fn is_ours(attribute: &Attribute) -> bool {
    attribute.path().is_ident("replicated")
}

impl Field {
    /// The field, and whether it is left out of replication; its tag is 0 if none is given.
    fn new(at: usize, field: syn::Field, errors: &mut Errors) -> Option<(Field, bool)> {
        let mut options = Options::default();
        for attribute in field.attrs.iter().filter(|a| is_ours(a)) {
            errors.take(attribute.parse_nested_meta(|meta| read_option(&meta, &mut options)))?;
        }
        let (span, ty_span) = (field.ident.as_ref().map(Ident::span), field.ty.span());
        if let (Some((_, tag)), Some(_)) = (options.tag, options.skip) {
            errors.add(Error::new(tag, "a field that is not replicated has no tag"));
            return None;
        }
        let (member, name) = match field.ident {
            Some(name) => (Member::Named(name.clone()), name),
            None => {
                let name = format_ident!("field_{at}", span = ty_span);
                (Member::Unnamed(Index::from(at)), name)
            }
        };
        let is_doc = |a: &&Attribute| a.path().is_ident("doc");
        let (tag, tag_span) = options.tag.unwrap_or((0, span.unwrap_or(ty_span)));
        let read = Field {
            docs: field.attrs.iter().filter(is_doc).cloned().collect(),
            ty: field.ty,
            member,
            name,
            tag,
            tag_span,
        };
        if tag == 0 && options.tag.is_some() {
            let text = "0 is not a tag; give the field another with `#[replicated(tag = ..)]`";
            errors.add(Error::new(tag_span, text));
        }
        Some((read, options.skip.is_some()))
    }

    /// The name or number of the field in the source.
    pub(crate) fn label(&self) -> String {
        match &self.member {
            Member::Named(name) => name.to_string(),
            Member::Unnamed(index) => index.index.to_string(),
        }
    }

    /// The tag that the field has without attribute.
    fn hashed_tag(&self) -> u32 {
        let label = self.label();
        let label = label.strip_prefix("r#").unwrap_or(&label);
        (fnv_1a(label.as_bytes()) >> 32) as u32
    }
}

fn read_option(meta: &ParseNestedMeta<'_>, options: &mut Options) -> Result<()> {
    if meta.path.is_ident("skip") {
        options.skip = Some(meta.path.span());
        return Ok(());
    }
    if !meta.path.is_ident("tag") {
        return Err(meta.error("unknown attribute, a field takes `tag = <number>` or `skip`"));
    }
    if options.tag.is_some() {
        return Err(meta.error("a field has one tag"));
    }
    let number: LitInt = meta.value()?.parse()?;
    options.tag = Some((number.base10_parse()?, number.span()));
    Ok(())
}

/// Gives the fields without tag the hash of their name.
///
/// Several fields without names would change places silently, so these must have tags.
fn give_tags(fields: &mut [Field], is_tuple: bool) -> Result<()> {
    let mut errors = Errors::default();
    let alone = fields.len() == 1;
    for field in fields.iter_mut().filter(|field| field.tag == 0) {
        let tag = field.hashed_tag();
        if is_tuple && !alone {
            let text = format!(
                "a field without a name needs a tag, so that it can be moved: \
                 `#[replicated(tag = ..)]` (if it was the only field, its tag was {tag})"
            );
            errors.add(Error::new(field.tag_span, text));
        } else if tag == 0 {
            let text = "the name hashes to 0, which is no tag; give one with \
                        `#[replicated(tag = ..)]`";
            errors.add(Error::new(field.tag_span, text));
        }
        field.tag = tag;
    }
    errors.finish()
}

/// FNV-1a with 64 bits (draft-eastlake-fnv).
fn fnv_1a(bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

fn check_tags(fields: &[Field]) -> Result<()> {
    let mut errors = Errors::default();
    for (at, field) in fields.iter().enumerate() {
        if let Some(other) = fields[..at].iter().find(|other| other.tag == field.tag) {
            let text = format!(
                "`{}` has the same tag as `{}`, {}; give one of them another with \
                 `#[replicated(tag = ..)]`",
                field.label(),
                other.label(),
                field.tag
            );
            errors.add(Error::new(field.tag_span, text));
        }
    }
    errors.finish()
}

/// The parameters with the bounds that replication needs.
fn bounded(mut generics: Generics, fields: &[Field], local: &[Field]) -> Result<Generics> {
    let mut errors = Errors::default();
    for parameter in &generics.params {
        if let GenericParam::Lifetime(lifetime) = parameter {
            let text = "a replicated value owns what it holds, so it has no lifetime";
            errors.add(Error::new(lifetime.span(), text));
        }
        if let GenericParam::Type(parameter) = parameter {
            let uses = |field: &Field| mentions(field.ty.to_token_stream(), &parameter.ident);
            if !fields.iter().any(uses) {
                let text = "a type parameter must be used by a replicated field";
                errors.add(Error::new(parameter.ident.span(), text));
            }
        }
    }
    errors.finish()?;
    let parameters: Vec<Ident> = generics.type_params().map(|p| p.ident.clone()).collect();
    if parameters.is_empty() {
        return Ok(generics);
    }
    let depends = |field: &&Field| depends(&field.ty, &generics);
    let replicated: Vec<Type> = fields
        .iter()
        .filter(depends)
        .map(|f| f.ty.clone())
        .collect();
    let kept: Vec<Type> = local.iter().filter(depends).map(|f| f.ty.clone()).collect();
    let clause = generics.make_where_clause();
    for parameter in &parameters {
        clause.predicates.push(parse_quote!(#parameter: 'static));
    }
    for ty in &replicated {
        clause
            .predicates
            .push(parse_quote!(#ty: ::commute::kernel::Replicated));
    }
    for ty in &kept {
        clause.predicates.push(parse_quote! {
            #ty: ::core::default::Default + ::core::clone::Clone
                + ::core::marker::Send + ::core::marker::Sync + 'static
        });
    }
    Ok(generics)
}

fn depends(ty: &Type, generics: &Generics) -> bool {
    let tokens = ty.to_token_stream();
    generics
        .type_params()
        .any(|parameter| mentions(tokens.clone(), &parameter.ident))
}

fn mentions(tokens: TokenStream, name: &Ident) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == *name,
        TokenTree::Group(group) => mentions(group.stream(), name),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_fnv_1a() {
        assert_eq!(fnv_1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv_1a(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv_1a(b"foobar"), 0x8594_4171_f739_67e8);
    }

    fn tags(source: &str) -> Vec<u32> {
        let model = Model::new(syn::parse_str(source).unwrap()).unwrap();
        model.fields.iter().map(|field| field.tag).collect()
    }

    #[test]
    fn a_raw_name_has_the_tag_of_the_name() {
        assert_eq!(tags("struct Board { r#foobar: Text }"), [0x8594_4171]);
        assert_eq!(tags("struct Board { foobar: Text }"), [0x8594_4171]);
    }

    #[test]
    fn the_only_field_without_a_name_is_called_by_its_number() {
        assert_eq!(fnv_1a(b"0") >> 32, 0xaf63_ad4c);
        assert_eq!(tags("struct Title(Text);"), [0xaf63_ad4c]);
    }
}
