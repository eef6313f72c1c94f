//! The networks A and B of a segment (ARINC 664 part 7), and which of them a stream goes over.
//!
//! # How late a copy of a frame in a slot may come
//! Both copies of a frame in a slot start with the slot, and are at their receivers before the period of the slot is over, or soon
//! after it with slots that all stations share. So the period is what `skew_max` is unless something else is written. A longer time
//! would do no harm either: the frame of the next slot has another number, so that nobody takes it for a copy. The same number
//! comes again only after 255 frames, and no skew may be so long that a receiver would take that frame for a copy
//! ([`GAPS_MAX`]).

use std::collections::BTreeSet;

use chronoseal_core::{Duration, NodeId};
use chronoseal_media::recovery::RecoveryConfig;
use chronoseal_nodes::end_system::Replication;

use super::plan::{EthernetSegment, StreamClass};
pub use super::spec::NetworkName;
use super::spec::{ClassSpec, EthernetSegmentSpec, EthernetStreamSpec};
use super::ways::StreamWay;
use super::wiring::{RouteError, StationLink, SwitchHop, Wiring};
use crate::kinds::{Context, HopRequest, Place, SegmentRequest};
use crate::limits::*;
use crate::problem::Code;
use crate::shape::shortened;

/// How many gaps between frames a largest skew may be long: half as many as there are numbers, which begin anew after 255 frames.
const GAPS_MAX: i64 = 127;

/// How many copies of each frame of a stream are sent, and over what.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Copies {
    /// One, over this network; a segment that names none has only A.
    One(NetworkName),
    /// One over each of the networks A and B.
    BothNetworks {
        /// So much later than the first a copy may come to its receiver; what comes later is a new frame.
        skew_max: Duration,
    },
    /// One over each of these ways of one network, with a redundancy tag (IEEE 802.1CB).
    Ways {
        /// By copy: the switches that it may pass, those of its ends besides; where some recover, those that it passes, in their order.
        ways: Vec<Vec<u16>>,
        /// Switches that pass one copy of each frame on.
        recovering: BTreeSet<u16>,
        /// How receivers tell copies apart.
        recovery: RecoveryConfig,
    },
}

impl Copies {
    /// True if there are several.
    pub const fn are_several(&self) -> bool {
        !matches!(self, Self::One(_))
    }

    /// How many there are.
    pub const fn count(&self) -> usize {
        match self {
            Self::One(_) => 1,
            Self::BothNetworks { .. } => 2,
            Self::Ways { ways, .. } => ways.len(),
        }
    }

    /// The networks that they go over, in the order of their ways; a segment that names none has only A.
    pub const fn networks(&self) -> &'static [NetworkName] {
        match self {
            Self::One(NetworkName::B) => &[NetworkName::B],
            Self::One(NetworkName::A) | Self::Ways { .. } => &[NetworkName::A],
            Self::BothNetworks { .. } => &[NetworkName::A, NetworkName::B],
        }
    }

    /// The first of them.
    pub const fn first_network(&self) -> NetworkName {
        match self {
            Self::One(network) => *network,
            Self::BothNetworks { .. } | Self::Ways { .. } => NetworkName::A,
        }
    }

    /// True for a switch that passes one copy of each frame on.
    pub fn recovers(&self, switch: u16) -> bool {
        matches!(self, Self::Ways { recovering, .. } if recovering.contains(&switch))
    }

    /// True if frames have a redundancy tag.
    pub const fn have_r_tag(&self) -> bool {
        matches!(self, Self::Ways { .. })
    }

    /// How a receiver tells them apart, if there are several.
    pub const fn replication(&self) -> Option<Replication> {
        match self {
            Self::One(_) => None,
            Self::BothNetworks { skew_max } => Some(Replication::Networks { skew_max: *skew_max }),
            Self::Ways { recovery, .. } => Some(Replication::Tagged(*recovery)),
        }
    }

    /// The way of each copy between two nodes; `over` are the switches that a stream may pass which says nothing of its copies.
    ///
    /// # Errors
    /// [`RouteError`] if there is not just one way for each copy.
    pub fn routes(
        &self,
        wiring: &Wiring,
        over: Option<&[u16]>,
        from: NodeId,
        to: &[NodeId],
    ) -> Result<Vec<StreamWay>, RouteError> {
        let way = |network: NetworkName, over: Option<&[u16]>| {
            Ok(StreamWay { network, hops: wiring.route_over(network, over, from, to)? })
        };
        match self {
            Self::One(network) => Ok(vec![way(*network, over)?]),
            Self::BothNetworks { .. } => {
                [NetworkName::A, NetworkName::B].map(|network| way(network, over)).into_iter().collect()
            }
            Self::Ways { ways, recovering, .. } if recovering.is_empty() => {
                ways.iter().map(|over| way(NetworkName::A, Some(over))).collect()
            }
            Self::Ways { ways, .. } => {
                let along = |over: &Vec<u16>| {
                    Ok(StreamWay { network: NetworkName::A, hops: wiring.route_along(over, from, to)? })
                };
                ways.iter().map(along).collect()
            }
        }
    }
}

/// By switch: true if it is one of network B; empty if the segment has no such networks.
pub(super) fn of_switches(
    request: &SegmentRequest<'_>,
    spec: &EthernetSegmentSpec,
    switches: &[String],
    context: &mut Context<'_>,
) -> Vec<bool> {
    let Some(networks) = &spec.networks else { return Vec::new() };
    let place = request.table.at("networks");
    let mut found: Vec<Option<bool>> = vec![None; switches.len()];
    for (is_b, key, names) in [(false, "a", &networks.a), (true, "b", &networks.b)] {
        for (i, name) in names.iter().enumerate() {
            let at = place.clone().key(key).entry(i);
            let known: Vec<&str> = switches.iter().map(String::as_str).collect();
            let Some(switch) = context.find(name, &known, &at, "switch", "switches") else { continue };
            if found[switch].replace(is_b).is_some() {
                context.report(
                    Code::BadNetworks,
                    &at,
                    format!("switch `{}` is named twice in the networks of `{}`", shortened(name), request.name),
                    "again here",
                    "a switch is in one network: leave it out of the other one",
                );
            }
        }
    }
    for (switch, name) in switches.iter().enumerate().filter(|(switch, _)| found[*switch].is_none()) {
        context.report(
            Code::BadNetworks,
            &request.table.at("switches").entry(switch),
            format!("switch `{}` is in none of the networks of `{}`", shortened(name), request.name),
            "in no network",
            "add it to `a` or to `b` of `networks`",
        );
    }
    if found.first() == Some(&Some(true)) {
        context.report(
            Code::BadNetworks,
            &place,
            format!("the first switch, `{}`, sends the sync beacon, and is in network B", shortened(&switches[0])),
            "begins with B",
            "write the switches of network A first, or exchange `a` and `b`",
        );
    }
    if !found.contains(&Some(true)) && found.iter().all(Option::is_some) {
        context.report(
            Code::BadNetworks,
            &place.clone().key("b"),
            format!("network B of `{}` has no switch", request.name),
            "empty",
            "name its switches, or leave `networks` out",
        );
    }
    found.into_iter().map(|network| network.unwrap_or(false)).collect()
}

/// Whether the ports of a segment with networks A and B are such as these can have.
pub(super) fn check(request: &SegmentRequest<'_>, segment: &EthernetSegment, context: &mut Context<'_>) {
    if !segment.wiring.has_networks() {
        return;
    }
    if !segment.ports.is_plain() {
        context.report(
            Code::BadNetworks,
            &request.table.at("networks"),
            format!(
                "`{}` has networks A and B, which are those of ARINC 664 part 7, and ports of IEEE 802.1Q: its virtual links have no \
                 VLAN tag, so no priority code point puts them into a traffic class",
                request.name
            ),
            "with ports",
            "leave `bridge_ports`, `station_ports` and the `ports` of links out, or leave `networks` out",
        );
    }
}

/// True if frames of a stream end with a sequence number: those of virtual links do, and those in slots that go over both networks.
pub(super) fn are_numbered(spec: &EthernetStreamSpec, written: ClassSpec, segment: &EthernetSegment) -> bool {
    match written {
        ClassSpec::RateConstrained(_) => true,
        ClassSpec::TimeTriggered => {
            segment.wiring.has_networks() && spec.networks.as_ref().is_none_or(|chosen| chosen.len() == 2)
        }
        ClassSpec::BestEffort(_) | ClassSpec::Vlan(_) => false,
    }
}

/// Which networks a stream goes over whose messages have so many frames.
pub(super) fn copies(
    request: &HopRequest<'_>,
    (spec, class, written, class_at): (&EthernetStreamSpec, StreamClass, ClassSpec, &Place<'_>),
    (segment, frames): (&EthernetSegment, u32),
    context: &mut Context<'_>,
) -> Copies {
    let name = shortened(&request.stream.spec.name);
    let on = request.segment.name;
    if !segment.wiring.has_networks() {
        if spec.networks.is_some() {
            context.report(
                Code::BadNetworks,
                &request.table.at("networks"),
                format!("`{on}` does not say which of its switches are network A and which are network B"),
                "no such networks",
                "leave `networks` out, or write `networks = { a = […], b = […] }` for the segment",
            );
        }
        skew_without_copies(request, spec, &format!("frames of stream `{name}` are sent once"), context);
        return Copies::One(NetworkName::A);
    }
    // The virtual link's key, or that of the stream; how far apart its frames are, or messages of several in slots; and how many come then.
    let (written, at, gap, in_gap) = match (written, class.virtual_link()) {
        (ClassSpec::RateConstrained(written), Some(link)) => {
            let why = format!("stream `{name}` is a virtual link, which has this key in its class");
            skew_without_copies(request, spec, &why, context);
            (written.skew_max, Some(class_at.clone().key("rate_constrained").key("skew_max")), link.bag, 1)
        }
        _ => {
            let at = class.is_time_triggered().then(|| request.table.at("skew_max"));
            (spec.skew_max, at, request.stream.period, frames)
        }
    };
    let both: &[NetworkName] = &[NetworkName::A, NetworkName::B];
    let chosen = spec.networks.as_deref().unwrap_or(if at.is_some() { both } else { &both[..1] });
    let (Some(at), [_, _]) = (at, chosen) else {
        if chosen.len() != 1 {
            let (message, label) = match chosen.len() {
                0 => (format!("stream `{name}` goes over none of the networks of `{on}`"), "empty"),
                _ => (
                    format!(
                        "frames of stream `{name}` have no sequence numbers, by which a receiver could tell that two of them are \
                         copies"
                    ),
                    "both",
                ),
            };
            context.report(
                Code::BadNetworks,
                &request.table.at("networks"),
                message,
                label,
                "write `networks = [\"a\"]`, or `class = { rate_constrained = {} }`",
            );
        }
        if class.virtual_link().is_none() {
            skew_without_copies(request, spec, &format!("stream `{name}` goes over one network"), context);
        }
        return Copies::One(chosen.first().copied().unwrap_or(NetworkName::A));
    };
    if chosen[0] == chosen[1] {
        context.report(
            Code::BadNetworks,
            &request.table.at("networks").entry(1),
            format!("stream `{name}` names one network twice"),
            "again here",
            "write `networks = [\"a\", \"b\"]`, or one of them",
        );
    }
    let limit = skew_limit(gap, in_gap);
    let skew_max = written.map_or(gap, |skew| context.within(&at, "the largest skew", skew.0, Duration::ZERO, limit));
    Copies::BothNetworks { skew_max }
}

/// The longest that a largest skew may be, if so many frames come in each gap.
pub(super) fn skew_limit(gap: Duration, frames: u32) -> Duration {
    DELAY_MAX.min(gap.saturating_mul((GAPS_MAX / i64::from(frames)).max(1)))
}

/// Refuses a largest skew of the stream itself where it says nothing.
pub(super) fn skew_without_copies(
    request: &HopRequest<'_>,
    spec: &EthernetStreamSpec,
    why: &str,
    context: &mut Context<'_>,
) {
    if spec.skew_max.is_some() {
        context.report(
            Code::BadNetworks,
            &request.table.at("skew_max"),
            format!("{why}, and `skew_max` is for streams in slots that go over both networks"),
            "not used",
            "leave it out; that of a virtual link is written in `rate_constrained`",
        );
    }
}

impl EthernetSegment {
    /// The link of a node to one of the networks; a segment that names none has only A.
    pub fn link_in(&self, network: NetworkName, node: NodeId) -> StationLink {
        let in_b = || self.wiring.second.iter().find(|link| link.node == node).copied();
        match network {
            NetworkName::A => self.link_of(node),
            NetworkName::B => in_b().unwrap_or_else(|| self.link_of(node)),
        }
    }
}

impl Wiring {
    /// True if its switches are of two networks, A and B, to each of which every node has a link.
    pub fn has_networks(&self) -> bool {
        !self.switches_of_b.is_empty()
    }

    /// Its networks: A, and B if there are two.
    pub fn networks(&self) -> &'static [NetworkName] {
        if self.has_networks() { &[NetworkName::A, NetworkName::B] } else { &[NetworkName::A] }
    }

    /// True for a switch of network B.
    pub fn is_of_b(&self, switch: u16) -> bool {
        self.switches_of_b.get(usize::from(switch)).copied().unwrap_or(false)
    }

    /// The wiring as frames in one network meet it: with the links of nodes to that network.
    pub fn of_network(&self, network: NetworkName) -> Self {
        let stations = match network {
            NetworkName::A => self.stations.clone(),
            NetworkName::B => self.second.clone(),
        };
        Self { stations, second: Vec::new(), ..self.clone() }
    }

    /// [`Self::route`] in one network; of the switches in `over` those count that are in it, if any is.
    ///
    /// # Errors
    /// As [`Self::route`].
    pub fn route_over(
        &self,
        network: NetworkName,
        over: Option<&[u16]>,
        from: NodeId,
        to: &[NodeId],
    ) -> Result<Vec<SwitchHop>, RouteError> {
        if !self.has_networks() {
            return self.route(over, from, to);
        }
        let is_here = |switch: &u16| self.is_of_b(*switch) == (network == NetworkName::B);
        let over: Option<Vec<u16>> = over.map(|over| over.iter().copied().filter(is_here).collect());
        self.of_network(network).route(over.filter(|over| !over.is_empty()).as_deref(), from, to)
    }

    /// The switch of a node in network B, if it has one.
    pub fn switch_in_b(&self, node: NodeId) -> Option<u16> {
        self.second.iter().find(|link| link.node == node).map(|link| link.switch)
    }
}
