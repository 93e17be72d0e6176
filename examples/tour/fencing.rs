//! The story of 33 and 34: whoever sleeps through the end of a lease comes too late, and the
//! resource is who says so.

use std::time::Duration;

use commute::coord::{Established, FencedCell, FencedResource, FencingToken, Lease, LeaseOptions};
use commute::env::{Env, SimEnv};
use commute::store::MemoryStore;

use crate::peer::Failure;

/// The time line of the story, and how it ended.
#[derive(Debug)]
pub struct Told {
    /// What happened, by the simulated clock.
    pub lines: Vec<(Duration, String)>,
    /// Whether the resource refused the late write.
    pub late_write_refused: bool,
    /// What the fenced account holds in the end, and what it should.
    pub balances: (u64, u64),
    /// What an account that asks for no token holds after the same steps.
    pub unfenced: u64,
}

struct Teller {
    env: SimEnv,
    lines: Vec<(Duration, String)>,
}

impl Teller {
    fn say(&mut self, line: String) {
        self.lines.push((self.env.now().since_origin(), line));
    }
}

const LEASE: &str = "account";
const AT_FIRST: u64 = 100;
const EARLY: u64 = 30;
const LATER: u64 = 50;
const FIRST_TOKEN: u64 = 33;

/// Tells the story on a simulated clock.
pub fn tell() -> Result<Told, Failure> {
    let env = SimEnv::new(FIRST_TOKEN);
    let store = MemoryStore::new(env.clone())?;
    // Tokens are the store's revisions: others have used it before.
    for visit in store.revision().counter()..FIRST_TOKEN - 1 {
        store.put("visits", visit.to_string())?;
    }
    let options = LeaseOptions::default();
    let account = FencedCell::new(LEASE, AT_FIRST);
    let mut unfenced = AT_FIRST;
    let lines = Vec::new();
    let mut teller = Teller {
        env: env.clone(),
        lines,
    };

    let early = Lease::acquire_blocking(&store, &env, LEASE, &options)?;
    let a = name(early.token());
    let ttl = options.ttl.as_secs();
    teller.say(format!(
        "{a} is granted the lease for {ttl} s and shows the account its token"
    ));
    let mut access = account.establish_blocking(early.token())?;
    let seen = access.read_blocking()?;
    teller.say(format!(
        "{a} reads {seen} and wants to take {EARLY}; before it writes, it is paused"
    ));

    env.advance(options.ttl);
    teller.say(format!(
        "the lease of {a} ends; {a} sleeps and does not know"
    ));

    let holder = Lease::acquire_blocking(&store, &env, LEASE, &options)?;
    let b = name(holder.token());
    let mut second = account.establish_blocking(holder.token())?;
    teller.say(format!(
        "{b} is granted the lease; the account's floor rises to {b}"
    ));
    env.advance(Duration::from_secs(1));
    let read = second.read_blocking()?;
    second.write_blocking(read - LATER)?;
    unfenced -= LATER;
    teller.say(format!(
        "{b} reads {read}, takes {LATER} and writes {}",
        read - LATER
    ));

    env.advance(Duration::from_secs(2));
    let late = access.write_blocking(seen - EARLY);
    let overwritten = unfenced;
    unfenced = seen - EARLY;
    teller.say(match &late {
        Err(error) => format!("{a} wakes and writes {}: refused, {error}", seen - EARLY),
        Ok(()) => format!("{a} wakes and writes {}: TAKEN", seen - EARLY),
    });
    teller.say("  (an account without a fence loses an update at this step: it would".to_owned());
    teller.say(format!(
        "   hold {unfenced} instead of {overwritten}, as if {b} had taken nothing)"
    ));
    let left = second.read_blocking()?;
    teller.say(format!("{b} reads {left}"));
    Ok(Told {
        lines: teller.lines,
        late_write_refused: late.is_err(),
        balances: (left, AT_FIRST - LATER),
        unfenced,
    })
}

fn name(token: &FencingToken) -> String {
    token.counter().to_string()
}
