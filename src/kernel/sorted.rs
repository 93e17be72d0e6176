//! Maps as sorted lists, which is all that fragments need.

use core::cmp::Ordering;

/// The union of two ascending lists; `join` is called with what one of them has for a key, and with what
/// the other one has for it. O(n + m).
pub(super) fn union<K: Ord, V, L, E>(
    mine: L,
    theirs: L,
    mut join: impl FnMut(&K, &mut V, Option<V>) -> Result<(), E>,
) -> Result<L, E>
where
    L: IntoIterator<Item = (K, V)> + Extend<(K, V)> + Default,
{
    let mut all = L::default();
    let (mut mine, mut theirs) = (mine.into_iter().peekable(), theirs.into_iter().peekable());
    loop {
        let order = match (mine.peek(), theirs.peek()) {
            (Some((a, _)), Some((b, _))) => a.cmp(b),
            (Some(_), None) => Ordering::Less,
            (None, _) => Ordering::Greater,
        };
        let held = if order.is_le() { mine.next() } else { None };
        let offered = if order.is_ge() { theirs.next() } else { None };
        let (Some((key, mut value)), other) = (match held {
            Some(held) => (Some(held), offered),
            None => (offered, None),
        }) else {
            return Ok(all);
        };
        join(&key, &mut value, other.map(|(_, other)| other))?;
        all.extend([(key, value)]);
    }
}
