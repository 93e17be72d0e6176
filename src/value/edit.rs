//! How a value is changed.

use alloc::string::String;
use core::ops::{Deref, Range};

use super::content::Content;
use super::plain::Plain;
use super::value::{DEPTH_MAX, Kind, Value};
use crate::counter::PnCounter;
use crate::kernel::{EditError, EditView, Removable, Replicated, Update};
use crate::list::List;
use crate::map::OrMap;
use crate::text::Text;

/// The edit view of a [`Value`], to which it derefs.
#[derive(Debug)]
pub struct ValueEdit<'a> {
    pub(super) state: &'a mut Value,
    pub(super) update: &'a mut Update,
    /// Levels of lists and maps above.
    pub(super) depth: u32,
}

impl ValueEdit<'_> {
    /// Replaces all that is seen of the value, of whatever kind.
    ///
    /// Lists and maps within are written with all they hold; strings are scalars, not texts.
    ///
    /// # Errors
    /// [`EditError::TooDeep`] if there were more than [`DEPTH_MAX`] levels.
    ///
    /// # Complexity
    /// O(size of what is replaced and of what is written).
    pub fn set(&mut self, value: impl Into<Plain>) -> Result<(), EditError> {
        let value = value.into();
        let levels = DEPTH_MAX.saturating_sub(self.depth);
        if !value.is_within(levels) {
            return Err(TOO_DEEP);
        }
        self.clear()?;
        self.write(value)
    }

    /// Writes into a value in which nothing is.
    fn write(&mut self, value: Plain) -> Result<(), EditError> {
        match value {
            Plain::Scalar(scalar) => {
                let content = Content::Scalar(scalar);
                self.state.content.add(content, self.update).map(drop)
            }
            Plain::List(items) => {
                let mut list = self.list()?;
                let mut items = items.into_iter();
                items.try_for_each(|item| list.push_empty()?.write(item))
            }
            Plain::Map(entries) => {
                let mut map = self.map()?;
                let mut entries = entries.into_iter();
                entries.try_for_each(|(key, value)| map.entry(key).write(value))
            }
        }
    }

    /// The edit view of the counter; the value becomes one unless it shows as one.
    ///
    /// # Errors
    /// [`EditError::TooManyEntries`] after 2^31 changes in one update.
    pub fn counter(&mut self) -> Result<EditView<'_, PnCounter>, EditError> {
        self.become_one(Kind::Counter)?;
        Ok(self.state.counter.edit(self.update))
    }

    /// The edit view of the text; the value becomes one unless it shows as one.
    ///
    /// # Errors
    /// As [`counter`](ValueEdit::counter).
    pub fn text(&mut self) -> Result<EditView<'_, Text>, EditError> {
        self.become_one(Kind::Text)?;
        Ok(self.state.text.edit(self.update))
    }

    /// The edit view of the list; the value becomes one unless it shows as one.
    ///
    /// # Errors
    /// [`EditError::TooDeep`] below [`DEPTH_MAX`] levels, and as [`counter`](ValueEdit::counter).
    pub fn list(&mut self) -> Result<ValueListEdit<'_>, EditError> {
        self.become_one(Kind::List)?;
        Ok(ValueListEdit {
            list: self.state.list.edit(self.update),
            depth: self.depth,
        })
    }

    /// The edit view of the map; the value becomes one unless it shows as one.
    ///
    /// # Errors
    /// As [`list`](ValueEdit::list).
    pub fn map(&mut self) -> Result<ValueMapEdit<'_>, EditError> {
        self.become_one(Kind::Map)?;
        Ok(ValueMapEdit {
            map: self.state.map.edit(self.update),
            depth: self.depth,
        })
    }

    /// Resets what is seen of the value and does not show, so that it has no conflict.
    ///
    /// # Errors
    /// As [`clear`](ValueEdit::clear).
    pub fn resolve(&mut self) -> Result<(), EditError> {
        let shown = self.state.kind();
        self.state.reset_others(shown, self.update)?;
        let scalars = self.state.content.iter().map(|(entry, _)| entry);
        let Some(last) = scalars.last().filter(|_| shown == Some(Kind::Scalar)) else {
            return Ok(());
        };
        let content = &mut self.state.content;
        content.kill_if(self.update, |entry, _| entry != last);
        Ok(())
    }

    /// Resets all that is seen of the value.
    ///
    /// # Errors
    /// Those of the resets of its parts.
    ///
    /// # Complexity
    /// O(size of the value).
    pub fn clear(&mut self) -> Result<(), EditError> {
        self.state.reset(self.update)
    }

    fn become_one(&mut self, kind: Kind) -> Result<(), EditError> {
        if matches!(kind, Kind::List | Kind::Map) && self.depth >= DEPTH_MAX {
            return Err(TOO_DEEP);
        }
        if self.state.kind() == Some(kind) {
            return Ok(());
        }
        self.clear()?;
        let content = Content::Of(kind);
        self.state.content.add(content, self.update).map(drop)
    }
}

const TOO_DEEP: EditError = EditError::TooDeep {
    levels_max: DEPTH_MAX,
};

impl Deref for ValueEdit<'_> {
    type Target = Value;

    fn deref(&self) -> &Value {
        self.state
    }
}

/// The edit view of the list in a [`Value`], to which it derefs.
#[derive(Debug)]
pub struct ValueListEdit<'a> {
    list: EditView<'a, List<Value>>,
    depth: u32,
}

impl ValueListEdit<'_> {
    /// Inserts `value` before the one at `index`, behind the last one if `index` is the length.
    ///
    /// # Errors
    /// [`EditError::Index`] beyond that, [`EditError::TooDeep`] as [`ValueEdit::set`].
    pub fn insert(&mut self, index: usize, value: impl Into<Plain>) -> Result<(), EditError> {
        self.insert_empty(index)?.set(value)
    }

    /// Inserts a value of which nothing is there yet, which shows as null; returns its edit view.
    ///
    /// # Errors
    /// [`EditError::Index`] beyond the length.
    pub fn insert_empty(&mut self, index: usize) -> Result<ValueEdit<'_>, EditError> {
        let value = self.list.insert_empty(index)?;
        Ok(below(value, self.depth))
    }

    /// Adds `value` at the end.
    ///
    /// # Errors
    /// [`EditError::TooDeep`] as [`ValueEdit::set`].
    pub fn push(&mut self, value: impl Into<Plain>) -> Result<(), EditError> {
        self.push_empty()?.set(value)
    }

    /// Adds a value of which nothing is there yet at the end; returns its edit view.
    ///
    /// # Errors
    /// As [`insert_empty`](ValueListEdit::insert_empty).
    pub fn push_empty(&mut self) -> Result<ValueEdit<'_>, EditError> {
        self.insert_empty(self.list.len())
    }

    /// The edit view of the value at `index`.
    ///
    /// # Errors
    /// [`EditError::Index`] if there is none.
    pub fn edit(&mut self, index: usize) -> Result<ValueEdit<'_>, EditError> {
        let value = self.list.edit(index)?;
        Ok(below(value, self.depth))
    }

    /// Deletes the value at `index`, whatever is changed in it concurrently.
    ///
    /// # Errors
    /// [`EditError::Index`] if there is none.
    pub fn remove(&mut self, index: usize) -> Result<(), EditError> {
        self.list.remove(index)
    }

    /// Deletes the values within `range`; those inserted into it concurrently stay.
    ///
    /// # Errors
    /// [`EditError::Index`] if an end is out of range.
    pub fn delete(&mut self, range: Range<usize>) -> Result<(), EditError> {
        self.list.delete(range)
    }

    /// Deletes every value seen here.
    ///
    /// # Errors
    /// Those of the values' own resets.
    pub fn clear(&mut self) -> Result<(), EditError> {
        self.list.clear()
    }
}

impl Deref for ValueListEdit<'_> {
    type Target = List<Value>;

    fn deref(&self) -> &List<Value> {
        &self.list
    }
}

/// The edit view of the map in a [`Value`], to which it derefs.
#[derive(Debug)]
pub struct ValueMapEdit<'a> {
    map: EditView<'a, OrMap<String, Value>>,
    depth: u32,
}

impl ValueMapEdit<'_> {
    /// The edit view of the value of `key`, which is there from the first change on.
    pub fn entry(&mut self, key: impl Into<String>) -> ValueEdit<'_> {
        below(self.map.entry(key.into()), self.depth)
    }

    /// Removes `key` as far as its value is seen here; returns whether it was there.
    ///
    /// # Errors
    /// Those of the value's own reset.
    pub fn remove(&mut self, key: &str) -> Result<bool, EditError> {
        self.map.remove(key)
    }

    /// Removes every key seen here.
    ///
    /// # Errors
    /// As [`remove`](ValueMapEdit::remove).
    pub fn clear(&mut self) -> Result<(), EditError> {
        self.map.clear()
    }
}

impl Deref for ValueMapEdit<'_> {
    type Target = OrMap<String, Value>;

    fn deref(&self) -> &OrMap<String, Value> {
        &self.map
    }
}

/// A value in a list or map that has `depth` levels above itself.
fn below(value: ValueEdit<'_>, depth: u32) -> ValueEdit<'_> {
    ValueEdit {
        depth: depth + 1,
        ..value
    }
}
