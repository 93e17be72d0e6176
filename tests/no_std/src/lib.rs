//! The core of `commute` in a program without the standard library.
#![no_std]

extern crate alloc;

mod bump;

use alloc::string::String;
use core::panic::PanicInfo;

use commute::codec::Limits;
use commute::kernel::{DotFun, DotMap};
use commute::value::Plain;
use commute::{
    Applied, Delta, Dot, GCounter, Lamport, List, OrSet, PnCounter, Replica, ReplicaId, Replicated,
    RwMap, State, Value, Version,
};

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    // SAFETY: `abort` of the C library takes nothing and never returns.
    unsafe { abort() }
}

unsafe extern "C" {
    fn abort() -> !;
}

/// Runs the core; 0 if every step gave what it should, else the number of the first that did not.
#[unsafe(no_mangle)]
pub extern "C" fn commute_no_std_check() -> i32 {
    let checks = [clocks, counters, sets, shapes, values, hostile];
    let failed = checks.iter().position(|check| check() != Some(true));
    failed.map_or(0, |at| at as i32 + 1)
}

fn pair<S: Replicated>() -> (Replica<S>, Replica<S>) {
    let replica = |id| Replica::new(ReplicaId::from(id));
    (replica(1), replica(2))
}

fn clocks() -> Option<bool> {
    let id: ReplicaId = "00000000-0000-0000-0000-000000000007".parse().ok()?;
    let version = Version::from_iter([(id, 3)]);
    let back = Version::from_bytes(&version.to_bytes(), &Limits::default()).ok()?;
    let time = Lamport::ZERO.after(2)?;
    Some(back == version && back.contains(Dot::new(id, 2)) && time > Lamport::ZERO)
}

fn counters() -> Option<bool> {
    let (mut a, mut b) = pair::<PnCounter>();
    let (_, up) = a.update(|n| n.add(5)).ok()?;
    let (_, down) = b.update(|n| n.subtract(2)).ok()?;
    let applied = a.absorb(&down) == Ok(Applied::New) && b.absorb(&up) == Ok(Applied::New);
    let (mut total, _) = pair::<GCounter>();
    total.edit(|n| n.add(7)).ok()?;
    Some(applied && a == b && a.value() == 3 && total.value() == 7)
}

fn sets() -> Option<bool> {
    let (mut a, mut b) = pair::<OrSet<String>>();
    a.edit(|set| set.insert("x".into())).ok()?;
    let first = b.merge(&a) == Ok(Applied::New);
    let (_, removal) = a.update(|set| set.remove("x")).ok()?;
    b.edit(|set| set.insert("x".into())).ok()?;
    let removal = Delta::from_bytes(&removal.to_bytes(), &Limits::default()).ok()?;
    let late = b.absorb(&removal) == Ok(Applied::New);
    let answer = a.absorb(&b.delta_since(a.version())) == Ok(Applied::New);
    let state = State::<OrSet<String>>::from_bytes(&a.to_bytes(), &Limits::default()).ok()?;
    let again = Replica::<OrSet<String>>::resume(&b.save(), &Limits::default()).ok()?;
    let same = &state == b.state() && again == b && a.digest() == b.digest();
    Some(first && late && answer && same && a.contains("x"))
}

fn shapes() -> Option<bool> {
    let (mut a, mut b) = pair::<DotMap<u8, DotFun<bool>>>();
    let empty = a.fork_as(ReplicaId::from(3));
    let silent = b.merge(&a) == Ok(Applied::Duplicate) && a.merge(&b) == Ok(Applied::Duplicate);
    Some(silent && a == b && empty.is_empty() && a.version().is_empty())
}

fn values() -> Option<bool> {
    let (mut a, mut b) = pair::<Value>();
    a.edit(|page| page.map()?.entry("tags").set(["x"])).ok()?;
    b.edit(|page| page.map()?.entry("votes").counter()?.add(2))
        .ok()?;
    let joined = a.merge(&b) == Ok(Applied::New) && b.merge(&a) == Ok(Applied::New);
    let plain = Plain::from([("tags", ["x"].into()), ("votes", 2.into())]);
    let (mut list, _) = pair::<List<RwMap<u8, GCounter>>>();
    list.edit(|list| list.push_empty()?.entry(1)?.add(7)).ok()?;
    let read = State::<Value>::from_bytes(&a.to_bytes(), &Limits::default()).ok()?;
    Some(joined && a == b && read.view() == plain && list.len() == 1)
}

fn hostile() -> Option<bool> {
    let (mut a, _) = pair::<OrSet<String>>();
    a.edit(|set| set.insert("x".into())).ok()?;
    let mut bytes = a.to_bytes();
    *bytes.last_mut()? ^= 1;
    Some(State::<OrSet<String>>::from_bytes(&bytes, &Limits::default()).is_err())
}
