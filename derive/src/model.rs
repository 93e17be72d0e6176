//! What the derive takes from a struct.

use proc_macro2::Span;
use syn::meta::ParseNestedMeta;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{
    Attribute, Data, DeriveInput, Error, Fields, Ident, LitInt, Meta, Result, Token, Type,
    Visibility, parenthesized,
};

/// A struct whose fields are replicated values.
pub(crate) struct Model {
    pub(crate) name: Ident,
    pub(crate) visibility: Visibility,
    /// Attributes for the view.
    pub(crate) view: Vec<Meta>,
    /// In the order of the source.
    pub(crate) fields: Vec<Field>,
}

/// One field.
pub(crate) struct Field {
    pub(crate) name: Ident,
    pub(crate) ty: Type,
    pub(crate) tag: u32,
    pub(crate) docs: Vec<Attribute>,
    /// Where an error about the tag belongs.
    tag_span: Span,
}

impl Model {
    pub(crate) fn new(input: DeriveInput) -> Result<Model> {
        let fields = named_fields(&input)?;
        let generics = &input.generics;
        if !generics.params.is_empty() || generics.where_clause.is_some() {
            let text = "`Replicated` cannot be derived for a generic struct";
            return Err(Error::new(generics.span(), text));
        }
        let view = view_attributes(&input.attrs)?;
        let mut errors = Errors::default();
        let fields = fields.into_iter().map(Field::new);
        let fields: Vec<Field> = fields.filter_map(|field| errors.take(field)).collect();
        errors.finish()?;
        check_tags(&fields)?;
        Ok(Model {
            name: input.ident,
            visibility: input.vis,
            view,
            fields,
        })
    }

    /// The fields in ascending order of tags, as they are written.
    pub(crate) fn by_tag(&self) -> Vec<&Field> {
        let mut fields: Vec<&Field> = self.fields.iter().collect();
        fields.sort_by_key(|field| field.tag);
        fields
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

fn named_fields(input: &DeriveInput) -> Result<Vec<syn::Field>> {
    let refuse = |span, text| Err(Error::new(span, text));
    let name = input.ident.span();
    match &input.data {
        Data::Enum(_) => refuse(
            name,
            "`Replicated` cannot be derived for an enum: concurrent writers would disagree on the \
             variant; use a struct",
        ),
        Data::Union(_) => refuse(name, "`Replicated` cannot be derived for a union"),
        Data::Struct(data) => match &data.fields {
            Fields::Named(fields) if !fields.named.is_empty() => {
                Ok(fields.named.iter().cloned().collect())
            }
            Fields::Unnamed(_) => refuse(
                name,
                "`Replicated` cannot be derived for a tuple struct: fields are known by name",
            ),
            _ => refuse(name, "`Replicated` needs a struct with at least one field"),
        },
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
    fn new(field: syn::Field) -> Result<Field> {
        let Some(name) = field.ident.clone() else {
            return Err(Error::new(field.span(), "a field needs a name"));
        };
        let mut given = None;
        for attribute in field.attrs.iter().filter(|a| is_ours(a)) {
            attribute.parse_nested_meta(|meta| read_tag(&meta, &mut given))?;
        }
        let (tag, tag_span) = match given {
            Some(given) => given,
            None => (hashed_tag(&name), name.span()),
        };
        if tag == 0 {
            let text = "0 is not a tag; give the field another with `#[replicated(tag = ..)]`";
            return Err(Error::new(tag_span, text));
        }
        let is_doc = |a: &&Attribute| a.path().is_ident("doc");
        Ok(Field {
            docs: field.attrs.iter().filter(is_doc).cloned().collect(),
            ty: field.ty,
            name,
            tag,
            tag_span,
        })
    }
}

fn read_tag(meta: &ParseNestedMeta<'_>, given: &mut Option<(u32, Span)>) -> Result<()> {
    if !meta.path.is_ident("tag") {
        return Err(meta.error("unknown attribute, a field takes `tag = <number>`"));
    }
    if given.is_some() {
        return Err(meta.error("a field has one tag"));
    }
    let number: LitInt = meta.value()?.parse()?;
    *given = Some((number.base10_parse()?, number.span()));
    Ok(())
}

/// The tag of a field without attribute.
fn hashed_tag(name: &Ident) -> u32 {
    let name = name.to_string();
    let name = name.strip_prefix("r#").unwrap_or(&name);
    (fnv_1a(name.as_bytes()) >> 32) as u32
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
                field.name, other.name, field.tag
            );
            errors.add(Error::new(field.tag_span, text));
        }
    }
    errors.finish()
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

    #[test]
    fn a_raw_name_has_the_tag_of_the_name() {
        let tag = |name: &str| syn::parse_str::<Ident>(name).map(|name| hashed_tag(&name));
        assert_eq!(tag("r#foobar").ok(), Some(0x8594_4171));
        assert_eq!(tag("foobar").ok(), Some(0x8594_4171));
    }
}
