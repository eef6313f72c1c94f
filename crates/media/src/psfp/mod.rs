//! Per-stream filtering and policing of a bridge (PSFP): IEEE 802.1Q-2018 §8.6.5.1, made by IEEE 802.1Qci.
//!
//! ```text
//! frame ─► first stream filter that matches ─► maximum SDU size ─► stream gate ─► flow meter ─► queue
//!              (none: nothing of all this)
//! ```
//!
//! A frame is judged at the instant at which its last bit is in. Its length counts in two ways, both of them the standards': a
//! filter and a gate count the SDU, which is what stands behind header and VLAN tag, padding included; a flow meter counts the
//! frame from its destination address to its checksum (MEF 10.3 §12).

mod config;
mod gate;
mod meter;
#[cfg(test)]
mod tests;

use chronoseal_core::{DiscardReason, Duration, Priority, SimTime, StreamId};

pub use self::config::{
    FlowMeterConfig, PsfpConfig, StreamFilterConfig, StreamGateConfig, StreamGateEntry, StreamGateList,
};
use self::gate::StreamGate;
use self::meter::{Colour, FlowMeter};

/// Priorities that a tag can name.
const PRIORITIES: usize = 8;

/// What a bridge knows of a frame that came in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrived {
    /// The stream that its addresses name: its stream handle.
    pub stream: StreamId,
    /// The line by which it came.
    pub line: usize,
    /// Its priority: that of its tag or, without one, that of its stream.
    pub priority: u8,
    /// The drop eligibility of its tag; false without one.
    pub is_drop_eligible: bool,
    /// What stands behind header and VLAN tag `[byte]`.
    pub sdu_len: u32,
    /// From its destination address to its checksum `[byte]`.
    pub frame_len: u32,
}

/// What becomes of a frame that passes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Passed {
    /// The internal priority value of its gate, by which the bridge chooses its queue; `None`: its own priority.
    pub ipv: Option<Priority>,
    /// A meter marked it yellow: it goes on drop-eligible.
    pub is_yellow: bool,
}

/// Counters of a stream filter, by the standard's names (§8.6.5.1.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FilterCounters {
    /// Frames that match the filter (*MatchingFramesCount*).
    pub matching_frames: u64,
    /// Frames that pass its stream gate (*PassingFramesCount*).
    pub passing_frames: u64,
    /// Frames that do not pass its stream gate (*NotPassingFramesCount*).
    pub not_passing_frames: u64,
    /// Frames that pass the maximum SDU size (*PassingSDUCount*).
    pub passing_sdus: u64,
    /// Frames that do not (*NotPassingSDUCount*).
    pub not_passing_sdus: u64,
    /// Frames that its flow meter discards (*RedFramesCount*).
    pub red_frames: u64,
}

impl FilterCounters {
    /// Each counter with its name in the standard.
    pub const fn named(&self) -> [(&'static str, u64); 6] {
        [
            ("MatchingFramesCount", self.matching_frames),
            ("PassingFramesCount", self.passing_frames),
            ("NotPassingFramesCount", self.not_passing_frames),
            ("PassingSDUCount", self.passing_sdus),
            ("NotPassingSDUCount", self.not_passing_sdus),
            ("RedFramesCount", self.red_frames),
        ]
    }
}

/// A filter at work.
#[derive(Clone, Debug)]
struct StreamFilter {
    config: StreamFilterConfig,
    counters: FilterCounters,
    /// *StreamBlockedDueToOversizeFrame*.
    is_blocked: bool,
}

/// The filters, gates and meters of one bridge at work.
#[derive(Clone, Debug)]
pub struct Psfp {
    filters: Vec<StreamFilter>,
    /// By stream and priority: no filter before this one matches. Of streams that no filter names there is none.
    first: Vec<[u32; PRIORITIES]>,
    gates: Vec<StreamGate>,
    meters: Vec<FlowMeter>,
}

impl Psfp {
    /// Nothing has come yet; every bucket is full.
    ///
    /// # Panics
    /// If a filter names a gate or a meter that is not there.
    pub fn new(config: &PsfpConfig) -> Self {
        for filter in &config.filters {
            assert!(filter.gate.is_none_or(|gate| gate < config.gates.len()), "a filter names a gate of its bridge");
            assert!(
                filter.meter.is_none_or(|meter| meter < config.meters.len()),
                "a filter names a meter of its bridge"
            );
        }
        let filter = |config: &StreamFilterConfig| StreamFilter {
            config: config.clone(),
            counters: FilterCounters::default(),
            is_blocked: false,
        };
        Self {
            filters: config.filters.iter().map(filter).collect(),
            first: first_filters(&config.filters),
            gates: config.gates.iter().map(StreamGate::new).collect(),
            meters: config.meters.iter().map(|meter| FlowMeter::new(*meter)).collect(),
        }
    }

    /// Judges a frame whose last bit is in. `shown` is what the clock shows that gates go by, if it shows anything yet.
    ///
    /// # Errors
    /// Why it is thrown away.
    pub fn judge(&mut self, now: SimTime, shown: Option<Duration>, frame: &Arrived) -> Result<Passed, DiscardReason> {
        let by_priority = self.first.get(frame.stream.index());
        let first =
            by_priority.and_then(|first| first.get(usize::from(frame.priority))).map_or(0, |first| *first as usize);
        let Some(filter) = self.filters[first..].iter_mut().find(|filter| filter.config.matches(frame)) else {
            return Ok(Passed::default());
        };
        let StreamFilter { config, counters, is_blocked } = filter;
        counters.matching_frames += 1;
        if *is_blocked {
            counters.not_passing_sdus += 1;
            return Err(DiscardReason::StreamBlocked);
        }
        if config.max_sdu.is_some_and(|max| frame.sdu_len > max) {
            counters.not_passing_sdus += 1;
            *is_blocked = config.blocks_after_oversize;
            return Err(DiscardReason::MaxSduExceeded);
        }
        counters.passing_sdus += 1;
        let ipv = match config.gate {
            None => Ok(None),
            Some(gate) => self.gates[gate].pass(shown, frame.sdu_len),
        };
        match ipv {
            Ok(_) => counters.passing_frames += 1,
            Err(_) => counters.not_passing_frames += 1,
        }
        let ipv = ipv?;
        let Some(meter) = config.meter else { return Ok(Passed { ipv, is_yellow: false }) };
        match self.meters[meter].mark(now, frame.frame_len, frame.is_drop_eligible) {
            Ok(colour) => Ok(Passed { ipv, is_yellow: colour == Colour::Yellow }),
            Err(reason) => {
                counters.red_frames += 1;
                Err(reason)
            }
        }
    }

    /// What each filter has counted so far, in their order.
    pub fn counters(&self) -> impl Iterator<Item = FilterCounters> + '_ {
        self.filters.iter().map(|filter| filter.counters)
    }
}

/// By stream and priority: how many filters at the beginning match none of its frames, whatever line they come by.
fn first_filters(filters: &[StreamFilterConfig]) -> Vec<[u32; PRIORITIES]> {
    let named = filters.iter().filter_map(|filter| filter.streams.as_ref()).flatten();
    let streams = named.filter(|stream| **stream != StreamId::NONE).map(|stream| stream.index() + 1).max().unwrap_or(0);
    let mut first = vec![[filters.len() as u32; PRIORITIES]; streams];
    // From the last to the first, so that the first of those that match stays.
    for (place, filter) in filters.iter().enumerate().rev() {
        let mut note = |by_priority: &mut [u32; PRIORITIES]| match filter.priority {
            None => *by_priority = [place as u32; PRIORITIES],
            Some(priority) => {
                by_priority.get_mut(usize::from(priority)).into_iter().for_each(|first| *first = place as u32)
            }
        };
        match &filter.streams {
            None => first.iter_mut().for_each(&mut note),
            Some(streams) => {
                for stream in streams {
                    first.get_mut(stream.index()).into_iter().for_each(&mut note);
                }
            }
        }
    }
    first
}
