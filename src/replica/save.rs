//! Saves: a state together with the identity and the caches of one replica.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use super::ledger::{Records, SEALS_MAX};
use super::{Delta, Replica, State, WaitingLimits};
use crate::clock::{Names, ReplicaId};
use crate::codec::{
    DecodeError, DecodeErrorKind as Kind, Decoder, FrameKind, Limits, open, seal as frame,
};
use crate::kernel::Replicated;

const IDENTITY: u32 = 2;
const STATE: u32 = 4;
const LEDGER: u32 = 5;
const WAITING: u32 = 7;

impl<S: Replicated> Replica<S> {
    /// Everything needed to go on as the same replica. O(n).
    ///
    /// # Guarantees
    /// [`resume`](Replica::resume) gives an equal replica with the same id, waiting deltas included.
    /// Use it only under this contract: *no delta leaves the process before a save that includes it
    /// is durable*, and a save is resumed at most once, the newest only. Else go on under a new id
    /// with [`resume_as`](Replica::resume_as).
    ///
    /// # Examples
    /// ```
    /// use commute::{GCounter, Limits, Replica, ReplicaId};
    ///
    /// let mut a = Replica::<GCounter>::new(ReplicaId::random()?);
    /// let (_, delta) = a.update(|n| n.add(1))?;
    /// let saved = a.save();      // 1. make the save durable (write, sync, rename),
    /// let sent = delta.to_bytes(); // 2. then send
    ///
    /// let again = Replica::<GCounter>::resume(&saved, &Limits::default())?; // the newest save, once
    /// assert_eq!((again.id(), again.value()), (a.id(), 1));
    /// let other = Replica::<GCounter>::resume_as(&saved, &Limits::default(), ReplicaId::random()?)?;
    /// assert_ne!(other.id(), a.id());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn save(&self) -> Vec<u8> {
        let ledger = &self.state.core.ledger;
        // Records may be dropped at any time; those that no reader takes, since a peer has forged some,
        // must not cost the save.
        let records = match fit(&self.state, &ledger.records) {
            true => ledger.records.clone(),
            false => Records::default(),
        };
        // The table names what is written and nothing else.
        let mut ids: BTreeSet<ReplicaId> = records.replicas().collect();
        ids.extend(ledger.seals().map(|(dot, _)| dot.replica));
        ids.insert(self.id);
        let bytes = |delta: &Delta<S>| (delta.claims().iter().next(), delta.to_bytes());
        let mut waiting: Vec<_> = self.state.waiting.iter().map(bytes).collect();
        waiting.sort();
        let mut sections = frame(FrameKind::Save, ids.into_iter().collect())
            .section(IDENTITY, |e| {
                e.table();
                e.replica(self.id);
            })
            .section(STATE, |e| e.raw(&self.state.to_bytes()))
            .section(LEDGER, |e| {
                records.encode(e);
                let seals: Vec<_> = ledger.seals().collect();
                e.varint(seals.len() as u64);
                for (dot, seal) in seals {
                    e.dot(dot);
                    e.raw(&seal.to_le_bytes());
                }
            })
            .section(WAITING, |e| {
                e.varint(waiting.len() as u64);
                waiting.iter().for_each(|(_, delta)| e.bytes(delta));
            });
        for (tag, bytes) in &self.unknown_sections {
            sections = sections.section(*tag, |e| e.raw(bytes));
        }
        sections.finish()
    }

    /// Goes on from a save under a new id: for old saves, backups and copies.
    ///
    /// # Errors
    /// As [`resume`](Replica::resume).
    pub fn resume_as(
        bytes: &[u8],
        limits: &Limits,
        id: ReplicaId,
    ) -> Result<Replica<S>, DecodeError> {
        Replica::resume(bytes, limits).map(|old| Replica { id, ..old })
    }

    /// Goes on from a save under the same id; see [`save`](Replica::save) for the contract.
    ///
    /// # Errors
    /// [`DecodeError`] if the bytes are not a save.
    pub fn resume(bytes: &[u8], limits: &Limits) -> Result<Replica<S>, DecodeError> {
        let mut id = None;
        let (mut ledger, mut waiting) = (false, false);
        let mut state = None::<State<S>>;
        let mut unknown_sections = Vec::new();
        let mut decoder = open(bytes, FrameKind::Save, limits)?;
        decoder.sections(|tag, d| {
            let at = d.offset();
            match (tag, &mut state) {
                (IDENTITY, _) => {
                    d.table()?;
                    id = Some(d.replica()?);
                }
                (STATE, none) => {
                    let bytes = d.raw(d.remaining())?;
                    *none = Some(State::from_bytes(bytes, limits).map_err(|e| shift(e, at))?);
                }
                (LEDGER, Some(state)) => {
                    ledger = true;
                    decode_ledger(d, state)?;
                }
                (WAITING, Some(state)) => {
                    waiting = true;
                    decode_waiting(d, state, limits)?;
                }
                (odd, Some(_)) if odd & 1 == 1 => {
                    unknown_sections.push((tag, d.raw(d.remaining())?.to_vec()));
                }
                _ => return Err(d.error(Kind::NeedsNewer { unknown: tag })),
            }
            Ok(())
        })?;
        decoder.finish_table()?;
        decoder.require(ledger && waiting, Kind::Truncated)?;
        match (id, state) {
            (Some(id), Some(state)) => Ok(Replica {
                id,
                state,
                unknown_sections,
            }),
            _ => Err(decoder.error(Kind::Truncated)),
        }
    }
}

/// The error of an inner frame, at its place in the outer one.
fn shift(error: DecodeError, by: usize) -> DecodeError {
    DecodeError {
        offset: error.offset + by,
        ..error
    }
}

/// Whether what `records` say was killed is known to `state`, and dead.
fn fit<S: Replicated>(state: &State<S>, records: &Records) -> bool {
    let Some(killed) = records.all() else {
        return false;
    };
    let mut live = Names::new();
    state.core.value.names(&killed.dots(), &mut live);
    killed.dots().is_within(&state.core.version) && live.is_disjoint(&killed)
}

fn decode_ledger<S: Replicated>(
    decoder: &mut Decoder<'_>,
    state: &mut State<S>,
) -> Result<(), DecodeError> {
    let records = Records::decode(decoder)?;
    let filled = |names: &Names| !names.is_empty();
    let consistent = records
        .kills
        .keys()
        .all(|dot| records.complete.contains(*dot));
    decoder.require(
        consistent && records.kills.values().all(filled),
        Kind::Inconsistent,
    )?;
    decoder.require(fit(state, &records), Kind::Inconsistent)?;
    state.core_mut().ledger.learn(&records, u64::MAX);
    let mut before = None;
    let seals = decoder.count(10)?;
    decoder.require(seals <= SEALS_MAX, Kind::LimitExceeded)?;
    for _ in 0..seals {
        let dot = decoder.dot()?;
        decoder.require(before.is_none_or(|last| last < dot), Kind::NotCanonical)?;
        before = Some(dot);
        let mut seal = [0; 8];
        seal.copy_from_slice(decoder.raw(8)?);
        state
            .core_mut()
            .ledger
            .note_seal(dot, u64::from_le_bytes(seal));
    }
    decoder.require(
        state.core.ledger.is_within(&state.core.version),
        Kind::Inconsistent,
    )
}

fn decode_waiting<S: Replicated>(
    decoder: &mut Decoder<'_>,
    state: &mut State<S>,
    limits: &Limits,
) -> Result<(), DecodeError> {
    let count = decoder.count(1)?;
    let mut before = None;
    // It may have been allowed more than a new one is; what is read takes memory of its own length.
    state.set_waiting_limits(WaitingLimits::new(usize::MAX, u64::MAX));
    for _ in 0..count {
        let bytes = decoder.bytes()?;
        let at = decoder.offset() - bytes.len();
        let delta = Delta::<S>::from_bytes(bytes, limits).map_err(|error| shift(error, at))?;
        let place = (delta.claims().iter().next(), bytes);
        decoder.require(before < Some(place), Kind::NotCanonical)?;
        before = Some(place);
        state.waiting.insert(delta, &state.core.version);
    }
    decoder.require(state.waiting() == count, Kind::Inconsistent)?;
    state.set_waiting_limits(WaitingLimits::default());
    Ok(())
}
