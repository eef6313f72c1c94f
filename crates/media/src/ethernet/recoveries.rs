//! Switches where several ways of a stream meet, and which pass one copy of each frame on (IEEE 802.1CB-2017 §7.4.3).
//!
//! A switch has no keys. The number in the redundancy tag counts as it stands there, so that a forged frame which comes first is
//! passed on, and the true one is taken for its copy.

use std::collections::BTreeMap;

use chronoseal_core::{DiscardReason, Event, EventKind, LocalTime, SimTime, StreamId};
use chronoseal_wire::ethernet::Frame;

use super::Network;
use super::config::NetworkConfig;
use super::filter::Admission;
use crate::medium::{FrameId, FrameStore, MediumOutput};
use crate::recovery::SequenceRecovery;

/// The sequence recovery functions of a network, by switch and stream.
pub(super) struct Recoveries(BTreeMap<(usize, StreamId), SequenceRecovery>);

impl Recoveries {
    /// Those of a network; `None` if no switch has any.
    pub(super) fn new(config: &NetworkConfig) -> Option<Box<Self>> {
        let own = config.recoveries.iter().map(|(at, recovery)| (*at, SequenceRecovery::new(*recovery)));
        (!config.recoveries.is_empty()).then(|| Box::new(Self(own.collect())))
    }
}

impl Network {
    /// Gives a frame that comes to a switch for the first time, or that is of no stream whose ways meet there; `None` if it was thrown
    /// away.
    pub(super) fn recover(
        &mut self,
        now: SimTime,
        line: usize,
        frame: FrameId,
        frames: &FrameStore,
        out: &mut Vec<MediumOutput>,
    ) -> Option<FrameId> {
        let Some(recoveries) = &mut self.recoveries else { return Some(frame) };
        let bytes = frames.bytes(frame);
        // What is refused anyway has no number that could count.
        let Ok(Admission::Stream(hop)) = self.filter.judge(&self.config, &self.ways, line, bytes) else {
            return Some(frame);
        };
        let stream = self.ways.hop(hop).stream;
        let at = self.config.switch_behind(line).map(|switch| (switch, stream));
        let Some(recovery) = at.and_then(|at| recoveries.0.get_mut(&at)) else { return Some(frame) };
        let Some(tag) = Frame::new_checked(bytes).ok().and_then(|frame| frame.r_tag()) else {
            self.discard(self.judges[line], frame, stream, DiscardReason::Malformed, frames, out);
            return None;
        };
        // All switches have the time in which the run is counted.
        let at = LocalTime::ZERO + now.since_zero();
        match recovery.refuses(tag.sequence, at) {
            None => {
                let _ = recovery.take(tag.sequence, at);
                Some(frame)
            }
            Some(DiscardReason::CopyEliminated) => {
                let value = recovery.eliminate(tag.sequence, at).as_ps();
                let kind = EventKind::Discarded(DiscardReason::CopyEliminated);
                let event = Event { value, ..Event::of(kind, stream, frames.label(frame).serial.unwrap_or(0)) };
                out.push(MediumOutput::Discard { node: self.judges[line], event, frame });
                None
            }
            Some(reason) => {
                self.discard(self.judges[line], frame, stream, reason, frames, out);
                None
            }
        }
    }
}
