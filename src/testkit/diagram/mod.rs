//! Failures as drawings: columns of text, Mermaid, ShiViz.
//!
//! A drawing shows one replica per column and time downward, one step per line; then why the law
//! does not hold, what differs, and how to run it again. The wording is no part of the interface.
//! Control characters are spelled out, and texts end after 256 KiB.

mod ascii;
mod diff;
mod mermaid;
mod plain;
mod shiviz;
#[cfg(test)]
mod tests;
mod words;

use std::fmt;

use super::{Failure, Story};

/// With which characters a drawing is made.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Style {
    /// ASCII only, apart from what values contain.
    #[default]
    Ascii,
    /// Box drawing characters.
    Unicode,
}

impl Failure {
    /// The failure as a person reads it: the steps in columns, one for each replica, or in a list
    /// if there are more than five; then got, expected, why, the difference and how to replay it.
    ///
    /// `Display` gives this in ASCII.
    pub fn drawing(&self, style: Style) -> String {
        ascii::draw(&plain::plain(self), style)
    }

    /// The steps as a fenced Mermaid `sequenceDiagram`, to paste into an issue.
    ///
    /// Dashed arrows are what was in flight before.
    pub fn mermaid(&self) -> String {
        mermaid::draw(&plain::plain(self))
    }

    /// The steps as a log with vector clocks, for ShiViz: two lines for each event, to be parsed by
    /// its default expression `(?<host>\S*) (?<clock>{.*})\n(?<event>.*)`.
    ///
    /// What is about no replica is an event of the host `network`.
    pub fn shiviz(&self) -> String {
        shiviz::log(&plain::plain(self))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.drawing(Style::Ascii))
    }
}

/// The steps in columns of ASCII, one for each replica, or in a list if there are more than five.
impl fmt::Display for Story {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&ascii::draw_steps(&plain::plain_story(self)))
    }
}
