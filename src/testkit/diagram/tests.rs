//! Drawings of failures written by hand, compared with `tests/golden/reports/`.
//!
//! `COMMUTE_BLESS=1` writes them anew.

use std::path::Path;

use super::Style;
use super::words::{cut, with_steps, wrap};
use crate::testkit::{Broken, Deed, Failure, Law, Line, Schedule, Story};

fn golden(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden/reports")
        .join(name);
    if std::env::var_os("COMMUTE_BLESS").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text, kept, "{name}; COMMUTE_BLESS=1 rewrites it");
}

fn did(at: usize, op: &str, made: &str) -> Deed {
    let made = match made.strip_prefix('!') {
        Some(why) => Err(why.into()),
        None => Ok(made.into()),
    };
    Deed::Did {
        at,
        op: op.into(),
        made,
    }
}

fn moved(from: usize, to: usize, payload: &str, effect: &str) -> Deed {
    Deed::Moved {
        from,
        to,
        payload: payload.into(),
        effect: effect.into(),
    }
}

fn sent(from: usize, payload: &str, letter: &str) -> Deed {
    Deed::Sent {
        from,
        payload: payload.into(),
        letter: letter.into(),
    }
}

fn took(from: usize, at: usize, payload: &str, letter: &str, effect: &str) -> Deed {
    let (payload, letter, effect) = (payload.into(), letter.into(), effect.into());
    Deed::Took {
        from,
        at,
        payload,
        letter,
        effect,
    }
}

fn noted(at: Option<usize>, text: &str) -> Deed {
    Deed::Noted {
        at,
        text: text.into(),
    }
}

fn failure(schedule: &str, deeds: Vec<Deed>, broken: Broken) -> Failure {
    let schedule: Schedule = schedule.parse().unwrap();
    let lines = deeds
        .into_iter()
        .zip(1..)
        .map(|(deed, step)| Line { step, deed });
    Failure {
        subject: "OrSet<u8>".into(),
        broken,
        story: Story {
            replicas: schedule.replicas as usize,
            lines: lines.collect(),
        },
        schedule,
        minimal: true,
        shrink_runs: 0,
        searched: "142,563 states; complete to depth 7".into(),
    }
}

fn broken(law: Law, at: Option<usize>, got: &str, expected: &str, why: &str) -> Broken {
    Broken {
        law,
        at,
        got: got.into(),
        expected: expected.into(),
        why: why.into(),
    }
}

/// An element on both sides keeps all its dots, also those that one side removed.
fn kept_dots() -> Failure {
    failure(
        "k1 n3 | 0:do 0 | 1:do 0 | 0>2 | 0:do 1 | 1>0 | 1:do 1 | 2>1 | 1>0",
        vec![
            did(0, "Insert(0)", "r0:1"),
            did(1, "Insert(0)", "r1:1"),
            moved(0, 2, "state", "r2 now sees r0:1"),
            did(0, "Remove(0)", "r0:2"),
            moved(1, 0, "state", "r0 now sees r1:1"),
            did(1, "Remove(0)", "r1:2"),
            moved(2, 1, "state", "r1 now sees r0:1"),
            moved(1, 0, "state", "r0 now sees r1:2"),
        ],
        broken(
            Law::S1,
            Some(0),
            "{0}",
            "{}",
            "every insert of 0 that is visible (r0:1, r1:1) was seen by a visible remove (r0:2, \
             r1:2)",
        ),
    )
}

/// Messages in flight, one of which is lost and one of which comes twice.
fn letters() -> Failure {
    let mut failure = failure(
        "k1 n3 | 0:do 3 | 0:update 0 | 0:do 2 | 0:update 1 | 1:take 0 1 | 0:lose 0 | 2:again 0 0 | \
         2:take 0 0",
        vec![
            did(0, "Add(3)", "r0:1"),
            sent(0, "message", "m0.1"),
            did(0, "Add(0)", "!no effect"),
            sent(0, "message", "m0.2"),
            took(0, 1, "message", "m0.2", "r1 keeps it until r0:1 is there"),
            noted(Some(0), "m0.1 is lost"),
            took(0, 2, "message", "m0.2", "r2 now sees r0:2"),
            took(2, 0, "delta", "m2.1", "r0 had it"),
        ],
        broken(Law::S1, Some(2), "6", "3", "r0:1 counts 3"),
    );
    failure.subject = "PnCounter".into();
    failure.minimal = false;
    failure.shrink_runs = 312;
    failure
}

/// A crash that loses an update, in four columns, noticed at no single replica.
fn crash() -> Failure {
    failure(
        "k1 n4 | 0:save | 0:do 7 | 0:crash | 0:restart | 0:do 9 | 3:split 3 | 3~1 | 3:heal | \
         3:tick 5",
        vec![
            noted(Some(0), "saves"),
            did(0, "Insert(7)", "r0:1"),
            noted(Some(0), "crashes"),
            noted(
                Some(0),
                "goes on under a new id from what it saved at step 1; r0:1 is lost",
            ),
            did(
                0,
                "Insert(\"a value that is much too long for its column\")",
                "r0b:1",
            ),
            noted(None, "the network splits: r0 r1 | r2 r3"),
            moved(3, 1, "delta", "does not arrive"),
            noted(None, "the network heals"),
        ],
        broken(
            Law::S3,
            None,
            "r0 {1, 7, \"a value that is much too long for its column\"}",
            "r1 {1, \"a value that is much too long for its column\"}",
            "all have seen r0:1 and r0b:1. Still r0 and r1 differ",
        ),
    )
}

fn six() -> Failure {
    let mut deeds: Vec<Deed> = (0..5)
        .map(|at| moved(at, at + 1, "state", &format!("r{} now sees r0:1", at + 1)))
        .collect();
    deeds.insert(0, did(0, "Insert(0)", "r0:1"));
    deeds.push(sent(5, "bytes", "m5.1"));
    deeds.push(took(5, 0, "bytes", "m5.1", "r0 had it all"));
    deeds.push(did(5, "Insert(1)", "!refused: full"));
    deeds.push(noted(None, "the network heals"));
    failure(
        "k1 n6 | 0:do 0 | 0>1 | 1>2 | 2>3 | 3>4 | 4>5 | 5:bytes | 0:take 5 0 | 5:do 1 | 5:heal",
        deeds,
        broken(
            Law::S1,
            Some(5),
            "{}",
            "{0}",
            "r0:1 inserted 0 and no visible remove had seen that",
        ),
    )
}

/// Values printed over several lines.
fn lines() -> Failure {
    let state = |n: u8| {
        format!("Map {{\n    \"title\": \"a\",\n    \"tags\": {{\n        {n},\n    }},\n}}")
    };
    failure(
        "k1 n2 | 0:do 0 | 0~1",
        vec![
            did(0, "Put {\n    key: \"tags\",\n    value: 2,\n}", "r0:1"),
            moved(0, 1, "delta", "r1 now sees\nr0:1"),
        ],
        broken(
            Law::D2,
            Some(1),
            &state(2),
            &state(3),
            "the delta has 2\nand the state has 3",
        ),
    )
}

#[test]
fn drawings_are_as_they_were() {
    let all = [
        ("kept_dots", kept_dots()),
        ("letters", letters()),
        ("crash", crash()),
        ("six_replicas", six()),
        ("lines", lines()),
    ];
    for (name, failure) in &all {
        golden(&format!("{name}.txt"), &failure.to_string());
        golden(&format!("{name}.mermaid.txt"), &failure.mermaid());
        golden(&format!("{name}.shiviz.txt"), &failure.shiviz());
        assert!(failure.to_string().is_ascii());
    }
    golden("letters.steps.txt", &letters().story.to_string());
    golden("six_replicas.steps.txt", &six().story.to_string());
    golden("letters.unicode.txt", &letters().drawing(Style::Unicode));
    golden("six_replicas.unicode.txt", &six().drawing(Style::Unicode));
}

#[test]
fn a_story_without_steps_is_drawn() {
    for replicas in [0, 1, 2, 7] {
        let mut empty = kept_dots();
        empty.story = Story {
            replicas,
            lines: Vec::new(),
        };
        assert!(empty.to_string().contains("r0 got {0}, expected {}"));
        assert!(empty.mermaid().contains("participant r0"));
    }
}

#[test]
fn nothing_is_too_long_to_be_drawn() {
    let name = "r63.65535:4294967295";
    let mut long = failure(
        "k1 n5 | 0:do 0 | 4:state | 3:take 4 0",
        vec![
            did(4, "Insert", name),
            sent(4, &"state".repeat(9), "m4.1"),
            took(4, 3, &"state".repeat(9), "m4.1", ""),
            moved(9, 0, "state", "replica 9 is none"),
            did(0, "\u{e9}\u{1f600}", "r0:1"),
        ],
        broken(Law::S1, Some(9), "1", "2", ""),
    );
    for replicas in 0..7 {
        long.story.replicas = replicas;
        let drawn = long.to_string();
        assert!(
            drawn.contains("Insert") || drawn.contains("step 1"),
            "{drawn}"
        );
    }
}

#[test]
fn names_get_their_steps() {
    let story = kept_dots().story;
    let named = |text| with_steps(text, &story);
    assert_eq!(named("r0:1, (r1:2)."), "r0:1 (step 1), (r1:2 (step 6)).");
    assert_eq!(named("r0:1: lost"), "r0:1 (step 1): lost");
    assert_eq!(named("r0:11 xr0:1 r0:9"), "r0:11 xr0:1 r0:9");
}

#[test]
fn texts_are_made_to_fit() {
    assert_eq!(
        [cut("abcdef", 6), cut("abcdefg", 6), cut("abc", 2)],
        ["abcdef", "abc...", ".."]
    );
    assert_eq!(wrap("one two three\nfour", 8), ["one two", "three", "four"]);
}
