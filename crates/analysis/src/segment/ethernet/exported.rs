//! One class of an Ethernet segment as a network of servers, for analyses other than ours.

use std::collections::BTreeMap;
use std::fmt;

use chronoseal_core::{NodeId, Priority};
use chronoseal_media::schedule::ScheduleTable;
use chronoseal_plan::{Ethernet, Plan, SegmentId};

use super::routed::{Routed, RoutedStream};
use super::wired;
use crate::calculus::{ArrivalCurve, Bucket, Flow, Hop, Network, RateLatency, Rational, Server, ServiceCurve, whole};
use crate::segment::{SegmentBounds, Why, arrivals};

/// A class of frames that wait in one queue of a port.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct QueueClass(u8);

/// What one class of a segment is to an analysis.
#[derive(Clone, Debug)]
pub struct ClassNetwork {
    /// Which class.
    pub class: QueueClass,
    /// A server for each direction of a link that its frames take, with what the classes above leave of it, and a flow for each
    /// stream; times in seconds, data in bits. Servers serve in the order of arrival and hand frames on whole.
    pub network: Network,
}

/// Why there is no such network.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The segment is none of Ethernet.
    #[error("segment `{segment}` is no Ethernet segment; name one that is")]
    NotEthernet {
        /// Its name.
        segment: String,
    },
    /// What its streams do is not known.
    #[error("segment `{segment}` is not bounded, so nothing is known of what its links leave to a class: {why}")]
    NotBounded {
        /// Its name.
        segment: String,
        /// Why not.
        why: String,
    },
    /// No stream is of this class, or it has to be said which.
    #[error("{wanted}; segment `{segment}` has streams of these: {present}. Name one of them")]
    Class {
        /// What was asked for.
        wanted: String,
        /// The segment.
        segment: String,
        /// Its classes.
        present: String,
    },
    /// Frames are kept back, for which an output-port network has no place.
    #[error("{class} is shaped asynchronously, for which an output-port network has no place; choose another class")]
    Shaped {
        /// Which class.
        class: QueueClass,
    },
    /// Nothing bounds what a stream sends.
    #[error("nothing bounds what stream `{stream}` brings to its first link: {why}")]
    Stream {
        /// Its name.
        stream: String,
        /// Why not.
        why: String,
    },
}

impl QueueClass {
    /// From `0` to `7`, `virtual-links` or `virtual-links-high`.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "virtual-links" => Some(Self(Priority::RATE_CONSTRAINED_LOW.0)),
            "virtual-links-high" => Some(Self(Priority::RATE_CONSTRAINED_HIGH.0)),
            _ => name.parse().ok().filter(|class| *class < 8).map(Self),
        }
    }
}

impl fmt::Display for QueueClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match Priority(self.0) {
            Priority::RATE_CONSTRAINED_LOW => f.write_str("virtual-links"),
            Priority::RATE_CONSTRAINED_HIGH => f.write_str("virtual-links-high"),
            Priority(class) => write!(f, "{class}"),
        }
    }
}

/// The segments of which there can be such a network.
pub fn with_classes(plan: &Plan) -> Vec<SegmentId> {
    plan.segment_ids().filter(|segment| Ethernet::of(plan, *segment).is_some()).collect()
}

/// The links of an Ethernet segment with what is sent over them, streams and what keeps clocks together, as bounds count it.
///
/// # Errors
/// [`ExportError::NotEthernet`] or [`ExportError::NotBounded`].
pub fn links(
    plan: &Plan,
    tables: &[Option<ScheduleTable>],
    rows: &[&dyn SegmentBounds],
    segment: SegmentId,
) -> Result<Routed, ExportError> {
    let name = || plan.segments[segment.index()].name.clone();
    let view = Ethernet::of(plan, segment).ok_or_else(|| ExportError::NotEthernet { segment: name() })?;
    let not_bounded = |why: Why| ExportError::NotBounded { segment: name(), why: why.text(plan) };
    let table = tables.get(segment.index()).and_then(Option::as_ref).ok_or(not_bounded(Why::NoSchedule))?;
    let arrivals = arrivals(plan, tables, rows).ok_or(not_bounded(Why::NoEndInSight))?;
    if let Some(why) = super::unbounded_clocks(view, Some(table), &arrivals) {
        return Err(not_bounded(why));
    }
    wired::routed(view, table, &arrivals).map_err(not_bounded)
}

/// The network of one class of an Ethernet segment; of its only class if none is named.
///
/// Delays count from the first queue until the last bit is over the last link with the gap behind it; propagation and the least
/// that switches take are left out, as constants that any analysis adds.
///
/// # Errors
/// [`ExportError`] with what has no place in such a network.
pub fn class_network(
    plan: &Plan,
    tables: &[Option<ScheduleTable>],
    rows: &[&dyn SegmentBounds],
    segment: SegmentId,
    class: Option<QueueClass>,
) -> Result<ClassNetwork, ExportError> {
    let name = || plan.segments[segment.index()].name.clone();
    let routed = links(plan, tables, rows, segment)?;
    let of_plan = |sent: &&RoutedStream| sent.stream.is_some();
    let mut present: Vec<QueueClass> =
        routed.streams.iter().filter(of_plan).map(|sent| QueueClass(sent.priority)).collect();
    present.sort_unstable();
    present.dedup();
    let class = match (class, present.as_slice()) {
        (Some(class), present) if present.contains(&class) => class,
        (None, [only]) => *only,
        (wanted, _) => {
            let present: Vec<String> = present.iter().map(ToString::to_string).collect();
            let present = if present.is_empty() { "none".to_owned() } else { present.join(", ") };
            let wanted = wanted.map_or_else(
                || "one class is written at a time, and it has to be said which".to_owned(),
                |class| format!("no stream is of class {class}"),
            );
            return Err(ExportError::Class { wanted, segment: name(), present });
        }
    };
    if routed.is_shaped(class.0) {
        return Err(ExportError::Shaped { class });
    }
    let mut own = routed.streams.iter().filter(|sent| sent.priority == class.0);
    if let Some((sent, why)) = own.find_map(|sent| Some((sent, sent.at.err()?))) {
        return Err(ExportError::Stream { stream: sent.name.clone(), why: why.text(plan) });
    }
    let not_reached = || ExportError::NotBounded { segment: name(), why: Why::NotReached.text(plan) };
    let network = routed.network_of(class.0).ok_or_else(not_reached)?;
    Ok(ClassNetwork { class, network: named(&|node| plan.node_name(node), &routed, &network) })
}

/// The servers that flows pass, by the names of their links' ends, in seconds and bits.
pub(super) fn named(node_name: &dyn Fn(NodeId) -> String, routed: &Routed, network: &Network) -> Network {
    let mut used: Vec<usize> = network.flows().iter().flat_map(|flow| flow.hops.iter().map(|hop| hop.server)).collect();
    used.sort_unstable();
    used.dedup();
    let mut again: BTreeMap<String, u32> = BTreeMap::new();
    let server = |link: &usize| {
        let (ends, server) = (&routed.links[*link], &network.servers()[*link]);
        let name = format!("{}->{}", node_name(ends.from), node_name(ends.to));
        let count = again.entry(name.clone()).or_default();
        *count += 1;
        let name = if *count > 1 { format!("{name}#{count}") } else { name };
        let pieces = server.service.pieces().iter();
        let pieces = pieces.map(|piece| RateLatency { rate: rate(&piece.rate), latency: seconds(&piece.latency) });
        Server {
            name,
            service: ServiceCurve::most_of(pieces).expect("a curve stays one in other units"),
            link_rate: server.link_rate.as_ref().map(rate),
            constant: seconds(&server.constant),
            varying: seconds(&server.varying),
            ..server.clone()
        }
    };
    let servers = used.iter().map(server).collect();
    let flow = |flow: &Flow| {
        let pieces = flow.arrival.pieces().iter();
        let pieces = pieces.map(|piece| Bucket { rate: rate(&piece.rate), burst: bits(&piece.burst) });
        let place = |hop: &Hop| used.binary_search(&hop.server).expect("it is one of those that flows pass");
        Flow {
            name: flow.name.clone(),
            arrival: ArrivalCurve::least_of(pieces).expect("a curve stays one in other units"),
            longest_frame: bits(&flow.longest_frame),
            hops: flow.hops.iter().map(|hop| Hop { server: place(hop), after: hop.after }).collect(),
        }
    };
    let flows = network.flows().iter().map(flow).collect();
    Network::new(servers, flows).expect("the same flows pass the same servers")
}

fn seconds(ps: &Rational) -> Rational {
    ps / whole(1_000_000_000_000)
}

fn bits(bytes: &Rational) -> Rational {
    bytes * whole(8)
}

fn rate(bytes_a_ps: &Rational) -> Rational {
    bytes_a_ps * whole(8_000_000_000_000)
}
