//! Measured promises, one line each.
use std::time::Instant;
use commute::testkit::{Capabilities, Explore, Random, Subject};
use commute::{OrSet, Replica};
#[path = "../kit/orswot.rs"] mod orswot;
#[path = "../../../../tests/zoo/entry.rs"] #[allow(dead_code)] mod entry;
#[path = "../../../../tests/zoo/faults.rs"] #[allow(dead_code)] mod faults;
#[path = "../../../../tests/zoo/bytes.rs"] #[allow(dead_code)] mod bytes;
#[path = "../../../../tests/zoo/meaning.rs"] #[allow(dead_code)] mod meaning;
#[path = "../../../../tests/zoo/dotted.rs"] #[allow(dead_code)] mod dotted;
#[path = "../../../../tests/zoo/sets.rs"] #[allow(dead_code)] mod sets;
#[path = "../../../../tests/zoo/registers.rs"] #[allow(dead_code)] mod registers;
fn rate<T: Subject>(name: &str, can: Capabilities<T>, n: u64) -> f64 {
    let t = Instant::now();
    let r = Random::of(can).schedules(n).run();
    r.unwrap_clean();
    let rate = n as f64 / t.elapsed().as_secs_f64();
    println!("{name}: {rate:.0}/s");
    rate
}
fn explore<T: Subject>(name: &str, can: Capabilities<T>, n: u32, k: usize) -> f64 {
    let t = Instant::now();
    let r = Explore::of(can).replicas(n).steps(k).run();
    let rate = r.states() as f64 / t.elapsed().as_secs_f64();
    println!("{name}: {rate:.0} states/s {} complete {:?} {}", r.states(), r.complete_to(), r.is_clean());
    if !r.is_clean() { println!("{r}"); }
    rate
}
fn main() {
    let which = std::env::args().nth(1).unwrap_or_default();
    let w = |s: &str| which.is_empty() || which == s;
    if w("orswot") { rate("orswot", Capabilities::<orswot::Peer>::new().state().specified(), 3000); }
    if w("orset") { rate("orset", Capabilities::<Replica<OrSet<u8>>>::new().delta().operations().encoded().versioned().specified(), 3000); }
    if w("lww") { rate("lww", Capabilities::<registers::Lww>::new().state().specified(), 30000); }
    if w("zset") { rate("zset", Capabilities::<sets::Set<2>>::new().state().specified(), 10000); }
    if w("ex1") { explore("zoo set", Capabilities::<sets::Set<1>>::new().state().specified(), 3, 7); }
    if w("ex2") { explore("orset", Capabilities::<Replica<OrSet<u8>>>::new().state().specified(), 3, 5); }
}
