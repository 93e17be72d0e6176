//! serde: a readable form for texts, a compact one for binary formats, and nothing invalid gets in.
#![cfg(feature = "serde")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

use std::fmt::Debug;

use commute::text::Chars;
use commute::value::Plain;
use commute::{
    BoundedCounter, Delta, Digest, Dot, Dots, DwFlag, EntryId, EwFlag, GCounter, GSet, Lamport,
    List, LwwMap, LwwRegister, MaxRegister, MinRegister, MvRegister, Names, OrMap, OrSet,
    PnCounter, Replica, ReplicaId, RwMap, RwSet, Stamp, State, Text, TwoPhaseSet, Value, Version,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{from_str, to_string};

const ID1: &str = "00000000-0000-0000-0000-000000000001";
const ID2: &str = "00000000-0000-0000-0000-000000000002";

fn id(bits: u128) -> ReplicaId {
    ReplicaId::from(bits)
}

fn entry(replica: u128, counter: u64, index: u32) -> EntryId {
    EntryId::new(Dot::new(id(replica), counter), index)
}

/// Both forms give the value back; the text is `json`.
fn round_trip<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: T, json: &str) {
    assert_eq!(to_string(&value).unwrap(), json);
    assert_eq!(from_str::<T>(json).unwrap(), value);
    #[cfg(feature = "bincode")]
    {
        use commute::interop::bincode::{from_bincode, to_bincode};
        let bytes = to_bincode(&value).unwrap();
        assert_eq!(from_bincode::<T>(&bytes, 1 << 20), Ok(value));
    }
}

fn refused<T: DeserializeOwned + Debug>(json: &str) -> String {
    from_str::<T>(json).expect_err(json).to_string()
}

#[test]
fn ids_and_clocks_have_these_texts() {
    round_trip(id(1), &format!("\"{ID1}\""));
    round_trip(Dot::new(id(1), 7), &format!("\"{ID1}@7\""));
    round_trip(entry(1, 7, 0), &format!("\"{ID1}@7.0\""));
    round_trip(Lamport::new(9), "9");
    round_trip(
        Digest::from_bytes([0xab; 16]),
        &format!("\"{}\"", "ab".repeat(16)),
    );
    let version = Version::from_iter([(id(2), 1), (id(1), 5)]);
    round_trip(version, &format!("[[\"{ID1}\",5],[\"{ID2}\",1]]"));
    let dots = Dots::from_iter([1, 2, 5].map(|n| Dot::new(id(1), n)));
    round_trip(dots, &format!("[[\"{ID1}\",1,2],[\"{ID1}\",5,5]]"));
    let names = Names::from_entries(vec![entry(1, 1, 1), entry(1, 2, 1), entry(2, 1, 0)]);
    let json = format!("[[\"{ID1}\",1,2,[],[[0,0]]],[\"{ID2}\",1,1,[[0,0]],[]]]");
    round_trip(names, &json);
    round_trip(Version::new(), "[]");
    round_trip(Dots::new(), "[]");
    round_trip(Names::new(), "[]");
}

#[test]
fn only_the_canonical_spelling_is_read() {
    refused::<ReplicaId>("\"7\"");
    refused::<ReplicaId>("7");
    for dot in [
        "@1",
        "1",
        &format!("{ID1}@0"),
        &format!("{ID1}@01"),
        &format!("{ID1}@+1"),
    ] {
        refused::<Dot>(&format!("\"{dot}\""));
    }
    refused::<EntryId>(&format!("\"{ID1}@1.4294967296\""));
    refused::<EntryId>(&format!("\"{ID1}@1\""));
    refused::<Digest>("\"AB\"");
    let error = refused::<Version>(&format!("[[\"{ID2}\",1],[\"{ID1}\",1]]"));
    assert!(
        error.contains("pairs of replica and counter in ascending order"),
        "{error}"
    );
    refused::<Version>(&format!("[[\"{ID1}\",1],[\"{ID1}\",2]]"));
    refused::<Version>(&format!("[[\"{ID1}\",0]]"));
    for ranges in [
        format!("[[\"{ID1}\",0,1]]"),
        format!("[[\"{ID1}\",2,1]]"),
        format!("[[\"{ID1}\",1,2],[\"{ID1}\",3,4]]"),
        format!("[[\"{ID1}\",5,6],[\"{ID1}\",1,2]]"),
        format!("[[\"{ID2}\",1,1],[\"{ID1}\",1,1]]"),
        format!("[[\"{ID1}\",1,18446744073709551615],[\"{ID1}\",1,1]]"),
    ] {
        refused::<Dots>(&ranges);
    }
    for blocks in [
        format!("[[\"{ID1}\",1,1,[],[]]]"),
        format!("[[\"{ID1}\",0,1,[[0,0]],[]]]"),
        format!("[[\"{ID1}\",1,1,[[0,0],[1,1]],[]]]"),
        format!("[[\"{ID1}\",1,1,[[0,2147483648]],[]]]"),
        format!("[[\"{ID1}\",1,1,[[0,0]],[]],[\"{ID1}\",2,2,[[0,0]],[]]]"),
        format!("[[\"{ID2}\",1,1,[[0,0]],[]],[\"{ID1}\",1,1,[[0,0]],[]]]"),
    ] {
        refused::<Names>(&blocks);
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn states_and_deltas_are_their_canonical_bytes() {
    let mut a = Replica::<OrSet<String>>::new(id(1));
    let (_, delta) = a.update(|set| set.insert("x".into())).unwrap();
    round_trip(delta.clone(), &format!("\"{}\"", hex(&delta.to_bytes())));
    let text = format!("\"{}\"", hex(&a.to_bytes()));
    round_trip(a.state().clone(), &text);
    assert_eq!(
        to_string(&a).unwrap(),
        text,
        "a replica is written as its state"
    );

    let damaged = text.replacen("434d", "434e", 1);
    let error = refused::<State<OrSet<String>>>(&damaged);
    assert!(error.contains("not in this format at byte 0"), "{error}");
    refused::<State<OrSet<String>>>(&text.to_uppercase());
    refused::<State<OrSet<String>>>(&text.replacen("43", "4", 1));
    refused::<State<GCounter>>(&text);
    refused::<Delta<OrSet<String>>>(&text);
}

#[test]
fn values_are_written_as_their_views() {
    let mut set = Replica::<OrSet<u8>>::new(id(1));
    set.edit(|set| set.extend([3, 1])).unwrap();
    let value: &OrSet<u8> = &set;
    assert_eq!(to_string(value).unwrap(), "[1,3]");
    assert_eq!(to_string(&set.view()).unwrap(), "[1,3]");
    let mut up = Replica::<GCounter>::new(id(1));
    up.edit(|n| n.add(5)).unwrap();
    assert_eq!(to_string::<GCounter>(&up).unwrap(), "5");
    let mut both = Replica::<PnCounter>::new(id(1));
    both.edit(|n| n.subtract(5)).unwrap();
    assert_eq!(to_string::<PnCounter>(&both).unwrap(), "-5");
}

/// The text of a value after one edit.
fn written<S: commute::Replicated + Serialize, R>(
    edit: impl FnOnce(&mut S::Edit<'_>) -> Result<R, commute::EditError>,
) -> String {
    let mut replica = Replica::<S>::new(id(1));
    replica.edit(edit).unwrap();
    to_string::<S>(&replica).unwrap()
}

#[test]
fn other_values_are_written_as_their_views() {
    let at = Stamp::from_millis(1);
    assert_eq!(written::<MvRegister<u8>, _>(|r| r.set(7)), "[7]");
    assert_eq!(written::<LwwRegister<u8>, _>(|r| r.set(7, at)), "7");
    assert_eq!(written::<LwwRegister<u8>, _>(|r| r.clear()), "null");
    assert_eq!(written::<MaxRegister<u8>, _>(|r| r.set(7)), "7");
    assert_eq!(written::<MinRegister<u8>, _>(|r| r.set(7)), "7");
    assert_eq!(written::<EwFlag, _>(|flag| flag.enable()), "true");
    assert_eq!(written::<DwFlag, _>(|flag| flag.disable()), "false");
    assert_eq!(written::<GSet<u8>, _>(|set| set.extend([3, 1])), "[1,3]");
    assert_eq!(written::<TwoPhaseSet<u8>, _>(|set| set.insert(3)), "[3]");
    assert_eq!(written::<RwSet<u8>, _>(|set| set.extend([3, 1])), "[1,3]");
    // Keys of any type.
    let map = written::<LwwMap<(u8, bool), u8>, _>(|map| map.insert((1, true), 2, at));
    assert_eq!(map, "[[[1,true],2]]");
    type Votes = OrMap<String, PnCounter>;
    let map = written::<Votes, _>(|map| map.entry("a".into()).subtract(2));
    assert_eq!(map, r#"[["a",-2]]"#);
    let text = written::<Text, _>(|text| text.insert(Chars(0), "ab"));
    assert_eq!(text, r#""ab""#);
    round_trip(Stamp::from_millis(2), "131072");
}

#[test]
fn lists_values_and_remove_wins_maps_are_written_as_their_views() {
    type Votes = RwMap<String, PnCounter>;
    let map = written::<Votes, _>(|map| map.entry("a".into())?.subtract(2));
    assert_eq!(map, r#"[["a",-2]]"#);
    assert_eq!(written::<List<u8>, _>(|list| list.extend([3, 1])), "[3,1]");
    let nested = written::<List<OrSet<u8>>, _>(|list| {
        list.push_empty()?.insert(2)?;
        list.push_empty().map(drop)
    });
    assert_eq!(nested, "[[2],[]]");
    let counter = written::<BoundedCounter, _>(|counter| counter.add(7));
    assert_eq!(counter, "7");
    assert_eq!(written::<Value, _>(|_| Ok(())), "null");
    let text = r#"{"a":[null,true,-1,18446744073709551615,0.5,"x"],"b":{}}"#;
    let plain: Plain = serde_json::from_str(text).unwrap();
    assert_eq!(written::<Value, _>(|value| value.set(plain.clone())), text);
    assert_eq!(to_string(&plain).unwrap(), text);
    let counted = written::<Value, _>(|value| value.map()?.entry("n").counter()?.add(2));
    assert_eq!(counted, r#"{"n":2}"#);
    assert!(serde_json::from_str::<Plain>(r#"{"a":1,"a":2}"#).is_err());
}

#[derive(Serialize, Deserialize, PartialEq, Debug)]
struct Message {
    from: ReplicaId,
    have: Version,
    delta: Delta<GCounter>,
}

#[test]
fn a_users_message_round_trips() {
    let mut a = Replica::<GCounter>::new(id(1));
    let ((), delta) = a.update(|n| n.add(5)).unwrap();
    let message = Message {
        from: a.id(),
        have: a.version().clone(),
        delta,
    };
    let json = to_string(&message).unwrap();
    round_trip(message, &json);
}

#[cfg(feature = "derive")]
mod derived {
    use super::*;
    use commute::Replicated;

    #[derive(Debug, Replicated)]
    #[replicated(view(derive(Eq, Serialize), serde(rename_all = "UPPERCASE")))]
    struct Board {
        tags: OrSet<String>,
        score: PnCounter,
    }

    #[test]
    fn the_view_of_a_struct_takes_the_attributes_asked_for() {
        let mut a = Replica::<Board>::new(id(1));
        a.edit(|board| {
            board.tags().insert("x".into())?;
            board.score().add(2)
        })
        .unwrap();
        assert_eq!(to_string(&a.view()).unwrap(), r#"{"TAGS":["x"],"SCORE":2}"#);
        round_trip(a.state().clone(), &format!("\"{}\"", hex(&a.to_bytes())));
    }
}

#[test]
fn revisions_ids_keys_values_and_tokens_round_trip() {
    use commute::coord::{FencingToken, Lease, LeaseOptions};
    use commute::env::SimEnv;
    use commute::store::{Incarnation, Key, MemoryStore, Revision, TransactionId, Value};

    fn both<T>(value: &T)
    where
        T: serde::Serialize + serde::de::DeserializeOwned + PartialEq + std::fmt::Debug,
    {
        let text = serde_json::to_string(value).unwrap();
        assert_eq!(&serde_json::from_str::<T>(&text).unwrap(), value, "{text}");
    }
    let env = SimEnv::new(1);
    let store = MemoryStore::new(env.clone()).unwrap();
    both(&Revision::new(
        Incarnation::from_bits(u128::MAX - 1),
        u64::MAX,
    ));
    both(&TransactionId::from_bits(7));
    both(&Key::from("\u{e9}"));
    both(&Value::from(vec![0u8, 255]));
    let lease = Lease::acquire_blocking(&store, &env, "job", &LeaseOptions::default()).unwrap();
    both(lease.token());
    assert!(serde_json::from_str::<FencingToken>("\"00\"").is_err());
    assert!(serde_json::from_str::<TransactionId>("\"00\"").is_err());
}
