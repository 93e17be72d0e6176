//! An ordered list, whose elements are plain or replicated values.

use alloc::vec::Vec;
use core::ops::Range;

use super::Element;
use crate::clock::EntryId;
use crate::codec::Payload;
use crate::kernel::newtype::debug_as_view;
use crate::kernel::structs::{replicated_struct, struct_part};
use crate::kernel::{
    DotMap, DotMapPart, EditError, EditView, Fault, IndexError, IndexFault, MergeError, Part,
    Removable, Replicated, Unit, Update,
};
use crate::register::MvRegister;
use crate::text::{Chars, Text, fragment};

/// What stands for an element in the order of a list.
pub(super) const PLACEHOLDER: char = '.';

/// An ordered list: what is inserted stays between its neighbours, whatever is inserted or deleted
/// elsewhere at the same time.
///
/// `List<String>` holds plain values, of which each is written as a whole; `List<Text>`,
/// `List<OrMap<K, V>>` and the like hold replicated values, which are edited in place.
///
/// | | |
/// |---|---|
/// | conflict | A and B insert at one place: both are there, what each inserted forwards in one piece |
/// | conflict | A deletes an element while B writes or edits it: it is gone (the deletion wins), B's change is in `hidden` |
/// | conflict | A and B write one plain element: that of the greater replica id shows, the other one is in `conflicts` |
/// | delivery | any order, duplicates allowed; an early delta waits for its past |
/// | space | O(elements ever inserted, in runs + live entries of all values); 29 bytes of key an element on the wire |
/// | not guaranteed | moving: an element deleted here and inserted there by two replicas is there twice |
///
/// **Reset rule.** A deletion resets the value of the element as far as it is seen. What is written
/// to it concurrently stays hidden, for good: the element does not come back. [`clear`] and a
/// removal of the whole list reset what is hidden and seen, too.
///
/// A value without an element is refused wherever it comes from. An element without a value (no
/// honest replica makes one of plain values) counts in `len`, and `get` has none for it.
///
/// Edits, on the [`EditView`]: `insert`, `push`, `extend`, `set` for plain values; `insert_empty`,
/// `push_empty`, `edit` for replicated ones; `remove`, `delete`, `clear`.
///
/// Source: Roh et al. 2011, doi:10.1016/j.jpdc.2010.12.006 (RGA), for the order, by the engine of
/// [`Text`]; Almeida et al. 2018, section 7, for the values.
///
/// [`clear`]: EditView::clear
///
/// # Examples
/// ```
/// use commute::{List, Replica, ReplicaId, Text, text::Chars};
/// let mut a = Replica::<List<String>>::new(ReplicaId::from(1));
/// a.edit(|list| list.extend(["milk", "eggs"].map(String::from)))?;
/// let mut b = a.fork_as(ReplicaId::from(2));
/// a.edit(|list| list.insert(1, "bread".into()))?;
/// b.edit(|list| list.set(0, "oat milk".into()))?;      // concurrent
/// b.edit(|list| list.remove(1))?;
/// a.merge(&b)?;
/// assert_eq!(a.view(), ["oat milk", "bread"]);
///
/// let mut notes = Replica::<List<Text>>::new(ReplicaId::from(3));
/// notes.edit(|list| list.push_empty()?.insert(Chars(0), "call Ann"))?;
/// notes.edit(|list| list.edit(0)?.insert(Chars(8), "e"))?;
/// assert_eq!(notes.get(0).map(Text::to_string), Some("call Anne".into()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct List<T: Element> {
    pub(super) order: Text,
    pub(super) values: DotMap<EntryId, T::Shape>,
    /// What an element shows of which nothing is stored.
    blank: T::Shape,
}

impl<T: Element> List<T> {
    /// The number of elements. O(1).
    pub fn len(&self) -> usize {
        self.order.len::<Chars>().0
    }

    /// Whether there is no element. O(1).
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// The element at `index`. O(log n).
    pub fn get(&self, index: usize) -> Option<&T> {
        T::of(self.shape(self.order.id_at(index)?))
    }

    /// The first element. O(log n).
    pub fn first(&self) -> Option<&T> {
        self.get(0)
    }

    /// The last element. O(log n).
    pub fn last(&self) -> Option<&T> {
        self.get(self.len().checked_sub(1)?)
    }

    /// Whether one of the elements is `value`. O(n log n).
    pub fn contains(&self, value: &T) -> bool
    where
        T: PartialEq,
    {
        self.iter().any(|held| held == value)
    }

    /// The elements in order. O(log n) each.
    pub fn iter(&self) -> ListIter<'_, T> {
        let left = 0..self.len();
        ListIter { list: self, left }
    }

    /// A name of the element at `index` that stays its own wherever it goes to. O(log n).
    ///
    /// # Examples
    /// ```
    /// # use commute::{List, Replica, ReplicaId};
    /// let mut a = Replica::<List<u8>>::new(ReplicaId::from(1));
    /// a.edit(|list| list.extend([1, 2]))?;
    /// let two = a.id_at(1).unwrap();
    /// a.edit(|list| list.insert(0, 0))?;
    /// assert_eq!(a.position_of(two), Some(2));
    /// a.edit(|list| list.remove(2))?;
    /// assert_eq!(a.position_of(two), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn id_at(&self, index: usize) -> Option<EntryId> {
        self.order.id_at(index)
    }

    /// Where the element of this name is; `None` if it was deleted or never there. O(log n).
    pub fn position_of(&self, id: EntryId) -> Option<usize> {
        self.order.position_of(id)
    }

    /// What was written to elements that are deleted and that no deletion of them had seen, with the
    /// names of these elements. O(log n) each.
    ///
    /// # Examples
    /// ```
    /// # use commute::{List, Replica, ReplicaId};
    /// let mut a = Replica::<List<u8>>::new(ReplicaId::from(1));
    /// a.edit(|list| list.push(1))?;
    /// let mut b = a.fork_as(ReplicaId::from(2));
    /// a.edit(|list| list.remove(0))?;
    /// b.edit(|list| list.set(0, 2))?;
    /// a.merge(&b)?;
    /// assert!(a.is_empty());
    /// assert_eq!(a.hidden().map(|(_, value)| value).collect::<Vec<_>>(), [&2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn hidden(&self) -> impl Iterator<Item = (EntryId, &T)> {
        let deleted = |id: EntryId| self.order.position_of(id).is_none();
        let written = self.values.iter().filter(|(_, value)| value.visible());
        let hidden = written.filter(move |(id, _)| deleted(**id));
        hidden.filter_map(|(id, value)| Some((*id, T::of(value)?)))
    }

    pub(super) fn shape(&self, id: EntryId) -> &T::Shape {
        self.values.get(&id).unwrap_or(&self.blank)
    }

    fn id(&self, index: usize) -> Result<EntryId, EditError> {
        let id = self.order.id_at(index);
        id.ok_or(EditError::Index(self.out_of_range(index)))
    }

    fn out_of_range(&self, index: usize) -> IndexError {
        IndexError {
            fault: IndexFault::OutOfRange,
            index,
            len: self.len(),
            unit: Unit::Elements,
        }
    }

    /// Makes room for an element at `index`; returns its value, which holds nothing yet.
    fn insert_shape(
        &mut self,
        index: usize,
        update: &mut Update,
    ) -> Result<&mut T::Shape, EditError> {
        if index > self.len() {
            return Err(self.out_of_range(index).into());
        }
        let mut content = [0; 4];
        let content = PLACEHOLDER.encode_utf8(&mut content);
        self.order.insert_at(Chars(index), content, update)?;
        let id = self.id(index)?;
        Ok(self.values.child(id))
    }

    fn delete_range(&mut self, range: Range<usize>, update: &mut Update) -> Result<(), EditError> {
        if range.start > range.end {
            let fault = IndexFault::Backwards;
            let backwards = self.out_of_range(range.start);
            return Err(IndexError { fault, ..backwards }.into());
        }
        if range.end > self.len() {
            return Err(self.out_of_range(range.end).into());
        }
        let ids = range.clone().filter_map(|at| self.order.id_at(at));
        let ids: Vec<EntryId> = ids.collect();
        let chars = Chars(range.start)..Chars(range.end);
        self.order.delete_range(chars, update)?;
        for id in ids {
            self.values.remove(&id, update)?;
        }
        Ok(())
    }
}

impl<T: Payload + Element<Shape = MvRegister<T>>> List<T> {
    /// The values of the element at `index` that were written concurrently to the one that shows.
    ///
    /// # Examples
    /// ```
    /// # use commute::{List, Replica, ReplicaId};
    /// let mut a = Replica::<List<u8>>::new(ReplicaId::from(1));
    /// a.edit(|list| list.push(0))?;
    /// let mut b = a.fork_as(ReplicaId::from(2));
    /// a.edit(|list| list.set(0, 1))?;
    /// b.edit(|list| list.set(0, 2))?;
    /// a.merge(&b)?;
    /// assert_eq!((a.get(0), a.conflicts(0).collect()), (Some(&2), vec![&1]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn conflicts(&self, index: usize) -> impl Iterator<Item = &T> {
        let value = self.order.id_at(index).map(|id| self.shape(id));
        value.into_iter().flat_map(MvRegister::conflicts)
    }
}

impl<T: Payload + Element<Shape = MvRegister<T>>> EditView<'_, List<T>> {
    /// Inserts `value` before the element at `index`; behind the last one if `index` is the length.
    ///
    /// # Errors
    /// [`EditError::Index`] beyond that.
    ///
    /// # Complexity
    /// O(log n).
    pub fn insert(&mut self, index: usize, value: T) -> Result<(), EditError> {
        let register = self.state.insert_shape(index, self.update)?;
        register.edit(self.update).set(value)
    }

    /// Adds `value` at the end. O(log n).
    ///
    /// # Errors
    /// [`EditError::TooManyEntries`] after 2^31 elements in one update.
    pub fn push(&mut self, value: T) -> Result<(), EditError> {
        self.insert(self.state.len(), value)
    }

    /// Adds all `values` at the end. O(log n) each.
    ///
    /// # Errors
    /// As [`push`](EditView::push).
    pub fn extend(&mut self, values: impl IntoIterator<Item = T>) -> Result<(), EditError> {
        values.into_iter().try_for_each(|value| self.push(value))
    }

    /// Replaces the element at `index`, and the values that were written to it concurrently and are
    /// seen here.
    ///
    /// # Errors
    /// [`EditError::Index`] if there is none.
    ///
    /// # Complexity
    /// O(log n).
    pub fn set(&mut self, index: usize, value: T) -> Result<(), EditError> {
        let id = self.state.id(index)?;
        self.state.values.child(id).edit(self.update).set(value)
    }
}

impl<T: Element<Shape = T> + Removable> EditView<'_, List<T>> {
    /// Inserts an element that nobody has touched before the one at `index`, behind the last one if
    /// `index` is the length; returns its edit view.
    ///
    /// # Errors
    /// [`EditError::Index`] beyond that.
    ///
    /// # Complexity
    /// O(log n).
    pub fn insert_empty(&mut self, index: usize) -> Result<T::Edit<'_>, EditError> {
        let value = self.state.insert_shape(index, self.update)?;
        Ok(value.edit(self.update))
    }

    /// Adds an element that nobody has touched at the end; returns its edit view. O(log n).
    ///
    /// # Errors
    /// [`EditError::TooManyEntries`] after 2^31 elements in one update.
    pub fn push_empty(&mut self) -> Result<T::Edit<'_>, EditError> {
        self.insert_empty(self.state.len())
    }

    /// The edit view of the element at `index`. O(log n).
    ///
    /// # Errors
    /// [`EditError::Index`] if there is none.
    pub fn edit(&mut self, index: usize) -> Result<T::Edit<'_>, EditError> {
        let id = self.state.id(index)?;
        Ok(self.state.values.child(id).edit(self.update))
    }
}

impl<T: Element> EditView<'_, List<T>> {
    /// Deletes the element at `index`, whatever is written to it concurrently.
    ///
    /// # Errors
    /// [`EditError::Index`] if there is none.
    ///
    /// # Complexity
    /// O(log n) and the size of the value.
    pub fn remove(&mut self, index: usize) -> Result<(), EditError> {
        match index < self.state.len() {
            true => self.delete(index..index + 1),
            false => Err(self.state.out_of_range(index).into()),
        }
    }

    /// Deletes the elements within `range`; those inserted into it concurrently stay.
    ///
    /// # Errors
    /// [`EditError::Index`] if an end is out of range.
    ///
    /// # Complexity
    /// O(log n) an element, and the size of the values.
    pub fn delete(&mut self, range: Range<usize>) -> Result<(), EditError> {
        self.state.delete_range(range, self.update)
    }

    /// Deletes every element seen here.
    ///
    /// # Errors
    /// Those of the values' own resets.
    ///
    /// # Complexity
    /// O(n log n) and the size of the values.
    pub fn clear(&mut self) -> Result<(), EditError> {
        self.state.reset(self.update)
    }
}

/// The elements of a [`List`] in order.
pub struct ListIter<'a, T: Element> {
    list: &'a List<T>,
    left: Range<usize>,
}

impl<T: Element> Clone for ListIter<'_, T> {
    fn clone(&self) -> Self {
        ListIter {
            list: self.list,
            left: self.left.clone(),
        }
    }
}

impl<'a, T: Element> Iterator for ListIter<'a, T> {
    type Item = &'a T;

    fn next(&mut self) -> Option<&'a T> {
        self.left.find_map(|index| self.list.get(index))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, Some(self.left.len()))
    }
}

impl<'a, T: Element> DoubleEndedIterator for ListIter<'a, T> {
    fn next_back(&mut self) -> Option<&'a T> {
        let mut backwards = self.left.by_ref().rev();
        backwards.find_map(|index| self.list.get(index))
    }
}

impl<'a, T: Element> IntoIterator for &'a List<T> {
    type Item = &'a T;
    type IntoIter = ListIter<'a, T>;

    fn into_iter(self) -> ListIter<'a, T> {
        self.iter()
    }
}

impl<T: Element> Removable for List<T> {
    fn reset(&mut self, update: &mut Update) -> Result<(), EditError> {
        let all = Chars(0)..self.order.len::<Chars>();
        self.order.delete_range(all, update)?;
        self.values.reset(update)
    }
}

debug_as_view!(impl[T: Element<View: core::fmt::Debug>] List<T>);

impl<T: Element<Shape: Clone>> Clone for List<T> {
    fn clone(&self) -> List<T> {
        List {
            order: self.order.clone(),
            values: self.values.clone(),
            blank: self.blank.clone(),
        }
    }
}

/// With plain values as the elements compare with: texts with strings, counters with numbers.
impl<T: Element + PartialEq<W>, W> PartialEq<[W]> for List<T> {
    fn eq(&self, other: &[W]) -> bool {
        let same = |(element, plain): (&T, &W)| element == plain;
        self.len() == other.len() && self.iter().zip(other).all(same)
    }
}

impl<T: Element + PartialEq<W>, W, const N: usize> PartialEq<[W; N]> for List<T> {
    fn eq(&self, other: &[W; N]) -> bool {
        *self == other[..]
    }
}

impl<T: Element + PartialEq<W>, W> PartialEq<Vec<W>> for List<T> {
    fn eq(&self, other: &Vec<W>) -> bool {
        *self == other[..]
    }
}

replicated_struct! {
    impl[T: Element] List<T>, ListPart: ListPart<<T::Shape as Replicated>::Part> {
        1 => order: Text,
        2 => values: DotMap<EntryId, T::Shape>,
        ; blank
    }
    type Edit = EditView<'a, List<T>>;
    fn edit(list, update) { EditView::new(list, update) }
    type View = Vec<T::View>;
    fn view(this) {
        this.order.ids().filter_map(|id| T::view(this.shape(id))).collect()
    }
    fn visible(that) { !that.is_empty() }
    fn check(held, part) {
        let new = fragment::inserted(&part.order);
        let known = |id: &&EntryId| !held.order.has(**id) && !new.contains(**id);
        match part.values.keys().find(known) {
            None => Ok(()),
            Some(id) => Err(MergeError::Invalid(Fault::TargetMissing(*id))),
        }
    }
    fn valid(read) {
        let known = read.values.iter().all(|(id, _)| read.order.has(*id));
        known && read.order.chars().all(|c| c == PLACEHOLDER)
    }
}

/// Some entries of a [`List`]: elements, deletions, and values by element.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct ListPart<P> {
    pub(super) order: <Text as Replicated>::Part,
    pub(super) values: DotMapPart<EntryId, P>,
}

struct_part! {
    impl[P: Part] ListPart<P> { 1 => order, 2 => values, }
    fn valid(read) { fragment::is_all(&read.order, PLACEHOLDER) }
}
