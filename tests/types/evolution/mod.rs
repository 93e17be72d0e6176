//! Peers with other versions of a type: what one does not know it keeps, merges, removes, answers
//! and writes as those who do.
#![cfg(feature = "derive")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod boards;
mod hostile;

use boards::{Random, edit_new, edit_old, new, old};
use commute::codec::Limits;
use commute::text::Chars;
use commute::{
    Applied, Delta, EditError, MergeError, OrMap, OrSet, PnCounter, Replica, ReplicaId, Replicated,
    Stamp, State, Version,
};

const LIMITS: fn() -> Limits = Limits::default;

/// A replica of either version, and what everybody sends, as bytes.
trait Peer {
    fn edit(&mut self, random: &mut Random) -> Vec<u8>;
    fn absorb(&mut self, delta: &[u8]);
    fn merge(&mut self, state: &[u8]);
    fn answer(&self, version: &Version) -> Vec<u8>;
    fn group(&self, one: &[u8], two: &[u8]) -> Vec<u8>;
    fn version(&self) -> Version;
    fn bytes(&self) -> Vec<u8>;
    fn digest(&self) -> commute::Digest;
    fn forget(&mut self);
    fn resume(&mut self);
    fn fail(&mut self, random: &mut Random);
}

struct At<S: Replicated> {
    replica: Replica<S>,
    change: fn(&mut Random, &mut S::Edit<'_>) -> Result<(), EditError>,
}

impl<S: Replicated> Peer for At<S> {
    fn edit(&mut self, random: &mut Random) -> Vec<u8> {
        let change = self.change;
        let ((), delta) = self.replica.update(|value| change(random, value)).unwrap();
        delta.to_bytes()
    }

    fn absorb(&mut self, delta: &[u8]) {
        let delta = Delta::<S>::from_bytes(delta, &LIMITS()).unwrap();
        let _ = self.replica.absorb(&delta).unwrap();
        assert_eq!(self.replica.take_rejected(), []);
    }

    fn merge(&mut self, state: &[u8]) {
        let state = State::<S>::from_bytes(state, &LIMITS()).unwrap();
        let _ = self.replica.merge(&state).unwrap();
        assert_eq!(self.replica.take_rejected(), []);
    }

    fn answer(&self, version: &Version) -> Vec<u8> {
        self.replica.delta_since(version).to_bytes()
    }

    fn group(&self, one: &[u8], two: &[u8]) -> Vec<u8> {
        let mut delta = Delta::<S>::from_bytes(one, &LIMITS()).unwrap();
        assert_eq!(delta.to_bytes(), one);
        let other = Delta::from_bytes(two, &LIMITS()).unwrap();
        delta.merge(&other).unwrap();
        delta.to_bytes()
    }

    fn version(&self) -> Version {
        State::version(&self.replica).clone()
    }

    fn bytes(&self) -> Vec<u8> {
        self.replica.to_bytes()
    }

    fn digest(&self) -> commute::Digest {
        State::digest(&self.replica)
    }

    fn forget(&mut self) {
        self.replica.drop_ledger();
    }

    fn resume(&mut self) {
        self.replica = Replica::resume(&self.replica.save(), &LIMITS()).unwrap();
    }

    fn fail(&mut self, random: &mut Random) {
        let (change, before) = (self.change, self.replica.save());
        let failed: Result<(), _> = self.replica.edit(|value| {
            change(random, value)?;
            Err(EditError::CounterOverflow)
        });
        assert_eq!(failed, Err(EditError::CounterOverflow));
        assert_eq!(self.replica.save(), before);
    }
}

fn peer<S: Replicated>(
    id: u128,
    change: fn(&mut Random, &mut S::Edit<'_>) -> Result<(), EditError>,
) -> Box<dyn Peer> {
    let replica = Replica::<S>::new(ReplicaId::from(id));
    Box::new(At { replica, change })
}

/// Two old and two new replicas; who sends what to whom is by chance. Also returns every update.
fn mixed(random: &mut Random) -> (Vec<Box<dyn Peer>>, Vec<Vec<u8>>) {
    let mut peers = vec![
        peer::<old::Board>(1, edit_old),
        peer::<new::Board>(2, edit_new),
        peer::<old::Board>(3, edit_old),
        peer::<new::Board>(4, edit_new),
    ];
    let (mut sent, mut made) = (Vec::<Vec<u8>>::new(), Vec::new());
    for _ in 0..30 {
        let (at, from) = (random.below(4) as usize, random.below(4) as usize);
        match random.below(10) {
            0..=3 => {
                let delta = peers[at].edit(random);
                made.push(delta.clone());
                sent.push(delta);
            }
            4 if !sent.is_empty() => {
                let delta = &sent[random.below(sent.len() as u64) as usize];
                peers[at].absorb(delta);
            }
            5 if !sent.is_empty() => {
                let pick = |random: &mut Random| random.below(sent.len() as u64) as usize;
                let (one, two) = (pick(random), pick(random));
                let group = peers[at].group(&sent[one], &sent[two]);
                assert_eq!(group, peers[from].group(&sent[one], &sent[two]));
                sent.push(group);
            }
            6 => {
                let answer = peers[from].answer(&peers[at].version());
                peers[at].absorb(&answer);
                sent.push(answer);
            }
            7 => {
                let state = peers[from].bytes();
                peers[at].merge(&state);
            }
            8 => peers[at].forget(),
            _ => {
                peers[at].fail(random);
                peers[at].resume();
            }
        }
    }
    (peers, made)
}

/// Everybody learns everything, by answers or by states.
fn settle(random: &mut Random, peers: &mut [Box<dyn Peer>]) {
    for _ in 0..2 {
        for at in 0..peers.len() {
            for from in 0..peers.len() {
                if random.below(2) == 0 {
                    let answer = peers[from].answer(&peers[at].version());
                    peers[at].absorb(&answer);
                } else {
                    let state = peers[from].bytes();
                    peers[at].merge(&state);
                }
            }
        }
    }
}

#[test]
fn old_and_new_replicas_are_equal_byte_for_byte() {
    let (mut unknown, mut emptied) = (0, 0);
    for seed in 0..60 {
        let mut random = Random(seed);
        let (mut peers, made) = mixed(&mut random);
        settle(&mut random, &mut peers);
        // Replicas that saw the updates themselves, and nothing that went through anyone else.
        let mut direct = [
            peer::<new::Board>(5, edit_new),
            peer::<old::Board>(6, edit_old),
        ];
        for delta in made.iter().rev() {
            direct.iter_mut().for_each(|peer| peer.absorb(delta));
        }
        peers.extend(direct);

        let (bytes, digest) = (peers[0].bytes(), peers[0].digest());
        for (at, peer) in peers.iter().enumerate() {
            assert_eq!(peer.version(), peers[0].version(), "seed {seed}, peer {at}");
            assert_eq!(peer.bytes(), bytes, "seed {seed}, peer {at}");
            assert_eq!(peer.digest(), digest, "seed {seed}, peer {at}");
        }
        let known = State::<old::Board>::from_bytes(&bytes, &LIMITS()).unwrap();
        let all = State::<new::Board>::from_bytes(&bytes, &LIMITS()).unwrap();
        unknown += usize::from(known.entries() < all.entries());
        emptied += usize::from(all.cards.len() < 3);
    }
    assert!(unknown > 45 && emptied > 15, "{unknown} {emptied}");
}

/// What both versions are sent, by bytes alone.
fn pass<A: Replicated, B: Replicated>(from: &Replica<A>, to: &mut Replica<B>) -> Applied {
    let answer = from.delta_since(to.version()).to_bytes();
    let answer = Delta::from_bytes(&answer, &LIMITS()).unwrap();
    to.absorb(&answer).unwrap()
}

fn boards() -> (Replica<old::Board>, Replica<new::Board>) {
    let id = ReplicaId::from;
    (Replica::new(id(1)), Replica::new(id(2)))
}

/// Everything that an old card does not have.
fn write_new(card: &mut new::CardEdit<'_>) -> Result<(), EditError> {
    card.body().insert(Chars(0), "body")?;
    card.labels().insert(1)?;
    card.size().points().set(5)?;
    card.size().parts().entry("p".into()).done().add(1)?;
    card.votes().add(3)
}

#[test]
fn a_removal_by_an_old_peer_takes_back_the_unknown_fields_that_it_has_seen() {
    let (mut old, mut new) = boards();
    new.edit(|board| {
        let mut cards = board.cards();
        let mut card = cards.entry(1);
        card.title().set("t".into(), Stamp::from_millis(1))?;
        write_new(&mut card)
    })
    .unwrap();
    pass(&new, &mut old);
    let removed = old.update(|board| board.cards().remove(&1)).unwrap();
    assert!(removed.0 && old.cards.is_empty());

    // Concurrently, more of what the old peer does not know.
    new.edit(|board| {
        let mut cards = board.cards();
        let mut card = cards.entry(1);
        card.votes().add(4)?;
        card.labels().insert(2)?;
        card.body().insert(Chars(4), "!")
    })
    .unwrap();
    pass(&old, &mut new);
    let card = new.cards.get(&1).unwrap().view();
    assert_eq!((card.votes, card.body.as_str()), (4, "!"));
    assert_eq!(card.labels, [2].into());
    assert_eq!((card.size.points, card.size.parts.len()), (vec![], 0));
    assert_eq!(card.title, None);
    pass(&new, &mut old);
    assert_eq!(old.to_bytes(), new.to_bytes());
}

/// Everything is cleared, keys of which nothing is known here too.
#[test]
fn clearing_by_an_old_peer_takes_back_all_unknown_fields_that_it_has_seen() {
    let (mut old, mut new) = boards();
    new.edit(|board| {
        let mut cards = board.cards();
        cards
            .entry(1)
            .title()
            .set("t".into(), Stamp::from_millis(1))?;
        cards.entry(1).votes().add(3)?;
        cards.entry(2).votes().add(4)
    })
    .unwrap();
    pass(&new, &mut old);
    old.edit(|board| board.cards().clear()).unwrap();
    pass(&old, &mut new);
    assert!(new.cards.is_empty(), "{:?}", new.cards.view());
    assert_eq!(old.to_bytes(), new.to_bytes());
}

#[test]
fn a_key_with_nothing_but_unknown_fields_is_not_shown_but_can_be_removed() {
    let (mut old, mut new) = boards();
    new.edit(|board| write_new(&mut board.cards().entry(1)))
        .unwrap();
    pass(&new, &mut old);
    assert!(old.cards.is_empty() && old.cards.get(&1).is_none());
    assert_eq!((old.cards.len(), old.cards.view().len()), (0, 0));
    assert_eq!(old.to_bytes(), new.to_bytes());

    // An update that fails leaves it there.
    let before = old.save();
    let failed: Result<(), _> = old.edit(|board| {
        board.cards().remove(&1)?;
        Err(EditError::CounterOverflow)
    });
    assert!(failed.is_err() && old.save() == before);

    let (shown, delta) = old.update(|board| board.cards().remove(&1)).unwrap();
    assert!(!shown && !delta.is_empty());
    pass(&old, &mut new);
    assert!(new.cards.is_empty());
    assert_eq!(old.to_bytes(), new.to_bytes());
}

#[test]
fn a_save_of_an_old_version_is_read_by_a_new_one() {
    let (mut old, mut new) = boards();
    old.edit(|board| board.tags().insert("x".into())).unwrap();
    new.edit(|board| board.seen().add(2)).unwrap();
    // One update that waits for another, with unknown fields.
    let (_, first) = new.update(|board| board.seen().add(1)).unwrap();
    let (_, second) = new.update(|board| board.people().count().add(1)).unwrap();
    let second = Delta::from_bytes(&second.to_bytes(), &LIMITS()).unwrap();
    assert!(matches!(old.absorb(&second), Ok(Applied::Waiting(_))));

    let mut upgraded = Replica::<new::Board>::resume(&old.save(), &LIMITS()).unwrap();
    assert_eq!(
        (upgraded.waiting(), upgraded.to_bytes()),
        (1, old.to_bytes())
    );
    assert!(upgraded.tags.contains("x") && upgraded.seen.value() == 0);
    pass(&new, &mut old);
    assert_eq!(old.waiting(), 0, "what waited is included");
    let again = Replica::<new::Board>::resume(&old.save(), &LIMITS()).unwrap();
    assert_eq!((again.seen.value(), again.people.count.value()), (3, 1));
    assert!(matches!(upgraded.absorb(&first), Ok(Applied::Waiting(_))));
    pass(&new, &mut upgraded);
    assert_eq!(upgraded.to_bytes(), again.to_bytes());
}

#[test]
fn a_field_that_a_newer_version_removed_is_kept_for_the_older_one() {
    // As `new::Board`, without all but one field.
    #[derive(Debug, Replicated)]
    struct Least {
        seen: commute::GCounter,
    }
    let (_, mut new) = boards();
    let mut least = Replica::<Least>::new(ReplicaId::from(3));
    let mut random = Random(7);
    for _ in 0..20 {
        new.edit(|board| edit_new(&mut random, board)).unwrap();
        pass(&new, &mut least);
        least.edit(|least| least.seen().add(1)).unwrap();
        pass(&least, &mut new);
        assert_eq!(least.to_bytes(), new.to_bytes());
    }
    assert_eq!(least.seen.value(), new.seen.value());
    let empty = State::<old::Board>::from_bytes(&State::<Least>::new().to_bytes(), &LIMITS());
    assert_eq!(empty.unwrap(), State::new());
}

#[test]
fn what_would_kill_unknown_text_needs_a_newer_version() {
    let (mut old, mut new) = boards();
    let mut twin = Replica::<new::Board>::new(new.id());
    new.edit(|board| board.title().insert(Chars(0), "text"))
        .unwrap();
    new.edit(|board| board.people().names().insert("a".into()))
        .unwrap();
    pass(&new, &mut old);

    // To those who know another first update of that id, the text is not there.
    twin.edit(|board| board.seen().add(1)).unwrap();
    twin.edit(|board| board.seen().add(1)).unwrap();
    let mut third = twin.fork_as(ReplicaId::from(9));
    third.edit(|board| board.seen().add(1)).unwrap();
    third.drop_ledger();
    let answer = third.delta_since(twin.version()).to_bytes();
    let answer = Delta::<old::Board>::from_bytes(&answer, &LIMITS()).unwrap();
    let before = old.save();
    assert_eq!(old.check(&answer), Err(MergeError::NeedsNewer));
    assert_eq!(old.absorb(&answer), Err(MergeError::NeedsNewer));
    assert_eq!(old.save(), before);
}

#[test]
fn what_is_unknown_is_no_change_of_the_view() {
    let (mut old, mut new) = boards();
    let (_, delta) = new
        .update(|board| write_new(&mut board.cards().entry(1)))
        .unwrap();
    let delta = Delta::from_bytes(&delta.to_bytes(), &LIMITS()).unwrap();
    let (applied, changes) = old.absorb_with_changes(&delta).unwrap();
    assert!(applied == Applied::New && changes.is_empty());
    let (_, delta) = new.update(|board| board.cards().remove(&1)).unwrap();
    let delta = Delta::from_bytes(&delta.to_bytes(), &LIMITS()).unwrap();
    let (applied, changes) = old.absorb_with_changes(&delta).unwrap();
    assert!(applied == Applied::New && changes.is_empty());
}

#[test]
fn groups_are_equal_whoever_makes_them() {
    let (_, mut new) = boards();
    let mut random = Random(3);
    let made: Vec<Vec<u8>> = (0..12)
        .map(|_| {
            new.update(|board| edit_new(&mut random, board))
                .unwrap()
                .1
                .to_bytes()
        })
        .collect();
    fn grouped<S: Replicated>(made: &[Vec<u8>], since: &Version) -> (Vec<u8>, Vec<u8>) {
        let mut all = Delta::<S>::empty();
        for delta in made.iter().rev().step_by(2).chain(made.iter().step_by(2)) {
            let delta = Delta::from_bytes(delta, &LIMITS()).unwrap();
            all.merge(&delta).unwrap();
        }
        (all.to_bytes(), all.beyond(since).to_bytes())
    }
    let since: Version = [(new.id(), 5)].into_iter().collect();
    assert_eq!(
        grouped::<old::Board>(&made, &since),
        grouped::<new::Board>(&made, &since)
    );
}

#[test]
fn an_unknown_field_of_another_shape_is_refused() {
    #[derive(Debug, Replicated)]
    struct Known {
        tags: OrSet<u8>,
    }
    #[derive(Debug, Replicated)]
    struct Counted {
        tags: OrSet<u8>,
        more: PnCounter,
    }
    #[derive(Debug, Replicated)]
    struct Mapped {
        tags: OrSet<u8>,
        more: OrMap<u8, PnCounter>,
    }
    #[derive(Debug, Replicated)]
    struct Listed {
        tags: OrSet<u8>,
        more: OrSet<u8>,
    }
    let id = ReplicaId::from;
    let mut counted = Replica::<Counted>::new(id(1));
    let mut mapped = Replica::<Mapped>::new(id(2));
    let mut listed = Replica::<Listed>::new(id(3));
    counted.edit(|counted| counted.more().add(1)).unwrap();
    mapped.edit(|mapped| mapped.more().entry(2).add(1)).unwrap();
    listed.edit(|listed| listed.more().insert(1)).unwrap();
    let states = [counted.to_bytes(), mapped.to_bytes(), listed.to_bytes()];
    let [counted, mapped, listed] =
        states.map(|bytes| State::<Known>::from_bytes(&bytes, &LIMITS()).unwrap());
    for (one, two) in [(&counted, &mapped), (&mapped, &listed), (&listed, &counted)] {
        let reshaped = MergeError::Invalid(commute::kernel::Fault::Reshaped);
        let mut state = one.clone();
        assert_eq!(state.merge(two), Err(reshaped.clone()));
        let delta = two.delta_since(&Version::new());
        assert_eq!(state.absorb(&delta), Err(reshaped.clone()));
        let mut group = one.delta_since(&Version::new());
        assert_eq!(group.merge(&delta), Err(reshaped));
        assert_eq!(&state, one);
    }
}
