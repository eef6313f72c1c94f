//! Turns a plan into nodes and a medium. Simulator and test bed build from here, so neither has a version of its own.
//!
//! Nothing here runs anything. [`Prepared`] is a plan with what its segments work out before a run; it gives the state
//! machine behind any number of the plan, the medium between them, and a [`Describe`] for each segment, which tells what a
//! frame seen there is.
//!
//! [`KINDS`] is the one table of kinds of segments; a new kind is a module here and a row in it. [`Kinds`] is this table
//! with that of bounds, which goes with it.
//!
//! ```
//! use chronoseal_catalog::Prepared;
//! use chronoseal_scenario::{NoFiles, load};
//!
//! let text = r#"
//! schema_version = 2
//! name = "pair"
//! duration = "100ms"
//! [segments.network.ethernet]
//! rate = "100Mbit/s"
//! cluster_cycle = "10ms"
//! guard_period = "200us"
//! [[nodes]]
//! name = "a"
//! [[nodes]]
//! name = "b"
//! [[streams]]
//! name = "speed"
//! from = "a"
//! to = ["b"]
//! period = "10ms"
//! length = "46B"
//! [[threats]]
//! name = "forged"
//! kind = "spoof"
//! stream = "speed"
//! at = { segment = "network" }
//! "#;
//! let plan = load("pair.toml", text.as_bytes(), &[], &NoFiles)?;
//! // Two stations and the attacker; the switch is part of the medium.
//! let names: Vec<_> = plan.node_ids().map(|id| plan.node_name(id)).collect();
//! assert_eq!(names, ["a", "b", "attacker"]);
//! let prepared = Prepared::new(&plan).expect("one frame fits");
//! assert_eq!(prepared.topology().expect("every part can be built").len(), 1);
//! # Ok::<(), chronoseal_scenario::Problems>(())
//! ```

pub mod can;
mod error;
pub mod ethernet;
pub mod gateway;
mod kind;
mod kinds;
pub mod link;
pub mod protection;
pub mod radio;
mod segment_time;
mod wire;

use chronoseal_core::random::{self, Jitter, Purpose, Rng};
use chronoseal_core::{Duration, Node, NodeId, Oscillator, PortId, StreamId};
use chronoseal_media::host::HostConfig;
use chronoseal_media::medium::Attachment;
use chronoseal_media::schedule::ScheduleTable;
use chronoseal_media::topology::{Absent, Topology};
use chronoseal_nodes::{AnyNode, Gateway, GatewayConfig, PaceConfig, RecordedSignal};
use chronoseal_plan::{AttackPlace, Facet, PayloadPlan, Plan, SegmentId, StreamPlan};

pub use self::error::{BuildError, NotSimulated};
pub use self::kind::{
    Connection, Datagrams, Describe, Description, Kind, LiveHome, LiveLink, OwnProtection, Parts, Sockets,
};
pub use self::kinds::{KindTable, Kinds, MissingRow, PrepareError};
pub use self::segment_time::SegmentTime;
pub use self::wire::{Gates, Wire};

/// Every kind of segment there is.
pub const KINDS: &[&dyn Kind] = &[&can::CanKind, &ethernet::EthernetKind, &radio::RadioKind, &link::LinkKind];

/// How a driver wants its nodes.
#[derive(Clone, Copy, Debug, Default)]
pub struct BuildOptions {
    /// Frames are made ready this much before their release, to hide the wake-up of a real host.
    pub lead: Duration,
    /// A medium that is a program may write a beacon this much later than planned, and says so in its transparent clock:
    /// added to what the plan has for the largest transmission delay. Where all stations add the same, no clock shows another
    /// time for it.
    pub medium_late_max: Duration,
    /// The host's kernel cuts messages into packets and puts them together: stations that speak through it give and get them whole.
    pub whole_messages: bool,
    /// A real host may hand a frame over this much after it came in.
    pub hand_over_max: Duration,
}

/// A plan with what its segments work out before a run.
#[derive(Clone)]
pub struct Prepared<'p> {
    plan: &'p Plan,
    kinds: Kinds,
    /// By segment.
    facets: Vec<Facet>,
}

impl<'p> Prepared<'p> {
    /// Lets every segment work out what it needs, such as a schedule table.
    ///
    /// # Errors
    /// What finds no place in a schedule and why, or a segment of a kind that is not known.
    pub fn new(plan: &'p Plan) -> Result<Self, PrepareError> {
        Self::with_kinds(plan, Kinds::BUILT_IN)
    }

    /// [`Self::new`] with kinds of one's own: those that the plan was made with.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn with_kinds(plan: &'p Plan, kinds: Kinds) -> Result<Self, PrepareError> {
        let facet = |segment| Ok(kinds.row(plan, segment)?.prepare(plan, segment)?);
        Ok(Self { plan, kinds, facets: plan.segment_ids().map(facet).collect::<Result<_, PrepareError>>()? })
    }

    /// [`Self::new`] with a schedule table of one's own for one of the segments.
    ///
    /// # Errors
    /// As [`Self::new`], of the other segments.
    pub fn with_schedule(plan: &'p Plan, segment: SegmentId, schedule: ScheduleTable) -> Result<Self, PrepareError> {
        let kinds = Kinds::BUILT_IN;
        let facet = |id| {
            let row = kinds.row(plan, id)?;
            Ok(if id == segment { Facet::new(schedule.clone()) } else { row.prepare(plan, id)? })
        };
        Ok(Self { plan, kinds, facets: plan.segment_ids().map(facet).collect::<Result<_, PrepareError>>()? })
    }

    /// The plan.
    pub const fn plan(&self) -> &'p Plan {
        self.plan
    }

    /// The kinds it was prepared with.
    pub const fn kinds(&self) -> Kinds {
        self.kinds
    }

    /// The row of a segment's kind.
    ///
    /// # Panics
    /// If there is no such segment.
    pub fn kind(&self, segment: SegmentId) -> &'static dyn Kind {
        self.kinds.row(self.plan, segment).expect("every segment was prepared by the row of its kind")
    }

    /// What a segment has worked out.
    pub fn facet<T: std::any::Any>(&self, segment: SegmentId) -> Option<&T> {
        self.facets.get(segment.index())?.get()
    }

    /// The schedule table of a segment, if it has one.
    pub fn schedule(&self, segment: SegmentId) -> Option<&ScheduleTable> {
        self.facet(segment)
    }

    /// True if frames have slots on a segment.
    pub fn has_slots(&self, segment: SegmentId) -> bool {
        self.schedule(segment).is_some_and(|schedule| !schedule.slots.is_empty())
    }

    /// The ports of one node, in order, each with the segment it leads to.
    pub fn attachments(&self, id: NodeId) -> Vec<(Attachment, SegmentId)> {
        let port = |(port, segment): (usize, SegmentId)| (Attachment { node: id, port: PortId(port as u16) }, segment);
        match (self.plan.nodes.get(id.index()), self.plan.attacker(id).map(|attacker| attacker.place)) {
            (Some(node), _) => {
                // Second ports follow the first ones of all interfaces.
                let second = node.interfaces.iter().copied().filter(|segment| self.has_second_ports(*segment));
                node.interfaces.iter().copied().chain(second).enumerate().map(port).collect()
            }
            (None, Some(AttackPlace::OnSegment(segment))) => vec![port((0, segment))],
            // What the victim sends comes in at port 0 and goes on at port 1.
            (None, Some(AttackPlace::OnLink(segment, _))) => vec![port((0, segment)), port((1, segment))],
            (None, Some(AttackPlace::AtNode(_)) | None) => Vec::new(),
        }
    }

    /// The port of a node that leads to a segment.
    pub fn attachment(&self, node: NodeId, segment: SegmentId) -> Option<Attachment> {
        self.attachments(node).into_iter().find(|(_, known)| *known == segment).map(|(attachment, _)| attachment)
    }

    /// The second port of a node that leads to a segment, if it has one.
    pub fn second_attachment(&self, node: NodeId, segment: SegmentId) -> Option<Attachment> {
        let mut ports = self.attachments(node).into_iter().filter(|(_, known)| *known == segment);
        ports.nth(1).map(|(attachment, _)| attachment)
    }

    fn has_second_ports(&self, segment: SegmentId) -> bool {
        self.kinds.row(self.plan, segment).is_ok_and(|kind| kind.has_second_ports(self.plan, segment))
    }

    /// The segments of the plan as one medium.
    ///
    /// # Errors
    /// [`BuildError`] if a segment cannot be built as the plan has it.
    pub fn topology(&self) -> Result<Topology, BuildError> {
        self.topology_with(&[], &|_| false)
    }

    /// [`Self::topology`], with further stations on some segments that no plan knows, and without the segments that are
    /// `foreign`: others carry their frames, and ports to them lead nowhere here.
    ///
    /// # Errors
    /// As [`Self::topology`].
    pub fn topology_with(
        &self,
        guests: &[(Attachment, SegmentId)],
        foreign: &dyn Fn(SegmentId) -> bool,
    ) -> Result<Topology, BuildError> {
        let mut topology = Topology::new();
        let own: Vec<_> = self.plan.node_ids().flat_map(|id| self.attachments(id)).collect();
        for segment in self.plan.segment_ids() {
            let on_it = |all: &[(Attachment, SegmentId)]| -> Vec<Attachment> {
                all.iter().filter(|(_, known)| *known == segment).map(|(attachment, _)| *attachment).collect()
            };
            let guests = on_it(guests);
            let medium = match foreign(segment) {
                true => Box::new(Absent),
                false => self.kind(segment).medium(self, segment, &guests)?,
            };
            topology.add(medium, on_it(&own).into_iter().chain(guests))?;
        }
        Ok(topology)
    }

    /// The times by which segments keep to their slots, by segment.
    pub fn times(&self) -> Vec<SegmentTime> {
        self.plan.segment_ids().map(|id| SegmentTime::new(self, id)).collect()
    }

    /// The state machine of one node.
    ///
    /// # Errors
    /// [`BuildError`] if it cannot be made as the plan has it.
    pub fn node(&self, id: NodeId, options: BuildOptions) -> Result<Box<dyn Node + Send>, BuildError> {
        self.any_node(id, options).map(Into::into)
    }

    /// [`Self::node`] for a driver that holds some by their types.
    ///
    /// # Errors
    /// [`BuildError`] if it cannot be made as the plan has it.
    pub fn any_node(&self, id: NodeId, options: BuildOptions) -> Result<AnyNode, BuildError> {
        if let Some(attacker) = self.plan.attacker(id) {
            return match attacker.place.segment() {
                Some(segment) => self.kind(segment).attacker(self, segment, id).map(AnyNode::Other),
                // What it does is done by the gateway it is in.
                None => Ok(AnyNode::Other(Box::new(Gateway::new(GatewayConfig::default(), Vec::new())))),
            };
        }
        let node = self.plan.nodes.get(id.index()).ok_or(BuildError::UnknownNode(id))?;
        match node.interfaces[..] {
            [segment] => self.kind(segment).any_station(self, segment, id, options),
            _ => Ok(AnyNode::Other(Box::new(gateway::build(self, id, options)?))),
        }
    }

    /// The host interfaces of a node, one for each segment: the ports that it is behind, and what tells their frames apart. Over the
    /// networks A and B both ports lead to the one that there is.
    pub fn host_ports(&self, id: NodeId) -> Vec<(Vec<PortId>, HostConfig, Box<dyn Describe>)> {
        let Some(config) = self.plan.nodes.get(id.index()).and_then(|node| node.host_interface) else {
            return Vec::new();
        };
        let mut found: Vec<(SegmentId, Vec<PortId>)> = Vec::new();
        for (port, segment) in self.attachments(id) {
            match found.iter_mut().find(|(known, _)| *known == segment) {
                Some((_, ports)) => ports.push(port.port),
                None => found.push((segment, vec![port.port])),
            }
        }
        let with_host = found.into_iter().filter(|(segment, _)| self.kind(*segment).has_host_interface());
        with_host.map(|(segment, ports)| (ports, config, self.kind(segment).describer(self, segment))).collect()
    }

    /// The oscillator of one node. Attackers know true time.
    pub fn oscillator(&self, id: NodeId) -> Oscillator {
        let clock = self.plan.nodes.get(id.index()).map(|node| node.clock);
        clock.map_or_else(Oscillator::default, |clock| Oscillator::new(clock.offset, clock.drift))
    }

    /// In which process a node lives in a live run.
    pub fn live_home(&self, id: NodeId) -> LiveHome {
        let homes =
            self.attachments(id).into_iter().map(|(_, segment)| self.kind(segment).live_home(self, segment, id));
        homes.max().unwrap_or_default()
    }

    /// The wires of a segment that has some, as [`Kind::wires`] numbers them.
    pub fn wires(&self, segment: SegmentId) -> Vec<Wire> {
        self.kind(segment).wires(self, segment)
    }

    /// What a live run does otherwise than a simulated one, in words.
    pub fn differs_live(&self) -> Vec<String> {
        self.plan.segment_ids().flat_map(|segment| self.kind(segment).differs_live(self.plan, segment)).collect()
    }

    /// What tells the frames of each segment apart, by segment.
    pub fn describers(&self) -> Vec<Box<dyn Describe>> {
        self.plan.segment_ids().map(|segment| self.kind(segment).describer(self, segment)).collect()
    }
}

/// Length of the windows by which segments count what they were used for: 10 ms, and as many times longer as keeps their
/// number in bounds.
pub fn load_window(plan: &Plan) -> Duration {
    const SHORTEST: Duration = Duration::from_ms(10);
    const WINDOWS_MAX: i64 = 1 << 16;
    SHORTEST * (plan.duration.div_floor(SHORTEST * WINDOWS_MAX) + 1)
}

/// How often the value of a stream that is sent on change changes: on average after twice the least distance, and after ten times
/// that at the latest.
fn pace(plan: &Plan, stream: &StreamPlan) -> PaceConfig {
    let on_change = |least: Duration| PaceConfig::OnChange {
        distance: Jitter { min: least, mean: least * 2, max: least * 10 },
        seed: plan.seed,
    };
    stream.min_distance.map_or(PaceConfig::Period(stream.period), on_change)
}

/// Seeded bytes for the part of a stream's payload that nothing else fills.
fn fill(plan: &Plan, id: StreamId, len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    random::stream(plan.seed, Purpose::Payload, u64::from(id.0)).fill_bytes(&mut bytes);
    bytes
}

/// The recorded signal that a stream replays, if it does.
fn signal(plan: &Plan, stream: &StreamPlan) -> Option<RecordedSignal> {
    let PayloadPlan::Recorded { recording } = stream.payload else { return None };
    let recording = &plan.recordings[usize::from(recording)];
    let samples = recording.samples.iter().map(|sample| (sample.at, sample.bytes.clone())).collect();
    Some(RecordedSignal { samples, length: recording.length })
}
