//! The laws, by name.

use std::fmt;

macro_rules! laws {
    ($($(#[$doc:meta])* $name:ident $title:literal,)*) => {
        /// What must hold; the codes are those of `docs/testkit.md`.
        #[non_exhaustive]
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Law {
            $(
                #[doc = $title]
                $(#[$doc])*
                $name,
            )*
        }

        impl Law {
            /// Every law.
            pub const ALL: &'static [Law] = &[$(Law::$name),*];

            /// The short name, as it is written in reports.
            pub const fn code(self) -> &'static str {
                match self { $(Law::$name => stringify!($name),)* }
            }

            /// What it says.
            pub const fn title(self) -> &'static str {
                match self { $(Law::$name => $title,)* }
            }
        }
    };
}

laws! {
    J1 "merge is commutative",
    J2 "merge is associative",
    J3 "merge is idempotent",
    J4 "merging with an empty replica changes nothing",
    J5 "merging the same state again changes nothing",
    J6 "operations and merges only add",
    J7 "merge gives no more than both sides have",
    J8 "states that include each other are equal",
    D1 "the delta of an operation does what the operation did",
    D2 "a delta is as good as the whole state",
    D3 "a delta may come again and in any order; a gap is noticed",
    D4 "what is known already is not sent, and deltas are small",
    O1 "the same messages give the same state in any legal order",
    O2 "messages and states lead to the same state",
    O3 "nothing honest is refused",
    O4 "an illegal delivery is noticed and does no harm",
    S1 "the view is what the visible operations mean",
    S2 "replicas that have seen the same are equal",
    S3 "all replicas become equal once everything is exchanged",
    S4 "a replica shows its own operations at once",
    P1 "a state is its bytes, decoded",
    P2 "one state has one byte string",
    P3 "foreign bytes are refused without harm",
    P4 "the bytes of older releases are read",
    P5 "a replica goes on after a crash",
    G1 "collecting changes no view",
    G2 "what was collected does not come back",
    G3 "collecting too much is refused",
    G4 "what is kept is bounded",
    T1 "two elements stand in one order in all views",
    T2 "an edit lands where it was asked for",
    T3 "what is typed together stays together",
    I1 "the invariant holds",
    N1 "the state is a function of the version",
    N2 "versions are closed and made of whole updates",
    N3 "nothing waits that lacks nothing",
    N4 "answers are right for everyone, with or without removal records",
    N5 "heads are the maximal updates",
    R1 "what is refused or without effect leaves no trace",
    H1 "the same schedule does the same again",
    H2 "every kind of step has an effect at times",
    /// The message of the panic is in the report.
    Panic "nothing panics",
    /// A call that does not return, or memory without bound.
    Bounds "every call returns, within bounds",
}

impl fmt::Display for Law {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code(), self.title())
    }
}

/// Laws that one fault breaks in turn, as its schedule shrinks.
pub(crate) fn alike(a: Law, b: Law) -> bool {
    group(a) == group(b)
}

fn group(law: Law) -> Law {
    match law {
        Law::O1 | Law::O2 | Law::D2 | Law::N1 | Law::G2 | Law::S2 | Law::S3 => Law::S2,
        Law::S4 | Law::S1 => Law::S1,
        other => other,
    }
}

/// A set of laws.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Laws(u64);

impl Laws {
    /// All of them.
    pub const ALL: Laws = Laws(u64::MAX);
    /// None of them.
    pub const NONE: Laws = Laws(0);

    /// With `law`.
    #[must_use]
    pub const fn with(self, law: Law) -> Laws {
        Laws(self.0 | 1 << law as u64)
    }

    /// Without `law`.
    #[must_use]
    pub const fn without(self, law: Law) -> Laws {
        Laws(self.0 & !(1 << law as u64))
    }

    /// Whether `law` is among them.
    pub const fn has(self, law: Law) -> bool {
        self.0 >> law as u64 & 1 == 1
    }

    /// Those that stand or fall with `law`: one fault breaks them in turn as its run shrinks.
    pub(crate) fn like(law: Law) -> Laws {
        let same = Law::ALL.iter().filter(|other| alike(**other, law));
        same.fold(Laws::NONE, |laws, law| laws.with(*law))
    }

    /// Without those of `others`.
    pub(crate) const fn minus(self, others: Laws) -> Laws {
        Laws(self.0 & !others.0)
    }

    /// With those that no one can do without: a panic or an endless call ends any run.
    pub(crate) const fn always(self) -> Laws {
        self.with(Law::Panic).with(Law::Bounds)
    }

    /// Those that need no specification of the type.
    pub const fn without_meaning() -> Laws {
        Laws::ALL
            .without(Law::S1)
            .without(Law::S4)
            .without(Law::T1)
            .without(Law::T2)
            .without(Law::T3)
    }
}

#[test]
fn there_are_no_more_laws_than_bits() {
    assert!(Law::ALL.len() <= 64);
    let some = Laws::NONE.with(Law::J1).with(Law::Bounds);
    assert!(some.has(Law::J1) && some.has(Law::Bounds) && !some.has(Law::J2));
}
