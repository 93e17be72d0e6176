//! What the variables `COMMUTE_KIT_*` ask for.

use std::ffi::OsString;
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

impl Environment {
    /// Of this process.
    pub fn new() -> Environment {
        Environment::of(|name| std::env::var_os(name))
    }

    fn of(get: impl Fn(&str) -> Option<OsString>) -> Environment {
        let mut all = Environment::default();
        let mut number = |name: &str, range: RangeInclusive<u64>| {
            let name = format!("COMMUTE_KIT_{name}");
            let value = get(&name)?;
            let text = value.to_str().unwrap_or_default();
            let number = text.parse().ok().filter(|number| range.contains(number));
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
            let text = value.to_str().ok_or("it is not UTF-8".to_string());
            match text.and_then(parse) {
                Ok(schedule) => Some(schedule),
                Err(why) => {
                    all.wrong.push(format!("COMMUTE_KIT_REPLAY: {why}"));
                    None
                }
            }
        });
        let golden = get("COMMUTE_KIT_GOLDEN").and_then(|value| match value.into_string() {
            Ok(release) => Some(release),
            Err(value) => {
                let wrong = format!("COMMUTE_KIT_GOLDEN is {value:?}, not UTF-8");
                all.wrong.push(wrong);
                None
            }
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
