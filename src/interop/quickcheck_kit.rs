//! `Arbitrary` for what the test kit is about, with the features `quickcheck` and `testkit`.
//!
//! Schedules, the operations that specifications speak of, and [`States`]: several states of *one*
//! execution. There is none for a single state, because two of them would not belong together.

use core::fmt::{self, Debug};
use core::ops::Deref;
use std::boxed::Box;

use ::quickcheck::{Arbitrary, Gen};

use crate::ReplicaId;
use crate::testkit::spec::{CounterOp, FlagOp, MapOp, RegisterOp, SetOp};
use crate::testkit::{
    BoundedOp, Capabilities, Faults, LwwOp, Schedule, Shape, Source, StateBased, Verb, execute,
};

type Shrunk<T> = Box<dyn Iterator<Item = T>>;

/// Steps of a schedule, whatever the size asked for.
const STEPS_MAX: usize = 100;

fn draw(g: &mut Gen, replicas: u32, verbs: Faults) -> Schedule {
    let mut source = Source::random(u64::arbitrary(g));
    let shape = Shape {
        replicas,
        steps: g.size().clamp(1, STEPS_MAX),
        weights: verbs.weights(),
    };
    Schedule::draw(&mut source, &shape)
}

/// Of all verbs, for up to five replicas; it has at most as many steps as the size of the generator.
///
/// What a type cannot do has no effect. Smaller ones have fewer steps, fewer replicas or lower
/// numbers.
impl Arbitrary for Schedule {
    fn arbitrary(g: &mut Gen) -> Schedule {
        draw(g, 3, Faults::all())
    }

    fn shrink(&self) -> Shrunk<Schedule> {
        Box::new(smaller(self.clone(), true))
    }
}

/// Schedules with fewer steps, most of them gone at first; then with fewer replicas, if `fewer`;
/// then with one number lowered.
fn smaller(schedule: Schedule, fewer: bool) -> impl Iterator<Item = Schedule> {
    let count = schedule.steps.len();
    let chunks = core::iter::successors(Some(count), |chunk| Some(chunk / 2));
    let chunks = chunks.take_while(|chunk| *chunk > 0);
    let places = chunks.flat_map(move |chunk| (0..count).step_by(chunk).map(move |at| (at, chunk)));
    let whole = schedule.clone();
    let shorter = places.map(move |(at, chunk)| {
        let mut small = whole.clone();
        small.steps.drain(at..count.min(at + chunk));
        small
    });
    let whole = schedule.clone();
    let replicas = 1..if fewer { schedule.replicas } else { 1 };
    let narrower = replicas.map(move |replicas| Schedule {
        replicas,
        ..whole.clone()
    });
    shorter.chain(narrower).chain(lower(schedule))
}

fn lower(schedule: Schedule) -> impl Iterator<Item = Schedule> {
    let places = (0..schedule.steps.len()).flat_map(|at| (0..3).map(move |place| (at, place)));
    places.flat_map(move |(at, place)| {
        let mut base = schedule.clone();
        let number = base.steps[at].numbers().nth(place).map(|number| *number);
        number.unwrap_or(0).shrink().filter_map(move |lower| {
            let mut small = base.clone();
            *small.steps[at].numbers().nth(place)? = lower;
            Some(small)
        })
    })
}

/// `N` states of one execution: replicas of `T` that did operations and merged.
///
/// A property takes it as its argument. It is made from a schedule, printed with it, and shrinks as
/// the schedule does.
///
/// # Examples
/// ```
/// use std::collections::BTreeMap;
/// use commute::ReplicaId;
/// use commute::interop::quickcheck_kit::States;
/// use commute::quickcheck::quickcheck;
/// use commute::testkit::{Outcome, Rejected, Source, StateBased, Subject};
///
/// #[derive(Clone, Debug)]
/// struct Count { me: ReplicaId, of: BTreeMap<ReplicaId, u64> }
///
/// impl Subject for Count {
///     type Op = u64;
///     type View = u64;
///     fn new(me: ReplicaId) -> Count { Count { me, of: BTreeMap::new() } }
///     fn duplicate(&self) -> Count { self.clone() }
///     fn choose(&self, source: &mut Source<'_>) -> Option<u64> { Some(1 + source.below(3)) }
///     fn perform(&mut self, amount: &u64) -> Outcome {
///         *self.of.entry(self.me).or_default() += amount;
///         Outcome::Done
///     }
///     fn view(&self) -> u64 { self.of.values().sum() }
/// }
///
/// impl StateBased for Count {
///     fn merge(&mut self, other: &Count) -> Result<(), Rejected> {
///         for (id, count) in &other.of {
///             let mine = self.of.entry(*id).or_default();
///             *mine = (*mine).max(*count);
///         }
///         Ok(())
///     }
///     fn same_state(&self, other: &Count) -> bool { self.of == other.of }
/// }
///
/// fn merge_is_commutative(states: States<Count, 2>) -> bool {
///     let [mut a, mut b] = states.into_array();
///     let (x, y) = (a.duplicate(), b.duplicate());
///     a.merge(&y).is_ok() && b.merge(&x).is_ok() && a.same_state(&b)
/// }
/// quickcheck(merge_is_commutative as fn(States<Count, 2>) -> bool);
/// ```
pub struct States<T, const N: usize> {
    schedule: Schedule,
    states: [T; N],
}

impl<T: StateBased, const N: usize> States<T, N> {
    /// The states after `schedule`, run with `N` replicas, 1 to 64.
    pub fn of(mut schedule: Schedule) -> States<T, N> {
        schedule.replicas = u32::try_from(N).unwrap_or(u32::MAX);
        // Only these keep their number.
        let kept = [Verb::Do, Verb::Merge];
        schedule.steps.retain(|step| kept.contains(&step.verb));
        let can = Capabilities::new().state();
        let mut reached = execute(&can, &schedule).into_iter();
        let empty = |at: usize| T::new(ReplicaId::from(at as u128 + 1));
        let states = core::array::from_fn(|at| reached.next().unwrap_or_else(|| empty(at)));
        States { schedule, states }
    }

    /// How they came about.
    pub fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// The states, by the places of their replicas.
    pub fn into_array(self) -> [T; N] {
        self.states
    }
}

impl<T, const N: usize> Deref for States<T, N> {
    type Target = [T; N];

    fn deref(&self) -> &[T; N] {
        &self.states
    }
}

impl<T: StateBased, const N: usize> Clone for States<T, N> {
    fn clone(&self) -> States<T, N> {
        States {
            schedule: self.schedule.clone(),
            states: self.states.each_ref().map(T::duplicate),
        }
    }
}

/// The schedule, as text that makes the same states, and the states.
impl<T: Debug, const N: usize> Debug for States<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("States")
            .field("schedule", &format_args!("{}", self.schedule))
            .field("states", &self.states)
            .finish()
    }
}

/// From a schedule of operations and merges.
impl<T: StateBased, const N: usize> Arbitrary for States<T, N> {
    fn arbitrary(g: &mut Gen) -> States<T, N> {
        let replicas = u32::try_from(N).unwrap_or(u32::MAX).clamp(1, 64);
        let verbs = Faults::only(&[Verb::Do, Verb::Merge]);
        States::of(draw(g, replicas, verbs))
    }

    fn shrink(&self) -> Shrunk<States<T, N>> {
        Box::new(smaller(self.schedule.clone(), false).map(States::of))
    }
}

/// Most of them insert; one of 24 clears.
impl<T: Arbitrary> Arbitrary for SetOp<T> {
    fn arbitrary(g: &mut Gen) -> SetOp<T> {
        match u8::arbitrary(g) % 24 {
            0 => SetOp::Clear,
            1..=8 => SetOp::Remove(T::arbitrary(g)),
            _ => SetOp::Insert(T::arbitrary(g)),
        }
    }

    fn shrink(&self) -> Shrunk<SetOp<T>> {
        match self {
            SetOp::Insert(value) => Box::new(value.shrink().map(SetOp::Insert)),
            SetOp::Remove(value) => Box::new(value.shrink().map(SetOp::Remove)),
            SetOp::Clear => ::quickcheck::empty_shrinker(),
        }
    }
}

/// One of eight resets; the amounts are small.
impl Arbitrary for CounterOp {
    fn arbitrary(g: &mut Gen) -> CounterOp {
        match u8::arbitrary(g) % 8 {
            0 => CounterOp::Reset,
            _ => CounterOp::Add(i8::arbitrary(g).into()),
        }
    }

    fn shrink(&self) -> Shrunk<CounterOp> {
        match self {
            CounterOp::Add(amount) => Box::new(amount.shrink().map(CounterOp::Add)),
            CounterOp::Reset => ::quickcheck::empty_shrinker(),
        }
    }
}

impl Arbitrary for FlagOp {
    fn arbitrary(g: &mut Gen) -> FlagOp {
        match bool::arbitrary(g) {
            true => FlagOp::Enable,
            false => FlagOp::Disable,
        }
    }
}

/// One of eight clears.
impl<V: Arbitrary> Arbitrary for RegisterOp<V> {
    fn arbitrary(g: &mut Gen) -> RegisterOp<V> {
        match u8::arbitrary(g) % 8 {
            0 => RegisterOp::Clear,
            _ => RegisterOp::Write(V::arbitrary(g)),
        }
    }

    fn shrink(&self) -> Shrunk<RegisterOp<V>> {
        match self {
            RegisterOp::Write(value) => Box::new(value.shrink().map(RegisterOp::Write)),
            RegisterOp::Clear => ::quickcheck::empty_shrinker(),
        }
    }
}

/// By clocks that show up to 255 ms.
impl<V: Arbitrary> Arbitrary for LwwOp<V> {
    fn arbitrary(g: &mut Gen) -> LwwOp<V> {
        LwwOp {
            clock: u8::arbitrary(g).into(),
            write: RegisterOp::arbitrary(g),
        }
    }

    fn shrink(&self) -> Shrunk<LwwOp<V>> {
        let pairs = (self.clock, self.write.clone()).shrink();
        Box::new(pairs.map(|(clock, write)| LwwOp { clock, write }))
    }
}

/// Of small amounts.
impl Arbitrary for BoundedOp {
    fn arbitrary(g: &mut Gen) -> BoundedOp {
        let amount = u8::arbitrary(g).into();
        match u8::arbitrary(g) % 3 {
            0 => BoundedOp::Add(amount),
            1 => BoundedOp::Subtract(amount),
            _ => BoundedOp::Transfer(usize::from(u8::arbitrary(g) % 5), amount),
        }
    }

    fn shrink(&self) -> Shrunk<BoundedOp> {
        match *self {
            BoundedOp::Add(amount) => Box::new(amount.shrink().map(BoundedOp::Add)),
            BoundedOp::Subtract(amount) => Box::new(amount.shrink().map(BoundedOp::Subtract)),
            BoundedOp::Transfer(to, amount) => {
                let pairs = (to, amount).shrink();
                Box::new(pairs.map(|(to, amount)| BoundedOp::Transfer(to, amount)))
            }
        }
    }
}

/// Most of them put; one of 24 clears.
impl<K: Arbitrary, V: Arbitrary> Arbitrary for MapOp<K, V> {
    fn arbitrary(g: &mut Gen) -> MapOp<K, V> {
        match u8::arbitrary(g) % 24 {
            0 => MapOp::Clear,
            1..=8 => MapOp::Remove(K::arbitrary(g)),
            _ => MapOp::Put(K::arbitrary(g), V::arbitrary(g)),
        }
    }

    fn shrink(&self) -> Shrunk<MapOp<K, V>> {
        match self {
            MapOp::Put(key, value) => {
                let pairs = (key.clone(), value.clone()).shrink();
                Box::new(pairs.map(|(key, value)| MapOp::Put(key, value)))
            }
            MapOp::Remove(key) => Box::new(key.shrink().map(MapOp::Remove)),
            MapOp::Clear => ::quickcheck::empty_shrinker(),
        }
    }
}
