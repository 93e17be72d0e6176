//! What ten times the data costs.
//!
//! Times of one element are set against the std map's growth of the same run; instructions, counted
//! by callgrind, and whole states stand for themselves.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::path::PathBuf;
use std::process::Command;

use commute::codec::Limits;
use commute::{OrSet, State};
use commute_peers::marks::Marks;
use commute_peers::rounds::{best, seconds};

use crate::sets::{BATCH, Ours, element, id, insert, insert_one, ours, remove, remove_one};

const ONE: [&str; 5] = ["insert", "remove", "contains", "edit_one", "absorb_one"];
const WHOLE: [&str; 5] = ["iterate", "encode", "decode", "copy", "merge"];

pub fn measure(marks: &mut Marks, quick: bool) {
    let (small, rounds) = if quick { (10_000, 20) } else { (100_000, 15) };
    let mut sizes = [Sized::new(small), Sized::new(10 * small)];
    let mut lines = [[0.0; 13]; 2];
    for (line, sized) in lines.iter_mut().zip(&mut sizes) {
        *line = best(rounds, || sized.round());
    }
    let [at_small, at_large] = lines;
    let grown = |n: usize| at_large[n] / at_small[n];
    let std = [grown(10), grown(11), grown(12), grown(10), grown(10)];
    for (n, (operation, std)) in ONE.iter().zip(std).enumerate() {
        let name = format!("types.growth.{small}.{operation}.time_per_btree_map");
        marks.at_most(&name, grown(n) / std, 1.25);
    }
    for (n, operation) in WHOLE.iter().enumerate() {
        let name = format!("types.growth.{small}.{operation}.time");
        marks.at_most(&name, grown(ONE.len() + n), 12.0);
    }
    // A run under callgrind takes long where the set is large.
    let sizes = if quick {
        [2_000, 20_000]
    } else {
        [10_000, 100_000]
    };
    for operation in ONE {
        let counts = sizes.map(|size| instructions(operation, size));
        let [Some(small), Some(large)] = counts else {
            println!("info types.growth.{operation}.instructions not counted: no valgrind");
            continue;
        };
        let name = format!("types.growth.{}.{operation}.instructions", sizes[0]);
        marks.at_most(&name, large / small, 1.5);
        marks.info(&format!("{name}.small"), small);
    }
}

struct Sized {
    size: u64,
    set: Ours,
    sending: Ours,
    std: BTreeMap<u64, u64>,
    bytes: Vec<u8>,
    other: State<OrSet<u64>>,
    next: u64,
}

impl Sized {
    fn new(size: u64) -> Sized {
        let set = ours(size);
        let mut other = set.fork_as(id(3));
        insert(&mut other, 5 * size..5 * size + size / 100);
        let mut mine = set.fork_as(id(4));
        insert(&mut mine, 6 * size..6 * size + size / 100);
        Sized {
            size,
            sending: set.fork_as(id(2)),
            set,
            std: (0..size).map(|n| (element(n), n)).collect(),
            bytes: mine.state().to_bytes(),
            other: other.into_state(),
            next: 10 * size,
        }
    }

    /// Times of [`ONE`], of [`WHOLE`], and of the std map's insert, remove and get.
    fn round(&mut self) -> [f64; 13] {
        self.next += BATCH;
        let new = self.next..self.next + BATCH;
        let step = (self.size / BATCH) as usize;
        let some: Vec<u64> = (0..self.size).step_by(step).map(element).collect();
        let deltas: Vec<_> = new
            .clone()
            .map(|n| insert_one(&mut self.sending, n))
            .collect();
        let absorb = seconds(|| {
            deltas.iter().for_each(|delta| {
                black_box(self.set.absorb(delta).expect("honest"));
            });
        });
        remove(&mut self.set, new.clone());
        self.sending.merge(&self.set).expect("honest");
        drop(insert_one(&mut self.sending, 0));
        let insert_time = seconds(|| insert(&mut self.set, new.clone()));
        let remove_time = seconds(|| remove(&mut self.set, new.clone()));
        let one = seconds(|| new.clone().for_each(|n| drop(insert_one(&mut self.set, n))));
        remove(&mut self.set, new.clone());
        let mut mine = self.read();
        [
            insert_time,
            remove_time,
            seconds(|| some.iter().filter(|n| self.set.contains(n)).count()),
            one,
            absorb,
            seconds(|| self.set.iter().fold(0, |sum: u64, n| sum.wrapping_add(*n))),
            seconds(|| self.set.state().to_bytes()),
            seconds(|| self.read()),
            seconds(|| {
                let mut copy = self.set.fork_as(id(9));
                drop(insert_one(&mut copy, self.size));
                copy
            }),
            seconds(|| mine.merge(&self.other).expect("honest")),
            seconds(|| self.std.extend(new.clone().map(|n| (element(n), n)))),
            seconds(|| {
                new.clone()
                    .filter_map(|n| self.std.remove(&element(n)))
                    .count()
            }),
            seconds(|| some.iter().filter(|n| self.std.contains_key(n)).count()),
        ]
    }

    fn read(&self) -> State<OrSet<u64>> {
        State::from_bytes(&self.bytes, &Limits::default()).expect("honest")
    }
}

/// Does `count` operations on a set of `size`.
pub fn probe(operation: &str, size: u64, count: u64) {
    let mut set = ours(size);
    let new = size..size + count;
    match operation {
        "insert" => insert(&mut set, new),
        "remove" => {
            // Twice as many insertions, so that the difference of two counts is that of removals.
            insert(&mut set, size..size + 2 * BATCH);
            remove(&mut set, new);
        }
        "contains" => drop(black_box(
            (0..count).filter(|n| set.contains(&element(*n))).count(),
        )),
        "edit_one" => new.for_each(|n| drop(insert_one(&mut set, n))),
        _ => absorb_probe(set, count),
    }
}

fn absorb_probe(mut set: Ours, count: u64) {
    let mut other = set.fork_as(id(2));
    let size = set.len() as u64;
    let deltas: Vec<_> = (size..size + 2 * BATCH)
        .map(|n| insert_one(&mut other, n))
        .collect();
    drop(remove_one(&mut set, 0));
    for delta in deltas.iter().take(count as usize) {
        black_box(set.absorb(delta).expect("honest"));
    }
}

/// Instructions of one operation: the difference of two runs.
fn instructions(operation: &str, size: u64) -> Option<f64> {
    let more = total(operation, size, 2 * BATCH)?;
    let less = total(operation, size, BATCH)?;
    Some((more - less) / BATCH as f64)
}

fn total(operation: &str, size: u64, count: u64) -> Option<f64> {
    let this: PathBuf = std::env::current_exe().ok()?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(this)
        .args(["probe", operation, &size.to_string(), &count.to_string()])
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let line = text.lines().find(|line| line.contains("Collected"))?;
    line.rsplit(' ').next()?.parse().ok()
}
