//! Bounds of streams over every segment they travel on, whatever kinds these are.
//!
//! A kind of segment is one row of [`BOUNDS`]: it bounds the hops on one segment, and needs to know of others only how
//! late frames can come from them ([`Arrivals`]). [`end_to_end`] puts the hops of each stream together.
//!
//! # Composition
//! With `a` the earliest and `a + J` the latest instant at which a node can have a frame, a hop says how long after `a + J`
//! its last bit can arrive ([`HopBound::latency`]) and how soon after `a` ([`HopBound::latency_min`]). So latencies add up
//! along the way, and the jitter of the next arrival is `J + latency - latency_min`.
//!
//! Bounds of one segment depend on the jitter that others hand over, so all are computed again until nothing changes,
//! from no jitter upwards: Tindell, Clark, "Holistic schedulability analysis for distributed hard real-time systems",
//! Microprocessing and Microprogramming 40 (1994) 117-134. Every clock counts as equally fast there, and the node between
//! two segments takes no time beyond its driver's.

mod can;
mod ethernet;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use chronoseal_core::{Duration, NodeId, StreamId};
use chronoseal_media::schedule::ScheduleTable;
use chronoseal_scenario::plan::{Plan, SegmentId};

use crate::bounds::Latency;
use crate::can::NoBound;

pub use can::CanBounds;
pub use ethernet::EthernetBounds;

/// The bounds of one kind of segment.
pub trait SegmentBounds: Sync {
    /// The kind's name, as in a plan.
    fn kind(&self) -> &'static str;

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

/// Every kind whose hops can be bounded.
pub const BOUNDS: &[&dyn SegmentBounds] = &[&EthernetBounds, &CanBounds];

/// What one hop of a stream takes to one receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HopBound {
    /// Which stream.
    pub stream: StreamId,
    /// Who takes it from this segment.
    pub receiver: NodeId,
    /// From the latest instant at which the hop's sender can have the frame to its last bit here, at most.
    pub latency: Result<Duration, Why>,
    /// Between the earliest and the latest instant at which the receiver can have it: release jitter of a hop that begins
    /// there. Zero without a bound.
    pub next_jitter: Duration,
    /// From the earliest instant at which the hop's sender can have the frame to its last bit here, at least.
    pub latency_min: Duration,
}

impl HopBound {
    fn new(stream: StreamId, receiver: NodeId, arrival: Arrival, latency: Result<Latency, Why>) -> Self {
        match (arrival.jitter(), latency) {
            (Some(jitter), Ok(Latency { min, max })) => {
                Self { stream, receiver, latency: Ok(max), next_jitter: jitter + max - min, latency_min: min }
            }
            (None, Ok(_)) => Self::none(stream, receiver, Why::EarlierHop),
            (_, Err(why)) => Self::none(stream, receiver, why),
        }
    }

    fn none(stream: StreamId, receiver: NodeId, why: Why) -> Self {
        Self { stream, receiver, latency: Err(why), next_jitter: Duration::ZERO, latency_min: Duration::ZERO }
    }
}

/// Why there is no bound.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Why {
    /// No row of the table is for this kind of segment.
    #[error("there is no analysis of a segment of kind `{0}`")]
    UnknownKind(&'static str),
    /// The segment needs a schedule table and has none.
    #[error("its segment has no schedule")]
    NoSchedule,
    /// It has no place in the schedule table.
    #[error("{0}")]
    NotScheduled(&'static str),
    /// Arbitration lets it wait without end, or cannot tell messages apart.
    #[error(transparent)]
    Arbitration(#[from] NoBound),
    /// A recording is traffic that others meet, and has no period of its own.
    #[error("a replayed recording has no period of its own")]
    Recording,
    /// The gateway that a segment of several buses has inside is not analysed.
    #[error("its segment has several buses, and the way from one to another is not analysed")]
    SeveralBuses,
    /// A controller that sends its oldest frame first lets urgent ones wait behind others.
    #[error("controllers of its segment send their oldest frame first, which is not analysed")]
    OldestFirst,
    /// An earlier hop of the stream has no bound.
    #[error("nothing bounds when an earlier segment hands it over")]
    EarlierHop,
    /// No earlier hop brings the stream to the node.
    #[error("no hop brings it there")]
    NotReached,
    /// Segments that hand over to one another make each other's jitter grow.
    #[error("the segments it travels on make one another later without end")]
    NoEndInSight,
}

/// When the node that sends a hop can have the frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arrival {
    /// The stream begins here, when it is due.
    Begins,
    /// An earlier hop brings it.
    Forwarded {
        /// Between the earliest and the latest instant.
        jitter: Duration,
    },
    /// An earlier hop brings it, and nothing bounds when.
    Unbounded,
}

impl Arrival {
    /// Between the earliest and the latest instant, if that is bounded.
    pub const fn jitter(self) -> Option<Duration> {
        match self {
            Self::Begins => Some(Duration::ZERO),
            Self::Forwarded { jitter } => Some(jitter),
            Self::Unbounded => None,
        }
    }
}

/// When streams can come to the nodes that send them on a segment.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Arrivals(BTreeMap<(StreamId, SegmentId), Arrival>);

impl Arrivals {
    /// How a stream comes to the node that sends it on `segment`.
    pub fn at(&self, stream: StreamId, segment: SegmentId) -> Arrival {
        self.0.get(&(stream, segment)).copied().unwrap_or(Arrival::Begins)
    }

    /// Every hop that does not begin at its stream's sender, without jitter.
    fn without_jitter(plan: &Plan) -> Self {
        let forwarded = plan.streams.iter().enumerate().flat_map(|(index, stream)| {
            let later = stream.hops.iter().filter(|hop| hop.from != stream.sender);
            later.map(move |hop| ((StreamId(index as u16), hop.segment), Arrival::Forwarded { jitter: Duration::ZERO }))
        });
        Self(forwarded.collect())
    }
}

/// What a stream takes to each of its receivers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StreamBounds {
    /// Which stream.
    pub stream: StreamId,
    /// One for each receiver, in the order of the plan.
    pub ends: Vec<EndBound>,
}

/// What a stream takes to one of its receivers, over all hops.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EndBound {
    /// Which receiver.
    pub receiver: NodeId,
    /// From the instant at which the frame is due, or its slot's start, to the last bit at the receiver, at most.
    pub latency: Result<Duration, Why>,
    /// The same at least; zero without a bound.
    pub latency_min: Duration,
}

/// Rounds over all segments before jitter counts as growing without end.
const ROUNDS_MAX: u32 = 100;

/// The bounds of every stream from its sender to its receivers, hop by hop.
///
/// `tables[i]` is the schedule table of segment `i`; one that is missing is none. `bounds` is [`BOUNDS`], or what else
/// bounds the plan's kinds of segments.
pub fn end_to_end(plan: &Plan, tables: &[Option<ScheduleTable>], bounds: &[&dyn SegmentBounds]) -> Vec<StreamBounds> {
    let mut arrivals = Arrivals::without_jitter(plan);
    for _ in 0..ROUNDS_MAX {
        let (streams, found) = walk(plan, &all_hops(plan, tables, bounds, &arrivals));
        if found == arrivals {
            return streams;
        }
        arrivals = found;
    }
    let end = |receiver: &NodeId| EndBound {
        receiver: *receiver,
        latency: Err(Why::NoEndInSight),
        latency_min: Duration::ZERO,
    };
    (plan.streams.iter().enumerate())
        .map(|(index, stream)| StreamBounds {
            stream: StreamId(index as u16),
            ends: stream.receivers.iter().map(end).collect(),
        })
        .collect()
}

type Hops = BTreeMap<(StreamId, SegmentId), Vec<HopBound>>;

fn all_hops(plan: &Plan, tables: &[Option<ScheduleTable>], bounds: &[&dyn SegmentBounds], arrivals: &Arrivals) -> Hops {
    let mut hops = Hops::new();
    for id in plan.segment_ids() {
        let kind = plan.segments[id.index()].kind;
        let table = tables.get(id.index()).and_then(Option::as_ref);
        let found = match bounds.iter().find(|row| row.kind() == kind) {
            Some(row) => row.bounds(plan, id, table, arrivals),
            None => without_bound(plan, id, Why::UnknownKind(kind)),
        };
        for hop in found {
            hops.entry((hop.stream, id)).or_default().push(hop);
        }
    }
    hops
}

/// Every hop of a segment, none with a bound.
fn without_bound(plan: &Plan, segment: SegmentId, why: Why) -> Vec<HopBound> {
    let hops = plan.on_segment(segment);
    hops.flat_map(|(id, _, hop)| hop.to.iter().map(move |node| HopBound::none(id, *node, why))).collect()
}

/// Adds up the hops of each stream. Also how streams arrive where hops begin, by these very bounds.
fn walk(plan: &Plan, hops: &Hops) -> (Vec<StreamBounds>, Arrivals) {
    let mut arrivals = Arrivals::default();
    let mut streams = Vec::new();
    for (index, stream) in plan.streams.iter().enumerate() {
        let id = StreamId(index as u16);
        let begin = HopBound {
            stream: id,
            receiver: stream.sender,
            latency: Ok(Duration::ZERO),
            next_jitter: Duration::ZERO,
            latency_min: Duration::ZERO,
        };
        let mut reached = BTreeMap::from([(stream.sender, begin)]);
        let at = |reached: &BTreeMap<NodeId, HopBound>, node: NodeId| {
            reached.get(&node).copied().unwrap_or(HopBound::none(id, node, Why::NotReached))
        };
        for hop in &stream.hops {
            let before = at(&reached, hop.from);
            if hop.from != stream.sender {
                let arrival = match before.latency {
                    Ok(_) => Arrival::Forwarded { jitter: before.next_jitter },
                    Err(_) => Arrival::Unbounded,
                };
                arrivals.0.insert((id, hop.segment), arrival);
            }
            for bound in hops.get(&(id, hop.segment)).into_iter().flatten() {
                let latency = before.latency.and_then(|latency| bound.latency.map(|own| latency + own));
                let latency_min = before.latency_min + bound.latency_min;
                // The first way to a node counts, if there are several.
                reached.entry(bound.receiver).or_insert(HopBound { latency, latency_min, ..*bound });
            }
        }
        let end = |receiver: &NodeId| {
            let HopBound { latency, latency_min, .. } = at(&reached, *receiver);
            let latency_min = if latency.is_ok() { latency_min } else { Duration::ZERO };
            EndBound { receiver: *receiver, latency, latency_min }
        };
        streams.push(StreamBounds { stream: id, ends: stream.receivers.iter().map(end).collect() });
    }
    (streams, arrivals)
}
