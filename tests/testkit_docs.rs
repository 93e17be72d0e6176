//! `docs/testkit.md` lists every law and every step, in the words of the code.
#![cfg(feature = "testkit")]

use commute::testkit::{Law, Step, Verb};

const GUIDE: &str = include_str!("../docs/testkit.md");

/// The first two cells of each row of the table below `heading`, without backquotes.
fn rows(heading: &str) -> Vec<(String, String)> {
    let (_, section) = GUIDE.split_once(heading).unwrap_or_default();
    let table = section.lines().skip_while(|line| !line.starts_with("|--"));
    let rows = table.skip(1).take_while(|line| line.starts_with('|'));
    let cells = |line: &str| {
        let mut cells = line.split('|').skip(1).map(|cell| cell.trim().to_string());
        let first = cells.next().unwrap_or_default().replace('`', "");
        (first, cells.next().unwrap_or_default())
    };
    rows.map(cells).collect()
}

#[test]
fn every_law_is_in_the_guide() {
    let laws = Law::ALL.iter();
    let expected: Vec<_> = laws
        .map(|law| (law.code().to_string(), law.title().to_string()))
        .collect();
    assert_eq!(rows("\n## The laws\n"), expected);
}

#[test]
fn every_verb_is_in_the_guide() {
    let names: Vec<String> = Verb::ALL.iter().map(|verb| verb.name().into()).collect();
    let rows = rows("\n## The step language\n");
    let listed: Vec<String> = rows.iter().map(|(name, _)| name.clone()).collect();
    assert_eq!(listed, names);
    for (verb, (name, form)) in Verb::ALL.iter().zip(&rows) {
        // A step is written as the table says, with numbers for what it does with what.
        let step = form
            .replace('`', "")
            .replace(" a", " 1")
            .replace(" b", " 2");
        let step = step.replace(">a", ">1").replace("~a", "~1");
        let parsed = step.parse::<Step>().map(|step| step.verb);
        assert_eq!(parsed, Ok(*verb), "{name}: {form}");
    }
}
