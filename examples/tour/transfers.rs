//! Eight threads move money between accounts of one store.

use std::thread;
use std::time::Duration;

use commute::env::{Env, SplitMix64, SystemEnv};
use commute::store::{BlockingTx, MemoryStore, TransactOptions, TxError, Value, transact_blocking};

use crate::peer::Failure;

const THREADS: u64 = 8;
const BALANCE_AT_FIRST: u64 = 1000;

/// What came of many transfers.
#[derive(Clone, Copy, Debug)]
pub struct Transferred {
    /// Between how many accounts.
    pub accounts: u64,
    /// Transactions that took effect.
    pub commits: u64,
    /// Those that came too late at first.
    pub conflicts: u64,
    /// How often a closure was run again.
    pub retries: u64,
    /// The sum of all accounts before and after.
    pub sums: (u64, u64),
    /// How long it took.
    pub took: Duration,
}

/// Lets all threads together make so many transfers between so many accounts.
pub fn transfer(transfers: u64, accounts: u64) -> Result<Transferred, Failure> {
    let env = SystemEnv::new();
    let store = MemoryStore::new(env)?;
    for account in 0..accounts {
        store.put(key(account), BALANCE_AT_FIRST.to_string())?;
    }
    let before = sum(&store, accounts)?;
    let opened = store.contention().commits();
    let started = env.now();
    thread::scope(|scope| {
        let run = |seed| {
            let store = &store;
            scope.spawn(move || worker(store, transfers / THREADS, accounts, seed))
        };
        let running: Vec<_> = (0..THREADS).map(run).collect();
        running
            .into_iter()
            .try_for_each(|thread| match thread.join() {
                Ok(result) => result,
                Err(panic) => std::panic::resume_unwind(panic),
            })
    })?;
    let took = env.now().saturating_since(started);
    let contention = store.contention();
    Ok(Transferred {
        accounts,
        commits: contention.commits() - opened,
        conflicts: contention.conflicts(),
        retries: contention.retries(),
        sums: (before, sum(&store, accounts)?),
        took,
    })
}

fn key(account: u64) -> String {
    format!("account/{account:05}")
}

fn worker(store: &MemoryStore, transfers: u64, accounts: u64, seed: u64) -> Result<(), Failure> {
    let mut random = SplitMix64::new(seed);
    // Losing a race again and again is what is shown here, so nobody gives up for lack of time.
    let options = TransactOptions {
        attempts_max: std::num::NonZeroU32::MAX,
        deadline: None,
        ..TransactOptions::default()
    };
    for _ in 0..transfers {
        let from = random.below(accounts);
        let to = (from + 1 + random.below(accounts - 1)) % accounts;
        let amount = 1 + random.below(10);
        transact_blocking(store, &SystemEnv::new(), &options, |tx| {
            move_money(&tx, &key(from), &key(to), amount)
        })?;
    }
    Ok(())
}

/// Moves `amount`, or what there is of it.
fn move_money(
    tx: &BlockingTx<'_, MemoryStore>,
    from: &str,
    to: &str,
    amount: u64,
) -> Result<(), TransferError> {
    let (giver, taker) = (number(tx.get(from)?)?, number(tx.get(to)?)?);
    let amount = amount.min(giver);
    tx.put(from, (giver - amount).to_string());
    tx.put(to, (taker + amount).to_string());
    Ok(())
}

/// Why a transfer was given up.
#[derive(Debug)]
enum TransferError {
    Read(TxError),
    NoNumber,
}

impl From<TxError> for TransferError {
    fn from(error: TxError) -> TransferError {
        TransferError::Read(error)
    }
}

impl std::fmt::Display for TransferError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Read(cause) => cause.fmt(f),
            Self::NoNumber => f.write_str("an account holds no number"),
        }
    }
}

impl std::error::Error for TransferError {}

fn number(value: Option<Value>) -> Result<u64, TransferError> {
    let text = value.as_ref().and_then(|value| value.as_str().ok());
    text.and_then(|text| text.parse().ok())
        .ok_or(TransferError::NoNumber)
}

fn sum(store: &MemoryStore, accounts: u64) -> Result<u64, Failure> {
    let mut sum = 0;
    for account in 0..accounts {
        sum += number(store.get(key(account))?.map(|entry| entry.value))?;
    }
    Ok(sum)
}
