//! `Replicated` for the structs of this crate, as `#[derive(Replicated)]` does it for others.
//!
//! The fields keep the bytes of a derived struct (see [`fields`](super::fields)). They are closed
//! sets of shapes of this crate, so only what stands under keys counts as a level of nesting.

/// Implements [`Part`](crate::kernel::Part) for a struct of parts, by tag.
///
/// With `valid` a part that was read must satisfy a condition.
macro_rules! struct_part {
    (
        impl[$($generics:tt)*] $type:ty { $($tag:literal => $field:ident,)+ }
        $(at $fixed:expr;)?
        $(fn valid($valid:ident) $valid_body:block)?
    ) => {
        impl<$($generics)*> $crate::kernel::Part for $type {
            fn kind(_: $crate::kernel::Place) -> $crate::kernel::ShapeKind {
                $crate::kernel::ShapeKind::Struct
            }

            fn is_empty(&self) -> bool {
                $(self.$field.is_empty())&&+
            }

            fn entries(&self) -> u64 {
                0 $(+ self.$field.entries())+
            }

            fn names(&self, out: &mut $crate::Names) {
                $(self.$field.names(out);)+
            }

            fn replicas(&self, out: &mut alloc::collections::BTreeSet<$crate::ReplicaId>) {
                $(self.$field.replicas(out);)+
            }

            fn restrict(&mut self, dots: &$crate::Dots) {
                $(self.$field.restrict(dots);)+
            }

            fn remove(&mut self, names: &$crate::Names) {
                $(self.$field.remove(names);)+
            }

            fn union(&mut self, other: Self) -> Result<(), $crate::kernel::MergeError> {
                $(self.$field.union(other.$field)?;)+
                Ok(())
            }

            fn content(&self, out: &mut alloc::vec::Vec<u8>) {
                $($crate::kernel::fields::content(out, $tag, &self.$field);)+
            }

            fn encode(
                &self,
                encoder: &mut $crate::codec::Encoder,
                place: $crate::kernel::Place,
            ) {
                use $crate::kernel::fields;
                $(let place = { let _ = place; $fixed };)?
                fields::encode_count(encoder, [$(!self.$field.is_empty()),+]);
                $(fields::encode_part(encoder, place, $tag, &self.$field);)+
            }

            fn decode(
                decoder: &mut $crate::codec::Decoder<'_>,
                place: $crate::kernel::Place,
            ) -> Result<Self, $crate::codec::DecodeError> {
                use $crate::kernel::fields;
                $(let place = { let _ = place; $fixed };)?
                let mut part = Self::default();
                fields::decode(decoder, |tag, d| match tag {
                    $($tag => fields::decode_flat_part(d, place, &mut part.$field),)+
                    _ => fields::unknown(d, tag),
                })?;
                $({
                    let $valid = &part;
                    decoder.require($valid_body, $crate::codec::DecodeErrorKind::Value)?;
                })?
                Ok(part)
            }
        }
    };
}

/// Implements [`Replicated`](crate::kernel::Replicated) for a struct of fields, by tag.
///
/// The edit view, the plain value and whether a container shows it stay the type's own. `check` adds
/// a condition on a part as a whole, `valid` one on a state that was read; `settle` runs after
/// every change but those of an edit.
macro_rules! replicated_struct {
    (
        impl[$($generics:tt)*] $type:ty, $part_name:ident: $part:ty {
            $($tag:literal => $field:ident: $field_type:ty,)+
            $(; $($local:ident),+)?
        }
        type Edit = $edit:ty;
        fn edit($edited:ident, $update:ident) $edit_body:block
        type View = $view:ty;
        fn view($this:ident) $view_body:block
        fn visible($that:ident) $visible_body:block
        $(fn check($checked:ident, $given:ident) $check_body:block)?
        $(fn valid($valid:ident) $valid_body:block)?
        $(fn settle($settled:ident) $settle_body:block)?
    ) => {
        impl<$($generics)*> $crate::kernel::Replicated for $type {
            type Part = $part;
            type Edit<'a> = $edit;
            type View = $view;

            const HAS_LOCAL: bool =
                false $(|| <$field_type as $crate::kernel::Replicated>::HAS_LOCAL)+;

            fn take_local(&mut self, from: &Self) {
                $(self.$field.take_local(&from.$field);)+
            }

            fn kind(_: $crate::kernel::Place) -> $crate::kernel::ShapeKind {
                $crate::kernel::ShapeKind::Struct
            }

            fn empty(place: $crate::kernel::Place) -> Self {
                Self {
                    $($field: $crate::kernel::Replicated::empty(place),)+
                    $($($local: $crate::kernel::Replicated::empty(place),)+)?
                }
            }

            fn edit<'a>(&'a mut self, $update: &'a mut $crate::kernel::Update) -> $edit {
                let $edited = self;
                $edit_body
            }

            fn view(&self) -> $view {
                let $this = self;
                $view_body
            }

            fn visible(&self) -> bool {
                let $that = self;
                $visible_body
            }

            fn is_bottom(&self) -> bool {
                $(self.$field.is_bottom())&&+
            }

            fn entries(&self) -> u64 {
                0 $(+ self.$field.entries())+
            }

            fn names(&self, of: &$crate::Dots, out: &mut $crate::Names) {
                $(self.$field.names(of, out);)+
            }

            fn part(&self, of: &$crate::Dots) -> $part {
                $part_name { $($field: self.$field.part(of),)+ }
            }

            fn check(
                &self,
                part: &$part,
                known: &$crate::Version,
            ) -> Result<u64, $crate::kernel::MergeError> {
                $({
                    let ($checked, $given) = (self, part);
                    $check_body?;
                })?
                Ok(0 $(+ self.$field.check(&part.$field, known)?)+)
            }

            fn check_kill(&self, names: &$crate::Names) -> Result<(), $crate::kernel::MergeError> {
                $(self.$field.check_kill(names)?;)+
                Ok(())
            }

            fn kill(&mut self, names: &$crate::Names) {
                $(self.$field.kill(names);)+
                $({
                    let $settled = &mut *self;
                    $settle_body
                })?
            }

            fn adopt(&mut self, part: $part, known: &$crate::Version) {
                $(self.$field.adopt(part.$field, known);)+
                $({
                    let $settled = &mut *self;
                    $settle_body
                })?
            }

            fn check_join(
                &self,
                mine: &$crate::Version,
                other: &Self,
                theirs: &$crate::Version,
            ) -> Result<u64, $crate::kernel::MergeError> {
                Ok(0 $(+ self.$field.check_join(mine, &other.$field, theirs)?)+)
            }

            fn join(&mut self, mine: &$crate::Version, other: &Self, theirs: &$crate::Version) {
                $(self.$field.join(mine, &other.$field, theirs);)+
                $({
                    let $settled = &mut *self;
                    $settle_body
                })?
            }

            fn publish(&mut self, update: &$crate::kernel::Update) -> $part {
                let part = $part_name { $($field: self.$field.publish(update),)+ };
                $({
                    let $settled = self;
                    $settle_body
                })?
                part
            }

            fn rollback(&mut self) {
                $(self.$field.rollback();)+
                $({
                    let $settled = &mut *self;
                    $settle_body
                })?
            }

            fn encode(
                &self,
                encoder: &mut $crate::codec::Encoder,
                place: $crate::kernel::Place,
            ) {
                use $crate::kernel::fields;
                fields::encode_count(encoder, [$(!self.$field.is_bottom()),+]);
                $(fields::encode_field(encoder, place, $tag, &self.$field);)+
            }

            fn decode(
                decoder: &mut $crate::codec::Decoder<'_>,
                place: $crate::kernel::Place,
            ) -> Result<Self, $crate::codec::DecodeError> {
                use $crate::kernel::fields;
                let mut value = <Self as $crate::kernel::Replicated>::empty(place);
                fields::decode(decoder, |tag, d| match tag {
                    $($tag => fields::decode_flat_field(d, place, &mut value.$field),)+
                    _ => fields::unknown(d, tag),
                })?;
                $({
                    let $valid = &value;
                    decoder.require($valid_body, $crate::codec::DecodeErrorKind::Inconsistent)?;
                })?
                $({
                    let $settled = &mut value;
                    $settle_body
                })?
                Ok(value)
            }
        }
    };
}

pub(crate) use {replicated_struct, struct_part};
