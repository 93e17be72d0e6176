//! The bytes of states, deltas and versions; `docs/wire-format.md` has the tables.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use super::ledger::Records;
use super::seal::{self, SealSpan};
use super::{Delta, State};
use crate::clock::{Dot, Dots, Names, ReplicaId, Version};
use crate::codec::{
    DecodeError, DecodeErrorKind as Kind, Decoder, Encoder, FrameKind, Limits, open, seal as frame,
};
use crate::kernel::{Kills, Part, Place, Replicated, WithRest, WithRestPart};

type Result<T> = core::result::Result<T, DecodeError>;

const CLOCKS: u32 = 2;
const CONTENT: u32 = 4;
const KILLS: u32 = 8;
const RECORDS: u32 = 10;

const ORIGINAL: u8 = 0;
const COMBINED: u8 = 1;

fn unknown<T>(decoder: &Decoder<'_>, tag: u32) -> Result<T> {
    Err(decoder.error(Kind::NeedsNewer { unknown: tag }))
}

impl Version {
    /// The canonical bytes of this version.
    pub fn to_bytes(&self) -> Vec<u8> {
        frame(FrameKind::Version, self.iter().map(|(id, _)| id).collect())
            .section(CLOCKS, |e| {
                e.table();
                e.version(self);
            })
            .finish()
    }

    /// Reads what [`to_bytes`](Version::to_bytes) wrote.
    ///
    /// # Errors
    /// [`DecodeError`] for anything else.
    pub fn from_bytes(bytes: &[u8], limits: &Limits) -> Result<Version> {
        let mut version = None;
        let mut decoder = open(bytes, FrameKind::Version, limits)?;
        decoder.sections(|tag, d| match tag {
            CLOCKS => {
                d.table()?;
                version = Some(d.version()?);
                Ok(())
            }
            _ => unknown(d, tag),
        })?;
        version.ok_or(decoder.error(Kind::Truncated))
    }
}

impl<S: Replicated> State<S> {
    /// The state bytes: canonical, so that equal states are equal byte strings.
    ///
    /// They hold neither identity nor waiting deltas nor ledger; see
    /// [`Replica::save`](super::Replica::save) for these. O(n).
    pub fn to_bytes(&self) -> Vec<u8> {
        frame(
            FrameKind::State,
            self.core.version.iter().map(|(id, _)| id).collect(),
        )
        .section(CLOCKS, |e| {
            e.table();
            e.version(&self.core.version);
            e.dots(&self.core.heads);
            self.core
                .seals
                .values()
                .for_each(|seal| e.raw(&seal.to_le_bytes()));
        })
        .section(CONTENT, |e| {
            e.byte(S::kind(Place::Kept) as u8);
            self.core.value.encode(e, Place::Kept);
        })
        .finish()
    }

    /// The bytes of the value alone.
    pub(super) fn value_bytes(&self) -> Vec<u8> {
        let table = self.core.version.iter().map(|(id, _)| id);
        let mut encoder = Encoder::new(table.collect());
        self.core.value.encode(&mut encoder, Place::Kept);
        encoder.into_bytes()
    }

    /// Reads state bytes. O(n).
    ///
    /// # Errors
    /// [`DecodeError`] for anything but the canonical bytes of a valid state.
    pub fn from_bytes(bytes: &[u8], limits: &Limits) -> Result<State<S>> {
        let mut state = State::<S>::new();
        let (mut clocks, mut content) = (false, false);
        let mut decoder = open(bytes, FrameKind::State, limits)?;
        decoder.sections(|tag, d| match tag {
            CLOCKS => {
                clocks = true;
                state.decode_clocks(d)
            }
            CONTENT => {
                content = true;
                state.decode_content(d)
            }
            _ => unknown(d, tag),
        })?;
        decoder.require(clocks && content, Kind::Truncated)?;
        Ok(state)
    }

    fn decode_clocks(&mut self, decoder: &mut Decoder<'_>) -> Result<()> {
        decoder.table()?;
        let core = self.core_mut();
        core.version = decoder.version()?;
        core.heads = decoder.dots()?;
        decoder.require(core.heads.is_within(&core.version), Kind::Inconsistent)?;
        decoder.require(
            core.heads.is_empty() == core.version.is_empty(),
            Kind::Inconsistent,
        )?;
        for (id, _) in core.version.iter() {
            let mut seal = [0; 8];
            seal.copy_from_slice(decoder.raw(8)?);
            core.seals.insert(id, u64::from_le_bytes(seal));
            // A replica's updates follow each other, so only its last can be a head.
            let heads = core.heads.of(id).map_or(0, |runs| runs.len());
            let last = core.heads.of(id).and_then(|runs| runs.last());
            let is_last = last.is_none_or(|last| last == core.version.get(id));
            decoder.require(heads <= 1 && is_last, Kind::Inconsistent)?;
        }
        Ok(())
    }

    fn decode_content(&mut self, decoder: &mut Decoder<'_>) -> Result<()> {
        decoder.shape(S::kind(Place::Kept))?;
        let core = self.core_mut();
        core.value = decoder.deeper(|d| WithRest::decode(d, Place::Kept))?;
        if S::checks_names() {
            return Ok(());
        }
        let mut names = Names::new();
        core.value.names(&Dots::from(&core.version), &mut names);
        // Fewer if an entry's update is not included or one name stands twice.
        decoder.require(names.len() == core.value.entries(), Kind::Inconsistent)
    }
}

impl<S: Replicated> Delta<S> {
    /// The canonical bytes of this delta: about 50 to 90 for one small update. O(size).
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut sections = frame(FrameKind::Delta, self.table()).section(CLOCKS, |e| {
            e.table();
            match self.original {
                true => self.encode_original(e),
                false => self.encode_combined(e),
            }
        });
        if !self.part.is_empty() {
            sections = sections.section(CONTENT, |e| {
                e.byte(S::kind(Place::Kept) as u8);
                self.part.encode(e, Place::Kept);
            });
        }
        if self.kills != Kills::default() {
            sections = sections.section(KILLS, |e| {
                e.dots(&self.kills.all_of);
                e.names(&self.kills.except);
                e.names(&self.kills.also);
            });
        }
        if !self.original && self.ledger != Records::default() {
            sections = sections.section(RECORDS, |e| self.ledger.encode(e));
        }
        sections.finish()
    }

    fn table(&self) -> Vec<ReplicaId> {
        let mut ids = BTreeSet::new();
        ids.extend(self.claims.replicas());
        ids.extend(self.after.replicas());
        ids.extend(self.heads.replicas());
        self.part.replicas(&mut ids);
        ids.extend(self.kills.all_of.replicas());
        ids.extend(self.kills.except.replicas());
        ids.extend(self.kills.also.replicas());
        self.ledger
            .kills
            .values()
            .for_each(|names| ids.extend(names.replicas()));
        ids.into_iter().collect()
    }

    fn encode_original(&self, encoder: &mut Encoder) {
        encoder.byte(ORIGINAL);
        for (dot, span) in self.claims.iter().zip(self.seals.values()) {
            encoder.dot(dot);
            encoder.raw(&span.before.unwrap_or(seal::FIRST).to_le_bytes());
        }
        encoder.dots(&self.after);
    }

    fn encode_combined(&self, encoder: &mut Encoder) {
        encoder.byte(COMBINED);
        encoder.dots(&self.claims);
        encoder.dots(&self.after);
        encoder.dots(&self.heads);
        for span in self.seals.values() {
            encoder.byte(u8::from(span.before.is_some()));
            span.before
                .iter()
                .for_each(|seal| encoder.raw(&seal.to_le_bytes()));
            encoder.raw(&span.after.to_le_bytes());
        }
    }

    /// Reads a delta.
    ///
    /// # Errors
    /// [`DecodeError`] for anything but the canonical bytes of a delta that is consistent in itself.
    /// Whether it fits a state is checked by [`absorb`](super::State::absorb).
    pub fn from_bytes(bytes: &[u8], limits: &Limits) -> Result<Delta<S>> {
        let mut delta = Delta::<S>::empty();
        let mut clocks = false;
        let mut decoder = open(bytes, FrameKind::Delta, limits)?;
        decoder.sections(|tag, d| match tag {
            CLOCKS => {
                clocks = true;
                delta.decode_clocks(d)
            }
            CONTENT => {
                d.shape(S::kind(Place::Kept))?;
                delta.part = d.deeper(|d| WithRestPart::decode(d, Place::Kept))?;
                d.require(!delta.part.is_empty(), Kind::NotCanonical)
            }
            KILLS => {
                let (all_of, except, also) = (d.dots()?, d.names()?, d.names()?);
                delta.kills = Kills {
                    all_of,
                    except,
                    also,
                };
                d.require(delta.kills != Kills::default(), Kind::NotCanonical)
            }
            RECORDS if !delta.original => {
                delta.ledger = Records::decode(d)?;
                d.require(delta.ledger != Records::default(), Kind::NotCanonical)
            }
            _ => unknown(d, tag),
        })?;
        decoder.require(clocks, Kind::Truncated)?;
        decoder.finish_table()?;
        delta.complete_original();
        decoder.require(delta.is_consistent(), Kind::Inconsistent)?;
        Ok(delta)
    }

    fn decode_clocks(&mut self, decoder: &mut Decoder<'_>) -> Result<()> {
        decoder.table()?;
        match decoder.byte()? {
            ORIGINAL => {
                let dot = decoder.dot()?;
                let before = read_seal(decoder)?;
                let first = dot.counter > 1 || before == seal::FIRST;
                decoder.require(first, Kind::NotCanonical)?;
                self.original = true;
                self.claims = Dots::from(dot);
                self.heads = Dots::from(dot);
                self.seals.insert(
                    dot.replica,
                    SealSpan {
                        before: Some(before),
                        after: 0,
                    },
                );
                self.after = decoder.dots()?;
            }
            COMBINED => {
                self.claims = decoder.dots()?;
                self.after = decoder.dots()?;
                self.heads = decoder.dots()?;
                for id in self.claims.replicas() {
                    let before = match decoder.byte()? {
                        0 => None,
                        1 => Some(read_seal(decoder)?),
                        _ => return Err(decoder.error(Kind::NotCanonical)),
                    };
                    self.seals.insert(
                        id,
                        SealSpan {
                            before,
                            after: read_seal(decoder)?,
                        },
                    );
                }
            }
            _ => return Err(decoder.error(Kind::NotCanonical)),
        }
        Ok(())
    }

    /// What an original update does not spell out: its seal and its record.
    fn complete_original(&mut self) {
        let Some(dot) = self.claims.iter().next().filter(|_| self.original) else {
            return;
        };
        if let Some(span) = self.seals.get_mut(dot.replica) {
            let before = span.before.unwrap_or(seal::FIRST);
            span.after = seal::next(before, dot, &self.after, &self.part, &self.kills.also);
        }
        self.ledger = Records::one(dot, &self.kills.also);
    }
}

fn read_seal(decoder: &mut Decoder<'_>) -> Result<u64> {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(decoder.raw(8)?);
    Ok(u64::from_le_bytes(bytes))
}

impl Records {
    pub(super) fn encode(&self, encoder: &mut Encoder) {
        encoder.dots(&self.complete);
        encoder.varint(self.kills.len() as u64);
        for (dot, names) in &self.kills {
            encoder.dot(*dot);
            encoder.names(names);
        }
    }

    pub(super) fn decode(decoder: &mut Decoder<'_>) -> Result<Records> {
        let complete = decoder.dots()?;
        let mut kills = BTreeMap::<Dot, Names>::new();
        for _ in 0..decoder.count(3)? {
            let dot = decoder.dot()?;
            let ascending = kills.last_key_value().is_none_or(|(last, _)| *last < dot);
            decoder.require(ascending, Kind::NotCanonical)?;
            kills.insert(dot, decoder.names()?);
        }
        Ok(Records { kills, complete })
    }
}
