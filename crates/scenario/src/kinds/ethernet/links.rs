//! What is written of the switches and links of a segment, checked.

use chronoseal_core::{Duration, NodeId};
use chronoseal_media::port::PortConfig;
use chronoseal_plan::{EthernetSegment, LinkParameters, PortEnd, Ports, StationLink, Trunk, Wiring};

use super::macsec;
use super::ports;
use super::spec::{EthernetSegmentSpec, LinkSpec};
use crate::kinds::{Context, Place, SegmentRequest};
use crate::limits::*;
use crate::problem::Code;
use crate::shape::shortened;

/// The names of the switches.
pub(super) fn switches(
    request: &SegmentRequest<'_>,
    spec: &EthernetSegmentSpec,
    context: &mut Context<'_>,
) -> Vec<String> {
    let switches = spec.switches.as_deref().unwrap_or_default();
    for (i, name) in switches.iter().enumerate() {
        let at = request.table.at("switches").entry(i);
        context.identifier(name, &at, "the switch's name");
        if request.nodes.iter().any(|node| node.name == *name) || switches[..i].contains(name) {
            context.report(
                Code::DuplicateName,
                &at,
                format!("`{name}` is also the name of a node or of another switch"),
                "taken",
                "give the switch another name",
            );
        }
    }
    match switches {
        [] if request.is_only_one => vec!["switch".into()],
        [] => vec![format!("switch-{}", request.name)],
        names => names.to_vec(),
    }
}

/// One end of a link.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Switch(u16),
    Node(NodeId),
}

/// What the links of a segment join, with where each of them stands.
struct Found<'a, 'r> {
    request: &'a SegmentRequest<'r>,
    switches: &'a [String],
    /// By switch: true if it is of network B.
    of_b: &'a [bool],
    stations: Vec<(StationLink, usize)>,
    /// Those to network B.
    second: Vec<(StationLink, usize)>,
    trunks: Vec<(Trunk, usize)>,
    /// A link could not be read, so that what is missing may be what it was meant to join.
    is_incomplete: bool,
}

/// The links; `segment` says what those have that say nothing.
pub(super) fn wiring(
    request: &SegmentRequest<'_>,
    spec: &EthernetSegmentSpec,
    switches: &[String],
    segment: &EthernetSegment,
    context: &mut Context<'_>,
) -> Wiring {
    let mut found = Found::new(request, switches, &segment.wiring.switches_of_b);
    for (i, link) in spec.links.iter().enumerate() {
        found.add(i, link, segment, context);
    }
    let Found { mut stations, mut second, mut trunks, is_incomplete, .. } = found;
    for links in [&mut stations, &mut second] {
        links.sort_by_key(|(link, _)| link.node);
    }
    trunks.sort_by_key(|(trunk, _)| trunk.ends);
    let mut wiring = Wiring {
        switches: switches.len() as u16,
        stations: stations.into_iter().map(|(link, _)| link).collect(),
        trunks: trunks.into_iter().map(|(trunk, _)| trunk).collect(),
        switches_of_b: segment.wiring.switches_of_b.clone(),
        second: second.into_iter().map(|(link, _)| link).collect(),
    };
    if switches.len() > 1 && !is_incomplete {
        all_linked(request, switches, &wiring, context);
    } else if switches.len() == 1 {
        let default = segment.default_link();
        wiring.stations.retain(|link| link.parameters != default);
    }
    wiring
}

/// What the ports do; the links of `segment` are known.
pub(super) fn ports(
    request: &SegmentRequest<'_>,
    spec: &EthernetSegmentSpec,
    switches: &[String],
    segment: &EthernetSegment,
    context: &mut Context<'_>,
) -> Ports {
    let wiring = &segment.wiring;
    let default = segment.default_link().rate;
    let own = wiring.stations.iter().map(|link| link.parameters.rate);
    let all_own = wiring.switches > 1;
    let rates = own.chain((!all_own).then_some(default));
    let slowest_station = rates.min().unwrap_or(default);
    let slowest =
        wiring.trunks.iter().map(|trunk| trunk.parameters.rate).chain([slowest_station]).min().unwrap_or(default);
    let bridges = spec.bridge_ports.as_ref().map(|port| {
        let at = request.table.at("bridge_ports");
        ports::port(&at, port, slowest, segment, context)
    });
    // A table that says nothing is as good as none.
    let is_other = |port: &PortConfig| *port != PortConfig::default();
    let stations = match (&spec.station_ports, &bridges) {
        (Some(port), _) => {
            Some(ports::port(&request.table.at("station_ports"), port, slowest_station, segment, context))
        }
        (None, Some(bridges)) => Some(PortConfig { class_of: bridges.class_of, ..PortConfig::default() }),
        (None, None) => None,
    };
    let mut found = Ports { bridges: bridges.filter(is_other), stations: stations.filter(is_other), own: Vec::new() };
    let names = Found::new(request, switches, &wiring.switches_of_b);
    for (i, link) in spec.links.iter().enumerate() {
        let place = request.table.at("links").entry(i);
        let rate = link.rate.map_or(default, |rate| rate.0.clamp(RATE_MIN, RATE_MAX));
        for (name, port) in &link.ports {
            let at = place.clone().key("ports").key(name);
            let known: Vec<&str> = link.between.iter().map(String::as_str).collect();
            let Some(end) = context.find(name, &known, &at, "end of this link", "its ends") else { continue };
            let port = ports::port(&at, port, rate, segment, context);
            let ends = [end, 1 - end.min(1)].map(|end| link.between.get(end).and_then(|name| names.known(name)));
            found.own.extend(match ends {
                [Some(End::Node(node)), _] => Some((PortEnd::Station(node), port)),
                [Some(End::Switch(_)), Some(End::Node(node))] => Some((PortEnd::ToStation(node), port)),
                [Some(End::Switch(one)), Some(End::Switch(other))] => Some((PortEnd::Between(one, other), port)),
                // What a link joins is a problem of its own.
                _ => None,
            });
        }
    }
    let Ports { bridges, stations, own } = &mut found;
    own.retain(|(end, port)| {
        let common = match end {
            PortEnd::Station(_) => stations.as_ref(),
            PortEnd::ToStation(_) | PortEnd::Between(..) => bridges.as_ref(),
        };
        common.map_or_else(|| is_other(port), |common| port != common)
    });
    found
}

/// Whether every node has a link, and every switch is joined with the others.
fn all_linked(request: &SegmentRequest<'_>, switches: &[String], wiring: &Wiring, context: &mut Context<'_>) {
    for (number, node) in request.nodes_on_it() {
        let id = NodeId(number as u16);
        let missing = match (wiring.own_link(id), wiring.switch_in_b(id)) {
            (None, _) if !wiring.has_networks() => Some((None, 0)),
            (None, _) => Some((Some("A"), 0)),
            (_, None) if wiring.has_networks() => {
                let first = wiring.switches_of_b.iter().position(|is_of_b| *is_of_b);
                Some((Some("B"), first.unwrap_or_default()))
            }
            _ => None,
        };
        let Some((network, first)) = missing else { continue };
        let (name, on) = (shortened(&node.name), request.name);
        let message = match network {
            None => format!(
                "`{on}` has {} switches, and none of its links says which of them `{name}` is at",
                switches.len()
            ),
            Some(network) => {
                format!("`{name}` has no link to network {network} of `{on}`, and a node there has one to each")
            }
        };
        context.report(
            Code::BadLink,
            &Place::new("nodes").entry(number).key("name"),
            message,
            "at no switch",
            format!(
                "add to `links`: `{{ between = [\"{}\", \"{}\"] }}`, or another switch",
                node.name, switches[first]
            ),
        );
    }
    for switch in wiring.apart() {
        let name = &switches[usize::from(switch)];
        let first = (0..wiring.switches).find(|first| wiring.is_of_b(*first) == wiring.is_of_b(switch));
        let first = &switches[usize::from(first.unwrap_or_default())];
        context.report(
            Code::BadLink,
            &request.table.at("switches").entry(usize::from(switch)),
            format!("no links lead from `{}` to `{}`", shortened(first), shortened(name)),
            "stands apart",
            format!("add a link, such as `{{ between = [\"{first}\", \"{name}\"] }}`, or leave the switch out"),
        );
    }
}

impl<'a, 'r> Found<'a, 'r> {
    fn new(request: &'a SegmentRequest<'r>, switches: &'a [String], of_b: &'a [bool]) -> Self {
        let (stations, second, trunks) = (Vec::new(), Vec::new(), Vec::new());
        Self { request, switches, of_b, stations, second, trunks, is_incomplete: false }
    }

    fn is_of_b(&self, switch: u16) -> bool {
        self.of_b.get(usize::from(switch)).copied().unwrap_or(false)
    }

    fn add(&mut self, i: usize, link: &LinkSpec, segment: &EthernetSegment, context: &mut Context<'_>) {
        let place = self.request.table.at("links").entry(i);
        let default = segment.default_link();
        let rate = link.rate.map_or(default.rate, |rate| {
            context.within(&place.clone().key("rate"), "the rate", rate.0, RATE_MIN, RATE_MAX)
        });
        let propagation_delay = link.propagation_delay.map_or(default.propagation_delay, |delay| {
            let at = place.clone().key("propagation_delay");
            context.within(&at, "the propagation delay", delay.0, Duration::ZERO, DELAY_MAX)
        });
        let macsec = macsec::of_link(&place, link.macsec, segment, context);
        let parameters = LinkParameters { rate, propagation_delay, macsec };
        let [one, other] = [0, 1].map(|end| self.end(i, end, link, context));
        let before = self.count();
        if let (Some(one), Some(other)) = (one, other) {
            self.join([one, other], i, link, parameters, context);
        }
        self.is_incomplete |= self.count() == before;
    }

    fn count(&self) -> usize {
        self.stations.len() + self.second.len() + self.trunks.len()
    }

    fn join(
        &mut self,
        ends: [End; 2],
        i: usize,
        link: &LinkSpec,
        parameters: LinkParameters,
        context: &mut Context<'_>,
    ) {
        let place = self.request.table.at("links").entry(i);
        match (ends[0], ends[1]) {
            (End::Node(_), End::Node(_)) => context.report(
                Code::BadLink,
                &place.key("between"),
                format!("`{}` and `{}` are both nodes", shortened(&link.between[0]), shortened(&link.between[1])),
                "joins no switch",
                "a link leads from a switch to a node or to another switch: write a link for each of them",
            ),
            (End::Switch(one), End::Switch(other)) if one == other => context.report(
                Code::BadLink,
                &place.key("between"),
                format!("the link leads from `{}` to itself", shortened(&link.between[0])),
                "a loop",
                "name another switch or a node as its other end",
            ),
            (End::Switch(one), End::Switch(other)) if self.is_of_b(one) != self.is_of_b(other) => context.report(
                Code::BadNetworks,
                &place.key("between"),
                format!(
                    "`{}` and `{}` are in different networks, which nothing joins but the nodes",
                    shortened(&link.between[0]),
                    shortened(&link.between[1])
                ),
                "joins A and B",
                "leave the link out, or write one of the switches into the network of the other",
            ),
            (End::Switch(one), End::Switch(other)) => {
                let ends = [one.min(other), one.max(other)];
                match self.trunks.iter().find(|(trunk, _)| trunk.ends == ends) {
                    Some((_, earlier)) => self.again([i, *earlier], link, context),
                    None => self.trunks.push((Trunk { ends, parameters }, i)),
                }
            }
            (End::Node(node), End::Switch(switch)) | (End::Switch(switch), End::Node(node)) => {
                let of_b = self.is_of_b(switch);
                let own = if of_b { &mut self.second } else { &mut self.stations };
                match own.iter().find(|(other, _)| other.node == node).copied() {
                    Some((known, earlier)) if known.switch == switch => self.again([i, earlier], link, context),
                    Some((known, earlier)) => self.at_two_switches([i, earlier], node, [known.switch, switch], context),
                    None => own.push((StationLink { node, switch, parameters }, i)),
                }
            }
        }
    }

    /// What a name is that of.
    fn known(&self, name: &str) -> Option<End> {
        if let Some(switch) = self.switches.iter().position(|switch| switch == name) {
            return Some(End::Switch(switch as u16));
        }
        let (number, _) = self.request.nodes_on_it().find(|(_, node)| node.name == *name)?;
        Some(End::Node(NodeId(number as u16)))
    }

    /// What a link names at one of its ends.
    fn end(&self, i: usize, end: usize, link: &LinkSpec, context: &mut Context<'_>) -> Option<End> {
        let name = link.between.get(end)?;
        if let Some(end) = self.known(name) {
            return Some(end);
        }
        let at = self.request.table.at("links").entry(i).key("between").entry(end);
        if self.request.nodes.iter().any(|node| node.name == *name) {
            let on = self.request.name;
            context.report(
                Code::BadLink,
                &at,
                format!("node `{}` is not on `{on}`", shortened(name)),
                "is elsewhere",
                format!("write `on = [\"{on}\"]` for the node, or name another one"),
            );
            return None;
        }
        let nodes = self.request.nodes_on_it().map(|(_, node)| node.name.as_str());
        let names: Vec<&str> = self.switches.iter().map(String::as_str).chain(nodes).collect();
        context.find(name, &names, &at, "switch or node", "switches and nodes");
        None
    }

    fn again(&self, [i, earlier]: [usize; 2], link: &LinkSpec, context: &mut Context<'_>) {
        let at = |link| self.request.table.at("links").entry(link).key("between");
        context.report_both(
            Code::BadLink,
            (&at(i), "again here"),
            (&at(earlier), "first here"),
            format!("`{}` and `{}` are joined twice", shortened(&link.between[0]), shortened(&link.between[1])),
            "leave one of the links out",
        );
    }

    fn at_two_switches(
        &self,
        [i, earlier]: [usize; 2],
        node: NodeId,
        [first, second]: [u16; 2],
        context: &mut Context<'_>,
    ) {
        let at = |link| self.request.table.at("links").entry(link).key("between");
        let name = |switch: u16| shortened(&self.switches[usize::from(switch)]);
        let node = shortened(&self.request.nodes[node.index()].name);
        context.report_both(
            Code::BadLink,
            (&at(i), "a second switch"),
            (&at(earlier), "the first one"),
            format!("node `{node}` has links to two switches, `{}` and `{}`", name(first), name(second)),
            "leave one of the links out: a node has one port on a segment, and another segment for another one",
        );
    }
}
