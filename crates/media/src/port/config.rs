//! What a port does beyond strict priority.

use chronoseal_core::{Duration, Rate, StreamId};

/// Traffic classes of a port, IEEE 802.1Q-2022 §8.6.6. Protocol control frames and scheduled ones of AS6802 have classes of
/// their own above.
pub const TRAFFIC_CLASSES: usize = 8;

/// A port as it is set up.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PortConfig {
    /// By priority: its traffic class, the higher first.
    pub class_of: [u8; 8],
    /// By traffic class.
    pub classes: [ClassConfig; TRAFFIC_CLASSES],
    /// When the gates of the classes are open; `None`: always.
    pub gates: Option<GateControlList>,
    /// The schedulers of streams whose class is shaped asynchronously.
    pub schedulers: Vec<SchedulerConfig>,
    /// Scheduled frames of AS6802 cut off what is on the wire, whatever its class is (preemption of SAE AS6802, not that of
    /// IEEE 802.3). Frames are interrupted in no other way then.
    pub scheduled_cut: bool,
}

impl PortConfig {
    /// True if it serves queues in strict priority and does nothing else, as a [`Line`](crate::line::Line) does by itself.
    pub fn is_strict(&self) -> bool {
        let strict = Self { class_of: self.class_of, ..Self::default() };
        *self == strict
    }
}

impl Default for PortConfig {
    /// Eight queues in strict priority, each priority in its own.
    fn default() -> Self {
        let classes = [ClassConfig::default(); TRAFFIC_CLASSES];
        Self { class_of: [0, 1, 2, 3, 4, 5, 6, 7], classes, gates: None, schedulers: Vec::new(), scheduled_cut: false }
    }
}

/// A traffic class of a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ClassConfig {
    /// Which of its frames may be sent.
    pub selection: Selection,
    /// Frames of express classes interrupt its own, IEEE 802.3-2022 clause 99. A port without such a class interrupts nothing.
    pub is_preemptable: bool,
    /// A queue of its own holds at most this much `[byte]`; `None`: it shares one with the others.
    pub room: Option<u64>,
}

/// The transmission selection algorithm of a class, IEEE 802.1Q-2022 §8.6.8.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Selection {
    /// Its first frame, §8.6.8.1.
    #[default]
    Strict,
    /// Its first frame unless its credit is negative, §8.6.8.2.
    CreditBased {
        /// What it earns while it waits and its gate is open.
        idle_slope: Rate,
    },
    /// The frame with the earliest eligibility time, once that has come, §8.6.8.5.
    Asynchronous,
}

/// A list of gate operations that repeats, IEEE 802.1Q-2022 §8.6.8.4.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GateControlList {
    /// When a cycle begins by the clock of the port.
    pub base_time: Duration,
    /// After this the list repeats.
    pub cycle: Duration,
    /// The operations in their order. The last one lasts until the end of the cycle.
    pub entries: Vec<GateEntry>,
    /// How long before an operation that holds preemptable frames they are held.
    pub hold_advance: Duration,
}

/// One gate operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GateEntry {
    /// Bit c: the gate of class c is open.
    pub open: u8,
    /// Preemptable frames are held (*Set-And-Hold-MAC*); else they are released.
    pub hold: bool,
    /// Until the next operation.
    pub lasts: Duration,
}

/// The asynchronous traffic shaper of a stream, IEEE 802.1Q-2022 §8.6.11.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SchedulerConfig {
    /// Whose.
    pub stream: StreamId,
    /// Its committed information rate, of frames with all that keeps the line.
    pub committed_rate: Rate,
    /// Its committed burst size, counted alike `[byte]`.
    pub committed_burst: u64,
    /// A frame that would have to wait longer is thrown away; `None`: none is.
    pub max_residence: Option<Duration>,
    /// Schedulers of one group let frames go in the order in which they came.
    pub group: u16,
}
