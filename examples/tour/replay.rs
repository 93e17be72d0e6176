//! Replaying a session: every agent a replica, every transaction an update, every update sent.

use std::collections::BTreeMap;

use commute::{Delta, Dots, ReplicaId, Version};

use crate::log::Log;
use crate::network::{Traffic, Weather};
use crate::page::Document;
use crate::parallel::in_parallel;
use crate::peer::{Failure, Merged, Peer};
use crate::session::Session;

/// A session that is being replayed on documents of type `D`.
pub struct Replay<'s, D: Document> {
    session: &'s Session,
    weather: Weather,
    peers: Vec<Peer<D>>,
    /// The replicas of each agent: one, unless the agent went on from a state without its own last
    /// edit, which needs a replica of its own under a new id.
    branches: Vec<Vec<usize>>,
    pasts: Pasts,
    log: Log,
    clamped: usize,
}

/// What each edit had seen, itself included, for as long as a later one builds on it.
struct Pasts {
    versions: BTreeMap<usize, Version>,
    children: Vec<usize>,
}

impl Pasts {
    fn new(session: &Session) -> Pasts {
        let mut children = vec![0; session.edits.len()];
        let parents = session.edits.iter().flat_map(|edit| &edit.parents);
        parents.for_each(|parent| children[*parent] += 1);
        let versions = BTreeMap::new();
        Pasts { versions, children }
    }

    /// What an edit with these parents must have seen.
    fn join(&mut self, parents: &[usize]) -> Version {
        let mut all = Version::new();
        for parent in parents {
            if let Some(version) = self.versions.get(parent) {
                all.join(version);
            }
            self.children[*parent] -= 1;
            if self.children[*parent] == 0 {
                self.versions.remove(parent);
            }
        }
        all
    }

    fn note(&mut self, edit: usize, version: &Version) {
        if self.children[edit] > 0 {
            self.versions.insert(edit, version.clone());
        }
    }
}

/// Lost updates are sent again in groups of so many.
const GROUP: usize = 32;

impl<'s, D: Document> Replay<'s, D> {
    /// The start of a session.
    pub fn new(session: &'s Session, weather: Weather) -> Replay<'s, D> {
        let mut replay = Replay {
            session,
            weather,
            peers: Vec::new(),
            branches: vec![Vec::new(); session.agents],
            pasts: Pasts::new(session),
            log: Log::default(),
            clamped: 0,
        };
        (0..session.agents).for_each(|agent| _ = replay.add_peer(agent));
        replay
    }

    fn add_peer(&mut self, agent: usize) -> usize {
        let at = self.peers.len();
        self.peers
            .push(Peer::new(at as u64 + 1, agent, self.weather));
        self.branches[agent].push(at);
        at
    }

    /// Replays one transaction.
    pub fn step(&mut self, edit: usize) -> Result<(), Failure> {
        let session = self.session;
        let recorded = &session.edits[edit];
        let past = self.pasts.join(&recorded.parents);
        let who = self.branch_within(recorded.agent, &past);
        self.peers[who].collect(Some(edit), &self.log)?;
        self.bring_to(who, &past, &recorded.parents)?;

        let peer = &mut self.peers[who];
        let change = |page: &mut D::Edit<'_>| D::apply(page, recorded.agent, &recorded.patches);
        let (clamped, delta) = peer.replica.update(change)?;
        peer.keystrokes += recorded.patches.len() as u64;
        self.clamped += clamped;
        self.pasts.note(edit, peer.replica.version());
        self.publish(who, edit, &delta);
        Ok(())
    }

    /// A replica of `agent` that has seen nothing beyond `past`.
    fn branch_within(&mut self, agent: usize, past: &Version) -> usize {
        let fits = |at: &&usize| past.includes(self.peers[**at].replica.version());
        let found = self.branches[agent].iter().rev().find(fits).copied();
        found.unwrap_or_else(|| self.add_peer(agent))
    }

    fn publish(&mut self, author: usize, edit: usize, delta: &Delta<D>) {
        // A transaction without a patch makes no update.
        let Some(dot) = delta.claims().iter().next() else {
            return;
        };
        let number = self.log.push(dot, delta.to_bytes());
        for (at, peer) in self.peers.iter_mut().enumerate() {
            if at != author {
                peer.link.send(edit, number);
            }
        }
    }

    /// Lets a replica absorb exactly what it lacks of `past`: what has arrived, then what it asks
    /// for because it is lost or late.
    ///
    /// Whoever lacks a good deal asks first, as one who joins does: most of what has arrived would
    /// only wait for what has not.
    fn bring_to(&mut self, who: usize, past: &Version, parents: &[usize]) -> Result<(), Failure> {
        let peer = &self.peers[who];
        let lacks_much = past.difference(peer.replica.version()).len() > GROUP as u64;
        if lacks_much && peer.not_arrived(past) > 0 {
            self.ask(who, past, parents)?;
        }
        self.peers[who].absorb_arrived(past, &self.log)?;
        self.ask(who, past, parents)?;
        let missing = past.difference(self.peers[who].replica.version());
        if !missing.is_empty() {
            self.send_again(who, &missing)?;
        }
        match self.peers[who].replica.version() == past {
            true => Ok(()),
            false => Err(format!("replica {who} does not have what its next edit requires").into()),
        }
    }

    /// Asks everybody who knows something of `past` and nothing beyond it.
    ///
    /// Whoever knows nothing yet and lacks a good deal is given a state whole, which takes less
    /// time than its updates.
    fn ask(&mut self, who: usize, past: &Version, parents: &[usize]) -> Result<(), Failure> {
        loop {
            let version = self.peers[who].replica.version();
            let missing = past.difference(version);
            let Some(source) = self.source_within(&missing, past, parents) else {
                return Ok(());
            };
            let newcomer = version.is_empty() && missing.len() > GROUP as u64;
            let source = &self.peers[source].replica;
            if newcomer {
                let state = source.to_bytes();
                self.peers[who].join(&state)?;
            } else {
                let answer = source.delta_since(version).to_bytes();
                self.peers[who].absorb_repair(&answer)?;
                self.peers[who].merged.answers += 1;
            }
        }
    }

    /// An author of something that is missing who knows nothing beyond `past`; an author of
    /// `parents` knows most of it.
    fn source_within(&self, missing: &Dots, past: &Version, parents: &[usize]) -> Option<usize> {
        let at = |id: ReplicaId| (u128::from(id) as usize).checked_sub(1);
        let authors = missing.ranges().filter_map(|(id, _, _)| at(id));
        let agents = parents
            .iter()
            .map(|parent| self.session.edits[*parent].agent);
        let nearest = agents.filter_map(|agent| self.branches[agent].last().copied());
        nearest.chain(authors).find(|at| {
            let replica = &self.peers[*at].replica;
            let id = replica.id();
            let gives = missing
                .ranges()
                .any(|(author, first, _)| author == id && replica.version().get(id) >= first);
            gives && past.includes(replica.version())
        })
    }

    /// Sends lost updates again.
    ///
    /// `delta_since` answers with everything its replica knows. Where all authors have gone on in
    /// the meantime, that would be more than the recorded edit had seen, so they look the missing
    /// updates up among those they sent.
    fn send_again(&mut self, who: usize, missing: &Dots) -> Result<(), Failure> {
        for numbers in self.log.numbers(missing).chunks(GROUP) {
            let mut group = Delta::<D>::empty();
            for number in numbers {
                group.merge(&self.log.decode(*number)?)?;
            }
            self.peers[who].absorb_repair(&group.to_bytes())?;
            self.peers[who].merged.again += numbers.len() as u64;
        }
        Ok(())
    }

    /// Brings the first replica to the end: it hears what is on its way, and asks everybody.
    pub fn gather(&mut self) -> Result<(), Failure> {
        let mut all = Version::new();
        let versions = self.peers.iter().map(|peer| peer.replica.version());
        versions.for_each(|version| all.join(version));
        self.peers[0].collect(None, &self.log)?;
        self.bring_to(0, &all, &[])?;
        self.peers[0].check_rejected()
    }

    /// Brings all replicas to the end: the others hear what is on its way and ask the first one.
    pub fn finish(&mut self) -> Result<(), Failure> {
        self.gather()?;
        let (log, (first, rest)) = (&self.log, self.peers.split_at_mut(1));
        let first = &first[0].replica;
        in_parallel(rest, |_, peer| {
            peer.collect(None, log)?;
            let answer = first.delta_since(peer.replica.version());
            if !answer.is_empty() {
                peer.absorb_repair(&answer.to_bytes())?;
                peer.merged.answers += 1;
            }
            peer.check_rejected()
        })
    }

    /// The replicas.
    pub fn peers(&self) -> &[Peer<D>] {
        &self.peers
    }

    /// The newest replica of an agent.
    pub fn peer_of(&self, agent: usize) -> &Peer<D> {
        let newest = self.branches[agent].last().copied();
        &self.peers[newest.unwrap_or_default()]
    }

    /// The updates made so far.
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// How many patches lay behind the end of the text.
    pub fn clamped(&self) -> usize {
        self.clamped
    }

    /// What the network did, and how the merging went.
    pub fn totals(&self) -> (Traffic, Merged) {
        let (mut traffic, mut merged) = (Traffic::default(), Merged::default());
        for peer in &self.peers {
            traffic.add(peer.link.traffic());
            merged.add(&peer.merged);
        }
        (traffic, merged)
    }
}
