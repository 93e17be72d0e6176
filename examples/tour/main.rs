//! A tour: people type at once, threads transfer at once, and a sleeper comes too late.
//!
//! `cargo run --release --example tour [[--observers N] TRACE.json.gz]`
//!
//! Without an argument two people write a page of our own; with one, a recorded session in the
//! editing-traces format is replayed, sequential or concurrent. Every agent is a replica of one
//! application state, and has an observer unless there are to be `N` in all. Ends with status 0 if all that should be true is true, with 1 and the reasons
//! if not, and with 2 if the file is no session.

mod fencing;
mod generated;
mod log;
mod network;
mod observers;
mod page;
mod parallel;
mod peer;
mod play;
mod progress;
mod replay;
mod report;
mod session;
mod transfers;

use std::ffi::OsStr;
use std::path::Path;
use std::process::ExitCode;

use peer::Failure;
use session::Session;

const CHECK_FAILED: u8 = 1;
const UNUSABLE: u8 = 2;

const TRANSFERS: u64 = 100_000;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let (observers, file) = match arguments.as_slice() {
        [] => (None, None),
        [file] => (None, Some(file)),
        [name, count, file] if name == "--observers" => match number(count) {
            Some(count) => (Some(count), Some(file)),
            None => return usage(),
        },
        _ => return usage(),
    };
    let session = match file.map(|file| Session::load(Path::new(file))) {
        None => generated::session(),
        Some(Ok(session)) => session,
        Some(Err(error)) => {
            let file = file.map_or(Path::new(""), Path::new);
            eprintln!("tour: {} {error}", file.display());
            return ExitCode::from(UNUSABLE);
        }
    };
    let observers = observers.unwrap_or(session.agents).min(session.agents);
    let failed = tour(&session, observers).unwrap_or_else(|error| vec![error.to_string()]);
    failed
        .iter()
        .for_each(|failed| eprintln!("tour: FAILED: {failed}"));
    match failed.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(CHECK_FAILED),
    }
}

fn number(text: &OsStr) -> Option<usize> {
    text.to_str()?.parse().ok()
}

fn usage() -> ExitCode {
    eprintln!("usage: tour [[--observers N] TRACE.json.gz]");
    ExitCode::from(UNUSABLE)
}

/// The three parts; returns what should be true and is not.
fn tour(session: &Session, observers: usize) -> Result<Vec<String>, Failure> {
    report::opening(session);
    let played = play::play(session, observers)?;
    report::played(&played);
    let mut failed = played.failed;

    println!("== eight threads, one store ==");
    for (kind, accounts) in [("conflict-rare", 10_000), ("conflict-heavy", 8)] {
        let done = transfers::transfer(TRANSFERS, accounts)?;
        report::transferred(kind, &done);
        if done.sums.0 != done.sums.1 {
            failed.push(format!("the sum of {accounts} accounts has changed"));
        }
    }

    println!("\n== the sleeper and the fence ==");
    let told = fencing::tell()?;
    report::told(&told);
    if !told.late_write_refused {
        failed.push("the late write was not refused".to_owned());
    }
    if told.balances.0 != told.balances.1 {
        failed.push(format!("the balance should be {}", told.balances.1));
    }
    println!();
    Ok(failed)
}
