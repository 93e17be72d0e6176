//! What the variables `COMMUTE_KIT_*` ask for.

use std::ffi::{OsStr, OsString};
use std::ops::RangeInclusive;
use std::time::Duration;

use super::regressions::{STEPS_MAX, parse};
use super::schedule::Schedule;

/// What suites are asked for from outside.
#[derive(Default)]
pub(crate) struct Environment {
    pub seed: Option<u64>,
    pub schedules: Option<u64>,
    pub steps: Option<usize>,
    pub time: Option<Duration>,
    pub replay: Option<Schedule>,
    /// The release as whose bytes some states are written down.
    pub golden: Option<String>,
    /// What could not be read, each with the name of its variable.
    pub wrong: Vec<String>,
}

/// All there are, without what they begin with.
const NAMES: [&str; 6] = ["SEED", "SCHEDULES", "STEPS", "SECONDS", "REPLAY", "GOLDEN"];

/// The schedule that is to be run instead of any search, or why it cannot be.
pub(crate) fn replay_asked() -> Option<Result<Schedule, String>> {
    Some(replay_of(&std::env::var_os("COMMUTE_KIT_REPLAY")?))
}

fn replay_of(value: &OsStr) -> Result<Schedule, String> {
    let text = value.to_str().ok_or("it is not UTF-8".to_string());
    let schedule = text.and_then(parse);
    schedule.map_err(|why| format!("COMMUTE_KIT_REPLAY: {why}"))
}

impl Environment {
    /// Of this process.
    pub fn new() -> Environment {
        let mut all = Environment::of(|name| std::env::var_os(name));
        let names = std::env::vars_os().map(|(name, _)| name);
        all.wrong.extend(names.filter_map(|name| stray(&name)));
        all
    }

    fn of(get: impl Fn(&str) -> Option<OsString>) -> Environment {
        let mut all = Environment::default();
        let mut number = |name: &str, range: RangeInclusive<u64>| {
            let name = format!("COMMUTE_KIT_{name}");
            let value = get(&name)?;
            let text = value.to_str().unwrap_or_default();
            let plain = text.bytes().all(|byte| byte.is_ascii_digit());
            let number = text.parse().ok().filter(|number| range.contains(number));
            let number = number.filter(|_| plain);
            if number.is_none() {
                let (least, most) = range.into_inner();
                all.wrong.push(format!(
                    "{name} is {value:?}, not a number from {least} to {most} in plain digits"
                ));
            }
            number
        };
        let seed = number("SEED", 0..=u64::MAX);
        let schedules = number("SCHEDULES", 1..=u64::MAX);
        let steps = number("STEPS", 1..=STEPS_MAX as u64);
        // A longer time than a hundred years is a mistake.
        let time = number("SECONDS", 1..=3_000_000_000);
        let replay = get("COMMUTE_KIT_REPLAY").and_then(|value| {
            let schedule = replay_of(&value);
            schedule.map_err(|why| all.wrong.push(why)).ok()
        });
        let golden = get("COMMUTE_KIT_GOLDEN").and_then(|value| {
            let release = value.to_str().filter(|text| is_release(text));
            if release.is_none() {
                let wrong = format!(
                    "COMMUTE_KIT_GOLDEN is {value:?}, not a name of letters, digits, `.`, `_`, `-`"
                );
                all.wrong.push(wrong);
            }
            release.map(String::from)
        });
        Environment {
            golden,
            seed,
            schedules,
            steps: steps.map(|steps| steps as usize),
            time: time.map(Duration::from_secs),
            replay,
            wrong: all.wrong,
        }
    }
}

/// What is wrong with a variable of this name; `None` if nothing is.
fn stray(name: &OsStr) -> Option<String> {
    let name = name.to_string_lossy();
    let rest = name.strip_prefix("COMMUTE_KIT_")?;
    let known = NAMES.contains(&rest);
    (!known).then(|| format!("COMMUTE_KIT_{rest} is no variable of the kit; there are {NAMES:?}"))
}

/// A name that is one part of a path: files are named after it.
fn is_release(text: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || ['_', '-', '.'].contains(&c);
    text.chars().all(plain) && text.starts_with(char::is_alphanumeric)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(name: &str, value: impl Into<OsString>) -> Environment {
        let value = value.into();
        let name = format!("COMMUTE_KIT_{name}");
        Environment::of(|asked| (asked == name).then(|| value.clone()))
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        assert!(Environment::of(|_| None).wrong.is_empty());
        assert_eq!(with("SEED", "0").seed, Some(0));
        assert_eq!(with("STEPS", "40").steps, Some(40));
        assert_eq!(with("GOLDEN", "v1.2").golden.as_deref(), Some("v1.2"));
        for (name, wrong) in [("SEED", false), ("SEEDS", true), ("seed", true)] {
            let stray = stray(OsStr::new(&format!("COMMUTE_KIT_{name}")));
            assert_eq!(stray.is_some(), wrong, "{name}");
        }
        assert_eq!(stray(OsStr::new("COMMUTE_TRACES")), None);
        let replay = with("REPLAY", "k1 n2 | 0:do 1").replay;
        assert_eq!(replay.map(|replay| replay.steps.len()), Some(1));
        let wrong = [
            ("SEED", "-5"),
            ("SEED", "0x10"),
            ("SEED", ""),
            ("SCHEDULES", "1_000_000"),
            ("SCHEDULES", "0"),
            ("STEPS", "18446744073709551615"),
            ("STEPS", "0"),
            ("SECONDS", "1h"),
            ("SECONDS", "0"),
            ("REPLAY", "k1 n2 | 0:fly"),
            ("SEED", "+5"),
            ("GOLDEN", ""),
            ("GOLDEN", "../v1"),
            ("GOLDEN", "/tmp/v1"),
            ("GOLDEN", ".v1"),
        ];
        for (name, value) in wrong {
            let wrong = with(name, value).wrong;
            assert_eq!(wrong.len(), 1, "{name}={value}");
            assert!(
                wrong[0].contains(&format!("COMMUTE_KIT_{name}")),
                "{wrong:?}"
            );
        }
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_text_is_named() {
        use std::os::unix::ffi::OsStringExt;
        for name in ["SEED", "REPLAY", "GOLDEN"] {
            let wrong = with(name, OsString::from_vec(vec![b'1', 0xff])).wrong;
            assert!(wrong[0].contains(name), "{wrong:?}");
        }
    }
}
