//! One type with many faults: a table of them, and which one a run is about.
//!
//! Each replica keeps the fault it was made with, so that the kit is compiled once for all faults
//! of a type. Runs of one type take turns, since the kit may make replicas on any thread.

macro_rules! faults {
    ($($name:ident $id:literal $kind:ident ($replicas:literal, $steps:literal) $what:literal;)*) => {
        /// What is wrong.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum Fault {
            $(#[doc = $what] $name,)*
        }

        const ALL: &[Fault] = &[$(Fault::$name),*];

        static TURN: std::sync::Mutex<()> = std::sync::Mutex::new(());
        static CHOSEN: std::sync::Mutex<Fault> = std::sync::Mutex::new(ALL[0]);

        impl Fault {
            /// The one of this run.
            fn chosen() -> Fault {
                *CHOSEN.lock().unwrap()
            }

            fn id(self) -> &'static str {
                match self { $(Fault::$name => $id,)* }
            }

            fn entry<T: commute::testkit::Subject>(
                self,
                capabilities: fn() -> commute::testkit::Capabilities<T>,
            ) -> crate::entry::Entry {
                use crate::entry::{Entry, Kind, entry};
                let (kind, what, scope) = match self {
                    $(Fault::$name => (Kind::$kind, $what, ($replicas, $steps)),)*
                };
                let entry = entry(self.id(), kind, what, capabilities).scope(scope.0, scope.1);
                Entry {
                    engine: Box::new(move |task, means| {
                        let _turn = TURN.lock().unwrap();
                        *CHOSEN.lock().unwrap() = self;
                        (entry.engine)(task, means)
                    }),
                    ..entry
                }
            }
        }
    };
}

pub(crate) use faults;

/// The id that the kit gives the n-th replica, of those that are there from the start.
pub fn founder(n: u32) -> commute::ReplicaId {
    (u128::from(n) * 389 % 1009).into()
}
