//! Texts made to fit: on one line, cut, wrapped, with the steps of the operations they name.

use std::collections::HashMap;

use crate::testkit::{Broken, Deed, Failure, Story};

/// On one line: line breaks and what surrounds them become one space.
pub(super) fn flat(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join(" ")
}

/// How many characters it has.
pub(super) fn width(text: &str) -> usize {
    text.chars().count()
}

/// No more than `most` characters; `...` stands for what was cut.
pub(super) fn cut(text: &str, most: usize) -> String {
    if width(text) <= most {
        return text.into();
    }
    let kept = most.saturating_sub(3);
    let dots = most.min(3);
    text.chars()
        .take(kept)
        .chain("...".chars().take(dots))
        .collect()
}

/// Lines of at most `most` characters, where the words allow it; its own line breaks stay.
pub(super) fn wrap(text: &str, most: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for own in text.lines() {
        if width(own) <= most {
            lines.push(own.into());
            continue;
        }
        let mut line = String::new();
        for word in own.split_whitespace() {
            if !line.is_empty() && width(&line) + 1 + width(word) > most {
                lines.push(std::mem::take(&mut line));
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        lines.push(line);
    }
    lines
}

/// `1 step`, `2 steps`
pub(super) fn count(number: usize, noun: &str) -> String {
    match number {
        1 => format!("1 {noun}"),
        _ => format!("{number} {noun}s"),
    }
}

/// `law S1: title` and the size of the run.
pub(super) fn headline(failure: &Failure) -> String {
    let shrunk = match (failure.minimal, failure.shrink_runs) {
        (true, _) => "minimal (complete search)".into(),
        (false, 0) => "not shrunk".into(),
        (false, runs) => format!("shrunk in {}", count(runs as usize, "run")),
    };
    format!(
        "FAIL  {}   law {}   {}, {}, {shrunk}",
        flat(&failure.subject),
        failure.broken.law,
        count(failure.schedule.steps.len(), "step"),
        count(failure.story.replicas, "replica"),
    )
}

/// How to run it again.
pub(super) fn replay(failure: &Failure) -> String {
    format!("COMMUTE_KIT_REPLAY='{}'", failure.schedule)
}

/// `r0 got {0}, expected {}`, on one line.
pub(super) fn outcome(broken: &Broken) -> String {
    let at = broken.at.map_or(String::new(), |at| format!("r{at} "));
    format!(
        "{at}got {}, expected {}",
        flat(&broken.got),
        flat(&broken.expected)
    )
}

/// Appends to every name of an operation of the story the step that made it: `r0:1 (step 1)`.
pub(super) fn with_steps(text: &str, story: &Story) -> String {
    let made = story.lines.iter().filter_map(|line| match &line.deed {
        Deed::Did { made: Ok(own), .. } => Some((own.as_str(), line.step)),
        _ => None,
    });
    // Of two that have one name the first counts.
    let steps: HashMap<&str, usize> = made.rev().collect();
    let step = |name: &str| steps.get(name).copied();
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == ':' || c == '.' || c == '_';
    let mut out = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = match is_part(first) {
            true => rest.find(|c| !is_part(c)).unwrap_or(rest.len()),
            false => first.len_utf8(),
        };
        let (word, after) = rest.split_at(end);
        out.push_str(word);
        // A name at the end of a sentence, or before a colon.
        let name = word.trim_end_matches(['.', ':']);
        if let Some(step) = step(name) {
            out.truncate(out.len() - (word.len() - name.len()));
            out.push_str(&format!(" (step {step})"));
            out.push_str(&word[name.len()..]);
        }
        rest = after;
    }
    out
}
