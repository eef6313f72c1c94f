//! What the filters, gates and meters of a bridge are set to.

use chronoseal_core::{Duration, Priority, Rate, StreamId};

use super::Arrived;

/// The instance tables of one bridge.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PsfpConfig {
    /// Stream filters in the order of their identifiers: the first that matches a frame judges it.
    pub filters: Vec<StreamFilterConfig>,
    /// Stream gates.
    pub gates: Vec<StreamGateConfig>,
    /// Flow meters.
    pub meters: Vec<FlowMeterConfig>,
}

/// A stream filter instance, IEEE 802.1Q-2018 §8.6.5.1.1.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct StreamFilterConfig {
    /// As its counters are called.
    pub name: String,
    /// The stream handles that it matches; `None` is the wildcard.
    pub streams: Option<Vec<StreamId>>,
    /// The priority that it matches; `None` is the wildcard.
    pub priority: Option<u8>,
    /// The lines by which frames come that it matches; `None`: any. Where streams are told apart is said by port
    /// (IEEE 802.1CB-2017 §9.1).
    pub lines: Option<Vec<usize>>,
    /// *Maximum SDU Size* `[byte]`; `None`: no limit.
    pub max_sdu: Option<u32>,
    /// *StreamBlockedDueToOversizeFrameEnable*: one frame that is too long blocks the filter for good.
    pub blocks_after_oversize: bool,
    /// Its stream gate; `None`: one that is always open.
    pub gate: Option<usize>,
    /// Its flow meter; `None`: none.
    pub meter: Option<usize>,
}

impl StreamFilterConfig {
    /// True if a frame is one of those that it judges.
    pub fn matches(&self, frame: &Arrived) -> bool {
        self.streams.as_ref().is_none_or(|streams| streams.contains(&frame.stream))
            && self.priority.is_none_or(|priority| priority == frame.priority)
            && self.lines.as_ref().is_none_or(|lines| lines.contains(&frame.line))
    }
}

/// A stream gate instance, IEEE 802.1Q-2018 §8.6.5.1.2.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StreamGateConfig {
    /// Its control list.
    pub list: StreamGateList,
    /// *GateClosedDueToInvalidRxEnable*: a frame that comes while it is closed closes it for good.
    pub closes_on_invalid_rx: bool,
    /// *GateClosedDueToOctetsExceededEnable*: a frame that is too much for an interval closes it for good.
    pub closes_on_octets_exceeded: bool,
}

/// A stream gate control list, which repeats.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StreamGateList {
    /// When a cycle begins by the clock of the bridge.
    pub base_time: Duration,
    /// After this it repeats.
    pub cycle: Duration,
    /// Its entries, at least one. The last one lasts until the end of the cycle.
    pub entries: Vec<StreamGateEntry>,
}

/// An entry of a stream gate control list: *SetGateAndIPV*.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StreamGateEntry {
    /// Frames pass.
    pub is_open: bool,
    /// *IPV*: the priority by which they are queued; `None` is the null value, with which they keep their own.
    pub ipv: Option<Priority>,
    /// *TimeInterval*.
    pub lasts: Duration,
    /// *IntervalOctetMax*: SDUs that pass in the interval have so many octets together; `None`: no limit `[byte]`.
    pub octets_max: Option<u64>,
}

impl StreamGateList {
    /// True if it matters what time it is.
    pub fn changes(&self) -> bool {
        self.entries.len() > 1 || self.entries.iter().any(|entry| entry.octets_max.is_some())
    }

    /// Which entry holds when the clock shows a time, and in which cycle.
    pub fn at(&self, shown: Duration) -> (i64, usize) {
        let since_base = shown - self.base_time;
        let (cycle, mut phase) = (since_base.div_floor(self.cycle), since_base.rem_floor(self.cycle));
        for (index, entry) in self.entries.iter().enumerate() {
            if phase < entry.lasts {
                return (cycle, index);
            }
            phase -= entry.lasts;
        }
        (cycle, self.entries.len().saturating_sub(1))
    }
}

/// A flow meter instance, IEEE 802.1Q-2018 §8.6.5.1.3: the bandwidth profile of MEF 10.3.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlowMeterConfig {
    /// *CIR*: committed information rate.
    pub cir: Rate,
    /// *CBS*: committed burst size `[byte]`.
    pub cbs: u64,
    /// *EIR*: excess information rate.
    pub eir: Rate,
    /// *EBS*: excess burst size `[byte]`.
    pub ebs: u64,
    /// *CF*: what overflows the committed bucket goes to the excess bucket.
    pub couples: bool,
    /// *CM*: a frame that comes drop-eligible is yellow before it is metered (colour-aware).
    pub is_colour_aware: bool,
    /// *DropOnYellow*: what is yellow is thrown away; else it goes on drop-eligible.
    pub drops_yellow: bool,
    /// *MarkAllFramesRedEnable*: one red frame makes all that follow red.
    pub marks_all_red: bool,
}
