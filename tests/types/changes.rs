//! The change feed: what a merge says it changed is the difference of the views, whatever came how.
#![cfg(feature = "testkit")]
#![expect(clippy::unwrap_used, reason = "in helpers of tests")]

use std::fmt::Debug;

use commute::kernel::{MapChange, Replaced, Watched};
use commute::list::ListChange;
use commute::set::SetChange;
use commute::testkit::{Exercise, Source};
use commute::text::{Chars, TextChange};
use commute::value::{Plain, ValueChange};
use commute::{
    Applied, BoundedCounter, Delta, DwFlag, EwFlag, GCounter, GSet, List, LwwMap, LwwRegister,
    MaxRegister, MinRegister, MvRegister, OrMap, OrSet, PnCounter, Replica, ReplicaId, RwMap,
    RwSet, State, Text, TwoPhaseSet, Value,
};

/// A replica, what its user interface shows by following changes, and a state that gets the same
/// without a feed.
struct Follower<S: Watched> {
    replica: Replica<S>,
    shown: S::View,
    twin: State<S>,
}

impl<S> Follower<S>
where
    S: Exercise + Watched<Change: Debug>,
    S::View: Clone,
{
    fn new(id: u128) -> Follower<S> {
        let replica = replica::<S>(id);
        Follower {
            shown: replica.view(),
            twin: replica.state().clone(),
            replica,
        }
    }

    fn perform(&mut self, source: &mut Source<'_>) -> Option<Delta<S>> {
        let op = self.replica.choose(source)?;
        let (_, delta) = self.replica.update(|edit| S::perform(edit, &op)).ok()?;
        self.shown = self.replica.view();
        self.twin = self.replica.state().clone();
        Some(delta)
    }

    fn absorb(&mut self, delta: &Delta<S>) {
        let (applied, changes) = self.replica.absorb_with_changes(delta).unwrap();
        assert_eq!(self.twin.absorb(delta), Ok(applied));
        self.follow(changes);
    }

    fn merge(&mut self, other: &State<S>) {
        let (applied, changes) = self.replica.merge_with_changes(other).unwrap();
        assert_eq!(self.twin.merge(other), Ok(applied));
        self.follow(changes);
    }

    fn follow(&mut self, changes: Vec<S::Change>) {
        let now = self.replica.view();
        let told = format!("{changes:?}");
        assert_eq!(self.shown == now, changes.is_empty(), "{told}");
        for change in changes {
            let before = self.shown.clone();
            let text = format!("{change:?}");
            S::follow(&mut self.shown, change);
            assert_ne!(before, self.shown, "{text} changes nothing");
        }
        assert_eq!(self.shown, now, "{told}");
        assert_eq!(self.twin, *self.replica.state());
    }
}

/// Three replicas that exchange updates in any order, groups, answers and states.
fn follows<S>(seed: u64)
where
    S: Exercise + Watched<Change: Debug>,
    S::View: Clone,
{
    let mut source = Source::random(seed);
    let mut all: Vec<Follower<S>> = [7, 3, 9].map(Follower::new).into();
    let mut sent: Vec<Delta<S>> = Vec::new();
    for _ in 0..60 {
        let at = source.below(3) as usize;
        let from = source.below(3) as usize;
        match source.below(6) {
            0 | 1 => sent.extend(all[at].perform(&mut source)),
            2 | 3 => {
                if let Some(delta) = source.pick(&sent) {
                    all[at].absorb(delta);
                }
            }
            4 => {
                let peer = all[from].replica.state().clone();
                match source.chance(1, 2) {
                    true => all[at].merge(&peer),
                    false => {
                        let answer = peer.delta_since(all[at].replica.version());
                        all[at].absorb(&answer);
                    }
                }
            }
            _ => {
                let (a, b) = (source.pick(&sent), source.pick(&sent));
                if let (Some(a), Some(b)) = (a, b) {
                    let mut both = a.clone();
                    both.merge(b).unwrap();
                    all[at].absorb(&both);
                }
            }
        }
    }
}

fn replica<S: Watched>(id: u128) -> Replica<S> {
    Replica::new(ReplicaId::from(id))
}

fn two<S: Watched>() -> (Replica<S>, Replica<S>) {
    (replica(1), replica(2))
}

macro_rules! follow {
    ($($name:ident: $type:ty,)*) => { $(
        #[test]
        fn $name() {
            (0..60).for_each(follows::<$type>);
        }
    )* };
}

follow! {
    g_counter: GCounter,
    pn_counter: PnCounter,
    bounded_counter: BoundedCounter,
    mv_register: MvRegister<u8>,
    lww_register: LwwRegister<u8>,
    max_register: MaxRegister<u8>,
    min_register: MinRegister<u8>,
    ew_flag: EwFlag,
    dw_flag: DwFlag,
    g_set: GSet<u8>,
    two_phase_set: TwoPhaseSet<u8>,
    or_set: OrSet<u8>,
    rw_set: RwSet<u8>,
    lww_map: LwwMap<u8, u8>,
    or_map_of_counters: OrMap<u8, PnCounter>,
    or_map_of_texts: OrMap<u8, Text>,
    text: Text,
    list: List<u64>,
    or_map_of_lists: OrMap<u8, List<u64>>,
    or_map_of_sets: OrMap<u8, OrSet<u8>>,
    rw_map: RwMap<u8, PnCounter>,
    value: Value,
}

#[cfg(feature = "derive")]
mod of_a_struct {
    use super::follows;
    use commute::kernel::EditError;
    use commute::set::SetChange;
    use commute::testkit::spec::SetOp;
    use commute::testkit::{Exercise, Source};
    use commute::{GCounter, OrMap, OrSet, Replica, Replicated};

    #[derive(Replicated, Clone)]
    struct Board {
        open_tags: OrSet<u8>,
        visits: GCounter,
    }

    #[derive(Clone, Debug)]
    enum Op {
        Tags(SetOp<u8>),
        Visits(u64),
    }

    impl Exercise for Board {
        type Op = Op;

        fn choose(&self, source: &mut Source<'_>) -> Option<Op> {
            match source.below(2) {
                0 => self.open_tags.choose(source).map(Op::Tags),
                _ => self.visits.choose(source).map(Op::Visits),
            }
        }

        fn perform(board: &mut BoardEdit<'_>, op: &Op) -> Result<(), EditError> {
            match op {
                Op::Tags(op) => OrSet::perform(&mut board.open_tags(), op),
                Op::Visits(op) => GCounter::perform(&mut board.visits(), op),
            }
        }
    }

    #[test]
    fn a_struct_tells_its_changes_by_field() {
        (0..60).for_each(follows::<Board>);
        (0..60).for_each(follows::<OrMap<u8, Board>>);
        let (mut a, mut b) = (super::replica::<Board>(1), super::replica(2));
        let (_, delta) = a.update(|board| board.open_tags().insert(3)).unwrap();
        let (_, changes) = Replica::absorb_with_changes(&mut b, &delta).unwrap();
        assert_eq!(changes, [BoardChange::OpenTags(SetChange::Inserted(3))]);
    }

    /// Fields of a tuple have a variant by their number.
    #[derive(Replicated)]
    struct Pair(
        #[replicated(tag = 1)] GCounter,
        #[replicated(tag = 2)] OrSet<u8>,
    );

    #[test]
    fn fields_of_a_tuple_are_told_by_number() {
        let (mut a, mut b) = (super::replica::<Pair>(1), super::replica(2));
        let (_, delta) = a.update(|pair| pair.field_1().insert(3)).unwrap();
        let (_, changes) = Replica::absorb_with_changes(&mut b, &delta).unwrap();
        assert_eq!(changes, [PairChange::Field1(SetChange::Inserted(3))]);
    }
}

#[test]
fn what_had_waited_is_told_when_it_comes_in() {
    let (mut a, mut b) = two::<OrSet<u8>>();
    let (_, first) = a.update(|set| set.insert(1)).unwrap();
    let (_, second) = a.update(|set| set.insert(2)).unwrap();
    let (applied, changes) = b.absorb_with_changes(&second).unwrap();
    assert!(matches!(applied, Applied::Waiting(_)) && changes.is_empty());
    let (_, changes) = b.absorb_with_changes(&first).unwrap();
    assert_eq!(changes, [SetChange::Inserted(1), SetChange::Inserted(2)]);
}

/// Of what comes and goes within one merge nothing is told.
#[test]
fn what_came_and_went_on_the_way_is_no_change() {
    let (mut a, mut b) = two::<OrSet<u8>>();
    let (_, first) = a.update(|set| set.insert(1)).unwrap();
    let (_, second) = a.update(|set| set.remove(&1)).unwrap();
    let (_, third) = a.update(|set| set.insert(2)).unwrap();
    for early in [&second, &third] {
        assert!(b.absorb_with_changes(early).unwrap().1.is_empty());
    }
    let (_, changes) = b.absorb_with_changes(&first).unwrap();
    assert_eq!(changes, [SetChange::Inserted(2)]);
}

/// A key that goes and comes again within one merge has other contents, not others to come.
#[test]
fn a_value_that_is_gone_in_between_is_told_as_it_changed() {
    type Tags = OrMap<u8, OrSet<u8>>;
    let (mut a, mut b) = two::<Tags>();
    let (_, first) = a.update(|map| map.entry(4).insert(1)).unwrap();
    b.absorb(&first).unwrap();
    let (_, second) = a.update(|map| map.remove(&4)).unwrap();
    let (_, third) = a.update(|map| map.entry(4).insert(2)).unwrap();
    assert!(b.absorb_with_changes(&third).unwrap().1.is_empty());
    let (_, changes) = b.absorb_with_changes(&second).unwrap();
    let changed = |change| MapChange::Changed { key: 4, change };
    let want = [SetChange::Removed(1), SetChange::Inserted(2)].map(changed);
    assert_eq!(changes, want);
}

#[test]
fn a_value_tells_its_changes_by_key_and_index() {
    let (mut a, mut b) = two::<Value>();
    let page = Plain::from([("title", "Plan".into()), ("tags", ["a", "b"].into())]);
    a.edit(|value| value.set(page)).unwrap();
    let (_, changes) = b.merge_with_changes(a.state()).unwrap();
    assert_eq!(changes, [ValueChange::Became(a.view())]);
    let (_, delta) = a
        .update(|value| {
            let mut map = value.map()?;
            map.entry("tags").list()?.push("c")
        })
        .unwrap();
    let (_, changes) = b.absorb_with_changes(&delta).unwrap();
    let value = Plain::from("c");
    let change = ValueChange::List(ListChange::Inserted { at: 2, value }.into());
    let key = "tags".to_owned();
    let want = ValueChange::Map(MapChange::Changed { key, change }.into());
    assert_eq!(changes, [want]);
}

#[test]
fn a_map_tells_what_changed_inside_its_values() {
    type Votes = OrMap<u8, PnCounter>;
    let (mut a, mut b) = two::<Votes>();
    let (_, first) = a.update(|map| map.entry(4).add(5)).unwrap();
    let (_, changes) = b.absorb_with_changes(&first).unwrap();
    assert_eq!(changes, [MapChange::Inserted { key: 4, value: 5 }]);
    let (_, second) = a.update(|map| map.entry(4).subtract(2)).unwrap();
    let (_, changes) = b.absorb_with_changes(&second).unwrap();
    let change = Replaced { old: 5, new: 3 };
    assert_eq!(changes, [MapChange::Changed { key: 4, change }]);
    a.edit(|map| map.remove(&4)).unwrap();
    let (_, changes) = b.merge_with_changes(a.state()).unwrap();
    assert_eq!(changes, [MapChange::Removed { key: 4 }]);
}

#[test]
fn a_text_tells_its_edits_in_order() {
    let (mut a, mut b) = two::<Text>();
    a.edit(|text| text.insert(Chars(0), "caf\u{e9} noir"))
        .unwrap();
    let (_, changes) = b.merge_with_changes(a.state()).unwrap();
    let text = String::from("caf\u{e9} noir");
    let at = Chars(0);
    assert_eq!(changes, [TextChange::Inserted { at, text }]);
    let (_, delta) = a
        .update(|text| {
            text.replace(Chars(5)..Chars(9), "au lait")?;
            text.replace(Chars(0)..Chars(1), "C")
        })
        .unwrap();
    let (_, changes) = b.absorb_with_changes(&delta).unwrap();
    let deleted = |at, count| TextChange::Deleted {
        at: Chars(at),
        count,
    };
    let inserted = |at, text: &str| TextChange::Inserted {
        at: Chars(at),
        text: text.into(),
    };
    let want = [
        deleted(5, 4),
        deleted(0, 1),
        inserted(0, "C"),
        inserted(5, "au lait"),
    ];
    assert_eq!(changes, want);
}

#[test]
fn a_list_tells_what_came_went_and_changed() {
    let (mut a, mut b) = two::<List<Text>>();
    for (at, word) in ["one", "two", "three"].into_iter().enumerate() {
        a.edit(|list| list.push_empty()?.insert(Chars(0), word))
            .unwrap();
        let (_, changes) = b.merge_with_changes(a.state()).unwrap();
        let value = word.to_owned();
        assert_eq!(changes, [ListChange::Inserted { at, value }]);
    }
    let (_, delta) = a
        .update(|list| {
            list.edit(2)?.insert(Chars(5), "!")?;
            list.remove(0)
        })
        .unwrap();
    let (_, changes) = b.absorb_with_changes(&delta).unwrap();
    let change = TextChange::Inserted {
        at: Chars(5),
        text: "!".into(),
    };
    let want = [
        ListChange::Removed { at: 0 },
        ListChange::Changed { at: 1, change },
    ];
    assert_eq!(changes, want);
}

/// A refused delta changes and tells nothing.
#[test]
fn an_error_tells_nothing() {
    let mut a = replica::<OrSet<u8>>(1);
    let mut twin = replica::<OrSet<u8>>(1);
    a.edit(|set| set.insert(1)).unwrap();
    let (_, stray) = twin.update(|set| set.insert(2)).unwrap();
    let before = a.state().clone();
    assert!(a.absorb_with_changes(&stray).is_err());
    assert!(a.merge_with_changes(twin.state()).is_err());
    assert_eq!(before, *a.state());
}
