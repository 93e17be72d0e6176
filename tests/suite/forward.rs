//! Test types that are one shape of the kernel with edits of their own.

use commute::kernel::Update;

/// A value inside the update that changes it.
#[derive(Debug)]
pub struct Editing<'a, S> {
    pub value: &'a mut S,
    pub update: &'a mut Update,
}

/// Implements `Replicated` for a tuple struct by its only field.
macro_rules! forward {
    ($type:ty as $shape:ty) => {
        impl commute::Replicated for $type {
            type Part = <$shape as commute::Replicated>::Part;
            type Edit<'a> = $crate::suite::forward::Editing<'a, $type>;
            type View = <$shape as commute::Replicated>::View;

            fn kind(place: commute::kernel::Place) -> commute::kernel::ShapeKind {
                <$shape as commute::Replicated>::kind(place)
            }

            fn empty(place: commute::kernel::Place) -> Self {
                Self(commute::Replicated::empty(place))
            }
            fn edit<'a>(&'a mut self, update: &'a mut commute::kernel::Update) -> Self::Edit<'a> {
                $crate::suite::forward::Editing {
                    value: self,
                    update,
                }
            }
            fn view(&self) -> Self::View {
                self.0.view()
            }
            fn visible(&self) -> bool {
                self.0.visible()
            }
            fn is_bottom(&self) -> bool {
                self.0.is_bottom()
            }
            fn entries(&self) -> u64 {
                self.0.entries()
            }
            fn names(&self, of: &commute::Dots, out: &mut commute::Names) {
                self.0.names(of, out);
            }
            fn part(&self, of: &commute::Dots) -> Self::Part {
                self.0.part(of)
            }
            fn check(
                &self,
                part: &Self::Part,
                known: &commute::Version,
            ) -> Result<u64, commute::MergeError> {
                self.0.check(part, known)
            }
            fn check_kill(&self, names: &commute::Names) -> Result<(), commute::MergeError> {
                self.0.check_kill(names)
            }
            fn kill(&mut self, names: &commute::Names) {
                self.0.kill(names);
            }
            fn adopt(&mut self, part: Self::Part, known: &commute::Version) {
                self.0.adopt(part, known);
            }
            fn check_join(
                &self,
                mine: &commute::Version,
                other: &Self,
                theirs: &commute::Version,
            ) -> Result<u64, commute::MergeError> {
                self.0.check_join(mine, &other.0, theirs)
            }
            fn join(&mut self, mine: &commute::Version, other: &Self, theirs: &commute::Version) {
                self.0.join(mine, &other.0, theirs);
            }
            fn publish(&mut self, update: &commute::kernel::Update) -> Self::Part {
                self.0.publish(update)
            }
            fn rollback(&mut self) {
                self.0.rollback();
            }
            fn encode(&self, encoder: &mut commute::codec::Encoder, place: commute::kernel::Place) {
                self.0.encode(encoder, place);
            }
            fn decode(
                decoder: &mut commute::codec::Decoder<'_>,
                place: commute::kernel::Place,
            ) -> Result<Self, commute::codec::DecodeError> {
                commute::Replicated::decode(decoder, place).map(Self)
            }
        }
    };
}

pub(crate) use forward;
