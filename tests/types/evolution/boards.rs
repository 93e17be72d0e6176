//! One board in two versions, and what is done to it by chance.

use commute::kernel::EditView;
use commute::text::Chars;
use commute::{
    EditError, GCounter, List, LwwMap, LwwRegister, MvRegister, OrMap, OrSet, PnCounter,
    Replicated, RwMap, RwSet, Stamp, Text, Value,
};

/// What an earlier version knew.
pub(crate) mod old {
    use super::*;

    #[derive(Debug, Replicated)]
    pub struct Card {
        pub title: LwwRegister<String>,
        pub size: Size,
    }

    #[derive(Debug, Replicated)]
    pub struct Size {
        pub hours: PnCounter,
    }

    #[derive(Debug, Replicated)]
    pub struct Board {
        pub tags: OrSet<String>,
        pub cards: OrMap<u8, Card>,
        pub size: Size,
    }
}

/// What a later one knows: more, at every depth.
pub(crate) mod new {
    use super::*;

    #[derive(Debug, Replicated)]
    pub struct Card {
        pub title: LwwRegister<String>,
        pub body: Text,
        pub size: Size,
        pub labels: RwSet<u16>,
        pub order: List<String>,
        pub votes: GCounter,
    }

    #[derive(Debug, Replicated)]
    pub struct Size {
        pub hours: PnCounter,
        pub points: MvRegister<i32>,
        pub parts: OrMap<String, Part>,
    }

    #[derive(Debug, Replicated)]
    pub struct Part {
        pub done: PnCounter,
        pub names: LwwMap<i16, String>,
    }

    #[derive(Debug, Replicated)]
    pub struct Board {
        pub tags: OrSet<String>,
        pub cards: OrMap<u8, Card>,
        pub size: Size,
        pub title: Text,
        pub seen: GCounter,
        pub deep: OrMap<(String, u8), OrMap<bool, OrMap<u8, Part>>>,
        pub people: People,
        pub steps: List<Part>,
        pub data: Value,
        pub shelves: RwMap<u8, Value>,
    }

    #[derive(Debug, Replicated)]
    pub struct People {
        pub names: OrSet<String>,
        pub count: PnCounter,
    }
}

/// SplitMix64 (Steele, Lea, Flood 2014).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound
    }

    fn word(&mut self) -> String {
        ["a", "b\0", "", "\u{e9}"][self.below(4) as usize].into()
    }

    fn stamp(&mut self) -> Stamp {
        Stamp::from_millis(self.below(5))
    }
}

fn edit_text(random: &mut Random, mut text: EditView<'_, Text>) -> Result<(), EditError> {
    let len = text.len::<Chars>().0;
    let at = random.below(len as u64 + 1) as usize;
    match random.below(3) {
        0 if at < len => text.delete(Chars(at)..Chars(at + 1)),
        _ => text.insert(Chars(at), "xy"),
    }
}

fn edit_new_size(random: &mut Random, size: &mut new::SizeEdit<'_>) -> Result<(), EditError> {
    match random.below(6) {
        0 => size.hours().add(1),
        1 => size.points().set(random.below(9) as i32 - 4).map(drop),
        2 => size.parts().entry(random.word()).done().subtract(1),
        3 => size.parts().remove(random.word().as_str()).map(drop),
        4 => size.points().clear().map(drop),
        _ => {
            let (key, stamp) = (random.below(3) as i16 - 1, random.stamp());
            let mut parts = size.parts();
            let mut part = parts.entry(random.word());
            part.names().insert(key, random.word(), stamp).map(drop)
        }
    }
}

fn edit_new_card(random: &mut Random, card: &mut new::CardEdit<'_>) -> Result<(), EditError> {
    match random.below(7) {
        0 => card.title().set(random.word(), random.stamp()).map(drop),
        1 => edit_text(random, card.body()),
        2 => edit_new_size(random, &mut card.size()),
        3 => card.labels().insert(random.below(3) as u16).map(drop),
        4 => card.labels().remove(&(random.below(3) as u16)).map(drop),
        5 => card.order().insert(0, random.word()),
        _ => card.votes().add(1 + random.below(3)),
    }
}

pub(crate) fn edit_new(
    random: &mut Random,
    board: &mut new::BoardEdit<'_>,
) -> Result<(), EditError> {
    for _ in 0..1 + random.below(3) {
        let key = random.below(3) as u8;
        match random.below(17) {
            0 => board.tags().insert(random.word()).map(drop)?,
            1 => board.tags().remove(random.word().as_str()).map(drop)?,
            2..=4 => edit_new_card(random, &mut board.cards().entry(key))?,
            5 => board.cards().remove(&key).map(drop)?,
            6 => edit_new_size(random, &mut board.size())?,
            7 => edit_text(random, board.title())?,
            8 => board.seen().add(1)?,
            9 => {
                let at = (random.word(), key);
                let mut deep = board.deep();
                let mut inner = deep.entry(at);
                match random.below(3) {
                    0 => inner.remove(&true).map(drop)?,
                    _ => inner.entry(random.below(2) == 0).entry(key).done().add(1)?,
                }
            }
            10 => board.steps().push_empty()?.done().add(1)?,
            11 if board.steps.len() > 1 => match random.below(2) {
                0 => board.steps().remove(0)?,
                _ => board.steps().edit(1)?.done().add(1)?,
            },
            12 => board
                .data()
                .map()?
                .entry(random.word())
                .list()?
                .insert(0, 7)?,
            13 => board.data().set(random.word())?,
            14 => board.shelves().entry(key)?.counter()?.add(1)?,
            15 => board.shelves().remove(&key).map(drop)?,
            16 => board.people().names().insert(random.word()).map(drop)?,
            _ => board.people().count().add(2)?,
        }
    }
    Ok(())
}

pub(crate) fn edit_old(
    random: &mut Random,
    board: &mut old::BoardEdit<'_>,
) -> Result<(), EditError> {
    for _ in 0..1 + random.below(2) {
        let key = random.below(3) as u8;
        match random.below(8) {
            0 => board.tags().insert(random.word()).map(drop)?,
            1 => board.tags().clear()?,
            2 => board
                .cards()
                .entry(key)
                .title()
                .set(random.word(), random.stamp())
                .map(drop)?,
            3 => board.cards().entry(key).size().hours().add(1)?,
            4 | 5 => board.cards().remove(&key).map(drop)?,
            6 => board.cards().clear()?,
            _ => board.size().hours().subtract(1)?,
        }
    }
    Ok(())
}
