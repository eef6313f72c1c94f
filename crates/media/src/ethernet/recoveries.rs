//! Switches where several ways of a stream meet, and which pass one copy of each frame on (IEEE 802.1CB-2017 §7.4.3).
//!
//! A switch has no keys. The number in the redundancy tag counts as it stands there, so that a forged frame which comes first is
//! passed on, and the true one is taken for its copy.

use std::collections::BTreeMap;

use chronoseal_core::{DiscardReason, Event, EventKind, LocalTime, SimTime, StreamId};
use chronoseal_wire::ethernet::Frame;

use super::Network;
use super::config::NetworkConfig;
use super::ways::HopId;
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
    /// False if a frame was thrown away because it is not the first of its copies at a switch where ways of its stream meet.
    #[cold]
    #[inline(never)]
    pub(super) fn recover(
        &mut self,
        now: SimTime,
        line: usize,
        frame: FrameId,
        hop: HopId,
        frames: &FrameStore,
        out: &mut Vec<MediumOutput>,
    ) -> bool {
        let stream = self.ways.hop(hop).stream;
        let at = self.config.switch_behind(line).map(|switch| (switch, stream));
        let recovery = self.recoveries.as_mut().and_then(|recoveries| recoveries.0.get_mut(&at?));
        let Some(recovery) = recovery else { return true };
        let Some(tag) = Frame::new_checked(frames.bytes(frame)).ok().and_then(|frame| frame.r_tag()) else {
            self.discard(self.judges[line], frame, stream, DiscardReason::Malformed, frames, out);
            return false;
        };
        // All switches have the time in which the run is counted.
        let at = LocalTime::ZERO + now.since_zero();
        if let Some(missing) = recovery.latent_error(at) {
            let event = Event { value: missing, ..Event::of(EventKind::LatentError, stream, 0) };
            out.push(MediumOutput::Event { node: self.judges[line], event, frame: None });
        }
        match recovery.refuses(tag.sequence, at) {
            None => {
                let _ = recovery.take(tag.sequence, at);
                true
            }
            Some(DiscardReason::CopyEliminated) => {
                let value = recovery.eliminate(tag.sequence, at).as_ps();
                let kind = EventKind::Discarded(DiscardReason::CopyEliminated);
                let event = Event { value, ..Event::of(kind, stream, frames.label(frame).serial.unwrap_or(0)) };
                out.push(MediumOutput::Discard { node: self.judges[line], event, frame });
                false
            }
            Some(reason) => {
                self.discard(self.judges[line], frame, stream, reason, frames, out);
                false
            }
        }
    }
}
