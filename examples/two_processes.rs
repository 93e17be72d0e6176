//! Two processes keep one shopping list over TCP, lose the line, go on alone, and meet again:
//! `cargo run --example two_processes`, which starts itself a second time.
//!
//! A message is its length, four bytes, and so many bytes. Who meets says what it has.

use std::error::Error;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::time::Duration;

use commute::{Delta, Limits, OrSet, Replica, ReplicaId, Version};

type Failure = Box<dyn Error + Send + Sync>;
type List = Replica<OrSet<String>>;

/// Whoever announces more is not believed.
const MESSAGE_BYTES_MAX: u32 = 1 << 20;

fn send(stream: &mut TcpStream, message: &[u8]) -> Result<(), Failure> {
    stream.write_all(&u32::try_from(message.len())?.to_be_bytes())?;
    Ok(stream.write_all(message)?)
}

fn receive(stream: &mut TcpStream) -> Result<Vec<u8>, Failure> {
    stream.set_read_timeout(Some(Duration::from_secs(20)))?;
    let mut len = [0; 4];
    stream.read_exact(&mut len)?;
    let len = u32::from_be_bytes(len);
    if len > MESSAGE_BYTES_MAX {
        return Err(format!("the peer announces {len} bytes").into());
    }
    // Grows with what comes, not with what is announced.
    let mut message = Vec::new();
    stream.take(len.into()).read_to_end(&mut message)?;
    match message.len() == len as usize {
        true => Ok(message),
        false => Err("the line broke within a message".into()),
    }
}

fn absorb(stream: &mut TcpStream, list: &mut List) -> Result<(), Failure> {
    let delta = Delta::from_bytes(&receive(stream)?, &Limits::default())?;
    Ok(list.absorb(&delta).map(drop)?)
}

/// The first to speak: what I have, for what I lack; then what you lack.
fn meet(stream: &mut TcpStream, list: &mut List) -> Result<(), Failure> {
    send(stream, &list.version().to_bytes())?;
    let theirs = Version::from_bytes(&receive(stream)?, &Limits::default())?;
    absorb(stream, list)?;
    send(stream, &list.delta_since(&theirs).to_bytes())
}

/// The other side of [`meet`].
fn be_met(stream: &mut TcpStream, list: &mut List) -> Result<(), Failure> {
    let theirs = Version::from_bytes(&receive(stream)?, &Limits::default())?;
    send(stream, &list.version().to_bytes())?;
    send(stream, &list.delta_since(&theirs).to_bytes())?;
    absorb(stream, list)
}

/// The process that calls.
fn ann(address: &str) -> Result<(), Failure> {
    let mut list = List::new(ReplicaId::random()?);
    list.edit(|list| list.insert("milk".into()))?;
    let mut line = TcpStream::connect(address)?;
    meet(&mut line, &mut list)?;
    let (_, delta) = list.update(|list| list.insert("tea".into()))?;
    send(&mut line, &delta.to_bytes())?;
    drop(line);

    list.edit(|list| list.remove("milk"))?; // no delta: there is nobody to send it to
    println!("Ann, alone, removes milk:    {:?}", **list);
    let mut line = TcpStream::connect(address)?;
    meet(&mut line, &mut list)?;
    println!("Ann has met Bob again:       {:?}", **list);
    if receive(&mut line)? != list.digest().to_bytes() {
        return Err("the lists differ".into());
    }
    println!("Both have the same bytes; who adds wins.");
    Ok(())
}

/// The process that listens.
fn bob() -> Result<(), Failure> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    println!("{}", listener.local_addr()?);
    let mut list = List::new(ReplicaId::random()?);
    list.edit(|list| list.insert("bread".into()))?;
    let (mut line, _) = listener.accept()?;
    be_met(&mut line, &mut list)?;
    absorb(&mut line, &mut list)?;
    drop(line);

    println!("Bob has met Ann:             {:?}", **list);
    list.edit(|list| list.insert("milk".into()))?;
    println!("Bob, alone, adds milk again: {:?}", **list);
    let (mut line, _) = listener.accept()?;
    be_met(&mut line, &mut list)?;
    println!("Bob has met Ann again:       {:?}", **list);
    send(&mut line, &list.digest().to_bytes())
}

fn main() -> Result<(), Failure> {
    if std::env::args().nth(1).as_deref() == Some("bob") {
        return bob();
    }
    let mut bob = Command::new(std::env::current_exe()?);
    let mut bob = bob.arg("bob").stdout(Stdio::piped()).spawn()?;
    let mut told = BufReader::new(bob.stdout.take().ok_or("no output")?);
    let address = told.by_ref().lines().next().ok_or("no address")??;
    let forward = std::thread::spawn(move || io::copy(&mut told, &mut io::stdout()));
    // He would wait for a call that does not come.
    let met = ann(&address).inspect_err(|_| drop(bob.kill()));
    let (ended, told) = (bob.wait()?, forward.join());
    met?;
    told.map_err(|_| "his words are lost")??;
    ended.success().then_some(()).ok_or("Bob failed".into())
}
