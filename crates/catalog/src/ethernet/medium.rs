//! The switches and links of a segment.

use chronoseal_core::{Duration, NodeId, Oscillator, Ppm, SimTime, StreamId};
use chronoseal_media::ethernet::{
    Beacon, Charge, ClusterClocks, Ends, Failure, FrameLoss, Link, Network, NetworkConfig, Policing, Route, RouteClass,
    RouteHop, Seat, Splice, TimeAwareBridge, TimeAwareBridges,
};
use chronoseal_media::schedule::ScheduleTable;
use chronoseal_plan::{
    AttackPlace, Copies, Dispatch, Ethernet, EthernetSegment, EthernetStream, FailingLink, GrandmasterQuality,
    LinkFailure, NetworkName, RecoveryConfig, StreamClass, SwitchHop, Sync, ThreatKind, TimeAwarePlan, VirtualLink,
};
use chronoseal_wire::ethernet::FCS_LEN;

use super::{macsec, ports, stream_filters};
use crate::Prepared;

/// Which link is whose, in the order in which the medium has them.
struct Links {
    all: Vec<Link>,
    /// By link of a station.
    nodes: Vec<NodeId>,
    /// The number of the first link to network B, if there is one.
    first_second: usize,
    /// The number of the first link between switches.
    first_trunk: usize,
}

impl Links {
    /// The links of stations, of attackers with a port of their own at the first switch, and between switches.
    fn of(prepared: &Prepared<'_>, view: Ethernet<'_>) -> Self {
        let network = view.segment;
        let port = |node| prepared.attachment(node, view.id).expect("who is on a segment has a port to it");
        let with_port = view.attackers().filter(|(_, place)| matches!(place, AttackPlace::OnSegment(_)));
        let nodes: Vec<NodeId> = view.stations().chain(with_port.map(|(attacker, _)| attacker)).collect();
        let station = |node: &NodeId| {
            let link = network.link_of(*node);
            let ends = Ends::Station { station: port(*node), switch: usize::from(link.switch) };
            Link { ends, speed: network.speed_over(link.parameters) }
        };
        let mut all: Vec<Link> = nodes.iter().map(station).collect();
        let first_second = all.len();
        all.extend(network.wiring.second.iter().map(|link| {
            let station = prepared.second_attachment(link.node, view.id).expect("a node there has a second port");
            let ends = Ends::Station { station, switch: usize::from(link.switch) };
            Link { ends, speed: network.speed_over(link.parameters) }
        }));
        let nodes = nodes.into_iter().chain(network.wiring.second.iter().map(|link| link.node)).collect();
        let first_trunk = all.len();
        all.extend(network.wiring.trunks.iter().map(|trunk| {
            let ends = Ends::Switches(trunk.ends.map(usize::from));
            Link { ends, speed: network.speed_over(trunk.parameters) }
        }));
        Self { all, nodes, first_second, first_trunk }
    }

    /// The link of a node.
    fn place_of(&self, node: NodeId) -> usize {
        self.nodes.iter().position(|station| *station == node).expect("hops end at nodes of their segment")
    }

    /// The link of a node to one of the networks.
    fn place_in(&self, network: NetworkName, node: NodeId) -> usize {
        match network {
            NetworkName::A => self.place_of(node),
            NetworkName::B => {
                let second = self.nodes[self.first_second..].iter().position(|station| *station == node);
                self.first_second + second.expect("a node there has a second link")
            }
        }
    }

    /// The number of a link.
    fn number(&self, link: FailingLink) -> usize {
        match link {
            FailingLink::Station(node) => self.place_of(node),
            FailingLink::Second(node) => self.place_in(NetworkName::B, node),
            FailingLink::Trunk(trunk) => self.first_trunk + trunk,
        }
    }

    /// A link that fails.
    fn failure(&self, failure: &LinkFailure) -> Failure {
        Failure { link: self.number(failure.link), at: SimTime::ZERO + failure.at }
    }

    /// The line from one switch over a link between switches.
    fn line_over(&self, view: Ethernet<'_>, trunk: usize, from: u16) -> usize {
        let is_back = view.segment.wiring.trunks[trunk].ends[0] != from;
        2 * (self.first_trunk + trunk) + usize::from(is_back)
    }

    /// What each switch on its ways does with a stream.
    fn hops(&self, view: Ethernet<'_>, stream: &EthernetStream<'_>) -> Vec<RouteHop> {
        let hops = view.hops(stream).expect("a scenario is refused unless each copy of a stream has one way");
        let trunks = &view.segment.wiring.trunks;
        let hop = |(network, hop): (NetworkName, SwitchHop)| {
            let before = hop.trunk.map(|trunk| (trunk, trunks[trunk].from(hop.switch)));
            let ingress = match before {
                None => 2 * self.place_in(network, stream.hop.from),
                Some((trunk, switch)) => self.line_over(view, trunk, switch),
            };
            let to_nodes = hop.to.iter().map(|node| 2 * self.place_in(network, *node) + 1);
            let onward = hop.onward.iter().map(|trunk| self.line_over(view, *trunk, hop.switch));
            RouteHop { ingress, egress: to_nodes.chain(onward).collect() }
        };
        hops.into_iter().map(hop).collect()
    }
}

/// What switches know of a virtual link.
fn rate_constrained(network: &EthernetSegment, link: &VirtualLink) -> RouteClass {
    let rules = network.virtual_links;
    RouteClass::RateConstrained {
        ct_id: link.ct_id,
        priority: link.priority(),
        len_min: link.lmin - FCS_LEN as u32,
        policing: Policing {
            bag: link.bag_min(rules.clock_tolerance),
            jitter: link.jitter,
            lmax: link.lmax,
            charge: if rules.charges_longest { Charge::Longest } else { Charge::Own },
        },
    }
}

/// Where copies of a stream's frames become one.
fn recoveries(view: Ethernet<'_>, stream: &EthernetStream<'_>) -> Vec<((usize, StreamId), RecoveryConfig)> {
    let Copies::Ways { recovering, recovery, .. } = stream.copies else { return Vec::new() };
    let of_switch = |switch: &u16| {
        // Where it depends on the order of copies, nothing counts them.
        let ways = view.copies_at(stream, *switch).ok().flatten().unwrap_or(recovery.ways);
        ((usize::from(*switch), stream.id), RecoveryConfig { ways, ..*recovery })
    };
    recovering.iter().map(of_switch).collect()
}

/// The switches with their links.
///
/// # Panics
/// If a stream of the plan has an end that is not on this segment, or not one way over its switches.
pub(super) fn network(prepared: &Prepared<'_>, view: Ethernet<'_>, schedule: &ScheduleTable) -> Network {
    let (plan, network) = (view.plan, view.segment);
    let links = Links::of(prepared, view);
    let mut splices = Vec::new();
    let mut mirror = None;
    for (attacker, place) in view.attackers() {
        match place {
            AttackPlace::OnSegment(_) => mirror = Some((attacker, 2 * links.place_of(attacker) + 1)),
            AttackPlace::OnLink(_, victim) => {
                splices.push(Splice {
                    victim: links.place_of(victim),
                    attacker,
                    seat: seat(view, attacker, victim),
                    keeps_priorities: view.keeps_priorities(attacker),
                });
            }
            // It has no port of its own.
            AttackPlace::AtNode(_) => {}
        }
    }
    // By stream of the plan; those that do not come by here have no address on this segment.
    let mut routes = vec![Route::ELSEWHERE; plan.streams.len()];
    for stream in view.streams() {
        // To switches a virtual link is one, whichever of its streams a frame is of: the route is that of the first.
        if view.known_as(&stream) != stream.id {
            continue;
        }
        let mut hops = links.hops(view, &stream);
        // An attacker that replays from a port of its own has to have heard the frame: it gets a mirror port.
        let is_its =
            |target| target == Some(stream.id) || view.sub_virtual_links(&stream).any(|other| target == Some(other.id));
        let is_replayed = |attacker| {
            let mut kinds = view.threats_of(attacker).map(|threat| threat.kind);
            kinds.any(|kind| matches!(kind, ThreatKind::Replay(_)) && is_its(kind.target()))
        };
        hops[0].egress.extend(mirror.filter(|(attacker, _)| is_replayed(*attacker)).map(|(_, line)| line));
        routes[stream.id.index()] = Route {
            class: match stream.class {
                StreamClass::TimeTriggered { ct_id } => RouteClass::TimeTriggered { ct_id },
                StreamClass::RateConstrained(link) => rate_constrained(network, &link),
                StreamClass::BestEffort { priority } => RouteClass::BestEffort { priority },
            },
            hops,
            len_max: match stream.class.virtual_link() {
                Some(link) => link.lmax - FCS_LEN as u32,
                None => view.secured_len(&stream),
            },
            vid: stream.tag.map(|tag| tag.vid),
        };
    }
    let ports = ports::of(view, &links.all, &links.nodes, &routes);
    let psfp = stream_filters::of(view, &links.all, &links.nodes);
    let secured = macsec::secured(view, &links.nodes);
    let failures = network.failures.iter().map(|failure| links.failure(failure)).collect();
    let frame_losses = (network.frame_losses.iter())
        .map(|loss| FrameLoss { link: links.number(loss.link), ratio: loss.ratio })
        .collect();
    Network::new(NetworkConfig {
        switches: view.switches().collect(),
        switches_of_b: (0..network.wiring.switches).filter(|at| network.wiring.is_of_b(*at)).map(usize::from).collect(),
        links: links.all,
        queue_len_max: network.queue_len_max,
        shares_queues: network.shares_queues,
        ports,
        psfp,
        splices,
        secured,
        failures,
        frame_losses,
        recoveries: view.streams().flat_map(|stream| recoveries(view, &stream)).collect(),
        routes,
        ct_marker: network.ct_marker,
        beacon: (network.sync == Sync::Beacon)
            .then_some(Beacon { sync_id: network.sync_id, integration_cycle: network.integration_cycle }),
        clocks: network.cluster.as_ref().map(|cluster| ClusterClocks {
            sync_id: network.sync_id,
            parameters: cluster.parameters.clone(),
            masters: cluster.masters.clone(),
            compression_masters: cluster.compression_masters.iter().copied().map(usize::from).collect(),
        }),
        time_aware: time_aware(view),
        schedule: schedule.clone(),
        waits_for_dispatch: network.dispatch == Dispatch::Scheduled,
        integration: network.integration,
        forwarding_delay: network.forwarding_delay,
        forwarding_jitter: network.forwarding_jitter,
        early_tolerance: network.precision,
        sniffing_switch: network.sniffing_switch,
        load_window: Some(crate::load_window(plan)),
        seed: plan.seed,
    })
}

/// Where an attacker on the wire of a station sits: behind what happens at the station's end of it, if anything does, unless it is the
/// station itself that babbles at its own port.
fn seat(view: Ethernet<'_>, attacker: NodeId, victim: NodeId) -> Seat {
    if !view.has_come_over_wire(victim) {
        return Seat::BeforeWire;
    }
    let babbles = view.threats_of(attacker).any(|threat| matches!(threat.kind, ThreatKind::Babble(_)));
    if babbles { Seat::InStation } else { Seat::BehindWire }
}

/// The switches as bridges of IEEE 802.1AS, if their clocks follow a grandmaster.
fn time_aware(view: Ethernet<'_>) -> Option<TimeAwareBridges> {
    let clocks = view.segment.time_aware.as_ref()?;
    let bridge = |(switch, (quality, drift)): (NodeId, &(GrandmasterQuality, Ppm))| TimeAwareBridge {
        parameters: clocks.parameters_of(TimeAwarePlan::clock_of(switch), *quality),
        port: clocks.port,
        oscillator: Oscillator::new(Duration::ZERO, *drift),
    };
    Some(TimeAwareBridges {
        bridges: view.switches().zip(&clocks.bridges).map(bridge).collect(),
        granularity: clocks.granularity,
    })
}
