//! The steps as a Mermaid sequence diagram.

use super::words::{flat, headline, outcome, replay};
use crate::testkit::{Deed, Failure};

pub(super) fn draw(failure: &Failure) -> String {
    let mut out = String::from("```mermaid\nsequenceDiagram\n");
    let mut line = |text: String| {
        out.push_str("    ");
        out.push_str(&text);
        out.push('\n');
    };
    line(format!("title {}", escaped(&headline(failure))));
    let replicas = failure.story.replicas.max(1);
    (0..replicas).for_each(|at| line(format!("participant r{at}")));
    let everyone = match replicas {
        1 => "r0".into(),
        n => format!("r0,r{}", n - 1),
    };
    for one in &failure.story.lines {
        line(deed(one.step, &one.deed, &everyone));
    }
    let at = failure.broken.at.map_or(everyone, |at| format!("r{at}"));
    line(format!(
        "Note over {at}: X {}",
        escaped(&outcome(&failure.broken))
    ));
    line(format!("%% {}", replay(failure)));
    out.push_str("```\n");
    out
}

fn deed(step: usize, deed: &Deed, everyone: &str) -> String {
    match deed {
        Deed::Did { at, op, made } => {
            let made = match made {
                Ok(name) => format!("makes {name}"),
                Err(why) => format!("({why})"),
            };
            format!(
                "Note over r{at}: {step}: {}",
                escaped(&format!("{op} {made}"))
            )
        }
        Deed::Moved {
            from,
            to,
            payload,
            effect,
        } => {
            format!("r{from}->>r{to}: {step}: {}", label(payload, effect))
        }
        Deed::Sent {
            from,
            payload,
            letter,
        } => {
            let sends = escaped(&format!("sends {payload} {letter}"));
            format!("Note over r{from}: {step}: {sends}")
        }
        Deed::Took {
            from,
            at,
            payload,
            letter,
            effect,
        } => {
            let label = label(&format!("{payload} {letter}"), effect);
            format!("r{from}--)r{at}: {step}: {label}")
        }
        Deed::Noted { at, text } => {
            let at = at.map_or(everyone.into(), |at| format!("r{at}"));
            format!("Note over {at}: {step}: {}", escaped(text))
        }
    }
}

fn label(payload: &str, effect: &str) -> String {
    match effect.is_empty() {
        true => escaped(payload),
        false => escaped(&format!("{payload} ({effect})")),
    }
}

/// Mermaid reads some signs itself, and its output is HTML.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in flat(text).chars() {
        match c {
            '#' => out.push_str("#35;"),
            ';' => out.push_str("#59;"),
            '%' => out.push_str("#37;"),
            '<' => out.push_str("#lt;"),
            '>' => out.push_str("#gt;"),
            c => out.push(c),
        }
    }
    out
}
