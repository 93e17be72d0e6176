//! The folder of schedules that failed once.

use std::fmt::Write as _;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::failure::Failure;
use super::law::Law;
use super::plain_file::text_of;
use super::schedule::Schedule;

/// The most steps of a schedule from outside: a run compares each state with those before.
pub(crate) const STEPS_MAX: usize = 10_000;
/// The most files of one law.
const FILES_MAX: usize = 20;

/// A schedule from a file or a variable.
pub(crate) fn parse(text: &str) -> Result<Schedule, String> {
    let schedule: Schedule = text.parse().map_err(|error| format!("{error}"))?;
    match schedule.steps.len() {
        0..=STEPS_MAX => Ok(schedule),
        len => Err(format!(
            "a schedule of {len} steps; at most {STEPS_MAX} are run"
        )),
    }
}

/// One file: where it is, and its schedule or why it cannot be run.
pub(crate) type Kept = (PathBuf, Result<Schedule, String>);

/// The folder of one suite.
pub(crate) struct Regressions {
    folder: PathBuf,
    /// Whether new files are written.
    writes: bool,
}

impl Regressions {
    /// Of the suite `name` of the package in `package`.
    pub fn new(package: &Path, name: &str) -> Regressions {
        Regressions {
            folder: package.join("tests/regressions").join(plain(name)),
            // Only beside other tests: not where a package was unpacked to be read.
            writes: package.join("tests").is_dir(),
        }
    }

    /// What failed once, in the order of the names of the files.
    pub fn read(&self) -> Vec<Kept> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Vec::new(),
            Err(error) => return vec![(self.folder.clone(), Err(error.to_string()))],
        };
        let paths = entries.flatten().map(|entry| entry.path());
        let is_text = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "txt");
        let mut paths: Vec<PathBuf> = paths.filter(is_text).collect();
        paths.sort_unstable();
        let each = paths.into_iter().map(|path| {
            let schedule = read(&path);
            (path, schedule)
        });
        each.collect()
    }

    /// Writes down what failed, to be run first from now on, unless a file has it already.
    pub fn remember(&self, failures: &[Failure]) {
        if !self.writes || failures.is_empty() {
            return;
        }
        let known: Vec<Schedule> = self.read().into_iter().flat_map(|(_, kept)| kept).collect();
        let _ = fs::create_dir_all(&self.folder);
        let new = |failure: &&Failure| {
            let same = |kept: &Schedule| {
                (kept.replicas, &kept.steps) == (failure.schedule.replicas, &failure.schedule.steps)
            };
            // What older releases wrote is no matter of steps.
            let runs = failure.broken.law != Law::P4;
            runs && failure.schedule.steps.len() <= STEPS_MAX && !known.iter().any(same)
        };
        for failure in failures.iter().filter(new) {
            let code = failure.broken.law.code();
            let names = (1..=FILES_MAX).map(|number| match number {
                1 => format!("{code}.txt"),
                _ => format!("{code}-{number}.txt"),
            });
            let mut paths = names.map(|name| self.folder.join(name));
            // `symlink_metadata`: a link to nowhere is there, too.
            let free = paths.find(|path| path.symlink_metadata().is_err());
            if let Some(path) = free {
                let _ = fs::write(path, as_lines(failure));
            }
        }
    }
}

fn read(path: &Path) -> Result<Schedule, String> {
    parse(&text_of(path)?)
}

/// A name that is one part of a path everywhere.
pub(crate) fn plain(name: &str) -> String {
    let name: String = name
        .chars()
        .map(|c| match c.is_alphanumeric() || c == '_' || c == '-' {
            true => c,
            false => '_',
        })
        .collect();
    match name.is_empty() {
        true => "_".into(),
        false => name,
    }
}

fn as_lines(failure: &Failure) -> String {
    let schedule = &failure.schedule;
    let subject: Vec<&str> = failure.subject.split_whitespace().collect();
    let mut text = format!(
        "# {}   {}\n{}\n",
        subject.join(" "),
        failure.broken.law,
        schedule.head()
    );
    for step in &schedule.steps {
        let _ = writeln!(text, "{step}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::{Broken, Story};

    fn failure(schedule: &str) -> Failure {
        Failure {
            subject: "Map<K,\n    V>".into(),
            broken: Broken {
                law: Law::J3,
                at: None,
                got: String::new(),
                expected: String::new(),
                why: String::new(),
            },
            schedule: schedule.parse().unwrap(),
            story: Story::default(),
            minimal: false,
            shrink_runs: 0,
            searched: String::new(),
        }
    }

    /// An empty package that is removed in the end.
    struct Package(PathBuf);

    impl Package {
        fn new(name: &str) -> Package {
            let name = format!("commute-testkit-{}-{name}", std::process::id());
            let package = Package(std::env::temp_dir().join(name));
            fs::create_dir_all(package.0.join("tests/regressions")).unwrap();
            package
        }

        fn suite(&self) -> Regressions {
            Regressions::new(&self.0, "x/../y\nz")
        }

        fn file(&self, name: &str) -> PathBuf {
            self.0.join("tests/regressions/x____y_z").join(name)
        }
    }

    impl Drop for Package {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn each_new_failure_is_written_once() {
        let package = Package::new("new");
        let suite = package.suite();
        assert!(suite.read().is_empty());
        suite.remember(&[failure("k1 n2 | 0:do 1")]);
        suite.remember(&[failure("k1 n2 law=J3 | 0:do 1")]);
        suite.remember(&[failure("k1 n2 | 0:do 2")]);
        let names: Vec<PathBuf> = suite.read().into_iter().map(|(path, _)| path).collect();
        assert_eq!(names, ["J3-2.txt", "J3.txt"].map(|name| package.file(name)));
        assert!(suite.read().iter().all(|(_, kept)| kept.is_ok()));
    }

    #[test]
    fn what_is_no_schedule_is_an_error() {
        let package = Package::new("wrong");
        let suite = package.suite();
        suite.remember(&[failure("k1 n2 | 0:do 1")]);
        let long = format!("k1 n2\n{}", "0:do 1\n".repeat(STEPS_MAX + 1));
        fs::write(package.file("a.txt"), long).unwrap();
        fs::write(package.file("b.txt"), [0xff, 0xfe]).unwrap();
        fs::create_dir(package.file("c.txt")).unwrap();
        fs::write(package.file("d.txt"), "\u{feff}k1 n2\r\n0:do 1\r\n").unwrap();
        let kept: Vec<Option<String>> = suite.read().into_iter().map(|(_, it)| it.err()).collect();
        assert!(
            kept[1].as_ref().unwrap().contains("10001 steps"),
            "{kept:?}"
        );
        assert!(kept[2].is_some() && kept[4].is_none(), "{kept:?}");
        assert_eq!(kept[3].as_deref(), Some("not a plain file"));
        fs::remove_dir_all(package.file("")).unwrap();
        fs::write(package.file("").parent().unwrap().join("x____y_z"), "").unwrap();
        assert!(suite.read()[0].1.is_err());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_not_followed() {
        let package = Package::new("link");
        let suite = package.suite();
        suite.remember(&[failure("k1 n2 | 0:do 1")]);
        std::os::unix::fs::symlink("/dev/zero", package.file("a.txt")).unwrap();
        let kept = suite.read();
        assert!(kept.iter().any(|(_, it)| it.is_err()), "{}", kept.len());
    }
}
