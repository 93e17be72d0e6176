//! Schedules: generation and text.

use std::fmt;
use std::str::FromStr;

use super::law::Law;
use super::source::Source;
use super::step::{NotASchedule, Step, Verb};

/// Most replicas a schedule may start with.
pub(crate) const REPLICAS_MAX: u32 = 64;

/// The steps of one run.
///
/// Its text replays it: `k1 n3 | 0:do 17 | 0>1` is the format, the number of replicas, the steps. A
/// step may stand on a line of its own, `#` starts a comment. `k1 n3 law=J7 | ...` is judged by law
/// J7 first: other laws break sooner in this run. `Debug` gives the same text.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Schedule {
    /// How many replicas there are at the start, 1 to 64.
    pub replicas: u32,
    /// The law that it was found to break, where another one breaks sooner.
    pub law: Option<Law>,
    /// What they do, in this order.
    pub steps: Vec<Step>,
}

/// One replica that does nothing.
impl Default for Schedule {
    fn default() -> Schedule {
        Schedule {
            replicas: 1,
            law: None,
            steps: Vec::new(),
        }
    }
}

/// How schedules are drawn.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    pub replicas: u32,
    pub steps: usize,
    /// Verbs that the type can do and that are asked for, with their weights.
    pub weights: Vec<(Verb, u64)>,
}

impl Schedule {
    /// Draws a schedule.
    ///
    /// Half of them use all verbs, by weight; of these every fourth is rich in collections, every fourth
    /// in crashes. The others are of the swarm kind: half of the verbs are off, the rest are skewed, and
    /// there may be fewer replicas; half of these move nothing but single updates. That finds what
    /// needs long silence or one-sided traffic. Source: Groce et al. 2012, "Swarm testing".
    pub(crate) fn draw(source: &mut Source<'_>, shape: &Shape) -> Schedule {
        let style = source.below(8);
        let swarm = style % 2 == 1;
        let updates_only = swarm && style % 4 == 1;
        let weights: Vec<(Verb, u64)> = shape
            .weights
            .iter()
            .map(|(verb, weight)| (*verb, skew(*verb, *weight, style, updates_only, source)))
            .collect();
        let replicas = match swarm && shape.replicas > 2 {
            true => 2 + source.below(u64::from(shape.replicas) - 1) as u32,
            // Some faults take a crowd.
            false if shape.replicas > 2 && source.below(8) == 0 => {
                (shape.replicas + 2).min(REPLICAS_MAX)
            }
            false => shape.replicas,
        };
        let most = shape.steps.max(1) as u64;
        let steps = most.div_ceil(2) + source.below(most / 2 + 1);
        let total: u64 = weights.iter().map(|(_, weight)| weight).sum();
        Schedule {
            replicas,
            law: None,
            steps: (0..steps.min(most))
                .map(|_| draw_step(source, &weights, total, replicas))
                .collect(),
        }
    }
}

fn skew(verb: Verb, weight: u64, style: u64, updates_only: bool, source: &mut Source<'_>) -> u64 {
    match verb {
        // Collections, and acknowledgements before them: what comes after a collection is rare else.
        Verb::Collect if style == 2 => 4 * weight,
        Verb::Merge | Verb::Sync if style == 2 => 2 * weight,
        Verb::Do if style == 2 => weight * 2 / 3,
        // Crashes and what comes after them.
        Verb::Resume if style == 4 => 8 * weight,
        Verb::Save | Verb::Crash | Verb::Restart if style == 4 => 2 * weight,
        _ if style.is_multiple_of(2) => weight,
        Verb::Do => weight * (1 + source.below(2)),
        Verb::Group if updates_only => 3 * weight,
        Verb::Pull if updates_only => 2 * weight,
        Verb::Collect if updates_only => weight,
        _ if updates_only && !verb.moves_updates() => 0,
        _ => weight * source.below(2) * (1 + source.below(4)),
    }
}

fn draw_step(source: &mut Source<'_>, weights: &[(Verb, u64)], total: u64, replicas: u32) -> Step {
    let mut left = source.below(total);
    let chosen = weights.iter().find(|(_, weight)| {
        let hit = left < *weight;
        left = left.saturating_sub(*weight);
        hit
    });
    let verb = chosen.map_or(Verb::Do, |(verb, _)| *verb);
    // The first replicas do more, so that one-sided histories come about.
    let few = match source.below(2) {
        0 => replicas,
        _ => replicas.min(2),
    };
    let at = source.below(u64::from(few)) as u32;
    let mut step = Step::new(verb, at, [0; 2]);
    let most = match verb {
        Verb::Do | Verb::Tick => 1 << 32,
        Verb::Group | Verb::Cut => 1 << 20,
        Verb::Split => 1 << replicas.min(20),
        _ => 32,
    };
    for arg in step.args.iter_mut().take(verb.arity()) {
        *arg = source.below(most) as u32;
    }
    if verb.names_replica() {
        let others = u64::from(replicas.saturating_sub(1).max(1));
        step.args[0] = (step.at + 1 + source.below(others) as u32) % replicas;
    }
    step
}

impl Schedule {
    /// Its text without the steps.
    pub(crate) fn head(&self) -> String {
        let law = self.law.map(|law| format!(" law={}", law.code()));
        format!("k1 n{}{}", self.replicas, law.unwrap_or_default())
    }
}

/// The format, the number of replicas, and the law if there is one.
fn parse_head(head: &str) -> Option<(u32, Option<Law>)> {
    let mut words = head.strip_prefix("k1 ")?.split_whitespace();
    let replicas = words.next()?.strip_prefix('n')?.parse().ok()?;
    let law = match words.next() {
        None => None,
        Some(word) => {
            let code = word.strip_prefix("law=")?;
            Some(*Law::ALL.iter().find(|law| law.code() == code)?)
        }
    };
    let fits = (1..=REPLICAS_MAX).contains(&replicas) && words.next().is_none();
    fits.then_some((replicas, law))
}

impl fmt::Debug for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.head())?;
        self.steps
            .iter()
            .try_for_each(|step| write!(f, " | {step}"))
    }
}

impl FromStr for Schedule {
    type Err = NotASchedule;

    fn from_str(text: &str) -> Result<Schedule, NotASchedule> {
        // Some editors put a byte order mark before a text.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let lines = text
            .lines()
            .map(|line| line.split('#').next().unwrap_or(""));
        let mut parts = lines
            .flat_map(|line| line.split('|'))
            .map(str::trim)
            .filter(|part| !part.is_empty());
        let head = parts.next().unwrap_or_default();
        let wrong = || NotASchedule { part: head.into() };
        let (replicas, law) = parse_head(head).ok_or_else(wrong)?;
        Ok(Schedule {
            replicas,
            law,
            steps: parts.map(str::parse).collect::<Result<_, _>>()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schedule_is_printed_and_parsed() {
        for seed in 0..200 {
            let shape = Shape {
                replicas: 4,
                steps: 40,
                weights: Verb::ALL.iter().map(|verb| (*verb, 1)).collect(),
            };
            let schedule = Schedule::draw(&mut Source::random(seed), &shape);
            assert_eq!(schedule.to_string().parse(), Ok(schedule));
        }
        let text = "k1 n3 | 0:do 17 | 0>2 | 1~0 | 1:take 0 2 | 2:crash";
        assert_eq!(text.parse::<Schedule>().unwrap().to_string(), text);
        let lines =
            "# found on a Monday\nk1 n3\n0:do 17 # adds\n\n0>2 | 1~0\n1:take 0 2\n2:crash\n";
        assert_eq!(lines.parse::<Schedule>().unwrap().to_string(), text);
        let one_law = "k1 n3 law=J7 | 0:do 17 | 0>2";
        let parsed: Schedule = format!("\u{feff}{one_law}").parse().unwrap();
        assert_eq!(
            (parsed.law, format!("{parsed:?}")),
            (Some(Law::J7), one_law.into())
        );
        for wrong in [
            "k1 n3 law=J99",
            "k1 n3 J7",
            "",
            "k2 n3",
            "k1 n0",
            "k1 n65",
            "k1 n3 | 0:do",
            "k1 n3 | 0:heal 1",
            "k1 n3 | x",
            "k1 n3 | 0>",
        ] {
            assert!(wrong.parse::<Schedule>().is_err(), "{wrong}");
        }
    }
}
