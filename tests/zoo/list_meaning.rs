//! What a list must show: the strong list specification, and runs that stay together.
//!
//! Source: Attiya et al. 2016, "Specification and complexity of collaborative text editing".

use std::collections::BTreeMap;

use commute::Dot;
use commute::testkit::{Law, Seen, Verdict, Visible};

/// An edit of a list; each element has a tag that no other one has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ListOp {
    /// Puts an element directly right of `after`, or at the start.
    Insert {
        after: Option<Dot>,
        tag: Dot,
    },
    Delete(Dot),
}

type One<'s, 'a> = &'s Visible<'a, ListOp>;

struct Meaning<'s, 'a> {
    seen: &'s Seen<'a, ListOp>,
    inserts: BTreeMap<Dot, One<'s, 'a>>,
    places: BTreeMap<Dot, usize>,
}

/// Judges a list: its elements, their order, and where each insert lands.
pub fn check(seen: &Seen<'_, ListOp>, got: &[Dot]) -> Verdict {
    let mut inserts = BTreeMap::new();
    let mut expected = BTreeMap::new();
    for one in seen.iter() {
        if let ListOp::Insert { tag, .. } = one.op() {
            inserts.insert(*tag, one);
            expected.insert(*tag, ());
        }
    }
    for one in seen.iter() {
        if let ListOp::Delete(tag) = one.op() {
            expected.remove(tag);
        }
    }
    let places: BTreeMap<Dot, usize> = got.iter().copied().zip(0..).collect();
    if places.len() != got.len() || !places.keys().eq(expected.keys()) {
        let right: Vec<&Dot> = expected.keys().collect();
        return Verdict::wrong(
            format!("these elements, each once: {right:?}"),
            "what was inserted and not deleted is shown",
        );
    }
    let meaning = Meaning {
        seen,
        inserts,
        places,
    };
    meaning
        .one_order(got)
        .and(|| meaning.lands_where_asked(got))
        .and(|| meaning.stays_together(got))
}

fn wrong(law: Law, expected: String, why: String) -> Verdict {
    Verdict::Wrong { law, expected, why }
}

impl Meaning<'_, '_> {
    fn one_order(&self, got: &[Dot]) -> Verdict {
        for (at, left) in got.iter().enumerate() {
            for right in &got[at + 1..] {
                let (a, b) = (self.inserts[left], self.inserts[right]);
                if !self.seen.shown_in_order(a.key(), b.key()) {
                    return wrong(
                        Law::T1,
                        format!("{} before {}", b.id(), a.id()),
                        format!("{} was shown before {} earlier", b.id(), a.id()),
                    );
                }
            }
        }
        Verdict::Right
    }

    /// The shown elements between the one that an insert names and the inserted one.
    fn between<'g>(&self, got: &'g [Dot], after: Option<Dot>, tag: Dot) -> Option<&'g [Dot]> {
        let end = *self.places.get(&tag)?;
        let start = match after {
            Some(after) => *self.places.get(&after)? + 1,
            None => 0,
        };
        got.get(start..end)
    }

    fn lands_where_asked(&self, got: &[Dot]) -> Verdict {
        for one in self.inserts.values() {
            let ListOp::Insert { after, tag } = one.op() else {
                continue;
            };
            let both = |after: &Dot| self.places.contains_key(after);
            if !self.places.contains_key(tag) || !after.as_ref().is_none_or(both) {
                continue;
            }
            let known = |other: &&Dot| self.seen.happened_before(self.inserts[*other], one);
            let between = self.between(got, *after, *tag);
            let alien = between.map(|between| between.iter().find(known));
            if alien != Some(None) {
                return wrong(
                    Law::T2,
                    format!("{tag:?} directly right of {after:?}"),
                    format!("{} put it there, past what its author saw", one.id()),
                );
            }
        }
        Verdict::Right
    }

    fn stays_together(&self, got: &[Dot]) -> Verdict {
        for one in self.inserts.values() {
            let ListOp::Insert { after, tag } = one.op() else {
                continue;
            };
            let Some(after) = after.filter(|after| self.places.contains_key(after)) else {
                continue;
            };
            let origin = self.inserts[&after];
            let apart = |other: &&Dot| self.seen.concurrent(self.inserts[*other], origin);
            let between = self.between(got, Some(after), *tag).unwrap_or_default();
            if let Some(other) = between.iter().find(apart) {
                return wrong(
                    Law::T3,
                    format!("{other:?} not between {after:?} and {tag:?}"),
                    format!("{} knew nothing of {after:?}", self.inserts[other].id()),
                );
            }
        }
        Verdict::Right
    }
}
