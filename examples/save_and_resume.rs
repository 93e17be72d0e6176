//! A replica that outlives its process, and what becomes of a restored backup:
//! `cargo run --example save_and_resume`.

use std::error::Error;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use commute::{Applied, Limits, MergeError, PnCounter, Replica, ReplicaId};

type Failure = Box<dyn Error>;
type Stock = PnCounter;

/// Replaces the file at once: after a crash the old content or the new one is there, whole.
fn store(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let beside = path.with_extension("new");
    let mut file = File::create(&beside)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&beside, path)?;
    // The name is durable once the folder is; where folders cannot be opened the system sees to it.
    #[cfg(unix)]
    if let Some(folder) = path.parent() {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

fn resume(path: &Path) -> Result<Replica<Stock>, Failure> {
    Ok(Replica::resume(&fs::read(path)?, &Limits::default())?)
}

/// The newest save goes on under its id.
fn crash_and_go_on(path: &Path, peer: &mut Replica<Stock>) -> Result<(), Failure> {
    let mut shop = Replica::<Stock>::new(ReplicaId::random()?);
    let ((), delta) = shop.update(|stock| stock.add(10))?;
    store(path, &shop.save())?; // durable before anybody hears of it ...
    peer.absorb(&delta)?; //       ... and then sent

    shop.edit(|stock| stock.subtract(3))?;
    // The process dies while it writes: half of a save lies beside the whole one before it.
    fs::write(path.with_extension("new"), &shop.save()[..40])?;
    drop(shop);

    let mut shop = resume(path)?;
    println!(
        "after the crash: {} in stock, nobody saw more",
        shop.value()
    );
    let ((), delta) = shop.update(|stock| stock.subtract(4))?;
    store(path, &shop.save())?;
    peer.absorb(&delta)?;
    println!("it goes on, and its peer follows: {}", peer.value());
    Ok(())
}

/// A backup is older than what was sent, so its id belongs to another future.
fn restore(path: &Path, backup: &Path, peer: &mut Replica<Stock>) -> Result<(), Failure> {
    fs::copy(path, backup)?;
    let mut shop = resume(path)?;
    let ((), delta) = shop.update(|stock| stock.add(1))?;
    store(path, &shop.save())?;
    peer.absorb(&delta)?;
    println!("one more, after the backup was made: {}", peer.value());
    fs::remove_file(path)?; // the disk is lost

    // Wrong: the backup goes on as if nothing had happened since.
    let mut wrong = resume(backup)?;
    let reused = MergeError::IdentityReused {
        replica: wrong.id(),
    };
    assert_eq!(wrong.merge(peer), Err(reused.clone()));
    let ((), delta) = wrong.update(|stock| stock.add(5))?;
    assert_eq!(peer.absorb(&delta), Err(reused.clone()));
    println!("the backup under its old id, on either side: {reused}");

    // Right: it is a copy, and gets an id of its own.
    let id = ReplicaId::random()?;
    let mut right = Replica::<Stock>::resume_as(&fs::read(backup)?, &Limits::default(), id)?;
    assert_eq!(right.merge(peer)?, Applied::New);
    let ((), delta) = right.update(|stock| stock.add(5))?;
    store(path, &right.save())?;
    peer.absorb(&delta)?;
    println!("under a new id, after it caught up: {}", right.value());
    assert_eq!(right.to_bytes(), peer.to_bytes());
    Ok(())
}

/// A folder that is gone at the end.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn main() -> Result<(), Failure> {
    let name = format!("commute-{}", ReplicaId::random()?);
    let folder = Folder(std::env::temp_dir().join(name));
    fs::create_dir(&folder.0)?;
    let path = folder.0.join("stock");
    let mut peer = Replica::<Stock>::new(ReplicaId::random()?);
    crash_and_go_on(&path, &mut peer)?;
    restore(&path, &folder.0.join("backup"), &mut peer)
}
