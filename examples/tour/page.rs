//! The application state that every replica of the tour holds.

use commute::kernel::{EditView, Replicated};
use commute::text::Chars;
use commute::{EditError, GCounter, OrSet, Text};

use crate::session::Patch;

/// A page, how many keystrokes went into it, and who wrote it.
#[derive(Debug, commute_derive::Replicated)]
pub struct Page {
    /// What is written.
    pub text: Text,
    /// How many patches were applied.
    pub keystrokes: GCounter,
    /// One for each author.
    pub tags: OrSet<String>,
}

/// What a session can be replayed on.
pub trait Document: Replicated + Send + Sync {
    /// Applies one transaction of `agent`; returns how many patches had to be clamped.
    fn apply(
        page: &mut Self::Edit<'_>,
        agent: usize,
        patches: &[Patch],
    ) -> Result<usize, EditError>;

    /// The text in it.
    fn text(&self) -> &Text;
}

impl Document for Page {
    fn apply(page: &mut PageEdit<'_>, agent: usize, patches: &[Patch]) -> Result<usize, EditError> {
        if patches.is_empty() {
            return Ok(0);
        }
        let tag = author(agent);
        if !page.tags.contains(&tag) {
            page.tags().insert(tag)?;
        }
        page.keystrokes().add(patches.len() as u64)?;
        type_into(&mut page.text(), patches)
    }

    fn text(&self) -> &Text {
        &self.text
    }
}

/// The tag of an agent.
pub fn author(agent: usize) -> String {
    format!("author {agent}")
}

/// The text alone: what the other two fields must not make it pay for.
impl Document for Text {
    fn apply(
        text: &mut EditView<'_, Text>,
        _: usize,
        patches: &[Patch],
    ) -> Result<usize, EditError> {
        type_into(text, patches)
    }

    fn text(&self) -> &Text {
        self
    }
}

/// The other two fields alone: what a page costs without its text.
#[derive(Debug, commute_derive::Replicated)]
pub struct Margin {
    /// As in [`Page`].
    pub keystrokes: GCounter,
    /// As in [`Page`].
    pub tags: OrSet<String>,
}

/// Applies the patches in order. A position behind the end can only come from a session that was
/// recorded under another order of concurrent insertions; it is moved to the end, and counted.
fn type_into(text: &mut EditView<'_, Text>, patches: &[Patch]) -> Result<usize, EditError> {
    let mut clamped = 0;
    for patch in patches {
        let len = text.len::<Chars>().0;
        let start = patch.at.min(len);
        let end = patch.at.saturating_add(patch.deleted).min(len);
        clamped += usize::from(end - start != patch.deleted || start != patch.at);
        text.replace(Chars(start)..Chars(end), &patch.inserted)?;
    }
    Ok(clamped)
}
