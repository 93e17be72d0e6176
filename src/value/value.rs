//! A value whose kind is not fixed.

use alloc::string::String;
use alloc::vec::Vec;

use super::content::Content;
use super::edit::ValueEdit;
use super::lazy::Lazy;
use super::plain::Plain;
use super::scalar::Scalar;
use crate::counter::PnCounter;
use crate::kernel::newtype::{debug_as_view, equals_view};
use crate::kernel::structs::{replicated_struct, struct_part};
use crate::kernel::{DotFun, EditError, Removable, Replicated, Update};
use crate::list::List;
use crate::map::OrMap;
use crate::text::Text;

/// How many levels of lists and maps there may be in a [`Value`].
///
/// Edits beyond it are refused. With [`Limits::default`](crate::Limits), which allow 32 levels, this
/// leaves one for the root and seven for what the value stands in.
pub const DEPTH_MAX: u32 = 24;

/// What a [`Value`] may be. Where several are written concurrently the greatest shows.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Kind {
    /// A [`Scalar`].
    Scalar,
    /// A [`PnCounter`].
    Counter,
    /// A [`Text`].
    Text,
    /// A [`List`] of values.
    List,
    /// An [`OrMap`] from strings to values.
    Map,
}

impl Kind {
    /// From the one that shows if all are there to the one that shows last.
    const DOWN: [Kind; 5] = [
        Kind::Map,
        Kind::List,
        Kind::Text,
        Kind::Counter,
        Kind::Scalar,
    ];
}

/// Data without a schema, as in JSON: a scalar, a counter, a text, a list of values or a map from
/// strings to values.
///
/// | | |
/// |---|---|
/// | conflict | A and B write scalars: that of the greater replica id shows, the other one is in `conflicts` |
/// | conflict | A writes one kind, B another: both are kept; the greater [`Kind`] shows, the other is in `conflicts` |
/// | conflict | A removes a key or writes over a value while B changes it within: B's change stays |
/// | conflict | The same, and B's change is within an element of a list: the element is deleted; B's change is in `hidden` |
/// | delivery | any order, duplicates allowed; an early delta waits for its past |
/// | space | 192 bytes a value, in which the only scalar stands, + the live entries of its parts; texts and lists keep what was deleted |
/// | not guaranteed | that a value is there whole or not at all: writing over it resets what is seen |
///
/// **Which kind shows.** A kind is there if it was written and not reset since, or if something is in
/// it. Of those that are there the greatest shows: a map over a list, a text, a counter, a scalar,
/// so that what was put into a part does not vanish behind a scalar.
///
/// **Reset rule.** Writing a value, or making it another kind than shows, resets whatever is seen of
/// all kinds; what is written concurrently stays. A value of which nothing is there shows as null and
/// is not there for the map around it. An empty map, list or text that was made so is there.
///
/// **Depth.** At most [`DEPTH_MAX`] levels of lists and maps; from bytes as many as
/// [`Limits`](crate::Limits) allow.
///
/// Edits, on the [`ValueEdit`]: `set`, `map`, `list`, `text`, `counter`, `resolve`, `clear`.
///
/// Source: Kleppmann and Beresford 2017, "A conflict-free replicated JSON datatype",
/// arXiv:1608.03960, for the kinds side by side; parts and resets as [`OrMap`] and [`List`].
///
/// # Examples
/// ```
/// use commute::value::{Kind, Plain};
/// use commute::{Replica, ReplicaId, Value};
/// let mut a = Replica::<Value>::new(ReplicaId::from(1));
/// a.edit(|page| {
///     let mut page = page.map()?;
///     page.entry("title").set("Plan")?;
///     page.entry("tags").set(["new", "open"])?;
///     page.entry("votes").counter()?.add(2)
/// })?;
/// let mut b = a.fork_as(ReplicaId::from(2));
/// a.edit(|page| page.map()?.entry("tags").list()?.push("late"))?;
/// b.edit(|page| page.map()?.entry("tags").set("none"))?;      // concurrent
/// a.merge(&b)?;
/// let tags = a.map().and_then(|page| page.get("tags")).ok_or("no tags")?;
/// assert_eq!(tags.view(), Plain::from(["late"]));
/// assert_eq!(tags.conflicts(), [Plain::from("none")]);
/// # use commute::Replicated;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Value {
    pub(super) content: DotFun<Content>,
    pub(super) counter: Lazy<PnCounter>,
    pub(super) text: Lazy<Text>,
    pub(super) list: Lazy<List<Value>>,
    pub(super) map: Lazy<OrMap<String, Value>>,
}

impl Value {
    /// The kind that shows; `None` if nothing is there.
    pub fn kind(&self) -> Option<Kind> {
        self.kinds().next()
    }

    /// The kinds that are there, the one that shows first; several if they were written
    /// concurrently.
    pub fn kinds(&self) -> impl Iterator<Item = Kind> + '_ {
        Kind::DOWN.into_iter().filter(|kind| self.has(*kind))
    }

    /// The scalar, if there is one.
    pub fn scalar(&self) -> Option<&Scalar> {
        self.scalars().last()
    }

    /// The counter, if there is one.
    pub fn counter(&self) -> Option<&PnCounter> {
        self.counter.get().filter(|_| self.has(Kind::Counter))
    }

    /// The text, if there is one.
    pub fn text(&self) -> Option<&Text> {
        self.text.get().filter(|_| self.has(Kind::Text))
    }

    /// The list, if there is one.
    pub fn list(&self) -> Option<&List<Value>> {
        self.list.get().filter(|_| self.has(Kind::List))
    }

    /// The map, if there is one.
    pub fn map(&self) -> Option<&OrMap<String, Value>> {
        self.map.get().filter(|_| self.has(Kind::Map))
    }

    /// What was written concurrently to what shows: scalars and other kinds.
    ///
    /// Conflicts further within are those of the values there.
    pub fn conflicts(&self) -> Vec<Plain> {
        let others = self.kinds().skip(1).filter(|kind| *kind != Kind::Scalar);
        let mut all: Vec<Plain> = others.map(|kind| self.plain(kind)).collect();
        let shown = usize::from(self.kind() == Some(Kind::Scalar));
        let scalars = self.scalars().count().saturating_sub(shown);
        all.extend(self.scalars().take(scalars).cloned().map(Plain::Scalar));
        all
    }

    /// What was written within elements of its list, whether a list shows or not, that were deleted
    /// concurrently; see [`List::hidden`].
    ///
    /// Of a key that is gone for that see [`OrMap::hidden`].
    pub fn hidden(&self) -> Vec<Plain> {
        let lists = self.list.get().into_iter();
        lists
            .flat_map(List::hidden)
            .map(|(_, value)| value.view())
            .collect()
    }

    /// Whether several scalars or kinds are there, written concurrently.
    pub fn is_conflict(&self) -> bool {
        self.kinds().nth(1).is_some() || self.scalars().nth(1).is_some()
    }

    fn scalars(&self) -> impl Iterator<Item = &Scalar> {
        self.content
            .iter()
            .filter_map(|(_, content)| match content {
                Content::Scalar(scalar) => Some(scalar),
                Content::Of(_) => None,
            })
    }

    fn is_written(&self, kind: Kind) -> bool {
        let mut all = self.content.iter();
        all.any(|(_, content)| content.kind() == kind)
    }

    fn has(&self, kind: Kind) -> bool {
        let is_filled = || match kind {
            Kind::Scalar => false,
            Kind::Counter => self.counter.visible(),
            Kind::Text => self.text.visible(),
            Kind::List => self.list.visible(),
            Kind::Map => self.map.visible(),
        };
        self.is_written(kind) || is_filled()
    }

    fn plain(&self, kind: Kind) -> Plain {
        match kind {
            Kind::Scalar => Plain::Scalar(self.scalar().cloned().unwrap_or_default()),
            Kind::Counter => Plain::from(self.counter.view()),
            Kind::Text => Plain::from(self.text.view()),
            Kind::List => Plain::List(self.list.view()),
            Kind::Map => Plain::Map(self.map.view()),
        }
    }

    /// Resets every kind but `kept`.
    pub(super) fn reset_others(
        &mut self,
        kept: Option<Kind>,
        update: &mut Update,
    ) -> Result<(), EditError> {
        self.content
            .kill_if(update, |_, content| Some(content.kind()) != kept);
        let others = Kind::DOWN.into_iter().filter(|kind| Some(*kind) != kept);
        for kind in others {
            match kind {
                Kind::Scalar => {}
                Kind::Counter => self.counter.reset(update)?,
                Kind::Text => self.text.reset(update)?,
                Kind::List => self.list.reset(update)?,
                Kind::Map => self.map.reset(update)?,
            }
        }
        Ok(())
    }
}

impl Removable for Value {
    fn reset(&mut self, update: &mut Update) -> Result<(), EditError> {
        self.reset_others(None, update)
    }
}

debug_as_view!(impl[] Value);
equals_view!(impl[] Value);

replicated_struct! {
    impl[] Value, ValuePart: ValuePart {
        1 => content: DotFun<Content>,
        2 => counter: Lazy<PnCounter>,
        3 => text: Lazy<Text>,
        4 => list: Lazy<List<Value>>,
        5 => map: Lazy<OrMap<String, Value>>,
    }
    type Edit = ValueEdit<'a>;
    fn edit(value, update) { ValueEdit { state: value, update, depth: 0 } }
    type View = Plain;
    fn view(this) { this.kind().map(|kind| this.plain(kind)).unwrap_or_default() }
    fn visible(that) { that.kind().is_some() }
    // A part is there while its kind is, so that it can be lent; no longer, so that it is small.
    fn settle(changed) {
        let [counter, text, list, map] = [Kind::Counter, Kind::Text, Kind::List, Kind::Map]
            .map(|kind| changed.is_written(kind));
        changed.counter.settle(counter);
        changed.text.settle(text);
        changed.list.settle(list);
        changed.map.settle(map);
    }
}

/// Some entries of a [`Value`], by kind.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct ValuePart {
    pub(super) content: <DotFun<Content> as Replicated>::Part,
    pub(super) counter: <PnCounter as Replicated>::Part,
    pub(super) text: <Text as Replicated>::Part,
    pub(super) list: <List<Value> as Replicated>::Part,
    pub(super) map: <OrMap<String, Value> as Replicated>::Part,
}

struct_part! {
    impl[] ValuePart { 1 => content, 2 => counter, 3 => text, 4 => list, 5 => map, }
    // As `Lazy` keeps the parts, wherever the value stands.
    at crate::kernel::Place::Removable;
}
