//! Hops on a lossy link.

use chronoseal_core::{Duration, NodeId, StreamId, Work};
use chronoseal_media::schedule::ScheduleTable;
use chronoseal_plan::{HopPlan, LINK, Link, LinkHop, LinkTransport, Plan, SegmentId, StreamPlan, Trigger};

use super::demand::{Load, Overload, Periodic};
use super::processor::mac_work;
use super::{Arrivals, HopBound, LinkLoad, Risk, SegmentBounds, Share, Why, link_risks, without_bound};

/// What messages take at most on a link whose delay has an end and which loses nothing: all that can be in their sender's queue, and
/// the longest delay. In strict order a packet waits for those before it, whose delay ends no later than its own can.
#[derive(Clone, Copy, Debug)]
pub struct LinkBounds;

impl SegmentBounds for LinkBounds {
    fn kind(&self) -> &'static str {
        LINK
    }

    fn authentication(&self, plan: &Plan, stream: StreamId, hop: &HopPlan) -> Option<Work> {
        // A message is sealed as a whole.
        mac_work(plan, stream, hop, stream.0, plan.streams[stream.index()].length)
    }

    fn gives_up_after(&self, plan: &Plan, _: &StreamPlan, hop: &HopPlan) -> Option<(Duration, Duration)> {
        let LinkHop { transport, cut, timeout, .. } = hop.facet.get()?;
        let is_cut = *transport == LinkTransport::Udp && cut.fragments() > 1;
        // A message is there when the last of its packets is, and the first was there before the others had their time at the rate.
        is_cut.then_some((*timeout, Link::of(plan, hop.segment)?.segment.after_first(*cut)))
    }

    fn risks(&self, plan: &Plan, segment: SegmentId, table: Option<&ScheduleTable>, arrivals: &Arrivals) -> Vec<Risk> {
        let Some(view) = Link::of(plan, segment) else { return Vec::new() };
        link_risks::of(view, arrivals, &self.bounds(plan, segment, table, arrivals))
    }

    fn loads(&self, plan: &Plan, segment: SegmentId) -> Vec<LinkLoad> {
        let Some(view) = Link::of(plan, segment) else { return Vec::new() };
        let load = |from: NodeId| {
            let mut share = Share::default();
            for (_, stream, hop, facet) in sent_by(view, from) {
                let copies = match facet.transport {
                    LinkTransport::Udp | LinkTransport::Program => 1,
                    LinkTransport::Tcp | LinkTransport::Tls | LinkTransport::Quic => hop.to.len() as i64,
                };
                match stream.recorded() {
                    Some(recorded) => share.add(view.time_of_recorded(recorded), recorded.length()),
                    None => share.add(view.sending_time(facet) * copies, distance(view, stream)),
                }
            }
            LinkLoad { ends: Some([from, view.node()]), share }
        };
        senders(view).into_iter().map(load).collect()
    }

    fn bounds(&self, plan: &Plan, segment: SegmentId, _: Option<&ScheduleTable>, arrivals: &Arrivals) -> Vec<HopBound> {
        let Some(view) = Link::of(plan, segment) else {
            return without_bound(plan, segment, Why::UnknownKind(plan.segments[segment.index()].kind));
        };
        let laws = &view.segment.laws;
        let longest = match laws.delay.max() {
            _ if laws.loses() => Err(Why::LossyLink),
            longest => longest.ok_or(Why::EndlessDelay),
        };
        let loads = self.loads(plan, segment);
        let mut bounds = Vec::new();
        for from in senders(view) {
            // How many packets a connection sends, and when, nobody can say: whoever shares its sender's queue has no bound either.
            let connects = sent_by(view, from).any(|(.., facet)| facet.transport.is_connection());
            let replays = sent_by(view, from).any(|(_, stream, ..)| stream.recorded().is_some());
            // What comes when something else does follows no period, and may need less than its least distance would.
            let is_triggered = sent_by(view, from).any(|(_, stream, ..)| stream.trigger.is_some());
            let has_program = plan.nodes[from.index()].program.is_some() || view.has_middleware(from);
            // Of a link that loses nothing all is answered that comes.
            let over = loads.iter().filter(|load| load.share.is_over() && !laws.loses());
            let over: Vec<&LinkLoad> = over.collect();
            let is_over = matches!(over[..], [LinkLoad { ends: Some([node, _]), .. }] if *node == from);
            let queue = match queue(view, from, arrivals) {
                Ok(_) | Err(Why::ShortQueue { .. }) if connects => Err(Why::Connection),
                Ok(_) | Err(Why::ShortQueue { .. }) if has_program => Err(Why::Program),
                Ok(_) | Err(Why::ShortQueue { .. }) if replays => Err(Why::BesideRecording),
                _ if is_triggered && is_over => Err(Why::Overload(Overload::Load { load_ppm: over[0].share.ppm() })),
                _ if is_triggered => Err(Why::Triggered),
                queue => queue,
            };
            for (id, stream, hop, facet) in sent_by(view, from) {
                let driver = plan.nodes[from.index()].driver;
                // That more is sent than fits is certain, whatever else the link does.
                let own = match queue {
                    Err(Why::BesideRecording) if stream.recorded().is_some() => Err(Why::Recording),
                    Ok(_) | Err(Why::Program) if facet.over.is_some() => Err(Why::Middleware),
                    queue => queue,
                };
                let received = own.and_then(|waits| {
                    let (longest, sent) = (longest?, arrivals.at(id, segment).at?);
                    let at_least = driver.min + view.sending_time(facet) + laws.delay.min();
                    Ok(sent.later(at_least, driver.max * facet.cut.fragments() as i64 + waits + longest))
                });
                bounds.extend(hop.to.iter().map(|node| HopBound { stream: id, receiver: *node, received }));
            }
        }
        bounds
    }
}

/// A stream of a link with its way over it.
type OnLink<'p> = (StreamId, &'p StreamPlan, &'p HopPlan, &'p LinkHop);

/// What a station sends.
fn sent_by(view: Link<'_>, from: NodeId) -> impl Iterator<Item = OnLink<'_>> {
    view.streams().filter(move |(_, _, hop, _)| hop.from == from)
}

/// How far apart the messages of a stream are at least, on average. In a closed loop each waits for the answer to the one before, which takes
/// both ways, or for the timeout.
fn distance(view: Link<'_>, stream: &StreamPlan) -> Duration {
    let asking = stream.answers().and_then(|asked| view.plan.streams.get(asked.index())).unwrap_or(stream);
    let Some(Trigger::ClosedLoop { answer, timeout }) = asking.trigger else { return stream.period };
    let way = |stream: &StreamPlan| {
        let facet: Option<&LinkHop> = stream.on(view.id).and_then(|hop| hop.facet.get());
        facet.map_or(Duration::ZERO, |facet| view.sending_time(facet) + view.segment.laws.delay.min())
    };
    let back = view.plan.streams.get(answer.index()).map_or(Duration::ZERO, way);
    asking.period.max(timeout.min(way(asking) + back))
}

/// Who sends on a link, in order.
fn senders(view: Link<'_>) -> Vec<NodeId> {
    let mut senders: Vec<NodeId> = view.streams().map(|(_, _, hop, _)| hop.from).collect();
    senders.sort_unstable();
    senders.dedup();
    senders
}

/// How long a sender's queue is never empty at most, so that whatever is in it has left.
fn queue(view: Link<'_>, from: NodeId, arrivals: &Arrivals) -> Result<Duration, Why> {
    let driver = view.plan.nodes[from.index()].driver;
    let mut load = Load::default();
    let mut fragments = Vec::new();
    for (id, _, _, facet) in sent_by(view, from) {
        let arrival = arrivals.at(id, view.id);
        let packets = facet.cut.fragments() as i64;
        let jitter = arrival.at?.jitter() + driver.max * packets - driver.min;
        load.periodic.push(Periodic { period: arrival.distance, jitter, cost: view.sending_time(facet) });
        fragments.push(packets);
    }
    let busy = load.busy_period()?;
    // None is there longer than that, so that no more are there than can come in that time.
    let packets = load.periodic.iter().zip(fragments).map(|(one, packets)| one.count(busy) * packets);
    let needed = packets.sum::<i64>().unsigned_abs();
    let queue = view.segment.laws.queue;
    if needed > u64::from(queue) { Err(Why::ShortQueue { needed, queue }) } else { Ok(busy) }
}
