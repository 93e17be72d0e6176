//! Schedules: generation and text.

use std::fmt;
use std::str::FromStr;

use super::rng::Rng;
use super::step::{Step, VERBS, Verb};

/// How large the random schedules of a suite are.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub replicas: u32,
    pub steps: usize,
}

impl Shape {
    /// Mostly three replicas, at times more.
    pub const fn of(seed: u64) -> Shape {
        Shape {
            replicas: if seed.is_multiple_of(8) { 5 } else { 3 },
            steps: 48,
        }
    }
}

/// The steps of one run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Schedule {
    pub replicas: u32,
    pub steps: Vec<Step>,
}

impl Schedule {
    /// The schedule of `seed`.
    ///
    /// Every other one is of the swarm kind: half of the verbs are off, the others weigh
    /// differently, and there are fewer replicas. Half of these move nothing but deltas, and groups
    /// above all. It finds what needs long silence or one-sided traffic.
    /// Source: Groce et al. 2012, "Swarm testing".
    pub fn random(seed: u64, shape: Shape) -> Schedule {
        let mut rng = Rng::new(seed);
        let swarm = rng.below(2) == 1;
        let deltas_only = swarm && rng.below(2) == 1;
        let weights = VERBS.map(|(verb, _, _, weight)| match verb {
            _ if !swarm => weight,
            Verb::Do => weight * (1 + rng.below(2)),
            Verb::Group | Verb::Pull if deltas_only => 2 * weight,
            _ if deltas_only && !verb.moves_deltas() => 0,
            _ => weight * rng.below(2) * (1 + rng.below(4)),
        });
        let replicas = match swarm {
            true => 2 + rng.below(u64::from(shape.replicas) - 1) as u32,
            false => shape.replicas,
        };
        let steps = 1 + rng.index(shape.steps);
        let steps = shape.steps.div_ceil(2).max(steps);
        let step = |_| random_step(&mut rng, &weights, replicas);
        Schedule {
            replicas,
            steps: (0..steps).map(step).collect(),
        }
    }
}

fn random_step(rng: &mut Rng, weights: &[u64], replicas: u32) -> Step {
    let mut left = rng.below(weights.iter().sum());
    let chosen = weights.iter().position(|weight| {
        let hit = left < *weight;
        left = left.saturating_sub(*weight);
        hit
    });
    let verb = VERBS[chosen.unwrap_or(0)].0;
    let most = match verb {
        Verb::Do | Verb::Fail | Verb::Group | Verb::Cut => 1 << 20,
        Verb::Split => 1 << replicas,
        _ => 32,
    };
    // The first replicas do more, so that one-sided histories come about.
    let at = match rng.below(2) {
        0 => rng.below(u64::from(replicas)),
        _ => rng.below(u64::from(replicas).min(2)),
    };
    let mut step = Step {
        verb,
        at: at as u32,
        args: [0; 2],
    };
    for arg in step.args.iter_mut().take(verb.arity()) {
        *arg = rng.below(most) as u32;
    }
    // Where an argument is a replica it is written as one.
    if matches!(
        verb,
        Verb::Answer
            | Verb::AnswerBytes
            | Verb::Take
            | Verb::Again
            | Verb::Sync
            | Verb::Merge
            | Verb::Relay
    ) {
        // Another one, most of the time.
        let others = u64::from(replicas.saturating_sub(1).max(1));
        step.args[0] = (step.at + 1 + rng.below(others) as u32) % replicas;
    }
    if verb == Verb::Relay {
        step.args[1] %= replicas;
    }
    step
}

/// `k1 n3 | 0:do 17 | 1:pull 0`: the format, the number of replicas, the steps.
impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "k1 n{}", self.replicas)?;
        self.steps
            .iter()
            .try_for_each(|step| write!(f, " | {step}"))
    }
}

impl FromStr for Schedule {
    type Err = String;

    fn from_str(text: &str) -> Result<Schedule, String> {
        let mut parts = text.trim().split('|');
        let head = parts.next().unwrap_or_default().trim();
        let replicas = head.strip_prefix("k1 n").and_then(|n| n.parse().ok());
        let replicas = replicas.filter(|n| (1..=64).contains(n));
        Ok(Schedule {
            replicas: replicas.ok_or_else(|| format!("not a schedule: {head:?}"))?,
            steps: parts.map(str::parse).collect::<Result<_, _>>()?,
        })
    }
}

#[test]
fn a_schedule_is_printed_and_parsed() {
    for seed in 0..50 {
        let shape = Shape {
            replicas: 4,
            steps: 40,
        };
        let schedule = Schedule::random(seed, shape);
        assert_eq!(schedule.to_string().parse(), Ok(schedule));
    }
    let text = "k1 n3 | 0:do 17 | 1:take 0 2 | 2:crash";
    assert_eq!(text.parse::<Schedule>().unwrap().to_string(), text);
    for wrong in [
        "",
        "k2 n3",
        "k1 n0",
        "k1 n3 | 0:do",
        "k1 n3 | 0:heal 1",
        "k1 n3 | x",
    ] {
        assert!(wrong.parse::<Schedule>().is_err(), "{wrong}");
    }
}
