//! Hops on an Ethernet segment: switches with a schedule table and strict priorities below it. One switch whose links are
//! alike is bounded here, several of them and links that differ in [`wired`].

use std::collections::BTreeMap;

use chronoseal_core::{Duration, NodeId, StreamId, Work};
use chronoseal_media::ethernet::Integration;
use chronoseal_media::line::LineSpeed;
use chronoseal_media::schedule::{ScheduleTable, Slot};
use chronoseal_plan::{
    Copies, Dispatch, ETHERNET, Ethernet, EthernetHop, EthernetSegment, EthernetStream, HopPlan, NetworkName, Plan,
    SegmentId, StreamPlan, Sync, relayed_frame_len,
};
use chronoseal_wire::ethernet::{FRAME_LEN_MIN, HEADER_LEN};

mod control;
mod copies;
pub(super) mod exported;
mod load;
mod losses;
mod metering;
mod ports;
pub mod routed;
mod slots;
pub(super) mod stream_filters;
pub(super) mod threats;
pub(super) mod time_aware;
mod virtual_links;
mod windows;
mod wired;

use super::demand::{Overload, Periodic};
use super::line::{CONTROL, LineLoad, Queued, Reserved};
use super::processor::{Jobs, ScheduledJob, mac_work};
use super::{Arrivals, HopBound, HostFrame, LinkLoad, MadeUp, Risk, SegmentBounds, Span, Why, without_bound};
use crate::bounds::ways;
use routed::{LinkProblem, LinkReason};
use slots::{Slots, first_bit_max, received_in_slot};

/// Latencies under the schedule table, and below it by strict priority.
///
/// A stream that begins in slots counts from its slot's start. One that comes to slots from another segment waits for the
/// next one, the distance of its slots at most. A frame without a slot waits on the station's link and again on each
/// receiver's: one of best effort, or one of a virtual link, which goes before all of best effort.
#[derive(Clone, Copy, Debug)]
pub struct EthernetBounds;

impl SegmentBounds for EthernetBounds {
    fn kind(&self) -> &'static str {
        ETHERNET
    }

    fn authentication(&self, plan: &Plan, stream: StreamId, hop: &HopPlan) -> Option<Work> {
        let own: &EthernetHop = hop.facet.get()?;
        let (class, header) = (&own.class, HEADER_LEN as u32 + own.tags_len());
        let number = class.ct_id().unwrap_or(stream.0);
        let payload_len = match own.datagram {
            None => hop.frame_len.saturating_sub(header + own.trailer_len()),
            Some(datagram) => {
                datagram.data_len - plan.protection_on(&plan.streams[stream.index()], hop).overhead_bytes()
            }
        };
        mac_work(plan, stream, hop, number, payload_len)
    }

    /// The copy that comes first is opened. Where single frames are lost by noise, it can be opened and then refused, since too many of its
    /// network are missing, and the one of the other network is opened as well.
    fn openings_per_period(&self, plan: &Plan, _: StreamId, hop: &HopPlan) -> u64 {
        let is_noisy = Ethernet::of(plan, hop.segment).is_some_and(|view| !view.segment.frame_losses.is_empty());
        let copies = hop.facet.get::<EthernetHop>().map(|hop| &hop.copies);
        match copies {
            Some(Copies::BothNetworks { .. }) if is_noisy => 2,
            _ => 1,
        }
    }

    fn is_in_slots(&self, hop: &HopPlan) -> bool {
        hop.facet.get::<EthernetHop>().is_some_and(|hop| hop.class.is_time_triggered())
    }

    fn has_host_interfaces(&self) -> bool {
        true
    }

    fn regulator_gap(&self, plan: &Plan, segment: SegmentId, stream: StreamId) -> Option<Duration> {
        let view = Ethernet::of(plan, segment)?;
        let own = view.stream(stream)?;
        Some(virtual_links::longest_gap(view, &own, own.class.virtual_link()?))
    }

    fn host_frame(&self, plan: &Plan, stream: StreamId, hop: &HopPlan) -> Option<HostFrame> {
        let EthernetHop { class, copies, datagram, .. } = hop.facet.get()?;
        Some(HostFrame {
            frames: datagram.map_or(1, |datagram| datagram.frames()),
            copies: copies.count(),
            class: class.priority().0,
            len: u64::from(plan.secured_len(&plan.streams[stream.index()], hop)),
        })
    }

    fn gives_up_after(&self, _: &Plan, stream: &StreamPlan, hop: &HopPlan) -> Option<(Duration, Duration)> {
        let EthernetHop { class, datagram, .. } = hop.facet.get()?;
        // In slots the last frame of a message does not come before its turn, and all of its slots lie within the period.
        let before = if class.is_time_triggered() { stream.period } else { Duration::ZERO };
        Some(((*datagram)?.timeout, before))
    }

    fn slots_of_message(&self, hop: &HopPlan) -> u32 {
        hop.facet.get::<EthernetHop>().and_then(|hop| hop.datagram).map_or(1, |datagram| datagram.frames())
    }

    fn loads(&self, plan: &Plan, segment: SegmentId) -> Vec<LinkLoad> {
        Ethernet::of(plan, segment).map(load::of_links).unwrap_or_default()
    }

    fn scheduled_jobs(
        &self,
        jobs: &Jobs<'_>,
        segment: SegmentId,
        prepared: Option<&ScheduleTable>,
    ) -> Vec<ScheduledJob> {
        let (Some(view), Some(table)) = (Ethernet::of(jobs.plan, segment), prepared) else { return Vec::new() };
        let network = view.segment;
        let mut found = Vec::new();
        for task in &table.tasks {
            let (earliest, latest) = (task.start - network.precision, task.start + network.precision);
            let own_time = Some(task.start);
            found.push(ScheduledJob { node: task.node, earliest, latest, cost: task.length, own_time });
        }
        // What is later than the switch allows does not come at all.
        let late =
            |_: usize, slot: &Slot| (first_bit_max(view, slot) - slot.start - network.precision).max(Duration::ZERO);
        for (stream, ways) in view.streams().zip(ways(view, table, &late)) {
            // A message is sealed before the slot of its first frame, and counts from there.
            for slot in table.of(stream.id).filter(|slot| stream.frame_in(slot.instance) == 0) {
                found.push(ScheduledJob {
                    node: stream.hop.from,
                    earliest: slot.release - network.precision,
                    latest: slot.release + network.precision,
                    cost: jobs.sealing(stream.id, stream.hop),
                    own_time: Some(slot.release),
                });
                for way in &ways {
                    let copies = received_in_slot(network, stream.hop.from, way, late(0, slot)).into_iter();
                    let Some(received) = copies.reduce(slots::either) else { continue };
                    let opened = self.openings_per_period(jobs.plan, stream.id, stream.hop) as i64;
                    found.push(ScheduledJob {
                        node: way.receiver,
                        // Its clock and the switch's differ by the precision one way or the other.
                        earliest: slot.start + received.min - network.precision,
                        latest: slot.start + received.max + network.precision,
                        cost: jobs.on_arrival(stream.id, stream.hop, way.receiver) * opened,
                        own_time: None,
                    });
                }
            }
        }
        found
    }

    fn made_up(&self, plan: &Plan, stream: StreamId, segment: SegmentId) -> Vec<MadeUp> {
        Ethernet::of(plan, segment).map_or_else(Vec::new, |view| threats::made_up(view, stream))
    }

    fn risks(
        &self,
        plan: &Plan,
        segment: SegmentId,
        prepared: Option<&ScheduleTable>,
        arrivals: &Arrivals,
    ) -> Vec<Risk> {
        let Some(view) = Ethernet::of(plan, segment) else { return Vec::new() };
        losses::of_clocks(view, all_risks(view, prepared, arrivals))
    }

    fn bounds(
        &self,
        plan: &Plan,
        segment: SegmentId,
        prepared: Option<&ScheduleTable>,
        arrivals: &Arrivals,
    ) -> Vec<HopBound> {
        let Some(view) = Ethernet::of(plan, segment) else {
            return without_bound(plan, segment, Why::UnknownKind(plan.segments[segment.index()].kind));
        };
        if let Some(why) = unbounded_clocks(view, prepared, arrivals) {
            return without_bound(plan, segment, why);
        }
        let Some(table) = prepared else { return without_bound(plan, segment, Why::NoSchedule) };
        let by_calculus = wired::bounds(view, table, arrivals);
        let mut found = match is_simple(view) {
            true => least(Links::new(view, table, arrivals).bounds(), &by_calculus),
            false => by_calculus,
        };
        // What bounds their frames for others says nothing of when one of them is due.
        for hop in found.iter_mut().filter(|hop| plan.streams[hop.stream.index()].recorded().is_some()) {
            hop.received = Err(Why::Recording);
        }
        found
    }
}

/// Of two bounds of each hop, both of which hold, what they say together.
fn least(hops: Vec<HopBound>, others: &[HopBound]) -> Vec<HopBound> {
    let place = |hop: &HopBound| (hop.stream, hop.receiver);
    let known: BTreeMap<_, _> = others.iter().map(|hop| (place(hop), hop.received)).collect();
    let both = |hop: HopBound| {
        let received = match (hop.received, known.get(&place(&hop))) {
            (Ok(one), Some(Ok(other))) => {
                let max = one.max.min(other.max);
                Ok(Span { min: one.min.max(other.min).min(max), max })
            }
            (Err(_), Some(Ok(other))) => Ok(*other),
            (one, _) => one,
        };
        HopBound { received, ..hop }
    };
    hops.into_iter().map(both).collect()
}

/// Every risk, those of clocks as risks of the whole segment.
fn all_risks(view: Ethernet<'_>, prepared: Option<&ScheduleTable>, arrivals: &Arrivals) -> Vec<Risk> {
    let mut of_cluster = control::risks(view);
    of_cluster.extend(prepared.and_then(|table| control::in_slots(view, table)));
    if unbounded_clocks(view, prepared, arrivals).is_some() {
        // Nothing is bounded else.
        return if view.segment.sync == Sync::Gptp { losses::failing(view) } else { of_cluster };
    }
    let Some(table) = prepared else { return Vec::new() };
    let mut found = losses::failing(view);
    found.extend(of_cluster);
    if !is_simple(view) {
        found.extend(wired::risks(view, table, arrivals));
    } else {
        found.extend(losses::of_segment(&Links::new(view, table, arrivals)));
    }
    found
}

/// True for one switch whose links are alike and kept free for frames in slots, with no more to it than its schedule, strict
/// priorities, a beacon and messages of a frame each.
fn is_simple(view: Ethernet<'_>) -> bool {
    let has_slots = view.streams().any(|stream| stream.class.is_time_triggered());
    let is_kept_free = !has_slots || view.segment.integration == Integration::TimelyBlock;
    let is_switch_led = matches!(view.segment.sync, Sync::None | Sync::Beacon | Sync::Ideal);
    is_plain_where_used(view)
        && is_kept_free
        && is_switch_led
        && !threats::are_there(view)
        && !virtual_links::are_shared(view)
        && view.streams().all(|stream| stream.datagram.is_none())
}

/// True for one switch whose links that carry streams are all as the segment says, whose ports on their ways send by strict priority, and
/// which filters no streams.
fn is_plain_where_used(view: Ethernet<'_>) -> bool {
    let EthernetSegment { wiring, ports, stream_filters, .. } = view.segment;
    let is_idle = |node: NodeId| view.streams().all(|stream| stream.hop.from != node && !stream.hop.to.contains(&node));
    wiring.switches == 1
        && wiring.stations.iter().all(|link| is_idle(link.node))
        && (ports.is_plain() || ports::used_ends(view).iter().all(|end| ports.of(*end).is_none()))
        && stream_filters.filters.is_empty()
}

/// Why nothing is bounded where clocks are kept together in a way, if so.
fn unbounded_clocks(view: Ethernet<'_>, table: Option<&ScheduleTable>, arrivals: &Arrivals) -> Option<Why> {
    let has_tasks = table.is_some_and(|table| !table.tasks.is_empty());
    match view.segment.sync {
        Sync::None | Sync::Beacon | Sync::Ideal => None,
        Sync::As6802 => control::unbounded(view, has_tasks, arrivals),
        Sync::Gptp => time_aware::unbounded(view, has_tasks),
    }
}

/// When the switch has a frame that it passes on at once ready for its receivers' links, at the latest.
fn passed_on_by(view: Ethernet<'_>, slot: &Slot) -> Duration {
    slot.end + view.segment.forwarding_delay + view.segment.forwarding_jitter.max
}

/// Every link of a segment, with what goes over it as far as `arrivals` tell.
struct Links<'a> {
    view: Ethernet<'a>,
    arrivals: &'a Arrivals,
    slots: Slots<'a>,
    speed: LineSpeed,
    /// By station: to the switch, and from it, with the stay of each class.
    up: Vec<Result<LineStays, Why>>,
    down: Vec<Result<LineStays, Why>>,
}

/// How long frames of each class stay in front of a line and on it.
type LineStays = [Result<Duration, Why>; CONTROL as usize];

impl<'a> Links<'a> {
    fn new(view: Ethernet<'a>, table: &'a ScheduleTable, arrivals: &'a Arrivals) -> Self {
        let speed = view.segment.speed_over(view.segment.default_link());
        let nodes = view.plan.nodes.len();
        let none = || vec![Ok([Err(Why::NotReached); CONTROL as usize]); nodes];
        let slots = Slots::new(view, table, arrivals);
        let mut links = Self { view, arrivals, slots, speed, up: none(), down: none() };
        let switch = view.plan.own_node(view.id, 0);
        for node in view.stations() {
            let (line, _) = links.slots.uplink(NetworkName::A, node);
            links.up[node.index()] = links.spoiled_up(node).map_or_else(|| Ok(stays(&line, (node, switch))), Err);
        }
        for node in view.stations() {
            links.down[node.index()] = links.downlink(node).map(|line| stays(&line, (switch, node)));
        }
        links
    }

    /// When frames are at their receivers.
    fn bounds(&self) -> Vec<HopBound> {
        let late = |index: usize, _: &Slot| self.slots.late[index];
        let mut hops = Vec::new();
        for (stream, ways) in self.view.streams().zip(ways(self.view, self.slots.table, &late)) {
            for way in ways {
                let received = match stream.class.queue() {
                    None => self.slots.received(&stream, &way),
                    Some(queue) => self.queued(&stream, queue, way.receiver),
                };
                hops.push(HopBound { stream: stream.id, receiver: way.receiver, received });
            }
        }
        hops
    }

    /// Why nothing bounds what a station puts on its link, if so.
    fn spoiled_up(&self, node: NodeId) -> Option<Why> {
        let mut sent = self.view.streams().filter(|stream| stream.hop.from == node);
        let is_unbounded = |stream: EthernetStream<'_>| match stream.class.is_time_triggered() {
            true => self.arrivals.busy(node).is_err(),
            false => self.slots.released(&stream).is_err(),
        };
        sent.any(is_unbounded).then_some(Why::ArrivalUnbounded)
    }

    /// The link from the switch to a station.
    fn downlink(&self, node: NodeId) -> Result<LineLoad, Why> {
        let (view, network) = (self.view, self.view.segment);
        let mut line = LineLoad { cycle: self.slots.table.cluster_cycle, ..LineLoad::default() };
        for stream in view.streams().filter(|stream| stream.hop.to.contains(&node)) {
            let Some(queue) = stream.class.queue() else { continue };
            let at = self.forwarded(&stream, queue)?;
            let distance = self.arrivals.at(stream.id, view.id).distance;
            line.queued.push(self.slots.queue(self.speed, &stream, queue, distance, at.jitter()));
        }
        if network.sync == Sync::Beacon {
            let cost = self.speed.occupancy(FRAME_LEN_MIN as u64);
            let frames = Periodic { period: network.integration_cycle, jitter: Duration::ZERO, cost };
            line.queued.push(Queued { class: CONTROL, frames, longest: cost });
        }
        for (index, slot) in self.slots.table.slots.iter().enumerate() {
            if !view.stream(slot.stream).is_some_and(|stream| stream.hop.to.contains(&node)) {
                continue;
            }
            let (from, latest) = match network.dispatch {
                Dispatch::Scheduled => (slot.dispatch, slot.dispatch),
                Dispatch::Immediate => {
                    let late = network.precision + self.slots.late[index] + network.forwarding_jitter.max;
                    (slot.dispatch - network.precision, (slot.dispatch + late).min(passed_on_by(view, slot)))
                }
            };
            let frame_time = slot.frame_time;
            line.reserved.push(Reserved { from: from.min(slot.dispatch), until: slot.dispatch, latest, frame_time });
        }
        Ok(line)
    }

    /// When a frame without a slot is in the switch.
    fn entered(&self, stream: &EthernetStream<'_>, class: u8) -> Result<Span, Why> {
        let driver = self.view.plan.nodes[stream.hop.from.index()].driver;
        let at = self.slots.released(stream)?.later(driver.min, driver.max);
        let up = self.up[stream.hop.from.index()]?;
        Ok(self.over(stream, at, up[usize::from(class)]?))
    }

    /// When a frame without a slot is in the queue of its receivers' links.
    fn forwarded(&self, stream: &EthernetStream<'_>, class: u8) -> Result<Span, Why> {
        let network = self.view.segment;
        let at = self.entered(stream, class)?;
        let forwarding = network.forwarding_delay;
        Ok(at.later(forwarding + network.forwarding_jitter.min, forwarding + network.forwarding_jitter.max))
    }

    /// When a frame without a slot is received.
    fn queued(&self, stream: &EthernetStream<'_>, class: u8, receiver: NodeId) -> Result<Span, Why> {
        let at = self.forwarded(stream, class)?;
        let down = self.down[receiver.index()]?;
        Ok(self.over(stream, at, down[usize::from(class)]?))
    }

    /// Over one line, in front of which and on which it stays so long at most.
    fn over(&self, stream: &EthernetStream<'_>, at: Span, stay: Duration) -> Span {
        let len = u64::from(self.view.secured_len(stream));
        let received = self.speed.reception(len);
        // The last bit is there before the line is free again.
        at.later(self.speed.reception(self.len_min(stream)), stay - self.speed.occupancy(len) + received)
    }

    /// The shortest frame of a stream: of several PDUs collected in one there may be only one.
    fn len_min(&self, stream: &EthernetStream<'_>) -> u64 {
        let overhead = self.view.protection_of(stream).overhead_bytes();
        let shortest = self.view.plan.container_len_min(stream.id);
        let len = shortest.map(|len| relayed_frame_len(len, overhead) + overhead + stream.tag_len());
        u64::from(len.unwrap_or(self.view.secured_len(stream)))
    }
}

fn stays(line: &LineLoad, (from, to): (NodeId, NodeId)) -> LineStays {
    let why = |overload| match overload {
        Overload::Load { load_ppm } => Why::Link(LinkProblem { from, to, reason: LinkReason::Overload { load_ppm } }),
        other => Why::Overload(other),
    };
    let mut stays = [Err(Why::NotReached); CONTROL as usize];
    for class in line.queued.iter().map(|one| one.class).filter(|class| *class < CONTROL) {
        let stay = &mut stays[usize::from(class)];
        if *stay == Err(Why::NotReached) {
            *stay = line.stay(class).map_err(why);
        }
    }
    stays
}
