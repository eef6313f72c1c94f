//! What will be run on a CAN segment.

use std::collections::{BTreeMap, BTreeSet};

use chronoseal_core::{Duration, StreamId, statistics};
use chronoseal_wire::can::iso_tp::{FrameFormat, Segments, SeparationTime};
use chronoseal_wire::can::{BitTiming, BitTimingConfig, CanFrame, CanId, FrameKind};

use crate::{GatewayPlan, HopPlan, Plan, ProtectionPlan, SegmentId, StreamPlan, bridged_from};

/// The kind's name.
pub const CAN: &str = "can";
/// The class of the message that tells trip and reset counters.
pub const SYNCHRONISATION: &str = "synchronisation";

/// One CAN or CAN-FD bus.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CanSegment {
    /// Rates and sample points as asked for.
    pub bits: BitTimingConfig,
    /// What controllers make of them.
    pub timing: BitTiming,
    /// True if frames may switch to a bit rate of their own for the data phase.
    pub has_data_phase: bool,
    /// True if a controller sends its oldest frame first, false if the one with the lowest identifier.
    pub fifo_mailboxes: bool,
}

/// What a stream is on a CAN segment.
#[derive(Clone, Debug)]
pub enum CanHop {
    /// A periodic message.
    Message {
        /// Its identifier.
        id: CanId,
        /// Its format.
        kind: FrameKind,
        /// How it is cut into several frames; `None`: it is sent in one.
        segmented: Option<SegmentedPlan>,
    },
    /// A recording that is replayed over and over.
    Recording(CanRecording),
    /// The message that tells trip and reset counters.
    Synchronisation {
        /// Its identifier.
        id: CanId,
    },
}

impl CanHop {
    /// The identifiers of its frames, those of flow control included; none of a recording.
    pub fn identifiers(&self) -> impl Iterator<Item = CanId> + use<> {
        let (id, answers) = match self {
            Self::Message { id, segmented, .. } => (Some(*id), segmented.map(|segmented| segmented.flow_control)),
            Self::Synchronisation { id } => (Some(*id), None),
            Self::Recording(_) => (None, None),
        };
        id.into_iter().chain(answers)
    }
}

/// How the messages of a stream are cut into frames (ISO 15765-2, physical addressing).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SegmentedPlan {
    /// The identifier of the receiver's flow control frames.
    pub flow_control: CanId,
    /// BS: consecutive frames between two flow control frames; 0 for no limit.
    pub block_size: u8,
    /// STmin: the least time between consecutive frames.
    pub separation_time: SeparationTime,
    /// N_Bs: the sender's longest wait for a flow control frame.
    pub n_bs: Duration,
    /// N_Cr: the receiver's longest wait for a consecutive frame.
    pub n_cr: Duration,
}

impl SegmentedPlan {
    /// How its frames are laid out.
    pub const fn format(kind: FrameKind) -> FrameFormat {
        if kind.is_fd() { FrameFormat::fd() } else { FrameFormat::classical() }
    }

    /// The frames of a message of `len` bytes `[byte]`, protection included. An empty one counts as one of a byte.
    ///
    /// # Panics
    /// Never: something is always sent.
    pub fn segments(kind: FrameKind, len: u32) -> Segments {
        Segments::of(len.max(1), &Self::format(kind)).expect("there is a byte to send")
    }
}

/// A recording that is replayed over and over.
#[derive(Clone, Debug)]
pub struct CanRecording {
    /// Where it comes from.
    pub source: String,
    /// Frames by time from its start.
    pub frames: Vec<(Duration, CanFrame)>,
    /// It starts again after this.
    pub length: Duration,
    /// When it begins.
    pub start: Duration,
}

impl CanRecording {
    /// Its frames by identifier, those of one in time.
    pub fn by_identifier(&self) -> Vec<&(Duration, CanFrame)> {
        let mut frames: Vec<&(Duration, CanFrame)> = self.frames.iter().collect();
        frames.sort_by_key(|(_, frame)| frame.id());
        frames
    }

    /// The median distance of each identifier's frames; `None` for one that occurs once.
    pub fn median_distances(&self) -> BTreeMap<CanId, Option<Duration>> {
        let frames = self.by_identifier();
        let of_identifier = |frames: &[&(Duration, CanFrame)]| {
            let mut distances: Vec<Duration> = frames.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
            distances.sort_unstable();
            let median = statistics::median(&distances);
            (frames[0].1.id(), median.filter(|distance| *distance > Duration::ZERO))
        };
        frames.chunk_by(|one, next| one.1.id() == next.1.id()).map(of_identifier).collect()
    }
}

/// A CAN segment of a plan with what travels on it.
#[derive(Clone, Copy, Debug)]
pub struct Can<'p> {
    /// The whole plan.
    pub plan: &'p Plan,
    /// Which of its segments.
    pub id: SegmentId,
    /// The segment itself.
    pub segment: &'p CanSegment,
}

/// A periodic message on a CAN segment.
#[derive(Clone, Copy, Debug)]
pub struct CanMessage<'p> {
    /// Its number as a stream.
    pub stream_id: StreamId,
    /// The stream.
    pub stream: &'p StreamPlan,
    /// Its way over this segment.
    pub hop: &'p HopPlan,
    /// Its identifier.
    pub id: CanId,
    /// Its format.
    pub kind: FrameKind,
    /// How it is cut into several frames; `None`: it is sent in one.
    pub segmented: Option<SegmentedPlan>,
}

impl<'p> CanMessage<'p> {
    /// The message that a stream is on one of its hops, if it is one.
    pub fn of(stream_id: StreamId, stream: &'p StreamPlan, hop: &'p HopPlan) -> Option<Self> {
        match *hop.facet.get()? {
            CanHop::Message { id, kind, segmented } => Some(Self { stream_id, stream, hop, id, kind, segmented }),
            _ => None,
        }
    }

    /// True if it is sent in several frames.
    pub const fn is_segmented(&self) -> bool {
        self.segmented.is_some()
    }
}

impl<'p> Can<'p> {
    /// A segment of a plan, if it is of this kind.
    pub fn of(plan: &'p Plan, id: SegmentId) -> Option<Self> {
        let segment = plan.segments.get(id.index())?.facet.get()?;
        Some(Self { plan, id, segment })
    }

    /// The first segment of this kind.
    pub fn first(plan: &'p Plan) -> Option<Self> {
        plan.segment_ids().find_map(|id| Self::of(plan, id))
    }

    /// Everything that travels on it, in the order of stream numbers.
    pub fn streams(self) -> impl Iterator<Item = (StreamId, &'p StreamPlan, &'p HopPlan, &'p CanHop)> {
        self.plan.on_segment(self.id).filter_map(|(id, stream, hop)| Some((id, stream, hop, hop.facet.get()?)))
    }

    /// Periodic messages.
    pub fn messages(self) -> impl Iterator<Item = CanMessage<'p>> {
        self.streams().filter_map(|(stream_id, stream, hop, _)| CanMessage::of(stream_id, stream, hop))
    }

    /// A periodic message by its number as a stream.
    pub fn message(self, id: StreamId) -> Option<CanMessage<'p>> {
        self.messages().find(|message| message.stream_id == id)
    }

    /// Replayed recordings.
    pub fn recordings(self) -> impl Iterator<Item = (StreamId, &'p StreamPlan, &'p CanRecording)> {
        self.streams().filter_map(|(id, stream, _, facet)| match facet {
            CanHop::Recording(recording) => Some((id, stream, recording)),
            _ => None,
        })
    }

    /// The message that tells trip and reset counters.
    pub fn synchronisation(self) -> Option<(StreamId, &'p StreamPlan, &'p HopPlan, CanId)> {
        self.streams().find_map(|(id, stream, hop, facet)| match facet {
            CanHop::Synchronisation { id: can_id } => Some((id, stream, hop, *can_id)),
            _ => None,
        })
    }

    /// How a message is protected here.
    pub fn protection_of(self, message: &CanMessage<'_>) -> &'p ProtectionPlan {
        self.plan.protection_on(message.stream, message.hop)
    }

    /// Data of a message with its protection `[byte]`.
    pub fn secured_len(self, message: &CanMessage<'_>) -> usize {
        self.plan.secured_len(message.stream, message.hop) as usize
    }

    /// Frames of recordings on other segments that gateways pass on to this one: of which stream, and which frames.
    pub fn bridged(self) -> Vec<(StreamId, CanRecording)> {
        let plan = self.plan;
        let is_can = |segment: SegmentId| Self::of(plan, segment).is_some();
        let others = plan.segment_ids().filter(|id| *id != self.id).filter_map(|id| Self::of(plan, id));
        let reaches = |from: Self, id: CanId| {
            let is_stream = from.identifiers().any(|known| known == id);
            let passes = |gateway: &GatewayPlan| gateway.bridges(id);
            !is_stream && bridged_from(&plan.nodes, from.id, is_can, passes).contains(&self.id)
        };
        let of_segment = |from: Self| {
            from.recordings().filter_map(move |(stream, _, recording)| {
                let ids: BTreeSet<CanId> = recording.frames.iter().map(|(_, frame)| frame.id()).collect();
                let ids: BTreeSet<CanId> = ids.into_iter().filter(|id| reaches(from, *id)).collect();
                let frames = recording.frames.iter().filter(|(_, frame)| ids.contains(&frame.id())).copied();
                (!ids.is_empty()).then(|| (stream, CanRecording { frames: frames.collect(), ..recording.clone() }))
            })
        };
        others.flat_map(of_segment).collect()
    }

    /// The identifiers of its streams, those of flow control included and those of recordings left out.
    pub fn identifiers(self) -> impl Iterator<Item = CanId> {
        self.streams().flat_map(|(.., facet)| facet.identifiers())
    }
}
