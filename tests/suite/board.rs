//! A struct of two fields by hand: one update touches both.

use std::collections::BTreeSet;

use commute::codec::{DecodeError, DecodeErrorKind, Decoder, Encoder};
use commute::kernel::{EditView, Part, Place, ShapeKind, Update};
use commute::{Dots, MergeError, Names, OrSet, PnCounter, ReplicaId, Replicated, Version};

#[derive(Debug)]
pub struct Board {
    pub set: OrSet<u8>,
    pub count: PnCounter,
}

#[derive(Clone, Default, PartialEq, Debug)]
pub struct BoardPart {
    set: <OrSet<u8> as Replicated>::Part,
    count: <PnCounter as Replicated>::Part,
}

#[derive(Debug)]
pub struct BoardEdit<'a> {
    board: &'a mut Board,
    update: &'a mut Update,
}

impl BoardEdit<'_> {
    pub fn set(&mut self) -> EditView<'_, OrSet<u8>> {
        self.board.set.edit(self.update)
    }

    pub fn count(&mut self) -> EditView<'_, PnCounter> {
        self.board.count.edit(self.update)
    }
}

impl Replicated for Board {
    type Part = BoardPart;
    type Edit<'a> = BoardEdit<'a>;
    type View = (BTreeSet<u8>, i128);

    fn kind(_: Place) -> ShapeKind {
        ShapeKind::Struct
    }

    fn empty(place: Place) -> Board {
        Board {
            set: OrSet::empty(place),
            count: PnCounter::empty(place),
        }
    }

    fn edit<'a>(&'a mut self, update: &'a mut Update) -> BoardEdit<'a> {
        BoardEdit {
            board: self,
            update,
        }
    }

    fn view(&self) -> Self::View {
        (self.set.view(), self.count.view())
    }

    fn visible(&self) -> bool {
        self.set.visible() || self.count.visible()
    }

    fn is_bottom(&self) -> bool {
        self.set.is_bottom() && self.count.is_bottom()
    }

    fn entries(&self) -> u64 {
        self.set.entries() + self.count.entries()
    }

    fn names(&self, of: &Dots, out: &mut Names) {
        self.set.names(of, out);
        self.count.names(of, out);
    }

    fn part(&self, of: &Dots) -> BoardPart {
        BoardPart {
            set: self.set.part(of),
            count: self.count.part(of),
        }
    }

    fn check(&self, part: &BoardPart, known: &Version) -> Result<u64, MergeError> {
        Ok(self.set.check(&part.set, known)? + self.count.check(&part.count, known)?)
    }

    fn check_kill(&self, names: &Names) -> Result<(), MergeError> {
        self.set.check_kill(names)?;
        self.count.check_kill(names)
    }

    fn kill(&mut self, names: &Names) {
        self.set.kill(names);
        self.count.kill(names);
    }

    fn adopt(&mut self, part: BoardPart, known: &Version) {
        self.set.adopt(part.set, known);
        self.count.adopt(part.count, known);
    }

    fn check_join(
        &self,
        mine: &Version,
        other: &Board,
        theirs: &Version,
    ) -> Result<u64, MergeError> {
        let set = self.set.check_join(mine, &other.set, theirs)?;
        Ok(set + self.count.check_join(mine, &other.count, theirs)?)
    }

    fn join(&mut self, mine: &Version, other: &Board, theirs: &Version) {
        self.set.join(mine, &other.set, theirs);
        self.count.join(mine, &other.count, theirs);
    }

    fn publish(&mut self, update: &Update) -> BoardPart {
        BoardPart {
            set: self.set.publish(update),
            count: self.count.publish(update),
        }
    }

    fn rollback(&mut self) {
        self.set.rollback();
        self.count.rollback();
    }

    fn encode(&self, encoder: &mut Encoder, place: Place) {
        encoder.byte(OrSet::<u8>::kind(place) as u8);
        self.set.encode(encoder, place);
        encoder.byte(PnCounter::kind(place) as u8);
        self.count.encode(encoder, place);
    }

    fn decode(decoder: &mut Decoder<'_>, place: Place) -> Result<Board, DecodeError> {
        decoder.shape(OrSet::<u8>::kind(place))?;
        let set = decoder.deeper(|d| OrSet::decode(d, place))?;
        decoder.shape(PnCounter::kind(place))?;
        let count = decoder.deeper(|d| PnCounter::decode(d, place))?;
        Ok(Board { set, count })
    }
}

impl Part for BoardPart {
    fn kind(_: Place) -> ShapeKind {
        ShapeKind::Struct
    }

    fn is_empty(&self) -> bool {
        self.set.is_empty() && self.count.is_empty()
    }

    fn entries(&self) -> u64 {
        self.set.entries() + self.count.entries()
    }

    fn names(&self, out: &mut Names) {
        self.set.names(out);
        self.count.names(out);
    }

    fn replicas(&self, out: &mut BTreeSet<ReplicaId>) {
        self.set.replicas(out);
        self.count.replicas(out);
    }

    fn restrict(&mut self, dots: &Dots) {
        self.set.restrict(dots);
        self.count.restrict(dots);
    }

    fn remove(&mut self, names: &Names) {
        self.set.remove(names);
        self.count.remove(names);
    }

    fn union(&mut self, other: BoardPart) -> Result<(), MergeError> {
        self.set.union(other.set)?;
        self.count.union(other.count)
    }

    fn content(&self, out: &mut Vec<u8>) {
        self.set.content(out);
        out.push(0);
        self.count.content(out);
    }

    fn encode(&self, encoder: &mut Encoder, place: Place) {
        encoder.byte(OrSet::<u8>::kind(place) as u8);
        self.set.encode(encoder, place);
        encoder.byte(PnCounter::kind(place) as u8);
        self.count.encode(encoder, place);
    }

    fn decode(decoder: &mut Decoder<'_>, place: Place) -> Result<BoardPart, DecodeError> {
        decoder.shape(OrSet::<u8>::kind(place))?;
        let set = decoder.deeper(|d| Part::decode(d, place))?;
        decoder.shape(PnCounter::kind(place))?;
        let count = decoder.deeper(|d| Part::decode(d, place))?;
        let part = BoardPart { set, count };
        decoder.require(!part.is_empty(), DecodeErrorKind::NotCanonical)?;
        Ok(part)
    }
}
