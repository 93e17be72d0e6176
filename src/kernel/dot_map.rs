//! Keys with a shape each, all under the one version of the state.

use alloc::collections::btree_map::Entry;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::borrow::Borrow;
use core::mem;

use super::iter::{Iter, Show};
use super::sorted::union;
use super::{
    EditError, EditView, EntryMap, Journal, MergeError, Part, Place, Removable, Replicated,
    ShapeKind, Update, WithRest, WithRestPart, fields,
};
use crate::clock::{Dot, Dots, EntryId, Names, ReplicaId, Version};
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
    index: EntryMap<K>,
    touched: Journal<K>,
}

impl<K: Key, S: Removable> DotMap<K, S> {
    /// The number of keys. O(1) between updates; O(n) for a map of structs.
    pub fn len(&self) -> usize {
        if S::kind(Place::Removable) == ShapeKind::Struct {
            return self.iter().count();
        }
        let mut touched: Vec<&K> = self.touched.iter().collect();
        touched.sort_unstable();
        touched.dedup();
        let hollow = |key: &&&K| self.children.get(**key).is_some_and(WithRest::is_bottom);
        self.children.len() - touched.iter().filter(hollow).count()
    }

    /// Whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
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
        Iter::new(self.children.iter(), show)
    }

    /// The value of `key`, to be changed by the running update. O(log n).
    pub fn child(&mut self, key: K) -> &mut S {
        self.touched.push(key.clone());
        let child = self.children.entry(key);
        let child = child.or_insert_with(|| WithRest::empty(Place::Removable));
        &mut child.value
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
        let (held, _) = self.children.get_key_value(key)?;
        self.touched.push(held.clone());
        self.children.get_mut(key)
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

    /// The keys of what `part` brings and of what dies by `dead`, with those of `dead` that are theirs.
    pub(crate) fn touched<P: Part>(
        &self,
        part: &DotMapPart<K, P>,
        dead: &Names,
    ) -> BTreeMap<K, Names> {
        let mut keys = BTreeMap::<K, Vec<EntryId>>::new();
        for key in part.keys() {
            keys.entry(key.clone()).or_default();
        }
        for entry in dead.iter() {
            if let Some(key) = self.index.get(entry) {
                keys.entry(key.clone()).or_default().push(entry);
            }
        }
        let names = |(key, entries)| (key, Names::from_entries(entries));
        keys.into_iter().map(names).collect()
    }

    /// Changes the value of `key`, apart from any update.
    fn change(&mut self, key: K, change: impl FnOnce(&mut WithRest<S>)) {
        match self.children.entry(key) {
            Entry::Occupied(mut held) => {
                change(held.get_mut());
                if held.get().is_bottom() {
                    held.remove();
                }
            }
            Entry::Vacant(place) => {
                let mut child = WithRest::empty(Place::Removable);
                change(&mut child);
                if !child.is_bottom() {
                    place.insert(child);
                }
            }
        }
    }

    /// A copy of `other`, whose version is `theirs`. O(n).
    fn copy(other: &DotMap<K, S>, theirs: &Version) -> DotMap<K, S> {
        let copy = |(key, held): (&K, &WithRest<S>)| {
            let mut child = WithRest::empty(Place::Removable);
            child.join(&Version::new(), held, theirs);
            (key.clone(), child)
        };
        DotMap {
            children: other.children.iter().map(copy).collect(),
            index: other.index.clone(),
            touched: Journal::new(),
        }
    }
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
            index: EntryMap::new(),
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
        out.union_with(&self.index.among(of).map(|(entry, _)| entry).collect());
    }

    fn for_each_entry(&self, of: &Dots, visit: &mut dyn FnMut(EntryId)) {
        self.index.among(of).for_each(|(entry, _)| visit(entry));
    }

    fn checks_names() -> bool {
        true
    }

    fn common(&self, other: &Self, theirs: &Version) -> Option<u64> {
        S::is_one_place().then(|| self.index.common(&other.index, theirs))
    }

    fn part(&self, of: &Dots) -> DotMapPart<K, S::Part> {
        let found = self.index.among(of).map(|(entry, key)| (key, entry.dot));
        let mut found: Vec<(&K, Dot)> = found.collect();
        found.sort_unstable();
        let parts = found.chunk_by(|a, b| a.0 == b.0).filter_map(|of_key| {
            let (key, child) = self.children.get_key_value(of_key.first()?.0)?;
            let dots = of_key.iter().map(|(_, dot)| *dot).collect();
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
        if S::is_one_place() {
            return Ok(());
        }
        let mine = |entry: EntryId| Some((self.index.get(entry)?, entry));
        for (key, entry) in names.iter().filter_map(mine) {
            if let Some(child) = self.children.get(key) {
                child.check_kill(&Names::from(entry))?;
            }
        }
        Ok(())
    }

    fn kill(&mut self, names: &Names) {
        let held = |entry| Some((self.index.remove(entry)?, entry));
        let mut killed: Vec<(K, EntryId)> = names.iter().filter_map(held).collect();
        killed.sort_unstable();
        for of_key in killed.chunk_by(|a, b| a.0 == b.0) {
            let Some((key, _)) = of_key.first() else {
                continue;
            };
            let names = of_key.iter().map(|(_, entry)| *entry).collect();
            self.change(key.clone(), |child| child.kill(&names));
        }
    }

    fn adopt(&mut self, part: DotMapPart<K, S::Part>, known: &Version) {
        let mut new = Vec::new();
        for (key, theirs) in part.0 {
            theirs.for_each_entry(&mut |entry| {
                if !known.contains(entry.dot) {
                    new.push((entry, key.clone()));
                }
            });
            self.change(key, |child| child.adopt(theirs, known));
        }
        self.index.extend(new);
    }

    fn check_join(
        &self,
        mine: &Version,
        other: &Self,
        theirs: &Version,
    ) -> Result<u64, MergeError> {
        let none = WithRest::empty(Place::Removable);
        let mut held = self.children.iter().peekable();
        let mut common = 0;
        for (key, child) in &other.children {
            while held.next_if(|(before, _)| *before < key).is_some() {}
            let held = held.next_if(|(held, _)| *held == key);
            let held = held.map_or(&none, |(_, held)| held);
            common += held.check_join(mine, child, theirs)?;
        }
        Ok(common)
    }

    fn join(&mut self, mine: &Version, other: &Self, theirs: &Version) {
        if mine.is_empty() {
            *self = DotMap::copy(other, theirs);
            return;
        }
        let died = self.index.dead_in(&other.index, theirs).into_iter();
        let mut keys: Vec<K> = died.filter_map(|entry| self.index.remove(entry)).collect();
        let born = other.index.beyond(mine);
        let born: Vec<(EntryId, K)> = born.map(|(entry, key)| (entry, key.clone())).collect();
        keys.extend(born.iter().map(|(_, key)| key.clone()));
        self.index.extend(born);
        keys.sort_unstable();
        keys.dedup();
        let none = WithRest::empty(Place::Removable);
        for key in keys {
            let offered = other.children.get(&key).unwrap_or(&none);
            self.change(key, |child| child.join(mine, offered, theirs));
        }
    }

    fn publish(&mut self, update: &Update) -> DotMapPart<K, S::Part> {
        for entry in update.killed() {
            self.index.remove(*entry);
        }
        let mut touched = self.touched.take();
        touched.sort_unstable();
        touched.dedup();
        let mut parts = Vec::new();
        let mut new = Vec::new();
        for key in touched {
            let Some(child) = self.children.get_mut(&key) else {
                continue;
            };
            let part = child.publish(update);
            if child.is_bottom() {
                self.children.remove(&key);
            }
            if !part.is_empty() {
                part.for_each_entry(&mut |entry| new.push((entry, key.clone())));
                parts.push((key, part));
            }
        }
        // All of one update, so their indices order them.
        new.sort_unstable_by_key(|(entry, _)| entry.index);
        self.index.extend(new);
        DotMapPart(parts)
    }

    fn rollback(&mut self) {
        for key in self.touched.take() {
            if let Some(child) = self.children.get_mut(&key) {
                child.rollback();
                if child.is_bottom() {
                    self.children.remove(&key);
                }
            }
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
        let mut children = Vec::<(K, WithRest<S>)>::new();
        let mut entries = Vec::new();
        let mut count = 0;
        for _ in 0..decoder.count(3)? {
            let key: K = decoder.key(children.last().map(|(key, _)| key))?;
            let child = decoder.deeper(&mut read)?;
            decoder.require(!child.is_bottom(), DecodeErrorKind::NotCanonical)?;
            child.for_each_entry(decoder.known(), &mut |entry| {
                entries.push((entry, key.clone()));
            });
            count += child.entries();
            children.push((key, child));
        }
        let mut index = EntryMap::new();
        index.extend(entries);
        decoder.require(index.len() as u64 == count, DecodeErrorKind::Inconsistent)?;
        Ok(DotMap {
            children: children.into_iter().collect(),
            index,
            touched: Journal::new(),
        })
    }
}

impl<K: Key, S: Removable> Removable for DotMap<K, S> {
    fn reset(&mut self, update: &mut Update) -> Result<(), EditError> {
        let keys: Vec<K> = self.children.keys().cloned().collect();
        for key in keys {
            self.remove(&key, update)?;
        }
        Ok(())
    }
}

/// Some entries of a [`DotMap`], by key.
#[derive(Clone, PartialEq, Debug)]
pub struct DotMapPart<K, P>(
    // Ascending.
    Vec<(K, WithRestPart<P>)>,
);

impl<K, P> DotMapPart<K, P> {
    /// The keys of which there are entries, ascending.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &K> {
        self.0.iter().map(|(key, _)| key)
    }
}

impl<K, P> Default for DotMapPart<K, P> {
    fn default() -> DotMapPart<K, P> {
        DotMapPart(Vec::new())
    }
}

impl<K: Ord, P> DotMapPart<K, P> {
    /// The entries of `key`.
    pub(crate) fn get(&self, key: &K) -> Option<&P> {
        let at = self.0.binary_search_by(|(held, _)| held.cmp(key)).ok()?;
        Some(&self.0[at].1.value)
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
        self.0.iter().map(|(_, part)| part.entries()).sum()
    }

    fn names(&self, out: &mut Names) {
        let mut all = Vec::new();
        self.for_each_entry(&mut |entry| all.push(entry));
        out.union_with(&Names::from_entries(all));
    }

    fn for_each_entry(&self, visit: &mut dyn FnMut(EntryId)) {
        for (_, part) in &self.0 {
            part.for_each_entry(visit);
        }
    }

    fn replicas(&self, out: &mut BTreeSet<ReplicaId>) {
        self.0.iter().for_each(|(_, part)| part.replicas(out));
    }

    fn restrict(&mut self, dots: &Dots) {
        self.0.retain_mut(|(_, part)| {
            part.restrict(dots);
            !part.is_empty()
        });
    }

    fn remove(&mut self, names: &Names) {
        self.0.retain_mut(|(_, part)| {
            part.remove(names);
            !part.is_empty()
        });
    }

    fn union(&mut self, other: DotMapPart<K, P>) -> Result<(), MergeError> {
        // What only one side has is united with nothing, so that equal content has one form: the runs of
        // a sequence may be cut in several ways.
        let alone = |part: &mut WithRestPart<P>| {
            let whole = mem::take(part);
            part.union(whole)
        };
        let mine = mem::take(&mut self.0);
        self.0 = union(mine, other.0, |_, part, theirs| match theirs {
            Some(theirs) => part.union(theirs),
            None => alone(part),
        })?;
        Ok(())
    }

    fn content(&self, out: &mut Vec<u8>) {
        for (key, part) in &self.0 {
            fields::sized(out, |out| key.encode(out));
            fields::sized(out, |out| part.content(out));
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
        let mut parts = Vec::<(K, WithRestPart<P>)>::new();
        for _ in 0..decoder.count(3)? {
            let key = decoder.key(parts.last().map(|(key, _)| key))?;
            let part = decoder.deeper(&mut read)?;
            decoder.require(!part.is_empty(), DecodeErrorKind::NotCanonical)?;
            parts.push((key, part));
        }
        Ok(DotMapPart(parts))
    }
}
