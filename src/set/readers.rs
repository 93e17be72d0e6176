//! What all sets read and extend alike.

/// Implements the readers of a set whose elements are the keys for which `$shown` holds, and what
/// follows from them and from `insert`.
macro_rules! set_readers {
    ($set:ident of $shape:ty, shown if $shown:expr) => {
        impl<T: Key> $set<T> {
            /// Whether `value` is in the set. O(log n).
            pub fn contains<Q>(&self, value: &Q) -> bool
            where
                T: core::borrow::Borrow<Q>,
                Q: Ord + ?Sized,
            {
                self.0.get(value).is_some_and($shown)
            }

            /// The least element.
            pub fn first(&self) -> Option<&T> {
                self.iter().next()
            }

            /// The greatest element.
            pub fn last(&self) -> Option<&T> {
                self.iter().next_back()
            }

            /// The elements in ascending order.
            pub fn iter(&self) -> $crate::kernel::Iter<'_, T, $shape, &T> {
                self.0.select(|value, held| ($shown)(held).then_some(value))
            }
        }

        impl<T: Key> $crate::kernel::EditView<'_, $set<T>> {
            /// Adds all `values`.
            ///
            /// # Errors
            /// As [`insert`](crate::kernel::EditView::insert).
            pub fn extend(
                &mut self,
                values: impl IntoIterator<Item = T>,
            ) -> Result<(), $crate::kernel::EditError> {
                let mut values = values.into_iter();
                values.try_for_each(|value| self.insert(value).map(drop))
            }
        }

        impl<'a, T: Key> IntoIterator for &'a $set<T> {
            type Item = &'a T;
            type IntoIter = $crate::kernel::Iter<'a, T, $shape, &'a T>;

            fn into_iter(self) -> Self::IntoIter {
                self.iter()
            }
        }

        /// Of the same elements.
        impl<T: Key> PartialEq for $set<T> {
            fn eq(&self, other: &$set<T>) -> bool {
                self.iter().eq(other)
            }
        }

        impl<T: Key> Eq for $set<T> {}

        impl<T: Key> PartialEq<alloc::collections::BTreeSet<T>> for $set<T> {
            fn eq(&self, other: &alloc::collections::BTreeSet<T>) -> bool {
                self.iter().eq(other)
            }
        }
    };
}

pub(super) use set_readers;
