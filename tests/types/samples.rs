//! The values behind the golden files. A new one is one line in [`samples`].
#![allow(clippy::unwrap_used, reason = "a test stops where it fails")]

use commute::codec::{DecodeError, Limits};
use commute::kernel::EditError;
use commute::text::Chars;
use commute::value::Plain;
use commute::{
    BoundedCounter, Delta, Dot, DwFlag, EwFlag, GCounter, GSet, List, LwwMap, LwwRegister,
    MaxRegister, MinRegister, MvRegister, OrMap, OrSet, PnCounter, Replica, ReplicaId, Replicated,
    RwMap, RwSet, Stamp, State, Text, TwoPhaseSet, Value, Version,
};

/// Anything with canonical bytes.
pub(crate) trait Wire: Sized {
    fn encode(&self) -> Vec<u8>;
    fn decode(bytes: &[u8], limits: &Limits) -> Result<Self, DecodeError>;
    fn same(&self, other: &Self) -> bool;
}

impl Wire for Version {
    fn encode(&self) -> Vec<u8> {
        self.to_bytes()
    }
    fn decode(bytes: &[u8], limits: &Limits) -> Result<Version, DecodeError> {
        Version::from_bytes(bytes, limits)
    }
    fn same(&self, other: &Version) -> bool {
        self == other
    }
}

impl<S: Replicated> Wire for State<S> {
    fn encode(&self) -> Vec<u8> {
        self.to_bytes()
    }
    fn decode(bytes: &[u8], limits: &Limits) -> Result<State<S>, DecodeError> {
        State::from_bytes(bytes, limits)
    }
    fn same(&self, other: &State<S>) -> bool {
        self == other
    }
}

impl<S: Replicated> Wire for Delta<S> {
    fn encode(&self) -> Vec<u8> {
        self.to_bytes()
    }
    fn decode(bytes: &[u8], limits: &Limits) -> Result<Delta<S>, DecodeError> {
        Delta::from_bytes(bytes, limits)
    }
    fn same(&self, other: &Delta<S>) -> bool {
        self == other
    }
}

impl<S: Replicated> Wire for Replica<S> {
    fn encode(&self) -> Vec<u8> {
        self.save()
    }
    fn decode(bytes: &[u8], limits: &Limits) -> Result<Replica<S>, DecodeError> {
        Replica::resume(bytes, limits)
    }
    fn same(&self, other: &Replica<S>) -> bool {
        self == other && self.id() == other.id() && self.waiting() == other.waiting()
    }
}

/// Something done with bytes that may be those of a sample.
type With<T> = Box<dyn Fn(&[u8]) -> T>;
type Reencode = Box<dyn Fn(&[u8], &Limits) -> Result<Vec<u8>, DecodeError>>;

/// One golden file: its value's bytes, and what may be done with other bytes of the kind.
pub(crate) struct Sample {
    pub(crate) name: &'static str,
    pub(crate) bytes: Vec<u8>,
    /// Decodes and encodes again.
    pub(crate) reencode: Reencode,
    /// Whether bytes decode to a value equal to the sample's.
    pub(crate) equal: With<bool>,
    /// Takes what bytes decode to into the state it belongs to; says what is wrong then.
    pub(crate) take: With<Result<(), String>>,
}

fn sample<T: Wire + 'static>(
    name: &'static str,
    value: T,
    take: impl Fn(T) -> Result<(), String> + 'static,
) -> Sample {
    Sample {
        name,
        bytes: value.encode(),
        reencode: Box::new(|bytes, limits| Ok(T::decode(bytes, limits)?.encode())),
        equal: Box::new(move |bytes| {
            T::decode(bytes, &Limits::default()).is_ok_and(|back| back.same(&value))
        }),
        take: Box::new(move |bytes| match T::decode(bytes, &Limits::default()) {
            Ok(value) => take(value),
            Err(_) => Ok(()),
        }),
    }
}

/// Takes something into a copy of `state`: refused and unchanged, or in and still sound.
pub(crate) fn take_into<S: Replicated, R, E>(
    state: &State<S>,
    take: impl FnOnce(&mut State<S>) -> Result<R, E>,
) -> Result<(), String> {
    let before = state.to_bytes();
    let mut copy = state.clone();
    let refused = take(&mut copy).is_err();
    let after = copy.to_bytes();
    if refused && after != before {
        return Err("refused, but the state changed".into());
    }
    match State::<S>::from_bytes(&after, &Limits::default()) {
        Ok(back) if back.to_bytes() == after => Ok(()),
        Ok(_) => Err("the state's bytes are not canonical".into()),
        Err(error) => Err(format!("the state cannot be read again: {error}")),
    }
}

fn state<S: Replicated>(name: &'static str, replica: &Replica<S>) -> Sample {
    let base = replica.state().clone();
    let value = base.clone();
    let take = move |other: State<S>| take_into(&base, |state| state.merge(&other));
    sample(name, value, take)
}

/// A delta for a replica that is in the state of `base`.
fn delta<S: Replicated>(name: &'static str, base: &State<S>, delta: Delta<S>) -> Sample {
    let base = base.clone();
    sample(name, delta, move |delta: Delta<S>| {
        take_into(&base, |state| state.absorb(&delta))
    })
}

fn save<S: Replicated>(name: &'static str, replica: Replica<S>) -> Sample {
    let base = replica.state().clone();
    sample(name, replica, move |other: Replica<S>| {
        take_into(&base, |state| state.merge(&other))?;
        let answer = other.delta_since(&Version::new());
        take_into(&base, |state| state.absorb(&answer))
    })
}

/// Ids as they are in use: version 4 UUIDs.
pub(crate) fn id(seed: u8) -> ReplicaId {
    ReplicaId::from_random_bytes([seed; 16])
}

pub(crate) fn replica<S: Replicated>(seed: u8) -> Replica<S> {
    Replica::new(id(seed))
}

fn made<S: Replicated, R>(
    replica: &mut Replica<S>,
    change: impl FnOnce(&mut S::Edit<'_>) -> Result<R, EditError>,
) -> Delta<S> {
    replica.update(change).unwrap().1
}

type Words = OrSet<String>;
type Pairs = OrSet<(String, u8)>;

/// Two replicas that have both counted.
fn g_counter() -> Replica<GCounter> {
    let (mut a, mut b) = (replica::<GCounter>(0xaa), replica::<GCounter>(0xbb));
    a.edit(|n| n.add(1)).unwrap();
    b.edit(|n| n.add(u64::MAX)).unwrap();
    let _ = a.merge(&b).unwrap();
    a.edit(|n| n.add(300)).unwrap();
    a
}

fn pn_counter() -> Replica<PnCounter> {
    let (mut a, mut b) = (replica::<PnCounter>(0xaa), replica::<PnCounter>(0xbb));
    a.edit(|n| n.add(5)).unwrap();
    b.edit(|n| n.subtract(200)).unwrap();
    let _ = a.merge(&b).unwrap();
    a
}

/// Three replicas' words; one was added by two of them concurrently, one was removed.
pub(crate) fn words() -> Replica<Words> {
    let [mut a, mut b, mut c] = [0xaa, 0xbb, 0xcc].map(replica::<Words>);
    a.edit(|set| set.extend(["both", "gone", "", "\u{1F309}"].map(String::from)))
        .unwrap();
    b.edit(|set| set.insert("both".into())).unwrap();
    c.edit(|set| set.insert("c".into())).unwrap();
    let _ = a.merge(&b).unwrap();
    let _ = a.merge(&c).unwrap();
    a.edit(|set| set.remove("gone")).unwrap();
    a
}

/// What two replicas made of a value, each of what it saw, and one of both.
fn both<S: Replicated, R>(
    first: impl FnOnce(&mut S::Edit<'_>) -> Result<R, EditError>,
    second: impl FnOnce(&mut S::Edit<'_>) -> Result<R, EditError>,
    last: impl FnOnce(&mut S::Edit<'_>) -> Result<R, EditError>,
) -> Replica<S> {
    let (mut a, mut b) = (replica::<S>(0xaa), replica::<S>(0xbb));
    a.edit(first).unwrap();
    b.edit(second).unwrap();
    let _ = a.merge(&b).unwrap();
    a.edit(last).unwrap();
    let _ = b.merge(&a).unwrap();
    b
}

/// Registers, flags, sets and maps.
fn others() -> Vec<Sample> {
    let at = Stamp::from_millis;
    let numbers = both::<OrMap<u8, PnCounter>, _>(
        |map| map.entry(1).add(5),
        |map| {
            map.entry(1).subtract(2)?;
            map.entry(2).add(300)
        },
        |map| map.remove(&2).map(drop),
    );
    let mut removing = numbers.fork_as(id(0xcc));
    let removal = made(&mut removing, |map| map.remove(&1));
    let counting = made(&mut removing, |map| map.entry(7).add(1));
    vec![
        state(
            "state_mv_register",
            &both::<MvRegister<Option<u8>>, _>(|r| r.set(Some(1)), |r| r.set(None), |_| Ok(())),
        ),
        state(
            "state_lww_register",
            &both::<LwwRegister<String>, _>(
                |r| r.set("first".into(), at(1_000)).map(drop),
                |r| r.set(String::new(), at(1_800_000_000_000)).map(drop),
                |_| Ok(()),
            ),
        ),
        state(
            "state_max_register",
            &both::<MaxRegister<i64>, _>(|r| r.set(-3), |r| r.set(9), |r| r.set(4)),
        ),
        state(
            "state_min_register",
            &both::<OrMap<u8, MinRegister<u128>>, _>(
                |map| map.entry(0).set(3),
                |map| map.entry(0).set(9),
                |map| map.entry(1).set(u128::MAX),
            ),
        ),
        state(
            "state_ew_flag",
            &both::<EwFlag, _>(|f| f.enable(), |f| f.enable(), |f| f.enable()),
        ),
        state(
            "state_dw_flag",
            &both::<DwFlag, _>(|f| f.enable(), |f| f.disable(), |_| Ok(())),
        ),
        state(
            "state_g_set",
            &both::<GSet<char>, _>(
                |s| s.insert('a'),
                |s| s.insert('\u{1F309}'),
                |s| s.insert('a'),
            ),
        ),
        state(
            "state_two_phase_set",
            &both::<TwoPhaseSet<u8>, _>(|s| s.insert(1), |s| s.insert(2), |s| s.remove(&1)),
        ),
        state(
            "state_rw_set",
            &both::<RwSet<i16>, _>(|s| s.insert(-1), |s| s.remove(&-1), |s| s.insert(2)),
        ),
        state(
            "state_lww_map",
            &both::<LwwMap<String, bool>, _>(
                |map| map.insert("k".into(), true, at(1)).map(drop),
                |map| map.insert("k".into(), false, at(2)).map(drop),
                |map| map.insert(String::new(), true, at(0)).map(drop),
            ),
        ),
        state(
            "state_map_of_maps",
            &both::<OrMap<u8, OrMap<String, GCounter>>, _>(
                |map| map.entry(1).entry("x".into()).add(1),
                |map| map.entry(1).entry("y".into()).add(u64::MAX),
                |map| map.entry(0).entry("x".into()).add(2),
            ),
        ),
        delta("delta_map_remove", numbers.state(), removal),
        delta("delta_map_count", removing.state(), counting),
        save("save_map", removing),
    ]
}

/// A bounded counter with rights given both ways.
fn stock() -> Replica<BoundedCounter> {
    both::<BoundedCounter, _>(
        |n| {
            n.add(300)?;
            n.transfer(id(0xbb), 7)
        },
        |n| n.add(1),
        |n| n.subtract(9),
    )
}

/// A list with an insertion into its middle, a write, a deletion and one value that lies hidden.
fn list() -> Replica<List<String>> {
    let [mut a, mut b] = [0xaa, 0xbb].map(replica::<List<String>>);
    a.edit(|list| list.extend(["one", "", "three"].map(String::from)))
        .unwrap();
    let _ = b.merge(&a).unwrap();
    a.edit(|list| list.remove(0)).unwrap();
    b.edit(|list| list.set(0, "hidden".into())).unwrap();
    b.edit(|list| list.insert(2, "two".into())).unwrap();
    a.edit(|list| list.set(1, "3".into())).unwrap();
    let _ = a.merge(&b).unwrap();
    a
}

fn notes() -> Replica<List<Text>> {
    both::<List<Text>, _>(
        |list| list.push_empty()?.insert(Chars(0), "h\u{e9}"),
        |list| list.push_empty().map(drop),
        |list| list.edit(1)?.delete(Chars(0)..Chars(1)),
    )
}

/// A map whose removals win, with one key there, one removed, and one update that lies hidden.
fn removing() -> Replica<RwMap<u8, PnCounter>> {
    let [mut a, mut b] = [0xaa, 0xbb].map(replica::<RwMap<u8, PnCounter>>);
    a.edit(|map| map.entry(1)?.add(5)).unwrap();
    a.edit(|map| map.entry(2)?.subtract(300)).unwrap();
    let _ = b.merge(&a).unwrap();
    a.edit(|map| map.remove(&1)).unwrap();
    b.edit(|map| map.entry(1)?.add(1)).unwrap();
    let _ = a.merge(&b).unwrap();
    a
}

/// A value of every kind, with two of them at one place.
fn page() -> Replica<Value> {
    let mut a = replica::<Value>(0xaa);
    a.edit(|page| {
        let mut page = page.map()?;
        page.entry("null").set(())?;
        page.entry("yes").set(true)?;
        page.entry("int").set(-300)?;
        page.entry("wide").set(u64::MAX)?;
        page.entry("float").set(1.5)?;
        page.entry("bytes").set(vec![0_u8, 255])?;
        page.entry("count").counter()?.add(2)?;
        page.entry("text").text()?.insert(Chars(0), "Hi")?;
        page.entry("empty").map()?;
        page.entry("list")
            .set([Plain::from(""), [Plain::from(1)].into()])
    })
    .unwrap();
    let mut b = a.fork_as(id(0xbb));
    a.edit(|page| page.map()?.entry("list").set("none"))
        .unwrap();
    b.edit(|page| page.map()?.entry("list").list()?.push("late"))
        .unwrap();
    let _ = a.merge(&b).unwrap();
    a
}

/// A sample of `change` made in the state of `replica`.
fn changed<S: Replicated, R>(
    name: &'static str,
    mut replica: Replica<S>,
    change: impl FnOnce(&mut S::Edit<'_>) -> Result<R, EditError>,
) -> Sample {
    let base = replica.state().clone();
    delta(name, &base, made(&mut replica, change))
}

/// Lists, remove-wins maps, values without a schema, bounded counters.
fn nested() -> Vec<Sample> {
    vec![
        state("state_bounded_counter", &stock()),
        changed("delta_transfer", stock(), |n| n.transfer(id(0xcc), 3)),
        state("state_list", &list()),
        changed("delta_list_insert", list(), |list| {
            list.insert(1, "new".into())?;
            list.set(0, "first".into())
        }),
        changed("delta_list_remove", list(), |list| list.delete(0..2)),
        state("state_list_of_texts", &notes()),
        changed("delta_list_edit", notes(), |list| {
            list.edit(0)?.insert(Chars(0), "e")?;
            list.insert_empty(1).map(drop)
        }),
        state("state_rw_map", &removing()),
        changed("delta_rw_map", removing(), |map| {
            map.entry(1)?.add(2)?;
            map.remove(&2)
        }),
        state("state_value", &page()),
        changed("delta_value_set", page(), |page| {
            page.map()?.entry("list").set([("k", Plain::from(0.0))])
        }),
        changed("delta_value_edit", page(), |page| {
            let mut page = page.map()?;
            page.remove("text")?;
            page.entry("count").counter()?.subtract(1)?;
            page.entry("empty").map()?.entry("full").list()?.push("x")
        }),
    ]
}

fn pairs() -> Replica<Pairs> {
    let mut a = replica::<Pairs>(0xaa);
    let pairs = [("", 0), ("a", 255), ("a\0b", 1), ("\0", 7)];
    a.edit(|set| set.extend(pairs.map(|(word, n)| (word.to_string(), n))))
        .unwrap();
    a
}

/// Text of two replicas: typed, pasted, deleted from both ends, one character by both of them.
fn text() -> Replica<Text> {
    let (mut a, mut b) = (replica::<Text>(0xaa), replica::<Text>(0xbb));
    for (at, letter) in ["C", "a", "f", "\u{e9}"].into_iter().enumerate() {
        a.edit(|text| text.insert(Chars(at), letter)).unwrap();
    }
    let _ = b.merge(&a).unwrap();
    b.edit(|text| text.insert(Chars(4), " \u{1F309} noir"))
        .unwrap();
    a.edit(|text| text.delete(Chars(0)..Chars(2))).unwrap();
    b.edit(|text| text.delete(Chars(1)..Chars(2))).unwrap();
    let _ = a.merge(&b).unwrap();
    for at in [6, 5, 4] {
        a.edit(|text| text.delete(Chars(at)..Chars(at + 1)))
            .unwrap();
    }
    a
}

fn text_delta(
    name: &'static str,
    change: impl FnOnce(&mut <Text as Replicated>::Edit<'_>) -> Result<(), EditError>,
) -> Sample {
    let mut a = text();
    let base = a.state().clone();
    delta(name, &base, made(&mut a, change))
}

/// Text that was inserted and partly deleted again since the receiver asked last.
fn text_answer(name: &'static str) -> Sample {
    let mut a = text();
    let base = a.state().clone();
    a.edit(|text| text.insert(Chars(1), "abcdef")).unwrap();
    a.edit(|text| text.delete(Chars(2)..Chars(4))).unwrap();
    let answer = a.delta_since(base.version());
    delta(name, &base, answer)
}

/// A struct of each type.
#[derive(commute_derive::Replicated)]
struct Board {
    title: Text,
    tags: OrSet<String>,
    #[replicated(tag = 7)]
    edits: PnCounter,
    untouched: GCounter,
}

fn board() -> Replica<Board> {
    let mut a = replica::<Board>(0xaa);
    a.edit(|board| {
        board.title().insert(Chars(0), "Hi")?;
        board.tags().insert("new".into())?;
        board.edits().add(2)
    })
    .unwrap();
    a
}

fn board_delta(name: &'static str) -> Sample {
    let mut a = board();
    let base = a.state().clone();
    let change = made(&mut a, |board| {
        board.title().insert(Chars(2), "!")?;
        board.tags().remove("new")?;
        board.edits().subtract(1)
    });
    delta(name, &base, change)
}

/// What an earlier version of [`NewShelf`] knew.
#[derive(commute_derive::Replicated)]
struct Shelf {
    #[replicated(tag = 1)]
    books: OrMap<u8, Book>,
}

#[derive(commute_derive::Replicated)]
struct Book {
    #[replicated(tag = 2)]
    title: LwwRegister<String>,
}

#[derive(commute_derive::Replicated)]
struct NewShelf {
    #[replicated(tag = 1)]
    books: OrMap<u8, NewBook>,
    #[replicated(tag = 2)]
    labels: OrSet<String>,
    #[replicated(tag = 3)]
    note: Text,
    #[replicated(tag = 4)]
    visits: GCounter,
    #[replicated(tag = 5)]
    lent: OrMap<String, NewBook>,
}

#[derive(commute_derive::Replicated)]
struct NewBook {
    #[replicated(tag = 1)]
    review: Text,
    #[replicated(tag = 2)]
    title: LwwRegister<String>,
    #[replicated(tag = 3)]
    pages: PnCounter,
}

fn write_book(book: &mut NewBookEdit<'_>) -> Result<(), EditError> {
    book.title().set("Emma".into(), Stamp::from_millis(5))?;
    book.review().insert(Chars(0), "good")?;
    book.pages().add(300)
}

fn new_shelf() -> Replica<NewShelf> {
    let mut a = replica::<NewShelf>(0xaa);
    a.edit(|shelf| {
        write_book(&mut shelf.books().entry(1))?;
        shelf.books().entry(2).pages().subtract(1)?;
        shelf.labels().insert("new".into())?;
        shelf.note().insert(Chars(0), "Hi")?;
        shelf.visits().add(2)?;
        write_book(&mut shelf.lent().entry("ann".into()))
    })
    .unwrap();
    a
}

/// A state of a peer that does not know all fields.
fn unknown_fields(name: &'static str) -> Sample {
    let bytes = new_shelf().to_bytes();
    let shelf = State::<Shelf>::from_bytes(&bytes, &Limits::default()).unwrap();
    assert_eq!(shelf.to_bytes(), bytes, "as those write who know them");
    state(name, &Replica::from_state(shelf, id(0xbb)))
}

/// What such a peer answers with, after it has removed a key.
fn unknown_fields_delta(name: &'static str) -> Sample {
    let (limits, mut new) = (Limits::default(), new_shelf());
    let base = State::<Shelf>::from_bytes(&new.to_bytes(), &limits).unwrap();
    new.edit(|shelf| {
        shelf.note().delete(Chars(0)..Chars(1))?;
        shelf.lent().remove("ann")?;
        write_book(&mut shelf.books().entry(3))
    })
    .unwrap();
    let shelf = State::<Shelf>::from_bytes(&new.to_bytes(), &limits).unwrap();
    let mut old = Replica::from_state(shelf, id(0xbb));
    old.edit(|shelf| shelf.books().remove(&1)).unwrap();
    delta(name, &base, old.delta_since(base.version()))
}

/// The updates 1 and 3 of `a` as one group, and the state that has only the second missing.
fn group_with_gap(name: &'static str) -> Sample {
    let mut a = words();
    let base = a.state().clone();
    let mut group = made(&mut a, |set| set.insert("one".into()));
    let _ = made(&mut a, |set| set.insert("two".into()));
    group
        .merge(&made(&mut a, |set| set.remove("both")))
        .unwrap();
    delta(name, &base, group)
}

/// What a replica that has seen only the first updates lacks.
fn answer(name: &'static str, with_ledger: bool) -> Sample {
    let mut a = words();
    let mut behind = replica::<Words>(0xdd);
    let _ = behind.merge(&a).unwrap();
    a.edit(|set| set.remove("both")).unwrap();
    a.edit(|set| set.insert("new".into())).unwrap();
    a.edit(|set| set.remove("new")).unwrap();
    a.edit(|set| set.insert("newer".into())).unwrap();
    if !with_ledger {
        a.drop_ledger();
    }
    delta(name, behind.state(), a.delta_since(behind.version()))
}

/// A replica with a ledger, and with a delta that waits for its past.
fn saved() -> Replica<Words> {
    let mut a = words();
    let mut b = a.fork_as(id(0xdd));
    b.edit(|set| set.insert("lost".into())).unwrap();
    let late = made(&mut b, |set| set.remove("c"));
    let _ = a.absorb(&late).unwrap();
    assert_eq!(a.waiting(), 1);
    a
}

fn words_delta(
    name: &'static str,
    change: impl FnOnce(&mut <Words as Replicated>::Edit<'_>) -> Result<bool, EditError>,
) -> Sample {
    let mut a = words();
    let base = a.state().clone();
    delta(name, &base, made(&mut a, change))
}

fn count_delta(name: &'static str) -> Sample {
    let mut a = g_counter();
    let base = a.state().clone();
    delta(name, &base, made(&mut a, |n| n.add(1)))
}

/// Every golden file.
pub(crate) fn samples() -> Vec<Sample> {
    let version = Version::from_iter([(id(0xaa), 1), (id(0xbb), 300), (id(0xcc), u64::MAX)]);
    assert!(version.contains(Dot::new(id(0xbb), 300)));
    let mut all = vec![
        sample("version", version, |_| Ok(())),
        sample("version_empty", Version::new(), |_| Ok(())),
        state("state_empty", &replica::<Words>(0xaa)),
        state("state_g_counter", &g_counter()),
        state("state_pn_counter", &pn_counter()),
        state("state_or_set_string", &words()),
        state("state_or_set_tuple", &pairs()),
        count_delta("delta_count"),
        words_delta("delta_insert", |set| set.insert("x".into())),
        words_delta("delta_insert_again", |set| set.insert("both".into())),
        words_delta("delta_remove", |set| set.remove("both")),
        delta("delta_empty", words().state(), Delta::empty()),
        group_with_gap("delta_group_with_gap"),
        answer("delta_answer_exact", true),
        answer("delta_answer_fallback", false),
        save("save", saved()),
        state("state_text", &text()),
        text_delta("delta_text_insert", |text| {
            text.insert(Chars(1), "\u{6f22}")
        }),
        text_delta("delta_text_delete", |text| text.delete(Chars(0)..Chars(3))),
        text_delta("delta_text_replace", |text| {
            text.replace(Chars(1)..Chars(3), "xy")
        }),
        text_answer("delta_text_answer"),
        save("save_text", text()),
        state("state_struct", &board()),
        board_delta("delta_struct"),
        unknown_fields("state_unknown_fields"),
        unknown_fields_delta("delta_unknown_fields"),
    ];
    all.extend(others());
    all.extend(nested());
    all
}
