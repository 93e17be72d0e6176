//! What the tour prints.

use commute::Version;

use crate::fencing::Told;
use crate::network::Traffic;
use crate::peer::Merged;
use crate::play::{LISTED_MAX, Played};
use crate::session::Session;
use crate::transfers::Transferred;

const LINES_SHOWN: usize = 5;
const COLUMNS: usize = 76;

/// What is about to be replayed.
pub fn opening(session: &Session) {
    let kind = match session.concurrent {
        true => "concurrent",
        false => "sequential, its author's turns taken by replicas one after the other",
    };
    println!("== {} ==", session.name);
    println!("  {} transactions, {kind}", session.edits.len());
}

/// What came of a session.
pub fn played(played: &Played) {
    let (updates, bytes) = played.updates;
    let keys = played.keystrokes.max(1);
    println!(
        "  replicas            {}, observers {}",
        played.replicas, played.observers
    );
    println!("  updates             {updates} with {keys} keystrokes");
    println!(
        "  bytes per keystroke {:.1}, as sent",
        bytes as f64 / keys as f64
    );
    link("between replicas   ", &played.between);
    link("to observers       ", &played.observed);
    size(played);
    println!("  took                {:.2} s", played.took.as_secs_f64());
    println!();
    replicas(played);
    text(played);
}

fn link(label: &str, (traffic, merged): &(Traffic, Merged)) {
    let Traffic {
        sent,
        doubled,
        dropped,
    } = traffic;
    let Merged {
        waited,
        waiting_max,
        duplicates,
        ..
    } = merged;
    println!("  {label} {sent} deltas sent, {doubled} duplicated, {dropped} dropped");
    println!(
        "    {waited} waited for their past, {waiting_max} at once; {duplicates} brought nothing"
    );
    if merged.joined > 0 {
        println!(
            "    {} came late and were given a state whole",
            merged.joined
        );
    }
    if merged.answers + merged.again > 0 {
        println!(
            "    lost or late: {} answers to delta_since, {} updates sent again, {} bytes",
            merged.answers, merged.again, merged.repair_bytes
        );
    }
    let merges = merged.new + merged.duplicates + merged.waited;
    let micros = merged.time.as_secs_f64() * 1e6 / merges.max(1) as f64;
    println!(
        "    merge time {:.2} s, {micros:.1} us a delta",
        merged.time.as_secs_f64()
    );
}

fn size(played: &Played) {
    let size = &played.size;
    println!("  state               {} bytes", size.page_bytes);
    println!(
        "  its text            {} bytes, {} runs; alone {} bytes, {} runs",
        size.text_bytes, size.runs, size.alone_bytes, size.alone_runs
    );
    println!(
        "    (bytes of the page less those of the same counter and tags without a text; of the \
         text alone\n     less those of its clocks)"
    );
}

fn replicas(played: &Played) {
    for (agent, version, digest) in &played.listed {
        println!(
            "  agent {agent}: version {}, digest {digest}",
            short(version)
        );
    }
    if played.replicas > played.listed.len() {
        println!(
            "  and {} more replicas",
            played.replicas - played.listed.len()
        );
    }
    match played.alike {
        true => println!("  all replicas and observers have the same bytes"),
        false => println!("  NOT all replicas and observers have the same bytes"),
    }
}

fn short(version: &Version) -> String {
    if version.len() > LISTED_MAX {
        let updates: u64 = version.iter().map(|(_, seen)| seen).sum();
        return format!("of {updates} updates of {} replicas", version.len());
    }
    let seen = version
        .iter()
        .map(|(id, seen)| format!("{}:{seen}", u128::from(id)));
    format!("{{{}}}", seen.collect::<Vec<_>>().join(" "))
}

fn text(played: &Played) {
    println!(
        "  {} keystrokes counted, {} tags, {} characters of text{}",
        played.keystrokes,
        played.tags,
        played.text.chars().count(),
        if played.as_recorded {
            ", as recorded"
        } else {
            ""
        }
    );
    if played.clamped > 0 {
        println!(
            "  {} patches lay behind the end and were clamped: the recorded positions belong to \
             another\n  order of concurrent insertions, so this shows convergence only{}",
            played.clamped,
            if played.as_recorded {
                ""
            } else {
                "; the text is not the recorded one"
            }
        );
    }
    println!();
    for line in played.text.lines().take(LINES_SHOWN) {
        let shown: String = line.chars().take(COLUMNS).collect();
        println!("  | {shown}");
    }
    println!();
}

/// What came of the transfers.
pub fn transferred(kind: &str, done: &Transferred) {
    let seconds = done.took.as_secs_f64();
    let (before, after) = done.sums;
    println!("  {kind}, {} accounts:", done.accounts);
    println!(
        "    {} commits, {:.0} a second; {} conflicts, {} retries; sum {before} -> {after}",
        done.commits,
        done.commits as f64 / seconds.max(1e-9),
        done.conflicts,
        done.retries
    );
}

/// The time line of the fencing story.
pub fn told(told: &Told) {
    for (at, line) in &told.lines {
        println!("  {:>5.1} s  {line}", at.as_secs_f64());
    }
    println!(
        "  balance {}; without a fence it would be {}",
        told.balances.0, told.unfenced
    );
}
