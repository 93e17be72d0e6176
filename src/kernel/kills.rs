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

    /// Whether all of `names` but those of `claims`, of which nothing dies here, die.
    ///
    /// All of it comes from outside, so nothing is built: see [`Names::weight_with`].
    pub(crate) fn cover(&self, names: &Names, claims: &Dots) -> bool {
        let elsewhere = claims.union(&self.all_of);
        names.is_disjoint(&self.except) && names.is_subset_beyond(&elsewhere, &self.also)
    }

    /// The updates some of whose entries may die.
    pub(crate) fn reach(&self) -> Dots {
        self.all_of.union(&self.also.dots())
    }

    /// What dies by either, without what lies in `claims`; `None` if that weighs far more than both.
    pub(crate) fn union(&self, other: &Kills, claims: &Dots) -> Option<Kills> {
        let mine = [&self.except, &self.also];
        let theirs = [&other.except, &other.also];
        let cuts = [&self.all_of, &other.all_of, claims];
        let all = mine.iter().chain(&theirs);
        let cut = all.flat_map(|names| cuts.map(|dots| names.weight_cut(dots)));
        let pairs = mine.iter().flat_map(|m| theirs.map(|t| m.weight_with(t)));
        let weight = cut.chain(pairs).fold(0, u64::saturating_add);
        let heavy = weight > Names::most(mine.into_iter().chain(theirs));
        (!heavy).then(|| self.union_of(other, claims))
    }

    fn union_of(&self, other: &Kills, claims: &Dots) -> Kills {
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
