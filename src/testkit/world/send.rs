//! What is sent: states, answers, updates, groups; and the letters in flight.

use std::rc::Rc;

use super::super::coverage::Mark;
use super::super::events::Events;
use super::super::story::Deed;
use super::{Cargo, Checked, Parcel, World};

impl World {
    pub(super) fn post(&mut self, from: usize, parcel: Rc<Parcel>) -> bool {
        let letter = (from as u32, self.sent[from]);
        Rc::make_mut(&mut self.sent)[from] += 1;
        let payload = parcel.payload;
        self.mail.push((letter, parcel));
        self.tell(|| Deed::Sent {
            from,
            payload: payload.into(),
            letter: name(letter),
        });
        true
    }

    pub(super) fn send_state(&mut self, from: usize) -> bool {
        if self.can.state.is_none() {
            return false;
        }
        let node = Rc::clone(&self.nodes[from]);
        let parcel = self.whole(from, Cargo::State(node), "state");
        self.post(from, parcel)
    }

    pub(super) fn send_bytes(&mut self, from: usize) -> bool {
        let (Some(_), Some(table)) = (self.can.state, self.can.bytes) else {
            return false;
        };
        let node = &self.nodes[from];
        let cargo = Cargo::Bytes(Rc::new((table.encode)(&node.subject)), node.id, node.via);
        let parcel = self.whole(from, cargo, "bytes");
        self.post(from, parcel)
    }

    fn whole(&self, from: usize, cargo: Cargo, payload: &'static str) -> Rc<Parcel> {
        Rc::new(Parcel {
            from,
            cargo,
            claims: self.nodes[from].seen.clone(),
            needs: Events::default(),
            base: Events::default(),
            asked: None,
            payload,
        })
    }

    pub(super) fn send_answer(&mut self, from: usize, to: usize) -> Checked<bool> {
        match self.answer(from, to)? {
            Some(parcel) if !parcel.claims.is_empty() => Ok(self.post(from, parcel)),
            _ => Ok(false),
        }
    }

    /// What carries an operation that `from` has seen, its own or relayed.
    pub(super) fn send_update(&mut self, from: usize, pick: u32) -> bool {
        let seen = &self.nodes[from].seen;
        let known: Vec<&Rc<Parcel>> = self
            .carriers
            .iter()
            .filter(|parcel| parcel.claims.is_subset(seen))
            .collect();
        let Some(place) = (pick as usize).checked_rem(known.len()) else {
            return false;
        };
        let parcel = Rc::clone(known[place]);
        self.post(from, parcel)
    }

    /// Two or three of the last operations as one parcel; with `cut`, only what `from` lacks.
    pub(super) fn send_group(&mut self, from: usize, choice: u32, cut: bool) -> bool {
        // Two operations under one name cannot be grouped.
        if self.cloned {
            return false;
        }
        let mut source = super::super::Source::number(u64::from(choice));
        let count = 2 + source.below(2);
        let with_gap = source.below(2) == 0;
        let mut group: Option<Rc<Parcel>> = None;
        for _ in 0..count {
            let Some(next) = self.member(&mut source, group.as_deref(), with_gap) else {
                break;
            };
            group = match group {
                None => Some(next),
                Some(group) => match self.grouped(&group, &next) {
                    Some(both) => Some(Rc::new(both)),
                    None => return false,
                },
            };
        }
        let group = match (group, cut) {
            (Some(group), true) => self.cut_parcel(from, &group),
            (group, _) => group,
        };
        match group {
            Some(group) if !group.claims.is_empty() => self.post(from, group),
            _ => false,
        }
    }

    /// A recent operation to be grouped with `group`; `with_gap` the second last one before it of the
    /// same author, so that what lies between needs the group and the group needs it.
    fn member(
        &self,
        source: &mut super::super::Source<'_>,
        group: Option<&Parcel>,
        with_gap: bool,
    ) -> Option<Rc<Parcel>> {
        // An operation may have carriers of two kinds: only those of one kind make a group.
        let alike =
            |next: &&Rc<Parcel>| group.is_none_or(|group| is_delta(group) == is_delta(next));
        let mut recent = self.carriers.iter().rev().filter(alike);
        let chosen = match group.filter(|_| with_gap) {
            Some(group) => {
                let first = group.claims.iter().next()?;
                let before = |next: &&Rc<Parcel>| {
                    next.from == group.from && next.claims.iter().all(|number| number < first)
                };
                recent.clone().filter(before).nth(1)
            }
            None => None,
        };
        let any = || {
            let reach = recent.clone().take(6).count();
            recent.nth(source.below(reach as u64) as usize)
        };
        chosen.or_else(any).map(Rc::clone)
    }

    fn grouped(&self, a: &Parcel, b: &Parcel) -> Option<Parcel> {
        let cargo = match (&a.cargo, &b.cargo) {
            (Cargo::Delta(a), Cargo::Delta(b)) => {
                Cargo::Delta((self.can.delta?.group)(&**a, &**b)?)
            }
            (Cargo::Messages(a), Cargo::Messages(b)) if a.len() == 1 && b.len() == 1 => {
                Cargo::Messages(vec![(self.can.ops?.group)(&*a[0], &*b[0])?])
            }
            _ => return None,
        };
        let claims = a.claims.union(&b.claims);
        Some(Parcel {
            from: a.from,
            cargo,
            needs: a.needs.union(&b.needs).difference(&claims),
            base: a.base.union(&b.base).difference(&claims),
            claims,
            asked: None,
            payload: "group",
        })
    }

    fn cut_parcel(&self, at: usize, parcel: &Parcel) -> Option<Rc<Parcel>> {
        let (Cargo::Delta(delta), Some(table)) = (&parcel.cargo, self.can.delta) else {
            return None;
        };
        let node = &self.nodes[at];
        let cut = (table.beyond)(&**delta, &*(table.seen)(&node.subject))?;
        Some(Rc::new(Parcel {
            from: at,
            cargo: Cargo::Delta(cut),
            claims: parcel.claims.difference(&node.seen),
            needs: parcel.needs.union(&parcel.claims.intersection(&node.seen)),
            base: node.seen.clone(),
            asked: None,
            payload: "cut",
        }))
    }

    /// The place in the mail of letter `number` of `from`, or of its next one still in flight.
    pub(super) fn letter(&self, from: usize, number: u32) -> Option<usize> {
        let number = number % self.sent[from].max(1);
        let of = |letter: &(u32, u32)| letter.0 == from as u32;
        let places = || {
            self.mail
                .iter()
                .enumerate()
                .filter(|(_, (letter, _))| of(letter))
        };
        let later = places().find(|(_, (letter, _))| letter.1 >= number);
        later.or_else(|| places().next()).map(|(place, _)| place)
    }

    pub(super) fn lose(&mut self, from: usize, number: u32) -> bool {
        let Some(place) = self.letter(from, number) else {
            return false;
        };
        let (letter, _) = self.mail.remove(place);
        self.mark(Mark::Lost);
        self.note(from, || format!("{} is lost", name(letter)));
        true
    }
}

fn is_delta(parcel: &Parcel) -> bool {
    matches!(parcel.cargo, Cargo::Delta(_))
}

/// `m0.3`
pub(super) fn name(letter: (u32, u32)) -> String {
    format!("m{}.{}", letter.0, letter.1)
}
