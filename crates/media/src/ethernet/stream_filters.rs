//! Stream filters, stream gates and flow meters of the switches that have them ([`crate::psfp`]).
//!
//! They judge a frame that every switch would let in: its stream, its line and its length are known to be right then.

use chronoseal_core::{Priority, SimTime};
use chronoseal_wire::ethernet::{FCS_LEN, HEADER_LEN, TAGGED_HEADER_LEN, VlanTag};

use super::Network;
use super::config::NetworkConfig;
use super::ways::HopId;
use crate::medium::{FrameId, FrameStore, MediumOutput, Series};
use crate::psfp::{Arrived, Psfp};

/// What the switches that filter streams have.
pub(super) struct Guards {
    /// By switch: in the order of their numbers, those that have any.
    switches: Vec<(usize, Psfp)>,
    /// By line: which of them it leads to.
    behind: Vec<Option<u32>>,
    /// True if a switch has stream gates.
    have_gates: bool,
}

impl Guards {
    /// Those of a network; `None` if no switch has any.
    pub(super) fn new(config: &NetworkConfig) -> Option<Box<Self>> {
        let switches: Vec<(usize, Psfp)> =
            config.psfp.iter().map(|(switch, psfp)| (*switch, Psfp::new(psfp))).collect();
        let place = |switch: usize| switches.iter().position(|(own, _)| *own == switch).map(|place| place as u32);
        let behind = (0..2 * config.links.len()).map(|line| config.switch_behind(line).and_then(place)).collect();
        let have_gates = config.psfp.values().any(|psfp| !psfp.gates.is_empty());
        (!switches.is_empty()).then(|| Box::new(Self { switches, behind, have_gates }))
    }

    /// The counters of every filter, by their names in the standard.
    pub(super) fn series(&self, config: &NetworkConfig) -> Vec<Series> {
        let mut series = Vec::new();
        for (switch, psfp) in &self.switches {
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
    /// Lets the filters of a switch judge a frame that it lets in. Gives the frame that goes on, which is another one if a meter
    /// marked it, and the priority by which it is queued; `None` if it was thrown away.
    #[inline(never)]
    pub(super) fn filter_stream(
        &mut self,
        now: SimTime,
        line: usize,
        (frame, priority): (FrameId, Priority),
        (hop, tag): (HopId, Option<VlanTag>),
        frames: &mut FrameStore,
        out: &mut Vec<MediumOutput>,
    ) -> Option<(FrameId, Priority)> {
        let Some(guards) = &self.guards else { return Some((frame, priority)) };
        // Filters without gates go by no clock.
        let shown = if guards.have_gates { self.gates_shown_behind(now, line) } else { None };
        let Some(guards) = &mut self.guards else { return Some((frame, priority)) };
        let place = guards.behind[line];
        let Some((_, psfp)) = place.and_then(|place| guards.switches.get_mut(place as usize)) else {
            return Some((frame, priority));
        };
        let (stream, len) = (self.ways.hop(hop).stream, frames.len_of(frame) as usize);
        let header = if tag.is_some() { TAGGED_HEADER_LEN } else { HEADER_LEN };
        let arrived = Arrived {
            stream,
            line,
            priority: priority.0,
            is_drop_eligible: tag.is_some_and(|tag| tag.drop_eligible),
            sdu_len: (len - header) as u32,
            frame_len: (len + FCS_LEN) as u32,
        };
        let passed = match psfp.judge(now, shown, &arrived) {
            Ok(passed) => passed,
            Err(reason) => {
                self.discard(self.judges[line], frame, stream, reason, frames, out);
                return None;
            }
        };
        // Without a tag a frame can neither be marked nor have another queue than that of its class.
        let Some(tag) = tag else { return Some((frame, priority)) };
        let frame = if passed.is_yellow && !tag.drop_eligible { marked(frame, tag, frames) } else { frame };
        Some((frame, passed.ipv.unwrap_or(priority)))
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
