//! Streams, their ways and what they carry.

use std::sync::Arc;

use chronoseal_core::{Duration, NodeId, Ppm, StreamId};
use chronoseal_nodes::RecordedMessages;

use crate::{CollectPlan, Facet, ProtectionId, SegmentId};

/// A stream of frames.
#[derive(Clone, Debug)]
pub struct StreamPlan {
    /// As in the scenario; `name.k` for the k-th of `count`.
    pub name: String,
    /// Who sends it; of several, the first one.
    pub sender: NodeId,
    /// The segment whose vehicles send it, if it is whoever of them has something to say.
    pub sent_by: Option<SegmentId>,
    /// Who receives it.
    pub receivers: Vec<NodeId>,
    /// Distance of two frames; of a replayed recording, its length.
    pub period: Duration,
    /// When its first frame is due. Of a stream whose first hop has slots: where in the cluster cycle its first slot
    /// starts, if the scenario fixes it.
    pub offset: Option<Duration>,
    /// The scenario writes that offset, so that it is no chance when its frames are due.
    pub has_offset: bool,
    /// The timer of its application, if that decides when a stream that begins in slots has something to send.
    pub application: Option<ApplicationPlan>,
    /// The least distance of two frames, if it is sent when its value changes; `period` is the same then.
    pub min_distance: Option<Duration>,
    /// What makes its sender send, if it is another stream; `period` is that of the stream that is answered, or the least distance of two
    /// messages in a closed loop.
    pub trigger: Option<Trigger>,
    /// It has to be received so long after it became due. `None`: its slot says when, or nothing does.
    pub deadline: Option<Duration>,
    /// Deadlines of single receivers, which stand before `deadline`.
    pub deadlines: Vec<(NodeId, Duration)>,
    /// What a deadline limits.
    pub deadline_kind: DeadlineKind,
    /// Bytes it carries before protection, headers of a frame left out `[byte]`: on gateways' ways the PDU.
    pub length: u32,
    /// What it carries.
    pub payload: PayloadPlan,
    /// How it is protected.
    pub protection: ProtectionId,
    /// Its way, segment by segment.
    pub hops: Vec<HopPlan>,
}

impl StreamPlan {
    /// True if gateways carry it over several segments. It is a PDU of its own then, whole in each segment's frames.
    pub fn is_relayed(&self) -> bool {
        self.hops.len() > 1
    }

    /// Its hop on a segment.
    pub fn on(&self, segment: SegmentId) -> Option<&HopPlan> {
        self.hops.iter().find(|hop| hop.segment == segment)
    }

    /// The recorded messages that it replays, if it does.
    pub fn recorded(&self) -> Option<&Arc<RecordedMessages>> {
        match &self.payload {
            PayloadPlan::Messages(recorded) => Some(recorded),
            PayloadPlan::Synthetic
            | PayloadPlan::Sequential
            | PayloadPlan::Random
            | PayloadPlan::Recorded { .. }
            | PayloadPlan::Collected(_) => None,
        }
    }

    /// What bounds its frames at their sender: none comes nearer to another than the first of these, each up to the second late.
    pub fn bounding(&self) -> (Duration, Duration) {
        self.recorded().map_or((self.period, Duration::ZERO), |recorded| (recorded.distance(), recorded.jitter()))
    }

    /// The stream whose messages it answers, if it is a relay's.
    pub fn answers(&self) -> Option<StreamId> {
        match self.trigger {
            Some(Trigger::Answers(asked)) => Some(asked),
            Some(Trigger::ClosedLoop { .. }) | None => None,
        }
    }

    /// True if one of its hops is brought to its sender by another: by this one, which ends at `node`.
    pub fn goes_on(&self, hop: &HopPlan, node: NodeId) -> bool {
        let number = self.hops.iter().position(|other| std::ptr::eq(other, hop));
        let follows = |other: &HopPlan| other.from == node && other.previous.map(usize::from) == number;
        number.is_some() && self.hops.iter().any(follows)
    }

    /// The deadline of one of its receivers, if it has any.
    pub fn deadline_of(&self, receiver: NodeId) -> Option<Duration> {
        let own = self.deadlines.iter().find(|(node, _)| *node == receiver);
        own.map(|(_, deadline)| *deadline).or(self.deadline)
    }
}

/// A stream's way over one segment.
#[derive(Clone, Debug)]
pub struct HopPlan {
    /// Which segment.
    pub segment: SegmentId,
    /// Who sends it there.
    pub from: NodeId,
    /// Who takes it there.
    pub to: Vec<NodeId>,
    /// A frame before protection, as segments of this kind count it `[byte]`.
    pub frame_len: u32,
    /// The traffic class, as reports call it.
    pub class: &'static str,
    /// How the segment's kind addresses and treats it.
    pub facet: Facet,
    /// The hop that brings it to `from`, as an index into the stream's hops, always a smaller one. `None`: `from` is the
    /// stream's sender.
    pub previous: Option<u16>,
    /// How it is protected on this hop alone, opened and sealed again at its ends. `None`: as the stream is, from its sender to
    /// its receivers.
    pub protection: Option<ProtectionId>,
}

/// What makes the sender of a stream send, where neither a period nor a change of its value does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Trigger {
    /// A message of this stream came and was accepted: each is answered by one with its number.
    Answers(StreamId),
    /// A closed loop: the answer to the message before came, or did not for `timeout`.
    ClosedLoop {
        /// The stream of the answers.
        answer: StreamId,
        /// After this the next message is sent without an answer.
        timeout: Duration,
    },
}

/// A timer of an application, which no clock of the network corrects.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ApplicationPlan {
    /// Its data are ready so often, by its timer.
    pub period: Duration,
    /// When they are ready for the first time, from the start of its node.
    pub phase: Duration,
    /// How much faster it runs than the clock of its node.
    pub drift: Ppm,
}

impl ApplicationPlan {
    /// How far apart its data are by the clock of its node.
    pub fn step(&self) -> Duration {
        const BILLION: i128 = 1_000_000_000;
        let step = i128::from(self.period.as_ps()) * BILLION / (BILLION + i128::from(self.drift.0));
        Duration::from_ps((step as i64).max(1))
    }
}

/// What a deadline limits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum DeadlineKind {
    /// From the moment a frame is due to its reception.
    #[default]
    Reaction,
    /// From the moment a frame is due to the reception of the next one: how old the receiver's value becomes.
    Age,
}

/// What a stream carries.
#[derive(Clone, Debug)]
pub enum PayloadPlan {
    /// Seeded bytes, in every message the same.
    Synthetic,
    /// Bytes that count up, from the number of the message on.
    Sequential,
    /// Seeded bytes, in every message others.
    Random,
    /// The latest sample of a recorded signal at the time of sending, replayed over and over.
    Recorded {
        /// Index into [`crate::Plan::recordings`].
        recording: u16,
    },
    /// Recorded messages, each at its time, over and over.
    Messages(Arc<RecordedMessages>),
    /// PDUs of other streams, collected by the gateway that sends it.
    Collected(CollectPlan),
}

/// A recorded signal or raw frames: times from its start, and what to send from then on.
#[derive(Clone, Debug)]
pub struct Recording {
    /// As in the scenario.
    pub name: String,
    /// Where it comes from, and its licence.
    pub source: String,
    /// Physical unit of `value`, empty for raw frames.
    pub unit: String,
    /// Samples by time.
    pub samples: Vec<Sample>,
    /// It starts again after this.
    pub length: Duration,
}

/// One sample.
#[derive(Clone, Debug)]
pub struct Sample {
    /// From the recording's start.
    pub at: Duration,
    /// The decoded value, if it is a signal.
    pub value: Option<f64>,
    /// What goes into the payload: the value as a big-endian f64, or identifier and data of a raw frame.
    pub bytes: Vec<u8>,
}
