//! What a port does beyond strict priority.

use chronoseal_core::{Duration, Priority, Rate, StreamId};

/// Traffic classes of a port, IEEE 802.1Q-2022 §8.6.6. Protocol control frames and scheduled ones of AS6802 have classes of
/// their own above.
pub const TRAFFIC_CLASSES: usize = 8;

/// By priority code point: the traffic class of eight that it has by table 8-5 of IEEE 802.1Q-2022. A queue in strict priority serves the
/// higher classes first, so priority 0, that of frames without another, goes before priority 1, that of background traffic.
pub const RECOMMENDED_CLASS: [u8; TRAFFIC_CLASSES] = [1, 0, 2, 3, 4, 5, 6, 7];

/// The priority by which ports serve frames with a priority code point: that of its recommended class.
pub const fn priority_of(code_point: u8) -> Priority {
    Priority(RECOMMENDED_CLASS[(code_point & 7) as usize])
}

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
    /// Its queue holds at most this much `[byte]`; `None`: as much as is said of all queues, or shares that with the others.
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
        /// The same from when on another list replaces that of the port ([`ListChange::begins`]); `None`: as much as before.
        changed: Option<Rate>,
    },
    /// The frame with the earliest eligibility time, once that has come, §8.6.8.5.
    Asynchronous,
}

impl Selection {
    /// True for a credit-based shaper.
    pub const fn is_credit_based(self) -> bool {
        matches!(self, Self::CreditBased { .. })
    }
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
    /// What replaces it; `None`: it repeats without end.
    pub change: Option<Box<ListChange>>,
}

/// A list that replaces another one while that runs: the List Config state machine, IEEE 802.1Q-2022 §8.6.9.3.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ListChange {
    /// When *ConfigChange* is set by the clock of the port.
    pub requested_at: Duration,
    /// By so much the last cycle of the list that runs may be extended (*OperCycleTimeExtension*).
    pub extension: Duration,
    /// *AdminBaseTime*.
    pub base_time: Duration,
    /// *AdminCycleTime*.
    pub cycle: Duration,
    /// *AdminControlList*.
    pub entries: Vec<GateEntry>,
}

impl ListChange {
    /// *ConfigChangeTime* (§8.6.9.3.1): the base time, or where that is past already the first start of a cycle that is not.
    pub fn begins(&self) -> Duration {
        let past = (self.requested_at - self.base_time).max(Duration::ZERO);
        self.base_time + self.cycle * -(-past).div_floor(self.cycle)
    }
}

impl GateControlList {
    /// The list that replaces it, by itself.
    pub fn changed(&self) -> Option<Self> {
        let change = self.change.as_deref()?;
        Some(Self {
            base_time: change.begins(),
            cycle: change.cycle,
            entries: change.entries.clone(),
            hold_advance: self.hold_advance,
            change: None,
        })
    }

    /// From when on its cycles do not repeat any more, and when the list begins that replaces it. Between the two its last operation lasts
    /// on: the last cycle is extended. Else the two are the same, and the last cycle may be cut short.
    ///
    /// The start of a cycle is known since the one before it began (§8.6.9.1.1), so the last cycle is extended only if the change was
    /// requested before it began.
    pub fn ends(&self) -> Option<(Duration, Duration)> {
        let change = self.change.as_deref()?;
        let begins = change.begins();
        let earliest = change.requested_at.max(begins - self.cycle - change.extension);
        let last = earliest + (self.base_time - earliest).rem_floor(self.cycle);
        Some(((last + self.cycle).min(begins), begins))
    }
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
