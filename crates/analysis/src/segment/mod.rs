//! Bounds of streams over every segment they travel on, whatever kinds these are.
//!
//! A kind of segment is one row of [`BOUNDS`]: it bounds the hops on one segment, and needs to know of others only when
//! frames can come from them ([`Arrivals`]). [`end_to_end`] puts the hops of each stream and the processors between
//! them together.
//!
//! # Composition
//! Of every frame it is known when it can be at each place of its way, counted from the instant at which it is due: a
//! [`Span`] from the earliest to the latest. A stage makes a span of a span, and what it adds to the latest instant is its
//! part of the bound ([`Part`]), so the parts of a way add up to the whole.
//!
//! ```text
//! due ─ sender's processor ─ driver and segment ─ gateway's processor ─ driver and segment ─ receiver's processor ─ checked
//!                                           (host interface)                          (host interface)
//! ```
//!
//! A stage depends on how much the frames of all others vary, which depends on other stages, so all are computed again
//! until nothing changes, from no jitter upwards: Tindell, Clark, "Holistic schedulability analysis for distributed hard
//! real-time systems", Microprocessing and Microprogramming 40 (1994) 117-134.
//!
//! # What holds
//! - A node has one processor, which is never idle while it has work and never interrupts what it has begun; in which
//!   order it works is left open ([`processor`]).
//! - Spans are by true time. A sender's clock may run fast or slow by its drift, so its frames come nearer together than
//!   its period says. Slots follow the clock of their segment, within its precision.
//! - A stream that begins in slots counts from its slot's start. One that comes to slots from another segment is
//!   sampled: a frame that is sent waits for the next slot, and one that a newer frame replaced has no latency.
//! - A gateway may put PDUs of several streams into one frame (`collected`): each waits for a time that the scenario gives, and
//!   goes on with the frame as if it were alone in it.
//! - What comes over the air has no bound. Its parts behind the air have: they count from the instant at which the radio
//!   received it, with its period, as if the air had kept that. This is an assumption, as is the one about recordings.
//! - Frames of a key exchange and the computing of it are left out, and what they can make later is said to have no bound
//!   (`exchange`). Errors of the wire are left out altogether, and so are attackers but those that babble or delay on the link of an
//!   Ethernet station ([`ThreatRisk`]).

mod alone;
mod backlog;
mod can;
mod collected;
mod compose;
pub(crate) mod demand;
mod ethernet;
mod exchange;
mod host;
mod line;
mod link;
mod link_risks;
pub mod load;
mod losses;
pub mod processor;
mod queues;
mod radio;
mod recurring;
#[cfg(test)]
mod tests;
mod way;

use chronoseal_core::{Duration, NodeId, StreamId, Work};
use chronoseal_media::schedule::ScheduleTable;
use chronoseal_plan::{GatewayPlan, HopPlan, Plan, SegmentId, StreamPlan};

use crate::can::NoBound;

pub use can::CanBounds;
pub use compose::{Arrival, Arrivals, Bounds, arrivals, bounds, end_to_end};
pub use demand::Overload;
pub use ethernet::EthernetBounds;
pub use ethernet::exported::{ClassNetwork, ExportError, QueueClass, class_network, links, with_classes};
pub use ethernet::routed;
pub use ethernet::stream_filters::{FilterReason, FilterRisk};
pub use ethernet::threats::{Harm, ThreatRisk};
pub use ethernet::time_aware::Unsteady;
pub use host::HostFrame;
pub use link::LinkBounds;
pub use link_risks::LinkRisk;
pub use load::{LinkLoad, Share};
pub use losses::{Cause, Direction, Risk, SkewRemedy};
pub use processor::{Jobs, ScheduledJob, processor_shares};
pub use queues::{QueueBound, gateway_queues};
pub use radio::RadioBounds;
pub use way::{EndBound, Missing, Part, Place, StreamBounds};

/// The bounds of one kind of segment.
pub trait SegmentBounds: Sync {
    /// The kind's name, as in a plan.
    fn kind(&self) -> &'static str;

    /// What sealing or opening a frame of this hop is charged as; `None` if nothing is computed.
    fn authentication(&self, plan: &Plan, stream: StreamId, hop: &HopPlan) -> Option<Work>;

    /// How often a receiver has to open a frame of this hop within the stream's period, at most: more than once where several
    /// senders share a stream, or a frame can need more than one check.
    fn openings_per_period(&self, plan: &Plan, stream: StreamId, hop: &HopPlan) -> u64 {
        let _ = (plan, stream, hop);
        1
    }

    /// How many nodes send a stream on this hop, each with its period.
    fn senders(&self, plan: &Plan, stream: StreamId, hop: &HopPlan) -> u64 {
        let _ = (plan, stream, hop);
        1
    }

    /// Made-up frames of a stream with which a station or a box can fill the segment, as they get to its receivers there.
    fn made_up(&self, plan: &Plan, stream: StreamId, segment: SegmentId) -> Vec<MadeUp> {
        let _ = (plan, stream, segment);
        Vec::new()
    }

    /// True if a gateway takes on frames of a recording from the segment, whole.
    fn bridges_recordings(&self, plan: &Plan, segment: SegmentId, gateway: &GatewayPlan) -> bool {
        let _ = (plan, segment, gateway);
        false
    }

    /// The longest gap, by true time, in which a regulator lets one frame of this hop go; `None` if each goes at once.
    fn regulator_gap(&self, plan: &Plan, segment: SegmentId, stream: StreamId) -> Option<Duration> {
        let _ = (plan, segment, stream);
        None
    }

    /// True if frames of this hop leave in slots of the segment's schedule table.
    fn is_in_slots(&self, hop: &HopPlan) -> bool {
        let _ = hop;
        false
    }

    /// True if a node's host interface is between its port to such a segment and its application.
    fn has_host_interfaces(&self) -> bool {
        false
    }

    /// A frame of this hop as the host interface of its receiver sees it; `None` if it passes none.
    fn host_frame(&self, plan: &Plan, stream: StreamId, hop: &HopPlan) -> Option<HostFrame> {
        let _ = (plan, stream, hop);
        None
    }

    /// A receiver gives a message in several frames up of which so long after the first, by its clock, not all have come; with how long
    /// the first can have come before the message does at the earliest. `None` if a message of this hop is a frame, or if
    /// [`Self::bounds`] knows of it.
    fn gives_up_after(&self, plan: &Plan, stream: &StreamPlan, hop: &HopPlan) -> Option<(Duration, Duration)> {
        let _ = (plan, stream, hop);
        None
    }

    /// How many slots in a row a message takes on a hop in slots.
    fn slots_of_message(&self, hop: &HopPlan) -> u32 {
        let _ = hop;
        1
    }

    /// What the segment's schedule table lets processors do, and when.
    fn scheduled_jobs(
        &self,
        jobs: &Jobs<'_>,
        segment: SegmentId,
        prepared: Option<&ScheduleTable>,
    ) -> Vec<ScheduledJob> {
        let _ = (jobs, segment, prepared);
        Vec::new()
    }

    /// What can keep frames from arriving in time although their latency has a bound. What [`Self::bounds`] says holds for
    /// frames that this does not happen to.
    fn risks(
        &self,
        plan: &Plan,
        segment: SegmentId,
        prepared: Option<&ScheduleTable>,
        arrivals: &Arrivals,
    ) -> Vec<Risk> {
        let _ = (plan, segment, prepared, arrivals);
        Vec::new()
    }

    /// How busy each link of the segment is, or its one bus; none if there is no such thing.
    fn loads(&self, plan: &Plan, segment: SegmentId) -> Vec<LinkLoad> {
        let _ = (plan, segment);
        Vec::new()
    }

    /// The bound of every hop on a segment of this kind, one for each receiver there. `prepared` is the segment's schedule
    /// table, if it has one.
    fn bounds(
        &self,
        plan: &Plan,
        segment: SegmentId,
        prepared: Option<&ScheduleTable>,
        arrivals: &Arrivals,
    ) -> Vec<HopBound>;
}

/// How many made-up frames of a stream a segment lets pass.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MadeUp {
    /// One in each time so long, which can be so much nearer to each other.
    Limited {
        /// The time.
        distance: Duration,
        /// How much nearer.
        spread: Duration,
    },
    /// As many as come.
    Unlimited,
}

/// Every kind whose hops can be bounded.
pub const BOUNDS: &[&dyn SegmentBounds] = &[&EthernetBounds, &CanBounds, &RadioBounds, &LinkBounds];

/// When something can happen to a frame, counted from the instant at which the frame is due.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Span {
    /// At the earliest.
    pub min: Duration,
    /// At the latest.
    pub max: Duration,
}

impl Span {
    /// The instant at which a frame is due.
    pub const DUE: Self = Self { min: Duration::ZERO, max: Duration::ZERO };

    /// Between the earliest and the latest instant.
    pub fn jitter(self) -> Duration {
        self.max - self.min
    }

    /// Later by at least `min` and at most `max`.
    #[must_use]
    pub fn later(self, min: Duration, max: Duration) -> Self {
        Self { min: self.min + min, max: self.max + max }
    }
}

/// When the frames of one hop can be at one of its receivers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HopBound {
    /// Which stream.
    pub stream: StreamId,
    /// Who takes it from this segment.
    pub receiver: NodeId,
    /// When its last bit is there.
    pub received: Result<Span, Why>,
}

/// Why there is no bound.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Why {
    /// No row of the table is for this kind of segment.
    #[error("there is no analysis of a segment of kind `{0}`")]
    UnknownKind(&'static str),
    /// The segment needs a schedule table and has none.
    #[error("it has no schedule")]
    NoSchedule,
    /// It has no place in the schedule table.
    #[error("{0}")]
    NotScheduled(&'static str),
    /// Arbitration lets it wait without end, or cannot tell messages apart.
    #[error(transparent)]
    Arbitration(#[from] NoBound),
    /// A processor or a link has less time than is asked of it.
    #[error(transparent)]
    Overload(#[from] Overload),
    /// The queues in front of a link have no bound.
    #[error(transparent)]
    Link(#[from] routed::LinkProblem),
    /// A recording is traffic that others meet, and has no period of its own.
    #[error("a replayed recording has no period of its own")]
    Recording,
    /// A recording is sent from the same queue.
    #[error(
        "not bounded: its sender replays a recording beside it, and nothing bounds how much of that comes at once; a run gives percentiles"
    )]
    BesideRecording,
    /// Nothing bounds when a frame of this stream or of one that goes before it comes.
    #[error("nothing bounds when it, or what goes before it, comes there")]
    ArrivalUnbounded,
    /// A station that babbles gets through to the node, which has to take each of its frames.
    #[error(
        "made-up frames come as fast as a link carries them, and each is taken before it is thrown away: write a stream filter with a flow \
         meter where they come into the network"
    )]
    MadeUpFrames,
    /// Several nodes send the stream, and nothing says how their frames follow each other.
    #[error(
        "not bounded: it goes on from many vehicles, and nothing bounds how many of their messages come together; let the node that hears          them send a stream of its own"
    )]
    ManySenders,
    /// On the air a frame may be lost, and may wait as long as others send.
    #[error("not bounded: radio")]
    Radio,
    /// The law of a link's delay has no end.
    #[error("not bounded: the delay of the link has a law without an end; a run gives percentiles")]
    EndlessDelay,
    /// A link can lose a message.
    #[error(
        "not bounded: the link loses packets, so a message may never come; a run gives the share and the percentiles"
    )]
    LossyLink,
    /// What is lost on a connection is sent again, and what comes behind it waits.
    #[error(
        "not bounded: a connection (TCP, TLS or QUIC) decides by itself when packets are sent, and what is lost is sent again; run it live"
    )]
    Connection,
    /// Nothing says what a program of others sends.
    #[error("not bounded: a program of its sender sends beside it, and nothing says what; run it live")]
    Program,
    /// A middleware of others carries it.
    #[error(
        "not checked: a middleware carries its messages, and nothing says on paper what that sends and when; run it live"
    )]
    Middleware,
    /// Nothing says how many answers leave at once, or when the next message of a closed loop does.
    #[error(
        "not bounded: its sender sends when messages or answers come to it, and nothing bounds how many come together; a run gives percentiles"
    )]
    Triggered,
    /// A link's queue can be too short for what comes at once.
    #[error(
        "not bounded: {needed} packets can wait at `queue = \"{queue} frames\"`, so some may be refused; write a longer queue"
    )]
    ShortQueue {
        /// At once, at most.
        needed: u64,
        /// As the segment has it.
        queue: u32,
    },
    /// Its asynchronous shapers let less through than is sent.
    #[error(
        "its asynchronous shapers hold it to a smaller bucket than it fills, late frames counted, so that frames wait in them for an unknown time: write a `committed` rate and burst that hold all that comes"
    )]
    OverBucket,
    /// The ports of a segment put frames into different orders.
    #[error(
        "not bounded: the ports of the segment map priorities to different traffic classes, or interrupt or shape different ones; describe them alike"
    )]
    PortsDiffer,
    /// Stream gates queue frames by another priority than they bring.
    #[error(
        "not bounded: a stream gate of the segment queues frames in another traffic class than their tag says (`ipv`), and the analysis has one class for all of a stream's way; leave `ipv` out, or write a priority of the same class"
    )]
    InternalPriority,
    /// Frames in slots that switches pass on at once come at no certain time behind what filters or threats do to them.
    #[error(
        "not bounded: its switches pass frames in slots on at once, which is bounded only without stream filters and threats on links; write `dispatch = \"scheduled\"`"
    )]
    ImmediateDispatch,
    /// Attackers send beside frames in slots for which the links are not kept free.
    #[error(
        "not bounded: its links are not kept free for frames in slots, which is bounded only without threats; write `integration_policy = \"timely-block\"`"
    )]
    IntegrationUnderAttack,
    /// What filters and threats do to each of several copies of a frame is not counted yet.
    #[error(
        "not bounded: stream filters and threats on links are not counted yet where frames have copies, or where there are the networks A and B; leave one of the two out"
    )]
    FilteredCopies,
    /// What threats do to each of the streams of one virtual link is not counted yet.
    #[error(
        "not bounded: threats on links are not counted yet where streams share a virtual link; give each stream a virtual link of its own, or leave the threats out"
    )]
    ThreatenedShares,
    /// Control frames of a cluster go before all others, and are counted only where nothing can disturb the cluster.
    #[error(
        "not bounded: the control frames of an AS6802 cluster go first, and are counted only in a cluster of standard integrity without tasks, threats, links that fail, gateways that reboot and streams that gateways carry into slots or out of them, on nodes whose processors take no time"
    )]
    ClusterClocks,
    /// Slots and tasks follow clocks that nothing bounds on paper.
    #[error(
        "not bounded: its slots or tasks go by clocks of IEEE 802.1AS, and nothing bounds on paper how far apart these clocks are; leave slots \
         and tasks out, or let a beacon or a cluster keep the clocks"
    )]
    TimeAwareClocks,
    /// Messages of IEEE 802.1AS go before all others, and are counted only where nothing can disturb them.
    #[error(
        "not bounded: the messages of IEEE 802.1AS go first, and how many come together is counted only without threats, links that fail or \
         lose frames, gateways that reboot, and the networks A and B, where stations relay them"
    )]
    TimeAwareDisturbed,
    /// Messages of IEEE 802.1AS may come too late to be used, so that the choice of a grandmaster begins again.
    #[error(
        "not bounded: the messages of IEEE 802.1AS go first, and are counted only where none of them can come too late to be used: {0}"
    )]
    TimeAwareUnsteady(#[from] Unsteady),
    /// The regulator of a virtual link lets its frames go more slowly than they come from another segment.
    #[error(
        "its bandwidth allocation gap is longer than the distance in which frames can come there, by clocks that drift, so ever more can wait; write a shorter `bag`"
    )]
    GapAboveDistance,
    /// A receiver can give a message up whose frames are on their way.
    #[error(
        "its receiver gives a message up {limit} after the first frame came, and the last can come {takes:.3} after that: write a longer \
         `reassembly_timeout`"
    )]
    GivenUp {
        /// At most.
        takes: Duration,
        /// By the receiver's clock.
        limit: Duration,
    },
    /// No earlier hop brings the stream to the node.
    #[error("no hop brings it there")]
    NotReached,
    /// Stages that hand over to one another make each other's jitter grow.
    #[error("the nodes and segments on its way make one another later without end")]
    NoEndInSight,
}

impl Why {
    /// In words, with the names of the plan.
    pub fn text(&self, plan: &Plan) -> String {
        match self {
            Self::Link(problem) => problem.text(plan),
            other => other.to_string(),
        }
    }
}

/// Every hop of a segment, none with a bound.
fn without_bound(plan: &Plan, segment: SegmentId, why: Why) -> Vec<HopBound> {
    let hops = plan.on_segment(segment);
    let bound = |stream, receiver: &NodeId| HopBound { stream, receiver: *receiver, received: Err(why) };
    hops.flat_map(|(id, _, hop)| hop.to.iter().map(move |node| bound(id, node))).collect()
}
