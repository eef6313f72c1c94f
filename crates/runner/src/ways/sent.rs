//! Which frames senders say they sent, and when.

use std::collections::BTreeMap;

use chronoseal_core::{Duration, SimTime, StreamId};

/// A frame as its sender told of it.
#[derive(Clone, Copy)]
struct Told {
    at: SimTime,
    /// With the sender's life above [`LIFE_BITS`].
    number: u64,
    due: SimTime,
}

/// When senders say they sent which frame, by stream and in time.
///
/// A sender that starts anew counts from 0 again: its numbers are told apart by its lives, which stand above [`LIFE_BITS`].
#[derive(Default)]
pub(super) struct Sent(BTreeMap<StreamId, OfStream>);

#[derive(Default)]
struct OfStream {
    /// In time.
    frames: Vec<Told>,
    /// What has come since they were put in order.
    fresh: Vec<Told>,
    life: u64,
    last: Option<u64>,
    /// By number.
    dues: BTreeMap<u64, SimTime>,
}

/// No sender numbers so many frames.
const LIFE_BITS: u32 = 40;

/// The number as its sender gave it.
pub(super) const fn as_sent(number: u64) -> u64 {
    number & ((1 << LIFE_BITS) - 1)
}

impl Sent {
    /// Takes in that a frame was sent.
    pub(super) fn note(&mut self, stream: StreamId, at: SimTime, number: u64, due: SimTime) {
        self.0.entry(stream).or_default().fresh.push(Told { at, number, due });
    }

    /// Puts what has come in order.
    pub(super) fn sort_in(&mut self) {
        for OfStream { frames, fresh, life, last, dues } in self.0.values_mut() {
            fresh.sort_by_key(|told| told.at);
            for mut told in fresh.drain(..) {
                *life += u64::from(last.is_some_and(|last| told.number <= last));
                *last = Some(told.number);
                told.number |= *life << LIFE_BITS;
                dues.insert(told.number, told.due);
                frames.push(told);
            }
        }
    }

    fn of(&self, stream: StreamId) -> Option<&[Told]> {
        self.0.get(&stream).map(|known| &known.frames[..])
    }

    /// When the frame with a number was due.
    pub(super) fn due(&self, stream: StreamId, number: u64) -> Option<SimTime> {
        self.0.get(&stream)?.dues.get(&number).copied()
    }

    /// The number of the last frame sent before a time, if that is less than a period ago.
    pub(super) fn just_before(&self, stream: StreamId, at: SimTime, period: Duration) -> Option<u64> {
        let frames = self.of(stream)?;
        let told = frames.get(frames.partition_point(|told| told.at <= at).checked_sub(1)?)?;
        (at - told.at < period).then_some(told.number)
    }

    /// As its sender gave it, the number of the frame sent nearest to a time, among all that has come.
    pub(super) fn nearest_told(&self, stream: StreamId, at: SimTime) -> Option<u64> {
        let OfStream { frames, fresh, .. } = self.0.get(&stream)?;
        let distance = |told: &&Told| (told.at - at).as_ps().unsigned_abs();
        // What is in order is older than what has come since.
        let sorted =
            frames.iter().rev().take_while(|told| told.at >= at).chain(frames.iter().rfind(|told| told.at < at));
        sorted.chain(fresh).min_by_key(distance).map(|told| as_sent(told.number))
    }

    /// The number of the frame that its sender put on its segment at a time: of those told of behind `last` at the time nearest to it, the
    /// first. A sender whose processor was busy tells of several at once.
    pub(super) fn begun(&self, stream: StreamId, at: SimTime, last: Option<u64>) -> Option<u64> {
        let (nearest, frames) = (self.nearest(stream, at)?, self.of(stream)?);
        let told_at = frames.iter().rfind(|told| told.number == nearest)?.at;
        let first = frames.partition_point(|told| told.at < told_at);
        let mut at_once = frames[first..].iter().take_while(|told| told.at == told_at);
        Some(at_once.find(|told| last.is_none_or(|last| told.number > last)).map_or(nearest, |told| told.number))
    }

    /// The number of the frame sent nearest to a time.
    pub(super) fn nearest(&self, stream: StreamId, at: SimTime) -> Option<u64> {
        let frames = self.of(stream)?;
        let place = frames.partition_point(|told| told.at <= at);
        let around = [place.checked_sub(1).and_then(|before| frames.get(before)), frames.get(place)];
        let distance = |told: &&Told| (told.at - at).as_ps().unsigned_abs();
        around.into_iter().flatten().min_by_key(distance).map(|told| told.number)
    }

    /// A number of which a PDU of `len` bytes has only the low bytes, completed to that nearest to what was sent at a time.
    pub(super) fn complete(&self, stream: StreamId, len: u32, low: u64, at: SimTime) -> u64 {
        let bits = 8 * len;
        let Some(near) = self.nearest(stream, at) else { return low };
        let life = near - as_sent(near);
        if bits >= 32 {
            return life | low;
        }
        let near = as_sent(near);
        let span = 1u64 << bits;
        let below = near - (near.wrapping_sub(low) % span).min(near);
        life | if near - below > span / 2 { below + span } else { below }
    }

    /// Frames that were told of behind the one with a number, with when.
    pub(super) fn behind(&self, stream: StreamId, number: u64) -> impl Iterator<Item = (u64, SimTime)> {
        let behind = self.of(stream).into_iter().flatten().rev().take_while(move |told| told.number > number);
        behind.map(|told| (told.number, told.at))
    }

    /// Frames that were told of behind a time, with when.
    pub(super) fn since(&self, stream: StreamId, since: SimTime) -> impl Iterator<Item = (u64, SimTime)> {
        let behind = self.of(stream).into_iter().flatten().rev().take_while(move |told| told.at > since);
        behind.map(|told| (told.number, told.at))
    }

    /// Forgets what was sent before a time, but for the last of it. The number of the first frame that is left.
    pub(super) fn forget(&mut self, stream: StreamId, before: SimTime) -> u64 {
        let Some(known) = self.0.get_mut(&stream) else { return 0 };
        known.frames.drain(..known.frames.partition_point(|told| told.at < before).saturating_sub(1));
        let first = known.frames.first().map_or(0, |told| told.number);
        known.dues = known.dues.split_off(&first);
        first
    }
}
