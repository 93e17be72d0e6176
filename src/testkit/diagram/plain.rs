//! Failures made fit to be printed: no sign that does something to who reads it, no text without
//! end.

use crate::testkit::{Broken, Deed, Failure, Line, Story};

/// How many bytes of a text are printed.
const TEXT_MAX: usize = 256 << 10;

/// The same failure with texts that may be printed anywhere.
pub(super) fn plain(failure: &Failure) -> Failure {
    let broken = &failure.broken;
    Failure {
        subject: text(&failure.subject),
        broken: Broken {
            got: text(&broken.got),
            expected: text(&broken.expected),
            why: text(&broken.why),
            ..broken.clone()
        },
        story: plain_story(&failure.story),
        searched: text(&failure.searched),
        ..failure.clone()
    }
}

/// The same steps, likewise.
pub(super) fn plain_story(story: &Story) -> Story {
    let lines = story.lines.iter().map(|line| Line {
        step: line.step,
        deed: deed(&line.deed),
    });
    Story {
        replicas: story.replicas,
        lines: lines.collect(),
    }
}

fn deed(deed: &Deed) -> Deed {
    let mut deed = deed.clone();
    let texts: Vec<&mut String> = match &mut deed {
        Deed::Did { op, made, .. } => match made {
            Ok(name) | Err(name) => vec![op, name],
        },
        Deed::Moved {
            payload, effect, ..
        } => vec![payload, effect],
        Deed::Sent {
            payload, letter, ..
        } => vec![payload, letter],
        Deed::Took {
            payload,
            letter,
            effect,
            ..
        } => vec![payload, letter, effect],
        Deed::Noted { text, .. } => vec![text],
    };
    texts.into_iter().for_each(|own| *own = text(own));
    deed
}

fn text(own: &str) -> String {
    let mut out = String::new();
    for (at, c) in own.char_indices() {
        if at >= TEXT_MAX {
            out.push_str(&format!("... and {} bytes more", own.len() - at));
            break;
        }
        match c {
            '\r' if own[at + 1..].starts_with('\n') => {}
            c if acts(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out
}

/// Whether a terminal or a reader of text obeys `c` instead of showing it. A line break is no harm.
const fn acts(c: char) -> bool {
    let control = matches!(c, '\0'..='\x1f' | '\x7f'..='\u{9f}') && c != '\n';
    let invisible = matches!(
        c,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
    );
    control || invisible
}

#[test]
fn signs_that_act_are_spelled_out() {
    assert_eq!(text("a\r\nb\u{e9}"), "a\nb\u{e9}");
    assert_eq!(text("\u{1b}[2J\r\0"), "\\u{1b}[2J\\u{d}\\u{0}");
    assert_eq!(text("\u{202e}x\u{2028}"), "\\u{202e}x\\u{2028}");
    let long = text(&"x".repeat(TEXT_MAX + 7));
    assert!(long.ends_with("x... and 7 bytes more"));
}
