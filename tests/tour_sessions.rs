//! The parts of the tour: sessions converge, and it says what is wrong with a file.
#![allow(clippy::unwrap_used)]

#[path = "../examples/tour/fencing.rs"]
mod fencing;
#[path = "../examples/tour/generated.rs"]
mod generated;
#[path = "../examples/tour/log.rs"]
mod log;
#[path = "../examples/tour/network.rs"]
mod network;
#[path = "../examples/tour/observers.rs"]
mod observers;
#[path = "../examples/tour/page.rs"]
mod page;
#[path = "../examples/tour/parallel.rs"]
mod parallel;
#[path = "../examples/tour/peer.rs"]
mod peer;
#[path = "../examples/tour/play.rs"]
mod play;
#[path = "../examples/tour/progress.rs"]
mod progress;
#[path = "../examples/tour/replay.rs"]
mod replay;
#[path = "../examples/tour/report.rs"]
mod report;
#[path = "../examples/tour/session.rs"]
mod session;
#[path = "../examples/tour/transfers.rs"]
mod transfers;

use std::io::Write;
use std::path::Path;

use play::{Played, play};
use session::{Edit, Patch, Session, SessionError};

fn gzipped(json: &str) -> Vec<u8> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(json.as_bytes()).unwrap();
    gzip.finish().unwrap()
}

fn refused(bytes: &[u8]) -> SessionError {
    Session::from_bytes("a file", bytes).unwrap_err()
}

fn converged(session: &Session) -> Played {
    let played = play(session, session.agents).unwrap();
    report::opening(session);
    report::played(&played);
    assert_eq!(played.failed, Vec::<String>::new());
    let (_, first_version, first_digest) = &played.listed[0];
    let mut others = played.listed.iter();
    assert!(others.all(|(_, v, digest)| (v, digest) == (first_version, first_digest)));
    played
}

#[test]
fn the_generated_session_converges_to_what_plain_strings_say() {
    let session = generated::session();
    assert_eq!(session, generated::session(), "it is always the same");
    let played = converged(&session);
    assert!(played.as_recorded && played.clamped == 0);
    assert_eq!((played.replicas, played.observers, played.tags), (2, 2, 2));
    for (traffic, merged) in [&played.between, &played.observed] {
        assert!(
            traffic.dropped > 0 && traffic.doubled > 0,
            "the network does harm"
        );
        assert!(
            merged.waited > 0 && merged.answers > 0,
            "and it is repaired"
        );
    }
}

const SEQUENTIAL: &str = r#"{"startContent": "caf\u00e9", "endContent": "C\u00e9!", "txns": [
    {"time": "", "patches": [[4, 0, "!"], [0, 1, "C"]]}, {"time": "", "patches": []},
    {"time": "", "patches": [[1, 2, ""]]}]}"#;

#[test]
fn a_sequential_session_is_split_over_three_replicas() {
    for bytes in [gzipped(SEQUENTIAL), SEQUENTIAL.as_bytes().to_vec()] {
        let session = Session::from_bytes("small", &bytes).unwrap();
        assert_eq!((session.concurrent, session.agents), (false, 3));
        let played = converged(&session);
        assert!(played.as_recorded);
        // The text it starts with is an update; a transaction without a patch is none.
        assert_eq!((played.updates.0, played.keystrokes), (3, 4));
    }
}

/// An agent that goes on from a state without its own last edit needs a second replica.
#[test]
fn an_agent_with_two_branches_has_two_replicas() {
    let edit = |agent, parents: &[usize], patches: &[(usize, usize, &str)]| Edit {
        agent,
        parents: parents.to_vec(),
        patches: patches
            .iter()
            .map(|(at, deleted, text)| Patch::from((*at, *deleted, (*text).to_owned())))
            .collect(),
    };
    let session = Session {
        name: "branches".to_owned(),
        concurrent: true,
        agents: 2,
        edits: vec![
            edit(0, &[], &[(0, 0, "12")]),
            edit(0, &[0], &[(1, 0, "left")]),
            edit(0, &[0], &[(2, 0, "right")]),
            edit(1, &[1, 2], &[(5, 1, "|")]),
            edit(0, &[2], &[(7, 0, "!")]),
        ],
        end: "1left|right!".to_owned(),
    };
    let played = converged(&session);
    assert_eq!((played.replicas, played.tags), (3, 2));
}

#[test]
fn positions_of_another_order_are_clamped_and_converge() {
    let json = r#"{"kind": "concurrent", "endContent": "something else", "numAgents": 2, "txns": [
        {"parents": [], "agent": 7, "patches": [[0, 0, "abc"]]},
        {"parents": [0], "agent": 9, "patches": [[2, 9, "x"], [50, 0, "y"]]},
        {"parents": [0], "agent": 7, "patches": [[3, 0, "z"]]}]}"#;
    let session = Session::from_bytes("clamped", json.as_bytes()).unwrap();
    let played = converged(&session);
    assert_eq!((played.clamped, played.as_recorded), (2, false));
}

#[test]
fn a_wrong_text_and_a_wrong_count_are_noticed() {
    let wrong = SEQUENTIAL.replace("C\\u00e9!", "C");
    let session = Session::from_bytes("wrong", wrong.as_bytes()).unwrap();
    let played = play(&session, session.agents).unwrap();
    let said = ["the text is not the one that the session ends with"];
    assert_eq!(played.failed, said);
}

#[test]
fn a_file_that_is_cut_short_is_said_to_be() {
    let whole = gzipped(SEQUENTIAL);
    for cut in [whole.len() - 1, whole.len() / 2, 12] {
        let error = refused(&whole[..cut]);
        assert!(matches!(error, SessionError::CutShort), "{cut}: {error}");
    }
    let error = refused(&SEQUENTIAL.as_bytes()[..SEQUENTIAL.len() - 1]);
    assert_eq!(error.to_string(), "is cut short: it ends in the middle");
}

#[test]
fn a_file_that_is_no_session_is_said_to_be_none() {
    let not_json: [&[u8]; 4] = [b"# Notes\n", b"", b"\xff\xfe\x00", b"{\"a\": }"];
    for bytes in not_json {
        let error = refused(bytes);
        assert!(
            matches!(error, SessionError::NotJson(_)),
            "{bytes:?}: {error}"
        );
    }
    let cases = [
        ("[1, 2]", ""),
        (
            "{\"name\": \"commute\", \"version\": 3}",
            "missing field `endContent`",
        ),
        (
            r#"{"endContent": "", "txns": [{"patches": [[0, -1, ""]]}]}"#,
            "-1",
        ),
        (
            r#"{"endContent": "", "txns": [{"parents": [0], "agent": 0, "patches": []}]}"#,
            "parent 0 of transaction 0 does not come before it",
        ),
        (
            r#"{"kind": "concurrent", "endContent": "", "txns": [{"agent": 0, "patches": []}]}"#,
            "transaction 0 has no `parents`",
        ),
    ];
    for (json, says) in cases {
        let error = refused(json.as_bytes());
        assert!(
            matches!(error, SessionError::NotASession(_)),
            "{json}: {error}"
        );
        assert!(
            error.to_string().starts_with("is no editing session: "),
            "{error}"
        );
        assert!(error.to_string().contains(says), "{error}");
    }
    let mut damaged = gzipped(SEQUENTIAL);
    damaged[3] ^= 0xff;
    damaged[20] ^= 0xff;
    let error = refused(&damaged);
    let known = matches!(error, SessionError::Damaged(_) | SessionError::CutShort);
    assert!(known, "{error}");
    let missing = Session::load(Path::new("no/such/file.json.gz")).unwrap_err();
    assert!(matches!(missing, SessionError::Unreadable(_)));
}

#[test]
fn recorded_sessions_converge_to_the_recorded_text() {
    let Some(folder) = std::env::var_os("COMMUTE_TRACES") else {
        println!("skipped: COMMUTE_TRACES not set");
        return;
    };
    for name in ["sveltecomponent.json.gz", "friendsforever.json.gz"] {
        let session = Session::load(&Path::new(&folder).join(name)).unwrap();
        let played = converged(&session);
        assert!(played.as_recorded && played.clamped == 0, "{name}");
    }
}

#[test]
fn the_sum_stays_and_the_late_write_is_refused() {
    for accounts in [1000, 8] {
        let done = transfers::transfer(4000, accounts).unwrap();
        report::transferred("some", &done);
        assert_eq!((done.sums.0, done.commits), (done.sums.1, 4000));
    }
    let told = fencing::tell().unwrap();
    report::told(&told);
    assert!(told.late_write_refused);
    assert_eq!((told.balances, told.unfenced), ((50, 50), 70));
}
