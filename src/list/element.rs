//! What a list may hold.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use crate::clock::ReplicaId;
use crate::kernel::{Removable, Replicated};

/// What a [`List`](crate::List) may hold: plain values, each written as a whole, and replicated
/// values, each with edits of its own.
///
/// Every [`Removable`] type has it: other lists, maps, sets, text, registers, structs by
/// `#[derive(Replicated)]`. Of plain values numbers, texts, bytes, `bool`, `char`, `Option` and
/// arrays of bytes have it.
///
/// # Examples
/// A plain value of your own is kept in a register, which the list reads and writes; with
/// [`plain_element!`](crate::plain_element) it is like the plain values of this crate:
/// ```
/// use commute::codec::Payload;
/// use commute::{List, Replica, ReplicaId};
///
/// #[derive(Clone, PartialEq, Debug)]
/// struct Color(u32);
///
/// impl Payload for Color {
///     fn encode(&self, out: &mut Vec<u8>) {
///         self.0.encode(out);
///     }
///     fn decode(bytes: &[u8]) -> Option<Color> {
///         u32::decode(bytes).map(Color)
///     }
/// }
///
/// commute::plain_element! { Color }
///
/// let mut a = Replica::<List<Color>>::new(ReplicaId::from(1));
/// let mut b = a.fork_as(ReplicaId::from(2));
/// a.edit(|list| list.push(Color(0xff0000)))?;
/// let (_, changes) = b.merge_with_changes(&a)?;
/// assert_eq!((b.get(0), changes.len()), (Some(&Color(0xff0000)), 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an element of a list",
    note = "use a plain value, a replicated type that is `Removable`, or `commute::plain_element!`"
)]
pub trait Element: Sized + 'static {
    /// What the list keeps for it.
    type Shape: Removable;
    /// The plain value that a user sees.
    type View;

    /// The element that a shape shows; `None` if it shows none.
    fn of(shape: &Self::Shape) -> Option<&Self>;

    /// A copy of the plain value of what a shape shows.
    fn view(shape: &Self::Shape) -> Option<Self::View>;
}

/// A replicated value is its own shape, and shows what it is even if nobody has touched it.
impl<S: Removable> Element for S {
    type Shape = S;
    type View = <S as Replicated>::View;

    fn of(shape: &S) -> Option<&S> {
        Some(shape)
    }

    fn view(shape: &S) -> Option<<S as Replicated>::View> {
        Some(Replicated::view(shape))
    }
}

/// Makes plain values of your own elements of lists: each is written as a whole, like a number.
///
/// The type has to be a [`Payload`](crate::codec::Payload). This implements
/// [`Element`](crate::list::Element) and [`WatchedElement`](crate::list::WatchedElement), so that
/// [`List`](crate::List)s of it are [`Watched`](crate::kernel::Watched). For an example see
/// [`Element`](crate::list::Element).
#[macro_export]
macro_rules! plain_element {
    (@ [$($generics:tt)*] $type:ty) => {
        impl<$($generics)*> $crate::list::Element for $type {
            type Shape = $crate::MvRegister<$type>;
            type View = $type;

            fn of(register: &$crate::MvRegister<$type>) -> ::core::option::Option<&$type> {
                register.winner()
            }

            fn view(register: &$crate::MvRegister<$type>) -> ::core::option::Option<$type> {
                register.winner().cloned()
            }
        }

        impl<$($generics)*> $crate::list::WatchedElement for $type {
            type Change = $crate::kernel::Replaced<$type>;
            type Before = ::core::option::Option<$type>;

            fn remember(
                register: &$crate::MvRegister<$type>,
                _: &<$crate::MvRegister<$type> as $crate::Replicated>::Part,
                _: &$crate::Names,
                before: &mut ::core::option::Option<$type>,
            ) {
                if before.is_none() {
                    *before = register.winner().cloned();
                }
            }

            fn changes(
                register: &$crate::MvRegister<$type>,
                before: ::core::option::Option<$type>,
            ) -> $crate::list::Changes<$crate::kernel::Replaced<$type>> {
                $crate::list::replaced(before, register.winner().cloned())
            }

            fn follow(view: &mut $type, change: $crate::kernel::Replaced<$type>) {
                *view = change.new;
            }
        }
    };
    ($type:ty) => {
        $crate::plain_element! { @ [] $type }
    };
}

macro_rules! plain {
    ($([$($generics:tt)*] $type:ty,)*) => {
        $(plain_element! { @ [$($generics)*] $type })*
    };
}

plain! {
    [] u8, [] u16, [] u32, [] u64, [] u128,
    [] i8, [] i16, [] i32, [] i64, [] i128,
    [] bool, [] char, [] (), [] ReplicaId,
    [] String, [] Box<str>, [] Vec<u8>,
    [const N: usize] [u8; N],
    [V: crate::codec::Payload] Option<V>,
}
