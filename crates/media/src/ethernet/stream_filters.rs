//! Stream filters, stream gates and flow meters of the switches that have them ([`crate::psfp`]).
//!
//! They judge a frame that every switch would let in: its stream, its line and its length are known to be right then.

use std::collections::BTreeMap;

use chronoseal_core::{Priority, SimTime};
use chronoseal_wire::ethernet::{FCS_LEN, Frame, HEADER_LEN, TAGGED_HEADER_LEN, VlanTag};

use super::Network;
use super::config::NetworkConfig;
use super::filter::Admission;
use crate::medium::{FrameId, FrameStore, MediumOutput, Series};
use crate::psfp::{Arrived, Psfp};

/// What the switches that filter streams have.
pub(super) struct Guards {
    by_switch: BTreeMap<usize, Psfp>,
    /// Internal priority values of frames that are not in a queue yet, by the line they came by.
    priorities: BTreeMap<(usize, FrameId), Priority>,
}

impl Guards {
    /// Those of a network; `None` if no switch has any.
    pub(super) fn new(config: &NetworkConfig) -> Option<Box<Self>> {
        let by_switch: BTreeMap<usize, Psfp> =
            config.psfp.iter().map(|(switch, psfp)| (*switch, Psfp::new(psfp))).collect();
        (!by_switch.is_empty()).then(|| Box::new(Self { by_switch, priorities: BTreeMap::new() }))
    }

    /// The internal priority value of a frame that came by a line, which it has once.
    #[cold]
    #[inline(never)]
    pub(super) fn take_priority(&mut self, came: (usize, FrameId)) -> Option<Priority> {
        self.priorities.remove(&came)
    }

    /// The counters of every filter, by their names in the standard.
    pub(super) fn series(&self, config: &NetworkConfig) -> Vec<Series> {
        let mut series = Vec::new();
        for (switch, psfp) in &self.by_switch {
            let filters = config.psfp.get(switch).map_or(&[][..], |psfp| &psfp.filters);
            for (filter, counters) in filters.iter().zip(psfp.counters()) {
                let of = |(name, count): (&str, u64)| {
                    Series::total(
                        format!("{}: {name}", filter.name),
                        "frames",
                        i64::try_from(count).unwrap_or(i64::MAX),
                    )
                };
                series.extend(counters.named().map(of));
            }
        }
        series
    }
}

impl Network {
    /// Lets the filters of a switch judge a frame that it would let in. Gives the frame that goes on, which is another one if a
    /// meter marked it; `None` if it was thrown away.
    pub(super) fn filter_stream(
        &mut self,
        now: SimTime,
        line: usize,
        frame: FrameId,
        frames: &mut FrameStore,
        out: &mut Vec<MediumOutput>,
    ) -> Option<FrameId> {
        let Some(switch) = self.config.switch_behind(line).filter(|_| self.guards.is_some()) else {
            return Some(frame);
        };
        let bytes = frames.bytes(frame);
        let hop = match self.filter.judge(&self.config, &self.ways, line, bytes) {
            Ok(Admission::Scheduled(hop)) if self.in_turn(now, line, (hop, bytes.len() as u64)).is_err() => None,
            Ok(Admission::Scheduled(hop) | Admission::VirtualLink(hop) | Admission::Stream(hop)) => Some(hop),
            Ok(Admission::Beacon) | Err(_) => None,
        };
        let psfp = self.guards.as_mut().and_then(|guards| guards.by_switch.get_mut(&switch));
        // What is refused without them, or is of no stream, is not theirs to judge.
        let Some((psfp, hop)) = psfp.zip(hop) else { return Some(frame) };
        let hop = *self.ways.hop(hop);
        let tag = Frame::new_checked(bytes).ok().and_then(|frame| frame.tag());
        let header = if tag.is_some() { TAGGED_HEADER_LEN } else { HEADER_LEN };
        let arrived = Arrived {
            stream: hop.stream,
            line,
            priority: tag.map_or(hop.priority.0, |tag| tag.pcp),
            is_drop_eligible: tag.is_some_and(|tag| tag.drop_eligible),
            sdu_len: (bytes.len() - header) as u32,
            frame_len: (bytes.len() + FCS_LEN) as u32,
        };
        let passed = match psfp.judge(now, &arrived) {
            Ok(passed) => passed,
            Err(reason) => {
                self.discard(self.judges[line], frame, hop.stream, reason, frames, out);
                return None;
            }
        };
        let frame = match tag.filter(|tag| passed.is_yellow && !tag.drop_eligible) {
            Some(tag) => marked(frame, tag, frames),
            None => frame,
        };
        // Without a tag a frame has the queue of its class.
        if let (Some(ipv), Some(guards), Some(_)) = (passed.ipv, &mut self.guards, tag) {
            guards.priorities.insert((line, frame), ipv);
        }
        Some(frame)
    }
}

/// The same frame with a tag that says that it may be dropped before others. Copies of it elsewhere stay as they are.
fn marked(frame: FrameId, tag: VlanTag, frames: &mut FrameStore) -> FrameId {
    let copy = frames.duplicate(frame);
    frames.release(frame);
    let raw = VlanTag { drop_eligible: true, ..tag }.raw();
    frames.buffer(copy)[HEADER_LEN..HEADER_LEN + 2].copy_from_slice(&raw.to_be_bytes());
    copy
}
