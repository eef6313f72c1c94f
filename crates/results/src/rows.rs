//! What a run leaves behind, row by row. Simulator and test bed fill the same rows.

use std::borrow::Cow;

use chronoseal_core::{AttackKind, DiscardReason, Duration, Event, NodeId, SimTime, StreamId};

use crate::{FrameFigures, RunMeta, RunSummary};

/// One frame at one receiver, or where it was thrown away. Times are the run's own, from its start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FrameRow {
    /// Its stream, or [`StreamId::NONE`] for bytes that belong to none.
    pub stream: StreamId,
    /// Which frame of the stream, counted by the sender; the receiver's count where the bytes do not tell.
    pub sequence: u64,
    /// Who put it on the wire.
    pub sender: NodeId,
    /// Who received it or threw it away.
    pub at: NodeId,
    /// The attack it is part of.
    pub attack: Option<AttackKind>,
    /// From header to the last byte before the checksum `[byte]`.
    pub len: u32,
    /// Start of the integration cycle it belongs to (the beacon).
    pub cycle_start: SimTime,
    /// Start of its slot; `None` for best effort.
    pub slot_start: Option<SimTime>,
    /// First bit left the sender (live: handed to the kernel).
    pub sent_at: Option<SimTime>,
    /// Last bit in at the switch.
    pub arrived_at: Option<SimTime>,
    /// First bit out at the switch.
    pub departed_at: Option<SimTime>,
    /// Last bit in at the receiver (live: the kernel's receive stamp).
    pub received_at: Option<SimTime>,
    /// When its sender was to send it: the start of its slot, or when it was to begin to make the frame ready. `None` for what
    /// an attacker sent and for frames of no stream.
    pub due_at: Option<SimTime>,
    /// When the receiver's application had it, checked; `None` if it was not accepted.
    pub accepted_at: Option<SimTime>,
    /// How it ended.
    pub outcome: Outcome,
    /// A stall of the host overlapped its way (live only).
    pub stalled: bool,
    /// Thrown away where its way divides: the receiver whose copy it was. Not kept in the tables of a stored run.
    pub lost_for: Option<NodeId>,
}

impl FrameRow {
    /// A row of which nothing is known but its frame, where it was, and its end.
    pub const fn open(
        stream: StreamId,
        sequence: u64,
        sender: NodeId,
        at: NodeId,
        cycle_start: SimTime,
        outcome: Outcome,
    ) -> Self {
        Self {
            stream,
            sequence,
            sender,
            at,
            attack: None,
            len: 0,
            cycle_start,
            slot_start: None,
            sent_at: None,
            arrived_at: None,
            departed_at: None,
            received_at: None,
            due_at: None,
            accepted_at: None,
            outcome,
            stalled: false,
            lost_for: None,
        }
    }

    /// True for a genuine frame that was accepted and whose cycle began at a time or later `[ns]`: when start-up was over.
    pub fn is_accepted_from(&self, ready_ns: i64) -> bool {
        self.attack.is_none()
            && matches!(self.outcome, Outcome::Delivered | Outcome::Late)
            && self.cycle_start.since_zero().as_ns() >= ready_ns
    }

    /// From when it was due to when its receiver had accepted it, checks included: what bounds and deadlines are about. `None`
    /// if it was not accepted, or nobody said when it was due.
    pub fn latency(&self) -> Option<Duration> {
        Some(self.accepted_at? - self.due_at?)
    }
}

/// One transmission at one receiver: a frame that one node put on a segment and another got there. Where nodes forward
/// what they get, the rows of several segments make up the way of what a frame carries.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HopRow {
    /// Stream of the frame, or [`StreamId::NONE`] for bytes that belong to none.
    pub stream: StreamId,
    /// Which frame of the stream, counted by the sender; the receiver's count where the bytes do not tell.
    pub sequence: u64,
    /// Number of the segment.
    pub segment: u16,
    /// Who put it on the segment.
    pub from: NodeId,
    /// Who got it.
    pub to: NodeId,
    /// First bit left the sender (live: handed to the kernel).
    pub sent_at: Option<SimTime>,
    /// Last bit in at the switch; on a shared medium, where the same bits reach everybody, last bit over.
    pub arrived_at: Option<SimTime>,
    /// First bit out on the last wire; on a shared medium, first bit on it. `None` where what carries the frames does not
    /// say.
    pub departed_at: Option<SimTime>,
    /// Last bit in at the receiver (live: the kernel's receive stamp); `None` if the receiver has not recorded it.
    pub received_at: Option<SimTime>,
    /// Running number of the transmission in its run. The copies that several receivers get of one have the same.
    pub frame: u64,
    /// Transmissions it came from, as far as its sender says and they are known.
    pub origins: Vec<u64>,
}

/// How a frame ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// Accepted by its receiver within its slot and period.
    Delivered,
    /// Accepted by its receiver, but the switch could only pass it on after its slot.
    Late,
    /// Thrown away, with the reason.
    Discarded(DiscardReason),
    /// Never seen in its slot; of a message in several frames, that its receiver waited for the rest until the run ended.
    Missing,
    /// Still on its way when the run ended, or lost without a trace.
    Unaccounted,
}

/// One event of the trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EventRow {
    /// When.
    pub time: SimTime,
    /// At which node.
    pub node: NodeId,
    /// What. Of an attack in a simulation its figure says how long ago the frame was sent that the attacker had in its hands `[ps]`; 0 if it
    /// had none, and in live runs.
    pub event: Event,
}

/// One computation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WorkRow {
    /// When it began.
    pub time: SimTime,
    /// On whose processor.
    pub node: NodeId,
    /// What, as [`chronoseal_core::Operation`] names it.
    pub operation: &'static str,
    /// Over how much `[byte]`.
    pub len: u32,
    /// How long: charged from the platform's profile (simulated) or taken from the clock (measured).
    pub duration: Duration,
}

/// One stay of the emulator or its sentinel off the processor (live only).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StallRow {
    /// When it should have run.
    pub time: SimTime,
    /// How much later it did.
    pub duration: Duration,
}

/// One write of the emulator against its plan (live only).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReleaseRow {
    /// When the medium wanted the frame delivered.
    pub planned: SimTime,
    /// How much later the kernel took it.
    pub error: Duration,
}

/// One captured frame, as it would be seen on a wire.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CaptureRow {
    /// When its last bit passed.
    pub time: SimTime,
    /// Number of the segment it was seen on.
    pub segment: u16,
    /// The station at the other end of the wire; on a bus the sender.
    pub node: NodeId,
    /// Towards the switch, or away from it, or over a bus.
    pub direction: Direction,
    /// Remark for the packet's comment, empty for none.
    pub comment: String,
    /// From header to the last byte before the checksum, in the layout of the segment's link type.
    pub bytes: Vec<u8>,
}

/// Which way a captured frame went.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Direction {
    /// Into the switch.
    Arrival,
    /// Out of the switch.
    Departure,
    /// Over a bus, to all others at once.
    Carried,
}

/// A figure of a segment over a run: one value for all of the run, or one for each window of time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SegmentSeries {
    /// Number of the segment.
    pub segment: u16,
    /// What was counted. A segment may have one total and one series by window of the same name.
    pub name: String,
    /// In what, such as `frames`; `ns` is time that was used.
    pub unit: String,
    /// Length of a window; `None` if there is one value for the whole run.
    pub window: Option<Duration>,
    /// The values in time, from the start of the run; never none.
    pub values: Vec<i64>,
}

/// Everything one run left behind.
#[derive(Clone, Debug, Default)]
pub struct RunRows {
    /// Frames.
    pub frames: Vec<FrameRow>,
    /// Transmissions, each at each of its receivers, whoever it was meant for.
    pub hops: Vec<HopRow>,
    /// Events.
    pub events: Vec<EventRow>,
    /// Computations.
    pub work: Vec<WorkRow>,
    /// Stalls.
    pub stalls: Vec<StallRow>,
    /// Writes of the emulator.
    pub releases: Vec<ReleaseRow>,
    /// Captured frames.
    pub captures: Vec<CaptureRow>,
    /// What segments counted.
    pub segments: Vec<SegmentSeries>,
    /// Stopped before its time; what is here is what there was.
    pub interrupted: bool,
    /// Frames, transmissions, events and computations are not here: what reports show of the frames. Not kept in the tables of a stored
    /// run.
    pub figures: Option<Box<FrameFigures>>,
    /// Who was out of the group whose key protects a stream: what is sent meanwhile is not meant for it. Not kept in the tables
    /// of a stored run.
    pub absences: Vec<Absence>,
    /// What nodes should have sent and had not when the run ended. Not kept in the tables of a stored run.
    pub owed: Vec<OwedRow>,
    /// Frames of streams that are known to have been on their way, or in a queue, when the run ended. Simulated only, and not kept in the
    /// tables of a stored run.
    pub on_way: Vec<OnWayRow>,
}

/// A frame that was due at its sender and had not been handed over when the run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OwedRow {
    /// Its sender.
    pub node: NodeId,
    /// Its stream.
    pub stream: StreamId,
    /// When it was due.
    pub due_at: SimTime,
}

/// A frame that was somewhere when the run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OnWayRow {
    /// Its stream.
    pub stream: StreamId,
    /// Which frame of the stream, where that is known.
    pub sequence: Option<u64>,
    /// When its sender sent it.
    pub sent_at: SimTime,
}

/// A time in which a receiver of a stream was not in the group whose key protects it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Absence {
    /// The receiver.
    pub node: NodeId,
    /// The stream.
    pub stream: StreamId,
    /// From when it was out.
    pub from: SimTime,
    /// When it was in again, or for the first time.
    pub until: SimTime,
}

impl Absence {
    /// True if this is about the node and the stream, and the time lies in it.
    pub fn covers(&self, node: NodeId, stream: StreamId, at: SimTime) -> bool {
        self.node == node && self.stream == stream && at >= self.from && at < self.until
    }

    /// True of a frame that the receiver threw away in that time because it could not read it: it has the key of before, or none.
    pub fn explains(&self, row: &FrameRow) -> bool {
        let at = row.received_at.or(row.sent_at).unwrap_or(SimTime::ZERO);
        matches!(row.outcome, Outcome::Discarded(DiscardReason::TagMismatch | DiscardReason::NoKey))
            && self.covers(row.at, row.stream, at)
    }
}

/// Name of the series of frames that belong to no stream, such as those of a key exchange `[frames]`.
pub const STRANGER_FRAMES: &str = "frames of no stream";
/// Name of the series of what they carry, headers left out `[bytes]`.
pub const STRANGER_BYTES: &str = "data of no stream";

impl RunRows {
    /// What reports show of the frames, which are here or were counted.
    pub fn figures(&self, meta: &RunMeta, summary: &RunSummary) -> Cow<'_, FrameFigures> {
        match &self.figures {
            Some(figures) => Cow::Borrowed(figures),
            None => Cow::Owned(FrameFigures::of(meta, summary, &self.frames)),
        }
    }

    /// A series of a segment by windows of time.
    pub fn by_window(&self, segment: u16, name: &str) -> Option<&SegmentSeries> {
        let mut series = self.segments.iter();
        series.find(|series| series.segment == segment && series.name == name && series.window.is_some())
    }
}
