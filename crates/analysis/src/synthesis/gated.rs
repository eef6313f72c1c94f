//! The streams of a traffic class of IEEE 802.1Q as a problem of windows and gate control lists.
//!
//! A schedule of such streams is exact: each frame starts at its time on every link. So all that would move a frame by an amount that
//! nobody knows beforehand is refused: clocks that drift, beacons on the wires, drivers and switches with jitter, and processors
//! that have other work when a frame has to be sealed.

use chronoseal_core::{Duration, NodeId};
use chronoseal_media::port::{GateControlList, GateEntry, PortConfig, Selection};
use chronoseal_plan::{Copies, Ethernet, EthernetStream, LinkParameters, Plan, PortEnd, Sync};
use chronoseal_schedule::exchange::Refusal;
use chronoseal_schedule::gates::GateList;
use chronoseal_schedule::{Link, LinkProtection, Network, Node, Security, Stream};

use crate::segment::{BOUNDS, Jobs};

/// A frame as the scenario has it, and as a schedule sees it.
#[derive(Clone, Debug)]
pub struct GatedStream {
    /// For the schedule; its length is without what protection adds.
    pub stream: Stream,
    /// The processor time of the talker, by which its frame is due before it is sent.
    pub seal: Duration,
}

/// What is made of the gates that the ports of a scenario have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Written {
    /// There are none for the class: a schedule is made anew, and streams get other offsets.
    Nothing,
    /// They are those of a schedule of all streams of the class that have an offset, which keep it.
    Schedule,
}

/// A port of a [`GatedNetwork`].
#[derive(Clone, Debug)]
pub struct GatedPort {
    /// The link of [`GatedNetwork::network`] that it sends on.
    pub link: usize,
    /// True for a port of a station.
    pub is_station: bool,
    /// The traffic class of each priority there.
    pub class_of: [u8; 8],
    /// The gates that it has.
    pub gates: Option<GateControlList>,
}

/// What of a segment a schedule is made for.
#[derive(Clone, Debug)]
pub struct GatedNetwork {
    /// The name of the segment.
    pub segment: String,
    /// Its links, both directions of each.
    pub network: Network,
    /// The streams of the class, each on the way that the scenario gives it.
    pub streams: Vec<GatedStream>,
    /// The ports of all links.
    pub ports: Vec<GatedPort>,
}

impl GatedNetwork {
    /// The name of a link whose port has other gates than these lists say, or gates for `class` where they have no list.
    pub fn differs(&self, lists: &[GateList], class: u8) -> Option<String> {
        let is_other = |port: &&GatedPort| match (&port.gates, lists.iter().find(|list| list.link == port.link)) {
            (None, None) => false,
            // What the class has no part in is nothing of a schedule.
            (Some(gates), None) => {
                let changes = |pair: &[GateEntry]| (pair[0].open ^ pair[1].open) >> class & 1 == 1;
                gates.entries.windows(2).any(changes)
            }
            (None, Some(_)) => true,
            (Some(gates), Some(list)) => {
                let written = gates.entries.iter().map(|entry| (entry.open, entry.lasts));
                let is_same = written.eq(list.entries.iter().map(|entry| (entry.gates, entry.interval)));
                !is_same || (gates.base_time, gates.cycle) != (list.base, list.cycle)
            }
        };
        self.ports.iter().find(is_other).map(|port| self.network.link_name(port.link))
    }
}

/// The class of each priority at a port that says nothing.
pub(super) const OWN_CLASSES: [u8; 8] = [0, 1, 2, 3, 4, 5, 6, 7];

/// The streams of traffic class `class` on a segment of a plan, with the network they are scheduled on. The segment need not be
/// named if there is one alone that has traffic classes.
///
/// # Errors
/// What keeps the streams from being scheduled to the picosecond, with the smallest change that helps.
pub fn gated_network(plan: &Plan, segment: Option<&str>, class: u8, written: Written) -> Result<GatedNetwork, Refusal> {
    of_view(chosen(plan, segment)?, class, written)
}

/// The Ethernet segment of a name, or the only one.
pub(super) fn chosen<'p>(plan: &'p Plan, segment: Option<&str>) -> Result<Ethernet<'p>, Refusal> {
    let all: Vec<Ethernet<'_>> = plan.segment_ids().filter_map(|id| Ethernet::of(plan, id)).collect();
    let name = |view: &Ethernet<'_>| plan.segments[view.id.index()].name.as_str();
    let names: Vec<&str> = all.iter().map(name).collect();
    match (segment, all.as_slice()) {
        (None, [only]) => Ok(*only),
        (None, []) => {
            Err(refuse("no segment of it is an Ethernet".into(), "gates are in the ports of an Ethernet segment"))
        }
        (None, _) => Err(refuse(
            format!("it has several Ethernet segments: {}", names.join(", ")),
            "name the one that is meant with --segment",
        )),
        (Some(wanted), _) => match all.iter().find(|view| name(view) == wanted) {
            Some(view) => Ok(*view),
            None => Err(refuse(
                format!("it has no Ethernet segment `{wanted}`"),
                &format!("name one of these with --segment: {}", names.join(", ")),
            )),
        },
    }
}

fn of_view(view: Ethernet<'_>, class: u8, written: Written) -> Result<GatedNetwork, Refusal> {
    let segment = view.segment;
    let ports = all_ports(view);
    of_segment(view)?;
    let name = view.plan.segments[view.id.index()].name.clone();
    let mut gated =
        GatedNetwork { segment: name, network: wires(view, &ports)?, streams: Vec::new(), ports: Vec::new() };
    for port in &ports {
        let link = link_between(view, &gated.network, port.ends).expect("it was made of the same ports");
        let class_of = segment.ports.of(port.end).map_or(OWN_CLASSES, |config| config.class_of);
        let is_station = matches!(port.end, PortEnd::Station(_));
        let gates = segment.ports.of(port.end).and_then(|config| config.gates.clone());
        if gates.as_ref().is_some_and(|gates| gates.change.is_some()) {
            let message = format!("the port of `{}` has an `admin` list", gated.network.link_name(link));
            return Err(refuse(
                message,
                "write the lists of one schedule, without `admin`: a schedule is for all time",
            ));
        }
        gated.ports.push(GatedPort { link, is_station, class_of, gates });
    }
    for stream in view.streams() {
        let Some(priority) = stream.class.queue() else {
            return Err(refuse(
                format!("stream `{}` has slots, and a segment has either slots or gates", stream.stream.name),
                "give it a `class` with a VLAN tag, such as `class = { vlan = { pcp = 7 } }`",
            ));
        };
        let at = |end: PortEnd| class_at(segment.ports.of(end), priority);
        if at(PortEnd::Station(stream.hop.from)) == class {
            if stream.stream.recorded().is_some() {
                return Err(refuse(
                    format!("the recording `{}` is in traffic class {class}, and has no period", stream.stream.name),
                    "leave it out, or name another class with --class",
                ));
            }
            let taken = taken(view, class, &stream, &gated.network, written)?;
            gated.streams.push(taken);
        }
    }
    if gated.streams.is_empty() {
        return Err(refuse(
            format!("no stream is in traffic class {class} of `{}`", view.plan.segments[view.id.index()].name),
            "write `class = { vlan = { pcp = 7 } }` for the streams to be scheduled, or name another class with --class",
        ));
    }
    for stream in view.streams().filter(|stream| gated.streams.iter().any(|one| one.stream.name == stream.stream.name))
    {
        for &node in stream.hop.to.iter().chain([&stream.hop.from]) {
            is_free(view, node, &gated)?;
        }
    }
    // Gates and talkers keep to whole nanoseconds where the scenario does.
    let nanosecond = Duration::from_ns(1);
    if gated
        .streams
        .iter()
        .flat_map(|one| [one.stream.period, one.seal])
        .all(|time| time.rem_floor(nanosecond) == Duration::ZERO)
    {
        gated.network.granularity = nanosecond;
    }
    gated.network.checks_at_once = true;
    Ok(gated)
}

/// A port, with the ends of its link.
pub(super) struct Port {
    pub(super) end: PortEnd,
    pub(super) ends: [NodeId; 2],
    link: LinkParameters,
    into_switch: bool,
}

fn switch(view: Ethernet<'_>, number: u16) -> NodeId {
    view.plan.own_node(view.id, usize::from(number))
}

pub(super) fn all_ports(view: Ethernet<'_>) -> Vec<Port> {
    let segment = view.segment;
    let stations = view.stations().flat_map(|node| {
        let own = segment.link_of(node);
        let bridge = switch(view, own.switch);
        let port = |end, ends, into_switch| Port { end, ends, link: own.parameters, into_switch };
        [port(PortEnd::Station(node), [node, bridge], true), port(PortEnd::ToStation(node), [bridge, node], false)]
    });
    let trunks = segment.wiring.trunks.iter().flat_map(|trunk| {
        let [one, other] = trunk.ends;
        [[one, other], [other, one]].map(|[from, to]| Port {
            end: PortEnd::Between(from, to),
            ends: [switch(view, from), switch(view, to)],
            link: trunk.parameters,
            into_switch: true,
        })
    });
    stations.chain(trunks).collect()
}

/// What a segment must not have.
fn of_segment(view: Ethernet<'_>) -> Result<(), Refusal> {
    let (segment, name) = (view.segment, &view.plan.segments[view.id.index()].name);
    if segment.sync == Sync::None {
        return Err(refuse(
            format!("nothing says how the clocks of `{name}` are kept together, and gates go by them"),
            "write `sync = \"ideal\"` for the segment: the gates of a schedule have no room for clocks that differ",
        ));
    }
    if segment.sync != Sync::Ideal {
        return Err(refuse(
            format!(
                "the clocks of `{name}` are kept together by frames, which pass every gate and move what is scheduled"
            ),
            "write `sync = \"ideal\"` for the segment: the gates of a schedule have no room for clocks that differ",
        ));
    }
    if segment.forwarding_jitter.max > Duration::ZERO {
        return Err(refuse(
            format!("the switches of `{name}` take up to {} more for some frames", segment.forwarding_jitter.max),
            "leave `forwarding_jitter` out, and write the longest time as `forwarding_delay`",
        ));
    }
    if !segment.wiring.second.is_empty() {
        return Err(refuse(
            format!("`{name}` has networks A and B, and a schedule is made for one network"),
            "leave `networks` out",
        ));
    }
    Ok(())
}

pub(super) fn wires(view: Ethernet<'_>, ports: &[Port]) -> Result<Network, Refusal> {
    let name = |node: NodeId| view.plan.node_name(node);
    let switches: Vec<NodeId> = view.switches().collect();
    let nodes: Vec<NodeId> = view.stations().chain(switches.iter().copied()).collect();
    let place = |node: NodeId| nodes.iter().position(|other| *other == node).unwrap_or(usize::MAX);
    let links = ports.iter().map(|port| Link {
        from: place(port.ends[0]),
        to: place(port.ends[1]),
        rate: port.link.rate,
        propagation: port.link.propagation_delay,
        protection: protection(port.link),
        processing: if port.into_switch { view.segment.forwarding_delay } else { Duration::ZERO },
        gate_entries_max: Some(chronoseal_plan::GATE_ENTRIES_MAX as usize),
    });
    let links = links.collect();
    let nodes = nodes.iter().map(|node| Node { name: name(*node), is_bridge: switches.contains(node) }).collect();
    Network::new(nodes, links).map_err(|faults| {
        let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
        refuse(faults.join("; "), "mend the links of the segment")
    })
}

fn protection(link: LinkParameters) -> LinkProtection {
    let added = link.protection();
    LinkProtection {
        bytes: u32::try_from(added.added_bytes).unwrap_or(u32::MAX),
        base: added.base,
        per_byte: added.per_byte,
    }
}

pub(super) fn link_between(view: Ethernet<'_>, network: &Network, ends: [NodeId; 2]) -> Option<usize> {
    let [from, to] = ends.map(|node| network.node(&view.plan.node_name(node)));
    network.link(from?, to?)
}

/// The traffic class of a stream's frames at a port.
fn class_at(port: Option<&PortConfig>, priority: u8) -> u8 {
    port.map_or(OWN_CLASSES, |port| port.class_of)[usize::from(priority & 7)]
}

/// A stream of the class, if nothing about it is left to chance.
fn taken(
    view: Ethernet<'_>,
    class: u8,
    stream: &EthernetStream<'_>,
    network: &Network,
    written: Written,
) -> Result<GatedStream, Refusal> {
    let plan = stream.stream;
    let own = |what: &str, help: &str| Err(refuse(format!("stream `{}` {what}", plan.name), help));
    if plan.hops.len() != 1 || plan.sent_by.is_some() {
        return own("comes from another segment or goes on to one", "schedule streams that stay on one segment");
    }
    if stream.class.virtual_link().is_some() {
        return own("is a virtual link, which its sender spaces by its gap", "give it a `class` with a VLAN tag");
    }
    if stream.datagram.is_some() {
        return own(
            "has messages of several frames, and a window is made for one",
            "write a `length` that a frame has room for, or several streams with a piece each (`count`)",
        );
    }
    if plan.application.is_some() || plan.min_distance.is_some() {
        return own("is sent when its application has something", "give it a `period` alone");
    }
    if !matches!(stream.copies, Copies::One(_)) {
        return own("is sent in copies over several ways", "leave `replication` out, or write a stream for each way");
    }
    let mut route = Vec::new();
    let priority = stream.class.queue().unwrap_or_default();
    let mut take = |end: PortEnd, ends: [NodeId; 2]| {
        let port = view.segment.ports.of(end);
        let [from, to] = ends.map(|node| view.plan.node_name(node));
        let place = format!("the port of `{from}` to `{to}`");
        if class_at(port, priority) != class {
            let message = format!("{place} puts stream `{}` into another class than {class}", plan.name);
            return Err(refuse(message, "write the same `priorities` for all ports on its way"));
        }
        let config = port.map(|port| port.classes[usize::from(class)]);
        if config.is_some_and(|config| config.is_preemptable || !matches!(config.selection, Selection::Strict)) {
            let message = format!("{place} shapes or interrupts class {class}, which stream `{}` is in", plan.name);
            return Err(refuse(message, "leave `shaper` and `preemptable` out for the class that has gates"));
        }
        if written == Written::Nothing && port.is_some_and(|port| port.gates.is_some()) {
            let message = format!("{place} has gates already, and stream `{}` goes over it", plan.name);
            let help = "leave its `gates` out of the scenario, since they are what is made here; `schedule add` puts a stream \
                        into a schedule that is there";
            return Err(refuse(message, help));
        }
        route.push(link_between(view, network, ends).expect("every way goes over links of the segment"));
        Ok(())
    };
    let first = switch(view, view.segment.link_of(stream.hop.from).switch);
    take(PortEnd::Station(stream.hop.from), [stream.hop.from, first])?;
    for hop in view.route(stream).expect("a scenario is refused unless each stream has one way") {
        let here = switch(view, hop.switch);
        for &node in &hop.to {
            take(PortEnd::ToStation(node), [here, node])?;
        }
        for &trunk in &hop.onward {
            let next = view.segment.wiring.trunks[trunk].from(hop.switch);
            take(PortEnd::Between(hop.switch, next), [here, switch(view, next)])?;
        }
    }
    let node = |node: &NodeId| network.node(&view.plan.node_name(*node)).expect("it is a node of the segment");
    let seal = processor_time(view, stream, stream.hop.from);
    let open = stream.hop.to.iter().map(|node| processor_time(view, stream, *node)).max().unwrap_or_default();
    let deadlines = plan.deadlines.iter().map(|(_, deadline)| *deadline).chain(plan.deadline);
    let stream = Stream {
        name: plan.name.clone(),
        from: node(&stream.hop.from),
        to: stream.hop.to.iter().map(node).collect(),
        len: stream.hop.frame_len,
        period: plan.period,
        deadline: deadlines.min().unwrap_or(plan.period),
        jitter: Duration::ZERO,
        // That of the plan may be one of the seed's. A frame is due when its sealing begins, and leaves behind it.
        offset: plan
            .offset
            .filter(|_| plan.has_offset && written == Written::Schedule)
            .map(|offset| (offset + seal).rem_floor(plan.period)),
        route: Some(route),
        security: Security {
            bytes: view.secured_len(stream).saturating_sub(stream.hop.frame_len),
            seal,
            open,
            per_hop: Duration::ZERO,
        },
    };
    Ok(GatedStream { stream, seal })
}

/// What a node's processor does for a frame of a stream: sealing it, or opening it and taking it on.
fn processor_time(view: Ethernet<'_>, stream: &EthernetStream<'_>, node: NodeId) -> Duration {
    let jobs = Jobs::new(view.plan, BOUNDS);
    if stream.hop.from == node {
        jobs.sealing(stream.id, stream.hop)
    } else if stream.hop.to.contains(&node) {
        jobs.on_arrival(stream.id, stream.hop, node)
    } else {
        Duration::ZERO
    }
}

/// Whether nothing but the class asks for the processor of a talker or listener, and its clock is exact.
fn is_free(view: Ethernet<'_>, node: NodeId, gated: &GatedNetwork) -> Result<(), Refusal> {
    let station = &view.plan.nodes[node.index()];
    let own = |what: String, help: &str| Err(refuse(format!("node `{}` {what}", station.name), help));
    let clock = station.clock;
    if clock.offset != Duration::ZERO || clock.drift.0 != 0 || clock.drift_max.0 != 0 {
        return own(
            "has a clock of its own, by which its frames would miss their gates".into(),
            "write `clock = \"ideal\"`",
        );
    }
    if station.driver.max > Duration::ZERO || station.host_interface.is_some() {
        return own(
            "has a driver or a host interface that frames wait for".into(),
            "leave `driver` and `host_interface` out: a schedule is to the picosecond",
        );
    }
    if station.gateway.is_some() {
        return own("is a gateway, whose processor has other work".into(), "let streams begin and end at plain nodes");
    }
    if let Some(task) = station.tasks.first() {
        let what = format!("runs the task `{}`, which can keep its processor from sealing a frame in time", task.name);
        return own(what, "leave the task out, or let the stream begin at another node");
    }
    let is_scheduled = |name: &String| gated.streams.iter().any(|one| one.stream.name == *name);
    let other = view
        .streams()
        .filter(|stream| !is_scheduled(&stream.stream.name))
        .find(|stream| processor_time(view, stream, node) > Duration::ZERO);
    if let Some(stream) = other {
        let what = format!(
            "also seals or checks stream `{}`, which is not scheduled and can keep its processor from a frame that is",
            stream.stream.name
        );
        return own(what, "put that stream into the scheduled class too, or leave it unprotected");
    }
    Ok(())
}

pub(super) fn refuse(message: String, help: &str) -> Refusal {
    Refusal::new("the scenario", None, message, help)
}
