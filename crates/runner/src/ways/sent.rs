//! Which frames senders say they sent, and when.

use std::collections::BTreeMap;

use chronoseal_core::{Duration, EventKind, SimTime, StreamId};
use chronoseal_results::rows::RunRows;

/// When senders say they sent which frame, by stream and in time.
///
/// A sender that starts anew counts from 0 again: its numbers are told apart by its lives, which stand above [`LIFE_BITS`].
pub(super) struct Sent(BTreeMap<StreamId, Vec<(SimTime, u64)>>);

/// No sender numbers so many frames.
const LIFE_BITS: u32 = 40;

/// The number as its sender gave it.
pub(super) const fn as_sent(number: u64) -> u64 {
    number & ((1 << LIFE_BITS) - 1)
}

impl Sent {
    pub(super) fn of(rows: &RunRows, is_relayed: impl Fn(StreamId) -> bool) -> Self {
        let mut sent: BTreeMap<StreamId, Vec<(SimTime, u64)>> = BTreeMap::new();
        for row in rows.events.iter().filter(|row| row.event.kind == EventKind::Sent && is_relayed(row.event.stream)) {
            sent.entry(row.event.stream).or_default().push((row.time, row.event.sequence));
        }
        for frames in sent.values_mut() {
            frames.sort_by_key(|(time, _)| *time);
            let (mut life, mut last) = (0, None);
            for (_, number) in frames {
                life += u64::from(last.is_some_and(|last| *number <= last));
                last = Some(*number);
                *number |= life << LIFE_BITS;
            }
        }
        Self(sent)
    }

    /// The number of the last frame sent before a time, if that is less than a period ago.
    pub(super) fn just_before(&self, stream: StreamId, at: SimTime, period: Duration) -> Option<u64> {
        let frames = self.0.get(&stream)?;
        let (sent_at, number) = frames.get(frames.partition_point(|(time, _)| *time <= at).checked_sub(1)?)?;
        (at - *sent_at < period).then_some(*number)
    }

    /// The number of the frame sent nearest to a time.
    pub(super) fn nearest(&self, stream: StreamId, at: SimTime) -> Option<u64> {
        let frames = self.0.get(&stream)?;
        let place = frames.partition_point(|(time, _)| *time <= at);
        let around = [place.checked_sub(1).and_then(|before| frames.get(before)), frames.get(place)];
        let distance = |(time, _): &&(SimTime, u64)| (*time - at).as_ps().unsigned_abs();
        around.into_iter().flatten().min_by_key(distance).map(|(_, number)| *number)
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
}
