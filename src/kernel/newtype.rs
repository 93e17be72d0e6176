//! `Replicated` for a type that is one shape with another name, and what reads as its view does.

/// Implements [`Replicated`](crate::kernel::Replicated) for a tuple struct by its only field.
///
/// The view and whether a container shows the value stay the type's own. With `, at its place` a
/// second field holds the place where the value stands.
macro_rules! replicated_newtype {
    (
        impl[$($generics:tt)*] $type:ty as $shape:ty $(, at its $place:tt)?;
        type View = $view:ty;
        fn view($this:ident) $view_body:block
        fn visible($that:ident) $visible_body:block
    ) => {
        impl<$($generics)*> $crate::kernel::Replicated for $type {
            type Part = <$shape as $crate::kernel::Replicated>::Part;
            type Edit<'a> = $crate::kernel::EditView<'a, $type>;
            type View = $view;

            fn kind(place: $crate::kernel::Place) -> $crate::kernel::ShapeKind {
                <$shape as $crate::kernel::Replicated>::kind(place)
            }

            fn empty(place: $crate::kernel::Place) -> Self {
                Self(
                    $crate::kernel::Replicated::empty(place)
                    $(, $crate::kernel::newtype::second!($place place))?
                )
            }

            fn edit<'a>(
                &'a mut self,
                update: &'a mut $crate::kernel::Update,
            ) -> $crate::kernel::EditView<'a, $type> {
                $crate::kernel::EditView::new(self, update)
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
                self.0.is_bottom()
            }

            fn entries(&self) -> u64 {
                self.0.entries()
            }

            fn names(&self, of: &$crate::Dots, out: &mut $crate::Names) {
                self.0.names(of, out);
            }

            fn for_each_entry(&self, of: &$crate::Dots, visit: &mut dyn FnMut($crate::EntryId)) {
                self.0.for_each_entry(of, visit);
            }

            fn is_one_place() -> bool {
                <$shape as $crate::kernel::Replicated>::is_one_place()
            }

            fn checks_names() -> bool {
                <$shape as $crate::kernel::Replicated>::checks_names()
            }

            fn common(&self, other: &Self, theirs: &$crate::Version) -> Option<u64> {
                self.0.common(&other.0, theirs)
            }

            fn part(&self, of: &$crate::Dots) -> Self::Part {
                self.0.part(of)
            }

            fn check(
                &self,
                part: &Self::Part,
                known: &$crate::Version,
            ) -> Result<u64, $crate::kernel::MergeError> {
                self.0.check(part, known)
            }

            fn check_kill(
                &self,
                names: &$crate::Names,
            ) -> Result<(), $crate::kernel::MergeError> {
                self.0.check_kill(names)
            }

            fn kill(&mut self, names: &$crate::Names) {
                self.0.kill(names);
            }

            fn adopt(&mut self, part: Self::Part, known: &$crate::Version) {
                self.0.adopt(part, known);
            }

            fn check_join(
                &self,
                mine: &$crate::Version,
                other: &Self,
                theirs: &$crate::Version,
            ) -> Result<u64, $crate::kernel::MergeError> {
                self.0.check_join(mine, &other.0, theirs)
            }

            fn join(&mut self, mine: &$crate::Version, other: &Self, theirs: &$crate::Version) {
                self.0.join(mine, &other.0, theirs);
            }

            fn publish(&mut self, update: &$crate::kernel::Update) -> Self::Part {
                self.0.publish(update)
            }

            fn rollback(&mut self) {
                self.0.rollback();
            }

            const HAS_LOCAL: bool = <$shape as $crate::kernel::Replicated>::HAS_LOCAL;

            fn take_local(&mut self, from: &Self) {
                self.0.take_local(&from.0);
            }

            fn encode(
                &self,
                encoder: &mut $crate::codec::Encoder,
                place: $crate::kernel::Place,
            ) {
                self.0.encode(encoder, place);
            }

            fn decode(
                decoder: &mut $crate::codec::Decoder<'_>,
                place: $crate::kernel::Place,
            ) -> Result<Self, $crate::codec::DecodeError> {
                let inner = $crate::kernel::Replicated::decode(decoder, place)?;
                Ok(Self(inner $(, $crate::kernel::newtype::second!($place place))?))
            }
        }
    };
}

/// Implements `Debug` by the view: a user who prints a set sees its elements.
macro_rules! debug_as_view {
    (impl[$($generics:tt)*] $type:ty) => {
        /// As the plain value that a user sees.
        impl<$($generics)*> core::fmt::Debug for $type {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                core::fmt::Debug::fmt(&$crate::kernel::Replicated::view(self), f)
            }
        }
    };
}

/// Implements `==` with the view, where that is cheap to make.
macro_rules! equals_view {
    (impl[$($generics:tt)*] $type:ty) => {
        /// Whether a user sees this plain value.
        impl<$($generics)*> PartialEq<<$type as $crate::kernel::Replicated>::View> for $type {
            fn eq(&self, other: &<$type as $crate::kernel::Replicated>::View) -> bool {
                $crate::kernel::Replicated::view(self) == *other
            }
        }
    };
}

/// The second of two tokens; the first one makes a repetition.
macro_rules! second {
    ($first:tt $second:tt) => {
        $second
    };
}

pub(crate) use {debug_as_view, equals_view, replicated_newtype, second};
