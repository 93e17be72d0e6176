//! Values without a schema as subjects.

use std::collections::BTreeMap;

use crate::kernel::EditError;
use crate::testkit::replica::{Exercise, Meaning};
use crate::testkit::{Seen, Source, Verdict, Visible};
use crate::value::{Kind, Plain, Value, ValueEdit};

/// What a user does to the value of a key of a map.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ValuePlay {
    /// Writes a number.
    Set(i64),
    /// Counts.
    Count(i64),
    /// Writes a number under a key of a map within.
    Nest(u8, i64),
    /// Makes it an empty text.
    Text,
    /// Makes it an empty list.
    List,
    /// Removes the key.
    Remove,
}

/// A key, and what is done to the value there.
impl Exercise for Value {
    type Op = (u8, ValuePlay);

    fn choose(&self, source: &mut Source<'_>) -> Option<(u8, ValuePlay)> {
        let key = source.below(2) as u8;
        let play = match source.below(8) {
            0 | 1 => ValuePlay::Set(source.below(2) as i64),
            2 | 3 => ValuePlay::Count(source.pick(&[1, 3]).copied()?),
            4 => ValuePlay::Nest(source.below(2) as u8, source.below(2) as i64),
            5 => ValuePlay::Text,
            6 => ValuePlay::List,
            _ => ValuePlay::Remove,
        };
        Some((key, play))
    }

    fn perform(value: &mut ValueEdit<'_>, (key, play): &(u8, ValuePlay)) -> Result<(), EditError> {
        let mut map = value.map()?;
        let key = name(*key);
        match *play {
            ValuePlay::Set(number) => map.entry(key).set(number),
            ValuePlay::Count(amount) => map.entry(key).counter()?.add(amount.unsigned_abs()),
            ValuePlay::Nest(inner, number) => map.entry(key).map()?.entry(name(inner)).set(number),
            ValuePlay::Text => map.entry(key).text().map(drop),
            ValuePlay::List => map.entry(key).list().map(drop),
            ValuePlay::Remove => map.remove(&key).map(drop),
        }
    }
}

fn name(key: u8) -> String {
    format!("k{key}")
}

/// What an operation leaves at a key.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Left {
    Scalar(i64),
    Mark(Kind),
    Amount(i64),
    Inner(u8, i64),
}

impl Left {
    fn kind(self) -> Kind {
        match self {
            Left::Scalar(_) => Kind::Scalar,
            Left::Mark(kind) => kind,
            Left::Amount(_) => Kind::Counter,
            Left::Inner(..) => Kind::Map,
        }
    }
}

/// What one operation did at a key, by what it had seen.
struct Deed<'s, 'a> {
    one: &'s Visible<'a, (u8, ValuePlay)>,
    left: Vec<Left>,
    /// What it took back, by deed and place there.
    gone: Vec<(usize, usize)>,
}

/// What nothing among the deeds `seen` took back.
fn live(deeds: &[Deed<'_, '_>], seen: impl Fn(&Deed<'_, '_>) -> bool) -> Vec<(usize, usize)> {
    let mut live = Vec::new();
    for (at, deed) in deeds.iter().enumerate().filter(|(_, deed)| seen(deed)) {
        live.retain(|left| !deed.gone.contains(left));
        live.extend((0..deed.left.len()).map(|place| (at, place)));
    }
    live
}

/// What the operations at `key` did, each by what it had seen.
fn deeds<'s, 'a>(seen: &'s Seen<'a, (u8, ValuePlay)>, key: u8) -> Vec<Deed<'s, 'a>> {
    let mut deeds: Vec<Deed<'s, 'a>> = Vec::new();
    for one in seen.iter().filter(|one| one.op().0 == key) {
        let past = live(&deeds, |deed| seen.happened_before(deed.one, one));
        let left = |(at, place): (usize, usize)| deeds[at].left[place];
        let shown = past.iter().map(|at| left(*at).kind()).max();
        let (kind, new) = match one.op().1 {
            ValuePlay::Set(number) => (None, Some(Left::Scalar(number))),
            ValuePlay::Count(amount) => (Some(Kind::Counter), Some(Left::Amount(amount))),
            ValuePlay::Nest(inner, number) => (Some(Kind::Map), Some(Left::Inner(inner, number))),
            ValuePlay::Text => (Some(Kind::Text), None),
            ValuePlay::List => (Some(Kind::List), None),
            ValuePlay::Remove => (None, None),
        };
        let stays = kind.is_some() && kind == shown;
        let replaced = |before: Left| match (before, new) {
            (Left::Inner(a, _), Some(Left::Inner(b, _))) => a == b,
            _ => false,
        };
        let gone = past.into_iter();
        let gone = gone.filter(|at| !stays || replaced(left(*at))).collect();
        let mark = kind.filter(|_| !stays).map(Left::Mark);
        let left = mark.into_iter().chain(new).collect();
        deeds.push(Deed { one, left, gone });
    }
    deeds
}

/// The number that the greatest author wrote.
fn winner<'s>(all: impl Iterator<Item = (&'s Deed<'s, 's>, i64)>) -> Option<Plain> {
    let last = all.max_by_key(|(deed, _)| deed.one.author())?;
    Some(last.1.into())
}

/// What a key shows.
fn shown(seen: &Seen<'_, (u8, ValuePlay)>, key: u8) -> Option<Plain> {
    let deeds = deeds(seen, key);
    let live = live(&deeds, |_| true);
    let all = || {
        live.iter()
            .map(|(at, place)| (&deeds[*at], deeds[*at].left[*place]))
    };
    match all().map(|(_, left)| left.kind()).max()? {
        Kind::Scalar => winner(all().filter_map(|(deed, left)| match left {
            Left::Scalar(number) => Some((deed, number)),
            _ => None,
        })),
        Kind::Counter => {
            let amounts = all().map(|(_, left)| match left {
                Left::Amount(amount) => amount,
                _ => 0,
            });
            Some(amounts.sum::<i64>().into())
        }
        Kind::Text => Some("".into()),
        Kind::List => Some(Plain::List(Vec::new())),
        Kind::Map => {
            let inner = |key: u8| {
                let numbers = all().filter_map(|(deed, left)| match left {
                    Left::Inner(own, number) if own == key => Some((deed, number)),
                    _ => None,
                });
                Some((name(key), winner(numbers)?))
            };
            Some(Plain::Map([0, 1].into_iter().filter_map(inner).collect()))
        }
    }
}

/// Each key shows the greatest kind of what no later operation that had seen it took back.
impl Meaning for Value {
    fn judge(seen: &Seen<'_, (u8, ValuePlay)>, got: &Plain) -> Verdict {
        let keys = [0, 1].into_iter();
        let entries = keys.filter_map(|key| Some((name(key), shown(seen, key)?)));
        let expected = match seen.is_empty() {
            true => Plain::default(),
            false => Plain::Map(entries.collect::<BTreeMap<String, Plain>>()),
        };
        Verdict::equal(got, &expected, || {
            "each key shows the greatest kind of what was not taken back".into()
        })
    }
}
