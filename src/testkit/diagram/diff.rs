//! What differs between two `Debug` texts.

use std::collections::{HashMap, HashSet};

use super::words::{cut, flat};

/// How many differences are listed.
const LISTED_MAX: usize = 6;
/// How many characters of a part are shown.
const PART_MAX: usize = 60;
/// How deep values within values are compared: a test's thread has little stack.
const DEPTH_MAX: usize = 64;

/// The differences of two `Debug` texts, one per line: of sets and maps what is too much and what
/// is lacking, of lists and tuples the first place, of others the first character. Empty if there
/// is no more to say than that they differ.
pub(super) fn differences(got: &str, expected: &str) -> Vec<String> {
    let (got, expected) = (flat(got), flat(expected));
    let mut out = Vec::new();
    compare("", &got, &expected, DEPTH_MAX, &mut out);
    // One that names both sides as a whole says nothing new.
    if out.len() == 1 && out[0].starts_with(": got") {
        out.clear();
        out.extend(first_character(&got, &expected));
    }
    if out.len() > LISTED_MAX {
        let more = out.len() - LISTED_MAX;
        out.truncate(LISTED_MAX);
        out.push(format!("and {more} more"));
    }
    out
}

/// A value as its `Debug` text gives it away.
#[derive(PartialEq)]
enum Shape<'t> {
    /// `{a, b}` or `{k: v}` or `Name { field: v }`; keys of a set are its elements, without value.
    Named(&'t str, Vec<(&'t str, Option<&'t str>)>),
    /// `[a, b]`, `(a, b)` or `Name(a, b)`.
    Listed(&'t str, Vec<&'t str>),
    Plain,
}

fn shape(text: &str) -> Shape<'_> {
    let open = text.find(['{', '[', '(']);
    let Some(at) = open else {
        return Shape::Plain;
    };
    let (name, body) = text.split_at(at);
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ' ';
    let close = match body.as_bytes()[0] {
        b'{' => '}',
        b'[' => ']',
        _ => ')',
    };
    let inner = body[1..].strip_suffix(close);
    let (true, Some(inner)) = (name.chars().all(is_name), inner) else {
        return Shape::Plain;
    };
    let Some(parts) = split(inner, ", ") else {
        return Shape::Plain;
    };
    match close {
        '}' => {
            let pair = |part| match split(part, ": ").as_deref() {
                Some([key, _, ..]) => (*key, Some(&part[key.len() + 2..])),
                _ => (part, None),
            };
            Shape::Named(name.trim(), parts.into_iter().map(pair).collect())
        }
        _ => Shape::Listed(name.trim(), parts),
    }
}

/// Splits outside of brackets and quotes; `None` if the brackets do not match.
fn split<'t>(text: &'t str, by: &str) -> Option<Vec<&'t str>> {
    let mut parts = Vec::new();
    let (mut start, mut depth) = (0, 0_i32);
    let mut quote = None;
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match (quote, c) {
            (Some(_), '\\') => {
                chars.next();
            }
            (Some(open), _) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '{' | '[' | '(') => depth += 1,
            (None, '}' | ']' | ')') => depth -= 1,
            _ if depth == 0 && text[at..].starts_with(by) => {
                parts.push(text[start..at].trim());
                start = at + by.len();
            }
            _ => {}
        }
        if depth < 0 {
            return None;
        }
    }
    let last = text[start..].trim().trim_end_matches(',');
    if !last.is_empty() {
        parts.push(last);
    }
    (depth == 0 && quote.is_none()).then_some(parts)
}

fn compare(path: &str, got: &str, expected: &str, depth: usize, out: &mut Vec<String>) {
    if got == expected {
        return;
    }
    let shapes = match depth {
        0 => (Shape::Plain, Shape::Plain),
        _ => (shape(got), shape(expected)),
    };
    match shapes {
        (Shape::Named(a, mine), Shape::Named(b, theirs)) if a == b => {
            named(path, &mine, &theirs, depth - 1, out);
        }
        (Shape::Listed(a, mine), Shape::Listed(b, theirs)) if a == b => {
            listed(path, &mine, &theirs, depth - 1, out);
        }
        _ => out.push(format!(
            "{path}: got {}, expected {}",
            cut(got, PART_MAX),
            cut(expected, PART_MAX)
        )),
    }
}

type Pairs<'t> = [(&'t str, Option<&'t str>)];

fn named(path: &str, got: &Pairs<'_>, expected: &Pairs<'_>, depth: usize, out: &mut Vec<String>) {
    let at = |key: &str| match path.is_empty() {
        true => cut(key, PART_MAX),
        false => format!("{path}.{}", cut(key, PART_MAX)),
    };
    let show = |key: &str, value: &Option<&str>| match value {
        Some(value) => format!("{}: {}", at(key), cut(value, PART_MAX)),
        None => at(key),
    };
    // Of two with one key the first counts.
    let theirs: HashMap<&str, Option<&str>> = expected.iter().rev().copied().collect();
    for (key, value) in got {
        match (theirs.get(key), value) {
            (None, _) => out.push(format!("too much: {}", show(key, value))),
            (Some(Some(theirs)), Some(mine)) => compare(&at(key), mine, theirs, depth, out),
            _ => {}
        }
    }
    let mine: HashSet<&str> = got.iter().map(|(key, _)| *key).collect();
    for (key, value) in expected {
        if !mine.contains(key) {
            out.push(format!("lacking: {}", show(key, value)));
        }
    }
}

fn listed(path: &str, got: &[&str], expected: &[&str], depth: usize, out: &mut Vec<String>) {
    let same = got.iter().zip(expected).take_while(|(a, b)| a == b).count();
    let place = format!("{path}[{same}]");
    match (got.get(same), expected.get(same)) {
        (Some(mine), Some(theirs)) => {
            let (mut a, mut b) = (got.to_vec(), expected.to_vec());
            a.sort_unstable();
            b.sort_unstable();
            let lengths = match (a == b, got.len() == expected.len()) {
                (true, _) => " (the same elements in another order)".into(),
                (false, true) => String::new(),
                (false, false) => format!(" (of {}, expected {})", got.len(), expected.len()),
            };
            compare(&place, mine, theirs, depth, out);
            if let Some(last) = out.last_mut() {
                last.push_str(&lengths);
            }
        }
        (Some(mine), None) => {
            out.push(format!("too much: {place} {}", cut(mine, PART_MAX)));
        }
        (None, Some(theirs)) => {
            out.push(format!("lacking: {place} {}", cut(theirs, PART_MAX)));
        }
        (None, None) => {}
    }
}

/// Where two texts part, if they have much in common.
fn first_character(got: &str, expected: &str) -> Option<String> {
    let same = got
        .chars()
        .zip(expected.chars())
        .take_while(|(a, b)| a == b)
        .count();
    if same < 8 {
        return None;
    }
    let tail = |text: &str| {
        cut(
            &text.chars().skip(same - 4).collect::<String>(),
            PART_MAX / 2,
        )
    };
    Some(format!(
        "from character {same} on: got ...{}, expected ...{}",
        tail(got),
        tail(expected)
    ))
}

#[cfg(test)]
mod tests {
    use super::differences;

    #[test]
    fn differences_are_found_inside() {
        let one = |got, expected| differences(got, expected).join("; ");
        assert_eq!(one("{0}", "{}"), "too much: 0");
        assert_eq!(one("{0, 2}", "{1, 2}"), "too much: 0; lacking: 1");
        assert_eq!(
            one("{'a': {1}, 'b': {2}}", "{'a': {1, 3}}"),
            "lacking: 'a'.3; too much: 'b': {2}"
        );
        assert_eq!(
            one("S { x: 1, y: [1, 2] }", "S { x: 1, y: [1, 3] }"),
            "y[1]: got 2, expected 3"
        );
        assert_eq!(
            one("['a', 'b']", "['b', 'a']"),
            "[0]: got 'a', expected 'b' (the same elements in another order)"
        );
        assert_eq!(one("[1, 2]", "[1]"), "too much: [1] 2");
        assert_eq!(one("Some(3)", "None"), "");
        assert_eq!(one("Some(3)", "Some(4)"), "[0]: got 3, expected 4");
        assert_eq!(one("4", "5"), "");
        assert_eq!(
            one("\"hello, world\"", "\"hello, warld\""),
            "from character 9 on: got ...o, world\", expected ...o, warld\""
        );
        assert_eq!(
            one("{\"a, }b\"}", "{\"c\"}"),
            "too much: \"a, }b\"; lacking: \"c\""
        );
    }

    #[test]
    fn long_lists_of_differences_end() {
        let got = format!("{:?}", (0..20).collect::<std::collections::BTreeSet<_>>());
        let all = differences(&got, "{}");
        assert_eq!((all.len(), all[6].as_str()), (7, "and 14 more"));
        assert!(differences("{{", "[]]").is_empty());
    }

    #[test]
    fn large_sets_are_compared_at_once() {
        let mine: std::collections::BTreeSet<u32> = (0..20_000).collect();
        let mut theirs = mine.clone();
        theirs.insert(70_000);
        // By the square of their number it takes minutes.
        let all = differences(&format!("{mine:?}"), &format!("{theirs:?}"));
        assert_eq!(all, ["lacking: 70000"]);
    }

    #[test]
    fn values_within_values_end() {
        let nested = |inner: &str| {
            let depth = 10_000;
            format!("{}{inner}{}", "Node(1, ".repeat(depth), ")".repeat(depth))
        };
        let all = differences(&nested("1"), &nested("2"));
        assert_eq!(all.len(), 1, "{all:?}");
    }
}
