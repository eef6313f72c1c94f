//! Puts processors and segments together.

use std::collections::BTreeMap;

use chronoseal_core::{Duration, NodeId, StreamId};
use chronoseal_media::schedule::ScheduleTable;
use chronoseal_scenario::plan::{HopPlan, Plan, SegmentId};

use super::processor::{Jobs, Processors, distance};
use super::way::{EndBound, Place, StreamBounds, Walked};
use super::{SegmentBounds, Span, Why, without_bound};

/// Rounds over all segments before jitter counts as growing without end.
const ROUNDS_MAX: u32 = 200;
/// A frame that can be later counts as later without end: nobody waits so long, and jitter that grows has to stop somewhere.
const LATEST_MAX: Duration = Duration::from_s(10);

/// How a stream comes to the driver of the node that sends it on a segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrival {
    /// When the driver can have a frame, counted from the instant at which it is due, or at which a radio received it. Of a
    /// hop in slots: when the frame is there to be sent in the next of them, or
    /// [`Span::DUE`] if the stream begins in them.
    pub at: Result<Span, Why>,
    /// The least distance of two frames at their sender, by true time.
    pub distance: Duration,
    /// The stream begins here.
    pub begins: bool,
}

/// When a frame is there for all that follows. What comes over the air counts from the instant at which it is received, and
/// with its period, as if the air had kept it.
pub(super) fn from_the_air(at: Result<Span, Why>) -> Result<Span, Why> {
    match at {
        Err(Why::Radio) => Ok(Span::DUE),
        at => at,
    }
}

/// When streams can come to the nodes that send them on a segment, and how busy these nodes are.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Arrivals {
    of: BTreeMap<(StreamId, SegmentId), Arrival>,
    /// The longest busy period of each node's processor.
    busy: Vec<Result<Duration, Why>>,
}

impl Arrivals {
    /// How a stream comes to the node that sends it on `segment`.
    pub fn at(&self, stream: StreamId, segment: SegmentId) -> Arrival {
        let none = Arrival { at: Err(Why::NotReached), distance: Duration::ZERO, begins: false };
        self.of.get(&(stream, segment)).copied().unwrap_or(none)
    }

    /// How long the processor of a node can be busy without a pause.
    ///
    /// # Errors
    /// Why nothing bounds it.
    pub fn busy(&self, node: NodeId) -> Result<Duration, Why> {
        self.busy.get(node.index()).copied().unwrap_or(Ok(Duration::ZERO))
    }
}

/// When frames are at the receivers of each hop.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Reached(BTreeMap<(StreamId, SegmentId), Vec<End>>);

/// A receiver on a segment, and when it has a frame.
type End = (NodeId, Result<Span, Why>);

impl Reached {
    /// Every hop of a plan, as if frames were there when they are due.
    fn at_once(plan: &Plan) -> Self {
        let hops = plan.streams.iter().enumerate().flat_map(|(index, stream)| {
            let at_once = |node: &NodeId| (*node, Ok(Span::DUE));
            let of = move |hop: &HopPlan| {
                ((StreamId(index as u16), hop.segment), hop.to.iter().map(at_once).collect::<Vec<_>>())
            };
            stream.hops.iter().map(of)
        });
        Self(hops.collect())
    }

    pub(super) fn at(&self, stream: StreamId, segment: SegmentId, node: NodeId) -> Result<Span, Why> {
        let found = self.0.get(&(stream, segment)).and_then(|ends| ends.iter().find(|(receiver, _)| *receiver == node));
        found.map_or(Err(Why::NotReached), |(_, received)| *received)
    }
}

/// The bounds of every stream from its sender to its receivers, in parts.
///
/// `tables[i]` is the schedule table of segment `i`; one that is missing is none. `rows` is [`super::BOUNDS`], or what
/// else bounds the plan's kinds of segments.
pub fn end_to_end(plan: &Plan, tables: &[Option<ScheduleTable>], rows: &[&dyn SegmentBounds]) -> Vec<StreamBounds> {
    let network = Network { plan, jobs: Jobs::new(plan, rows), tables };
    let processors = Processors::new(&network.jobs, tables);
    let mut reached = Reached::at_once(plan);
    for _ in 0..ROUNDS_MAX {
        let busy = processors.busy(&reached);
        let arrivals = network.arrivals(&reached, busy);
        let found = network.reached(&arrivals);
        if found == reached {
            return network.streams(&reached, &arrivals);
        }
        reached = found;
    }
    network.streams(&Reached::default(), &Arrivals { of: BTreeMap::new(), busy: Vec::new() })
}

struct Network<'a> {
    plan: &'a Plan,
    jobs: Jobs<'a>,
    tables: &'a [Option<ScheduleTable>],
}

impl Network<'_> {
    fn streams_by_id(&self) -> impl Iterator<Item = (StreamId, &chronoseal_scenario::plan::StreamPlan)> {
        self.plan.streams.iter().enumerate().map(|(index, stream)| (StreamId(index as u16), stream))
    }

    /// When each hop's sender can have handed a frame to its driver.
    fn arrivals(&self, reached: &Reached, busy: Vec<Result<Duration, Why>>) -> Arrivals {
        let mut arrivals = Arrivals { of: BTreeMap::new(), busy };
        for (id, stream) in self.streams_by_id() {
            let distance = distance(&self.jobs, stream);
            for hop in &stream.hops {
                let before = match hop.previous {
                    None => Ok(Span::DUE),
                    Some(index) => {
                        let before = stream.hops.get(usize::from(index)).ok_or(Why::NotReached);
                        before.and_then(|before| from_the_air(reached.at(id, before.segment, hop.from)))
                    }
                };
                let at = before.and_then(|before| self.sent(id, hop, before, &arrivals));
                let arrival = Arrival { at, distance, begins: hop.previous.is_none() };
                arrivals.of.insert((id, hop.segment), arrival);
            }
        }
        arrivals
    }

    /// When a frame that is at the sender of a hop `before` is with its driver.
    fn sent(&self, id: StreamId, hop: &HopPlan, before: Span, arrivals: &Arrivals) -> Result<Span, Why> {
        if hop.previous.is_some() {
            let (forwarding, busy) = (self.jobs.forwarding(hop.from), arrivals.busy(hop.from)?);
            return Ok(before.later(forwarding, busy + self.jobs.collecting(id, hop)));
        }
        if self.jobs.is_in_slots(hop) {
            // It is made before its slot, whose start is the instant that counts.
            return Ok(before);
        }
        Ok(before.later(self.jobs.certain(id, hop, hop.from), arrivals.busy(hop.from)?))
    }

    fn reached(&self, arrivals: &Arrivals) -> Reached {
        let mut reached = Reached::default();
        for segment in self.plan.segment_ids() {
            let table = self.tables.get(segment.index()).and_then(Option::as_ref);
            let found = match self.jobs.row(segment) {
                Some(row) => row.bounds(self.plan, segment, table, arrivals),
                None => {
                    let kind = self.plan.segments[segment.index()].kind;
                    without_bound(self.plan, segment, Why::UnknownKind(kind))
                }
            };
            for hop in found {
                let received =
                    hop.received.and_then(|at| if at.max > LATEST_MAX { Err(Why::NoEndInSight) } else { Ok(at) });
                reached.0.entry((hop.stream, segment)).or_default().push((hop.receiver, received));
            }
        }
        reached
    }

    /// Walks every way.
    fn streams(&self, reached: &Reached, arrivals: &Arrivals) -> Vec<StreamBounds> {
        let is_settled = !reached.0.is_empty() || self.plan.streams.is_empty();
        let mut streams = Vec::new();
        for (id, stream) in self.streams_by_id() {
            let mut ways: BTreeMap<NodeId, Walked> = BTreeMap::new();
            let mut after: Vec<BTreeMap<NodeId, Walked>> = Vec::new();
            for hop in &stream.hops {
                let (before, place) = match hop.previous {
                    None => (Walked::start(), Place::Sender(hop.from)),
                    Some(index) => {
                        let known = after.get(usize::from(index)).and_then(|ends| ends.get(&hop.from)).cloned();
                        let place = Place::Gateway(hop.from);
                        (known.unwrap_or(Walked::missing(place, Why::NotReached)), place)
                    }
                };
                let sent = before.then(place, arrivals.at(id, hop.segment).at);
                let ends = hop
                    .to
                    .iter()
                    .map(|node| (*node, sent.then(Place::Segment(hop.segment), reached.at(id, hop.segment, *node))));
                let ends: BTreeMap<_, _> = ends.collect();
                for (node, way) in &ends {
                    // The first way to a node counts, if there are several.
                    ways.entry(*node).or_insert_with(|| {
                        let place = Place::Receiver(*node);
                        let checked = way
                            .span()
                            .and_then(|span| Ok(span.later(self.jobs.certain(id, hop, *node), arrivals.busy(*node)?)));
                        way.then(place, checked)
                    });
                }
                after.push(ends);
            }
            let end = |receiver: &NodeId| {
                let place = Place::Receiver(*receiver);
                let nowhere = || match is_settled {
                    true => Walked::missing(place, Why::NotReached),
                    false => Walked::missing(place, Why::NoEndInSight),
                };
                let way = match is_settled {
                    true => ways.get(receiver).cloned().unwrap_or_else(nowhere),
                    false => nowhere(),
                };
                EndBound { receiver: *receiver, latency: way.at, parts: way.parts }
            };
            streams.push(StreamBounds { stream: id, ends: stream.receivers.iter().map(end).collect() });
        }
        streams
    }
}
