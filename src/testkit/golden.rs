//! Bytes of older releases, with what they showed (law P4).

use std::fmt::Write as _;
use std::io::ErrorKind;
use std::path::Path;

use super::erased::DynSubject;
use super::failure::{Broken, Failure};
use super::law::Law;
use super::plain_file::text_of;
use super::run::guarded;
use super::schedule::Schedule;
use super::story::Story;
use super::table::Table;
use super::world::{Checked, Effort, World, broken};

/// States that releases wrote, each with the view that it showed then: every later release must
/// read the bytes as that view (P4).
///
/// # Examples
/// `Capabilities::<MyType>::new().state().encoded().golden(golden)`, where `golden` is
/// ```
/// use commute::testkit::Golden;
///
/// let golden = Golden::new().with("v1: an empty set", &[0, 0], "{}");
/// assert_eq!(golden.len(), 1);
/// ```
/// or a folder of files, as a [`Suite`](super::Suite) writes them.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Golden {
    vectors: Vec<Vector>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Vector {
    name: String,
    bytes: Vec<u8>,
    view: String,
}

impl Golden {
    /// None.
    pub fn new() -> Golden {
        Golden::default()
    }

    /// With `bytes`, which showed `view`, the view's `Debug` text.
    #[must_use]
    pub fn with(mut self, name: &str, bytes: &[u8], view: &str) -> Golden {
        self.vectors.push(Vector {
            name: name.into(),
            bytes: bytes.into(),
            view: view.into(),
        });
        self
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.vectors.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.vectors.is_empty()
    }

    /// Those in the `.txt` files of `folder`, by name; none if there is no such folder.
    ///
    /// A file has a line `view {0, 1}`, the view's `Debug` text, and a line `bytes 00 1f`; lines that
    /// start with `#` are comments.
    ///
    /// # Errors
    /// Names the file that cannot be read.
    pub fn read(folder: &Path) -> Result<Golden, String> {
        let entries = match std::fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Golden::new()),
            Err(error) => return Err(format!("{}: {error}", folder.display())),
        };
        let mut files: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
        files.retain(|file| file.extension().is_some_and(|end| end == "txt"));
        files.sort_unstable();
        let mut golden = Golden::new();
        for file in files {
            let wrong = |what: &str| format!("{}: {what}", file.display());
            let text = text_of(&file).map_err(|error| wrong(&error))?;
            let line = |word: &str| text.lines().find_map(|line| line.strip_prefix(word));
            let view = line("view ").ok_or_else(|| wrong("no line `view`"))?;
            let bytes = line("bytes").and_then(unhex);
            let bytes = bytes.ok_or_else(|| wrong("no line `bytes` in hexadecimal"))?;
            let name = file.file_stem().unwrap_or_default().to_string_lossy();
            golden = golden.with(&name, &bytes, view);
        }
        Ok(golden)
    }
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let bytes = text.split_whitespace();
    bytes.map(|two| u8::from_str_radix(two, 16).ok()).collect()
}

/// The text of its view, on one line.
fn shown(subject: &DynSubject) -> String {
    let text = format!("{:?}", subject.view());
    text.replace('\n', "\\n").replace('\r', "\\r")
}

/// The text of a file for a state that shows `view`.
fn as_text(bytes: &[u8], view: &str) -> String {
    let mut text = format!("view {view}\nbytes");
    for byte in bytes {
        let _ = write!(text, " {byte:02x}");
    }
    text + "\n"
}

/// Reads all that is golden; the first that is not read as what it showed is a broken law.
pub(crate) fn check_golden(can: &Table) -> Option<Failure> {
    let table = can.bytes?;
    let check = |vector: &Vector| {
        let read = (table.decode)(&vector.bytes, World::observer());
        let got = match read {
            Ok(read) => shown(&read),
            Err(error) => format!("refused: {}", error.0),
        };
        match got == vector.view {
            true => Ok(()),
            false => Err(broken(Law::P4, None, got, vector.view.clone())),
        }
    };
    let mut all = can.golden.vectors.iter();
    all.find_map(|vector| {
        let mut broken = guarded(|| check(vector)).err()?;
        broken.law = Law::P4;
        broken.why = format!("the bytes of {}: {:02x?}", vector.name, vector.bytes);
        Some(failure(can, *broken))
    })
}

/// A failure that no steps are needed for.
fn failure(can: &Table, broken: Broken) -> Failure {
    Failure {
        subject: (can.name)(),
        broken,
        schedule: Schedule {
            law: Some(Law::P4),
            ..Schedule::default()
        },
        story: Story::default(),
        minimal: true,
        shrink_runs: 0,
        searched: "the bytes of older releases".into(),
    }
}

/// Writes what the replicas of `schedules` have come to into `folder`, under the name of a release;
/// never over a file that is there.
pub(crate) fn write_golden(
    can: &Table,
    schedules: impl Iterator<Item = Schedule>,
    folder: &Path,
    release: &str,
) -> Result<(), String> {
    let Some(table) = can.bytes else {
        return Ok(());
    };
    std::fs::create_dir_all(folder).map_err(|e| e.to_string())?;
    for (at, schedule) in schedules.enumerate() {
        let subject = last_state(can, &schedule).map_err(|broken| broken.got)?;
        let bytes = (table.encode)(&subject);
        let view = shown(&subject);
        let read = guarded(|| Ok((table.decode)(&bytes, World::observer())));
        let read = read.map_err(|broken| broken.got)?;
        if read.is_ok_and(|read| shown(&read) != view) {
            return Err(format!(
                "what is read back prints another view than {view}: give the view a `Debug` text \
                 that is the same each time"
            ));
        }
        let text = as_text(&bytes, &view);
        let file = folder.join(format!("{release}-{at}.txt"));
        if file.exists() {
            return Err(format!("{} is there already", file.display()));
        }
        std::fs::write(file, text).map_err(|e| e.to_string())?;
    }
    Ok(())
}

/// The first replica after `schedule`.
fn last_state(can: &Table, schedule: &Schedule) -> Checked<DynSubject> {
    let effort = Effort {
        laws: super::Laws::NONE,
        every: u64::MAX,
        history: false,
    };
    guarded(|| {
        let can = std::rc::Rc::new(can.clone());
        let mut world = World::new(can, schedule.replicas, effort);
        for step in &schedule.steps {
            world.perform(*step)?;
        }
        Ok(world.nodes[0].subject.duplicate())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let text = as_text(&[0, 0x1f, 0xff], "{\"a\"}");
        assert_eq!(text, "view {\"a\"}\nbytes 00 1f ff\n");
        let folder = std::env::temp_dir().join(format!("commute-golden-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("v1-0.txt"), format!("# the first\n{text}")).unwrap();
        let golden = Golden::read(&folder);
        let expected = Golden::new().with("v1-0", &[0, 0x1f, 0xff], "{\"a\"}");
        assert_eq!(golden, Ok(expected));
        std::fs::write(folder.join("v1-1.txt"), "view {}\nbytes 0g\n").unwrap();
        assert!(Golden::read(&folder).is_err());
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(Golden::read(&folder), Ok(Golden::new()));
    }
}
