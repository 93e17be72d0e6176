//! Keys with a shape each, all under the one version of the state.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::borrow::Borrow;
use core::cmp::Ordering;

use super::dot_fun::among;
use super::iter::{Iter, Show};
use super::{
    EditError, EditView, Journal, MergeError, Part, Place, Removable, Replicated, ShapeKind,
    Update, WithRest, WithRestPart,
};
use crate::clock::{Dots, EntryId, Names, ReplicaId, Version};
use crate::codec::{DecodeError, DecodeErrorKind, Decoder, Encoder, Key};

/// Keys with a shape each. A key whose shape holds nothing is not there.
///
/// Sharing the version of the whole state is what keeps a key that is removed and made again free
/// of anomalies. An index from entries to keys makes a removal cost O(log n) without naming the key.
///
/// Source: Almeida et al. 2018, section 7 (dot store `DotMap`).
#[derive(Clone, Debug)]
pub struct DotMap<K, S> {
    // Between updates no child is bottom; within one, a child in `touched` may be. Of a child whose
    // fields are all unknown here the value is bottom.
    children: BTreeMap<K, WithRest<S>>,
    // The live entries of all children as of the last publish.
    index: BTreeMap<EntryId, K>,
    touched: Journal<K>,
}

impl<K: Key, S: Removable> DotMap<K, S> {
    /// The number of keys. O(1) between updates; O(n) for a map of structs.
    pub fn len(&self) -> usize {
        if S::kind(Place::Removable) == ShapeKind::Struct {
            return self.iter().count();
        }
        let touched: BTreeSet<&K> = self.touched.iter().collect();
        let hollow = |key: &&&K| self.children.get(**key).is_some_and(WithRest::is_bottom);
        self.children.len() - touched.iter().filter(hollow).count()
    }

    /// Whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of `key`. O(log n).
    pub fn get<Q>(&self, key: &Q) -> Option<&S>
    where
        K: Borrow<Q>,
        Q: Ord + ?Sized,
    {
        let value = self.children.get(key).map(|child| &child.value);
        value.filter(|value| !value.is_bottom())
    }

    /// Keys and values in ascending order of keys.
    pub fn iter(&self) -> Iter<'_, K, S, (&K, &S)> {
        self.select(|key, child| (!child.is_bottom()).then_some((key, child)))
    }

    /// What `show` shows of the keys, in ascending order of these; of a running update's keys it is
    /// asked for values that hold nothing, too.
    pub(crate) fn select<'a, Item>(&'a self, show: Show<'a, K, S, Item>) -> Iter<'a, K, S, Item> {
        Iter::of_children(self.children.iter(), show)
    }

    /// The value of `key`, to be changed by the running update. O(log n).
    pub fn child(&mut self, key: K) -> &mut S {
        &mut self.touch(key).value
    }

    fn touch(&mut self, key: K) -> &mut WithRest<S> {
        self.touched.push(key.clone());
        self.children
            .entry(key)
            .or_insert_with(|| WithRest::empty(Place::Removable))
    }

    /// The value of `key` if there is one, to be changed by the running update. O(log n).
    pub fn child_of<Q>(&mut self, key: &Q) -> Option<&mut S>
    where
        K: Borrow<Q>,
        Q: Ord + ?Sized,
    {
        self.touch_known(key).map(|child| &mut child.value)
    }

    fn touch_known<Q>(&mut self, key: &Q) -> Option<&mut WithRest<S>>
    where
        K: Borrow<Q>,
        Q: Ord + ?Sized,
    {
        let (key, _) = self.children.get_key_value(key)?;
        let key = key.clone();
        Some(self.touch(key))
    }

    /// Resets the value of `key`; returns whether there was one. O(log n) and the size of the value.
    ///
    /// # Errors
    /// See [`Removable::reset`].
    pub fn remove<Q>(&mut self, key: &Q, update: &mut Update) -> Result<bool, EditError>
    where
        K: Borrow<Q>,
        Q: Ord + ?Sized,
    {
        let Some(child) = self.touch_known(key) else {
            return Ok(false);
        };
        let was_visible = child.visible();
        child.reset(update)?;
        Ok(was_visible)
    }

    fn drop_if_bottom(&mut self, key: &K) {
        if self.children.get(key).is_some_and(WithRest::is_bottom) {
            self.children.remove(key);
        }
    }

    /// The live entries created by `of`, by key.
    fn by_key<'m>(&'m self, of: &Dots) -> BTreeMap<&'m K, Dots> {
        let mut keys = BTreeMap::<&'m K, Dots>::new();
        for (entry, key) in among(&self.index, of) {
            keys.entry(key).or_default().insert(entry.dot);
        }
        keys
    }

    /// The keys of what `part` brings and of what dies by `dead`, with those of `dead` that are theirs.
    pub(crate) fn touched<P: Part>(
        &self,
        part: &DotMapPart<K, P>,
        dead: &Names,
    ) -> BTreeMap<K, Names> {
        let mut keys = BTreeMap::<K, Vec<EntryId>>::new();
        for key in part.0.keys() {
            keys.entry(key.clone()).or_default();
        }
        for entry in dead.iter() {
            if let Some(key) = self.index.get(&entry) {
                keys.entry(key.clone()).or_default().push(entry);
            }
        }
        let names = |(key, entries)| (key, Names::from_entries(entries));
        keys.into_iter().map(names).collect()
    }

    /// The entries that a join with `other` drops and adds, by key.
    fn changed_keys(&self, mine: &Version, other: &Self, theirs: &Version) -> Changed<K> {
        let mut changed = Changed {
            keys: BTreeSet::new(),
            died: Vec::new(),
            born: Vec::new(),
        };
        let (mut a, mut b) = (self.index.iter().peekable(), other.index.iter().peekable());
        while a.peek().is_some() || b.peek().is_some() {
            let order = match (a.peek(), b.peek()) {
                (Some((x, _)), Some((y, _))) => x.cmp(y),
                (Some(_), None) => Ordering::Less,
                (None, _) => Ordering::Greater,
            };
            let held = if order.is_le() { a.next() } else { None };
            let offered = if order.is_ge() { b.next() } else { None };
            match (held, offered) {
                (Some((entry, key)), None) if theirs.contains(entry.dot) => {
                    changed.keys.insert(key.clone());
                    changed.died.push(*entry);
                }
                (None, Some((entry, key))) if !mine.contains(entry.dot) => {
                    changed.keys.insert(key.clone());
                    changed.born.push((*entry, key.clone()));
                }
                _ => {}
            }
        }
        changed
    }
}

struct Changed<K> {
    keys: BTreeSet<K>,
    died: Vec<EntryId>,
    born: Vec<(EntryId, K)>,
}

impl<K: Key, S: Removable> Replicated for DotMap<K, S> {
    type Part = DotMapPart<K, S::Part>;
    type Edit<'a> = EditView<'a, DotMap<K, S>>;
    type View = BTreeMap<K, S::View>;

    fn kind(_: Place) -> ShapeKind {
        ShapeKind::DotMap
    }

    fn empty(_: Place) -> DotMap<K, S> {
        DotMap {
            children: BTreeMap::new(),
            index: BTreeMap::new(),
            touched: Journal::new(),
        }
    }

    fn edit<'a>(&'a mut self, update: &'a mut Update) -> EditView<'a, DotMap<K, S>> {
        EditView::new(self, update)
    }

    fn view(&self) -> BTreeMap<K, S::View> {
        let shown = self.iter().filter(|(_, child)| child.visible());
        shown
            .map(|(key, child)| (key.clone(), child.view()))
            .collect()
    }

    fn visible(&self) -> bool {
        self.children.values().any(WithRest::visible)
    }

    fn is_bottom(&self) -> bool {
        self.children.values().all(WithRest::is_bottom)
    }

    fn entries(&self) -> u64 {
        self.index.len() as u64
    }

    fn names(&self, of: &Dots, out: &mut Names) {
        out.union_with(&among(&self.index, of).map(|(entry, _)| entry).collect());
    }

    fn part(&self, of: &Dots) -> DotMapPart<K, S::Part> {
        let keys = self.by_key(of).into_iter();
        let parts = keys.filter_map(|(key, dots)| {
            let child = self.children.get(key)?;
            Some((key.clone(), child.part(&dots)))
        });
        DotMapPart(parts.collect())
    }

    fn check(&self, part: &DotMapPart<K, S::Part>, known: &Version) -> Result<u64, MergeError> {
        let mut common = 0;
        for (key, theirs) in &part.0 {
            common += match self.children.get(key) {
                Some(child) => child.check(theirs, known)?,
                None => WithRest::<S>::empty(Place::Removable).check(theirs, known)?,
            };
        }
        Ok(common)
    }

    fn check_kill(&self, names: &Names) -> Result<(), MergeError> {
        let mine = |entry: EntryId| Some((self.index.get(&entry)?, entry));
        for (key, entry) in names.iter().filter_map(mine) {
            if let Some(child) = self.children.get(key) {
                child.check_kill(&Names::from(entry))?;
            }
        }
        Ok(())
    }

    fn kill(&mut self, names: &Names) {
        let mut by_key = BTreeMap::<K, Vec<EntryId>>::new();
        for entry in names.iter() {
            if let Some(key) = self.index.remove(&entry) {
                by_key.entry(key).or_default().push(entry);
            }
        }
        for (key, entries) in by_key {
            if let Some(child) = self.children.get_mut(&key) {
                child.kill(&Names::from_entries(entries));
            }
            self.drop_if_bottom(&key);
        }
    }

    fn adopt(&mut self, part: DotMapPart<K, S::Part>, known: &Version) {
        for (key, theirs) in part.0 {
            let mut names = Names::new();
            theirs.names(&mut names);
            let new = names.iter().filter(|entry| !known.contains(entry.dot));
            self.index.extend(new.map(|entry| (entry, key.clone())));
            let child = self.children.entry(key.clone());
            child
                .or_insert_with(|| WithRest::empty(Place::Removable))
                .adopt(theirs, known);
            self.drop_if_bottom(&key);
        }
    }

    fn check_join(
        &self,
        mine: &Version,
        other: &Self,
        theirs: &Version,
    ) -> Result<u64, MergeError> {
        let mut common = 0;
        for (key, child) in &other.children {
            common += match self.children.get(key) {
                Some(held) => held.check_join(mine, child, theirs)?,
                None => WithRest::<S>::empty(Place::Removable).check_join(mine, child, theirs)?,
            };
        }
        Ok(common)
    }

    fn join(&mut self, mine: &Version, other: &Self, theirs: &Version) {
        let changed = self.changed_keys(mine, other, theirs);
        let none = WithRest::empty(Place::Removable);
        for key in &changed.keys {
            let child = self.children.entry(key.clone());
            let child = child.or_insert_with(|| WithRest::empty(Place::Removable));
            child.join(mine, other.children.get(key).unwrap_or(&none), theirs);
            self.drop_if_bottom(key);
        }
        changed
            .died
            .iter()
            .for_each(|entry| drop(self.index.remove(entry)));
        self.index.extend(changed.born);
    }

    fn publish(&mut self, update: &Update) -> DotMapPart<K, S::Part> {
        update
            .killed()
            .iter()
            .for_each(|entry| drop(self.index.remove(entry)));
        let touched: BTreeSet<K> = self.touched.take().into_iter().collect();
        let mut parts = BTreeMap::new();
        for key in touched {
            let Some(child) = self.children.get_mut(&key) else {
                continue;
            };
            let part = child.publish(update);
            let mut names = Names::new();
            part.names(&mut names);
            self.index
                .extend(names.iter().map(|entry| (entry, key.clone())));
            self.drop_if_bottom(&key);
            if !part.is_empty() {
                parts.insert(key, part);
            }
        }
        DotMapPart(parts)
    }

    fn rollback(&mut self) {
        for key in self.touched.take() {
            if let Some(child) = self.children.get_mut(&key) {
                child.rollback();
            }
            self.drop_if_bottom(&key);
        }
    }

    const HAS_LOCAL: bool = S::HAS_LOCAL;

    fn take_local(&mut self, from: &Self) {
        if !S::HAS_LOCAL {
            return;
        }
        for (key, child) in &mut self.children {
            if let Some(held) = from.children.get(key) {
                child.take_local(held);
            }
        }
    }

    fn encode(&self, encoder: &mut Encoder, _: Place) {
        self.encode_as(S::kind(Place::Removable), encoder);
    }

    fn decode(decoder: &mut Decoder<'_>, _: Place) -> Result<DotMap<K, S>, DecodeError> {
        decoder.shape(S::kind(Place::Removable))?;
        DotMap::decode_children(decoder, |d| WithRest::decode(d, Place::Removable))
    }
}

impl<K: Key, S: Removable> DotMap<K, S> {
    /// Writes the keys and children, which have the shape `child`.
    pub(super) fn encode_as(&self, child: ShapeKind, encoder: &mut Encoder) {
        encoder.byte(child as u8);
        encoder.varint(self.children.len() as u64);
        for (key, child) in &self.children {
            encoder.key(key);
            child.encode(encoder, Place::Removable);
        }
    }

    /// Reads the keys and, with `read`, the children.
    pub(super) fn decode_children(
        decoder: &mut Decoder<'_>,
        mut read: impl FnMut(&mut Decoder<'_>) -> Result<WithRest<S>, DecodeError>,
    ) -> Result<DotMap<K, S>, DecodeError> {
        let mut children = BTreeMap::<K, WithRest<S>>::new();
        let mut index = Vec::new();
        let mut entries = 0;
        for _ in 0..decoder.count(3)? {
            let key = decoder.key(children.last_key_value().map(|(key, _)| key))?;
            let child = decoder.deeper(&mut read)?;
            decoder.require(!child.is_bottom(), DecodeErrorKind::NotCanonical)?;
            let mut names = Names::new();
            child.names(decoder.known(), &mut names);
            index.extend(names.iter().map(|entry| (entry, key.clone())));
            entries += child.entries();
            children.insert(key, child);
        }
        let index = BTreeMap::from_iter(index);
        decoder.require(index.len() as u64 == entries, DecodeErrorKind::Inconsistent)?;
        Ok(DotMap {
            children,
            index,
            touched: Journal::new(),
        })
    }
}

impl<K: Key, S: Removable> Removable for DotMap<K, S> {
    fn reset(&mut self, update: &mut Update) -> Result<(), EditError> {
        let keys: Vec<K> = self.children.keys().cloned().collect();
        for key in keys {
            self.touch(key).reset(update)?;
        }
        Ok(())
    }
}

/// Some entries of a [`DotMap`], by key.
#[derive(Clone, PartialEq, Debug)]
pub struct DotMapPart<K, P>(BTreeMap<K, WithRestPart<P>>);

impl<K, P> DotMapPart<K, P> {
    /// The keys of which there are entries, ascending.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &K> {
        self.0.keys()
    }
}

impl<K, P> Default for DotMapPart<K, P> {
    fn default() -> DotMapPart<K, P> {
        DotMapPart(BTreeMap::new())
    }
}

impl<K: Ord, P> DotMapPart<K, P> {
    /// The entries of `key`.
    pub(crate) fn get(&self, key: &K) -> Option<&P> {
        self.0.get(key).map(|part| &part.value)
    }
}

impl<K: Key, P: Part> Part for DotMapPart<K, P> {
    fn kind(_: Place) -> ShapeKind {
        ShapeKind::DotMap
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn entries(&self) -> u64 {
        self.0.values().map(WithRestPart::entries).sum()
    }

    fn names(&self, out: &mut Names) {
        let mut all = Vec::new();
        for part in self.0.values() {
            let mut names = Names::new();
            part.names(&mut names);
            all.extend(names.iter());
        }
        out.union_with(&Names::from_entries(all));
    }

    fn replicas(&self, out: &mut BTreeSet<ReplicaId>) {
        self.0.values().for_each(|part| part.replicas(out));
    }

    fn restrict(&mut self, dots: &Dots) {
        self.0.retain(|_, part| {
            part.restrict(dots);
            !part.is_empty()
        });
    }

    fn remove(&mut self, names: &Names) {
        self.0.retain(|_, part| {
            part.remove(names);
            !part.is_empty()
        });
    }

    fn union(&mut self, other: DotMapPart<K, P>) -> Result<(), MergeError> {
        for (key, part) in other.0 {
            self.0.entry(key).or_default().union(part)?;
        }
        Ok(())
    }

    fn content(&self, out: &mut Vec<u8>) {
        for (key, part) in &self.0 {
            let mut bytes = Vec::new();
            key.encode(&mut bytes);
            out.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
            out.append(&mut bytes);
            part.content(out);
        }
    }

    fn encode(&self, encoder: &mut Encoder, _: Place) {
        self.encode_as(P::kind(Place::Removable), encoder);
    }

    fn decode(decoder: &mut Decoder<'_>, _: Place) -> Result<DotMapPart<K, P>, DecodeError> {
        decoder.shape(P::kind(Place::Removable))?;
        DotMapPart::decode_children(decoder, |d| WithRestPart::decode(d, Place::Removable))
    }
}

impl<K: Key, P: Part> DotMapPart<K, P> {
    /// Writes the keys and children, which have the shape `child`.
    pub(super) fn encode_as(&self, child: ShapeKind, encoder: &mut Encoder) {
        encoder.byte(child as u8);
        encoder.varint(self.0.len() as u64);
        for (key, part) in &self.0 {
            encoder.key(key);
            part.encode(encoder, Place::Removable);
        }
    }

    /// Reads the keys and, with `read`, the children.
    pub(super) fn decode_children(
        decoder: &mut Decoder<'_>,
        mut read: impl FnMut(&mut Decoder<'_>) -> Result<WithRestPart<P>, DecodeError>,
    ) -> Result<DotMapPart<K, P>, DecodeError> {
        let mut parts = BTreeMap::<K, WithRestPart<P>>::new();
        for _ in 0..decoder.count(3)? {
            let key = decoder.key(parts.last_key_value().map(|(key, _)| key))?;
            let part = decoder.deeper(&mut read)?;
            decoder.require(!part.is_empty(), DecodeErrorKind::NotCanonical)?;
            parts.insert(key, part);
        }
        Ok(DotMapPart(parts))
    }
}
