//! The main job: a session replayed on replicas and heard by observers, and what must be true then.

use std::time::Duration;

use commute::env::{Env, SystemEnv};
use commute::{Digest, Replica, State, Text, Version};

use crate::network::{Traffic, Weather};
use crate::observers::Observers;
use crate::page::{Document, Margin, Page, author};
use crate::peer::{Failure, Merged, Peer};
use crate::progress::Progress;
use crate::replay::Replay;
use crate::session::Session;

/// Observers ask for what they lack after so many updates. The first lost update of an author makes
/// all later ones wait, so without asking almost everything would wait, and in the end be dropped.
const HEARD_BEFORE_ASKING: usize = 1000;

/// A digest is computed for so many replicas; the bytes of all are compared.
pub const LISTED_MAX: usize = 8;

/// The text may cost at most so much more for the company it keeps.
const SURCHARGE_MAX: f64 = 1.2;

/// What came of a session.
#[derive(Debug)]
pub struct Played {
    /// The first [`LISTED_MAX`] replicas: whose they are, what they include, and the digests of
    /// their bytes.
    pub listed: Vec<(usize, Version, Digest)>,
    /// How many replicas there were.
    pub replicas: usize,
    /// Whether all replicas and observers have the same bytes.
    pub alike: bool,
    /// How many updates were made, and their bytes.
    pub updates: (usize, u64),
    /// The value of the counter.
    pub keystrokes: u128,
    /// The number of tags.
    pub tags: usize,
    /// Patches that lay behind the end of the text.
    pub clamped: usize,
    /// Between the replicas.
    pub between: (Traffic, Merged),
    /// To the observers.
    pub observed: (Traffic, Merged),
    /// How many observers there were.
    pub observers: usize,
    /// The text in the end.
    pub text: String,
    /// Whether it is the recorded one.
    pub as_recorded: bool,
    /// The bytes of one state, and what they and the runs are without company.
    pub size: Size,
    /// How long it all took.
    pub took: Duration,
    /// What should be true and is not.
    pub failed: Vec<String>,
}

/// How large the text is inside the page, and alone.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// The bytes of the whole state.
    pub page_bytes: usize,
    /// Those of them that are the text's.
    pub text_bytes: usize,
    /// The bytes of the same text replayed alone.
    pub alone_bytes: usize,
    /// The runs of the text.
    pub runs: usize,
    /// The runs of the same text replayed alone.
    pub alone_runs: usize,
}

/// Replays a session, heard by the observers of the first agents, and checks what came of it.
///
/// # Errors
/// What makes it impossible to go on; what is merely wrong is in [`Played::failed`].
pub fn play(session: &Session, observers: usize) -> Result<Played, Failure> {
    let started = SystemEnv::new().now();
    let mut progress = Progress::new(2 * session.edits.len());
    let (replay, observers) = replay_observed(session, observers, &mut progress)?;
    let alone = replay_alone(session, &mut progress)?;
    drop(progress);

    let mut failed = Vec::new();
    let first = &replay.peers()[0].replica;
    let bytes = first.to_bytes();
    for peer in &replay.peers()[1..] {
        if peer.replica.to_bytes() != bytes {
            failed.push(format!("a replica of agent {} differs", peer.agent));
        }
    }
    for (agent, state) in observers.states().enumerate() {
        if state.to_bytes() != bytes {
            failed.push(format!("the observer of agent {agent} differs"));
        }
    }
    let alike = failed.is_empty();
    let text = first.text.to_string();
    let as_recorded = text == session.end;
    // Only concurrent insertions can stand in another order than the recorded one.
    let another_order = session.concurrent && replay.clamped() > 0;
    if !as_recorded && !another_order {
        failed.push("the text is not the one that the session ends with".to_owned());
    }
    if alone.text() != text.as_str() {
        failed.push("the text differs from the one that is replayed alone".to_owned());
    }
    let size = Size {
        page_bytes: bytes.len(),
        text_bytes: bytes.len() - margin(replay.peers())?.to_bytes().len(),
        alone_bytes: alone.to_bytes().len() - clock_bytes(alone.version()),
        runs: first.text.runs(),
        alone_runs: alone.runs(),
    };
    failed.extend(size.check());
    let patches: usize = session.edits.iter().map(|edit| edit.patches.len()).sum();
    if first.keystrokes.value() != patches as u128 {
        failed.push(format!("the counter should be {patches}"));
    }
    let seen = |peer: &Peer<Page>| {
        let replica = &peer.replica;
        (peer.agent, replica.version().clone(), replica.digest())
    };
    Ok(Played {
        listed: replay.peers().iter().take(LISTED_MAX).map(seen).collect(),
        replicas: replay.peers().len(),
        alike,
        updates: (replay.log().len(), replay.log().bytes()),
        keystrokes: first.keystrokes.value(),
        tags: first.tags.len(),
        clamped: replay.clamped(),
        between: replay.totals(),
        observed: observers.totals(),
        observers: observers.states().count(),
        text,
        as_recorded,
        size,
        took: SystemEnv::new().now().saturating_since(started),
        failed,
    })
}

/// The session on pages, over a network that loses.
fn replay_observed<'s>(
    session: &'s Session,
    observers: usize,
    progress: &mut Progress,
) -> Result<(Replay<'s, Page>, Observers<Page>), Failure> {
    let mut replay = Replay::<Page>::new(session, Weather::ROUGH);
    let mut observers = Observers::new(observers);
    let mut heard = 0;
    for edit in 0..session.edits.len() {
        replay.step(edit)?;
        progress.step();
        if replay.log().len() == heard + HEARD_BEFORE_ASKING {
            observers.hear(heard..replay.log().len(), &replay)?;
            heard = replay.log().len();
        }
    }
    observers.hear(heard..replay.log().len(), &replay)?;
    replay.finish()?;
    observers.finish(&replay)?;
    Ok((replay, observers))
}

/// The same session on texts without company, over a network that does no harm.
fn replay_alone(session: &Session, progress: &mut Progress) -> Result<State<Text>, Failure> {
    let mut replay = Replay::<Text>::new(session, Weather::FAIR);
    for edit in 0..session.edits.len() {
        replay.step(edit)?;
        progress.step();
    }
    replay.gather()?;
    Ok(replay.peers()[0].replica.state().clone())
}

/// The same counter and tags under the same version, without a text: what is left when their bytes
/// are taken from those of the page is the text's.
fn margin(peers: &[Peer<Page>]) -> Result<State<Margin>, Failure> {
    let mut all = State::<Margin>::new();
    for peer in peers {
        let mut replica = Replica::<Margin>::new(peer.replica.id());
        let updates = peer.replica.version().get(replica.id());
        for update in 1..=updates {
            replica.edit(|margin| {
                if update == 1 {
                    margin.tags().insert(author(peer.agent))?;
                }
                let last = peer.keystrokes - (updates - 1);
                margin
                    .keystrokes()
                    .add(if update == updates { last } else { 1 })
            })?;
        }
        let _ = all.merge(&replica)?;
    }
    Ok(all)
}

/// The bytes of a state that tell what it includes: its version, and a seal for each replica.
fn clock_bytes(version: &Version) -> usize {
    version.to_bytes().len() + 8 * version.len()
}

impl Size {
    fn check(&self) -> Vec<String> {
        let mut failed = Vec::new();
        for (what, here, alone) in [
            ("runs", self.runs, self.alone_runs),
            ("bytes", self.text_bytes, self.alone_bytes),
        ] {
            if here as f64 > alone as f64 * SURCHARGE_MAX {
                let text = format!("the text has {here} {what} in the page, but {alone} alone");
                failed.push(text);
            }
        }
        failed
    }
}
