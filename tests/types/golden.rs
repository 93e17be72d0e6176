//! The wire format: what these files hold is what every later version reads and writes.
//!
//! `COMMUTE_BLESS=1 cargo test --all-features --test types golden` writes the files anew.
#![allow(clippy::unwrap_used, reason = "a test stops where it fails")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Once;

use commute::codec::Limits;

use crate::samples::{Sample, samples};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

fn path(sample: &Sample) -> PathBuf {
    folder().join(format!("{}.hex", sample.name))
}

/// Sixteen bytes a line.
fn to_hex(bytes: &[u8]) -> String {
    let line = |line: &[u8]| {
        let digits: Vec<String> = line.iter().map(|byte| format!("{byte:02x}")).collect();
        digits.join(" ") + "\n"
    };
    bytes.chunks(16).map(line).collect()
}

/// The bytes of a file; lines that start with `#` are comments.
fn from_hex(text: &str) -> Vec<u8> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .flat_map(str::split_whitespace)
        .map(|digits| u8::from_str_radix(digits, 16).unwrap())
        .collect()
}

fn golden(sample: &Sample) -> Vec<u8> {
    static BLESSED: Once = Once::new();
    BLESSED.call_once(|| {
        if std::env::var_os("COMMUTE_BLESS").is_some() {
            samples().iter().for_each(bless);
        }
    });
    let path = path(sample);
    let text = fs::read_to_string(&path);
    from_hex(&text.unwrap_or_else(|error| panic!("{}: {error}", path.display())))
}

/// Keeps the comments at the head of a file.
fn bless(sample: &Sample) {
    let old = fs::read_to_string(path(sample)).unwrap_or_default();
    let comments = old.lines().take_while(|line| line.starts_with('#'));
    let comments: String = comments.map(|line| format!("{line}\n")).collect();
    fs::write(path(sample), comments + &to_hex(&sample.bytes)).unwrap();
}

#[test]
fn encoding_gives_the_golden_bytes() {
    for sample in samples() {
        let (want, got) = (to_hex(&golden(&sample)), to_hex(&sample.bytes));
        assert_eq!(got, want, "{}", sample.name);
    }
}

#[test]
fn decoding_the_golden_bytes_gives_the_value() {
    for sample in samples() {
        let bytes = golden(&sample);
        assert!((sample.equal)(&bytes), "{}", sample.name);
        let again = (sample.reencode)(&bytes, &Limits::default());
        assert_eq!(again.as_ref(), Ok(&bytes), "{}", sample.name);
    }
}

#[test]
fn every_golden_file_has_its_value() {
    let names: Vec<&str> = samples().iter().map(|sample| sample.name).collect();
    for entry in fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "hex") {
            let name = path.file_stem().unwrap().to_str().unwrap();
            assert!(names.contains(&name), "{name}.hex belongs to no sample");
        }
    }
    let distinct: std::collections::BTreeSet<_> = names.iter().collect();
    assert_eq!(distinct.len(), names.len(), "two samples with one name");
}
