//! What changes in values.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use super::lazy::Lazy;
use super::plain::Plain;
use super::scalar::Scalar;
use super::value::{Kind, Value, ValuePart};
use crate::clock::Names;
use crate::kernel::{MapBefore, MapChange, Part, Removable, Replicated, Watched};
use crate::list::{List, ListBefore, ListChange};
use crate::map::OrMap;
use crate::text::{Text, TextBefore, TextChange};

/// A change in the view of a [`Value`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ValueChange {
    /// It shows something else: another kind, another scalar, another count. A text that was changed
    /// and replaced by a string within one merge may become what it was.
    Became(Plain),
    /// The text that it is changed.
    Text(TextChange),
    /// The list that it is changed.
    List(Box<ListChange<Plain, ValueChange>>),
    /// The map that it is changed.
    Map(Box<MapChange<String, Plain, ValueChange>>),
}

/// What is remembered of a value.
#[derive(Default)]
pub struct ValueBefore {
    shown: Option<Shown>,
    text: TextBefore,
    list: ListBefore<Value>,
    map: MapBefore<String, Value>,
}

struct Shown {
    kind: Option<Kind>,
    /// What is shown, unless it has parts that tell their own changes.
    whole: Option<Plain>,
}

impl Shown {
    /// A text is copied only if it may become something else of the same view.
    fn of(value: &Value, may_become: bool) -> Shown {
        let kind = value.kind();
        let whole = match kind {
            None | Some(Kind::Scalar | Kind::Counter) => true,
            Some(Kind::Text) => may_become,
            Some(Kind::List | Kind::Map) => false,
        };
        Shown {
            kind,
            whole: whole.then(|| value.view()),
        }
    }

    /// Whether `now` is shown by the same parts, which tell what changed.
    fn has_parts_of(&self, now: Option<Kind>) -> bool {
        self.kind == now && matches!(now, Some(Kind::Text | Kind::List | Kind::Map))
    }
}

impl Watched for Value {
    type Change = ValueChange;
    type Before = ValueBefore;

    fn remember(&self, part: &ValuePart, dead: &Names, before: &mut ValueBefore) {
        let may_become = !part.content.is_empty() || !dead.is_empty();
        before
            .shown
            .get_or_insert_with(|| Shown::of(self, may_become));
        self.text.remember(&part.text, dead, &mut before.text);
        self.list.remember(&part.list, dead, &mut before.list);
        self.map.remember(&part.map, dead, &mut before.map);
    }

    fn changes(&self, before: ValueBefore) -> Vec<ValueChange> {
        let Some(shown) = before.shown else {
            return Vec::new();
        };
        let now = self.kind();
        if !shown.has_parts_of(now) {
            let now = self.view();
            let became = shown.whole.as_ref() != Some(&now);
            return became
                .then_some(ValueChange::Became(now))
                .into_iter()
                .collect();
        }
        match now {
            None | Some(Kind::Scalar | Kind::Counter) => Vec::new(),
            Some(Kind::Text) => {
                let changes = self.text.changes(before.text).into_iter();
                changes.map(ValueChange::Text).collect()
            }
            Some(Kind::List) => {
                let changes = self.list.changes(before.list).into_iter();
                changes
                    .map(|change| ValueChange::List(Box::new(change)))
                    .collect()
            }
            Some(Kind::Map) => {
                let changes = self.map.changes(before.map).into_iter();
                changes
                    .map(|change| ValueChange::Map(Box::new(change)))
                    .collect()
            }
        }
    }

    fn follow(view: &mut Plain, change: ValueChange) {
        match (change, view) {
            (ValueChange::Became(plain), view) => *view = plain,
            (ValueChange::Text(change), Plain::Scalar(Scalar::String(text))) => {
                Text::follow(text, change);
            }
            (ValueChange::List(change), Plain::List(items)) => {
                <List<Value>>::follow(items, *change);
            }
            (ValueChange::Map(change), Plain::Map(entries)) => {
                <OrMap<String, Value>>::follow(entries, *change);
            }
            // Not the view that it is a change of.
            _ => {}
        }
    }
}

/// What nobody has touched is as an empty one.
impl<S: Removable + Watched> Watched for Lazy<S> {
    type Change = S::Change;
    type Before = S::Before;

    fn remember(&self, part: &S::Part, dead: &Names, before: &mut S::Before) {
        self.or_empty(|inner| inner.remember(part, dead, before));
    }

    fn changes(&self, before: S::Before) -> Vec<S::Change> {
        self.or_empty(|inner| inner.changes(before))
    }

    fn follow(view: &mut S::View, change: S::Change) {
        S::follow(view, change);
    }
}
