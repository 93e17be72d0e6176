//! Editing sessions: what was typed where, by whom, knowing what.
//!
//! The format is that of the editing-traces collection: gzipped JSON, sequential (one transaction
//! after the other) or concurrent (each transaction names its `parents` and its `agent`). Positions
//! count Unicode code points.

use std::collections::BTreeMap;
use std::fmt;
use std::io::Read;
use std::path::Path;

use flate2::read::MultiGzDecoder;
use serde::Deserialize;
use serde_json::error::Category;

/// A session, checked: parents come before their children and agents are numbered from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// What to call it.
    pub name: String,
    /// Whether several people typed at once.
    pub concurrent: bool,
    /// How many replicas edit.
    pub agents: usize,
    /// The transactions in an order in which each comes after its parents.
    pub edits: Vec<Edit>,
    /// The text that all of them end with.
    pub end: String,
}

/// One transaction: one atomic update.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// Who makes it.
    pub agent: usize,
    /// The earlier edits that it knows, themselves with all they know.
    pub parents: Vec<usize>,
    /// What it does, in order.
    pub patches: Vec<Patch>,
}

/// At a position, so many characters replaced by a text.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "(usize, usize, String)")]
pub struct Patch {
    /// In characters.
    pub at: usize,
    /// How many characters go.
    pub deleted: usize,
    /// What comes.
    pub inserted: String,
}

impl From<(usize, usize, String)> for Patch {
    fn from((at, deleted, inserted): (usize, usize, String)) -> Patch {
        Patch {
            at,
            deleted,
            inserted,
        }
    }
}

/// Why a file cannot be used.
#[derive(Debug)]
pub enum SessionError {
    /// It cannot be read.
    Unreadable(std::io::Error),
    /// It ends in the middle.
    CutShort,
    /// Its gzip wrapping is damaged.
    Damaged(std::io::Error),
    /// It holds more than [`SESSION_BYTES_MAX`].
    TooLarge,
    /// It is not JSON.
    NotJson(serde_json::Error),
    /// It is JSON, but no session.
    NotASession(String),
}

impl fmt::Display for SessionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(cause) => write!(f, "cannot be read: {cause}"),
            Self::CutShort => f.write_str("is cut short: it ends in the middle"),
            Self::Damaged(cause) => write!(f, "is damaged: {cause}"),
            Self::TooLarge => {
                write!(
                    f,
                    "is too large: more than {SESSION_BYTES_MAX} bytes when unpacked"
                )
            }
            Self::NotJson(cause) => write!(f, "is no editing session: not JSON ({cause})"),
            Self::NotASession(what) => write!(f, "is no editing session: {what}"),
        }
    }
}

impl std::error::Error for SessionError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Unreadable(cause) | Self::Damaged(cause) => Some(cause),
            Self::NotJson(cause) => Some(cause),
            Self::CutShort | Self::TooLarge | Self::NotASession(_) => None,
        }
    }
}

/// A small file may unpack to a great deal; no more than this is read.
pub const SESSION_BYTES_MAX: u64 = 1 << 28;

/// Sequential sessions have one author; this many replicas take turns at being that one.
const REPLICAS_OF_A_SEQUENTIAL_SESSION: usize = 3;

const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// What the file says, before it is checked.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Recorded {
    #[serde(default)]
    kind: Option<String>,
    #[serde(default)]
    start_content: String,
    end_content: String,
    txns: Vec<RecordedEdit>,
}

#[derive(Deserialize)]
struct RecordedEdit {
    parents: Option<Vec<usize>>,
    agent: Option<u64>,
    patches: Vec<Patch>,
}

impl Session {
    /// Reads a session from a file, gzipped or plain.
    ///
    /// # Errors
    /// [`SessionError`].
    pub fn load(path: &Path) -> Result<Session, SessionError> {
        let bytes = std::fs::read(path).map_err(SessionError::Unreadable)?;
        let name = path.file_name().unwrap_or(path.as_os_str());
        Session::from_bytes(&name.to_string_lossy(), &bytes)
    }

    /// Reads a session from the bytes of a file, gzipped or plain.
    ///
    /// # Errors
    /// [`SessionError`].
    pub fn from_bytes(name: &str, bytes: &[u8]) -> Result<Session, SessionError> {
        let unpacked;
        let json = match bytes.starts_with(&GZIP_MAGIC) {
            true => {
                unpacked = unpack(bytes)?;
                &unpacked
            }
            false => bytes,
        };
        let recorded: Recorded =
            serde_json::from_slice(json).map_err(|error| match error.classify() {
                Category::Eof if !json.trim_ascii().is_empty() => SessionError::CutShort,
                Category::Data => SessionError::NotASession(error.to_string()),
                _ => SessionError::NotJson(error),
            })?;
        recorded.check(name)
    }
}

fn unpack(bytes: &[u8]) -> Result<Vec<u8>, SessionError> {
    let mut unpacked = Vec::new();
    let mut reader = MultiGzDecoder::new(bytes).take(SESSION_BYTES_MAX + 1);
    reader
        .read_to_end(&mut unpacked)
        .map_err(|cause| match cause.kind() {
            std::io::ErrorKind::UnexpectedEof => SessionError::CutShort,
            _ => SessionError::Damaged(cause),
        })?;
    match unpacked.len() as u64 > SESSION_BYTES_MAX {
        true => Err(SessionError::TooLarge),
        false => Ok(unpacked),
    }
}

impl Recorded {
    fn check(self, name: &str) -> Result<Session, SessionError> {
        let named = self.kind.as_deref() == Some("concurrent");
        let concurrent = named || self.txns.iter().any(|txn| txn.parents.is_some());
        let mut edits = Vec::with_capacity(self.txns.len() + 1);
        // The text it starts with is an update like any other, which all others know.
        let shift = usize::from(!self.start_content.is_empty());
        if shift == 1 {
            edits.push(Edit {
                agent: 0,
                parents: Vec::new(),
                patches: vec![Patch::from((0, 0, self.start_content))],
            });
        }
        let mut agents = Agents::default();
        for (index, txn) in self.txns.into_iter().enumerate() {
            edits.push(match concurrent {
                true => concurrent_edit(index, txn, shift, &mut agents)?,
                false => sequential_edit(index + shift, txn),
            });
        }
        let agents = match concurrent {
            true => agents.numbers.len().max(1),
            false => REPLICAS_OF_A_SEQUENTIAL_SESSION,
        };
        Ok(Session {
            name: name.to_owned(),
            concurrent,
            agents,
            edits,
            end: self.end_content,
        })
    }
}

fn sequential_edit(index: usize, txn: RecordedEdit) -> Edit {
    Edit {
        agent: index % REPLICAS_OF_A_SEQUENTIAL_SESSION,
        parents: index.checked_sub(1).into_iter().collect(),
        patches: txn.patches,
    }
}

fn concurrent_edit(
    index: usize,
    txn: RecordedEdit,
    shift: usize,
    agents: &mut Agents,
) -> Result<Edit, SessionError> {
    let lacks = |what| SessionError::NotASession(format!("transaction {index} has no `{what}`"));
    let agent = agents.number(txn.agent.ok_or_else(|| lacks("agent"))?);
    let mut parents = txn.parents.ok_or_else(|| lacks("parents"))?;
    if let Some(late) = parents.iter().find(|parent| **parent >= index) {
        let what = format!("parent {late} of transaction {index} does not come before it");
        return Err(SessionError::NotASession(what));
    }
    parents.iter_mut().for_each(|parent| *parent += shift);
    if shift == 1 && parents.is_empty() {
        parents.push(0);
    }
    Ok(Edit {
        agent,
        parents,
        patches: txn.patches,
    })
}

/// Numbers agents as they appear, so that a file cannot ask for more replicas than it has edits.
#[derive(Default)]
struct Agents {
    numbers: BTreeMap<u64, usize>,
}

impl Agents {
    fn number(&mut self, agent: u64) -> usize {
        let next = self.numbers.len();
        *self.numbers.entry(agent).or_insert(next)
    }
}
