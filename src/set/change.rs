//! What changes in sets.

/// A change in the view of a set.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum SetChange<T> {
    /// This element was not there and is.
    Inserted(T),
    /// This element was there and is not.
    Removed(T),
}

/// Implements [`Watched`](crate::kernel::Watched) for a set that is a map of its elements.
macro_rules! watched_set {
    (impl[$($generics:tt)*] $type:ty, of $element:ty) => {
        impl<$($generics)*> $crate::kernel::Watched for $type {
            type Change = $crate::set::SetChange<$element>;
            type Before = alloc::collections::BTreeMap<$element, bool>;

            fn remember(
                &self,
                part: &Self::Part,
                dead: &$crate::clock::Names,
                before: &mut Self::Before,
            ) {
                for (element, _) in self.0.touched(part, dead) {
                    let shown = self.contains(&element);
                    before.entry(element).or_insert(shown);
                }
            }

            fn changes(&self, before: Self::Before) -> alloc::vec::Vec<Self::Change> {
                let changed = before
                    .into_iter()
                    .filter(|(element, shown)| self.contains(element) != *shown);
                let change = |(element, shown)| match shown {
                    true => $crate::set::SetChange::Removed(element),
                    false => $crate::set::SetChange::Inserted(element),
                };
                changed.map(change).collect()
            }

            fn follow(view: &mut Self::View, change: Self::Change) {
                match change {
                    $crate::set::SetChange::Inserted(element) => view.insert(element),
                    $crate::set::SetChange::Removed(element) => view.remove(&element),
                };
            }
        }
    };
}

pub(crate) use watched_set;
