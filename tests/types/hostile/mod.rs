//! Bytes from anywhere: no panic, bounded memory, an error or a value with exactly these bytes.
#![allow(clippy::unwrap_used, reason = "a test stops where it fails")]

use std::panic::{AssertUnwindSafe, catch_unwind};

use commute::codec::{DecodeErrorKind, Limits};
use commute::{Delta, OrSet};

mod deltas;
pub(crate) mod heap;
pub(crate) mod surgery;
pub(crate) mod watchdog;

use crate::samples::{self, Sample, samples};
use surgery::{fixed, mutants, prefixes};

/// What is wrong with how `sample` reads `bytes`, if anything.
fn fault(sample: &Sample, bytes: &[u8]) -> Result<bool, String> {
    let most = 64 * bytes.len() + 64 * 1024;
    let (decoded, peak) = heap::peak(|| (sample.reencode)(bytes, &Limits::default()));
    if peak > most {
        return Err(format!(
            "{peak} bytes of memory for {} of input",
            bytes.len()
        ));
    }
    match decoded {
        Ok(again) if again != bytes => Err("decodes to a value with other bytes".into()),
        Ok(_) => (sample.take)(bytes).map(|()| true),
        Err(error) if error.offset > bytes.len() => Err(format!("{error}, beyond the end")),
        Err(_) => Ok(false),
    }
}

/// Tries `bytes`; returns whether they were accepted.
fn attempt(sample: &Sample, bytes: &[u8]) -> bool {
    let result = catch_unwind(AssertUnwindSafe(|| fault(sample, bytes)));
    match result {
        Ok(Ok(accepted)) => accepted,
        Ok(Err(wrong)) => panic!("{}: {wrong}\n{bytes:02x?}", sample.name),
        Err(_) => panic!("{}: a panic\n{bytes:02x?}", sample.name),
    }
}

#[test]
fn every_prefix_is_refused() {
    watchdog::without_hanging(|| {
        for sample in samples() {
            for prefix in prefixes(&sample.bytes) {
                assert!(!attempt(&sample, &prefix), "{}", sample.name);
                // With a right checksum, one that ends with a section may be a smaller delta.
                attempt(&sample, &fixed(&prefix));
            }
        }
    });
}

#[test]
fn a_changed_byte_is_refused() {
    watchdog::without_hanging(|| {
        for sample in samples() {
            for mutant in mutants(&sample.bytes) {
                assert!(!attempt(&sample, &mutant), "{}: {mutant:02x?}", sample.name);
            }
        }
    });
}

/// Whoever writes the checksum anew gets no further than an error or another sound value.
#[test]
fn a_changed_byte_under_a_right_checksum_does_no_harm() {
    watchdog::without_hanging(|| {
        let mut accepted = 0;
        for sample in samples() {
            let changed = mutants(&sample.bytes);
            accepted += changed
                .iter()
                .filter(|mutant| attempt(&sample, &fixed(mutant)))
                .count();
        }
        assert!(
            accepted > 1000,
            "only {accepted} mutants got as far as a merge"
        );
    });
}

/// Row 106: a length or count of 2^60 in the place of every byte.
#[test]
fn row_106_length_bombs_are_refused() {
    watchdog::without_hanging(|| {
        for sample in samples() {
            for bomb in surgery::bombs(&sample.bytes) {
                attempt(&sample, &bomb);
            }
        }
    });
}

#[test]
fn rearranged_sections_do_no_harm() {
    for sample in samples() {
        for bytes in surgery::rearranged(&sample.bytes) {
            attempt(&sample, &bytes);
        }
    }
}

/// Whatever gets in stays: one state takes in every mutant that it accepts.
#[test]
fn many_mutants_in_one_state_do_no_harm() {
    type Words = OrSet<String>;
    watchdog::without_hanging(|| {
        let mut random = surgery::Random(1);
        let samples = samples();
        let deltas = samples.iter().filter(|s| s.name.starts_with("delta_"));
        let deltas: Vec<&Sample> = deltas.filter(|s| s.name != "delta_count").collect();
        let (mut taken, mut waited) = (0, 0);
        for round in 0..40 {
            let mut state = samples::words().into_state();
            for n in 0..500 {
                let sample = deltas[random.below(deltas.len())];
                let bytes = surgery::scrambled(&sample.bytes, &mut random);
                attempt(sample, &bytes);
                let Ok(delta) = Delta::<Words>::from_bytes(&bytes, &Limits::default()) else {
                    continue;
                };
                match state.absorb(&delta) {
                    Ok(commute::Applied::New) => taken += 1,
                    Ok(commute::Applied::Waiting(_)) => waited += 1,
                    _ => {}
                }
                let sound = samples::take_into(&state, |state| state.absorb(&delta));
                assert_eq!(sound, Ok(()), "round {round}, step {n}: {bytes:02x?}");
            }
            let saved = commute::Replica::from_state(state.clone(), samples::id(0xab)).save();
            let resumed = commute::Replica::<Words>::resume(&saved, &Limits::default());
            assert_eq!(resumed.unwrap().save(), saved, "round {round}");
            // Who killed what is the senders' word, and these lie; what is live is the state's own.
            state.drop_ledger();
            let answer = state.delta_since(samples::words().version());
            let mut other = samples::words().into_state();
            let _ = other.absorb(&answer).unwrap();
            assert_eq!(other, state, "round {round}");
        }
        assert!(taken > 50 && waited > 500, "{taken} taken, {waited} waited");
    });
}

/// Row 105: broken UTF-8 in every text.
#[test]
fn row_105_invalid_utf_8_is_refused() {
    let spoilt = |sample: &Sample| {
        let texts: [&[u8]; 6] = [
            b"both",
            b"gone",
            b"\xf0\x9f\x8c\x89",
            b"newer",
            b"lost",
            b"one",
        ];
        let bytes = sample.bytes.clone();
        let places = texts.map(|text| surgery::find(&bytes, text));
        let places = places
            .into_iter()
            .zip(texts)
            .filter_map(|(at, text)| Some((at?, text)));
        let spoil = move |(at, text): (usize, &[u8])| {
            (at..at + text.len()).map(move |at| (at, [0xff, 0xc0]))
        };
        let list: Vec<_> = places.flat_map(spoil).collect();
        list
    };
    let mut tried = 0;
    for sample in samples() {
        for (at, values) in spoilt(&sample) {
            for value in values {
                let mut bytes = sample.bytes.clone();
                if std::mem::replace(&mut bytes[at], value) == value {
                    continue;
                }
                let utf_8 = |bytes: &[u8]| std::str::from_utf8(bytes).is_ok();
                assert!(!utf_8(&[value]));
                let error = (sample.reencode)(&fixed(&bytes), &Limits::default()).unwrap_err();
                let kinds = [DecodeErrorKind::Value, DecodeErrorKind::Utf8];
                assert!(kinds.contains(&error.kind), "{}: {error}", sample.name);
                tried += 1;
            }
        }
    }
    assert!(tried > 20, "only {tried} texts were spoilt");
}

/// Row 109: one flipped bit anywhere in a stream of frames.
#[test]
fn row_109_a_flipped_bit_in_a_stream_of_frames_is_found() {
    let mut a = samples::replica::<OrSet<String>>(0xaa);
    let mut frames: Vec<Vec<u8>> = Vec::new();
    for word in ["a", "b", "c", "a"] {
        frames.push(
            a.update(|set| set.insert(word.into()))
                .unwrap()
                .1
                .to_bytes(),
        );
    }
    let read = |frames: &[Vec<u8>]| {
        let deltas = frames.iter();
        let deltas =
            deltas.map(|bytes| Delta::<OrSet<String>>::from_bytes(bytes, &Limits::default()));
        deltas.collect::<Result<Vec<_>, _>>().map(|all| all.len())
    };
    assert_eq!(read(&frames), Ok(4));
    for at in 0..frames.len() {
        for bit in 0..frames[at].len() * 8 {
            frames[at][bit / 8] ^= 1 << (bit % 8);
            assert!(read(&frames).is_err(), "bit {bit} of frame {at}");
            frames[at][bit / 8] ^= 1 << (bit % 8);
        }
    }
}

#[test]
fn limits_are_kept() {
    let bytes = samples::words().to_bytes();
    let read = |limits: &Limits| {
        let state = commute::State::<OrSet<String>>::from_bytes(&bytes, limits);
        state.map(drop).map_err(|error| error.kind)
    };
    let refused = Err(DecodeErrorKind::LimitExceeded);
    let limits = Limits::default();
    assert_eq!(read(&limits), Ok(()));
    assert_eq!(read(&limits.bytes(bytes.len())), Ok(()));
    assert_eq!(read(&limits.bytes(bytes.len() - 1)), refused);
    assert_eq!(read(&limits.replicas(2)), refused);
    assert_eq!(read(&limits.items(8)), refused);
    assert_eq!(read(&limits.depth(1)), refused);
}
