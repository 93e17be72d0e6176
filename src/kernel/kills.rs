//! The deaths that a delta brings.

use crate::clock::{Dots, Names};

/// Dead entries outside a delta's claims: all entries of `all_of` but `except`, and `also`.
///
/// `also` lies outside `all_of`, and `except` within it, so the form is canonical.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Kills {
    pub(crate) all_of: Dots,
    pub(crate) except: Names,
    pub(crate) also: Names,
}

impl Kills {
    pub(crate) fn exactly(also: Names) -> Kills {
        Kills {
            also,
            ..Kills::default()
        }
    }

    /// Which of `names` die.
    pub(crate) fn among(&self, names: &Names) -> Names {
        let mut dead = names.restrict(&self.all_of).difference(&self.except);
        dead.union_with(&names.intersection(&self.also));
        dead
    }

    /// Whether all of `names` die.
    pub(crate) fn cover(&self, names: &Names) -> bool {
        self.among(names).len() == names.len()
    }

    /// The updates some of whose entries may die.
    pub(crate) fn reach(&self) -> Dots {
        self.all_of.union(&self.also.dots())
    }

    /// What dies by either, without what lies in `claims`.
    pub(crate) fn union(&self, other: &Kills, claims: &Dots) -> Kills {
        let all_of = self.all_of.union(&other.all_of).difference(claims);
        let mut except = self.except.difference(&other.among(&self.except));
        let rest = other.except.difference(&self.among(&other.except));
        // Excepted by one and outside the other's `all_of`, or excepted by both.
        except.union_with(&rest);
        let except = except.restrict(&all_of);
        let also = self
            .also
            .union(&other.also)
            .without(claims)
            .without(&all_of);
        Kills {
            all_of,
            except,
            also,
        }
    }
}
