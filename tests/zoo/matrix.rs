//! Which entry is found by which engine: the kill matrix, and how soon random schedules find it.

use std::fmt::Write;
use std::sync::Mutex;

use commute::testkit::Report;

use crate::entry::{Entry, Kind, STEPS, Task};

/// Random schedules that every mutant has to be found within.
const SCHEDULES: u64 = 1_000;

/// Schedules without the meaning of the type: enough to see whether laws alone find it.
const LAWS_SCHEDULES: u64 = 200;

const TABLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/zoo/kill_matrix.txt");

pub fn all() -> Vec<Entry> {
    let families = [
        crate::counters::entries(),
        crate::sets::entries(),
        crate::kept_sets::entries(),
        crate::plain_sets::entries(),
        crate::flags::entries(),
        crate::votes::entries(),
        crate::registers::entries(),
        crate::siblings::entries(),
        crate::extremes::entries(),
        crate::rga::entries(),
        crate::delta_models::entries(),
        crate::contracts::entries(),
        crate::codec::entries(),
        crate::kernel::entries(),
        crate::collection_models::entries(),
        crate::acks::entries(),
    ];
    families.into_iter().flatten().collect()
}

/// What the three engines made of an entry.
struct Row<'a> {
    entry: &'a Entry,
    laws: Report,
    random: Report,
    exhaustive: Report,
}

impl Row<'_> {
    fn of(entry: &Entry) -> Row<'_> {
        let (replicas, steps) = entry.scope;
        Row {
            entry,
            laws: entry.run(&Task::Laws {
                seed: 1,
                schedules: LAWS_SCHEDULES,
            }),
            random: entry.run(&Task::Random {
                seed: 1,
                schedules: SCHEDULES,
                steps: STEPS,
            }),
            exhaustive: entry.run(&Task::Exhaustive { replicas, steps }),
        }
    }

    /// `id  fault  laws-only: J1  random: S1 (3)  exhaustive: S1 (4 steps, 120 states)`
    fn line(&self) -> String {
        let schedules = format!("{}", self.random.schedules());
        let exhaustive = match self.exhaustive.failures().first() {
            Some(found) => {
                let steps = found.schedule.steps.len();
                format!("{steps} steps, {} states", self.exhaustive.states())
            }
            None => String::new(),
        };
        format!(
            "{:<10} {:<64} laws-only: {:<6} random: {:<12} exhaustive: {}",
            self.entry.id,
            self.entry.fault,
            self.cell(&self.laws, ""),
            self.cell(&self.random, &schedules),
            self.cell(&self.exhaustive, &exhaustive),
        )
        .trim_end()
        .into()
    }

    fn cell(&self, report: &Report, details: &str) -> String {
        match report.failures().first() {
            _ if !self.entry.steady => "varies".into(),
            None => "-".into(),
            Some(found) if details.is_empty() => found.broken.law.code().into(),
            Some(found) => format!("{} ({details})", found.broken.law.code()),
        }
    }

    /// What was found and is not found again by the schedule that is printed.
    fn unreplayed(&self) -> Option<String> {
        let reports = [&self.random, &self.exhaustive].into_iter();
        let found = reports.flat_map(|report| report.failures());
        let lost = found.filter(|found| {
            let again = self.entry.run(&Task::Replay(found.schedule.clone()));
            let mut laws = again.failures().iter().map(|again| again.broken.law);
            !laws.any(|law| law == found.broken.law)
        });
        let lost: Vec<String> = lost.map(ToString::to_string).collect();
        let lost = lost.join("\n");
        (!lost.is_empty() && self.entry.steady)
            .then(|| format!("{}: not replayed\n{lost}", self.entry.id))
    }

    /// Says what is not as the kind of the entry demands.
    fn complaint(&self) -> Option<String> {
        let found = |report: &Report| !report.failures().is_empty();
        let complain = |what: &str| Some(format!("{}: {what}", self.entry.id));
        match self.entry.kind {
            Kind::Mutant if !found(&self.random) => complain("not found by random schedules"),
            Kind::Hard if !found(&self.exhaustive) => complain("not found by exhaustive search"),
            Kind::Mutant | Kind::Hard => None,
            Kind::Missed if found(&self.random) || found(&self.exhaustive) => {
                complain("found now: make it a mutant")
            }
            Kind::Missed => None,
            Kind::Equivalent | Kind::Control => {
                let mut reports = [&self.laws, &self.random, &self.exhaustive].into_iter();
                let alarm = reports.find(|report| found(report))?;
                complain(&format!("a false alarm\n{alarm}"))
            }
        }
    }
}

/// Runs `work` on every entry; the results are in the order of the entries.
///
/// One thread starts at the front, one at the back: entries of one type have to take turns.
pub fn on_each<'a, R: Send>(entries: &'a [Entry], work: impl Fn(&'a Entry) -> R + Sync) -> Vec<R> {
    let left = Mutex::new(entries.iter().enumerate());
    let done = Mutex::new(Vec::new());
    let worker = |from_front: bool| {
        let next = || {
            let mut left = left.lock().unwrap();
            match from_front {
                true => left.next(),
                false => left.next_back(),
            }
        };
        while let Some((place, entry)) = next() {
            let result = work(entry);
            done.lock().unwrap().push((place, result));
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(|| worker(true));
        scope.spawn(|| worker(false));
    });
    let mut done = done.into_inner().unwrap();
    done.sort_by_key(|(place, _)| *place);
    done.into_iter().map(|(_, result)| result).collect()
}

#[test]
fn every_fault_is_found_and_nothing_else() {
    let entries = all();
    let rows = on_each(&entries, Row::of);
    let mut table = String::new();
    for row in &rows {
        writeln!(table, "{}", row.line()).unwrap();
    }
    let complaints = rows.iter().filter_map(Row::complaint);
    let complaints: Vec<String> = complaints
        .chain(rows.iter().filter_map(Row::unreplayed))
        .collect();
    assert!(
        complaints.is_empty(),
        "{}\n\n{table}",
        complaints.join("\n")
    );
    if std::env::var_os("COMMUTE_BLESS").is_some() {
        std::fs::write(TABLE, &table).unwrap();
    }
    let golden = std::fs::read_to_string(TABLE).unwrap_or_default();
    for (line, known) in table.lines().zip(golden.lines()) {
        assert_eq!(line, known, "COMMUTE_BLESS=1 rewrites the table");
    }
    assert_eq!(table.lines().count(), golden.lines().count());
    shrinks_well(&rows);
}

/// Where both engines found the same law broken, the shrunk schedule is hardly longer than the
/// shortest one.
fn shrinks_well(rows: &[Row<'_>]) {
    let mut ratios = Vec::new();
    for row in rows {
        let Some(shrunk) = row.random.failures().first() else {
            continue;
        };
        assert!(shrunk.shrink_runs <= 200, "{shrunk}");
        if let Some(shortest) = row.exhaustive.failures().first()
            && shortest.broken.law == shrunk.broken.law
        {
            let [shrunk, shortest] = [shrunk, shortest].map(|found| found.schedule.steps.len());
            ratios.push(shrunk as f64 / shortest.max(1) as f64);
        }
    }
    ratios.sort_by(f64::total_cmp);
    let median = ratios[ratios.len() / 2];
    let at = |part: usize| ratios[(ratios.len() - 1) * part / 20];
    println!(
        "shrunk against shortest, {} faults: median {median:.2}, 95th percentile {:.2}, most {:.2}",
        ratios.len(),
        at(19),
        at(20)
    );
    assert!(ratios.len() > 100 && median <= 1.5, "{ratios:?}");
}

#[test]
fn ids_are_unique() {
    let entries = all();
    let ids: std::collections::BTreeSet<&str> = entries.iter().map(|entry| entry.id).collect();
    assert_eq!(ids.len(), entries.len());
}

/// How many seeds the detection curve has.
const SEEDS: u64 = 40;
/// Where it ends.
const SCHEDULES_MAX: u64 = 5_000;

/// After how many random schedules an entry was found, for each seed; ascending.
fn curve(entry: &Entry) -> Vec<Option<u64>> {
    let found = |seed: u64| {
        let report = entry.run(&Task::Random {
            seed,
            schedules: SCHEDULES_MAX,
            steps: STEPS,
        });
        report.failures().first().map(|_| report.schedules())
    };
    let mut found: Vec<Option<u64>> = (1..=SEEDS).map(found).collect();
    found.sort_by_key(|found| found.unwrap_or(u64::MAX));
    found
}

/// Prints the table of the detection curve, for `tests/long detection`.
#[test]
#[ignore = "minutes"]
fn detection_curve() {
    let mut entries = all();
    for hard in entries.iter().filter(|entry| entry.kind == Kind::Hard) {
        println!("hard: {}, {}", hard.id, hard.fault);
    }
    entries.retain(|entry| entry.kind == Kind::Mutant);
    // For a look at some of them only.
    if let Ok(only) = std::env::var("COMMUTE_LONG_ONLY") {
        entries.retain(|entry| only.split(',').any(|id| id == entry.id));
    }
    let curves = on_each(&entries, curve);
    println!("| id | fault | median | p95 | missed |");
    println!("|---|---|---|---|---|");
    for (entry, curve) in entries.iter().zip(&curves) {
        let part = |percent: usize| match curve[(curve.len() * percent).div_ceil(100) - 1] {
            Some(schedules) => schedules.to_string(),
            None => format!("> {SCHEDULES_MAX}"),
        };
        let missed = curve.iter().filter(|found| found.is_none()).count();
        println!(
            "| {} | {} | {} | {} | {missed} |",
            entry.id,
            entry.fault,
            part(50),
            part(95)
        );
    }
}
