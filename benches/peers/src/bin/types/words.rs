//! 20,000 words in bytes, beside what bincode makes of the same content.

use commute::codec::Limits;
use commute::env::SplitMix64;
use commute::{OrSet, Replica, State};
use commute_peers::heap::held;
use commute_peers::marks::Marks;
use commute_peers::rounds::{best, seconds};
use crdts::{CmRDT, Orswot};
use uuid::Uuid;

use crate::sets::id;

type Plain = Vec<(String, Vec<(u32, u64)>)>;
type Peer = Orswot<String, Uuid>;

const WORDS: usize = 20_000;

pub fn measure(marks: &mut Marks, quick: bool) {
    let words = words();
    let (ours, our_heap) = held(|| ours(&words));
    let (peer, peer_heap) = held(|| peer(&words));
    let plain = plain(&words);
    let config = bincode::config::standard();
    let encode = || ours.to_bytes();
    let encode_plain = || bincode::encode_to_vec(&plain, config).expect("encodes");
    let encode_peer = || bincode::serde::encode_to_vec(&peer, config).expect("encodes");
    let (bytes, plain_bytes, peer_bytes) = (encode(), encode_plain(), encode_peer());
    let of = |size: usize, of: usize| size as f64 / of as f64;
    marks.at_most(
        "types.words.bytes_per_plain",
        of(bytes.len(), plain_bytes.len()),
        0.9,
    );
    marks.at_most(
        "types.words.bytes_per_orswot",
        of(bytes.len(), peer_bytes.len()),
        0.5,
    );
    marks.info("types.words.heap_per_orswot", of(our_heap, peer_heap));
    let times = best(if quick { 10 } else { 50 }, || {
        [
            seconds(encode),
            seconds(encode_plain),
            seconds(encode_peer),
            seconds(|| State::<OrSet<String>>::from_bytes(&bytes, &Limits::default())),
            seconds(|| bincode::decode_from_slice::<Plain, _>(&plain_bytes, config)),
            seconds(|| bincode::serde::decode_from_slice::<Peer, _>(&peer_bytes, config)),
        ]
    });
    let [
        encode,
        encode_plain,
        encode_peer,
        decode,
        decode_plain,
        decode_peer,
    ] = times;
    marks.at_most(
        "types.words.encode_time_per_plain",
        encode / encode_plain,
        1.0,
    );
    marks.at_most(
        "types.words.encode_time_per_orswot",
        encode / encode_peer,
        1.0,
    );
    marks.at_most(
        "types.words.decode_time_per_plain",
        decode / decode_plain,
        1.0,
    );
    marks.at_most(
        "types.words.decode_time_per_orswot",
        decode / decode_peer,
        1.0,
    );
    marks.info(
        "types.words.decode.ns_per_word",
        decode * 1e9 / WORDS as f64,
    );
}

/// Random words, all different, in the order in which they are added.
fn words() -> Vec<String> {
    let mut random = SplitMix64::new(4);
    let mut seen = std::collections::BTreeSet::new();
    let word = || {
        let mut bits = random.next_u64();
        let letter = |_| {
            let letter = b'a' + (bits % 26) as u8;
            bits /= 26;
            char::from(letter)
        };
        (0..8).map(letter).collect::<String>()
    };
    std::iter::repeat_with(word)
        .filter(|word| seen.insert(word.clone()))
        .take(WORDS)
        .collect()
}

/// An update for each word.
fn ours(words: &[String]) -> Replica<OrSet<String>> {
    let mut set = Replica::<OrSet<String>>::new(id(1));
    for word in words {
        set.edit(|set| set.insert(word.clone())).expect("room");
    }
    set
}

fn peer(words: &[String]) -> Peer {
    let mut set = Peer::new();
    let actor = Uuid::from_u128(u128::from(id(1)));
    for word in words {
        let context = set.read_ctx().derive_add_ctx(actor);
        set.apply(set.add(word.clone(), context));
    }
    set
}

/// The words in order, each with the updates that added it: replica 0 and their numbers.
fn plain(words: &[String]) -> Plain {
    let numbered = words.iter().zip(1..);
    let mut plain: Plain = numbered
        .map(|(word, n)| (word.clone(), vec![(0, n)]))
        .collect();
    plain.sort_unstable();
    plain
}
