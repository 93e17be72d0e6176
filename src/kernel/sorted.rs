//! Maps as sorted lists, which is all that fragments need.

use core::cmp::Ordering;

/// The union of two ascending lists, with `join` where both have a key. O(n + m).
pub(super) fn union<K: Ord, V, L, E>(
    mine: L,
    theirs: L,
    mut join: impl FnMut(&K, &mut V, V) -> Result<(), E>,
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
        match (held, offered) {
            (Some((key, mut value)), Some((_, other))) => {
                join(&key, &mut value, other)?;
                all.extend([(key, value)]);
            }
            (None, None) => return Ok(all),
            (one, other) => all.extend(one.or(other)),
        }
    }
}
