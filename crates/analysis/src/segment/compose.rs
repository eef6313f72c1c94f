//! Puts processors and segments together.

use std::collections::BTreeMap;

use chronoseal_core::{Duration, NodeId, StreamId};
use chronoseal_media::schedule::ScheduleTable;
use chronoseal_plan::{HopPlan, Plan, SegmentId, StreamPlan};

use super::alone::{self, Alone};
use super::collected::Collected;
use super::host::{self, Hosts};
use super::processor::{Jobs, Processors, distance};
use super::way::{EndBound, Place, StreamBounds, Walked};
use super::{Risk, SegmentBounds, Span, Why, collected, exchange, losses, without_bound};

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
    /// The stream begins here, in time for what it leaves by: a slot of each period, or at once.
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
    /// Of containers alone.
    collected: BTreeMap<(StreamId, SegmentId), Collected>,
    /// The longest busy period of each node's processor.
    busy: Vec<Result<Duration, Why>>,
    /// What is dealt with at once.
    alone: Alone,
    /// By segment with a table and by slot: how long what is sealed for it waits for its processor.
    blocked: BTreeMap<SegmentId, Vec<Result<Duration, Why>>>,
}

impl Arrivals {
    /// How a stream comes to the node that sends it on `segment`.
    pub fn at(&self, stream: StreamId, segment: SegmentId) -> Arrival {
        let none = Arrival { at: Err(Why::NotReached), distance: Duration::ZERO, begins: false };
        self.of.get(&(stream, segment)).copied().unwrap_or(none)
    }

    /// How the frames of a container come to the driver of the gateway that makes them, once that is known.
    pub(super) fn collected(&self, stream: StreamId, segment: SegmentId) -> Option<Arrival> {
        self.collected.get(&(stream, segment)).map(|collected| collected.arrival)
    }

    /// True for a container that comes as [`Self::at`] says if each of its PDUs is counted as if it were alone in its frame.
    pub fn counts_pdus(&self, stream: StreamId, segment: SegmentId) -> bool {
        self.collected.get(&(stream, segment)).is_some_and(|collected| collected.counts_pdus)
    }

    /// How long what is sealed for a slot of the table of `segment` can wait for its sender's processor.
    ///
    /// # Errors
    /// Why nothing bounds it.
    pub fn blocked(&self, segment: SegmentId, slot: usize) -> Result<Duration, Why> {
        self.blocked.get(&segment).and_then(|slots| slots.get(slot)).copied().unwrap_or(Ok(Duration::ZERO))
    }

    /// How long the processor of a node keeps a frame of a stream that begins or ends there at most.
    ///
    /// # Errors
    /// Why nothing bounds it.
    pub fn stay(&self, node: NodeId, stream: StreamId) -> Result<Duration, Why> {
        self.alone.get(&(node, stream)).map_or_else(|| self.busy(node), |stay| Ok(*stay))
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

/// What is known of a plan on paper.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bounds {
    /// Every stream from its sender to its receivers, in parts.
    pub streams: Vec<StreamBounds>,
    /// What can keep frames from arriving in time all the same.
    pub risks: Vec<Risk>,
}

/// The bounds of every stream from its sender to its receivers, in parts; [`bounds`] without what can go wrong.
pub fn end_to_end(plan: &Plan, tables: &[Option<ScheduleTable>], rows: &[&dyn SegmentBounds]) -> Vec<StreamBounds> {
    bounds(plan, tables, rows).streams
}

/// The bounds of every stream, and what can go wrong.
///
/// `tables[i]` is the schedule table of segment `i`; one that is missing is none. `rows` is [`super::BOUNDS`], or what
/// else bounds the plan's kinds of segments.
pub fn bounds(plan: &Plan, tables: &[Option<ScheduleTable>], rows: &[&dyn SegmentBounds]) -> Bounds {
    let network = Network::new(plan, tables, rows);
    let Some(Settled { arrivals, at_ports, reached }) = network.settled() else {
        let never = Reached::default();
        return Bounds { streams: network.streams(&never, &never, &Arrivals::default()), risks: Vec::new() };
    };
    let mut risks = network.risks(&arrivals);
    risks.extend(network.hosts.risks(&at_ports, &arrivals));
    risks.extend(losses::reboots(plan));
    risks.extend(exchange::risks(plan, &network.jobs));
    risks.extend(exchange::thrown_out(plan));
    risks.extend(exchange::outsiders(plan));
    Bounds { streams: network.streams(&at_ports, &reached, &arrivals), risks }
}

/// How all streams come to their segments; `None` if jitter grows without an end in sight. The parameters are those of
/// [`bounds`].
pub fn arrivals(plan: &Plan, tables: &[Option<ScheduleTable>], rows: &[&dyn SegmentBounds]) -> Option<Arrivals> {
    Network::new(plan, tables, rows).settled().map(|settled| settled.arrivals)
}

/// What does not change any more if everything is computed again.
struct Settled {
    arrivals: Arrivals,
    at_ports: Reached,
    reached: Reached,
}

/// A time that somebody might wait for.
fn within_reason(at: Span) -> Result<Span, Why> {
    if at.max > LATEST_MAX { Err(Why::NoEndInSight) } else { Ok(at) }
}

struct Network<'a> {
    plan: &'a Plan,
    jobs: Jobs<'a>,
    tables: &'a [Option<ScheduleTable>],
    hosts: Hosts,
}

impl<'a> Network<'a> {
    fn new(plan: &'a Plan, tables: &'a [Option<ScheduleTable>], rows: &'a [&'a dyn SegmentBounds]) -> Self {
        let jobs = Jobs::new(plan, rows);
        Self { plan, jobs, tables, hosts: Hosts::new(&jobs, tables) }
    }

    fn settled(&self) -> Option<Settled> {
        let processors = Processors::new(&self.jobs, self.tables);
        let mut reached = Reached::at_once(self.plan);
        let mut before = Arrivals::default();
        for round in 0..ROUNDS_MAX {
            let busy = processors.busy(&reached, &before);
            let alone = alone::found(&self.jobs, &reached, round == 0);
            let blocked = self.blocked(&processors, &reached, &before);
            let arrivals = Arrivals { busy, alone, blocked, ..Arrivals::default() };
            let arrivals = self.arrivals(&reached, arrivals);
            let at_ports = self.at_ports(&arrivals);
            let found = self.in_hosts(&at_ports, &arrivals);
            if found == reached && arrivals == before {
                return Some(Settled { arrivals, at_ports, reached });
            }
            (reached, before) = (found, arrivals);
        }
        None
    }

    fn streams_by_id(&self) -> impl Iterator<Item = (StreamId, &StreamPlan)> {
        self.plan.streams.iter().enumerate().map(|(index, stream)| (StreamId(index as u16), stream))
    }

    /// How long what is sealed for slots waits for its processor.
    fn blocked(
        &self,
        processors: &Processors,
        reached: &Reached,
        before: &Arrivals,
    ) -> BTreeMap<SegmentId, Vec<Result<Duration, Why>>> {
        let with_table = self.plan.segment_ids().filter_map(|segment| {
            let table = self.tables.get(segment.index())?.as_ref()?;
            Some((segment, processors.blocked(&self.jobs, segment, table, reached, before)))
        });
        with_table.collect()
    }

    /// When each hop's sender can have handed a frame to its driver.
    fn arrivals(&self, reached: &Reached, mut arrivals: Arrivals) -> Arrivals {
        for (id, stream) in self.streams_by_id() {
            let distance = distance(&self.jobs, stream);
            for hop in &stream.hops {
                let before = match hop.previous {
                    None => Ok(Span::DUE.later(Duration::ZERO, stream.bounding().1)),
                    Some(index) => {
                        let before = stream.hops.get(usize::from(index)).ok_or(Why::NotReached);
                        before.and_then(|before| {
                            let row = self.jobs.row(before.segment);
                            if row.is_some_and(|row| !row.made_up(self.plan, id, before.segment).is_empty()) {
                                return Err(Why::ArrivalUnbounded);
                            }
                            let senders = |row: &dyn SegmentBounds| row.senders(self.plan, id, before);
                            match row.map_or(1, senders) {
                                ..=1 => from_the_air(reached.at(id, before.segment, hop.from)),
                                _ => Err(Why::ManySenders),
                            }
                        })
                    }
                };
                let at = before.and_then(|before| self.sent(id, hop, before, &arrivals));
                let begins = hop.previous.is_none() && stream.application.is_none();
                let arrival = Arrival { at, distance, begins };
                arrivals.of.insert((id, hop.segment), arrival);
            }
        }
        // Their numbers are above those of the streams that are in them.
        for (id, stream) in self.streams_by_id().filter(|(_, stream)| stream.collected().is_some()) {
            for hop in &stream.hops {
                let gap = self.regulator_gap(id, hop.segment);
                let collected = collected::sent(self.plan, id, (hop, gap), &arrivals);
                arrivals.of.insert((id, hop.segment), collected.arrival);
                arrivals.collected.insert((id, hop.segment), collected);
                let wait = stream.collected().map(|collect| collected::wait(self.plan, collect, hop, &arrivals));
                for (member, _, hop) in self.plan.contained_in(id) {
                    let Some((arrival, wait)) = arrivals.of.get_mut(&(member, hop.segment)).zip(wait) else { continue };
                    arrival.at = arrival.at.and_then(|at| Ok(at.later(Duration::ZERO, wait?)));
                }
            }
        }
        arrivals
    }

    /// When the PDUs in the frames of containers are where the frames are: each as much later as its frame.
    fn contained(&self, reached: &mut Reached, arrivals: &Arrivals) {
        for (id, stream) in self.streams_by_id().filter(|(_, stream)| stream.collected().is_some()) {
            for frame in &stream.hops {
                let arrival = arrivals.at(id, frame.segment);
                let (sent, gap) = (arrival.at, self.regulator_gap(id, frame.segment));
                for (member, _, hop) in self.plan.contained_in(id) {
                    let at = arrivals.at(member, hop.segment).at;
                    let end = |node: &NodeId| {
                        let received = at.and_then(|at| {
                            let (sent, received) = (sent?, reached.at(id, frame.segment, *node)?);
                            let held = gap.map_or(Duration::ZERO, |gap| collected::held(&arrival, sent, gap));
                            within_reason(at.later(received.min - sent.min, received.max - sent.max + held))
                        });
                        (*node, received)
                    };
                    let ends = hop.to.iter().map(end).collect();
                    reached.0.insert((member, hop.segment), ends);
                }
            }
        }
    }

    /// The gap in which the frames of a stream leave a regulator on a segment, if they pass one.
    fn regulator_gap(&self, stream: StreamId, segment: SegmentId) -> Option<Duration> {
        self.jobs.row(segment)?.regulator_gap(self.plan, segment, stream)
    }

    /// When a frame that is at the sender of a hop `before` is with its driver.
    fn sent(&self, id: StreamId, hop: &HopPlan, before: Span, arrivals: &Arrivals) -> Result<Span, Why> {
        if hop.previous.is_some() {
            let (forwarding, busy) = (self.jobs.forwarding(hop.from), arrivals.busy(hop.from)?);
            return Ok(before.later(forwarding, busy));
        }
        if self.jobs.is_in_slots(hop) {
            let is_own = self.plan.streams[id.index()].application.is_some();
            // It is made before its slot, whose start is the instant that counts; or the application has its data by a timer of its
            // own, and they are there when the processor has looked at that.
            return if is_own { Ok(before.later(Duration::ZERO, arrivals.busy(hop.from)?)) } else { Ok(before) };
        }
        Ok(before.later(self.jobs.certain(id, hop, hop.from), arrivals.stay(hop.from, id)?))
    }

    /// When frames that are at the ports of their receivers at these times are with the applications there.
    fn in_hosts(&self, at_ports: &Reached, arrivals: &Arrivals) -> Reached {
        let mut reached = at_ports.clone();
        if self.hosts.is_empty() {
            return reached;
        }
        for ((stream, segment), ends) in &mut reached.0 {
            for (node, received) in ends {
                let passed = self.hosts.passed((*stream, *segment, *node), *received, at_ports, arrivals);
                *received = passed.and_then(within_reason);
            }
        }
        self.contained(&mut reached, arrivals);
        reached
    }

    /// When frames are at the ports of their receivers.
    fn at_ports(&self, arrivals: &Arrivals) -> Reached {
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
                let received = hop.received.and_then(within_reason);
                reached.0.entry((hop.stream, segment)).or_default().push((hop.receiver, received));
            }
        }
        self.contained(&mut reached, arrivals);
        reached
    }

    /// What can go wrong on every segment.
    fn risks(&self, arrivals: &Arrivals) -> Vec<Risk> {
        let of_segment = |segment: SegmentId| {
            let table = self.tables.get(segment.index()).and_then(Option::as_ref);
            self.jobs.row(segment).map(|row| row.risks(self.plan, segment, table, arrivals)).unwrap_or_default()
        };
        self.plan.segment_ids().flat_map(of_segment).collect()
    }

    /// Refuses what a receiver gives up before it is whole. It looks at what is there when its processor does, and no clock of a plan
    /// is wrong by more than a thousandth.
    fn put_together(
        &self,
        stream: &StreamPlan,
        hop: &HopPlan,
        at_port: Result<Span, Why>,
        checked: Span,
    ) -> Result<Span, Why> {
        let Some((limit, before)) =
            self.jobs.row(hop.segment).and_then(|row| row.gives_up_after(self.plan, stream, hop))
        else {
            return Ok(checked);
        };
        let takes = checked.max - at_port?.min + before;
        if takes + takes / 999 < limit { Ok(checked) } else { Err(Why::GivenUp { takes, limit }) }
    }

    /// Walks every way.
    fn streams(&self, at_ports: &Reached, reached: &Reached, arrivals: &Arrivals) -> Vec<StreamBounds> {
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
                let end = |node: &NodeId| {
                    let at_port = sent.then(Place::Segment(hop.segment), at_ports.at(id, hop.segment, *node));
                    match host::interface(&self.jobs, hop.segment, *node) {
                        Some(_) => (*node, at_port.then(Place::Host(*node), reached.at(id, hop.segment, *node))),
                        None => (*node, at_port),
                    }
                };
                let ends: BTreeMap<_, _> = hop.to.iter().map(end).collect();
                for (node, way) in &ends {
                    // The first way to a node counts, if there are several.
                    ways.entry(*node).or_insert_with(|| {
                        let place = Place::Receiver(*node);
                        let checked = way.span().and_then(|span| {
                            let checked = span.later(self.jobs.certain(id, hop, *node), arrivals.stay(*node, id)?);
                            self.put_together(stream, hop, at_ports.at(id, hop.segment, *node), checked)
                        });
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
