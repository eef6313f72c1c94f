//! What will be run on a radio segment.

use std::collections::BTreeMap;
use std::sync::Arc;

use chronoseal_core::random::Jitter;
use chronoseal_core::{Duration, NodeId, Ppm, StreamId};
use chronoseal_media::radio::Position;
use chronoseal_v2x_fleet::policy::Policy;
use chronoseal_v2x_fleet::simulation::{FleetConfig, Messages, Perceives, Rider, StationConfig};
use chronoseal_v2x_fleet::station::{Hazard, MessageKind, RoadUser, frame_len_max, message_len_max};

use crate::{
    ClockPlan, DeadlineKind, Facet, Fidelity, HopPlan, Inputs, NodePlan, PayloadPlan, Plan, PlatformId, PlatformPlan,
    ProtectionId, ProtectionKind, ProtectionPlan, SegmentId, SegmentPlan, StreamPlan,
};

/// The kind's name.
pub const RADIO: &str = "radio";

/// A radio channel with the road beside it.
#[derive(Clone, Debug)]
pub struct RadioSegment {
    /// The road's vehicles, the channel and how messages are secured. Its seed is the plan's.
    pub fleet: Arc<FleetConfig>,
    /// What each node of the scenario on it is, by its number.
    pub stations: BTreeMap<NodeId, StationConfig>,
    /// The middle of the road's traffic.
    pub middle: Position,
}

/// What a stream is on a radio segment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RadioHop {
    /// What is sent.
    pub message: MessageKind,
    /// What a DENM tells of.
    pub hazard: Option<Hazard>,
    /// Which vehicle of the road notices that, if it is one of them.
    pub vehicle: Option<usize>,
    /// What senders of CPMs see.
    pub perceives: Option<Perceives>,
    /// Who sends VAMs.
    pub road_user: Option<RoadUser>,
}

/// Where an attacker on a radio segment stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AttackerPlace(pub Position);

/// A radio segment of a plan with what travels on it.
#[derive(Clone, Copy, Debug)]
pub struct Radio<'p> {
    /// The whole plan.
    pub plan: &'p Plan,
    /// Which of its segments.
    pub id: SegmentId,
    /// The segment itself.
    pub segment: &'p RadioSegment,
}

impl<'p> Radio<'p> {
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
    pub fn streams(self) -> impl Iterator<Item = (StreamId, &'p StreamPlan, &'p HopPlan, &'p RadioHop)> {
        self.plan.on_segment(self.id).filter_map(|(id, stream, hop)| Some((id, stream, hop, hop.facet.get()?)))
    }

    /// The stream of a kind of message, if there is one.
    pub fn stream(self, message: MessageKind) -> Option<(StreamId, &'p StreamPlan, &'p HopPlan, &'p RadioHop)> {
        self.streams().find(|(_, _, _, facet)| facet.message == message)
    }

    /// The node of the first vehicle; the others follow it, and the posts follow them.
    pub fn first_vehicle(self) -> NodeId {
        NodeId(self.plan.segments[self.id.index()].brought.start)
    }

    /// What a node of the plan is here; `None` if it is neither part of the road nor a station.
    pub fn rider(self, node: NodeId) -> Option<Rider> {
        let vehicles = self.segment.fleet.trips.trips.len();
        if let Some(station) = self.segment.stations.get(&node) {
            return Some(Rider::Station(station.mobility.clone()));
        }
        let index = usize::from(node.0.checked_sub(self.first_vehicle().0)?);
        match index.checked_sub(vehicles) {
            None => Some(Rider::Vehicle(index)),
            Some(post) => self.segment.fleet.posts.get(post).map(|position| Rider::Post(*position)),
        }
    }

    /// What tickets of the segment have to permit beside CAMs and DENMs, for the streams that are there.
    pub fn permits(self) -> Vec<MessageKind> {
        [MessageKind::Cpm, MessageKind::Vam].into_iter().filter(|kind| self.stream(*kind).is_some()).collect()
    }

    /// What a node sends, and under which streams it tells of messages.
    pub fn messages(self, node: NodeId) -> Messages {
        let sends = |(_, stream, hop, _): &(StreamId, &StreamPlan, &HopPlan, &RadioHop)| match stream.sent_by {
            Some(_) => matches!(self.rider(node), Some(Rider::Vehicle(_))),
            None => hop.from == node,
        };
        let [cam, denm, cpm, vam] = MessageKind::ALL.map(|kind| self.stream(kind));
        let hazard = denm.filter(sends).and_then(|(_, _, _, facet)| {
            let is_it = match (facet.vehicle, self.rider(node)) {
                (Some(index), Some(Rider::Vehicle(own))) => own == index,
                (vehicle, _) => vehicle.is_none(),
            };
            facet.hazard.filter(|_| is_it)
        });
        Messages {
            cam: cam.map(|(id, ..)| id),
            sends_cam: cam.as_ref().is_some_and(sends),
            denm: denm.map(|(id, ..)| id),
            hazard,
            cpm: cpm.map(|(id, ..)| id),
            perceives: cpm.filter(sends).and_then(|(_, _, _, facet)| facet.perceives),
            vam: vam.map(|(id, ..)| id),
            road_user: vam.filter(sends).and_then(|(_, _, _, facet)| facet.road_user),
        }
    }
}

/// Until all that was sent is off the air.
const LINGERING: Duration = Duration::from_s(2);

impl Plan {
    /// The same plan with another policy for the vehicles of every road, as if its scenario said so.
    #[must_use]
    pub fn with_policy(&self, policy: &Policy) -> Self {
        let mut plan = self.clone();
        for segment in &mut plan.segments {
            if let Some(radio) = segment.facet.get_mut::<RadioSegment>() {
                radio.fleet = Arc::new(FleetConfig { policy: policy.clone(), ..FleetConfig::clone(&radio.fleet) });
            }
        }
        plan
    }

    /// A plan of one radio segment, all of whose vehicles send CAMs and have processors of this platform, until the last of
    /// them has left.
    pub fn of_fleet(fleet: Arc<FleetConfig>, platform: PlatformPlan) -> Self {
        let names = (0..fleet.trips.trips.len()).map(|index| format!("{SEGMENT}-{index}"));
        let posts = (0..fleet.posts.len()).map(|index| format!("{SEGMENT}-post-{index}"));
        let segment = SegmentId(0);
        let node = |name| NodePlan {
            name,
            clock: ClockPlan { offset: Duration::ZERO, drift: Ppm(0), drift_max: Ppm(0) },
            platform: PlatformId(0),
            driver: Jitter::default(),
            host_interface: None,
            tasks: Vec::new(),
            address: 0,
            interfaces: vec![segment],
            gateway: None,
            program: None,
        };
        let nodes: Vec<NodePlan> = names.chain(posts).map(node).collect();
        let all: Vec<NodeId> = (0..nodes.len() as u16).map(NodeId).collect();
        let hop = RadioHop { message: MessageKind::Cam, hazard: None, vehicle: None, perceives: None, road_user: None };
        let hop = HopPlan {
            segment,
            from: NodeId(0),
            to: all.clone(),
            frame_len: frame_len_max(MessageKind::Cam, fleet.signs, 0) as u32,
            class: MessageKind::Cam.name(),
            facet: Facet::new(hop),
            previous: None,
            protection: None,
        };
        let stream = StreamPlan {
            name: MessageKind::Cam.name().into(),
            sender: NodeId(0),
            sent_by: Some(segment),
            receivers: all,
            period: fleet.cam_interval_min,
            offset: None,
            has_offset: false,
            application: None,
            min_distance: Some(fleet.cam_interval_min),
            trigger: None,
            deadline: None,
            deadlines: Vec::new(),
            deadline_kind: DeadlineKind::Reaction,
            length: message_len_max(MessageKind::Cam) as u32,
            payload: PayloadPlan::Synthetic,
            protection: ProtectionId(0),
            hops: vec![hop],
        };
        Self {
            name: "fleet".into(),
            description: String::new(),
            seed: fleet.seed,
            duration: fleet.trips.ends_at.since_zero() + LINGERING,
            fidelity: Fidelity::Bytes,
            segments: vec![SegmentPlan {
                name: SEGMENT.into(),
                kind: RADIO,
                own_nodes: Vec::new(),
                brought: 0..nodes.len() as u16,
                facet: Facet::new(RadioSegment { fleet, stations: BTreeMap::new(), middle: Position::default() }),
            }],
            nodes,
            attackers: Vec::new(),
            streams: vec![stream],
            protections: vec![ProtectionPlan { name: "none".into(), kind: ProtectionKind::None }],
            candidates: Vec::new(),
            threats: Vec::new(),
            platforms: vec![platform],
            recordings: Vec::new(),
            allowances: Vec::new(),
            group_key: None,
            freshness: None,
            inputs: Inputs::default(),
            scenario_hash: String::new(),
            notes: Vec::new(),
        }
    }
}

/// The name of the segment of a plan that is made of a fleet.
const SEGMENT: &str = "street";
