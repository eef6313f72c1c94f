//! What can make a frame of an Ethernet segment not arrive in time although its latency has a bound: a slot that has closed, a
//! clock that leaves the cluster, a queue that overflows.
//!
//! # Clocks
//! Between two beacons a clock drifts by its drift times their distance. The station takes out half of the error that it sees
//! and keeps an eighth of it as a correction of its rate, so before this has settled the errors of single cycles add up to at
//! most 1.4 times the first one. A beacon that is further off than the precision is not used.
//!
//! What a beacon corrects is the clock as it will be when the beacon is permanent, the largest transmission delay after it was sent.
//! The rate that a clock has then learned is taken for an error of its phase over that delay, so that once all has settled the clock
//! is off by the drift in the delay. Two thirds of that drift on top of 1.4 times that of a cycle hold all of it, played out for every
//! delay below four cycles; from there on the correction swings up.
//!
//! # Queues
//! A frame of a best-effort stream is in a queue no longer than it stays there and on the line, so of a stream no more frames
//! wait than can come in that time. Scheduled frames wait in the same memory while the line is not free for them.

use std::collections::{BTreeMap, BTreeSet};

use chronoseal_core::{Duration, NodeId, Ppm, Priority, StreamId};
use chronoseal_media::schedule::{Slot, Turn};
use chronoseal_plan::{Copies, Ethernet, EthernetStream, FailingLink, NetworkName, StreamClass, Sync};
use chronoseal_wire::ethernet::FRAME_LEN_MIN;

use super::super::Arrivals;
use super::super::line::{CONTROL, LineLoad};
use super::super::losses::{Cause, Direction, Risk};
use super::slots::{Slots, closes, speed_from};
use super::{Links, virtual_links};

/// Rounding of times by clocks and in control frames.
const ROUNDING: Duration = Duration::from_ns(2);

/// Every risk of the segment's frames.
pub(super) fn of_segment(links: &Links<'_>) -> Vec<Risk> {
    let has_slots = |node| links.slots.are_at(node);
    let mut found = clocks(links.view, links.arrivals, &|node| beacon(links, node), &has_slots);
    found.extend(in_slots(&links.slots));
    found.extend(links.view.streams().filter_map(|stream| policed(links, &stream)));
    for node in links.view.stations() {
        let (up, _) = links.slots.uplink(NetworkName::A, node);
        found.extend(queue(links, node, Direction::ToSwitch, Some(&up)));
        let down = links.downlink(node);
        found.extend(down.as_ref().map(|line| over(links, node, line)).unwrap_or_default());
        found.extend(queue(links, node, Direction::FromSwitch, down.as_ref().ok()));
    }
    found
}

/// The same risks, each of a clock as one of every stream that the clock can harm: a stream that goes by no clock is none of its business.
/// Clocks that make the time themselves are judged for themselves, and so is what can happen to them where no stream goes by them.
pub(super) fn of_clocks(view: Ethernet<'_>, risks: Vec<Risk>) -> Vec<Risk> {
    if risks.iter().all(|risk| risk.stream.is_some()) {
        return risks;
    }
    let clocks = view.clock_use();
    let harmed = |risk: Risk| {
        // What goes on to another segment is in the way of all there, whatever their clocks.
        if risk.segment != view.id {
            return vec![risk];
        }
        let streams: Vec<StreamId> = match (risk.stream, &risk.cause) {
            (Some(stream), _) => vec![stream],
            (None, Cause::Clock { node, .. } | Cause::Beacon { node, .. } | Cause::NoBeacon { node }) => {
                clocks.of_station(*node).collect()
            }
            (None, Cause::BeaconFails { link, .. } | Cause::ClockFramesLost { link, .. })
                if view.segment.sync == Sync::Beacon =>
            {
                let behind = view.stations().filter(|node| brings_beacon(view, *link, *node));
                behind.flat_map(|node| clocks.of_station(node)).collect::<BTreeSet<_>>().into_iter().collect()
            }
            (None, _) => clocks.all().collect(),
        };
        let is_own = streams.is_empty() && matches!(view.segment.sync, Sync::As6802 | Sync::Gptp);
        let of_itself = is_own.then(|| risk.clone());
        let of_streams = streams.into_iter().map(|stream| Risk { stream: Some(stream), ..risk.clone() });
        of_itself.into_iter().chain(of_streams).collect()
    };
    risks.into_iter().flat_map(harmed).collect()
}

/// By so much a clock of this drift can be wrong when a beacon comes that is used `after` the one before.
pub(super) fn clock_error_max(drift: Ppm, after: Duration) -> Duration {
    let drifted = i128::from(after.as_ps()) * i128::from(drift.0.abs()) / 1_000_000_000;
    Duration::from_ps(i64::try_from(drifted * 7 / 5).unwrap_or(i64::MAX / 2)) + ROUNDING
}

/// What is added since a beacon corrects the clock as it will be `delay` after it was sent.
fn permanence_error_max(drift: Ppm, delay: Duration, cycle: Duration) -> Duration {
    if delay >= cycle * 4 {
        return delay;
    }
    let drifted = i128::from(delay.as_ps()) * i128::from(drift.0.abs()) / 1_000_000_000;
    Duration::from_ps(i64::try_from(drifted * 2 / 3).unwrap_or(i64::MAX / 2))
}

/// Clocks that can leave the time of a beacon, and beacons that come too late to be used; of a cluster [`cluster`] says that. `beacon` says when the beacon is at a
/// station at the latest, if that is bounded, and `has_slots` whether it sends or receives in slots.
pub(super) fn clocks(
    view: Ethernet<'_>,
    arrivals: &Arrivals,
    beacon: &dyn Fn(NodeId) -> Option<Duration>,
    has_slots: &dyn Fn(NodeId) -> bool,
) -> Vec<Risk> {
    let network = view.segment;
    let risk = |cause| Risk { segment: view.id, stream: None, cause };
    let mut found = Vec::new();
    for node in view.stations() {
        let clock = view.plan.nodes[node.index()].clock;
        if network.sync == Sync::As6802 {
            continue;
        }
        if network.sync != Sync::Beacon {
            // No beacon is sent, and a station with slots may have another clock than the switch.
            let is_exact = clock.offset == Duration::ZERO && clock.drift_max == Ppm(0);
            found.extend((has_slots(node) && !is_exact).then(|| risk(Cause::NoBeacon { node })));
            continue;
        }
        // A busy processor looks at a beacon later, and its clock drifts until then.
        let busy = arrivals.busy(node).unwrap_or_default();
        let error = clock_error_max(clock.drift_max, network.integration_cycle + busy)
            + permanence_error_max(clock.drift_max, network.max_transmission_delay, network.integration_cycle);
        if error > network.precision {
            found.push(risk(Cause::Clock { node, error, precision: network.precision }));
        }
        let limit = network.max_transmission_delay;
        if beacon(node).is_none_or(|latest| latest > limit) {
            found.push(risk(Cause::Beacon { node, limit }));
        }
    }
    found
}

/// A cluster whose clocks can differ by more than its precision, or whose control frames can be too old to be used.
pub(super) fn cluster(view: Ethernet<'_>) -> Vec<Risk> {
    let network = view.segment;
    let Some(cluster) = &network.cluster else { return Vec::new() };
    let risk = |cause| Risk { segment: view.id, stream: None, cause };
    let drift = |node: &NodeId| view.plan.nodes[node.index()].clock.drift_max.0.abs();
    let worst = view.stations().max_by_key(drift);
    let clocks = worst.and_then(|node| {
        let needed = cluster.parameters.precision_needed(drift(&node), cluster.compression_masters.len()) + ROUNDING;
        let precision = network.precision;
        (needed > precision).then(|| risk(Cause::Cluster { node, needed, precision }))
    });
    let (delay, limit) = (cluster.control_delay_max, network.max_transmission_delay);
    let control = (delay > limit).then(|| risk(Cause::ControlDelay { delay, limit }));
    clocks.into_iter().chain(control).collect()
}

/// When the beacon is at a station at the latest; `None` if nothing bounds it.
fn beacon(links: &Links<'_>, node: NodeId) -> Option<Duration> {
    let stay = links.downlink(node).ok()?.stay(CONTROL).ok()?;
    let len = FRAME_LEN_MIN as u64;
    Some(stay - links.speed.occupancy(len) + links.speed.reception(len))
}

/// Frames that can come to their first switch after their slot has closed, and those that a gateway cannot carry into slots.
pub(super) fn in_slots(slots: &Slots<'_>) -> Vec<Risk> {
    let view = slots.view;
    let mut found = Vec::new();
    for (index, slot) in slots.table.slots.iter().enumerate() {
        let Some(stream) = view.stream(slot.stream) else { continue };
        let hops = view.hops(&stream).unwrap_or_default();
        let firsts = hops.iter().enumerate().filter(|(_, (_, hop))| hop.trunk.is_none());
        let closed = firsts.filter_map(|(hop, (name, _))| closed(slots, *name, slots.table.turn(index, hop)?, &stream));
        // Of two copies that which is later is said.
        let by = |risk: &Risk| if let Cause::SlotClosed { by } = risk.cause { Some(by) } else { None };
        found.extend(closed.max_by_key(by));
    }
    found.extend(view.streams().filter_map(|stream| superseded(slots, &stream)));
    found
}

/// Links that the scenario lets fail, for every stream over them. Behind one that fails the beacon does not come any more, so
/// that nothing that is in slots can be relied on, and a station there loses its clock. Of two networks no beacon goes over B, nor
/// does one over either of them with ideal clocks.
pub(super) fn failing(view: Ethernet<'_>) -> Vec<Risk> {
    let mut found = lossy(view);
    found.extend(reordered(view));
    let wiring = &view.segment.wiring;
    for failure in &view.segment.failures {
        let ends = ends(view, failure.link);
        let stops_slots = match failure.link {
            FailingLink::Trunk(trunk) if wiring.has_networks() => {
                view.segment.sync != Sync::Ideal && !wiring.is_of_b(wiring.trunks[trunk].ends[0])
            }
            FailingLink::Trunk(_) => true,
            FailingLink::Station(_) | FailingLink::Second(_) => false,
        };
        let is_hit = |stream: &EthernetStream<'_>| {
            // A copy that comes another way is enough.
            view.passes(stream, failure.link) && view.is_cut_off(stream)
                || stops_slots && stream.class.is_time_triggered()
        };
        let risk = |stream: EthernetStream<'_>| Risk {
            segment: view.id,
            stream: Some(stream.id),
            cause: Cause::LinkFails { ends, at: failure.at },
        };
        found.extend(view.streams().filter(is_hit).map(risk));
        let is_cut_off = |node: NodeId| brings_beacon(view, failure.link, node);
        if view.segment.sync == Sync::Beacon && view.stations().any(is_cut_off) {
            let cause = Cause::BeaconFails { link: failure.link, ends, at: failure.at };
            found.push(Risk { segment: view.id, stream: None, cause });
        }
    }
    found
}

/// Links over which frames are lost, for every stream that has no way without one, and for the clocks.
fn lossy(view: Ethernet<'_>) -> Vec<Risk> {
    let mut found = Vec::new();
    for stream in view.streams().filter(|stream| view.can_be_lost(stream)) {
        let lossy = view.segment.frame_losses.iter().find(|loss| view.passes(&stream, loss.link));
        let shares = stream.hop.to.iter().map(|node| (view.lost_share(&stream, *node), *node));
        let worst = shares.max_by(|(one, _), (other, _)| one.total_cmp(other));
        let (Some(loss), Some((share, node))) = (lossy, worst) else { continue };
        // Shown rounded up, so that what is lost now and then is not shown as nothing.
        let lost_ppb = (share * 1e9).ceil() as u64;
        let cause = Cause::FramesLost { ends: ends(view, loss.link), node, lost_ppb };
        found.push(Risk { segment: view.id, stream: Some(stream.id), cause });
    }
    found.extend(overtaken(view));
    let spoils = |link: FailingLink| match view.segment.sync {
        Sync::None | Sync::Ideal => false,
        Sync::Beacon => view.stations().any(|node| brings_beacon(view, link, node)),
        Sync::As6802 | Sync::Gptp => true,
    };
    let spoiling = view.segment.frame_losses.iter().filter(|loss| spoils(loss.link));
    found.extend(spoiling.map(|loss| {
        let cause = Cause::ClockFramesLost { link: loss.link, ends: ends(view, loss.link) };
        Risk { segment: view.id, stream: None, cause }
    }));
    found
}

/// Messages of several frames that go several ways of which one loses single frames: its next frame is there before the copy of the
/// lost one, and what is out of order is put together by nobody. Over two networks the skew is held against their gap.
fn overtaken(view: Ethernet<'_>) -> impl Iterator<Item = Risk> + '_ {
    let of_stream = move |stream: EthernetStream<'_>| {
        let is_it = stream.datagram.is_some() && stream.copies.have_r_tag() && !view.can_be_lost(&stream);
        let loss = view.segment.frame_losses.iter().find(|loss| is_it && view.passes(&stream, loss.link))?;
        let cause = Cause::FragmentOvertaken { ends: ends(view, loss.link) };
        Some(Risk { segment: view.id, stream: Some(stream.id), cause })
    };
    view.streams().filter_map(of_stream)
}

/// Messages of several frames at switches that eliminate copies. What is taken of each frame comes there in order, since every way keeps
/// the order; it goes on in order where each frame takes the same time to its queue, and waits in the same one.
fn reordered(view: Ethernet<'_>) -> impl Iterator<Item = Risk> + '_ {
    let network = view.segment;
    let jitter = network.forwarding_jitter.max > network.forwarding_jitter.min;
    let links = network.wiring.trunks.iter().map(|trunk| trunk.parameters);
    let is_secured =
        links.chain(view.stations().map(|node| network.link_of(node).parameters)).any(|link| link.macsec.is_some());
    let is_uneven = jitter || is_secured || !network.stream_filters.filters.is_empty();
    let of_stream = move |stream: EthernetStream<'_>| {
        let Copies::Ways { recovering, .. } = stream.copies else { return None };
        let switch = recovering.first().filter(|_| is_uneven && stream.datagram.is_some())?;
        let cause = Cause::FragmentsReordered { node: view.plan.own_node(view.id, usize::from(*switch)) };
        Some(Risk { segment: view.id, stream: Some(stream.id), cause })
    };
    view.streams().filter_map(of_stream)
}

/// The two ends of a link.
fn ends(view: Ethernet<'_>, link: FailingLink) -> [NodeId; 2] {
    let switch = |switch: u16| view.plan.own_node(view.id, usize::from(switch));
    let wiring = &view.segment.wiring;
    match link {
        FailingLink::Station(node) => [node, switch(wiring.switch_of(node))],
        FailingLink::Second(node) => [node, switch(wiring.switch_in_b(node).unwrap_or_default())],
        FailingLink::Trunk(trunk) => wiring.trunks[trunk].ends.map(switch),
    }
}

/// True if the beacon can come to a station over a link: one that is on a shortest way from the first switch.
fn brings_beacon(view: Ethernet<'_>, link: FailingLink, node: NodeId) -> bool {
    let wiring = &view.segment.wiring;
    match link {
        FailingLink::Station(other) => other == node,
        // Of two networks the beacon goes over A.
        FailingLink::Second(_) => false,
        FailingLink::Trunk(trunk) if wiring.is_of_b(wiring.trunks[trunk].ends[0]) => false,
        FailingLink::Trunk(trunk) => {
            let [one, other] = wiring.trunks[trunk].ends;
            let switch = wiring.switch_of(node);
            let links = |from, to| wiring.way_between(from, to).len();
            [(one, other), (other, one)]
                .into_iter()
                .any(|(near, far)| links(0, near) + 1 + links(far, switch) == links(0, switch))
        }
    }
}

/// A frame that can come to its first switch in a network after its turn there has closed.
fn closed(slots: &Slots<'_>, name: NetworkName, turn: Turn, stream: &EthernetStream<'_>) -> Option<Risk> {
    let view = slots.view;
    let risk = |cause| Some(Risk { segment: view.id, stream: Some(stream.id), cause });
    if slots.arrivals.blocked(view.id, turn.slot).is_err() {
        return risk(Cause::SenderUnbounded { node: stream.hop.from });
    }
    let reception = speed_from(view.segment, name, stream.hop.from).reception(u64::from(view.secured_len(stream)));
    let arrives = slots.first_bit(name, turn.slot) + reception;
    let closes = closes(view.segment, turn.dispatch, turn.end);
    if arrives <= closes { None } else { risk(Cause::SlotClosed { by: arrives - closes }) }
}

/// Frames that a gateway carries into slots: of those that come between two slots only the newest goes on. Sender and slots
/// follow different clocks, so this happens as soon as two frames can be nearer to each other than two slots. It is the same with
/// an application that has a timer of its own.
fn superseded(slots: &Slots<'_>, stream: &EthernetStream<'_>) -> Option<Risk> {
    let StreamClass::TimeTriggered { .. } = stream.class else { return None };
    if stream.hop.previous.is_none() && stream.stream.application.is_none() {
        return None;
    }
    let mut starts: Vec<Duration> = slots.firsts(stream).map(|slot| slot.start).collect();
    starts.sort_unstable();
    let again = *starts.first()? + slots.view.segment.cluster_cycle;
    let nexts = starts.iter().skip(1).chain([&again]);
    let gap = starts.iter().zip(nexts).map(|(start, next)| *next - *start).max()?;
    let arrival = slots.arrivals.at(stream.id, slots.view.id);
    let distance = arrival.at.ok().map(|at| (arrival.distance - at.jitter()).max(Duration::ZERO));
    let node = stream.hop.from;
    let (cause, gap) = match stream.hop.previous {
        Some(_) => (Cause::Superseded { node, distance, gap }, gap),
        None => (Cause::Outrun { node, distance, gap }, gap + slots.view.segment.precision * 2),
    };
    let risk = Risk { segment: slots.view.id, stream: Some(stream.id), cause };
    distance.is_none_or(|distance| distance < gap).then_some(risk)
}

/// A virtual link of which the switch can take a frame for one too many.
fn policed(links: &Links<'_>, stream: &EthernetStream<'_>) -> Option<Risk> {
    let entered = links.entered(stream, stream.class.queue()?);
    let sent = (links.arrivals.at(stream.id, links.view.id), links.arrivals.busy(stream.hop.from));
    virtual_links::policed(links.view, stream, sent, entered)
}

/// Scheduled frames that the switch can pass on to a station after their slots.
fn over(links: &Links<'_>, node: NodeId, line: &LineLoad) -> Vec<Risk> {
    let network = links.view.segment;
    let mut found = Vec::new();
    for (slot, end) in links.slots.slots_to(node).zip(line.scheduled_ends()) {
        let Some(stream) = links.view.stream(slot.stream) else { continue };
        let period_end = stream.stream.period * (i64::from(slot.instance / stream.frames()) + 1);
        let limit = slot.end.min(period_end) + network.precision;
        let departs = end - slot.frame_time;
        if departs > limit {
            let cause = Cause::SlotOver { by: departs - limit };
            found.push(Risk { segment: links.view.id, stream: Some(slot.stream), cause });
        }
    }
    found
}

/// The queues in front of a line that can overflow, for every stream that waits there.
fn queue(links: &Links<'_>, node: NodeId, direction: Direction, line: Option<&LineLoad>) -> Vec<Risk> {
    let view = links.view;
    let room = view.segment.queue_len_max;
    let goes = |stream: &EthernetStream<'_>| match direction {
        Direction::ToSwitch => stream.hop.from == node,
        Direction::FromSwitch => stream.hop.to.contains(&node),
    };
    let streams: Vec<EthernetStream<'_>> = view.streams().filter(goes).collect();
    let mut queued = line.iter().flat_map(|line| &line.queued).filter(|one| one.class < CONTROL);
    // By queue: what can wait in it, if something bounds that, and whose frames these are.
    let mut queues: BTreeMap<u8, (Option<u64>, Vec<StreamId>)> = BTreeMap::new();
    let number = |class: u8| if view.segment.shares_queues { CONTROL } else { class };
    let scheduled = line.map(|line| scheduled_bytes(links, node, direction, line));
    queues.insert(number(Priority::TIME_TRIGGERED.0), (scheduled, Vec::new()));
    for stream in &streams {
        let class = stream.class.priority().0;
        let (bytes, waiting_there) = queues.entry(number(class)).or_insert((Some(0), Vec::new()));
        waiting_there.push(stream.id);
        if stream.class.is_time_triggered() {
            continue;
        }
        // What nothing bounds is not among those that are queued.
        let is_known = links.slots.released(stream).is_ok();
        let waiting = line.filter(|_| is_known).zip(queued.by_ref().take(usize::from(is_known)).next());
        let waiting = waiting.and_then(|(line, one)| {
            let stay = line.stay(one.class).ok()?;
            let frames = u64::try_from(one.frames.count(stay + Duration::from_ps(1))).ok()?;
            Some(frames.saturating_mul(u64::from(view.secured_len(stream))))
        });
        *bytes = bytes.zip(waiting).map(|(sum, waiting)| sum.saturating_add(waiting));
    }
    if direction == Direction::FromSwitch && view.segment.sync == Sync::Beacon {
        let (bytes, _) = queues.entry(CONTROL).or_insert((Some(0), Vec::new()));
        *bytes = bytes.map(|bytes| bytes + FRAME_LEN_MIN as u64);
    }
    let full = queues.into_values().filter(|(bytes, _)| bytes.is_none_or(|bytes| bytes > room));
    let risks = full.flat_map(|(bytes, streams)| {
        let cause = Cause::QueueFull { node, direction, bytes, room };
        streams.into_iter().map(move |id| Risk { segment: view.id, stream: Some(id), cause: cause.clone() })
    });
    risks.collect()
}

/// What scheduled frames can take of a queue while they wait for the line `[byte]`.
fn scheduled_bytes(links: &Links<'_>, node: NodeId, direction: Direction, line: &LineLoad) -> u64 {
    match direction {
        Direction::ToSwitch => waiting_in_slots(links.view, links.slots.slots_from(NetworkName::A, node), line),
        Direction::FromSwitch => waiting_in_slots(links.view, links.slots.slots_to(node), line),
    }
}

/// What frames in these slots, which are the reserved ones of a line, can take of its queue while they wait for it `[byte]`.
pub(super) fn waiting_in_slots<'s>(view: Ethernet<'_>, slots: impl Iterator<Item = &'s Slot>, line: &LineLoad) -> u64 {
    let mut spans: Vec<(Duration, Duration, u64)> = (slots.zip(line.reserved.iter().zip(line.scheduled_ends())))
        .map(|(slot, (reserved, end))| {
            let len = view.stream(slot.stream).map_or(0, |stream| view.secured_len(&stream));
            (reserved.from, end - slot.frame_time, u64::from(len))
        })
        .collect();
    spans.sort_unstable();
    let at = |(from, ..): &(Duration, Duration, u64)| {
        spans.iter().filter(|(first, last, _)| first <= from && from <= last).map(|(.., len)| len).sum::<u64>()
    };
    spans.iter().map(at).max().unwrap_or(0)
}
