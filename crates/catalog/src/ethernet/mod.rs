//! Ethernet: end systems around switches with a schedule table.

mod clock_attacks;
mod describe;
mod end_system;
mod macsec;
mod medium;
mod ports;
mod stream_filters;
mod wires;

use chronoseal_analysis::{Infeasible, synthesize};
use chronoseal_core::{Duration, Node, NodeId, Oscillator, SimTime, StreamId};
use chronoseal_media::medium::{Attachment, Medium};
use chronoseal_media::schedule::ScheduleTable;
use chronoseal_nodes::gateway::{SEQUENCE_LEN, Stack};
use chronoseal_nodes::{AnyNode, Attack, Attacker, AttackerConfig, EndSystem};
use chronoseal_plan::{
    AttackPlace, Dispatch, ETHERNET, Ethernet, EthernetStream, Facet, FailingLink, GrandmasterQuality, Plan, SegmentId,
    StreamClass, Sync, ThreatKind, ThreatPlan,
};
use chronoseal_wire::ethernet::{HEADER_LEN, MacAddress};
use chronoseal_wire::ipv4::{self, ETHERTYPE_IPV4};
use chronoseal_wire::test_bed_header::{ETHERTYPE_BEST_EFFORT, TestBedHeader};
use chronoseal_wire::{udp, virtual_link};

use crate::{BuildError, BuildOptions, Describe, Kind, LiveLink, Prepared, Wire};

/// The row of Ethernet.
#[derive(Clone, Copy, Debug)]
pub struct EthernetKind;

/// LINKTYPE_ETHERNET.
const LINK_TYPE: u16 = 1;

/// A segment of this kind with its schedule table.
///
/// # Panics
/// If the segment is not of this kind: rows are asked for segments of their own kind only.
fn parts<'a>(prepared: &'a Prepared<'_>, segment: SegmentId) -> (Ethernet<'a>, &'a ScheduleTable) {
    let view = Ethernet::of(prepared.plan(), segment).expect("a row is asked for segments of its own kind");
    let schedule = prepared.schedule(segment).expect("a segment with slots has a schedule once it is prepared");
    (view, schedule)
}

impl Kind for EthernetKind {
    fn name(&self) -> &'static str {
        ETHERNET
    }

    fn prepare(&self, plan: &Plan, segment: SegmentId) -> Result<Facet, Box<Infeasible>> {
        let view = Ethernet::of(plan, segment).expect("a row is asked for segments of its own kind");
        synthesize(view).map(Facet::new)
    }

    fn medium(
        &self,
        prepared: &Prepared<'_>,
        segment: SegmentId,
        _guests: &[Attachment],
    ) -> Result<Box<dyn Medium + Send>, BuildError> {
        let (view, schedule) = parts(prepared, segment);
        Ok(Box::new(medium::network(prepared, view, schedule)))
    }

    fn station(
        &self,
        prepared: &Prepared<'_>,
        segment: SegmentId,
        node: NodeId,
        options: BuildOptions,
    ) -> Result<Box<dyn Node + Send>, BuildError> {
        self.any_station(prepared, segment, node, options).map(Into::into)
    }

    fn any_station(
        &self,
        prepared: &Prepared<'_>,
        segment: SegmentId,
        node: NodeId,
        options: BuildOptions,
    ) -> Result<AnyNode, BuildError> {
        let (view, schedule) = parts(prepared, segment);
        Ok(AnyNode::EndSystem(Box::new(EndSystem::new(end_system::config(view, schedule, node, options))?)))
    }

    fn stack(
        &self,
        prepared: &Prepared<'_>,
        segment: SegmentId,
        node: NodeId,
        options: BuildOptions,
    ) -> Result<Box<dyn Stack + Send>, BuildError> {
        let (view, schedule) = parts(prepared, segment);
        Ok(Box::new(EndSystem::of_gateway(end_system::config(view, schedule, node, options))?))
    }

    fn attacker(
        &self,
        prepared: &Prepared<'_>,
        segment: SegmentId,
        node: NodeId,
    ) -> Result<Box<dyn Node + Send>, BuildError> {
        let (view, schedule) = parts(prepared, segment);
        Ok(Box::new(Attacker::new(attacker(view, schedule, node)?)))
    }

    fn describer(&self, prepared: &Prepared<'_>, segment: SegmentId) -> Box<dyn Describe> {
        let (view, schedule) = parts(prepared, segment);
        Box::new(describe::Describer::new(view, schedule))
    }

    fn wires(&self, prepared: &Prepared<'_>, segment: SegmentId) -> Vec<Wire> {
        let (view, schedule) = parts(prepared, segment);
        wires::of(medium::network(prepared, view, schedule).config())
    }

    fn has_host_interface(&self) -> bool {
        true
    }

    fn has_second_ports(&self, plan: &Plan, segment: SegmentId) -> bool {
        Ethernet::of(plan, segment).is_some_and(|view| view.segment.wiring.has_networks())
    }

    fn live_link(&self) -> LiveLink {
        LiveLink::Tap
    }

    fn live_refusal(&self, prepared: &Prepared<'_>, segment: SegmentId) -> Option<String> {
        let view = parts(prepared, segment).0;
        // Live clocks have to be told the time.
        let refused = match view.segment.sync {
            Sync::Beacon | Sync::None => None,
            Sync::Ideal => Some("sync = \"ideal\" exists only in the simulator; write sync = \"beacon\"".to_owned()),
            Sync::As6802 => Some(
                "sync = { as6802 = … } exists only in the simulator: when a process of this host lets a control frame go is off by \
                 more than clocks may differ, and no transparent clock holds it; write sync = \"beacon\""
                    .to_owned(),
            ),
            Sync::Gptp => Some(
                "sync = { gptp = … } exists only in the simulator: a stamp of IEEE 802.1AS is good to nanoseconds, and the processes of \
                 this host have none like that; write sync = \"beacon\""
                    .to_owned(),
            ),
        };
        let has_networks = view.segment.wiring.has_networks();
        let refused = refused.or_else(|| {
            has_networks.then(|| {
                "the networks A and B exist only in the simulator: a live node has one interface to a segment; leave `networks` \
                 and the links to network B out for a live run"
                    .to_owned()
            })
        });
        let refused = refused.or_else(|| {
            view.segment.macsec.is_some().then(|| {
                "`macsec` exists only in the simulator: live frames have neither SecTAG nor check value; leave it out for a live run"
                    .to_owned()
            })
        });
        let is_numbered = |stream: &EthernetStream<'_>| {
            stream.stream.collected().is_some()
                && (stream.class.virtual_link().is_some() || stream.copies.are_several())
        };
        let numbered = view.streams().find(is_numbered);
        let refused = refused.or_else(|| {
            let name = &numbered?.stream.name;
            Some(format!(
                "`{name}`, frames of several PDUs in a virtual link or with copies, exists only in the simulator: what becomes of a PDU is \
                 told live by frames without numbers; write `class = {{ best_effort = {{}} }}` for its entry of `collect` for a live run"
            ))
        });
        let is_fast = |threat: &&ThreatPlan| matches!(threat.kind, ThreatKind::Babble(_) | ThreatKind::Flood(_));
        let fast = view.attackers().find_map(|(attacker, _)| view.threats_of(attacker).find(is_fast));
        let refused = refused.or_else(|| {
            let name = &fast?.name;
            Some(format!(
                "threat `{name}` exists only in the simulator: no process sends at the rate of a link; leave it out for a live run"
            ))
        });
        // A live agent has the host interface of its own host, and hands frames over in the order in which they come.
        let hosts = || view.stations().find(|node| view.plan.nodes[node.index()].host_interface.is_some());
        refused.or_else(|| {
            let name = view.plan.node_name(hosts()?);
            Some(format!("the `host_interface` of `{name}` exists only in the simulator; leave it out for a live run"))
        })
    }

    fn link_type(&self) -> u16 {
        LINK_TYPE
    }

    fn properties(&self, prepared: &Prepared<'_>, segment: SegmentId) -> Vec<(&'static str, String)> {
        let network = parts(prepared, segment).0.segment;
        let in_ms = |duration: Duration| format!("{:.3} ms", duration.as_ms_f64());
        let mut properties = vec![
            ("rate", format!("{} Mbit/s", network.rate.0 as f64 / 1e6)),
            ("guard period", in_ms(network.guard_period)),
            ("accounting", network.accounting.name().into()),
            ("a latency counts from", "the first bit out of the sender".into()),
            ("and to", "the last bit in at the receiver".into()),
        ];
        if network.sync != Sync::None {
            let cycles = [("cluster cycle", network.cluster_cycle), ("integration cycle", network.integration_cycle)];
            properties.splice(1..1, cycles.map(|(name, cycle)| (name, in_ms(cycle))));
        }
        if let Some(macsec) = &network.macsec {
            properties.push(("MACsec", format!("{}, {} B a frame", macsec.cipher_suite.name(), macsec.added_bytes())));
        }
        if let Some(cluster) = &network.cluster {
            let masters = cluster.masters.len();
            properties.push(("clocks", format!("SAE AS6802, {masters} synchronisation masters")));
            properties.push(("precision they are to keep", format!("{:.3} us", network.precision.as_us_f64())));
            properties.push(("from cold to stable at the latest after", in_ms(cluster.parameters.startup_bound())));
        }
        if let Some(clocks) = &network.time_aware {
            let may_be = |quality: &&GrandmasterQuality| quality.priority1 < 255;
            let bridges = clocks.bridges.iter().map(|(quality, _)| quality);
            let candidates = clocks.stations.values().chain(bridges).filter(may_be).count();
            properties.push(("clocks", format!("IEEE 802.1AS, {candidates} systems that may be the grandmaster")));
            properties.push(("sync interval", in_ms(clocks.sync_interval())));
            properties.push(("precision they are to keep", format!("{:.3} us", network.precision.as_us_f64())));
        }
        properties
    }

    fn startup(&self, prepared: &Prepared<'_>, segment: SegmentId) -> Option<Duration> {
        let network = parts(prepared, segment).0.segment;
        let of_cluster = network.cluster.as_ref().map(|cluster| cluster.parameters.startup_bound());
        of_cluster.or_else(|| Some(network.time_aware.as_ref()?.startup_bound()))
    }

    fn own_oscillator(&self, prepared: &Prepared<'_>, segment: SegmentId, index: usize) -> Oscillator {
        let clocks = parts(prepared, segment).0.segment.time_aware.as_ref();
        let drift = clocks.and_then(|clocks| clocks.bridges.get(index)).map(|(_, drift)| *drift);
        drift.map_or_else(Oscillator::default, |drift| Oscillator::new(Duration::ZERO, drift))
    }

    fn precision(&self, prepared: &Prepared<'_>, segment: SegmentId) -> Option<Duration> {
        let network = parts(prepared, segment).0.segment;
        matches!(network.sync, Sync::As6802 | Sync::Gptp).then_some(network.precision)
    }

    fn windows(&self, prepared: &Prepared<'_>, segment: SegmentId) -> Vec<(&'static str, Duration)> {
        let (view, schedule) = parts(prepared, segment);
        if schedule.slots.is_empty() {
            return Vec::new();
        }
        let network = view.segment;
        // A frame has to be in the switch before its dispatch time, if that waits for one.
        let guard = (network.dispatch == Dispatch::Scheduled).then_some(("guard_period", network.guard_period));
        std::iter::once(("precision", network.precision)).chain(guard).collect()
    }

    fn has_own_clocks(&self, prepared: &Prepared<'_>, segment: SegmentId) -> bool {
        let (view, schedule) = parts(prepared, segment);
        medium::network(prepared, view, schedule).config().has_own_clocks()
    }

    fn depend_on_clocks(&self, prepared: &Prepared<'_>, segment: SegmentId, nodes: &[NodeId]) -> Vec<Vec<StreamId>> {
        let view = parts(prepared, segment).0;
        let links = || view.segment.failures.iter().map(|failure| failure.link);
        let is_cut_off =
            |node: NodeId| links().any(|link| link == FailingLink::Station(node) || link == FailingLink::Second(node));
        // Clocks that make the time themselves are judged for themselves, but for one that a broken link takes out of the cluster.
        let makes_time = view.segment.sync != Sync::Beacon;
        let is_cluster = view.segment.sync == Sync::As6802;
        if makes_time && !(is_cluster && nodes.iter().any(|node| is_cut_off(*node))) {
            return Vec::new();
        }
        let clocks = view.clock_use();
        let of_node = |node: &NodeId| match view.switches().any(|switch| switch == *node) {
            _ if makes_time && !is_cut_off(*node) => view.streams().map(|stream| stream.id).collect(),
            true => clocks.all().collect(),
            false => clocks.of_station(*node).collect(),
        };
        nodes.iter().map(of_node).collect()
    }

    /// The switches of a network in which a link fails. What is in slots comes over the other one as well, and every station has a clock by
    /// it; what goes over one network alone is lost there and counted.
    fn spared_clocks(&self, prepared: &Prepared<'_>, segment: SegmentId) -> Vec<(NodeId, SimTime)> {
        let network = parts(prepared, segment).0.segment;
        let wiring = &network.wiring;
        if network.sync != Sync::As6802 || !wiring.has_networks() {
            return Vec::new();
        }
        let is_in_b = |link: FailingLink| match link {
            FailingLink::Station(_) => false,
            FailingLink::Second(_) => true,
            FailingLink::Trunk(trunk) => wiring.is_of_b(wiring.trunks[trunk].ends[0]),
        };
        let since = |switch: u16| {
            let own = network.failures.iter().filter(|failure| is_in_b(failure.link) == wiring.is_of_b(switch));
            let first = own.map(|failure| failure.at).min()?;
            Some((prepared.plan().own_node(segment, usize::from(switch)), SimTime::ZERO + first))
        };
        (0..wiring.switches).filter_map(since).collect()
    }

    fn sync_interval(&self, prepared: &Prepared<'_>, segment: SegmentId) -> Option<Duration> {
        let network = parts(prepared, segment).0.segment;
        match network.sync {
            Sync::None | Sync::Ideal => None,
            Sync::Beacon | Sync::As6802 => Some(network.integration_cycle),
            Sync::Gptp => network.time_aware.as_ref().map(|clocks| clocks.sync_interval()),
        }
    }
}

/// Where a stream's frames go.
fn destination(view: Ethernet<'_>, id: StreamId, class: StreamClass) -> MacAddress {
    match class.ct_id() {
        Some(ct_id) => virtual_link::critical_traffic_address(view.segment.ct_marker, ct_id),
        None => virtual_link::stream_address(id),
    }
}

fn attacker(view: Ethernet<'_>, schedule: &ScheduleTable, id: NodeId) -> Result<AttackerConfig, BuildError> {
    let place = view.plan.attacker(id).ok_or(BuildError::UnknownNode(id))?.place;
    let (mut attacks, mut on_clocks) = (Vec::new(), Vec::new());
    for threat in view.threats_of(id) {
        if let Some(attack) = clock_attacks::of(view, threat, place) {
            on_clocks.push(attack);
            continue;
        }
        // Who aims at no stream takes all that it could be: one after the other.
        let targets: Vec<EthernetStream<'_>> = match (threat.kind.target(), place) {
            (Some(target), _) => vec![view.stream(target).ok_or(BuildError::Attack(id))?],
            (None, AttackPlace::OnLink(_, node)) => view.streams().filter(|stream| stream.hop.from == node).collect(),
            (None, _) => view.streams().collect(),
        };
        for (number, target) in targets.iter().enumerate() {
            attacks.extend(attack(view, schedule, (threat, place), target, (number, targets.len())));
        }
    }
    let on_link = matches!(place, AttackPlace::OnLink(..));
    // Who attacks in no slot stays silent: an attack on clocks meets a port whose delay nobody has measured.
    let needs_slots = !on_link && attacks.iter().any(|attack| !attack.is_timed);
    let follows = needs_slots.then(|| end_system::followed(view, id)).flatten();
    Ok(AttackerConfig { node: id, on_link, attacks, on_clocks, follows, seed: view.plan.seed })
}

/// An attack on one stream, the `number`th of several that take turns; `None` if it never has its turn.
fn attack(
    view: Ethernet<'_>,
    schedule: &ScheduleTable,
    (threat, place): (&ThreatPlan, AttackPlace),
    target: &EthernetStream<'_>,
    (number, targets): (usize, usize),
) -> Option<Attack> {
    let EthernetStream { id, stream, hop, class, tag, .. } = *target;
    let (number, targets) = (u32::try_from(number).ok()?, u32::try_from(targets).ok()?);
    let count = (threat.count + targets - 1).checked_sub(number)? / targets;
    let delay = match threat.kind {
        ThreatKind::Delay(_, by) => by,
        _ => Duration::ZERO,
    };
    let is_babbling = matches!(threat.kind, ThreatKind::Babble(_) | ThreatKind::Flood(_));
    // The attacker on a protected link goes for the value behind the SecTAG.
    let sec_tag_len = macsec::sec_tag_len(view, place);
    (count > 0).then(|| Attack {
        kind: threat.kind.attack(),
        stream: id,
        destination: destination(view, id, class),
        source: virtual_link::station_address(hop.from),
        frame_len: view.secured_len(target) as usize,
        tag,
        has_r_tag: target.copies.have_r_tag(),
        ether_type: match target.datagram {
            Some(_) => Some(ETHERTYPE_IPV4),
            None => class.ct_id().is_none().then_some(ETHERTYPE_BEST_EFFORT),
        },
        datagram: end_system::datagram(view, target),
        // A PDU begins with a sequence number of its own.
        value_at: HEADER_LEN
            + target.tag_len() as usize
            + sec_tag_len
            + target.datagram.map_or(0, |_| ipv4::HEADER_LEN + udp::HEADER_LEN)
            + TestBedHeader::LEN
            + if stream.is_relayed() { SEQUENCE_LEN } else { 0 },
        slot_start: schedule.of(id).next().map_or_else(Default::default, |slot| slot.start),
        period: stream.period,
        first: threat.start + threat.every * i64::from(number),
        every: threat.every * i64::from(targets),
        count,
        at_slot_offset: threat.at_slot_offset,
        is_timed: is_babbling || class.virtual_link().is_some(),
        delay,
    })
}
