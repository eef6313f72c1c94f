//! The kinds of segments: what a scenario may say of each, and what becomes of it.
//!
//! A kind is one module that implements [`SegmentKind`] and one row in [`KINDS`]. Everything else in this crate treats
//! all kinds alike: it reads their tables through the schemas they give, and asks them where only they have the answer.

pub mod can;
mod context;
pub mod ethernet;
pub mod link;
pub mod radio;
mod request;

use chronoseal_core::{Duration, NodeId, Operation};
use chronoseal_groupkey::Transport;
use chronoseal_plan::{Facet, PayloadPlan, Plan, PlatformId, SegmentId};
use chronoseal_wire::can::CanId;
use schemars::JsonSchema;
use serde_json::Value as Json;

pub use crate::source::Step;
pub use context::{Context, Place, Table};
pub use request::{
    CollectRequest, HopRequest, OnSegment, OtherFrame, Segment, SegmentRequest, StreamRequest, SynchronisationRequest,
    ThreatRequest, TrafficRequest,
};

use crate::limits::REPLAY_MIN;
use crate::problem::Code;

/// The kinds that a scenario can have. One table at one address, by which it is recognised, whatever crate names it.
pub static KINDS: &[&dyn SegmentKind] = &BUILT_IN;

static BUILT_IN: [&dyn SegmentKind; 4] = [&can::CanKind, &ethernet::EthernetKind, &radio::RadioKind, &link::LinkKind];

/// A kind of segment.
pub trait SegmentKind: Sync {
    /// The key of its table, as in `[segments.NAME.can]`, and its name in plans and reports.
    fn name(&self) -> &'static str;

    /// The JSON Schema of a segment's table, as [`schema_of`] gives it.
    fn segment_schema(&self) -> Json;

    /// The JSON Schema of the table that a stream has for such a segment.
    fn stream_schema(&self) -> Json;

    /// The JSON Schema of the table that an attack has for such a segment.
    fn threat_schema(&self) -> Json;

    /// What holds for everything on such a segment.
    fn rules(&self) -> Rules {
        Rules::default()
    }

    /// A segment, checked. `None` if nothing can be said of what travels on it; why has been reported then.
    fn resolve_segment(&self, request: &SegmentRequest<'_>, context: &mut Context<'_>) -> Option<SegmentParts>;

    /// What a stream that begins on a segment is by itself, where its kind knows: length and times then follow from what is
    /// sent, and the scenario writes neither. `None` if the scenario says both.
    fn own_message(&self, segment: &Segment<'_>, table: &Table<'_>, context: &mut Context<'_>) -> Option<OwnMessage> {
        let _ = (segment, table, context);
        None
    }

    /// A stream's way over a segment, checked as far as it can be alone. `None` if a problem was reported and no possible
    /// value can stand in.
    fn resolve_hop(&self, request: &HopRequest<'_>, context: &mut Context<'_>) -> Option<HopParts>;

    /// Checks all streams of a segment together and completes their facets: identifiers that differ, limits of the load.
    fn check_streams(&self, segment: &Segment<'_>, streams: &mut [OnSegment<'_>], context: &mut Context<'_>) {
        let _ = (segment, streams, context);
    }

    /// Checks a stream's way over a segment where its PDUs travel in frames with others', as far as it can be alone.
    fn judge_contained(&self, request: &HopRequest<'_>, context: &mut Context<'_>) {
        let _ = (request, context);
    }

    /// Checks the frame in which PDUs of several streams leave, where [`Rules::collects`]: that it has an address of its own,
    /// and can be sent whenever it is complete.
    fn check_collect(&self, request: &mut CollectRequest<'_>, context: &mut Context<'_>) {
        let _ = (request, context);
    }

    /// An attack on a segment, checked. The default refuses it.
    fn resolve_threat(&self, request: &ThreatRequest<'_>, context: &mut Context<'_>) -> Option<ThreatParts> {
        context.report(
            Code::NotYet,
            &[Step::Key("threats"), Step::Index(request.entry)],
            format!(
                "`{}` is a segment of kind `{}`, on which nobody can attack yet",
                request.segment.name,
                self.name()
            ),
            "not there yet",
            "attack another segment, or leave the attack out",
        );
        None
    }

    /// Recorded traffic of the project for such segments: name and bytes.
    fn builtin_traffic(&self) -> &'static [(&'static str, &'static [u8])] {
        &[]
    }

    /// Recorded traffic that is replayed on a segment, if [`Rules::replays`].
    fn resolve_traffic(&self, request: &TrafficRequest<'_>, context: &mut Context<'_>) -> Option<TrafficParts> {
        let _ = (request, context);
        None
    }

    /// The identifiers of the frames of a recording, on a way that [`Self::resolve_traffic`] gave.
    fn recorded_ids(&self, hop: &Facet) -> Vec<CanId> {
        let _ = hop;
        Vec::new()
    }

    /// Fills the defaults of a segment that depend on what travels on it, when all of the scenario is resolved. `table` is what the
    /// scenario says of it.
    fn complete(&self, plan: &mut Plan, segment: SegmentId, table: &Table<'_>, context: &mut Context<'_>) {
        let _ = (plan, segment, table, context);
    }

    /// Refuses what is only known of a segment when all of the scenario is resolved.
    fn check_plan(&self, plan: &Plan, segment: SegmentId, context: &mut Context<'_>) {
        let _ = (plan, segment, context);
    }

    /// What nodes compute on a segment beside the tags of streams, in any order.
    fn operations(&self, plan: &Plan, segment: SegmentId) -> Vec<(NodeId, Operation)> {
        let _ = (plan, segment);
        Vec::new()
    }

    /// What carries the messages of a key exchange on a segment; `None` if nothing does.
    fn key_exchange(&self, segment: &Facet) -> Option<Transport> {
        let _ = segment;
        None
    }

    /// The message that announces trip and reset counters on a segment; `None` if there is none on this kind.
    fn synchronisation(
        &self,
        request: &SynchronisationRequest<'_>,
        context: &mut Context<'_>,
    ) -> Option<(CanId, HopParts)> {
        let _ = (request, context);
        None
    }
}

/// What holds for everything on a kind of segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rules {
    /// The longest period of a stream.
    pub period_max: Duration,
    /// True if a stream that begins there and names no receivers goes to all others on the segment.
    pub has_broadcast: bool,
    /// True if a stream that begins there has its period as deadline unless it gives another.
    pub deadline_is_period: bool,
    /// Distance of an attack's attempts if it gives none; `None`: the period of its stream.
    pub attempt_distance: Option<Duration>,
    /// True if every attempt of an attack has to lie within the run; false if `count` is only the most there can be.
    pub attempts_lie_within_run: bool,
    /// True if nodes on it have an address in key exchanges.
    pub has_addresses: bool,
    /// Bytes at the front of every payload that are the bench's own: stream and sequence number `[byte]`.
    pub payload_header_len: u32,
    /// True if a payload can be another one in every message.
    pub payload_changes: bool,
    /// True if a message announces trip and reset counters on it.
    pub announces_counters: bool,
    /// True if gateways pass frames of no stream between such segments, whole and by their identifiers.
    pub bridges_frames: bool,
    /// What recorded traffic is there, if any can be replayed on it.
    pub replays: Option<Replay>,
    /// True if a node on it can answer the messages of a stream with another one.
    pub relays: bool,
    /// True if it can be simulated without the bytes of its frames.
    pub has_timing_fidelity: bool,
    /// True if its frames can pass a host interface between a node's network interface and its application.
    pub has_host_interfaces: bool,
    /// True if nodes on it can run programs of others, which speak through the kernel.
    pub has_programs: bool,
    /// True if nodes on it are stations that a table of theirs describes.
    pub has_stations: bool,
    /// True if gateways can put PDUs of several streams into one frame on it.
    pub collects: bool,
}

/// What recorded traffic is on a segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Replay {
    /// All of a segment, which all that are on it receive.
    Segment,
    /// What one node sends to receivers that a scenario names.
    Sender,
    /// As [`Self::Sender`]; a recording may hold several flows, of which one is chosen.
    Flow,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            period_max: crate::limits::DURATION_MAX,
            has_broadcast: false,
            deadline_is_period: false,
            attempt_distance: None,
            attempts_lie_within_run: true,
            has_addresses: false,
            payload_header_len: crate::limits::BENCH_HEADER_LEN,
            payload_changes: false,
            announces_counters: false,
            bridges_frames: false,
            replays: None,
            relays: false,
            has_timing_fidelity: true,
            has_host_interfaces: false,
            has_programs: false,
            has_stations: false,
            collects: false,
        }
    }
}

/// A segment as its kind resolved it.
#[derive(Clone, Debug)]
pub struct SegmentParts {
    /// What only the kind knows, for the plan.
    pub facet: Facet,
    /// Nodes that are part of the segment itself, by name.
    pub own_nodes: Vec<String>,
    /// Nodes that come with the segment and that no scenario writes one by one, such as vehicles, by name. They follow the
    /// nodes of the scenario.
    pub brought: Vec<String>,
    /// Their processor.
    pub brought_platform: PlatformId,
    /// The cycle that tasks and slots repeat in, if there is one.
    pub cycle: Option<Cycle>,
    /// What the kind wants to remember while the scenario is resolved.
    pub memo: Option<Facet>,
}

impl SegmentParts {
    /// A segment with nothing but its facet.
    pub fn new(facet: Facet) -> Self {
        Self {
            facet,
            own_nodes: Vec::new(),
            brought: Vec::new(),
            brought_platform: PlatformId(0),
            cycle: None,
            memo: None,
        }
    }
}

/// A cycle that tasks and slots on a segment repeat in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cycle {
    /// Its length.
    pub length: Duration,
    /// The key of the segment's table that says so.
    pub key: &'static str,
    /// False if the scenario's own value could not be used, so that nothing can be judged by it.
    pub is_certain: bool,
}

/// What a stream is by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OwnMessage {
    /// Its longest payload `[byte]`.
    pub payload_len: u32,
    /// The least distance of two, if it has no period.
    pub distance: Option<Duration>,
}

/// A stream's way over a segment as its kind resolved it.
#[derive(Clone, Debug)]
pub struct HopParts {
    /// A frame before protection, as segments of this kind count it `[byte]`.
    pub frame_len: u32,
    /// The traffic class, as reports call it.
    pub class: &'static str,
    /// What only the kind knows, for the plan.
    pub facet: Facet,
    /// True if a scheduler finds its time, so that none is drawn.
    pub has_slots: bool,
    /// What a frame has room for.
    pub room: Room,
    /// What the protected frame takes at least from sender to receiver.
    pub wire_time: Duration,
}

/// What a frame has room for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Room {
    /// A stream's payload and its protection together `[byte]`.
    pub bytes: u32,
    /// What the frame is called: `a classical CAN frame`.
    pub frame: &'static str,
    /// Another way to make room, as the end of a sentence: `, or \`format = "fd"\` for up to 64B`.
    pub other_way: String,
}

/// An attack as the segment's kind resolved it.
#[derive(Clone, Debug)]
pub struct ThreatParts {
    /// The name of the attacker's node. Attacks with one name at one place come from one node.
    pub attacker: String,
    /// Where in the target's slot its frame is put, for streams with slots.
    pub at_slot_offset: Duration,
    /// Distance of two attempts where the scenario says none, if it is not what is usual; there are as many then as there is time
    /// for, unless the scenario says how many.
    pub every: Option<Duration>,
    /// What only the kind knows, for the plan.
    pub facet: Option<Facet>,
}

/// After how long a recording of so many frames begins anew: behind the last one comes the usual gap, unless the scenario says so.
/// `None` if nothing says how often they come.
pub(crate) fn replay_length(last: Option<Duration>, count: usize, every: Option<Duration>) -> Option<Duration> {
    if every.is_some() {
        return every.zip(last).map(|(every, last)| every.max(last + Duration::from_ps(1)));
    }
    let gaps = i64::try_from(count).ok()?.checked_sub(1).filter(|gaps| *gaps > 0)?;
    last.map(|last| last + last / gaps).filter(|length| *length >= REPLAY_MIN)
}

/// Recorded traffic as the segment's kind resolved it.
#[derive(Clone, Debug)]
pub struct TrafficParts {
    /// The longest frame, as segments of this kind count it `[byte]`.
    pub frame_len: u32,
    /// The traffic class, as reports call it.
    pub class: &'static str,
    /// What only the kind knows, for the plan.
    pub facet: Facet,
    /// It starts again after this.
    pub length: Duration,
    /// What is in that, headers of the frame left out `[byte]`.
    pub message_len: u32,
    /// What the stream carries.
    pub payload: PayloadPlan,
}

/// The JSON Schema of a table, as the kinds give it.
pub fn schema_of<T: JsonSchema>() -> Json {
    schemars::schema_for!(T).to_value()
}

/// The kind of a name.
pub(crate) fn named<'k>(kinds: &[&'k dyn SegmentKind], name: &str) -> Option<&'k dyn SegmentKind> {
    kinds.iter().copied().find(|kind| kind.name() == name)
}
