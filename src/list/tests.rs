//! What a faulty peer may send.

use alloc::vec::Vec;

use super::List;
use super::list::{ListPart, PLACEHOLDER};
use crate::clock::{Dots, EntryId, Version};
use crate::codec::{DecodeErrorKind, Decoder, Encoder, Limits};
use crate::kernel::{Fault, MergeError, Part, Place, Replicated};
use crate::text::{Chars, Text};
use crate::{Replica, ReplicaId};

type Numbers = List<u8>;

/// A replica with two numbers, and the part of a peer that has all of it.
fn numbers() -> (
    Replica<Numbers>,
    ListPart<<crate::MvRegister<u8> as Replicated>::Part>,
) {
    let mut a = Replica::<Numbers>::new(ReplicaId::from(1));
    a.edit(|list| list.extend([7, 8])).unwrap();
    let part = a.part(&Dots::from(a.version()));
    (a, part)
}

fn written(write: impl FnOnce(&mut Encoder)) -> Vec<u8> {
    let mut encoder = Encoder::new(alloc::vec![ReplicaId::from(1)]);
    encoder.table();
    write(&mut encoder);
    encoder.into_bytes()
}

/// Reads what `written` gave.
fn read<T>(
    bytes: &[u8],
    read: impl FnOnce(&mut Decoder<'_>) -> Result<T, crate::DecodeError>,
) -> Result<T, DecodeErrorKind> {
    let mut decoder = Decoder::new(bytes, &Limits::default());
    let value = decoder.table().and_then(|()| read(&mut decoder));
    value.map_err(|error| error.kind)
}

#[test]
fn a_value_without_an_element_is_refused() {
    let (a, part) = numbers();
    let values = ListPart {
        order: Default::default(),
        ..part
    };
    let first = values.values.keys().next().copied().unwrap();
    let empty = Numbers::empty(Place::Kept);
    let refused = Err(MergeError::Invalid(Fault::TargetMissing(first)));
    assert_eq!(empty.check(&values, &Version::new()), refused);
    assert_eq!(Replicated::check(&**a, &values, a.version()), Ok(2));
    // The name of a record is no element.
    let mut b = a.fork_as(ReplicaId::from(2));
    let (_, delta) = b.update(|list| list.remove(0)).unwrap();
    assert!(!delta.is_empty());
    let record = EntryId::new(crate::Dot::new(b.id(), 1), 0);
    assert!(!b.order.has(record));
    let mut without = (**a).clone();
    without.order = Text::empty(Place::Kept);
    let bytes = written(|e| without.encode(e, Place::Kept));
    let result = read(&bytes, |d| Numbers::decode(d, Place::Kept));
    assert_eq!(result.map(drop), Err(DecodeErrorKind::Inconsistent));
}

#[test]
fn an_element_without_a_value_counts_and_shows_nothing() {
    let (_, part) = numbers();
    let order = ListPart {
        values: Default::default(),
        ..part
    };
    let mut list = Numbers::empty(Place::Kept);
    assert_eq!(list.check(&order, &Version::new()), Ok(0));
    list.adopt(order, &Version::new());
    assert_eq!((list.len(), list.get(0), list.iter().count()), (2, None, 0));
    assert!(list.view().is_empty());
    let bytes = written(|e| list.encode(e, Place::Kept));
    assert!(read(&bytes, |d| Numbers::decode(d, Place::Kept)).is_ok());
}

#[test]
fn an_order_of_anything_else_is_refused() {
    let mut text = Replica::<Text>::new(ReplicaId::from(1));
    text.edit(|text| text.insert(Chars(0), ".x")).unwrap();
    assert!(text.chars().any(|c| c != PLACEHOLDER));
    let part: ListPart<<Text as Replicated>::Part> = ListPart {
        order: text.part(&Dots::from(text.version())),
        values: Default::default(),
    };
    let bytes = written(|e| part.encode(e, Place::Kept));
    let result = read(&bytes, |d| {
        ListPart::<<Text as Replicated>::Part>::decode(d, Place::Kept)
    });
    assert_eq!(result.map(drop), Err(DecodeErrorKind::Value));
    let mut list = Numbers::empty(Place::Kept);
    list.order = (**text).clone();
    let bytes = written(|e| list.encode(e, Place::Kept));
    let result = read(&bytes, |d| Numbers::decode(d, Place::Kept));
    assert_eq!(result.map(drop), Err(DecodeErrorKind::Inconsistent));
}
