//! What a list may hold.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use super::change::{WatchedElement, replaced};
use crate::clock::{Names, ReplicaId};
use crate::kernel::{Removable, Replaced, Replicated};
use crate::register::MvRegister;

/// What a [`List`](crate::List) may hold: plain values, each written as a whole, and replicated
/// values, each with edits of its own.
///
/// Every [`Removable`] type has it: other lists, maps, sets, text, registers, structs by
/// `#[derive(Replicated)]`. Of plain values numbers, texts, bytes, `bool`, `char`, `Option` and
/// arrays of bytes have it.
///
/// # Examples
/// A plain value of your own is kept in a register, which the list reads and writes:
/// ```
/// use commute::codec::Payload;
/// use commute::list::Element;
/// use commute::{List, MvRegister, Replica, ReplicaId};
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
/// impl Element for Color {
///     type Shape = MvRegister<Color>;
///     type View = Color;
///     fn of(register: &MvRegister<Color>) -> Option<&Color> {
///         register.winner()
///     }
///     fn view(register: &MvRegister<Color>) -> Option<Color> {
///         register.winner().cloned()
///     }
/// }
///
/// let mut a = Replica::<List<Color>>::new(ReplicaId::from(1));
/// a.edit(|list| list.push(Color(0xff0000)))?;
/// assert_eq!(a.get(0), Some(&Color(0xff0000)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an element of a list",
    note = "use a plain value, a replicated type that is `Removable`, or implement `Element`"
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

macro_rules! plain {
    ($([$($generics:tt)*] $type:ty,)*) => {$(
        impl<$($generics)*> Element for $type {
            type Shape = MvRegister<$type>;
            type View = $type;

            fn of(register: &MvRegister<$type>) -> Option<&$type> {
                register.winner()
            }

            fn view(register: &MvRegister<$type>) -> Option<$type> {
                register.winner().cloned()
            }
        }

        impl<$($generics)*> WatchedElement for $type {
            type Change = Replaced<$type>;
            type Before = Option<$type>;

            fn remember(
                register: &MvRegister<$type>,
                _: &<MvRegister<$type> as Replicated>::Part,
                _: &Names,
                before: &mut Option<$type>,
            ) {
                if before.is_none() {
                    *before = <$type as Element>::view(register);
                }
            }

            fn changes(
                register: &MvRegister<$type>,
                before: Option<$type>,
            ) -> Vec<Replaced<$type>> {
                replaced(before, <$type as Element>::view(register))
            }

            fn follow(view: &mut $type, change: Replaced<$type>) {
                *view = change.new;
            }
        }
    )*};
}

plain! {
    [] u8, [] u16, [] u32, [] u64, [] u128,
    [] i8, [] i16, [] i32, [] i64, [] i128,
    [] bool, [] char, [] (), [] ReplicaId,
    [] String, [] Box<str>, [] Vec<u8>,
    [const N: usize] [u8; N],
    [V: crate::codec::Payload] Option<V>,
}
