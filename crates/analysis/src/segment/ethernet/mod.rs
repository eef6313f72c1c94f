//! Hops on an Ethernet segment: a switch with a schedule table and strict priorities below it, or best effort over several
//! switches and links that differ ([`wired`]).

use chronoseal_core::{Duration, NodeId, StreamId, Work};
use chronoseal_media::line::LineSpeed;
use chronoseal_media::schedule::{ScheduleTable, Slot};
use chronoseal_scenario::kinds::ethernet::relayed_frame_len;
use chronoseal_scenario::plan::{
    Dispatch, ETHERNET, Ethernet, EthernetHop, EthernetSegment, EthernetStream, HopPlan, Plan, SegmentId, StreamClass,
    Sync,
};
use chronoseal_wire::ethernet::{FRAME_LEN_MIN, HEADER_LEN};

mod losses;
pub mod routed;
mod wired;

use super::demand::Periodic;
use super::line::{CONTROL, LineLoad, Queued, Reserved};
use super::processor::{Jobs, ScheduledJob, mac_work};
use super::{Arrivals, HopBound, Risk, SegmentBounds, Span, Why, without_bound};
use crate::bounds::{Latency, ways, why_unbounded};

/// Latencies under the schedule table, and below it by strict priority.
///
/// A stream that begins in slots counts from its slot's start. One that comes to slots from another segment waits for the
/// next one, the distance of its slots at most. A best-effort frame waits on the station's link and again on each
/// receiver's.
#[derive(Clone, Copy, Debug)]
pub struct EthernetBounds;

impl SegmentBounds for EthernetBounds {
    fn kind(&self) -> &'static str {
        ETHERNET
    }

    fn authentication(&self, plan: &Plan, stream: StreamId, hop: &HopPlan) -> Option<Work> {
        let EthernetHop { class, .. } = hop.facet.get()?;
        let number = match class {
            StreamClass::TimeTriggered { ct_id } => *ct_id,
            StreamClass::BestEffort { .. } => stream.0,
        };
        mac_work(plan, stream, hop, number, hop.frame_len.saturating_sub(HEADER_LEN as u32))
    }

    fn is_in_slots(&self, hop: &HopPlan) -> bool {
        hop.facet.get::<EthernetHop>().is_some_and(|hop| hop.class.is_time_triggered())
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
            for slot in table.of(stream.id) {
                found.push(ScheduledJob {
                    node: stream.hop.from,
                    earliest: slot.release - network.precision,
                    latest: slot.release + network.precision,
                    cost: jobs.sealing(stream.id, stream.hop),
                    own_time: Some(slot.release),
                });
                for way in &ways {
                    let Some(latency) = way.latency else { continue };
                    let received = received_in_slot(network, latency, late(0, slot));
                    found.push(ScheduledJob {
                        node: way.receiver,
                        // Its clock and the switch's differ by the precision one way or the other.
                        earliest: slot.start + received.min - network.precision,
                        latest: slot.start + received.max + network.precision,
                        cost: jobs.on_arrival(stream.id, stream.hop, way.receiver),
                        own_time: None,
                    });
                }
            }
        }
        found
    }

    fn risks(
        &self,
        plan: &Plan,
        segment: SegmentId,
        prepared: Option<&ScheduleTable>,
        arrivals: &Arrivals,
    ) -> Vec<Risk> {
        let Some(view) = Ethernet::of(plan, segment) else { return Vec::new() };
        if !view.segment.wiring.is_plain() {
            return wired::risks(view, arrivals);
        }
        let Some(table) = prepared else { return Vec::new() };
        losses::of_segment(&Links::new(view, table, arrivals))
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
        if !view.segment.wiring.is_plain() {
            return wired::bounds(view, arrivals);
        }
        let Some(table) = prepared else { return without_bound(plan, segment, Why::NoSchedule) };
        let links = Links::new(view, table, arrivals);
        let late = |index: usize, _: &Slot| links.late[index];
        let mut hops = Vec::new();
        for (stream, ways) in view.streams().zip(ways(view, table, &late)) {
            let slots: Vec<_> = table.of(stream.id).collect();
            for way in ways {
                let received = match stream.class {
                    StreamClass::TimeTriggered { .. } => in_slots(&stream, &links, &slots, way.latency),
                    StreamClass::BestEffort { priority } => links.queued(&stream, priority, way.receiver),
                };
                hops.push(HopBound { stream: stream.id, receiver: way.receiver, received });
            }
        }
        hops
    }
}

/// When a frame in one of its slots is received.
fn in_slots(
    stream: &EthernetStream<'_>,
    links: &Links<'_>,
    slots: &[&Slot],
    latency: Option<Latency>,
) -> Result<Span, Why> {
    let latency = latency.ok_or(Why::NotScheduled(why_unbounded(stream)))?;
    let network = links.view.segment;
    let arrival = links.arrivals.at(stream.id, links.view.id);
    let start = arrival.at?;
    let late = links.slots_of(stream.id).map(|(index, _)| links.late[index]).max().unwrap_or_default();
    let from_start = received_in_slot(network, latency, late);
    if arrival.begins {
        return Ok(start.later(from_start.min, from_start.max));
    }
    // The newest frame is taken when the slot's begin to be made ready; what comes right after that waits for the next. A
    // sender that is late with it may even take one that comes when the slot has begun.
    let min = links.speed.reception(u64::from(links.view.secured_len(stream))) * 2 + network.forwarding_delay;
    let ready = slots.iter().map(|slot| slot.start - slot.release).max().unwrap_or_default();
    let wait = distance_max(slots, links.table.cluster_cycle) + ready + network.precision * 2;
    Ok(start.later(min, from_start.max + wait))
}

/// When a frame is received, counted from the start of its slot, if its first bit can be so `late`.
///
/// A frame that the switch holds until its dispatch leaves by the switch's clock; another one as its sender begins, whose
/// clock differs by the precision one way or the other.
fn received_in_slot(network: &EthernetSegment, latency: Latency, late: Duration) -> Span {
    // The times of the table end with the gap behind a frame, a reception with its last bit. It counts on each link where a
    // frame is early, and on the last one in any case.
    let len = FRAME_LEN_MIN as u64;
    let speed = speed(network);
    let gap = speed.occupancy(len) + network.propagation_delay - speed.reception(len);
    let (min, max) = (latency.min - gap * 2, latency.max - gap);
    match network.dispatch {
        Dispatch::Scheduled => Span { min, max },
        Dispatch::Immediate => Span { min: min - network.precision, max: max + network.precision + late },
    }
}

/// When the first bit of a frame that the switch still takes into its slot leaves its sender at the latest.
fn first_bit_max(view: Ethernet<'_>, slot: &Slot) -> Duration {
    let network = view.segment;
    let closes = match network.dispatch {
        Dispatch::Scheduled => slot.dispatch - network.forwarding_delay,
        Dispatch::Immediate => slot.end,
    };
    let len = view.stream(slot.stream).map_or(0, |stream| view.secured_len(&stream));
    (closes - speed(network).reception(u64::from(len))).max(slot.start)
}

/// How long frames take on the links of a segment.
fn speed(network: &EthernetSegment) -> LineSpeed {
    LineSpeed::new(
        network.rate,
        network.accounting.overhead_bytes(),
        network.accounting.gap_bytes(),
        network.propagation_delay,
    )
}

/// The longest distance of two slots of a stream.
fn distance_max(slots: &[&Slot], cycle: Duration) -> Duration {
    let starts = slots.iter().map(|slot| slot.start);
    let next = slots.iter().skip(1).map(|slot| slot.start).chain(slots.first().map(|slot| slot.start + cycle));
    starts.zip(next).map(|(start, next)| next - start).max().unwrap_or(cycle)
}

/// When the switch has a frame that it passes on at once ready for its receivers' links, at the latest.
fn passed_on_by(view: Ethernet<'_>, slot: &Slot) -> Duration {
    slot.end + view.segment.forwarding_delay + view.segment.forwarding_jitter.max
}

/// Every link of a segment, with what goes over it as far as `arrivals` tell.
struct Links<'a> {
    view: Ethernet<'a>,
    table: &'a ScheduleTable,
    arrivals: &'a Arrivals,
    speed: LineSpeed,
    /// By slot: how much later than its clock says its first bit can leave.
    late: Vec<Duration>,
    /// By slot: when its first bit leaves its sender at the latest, whether the switch still takes it or not.
    first_bit: Vec<Duration>,
    /// By station: to the switch, and from it, with the stay of each class.
    up: Vec<Result<LineStays, Why>>,
    down: Vec<Result<LineStays, Why>>,
}

/// How long frames of each class stay in front of a line and on it.
type LineStays = [Result<Duration, Why>; 8];

impl<'a> Links<'a> {
    fn new(view: Ethernet<'a>, table: &'a ScheduleTable, arrivals: &'a Arrivals) -> Self {
        let network = view.segment;
        let speed = speed(network);
        let nodes = view.plan.nodes.len();
        let none = || vec![Ok([Err(Why::NotReached); 8]); nodes];
        let none_yet = vec![Duration::ZERO; table.slots.len()];
        let (late, first_bit) = (none_yet.clone(), none_yet);
        let mut links = Self { view, table, arrivals, speed, late, first_bit, up: none(), down: none() };
        for node in view.stations() {
            let (line, slots) = links.uplink(node);
            for (index, end) in slots.iter().zip(line.scheduled_ends()) {
                let slot = &table.slots[*index];
                links.first_bit[*index] = end - slot.frame_time;
                let first_bit = links.first_bit[*index].min(first_bit_max(view, slot));
                let late = first_bit - slot.start - network.precision;
                links.late[*index] = late.max(Duration::ZERO);
            }
            links.up[node.index()] = links.spoiled_up(node).map_or_else(|| Ok(stays(&line)), Err);
        }
        for node in view.stations() {
            links.down[node.index()] = links.downlink(node).map(|line| stays(&line));
        }
        links
    }

    /// Why nothing bounds what a station puts on its link, if so.
    fn spoiled_up(&self, node: NodeId) -> Option<Why> {
        let mut sent = self.view.streams().filter(|stream| stream.hop.from == node);
        let is_unbounded = |stream: EthernetStream<'_>| match stream.class {
            StreamClass::TimeTriggered { .. } => self.arrivals.busy(node).is_err(),
            StreamClass::BestEffort { .. } => self.arrivals.at(stream.id, self.view.id).at.is_err(),
        };
        sent.any(is_unbounded).then_some(Why::ArrivalUnbounded)
    }

    /// The link from a station to the switch, and which slots of the table are in it.
    fn uplink(&self, node: NodeId) -> (LineLoad, Vec<usize>) {
        let (view, network) = (self.view, self.view.segment);
        let driver = view.plan.nodes[node.index()].driver;
        let mut line = LineLoad { cycle: self.table.cluster_cycle, ..LineLoad::default() };
        for stream in view.streams().filter(|stream| stream.hop.from == node) {
            let StreamClass::BestEffort { priority } = stream.class else { continue };
            let arrival = self.arrivals.at(stream.id, view.id);
            let Ok(at) = arrival.at else { continue };
            let at = at.later(driver.min, driver.max);
            line.queued.push(self.queue(&stream, priority, arrival.distance, at.jitter()));
        }
        let mut slots = Vec::new();
        for (index, slot) in self.table.slots.iter().enumerate() {
            let Some(stream) = view.stream(slot.stream).filter(|stream| stream.hop.from == node) else { continue };
            let blocked = self.arrivals.blocked(view.id, index).unwrap_or_default();
            let computed = (slot.release + blocked + self.seal(&stream)).max(slot.start);
            line.reserved.push(Reserved {
                from: slot.start - network.precision,
                until: slot.start + network.precision,
                latest: computed + network.precision + driver.max,
                frame_time: slot.frame_time,
            });
            slots.push(index);
        }
        (line, slots)
    }

    /// The link from the switch to a station.
    fn downlink(&self, node: NodeId) -> Result<LineLoad, Why> {
        let (view, network) = (self.view, self.view.segment);
        let mut line = LineLoad { cycle: self.table.cluster_cycle, ..LineLoad::default() };
        for stream in view.streams().filter(|stream| stream.hop.to.contains(&node)) {
            let StreamClass::BestEffort { priority } = stream.class else { continue };
            let at = self.forwarded(&stream, priority)?;
            let distance = self.arrivals.at(stream.id, view.id).distance;
            line.queued.push(self.queue(&stream, priority, distance, at.jitter()));
        }
        if network.sync == Sync::Beacon {
            let cost = self.speed.occupancy(FRAME_LEN_MIN as u64);
            let frames = Periodic { period: network.integration_cycle, jitter: Duration::ZERO, cost };
            line.queued.push(Queued { class: CONTROL, frames, longest: cost });
        }
        for (index, slot) in self.table.slots.iter().enumerate() {
            if !view.stream(slot.stream).is_some_and(|stream| stream.hop.to.contains(&node)) {
                continue;
            }
            let (from, latest) = match network.dispatch {
                Dispatch::Scheduled => (slot.dispatch, slot.dispatch),
                Dispatch::Immediate => {
                    let late = network.precision + self.late[index] + network.forwarding_jitter.max;
                    (slot.dispatch - network.precision, (slot.dispatch + late).min(passed_on_by(view, slot)))
                }
            };
            let frame_time = slot.frame_time;
            line.reserved.push(Reserved { from: from.min(slot.dispatch), until: slot.dispatch, latest, frame_time });
        }
        Ok(line)
    }

    fn queue(&self, stream: &EthernetStream<'_>, priority: u8, period: Duration, jitter: Duration) -> Queued {
        let longest = self.speed.occupancy(u64::from(self.view.secured_len(stream)));
        // A PDU that counts by itself is alone in its frame; a frame of several takes no longer than one for each.
        let overhead = self.view.protection_of(stream).overhead_bytes();
        let counted = self.view.plan.contained_len_max(stream.id);
        let counted = counted.filter(|_| self.arrivals.counts_pdus(stream.id, self.view.id));
        let alone = counted.map(|len| self.speed.occupancy(u64::from(relayed_frame_len(len, overhead) + overhead)));
        let cost = alone.unwrap_or(longest);
        Queued { class: priority.min(7), frames: Periodic { period, jitter, cost }, longest }
    }

    /// When a best-effort frame is in the queue of its receivers' links.
    fn forwarded(&self, stream: &EthernetStream<'_>, priority: u8) -> Result<Span, Why> {
        let network = self.view.segment;
        let driver = self.view.plan.nodes[stream.hop.from.index()].driver;
        let at = self.arrivals.at(stream.id, self.view.id).at?.later(driver.min, driver.max);
        let up = self.up[stream.hop.from.index()]?;
        let at = self.over(stream, at, up[usize::from(priority.min(7))]?);
        let forwarding = network.forwarding_delay;
        Ok(at.later(forwarding + network.forwarding_jitter.min, forwarding + network.forwarding_jitter.max))
    }

    /// When a best-effort frame is received.
    fn queued(&self, stream: &EthernetStream<'_>, priority: u8, receiver: NodeId) -> Result<Span, Why> {
        let at = self.forwarded(stream, priority)?;
        let down = self.down[receiver.index()]?;
        Ok(self.over(stream, at, down[usize::from(priority.min(7))]?))
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
        let len = shortest.map(|len| relayed_frame_len(len, overhead) + overhead);
        u64::from(len.unwrap_or(self.view.secured_len(stream)))
    }

    /// Slots of frames from a station, in the order of [`Self::uplink`]'s reservations.
    fn slots_from(&self, node: NodeId) -> impl Iterator<Item = &Slot> {
        let is_from = move |slot: &&Slot| self.view.stream(slot.stream).is_some_and(|stream| stream.hop.from == node);
        self.table.slots.iter().filter(is_from)
    }

    /// Slots of frames to a station.
    fn slots_to(&self, node: NodeId) -> impl Iterator<Item = &Slot> {
        let is_to =
            move |slot: &&Slot| self.view.stream(slot.stream).is_some_and(|stream| stream.hop.to.contains(&node));
        self.table.slots.iter().filter(is_to)
    }

    /// What sealing a stream costs its sender.
    fn seal(&self, stream: &EthernetStream<'_>) -> Duration {
        Jobs::new(self.view.plan, super::BOUNDS).sealing(stream.id, stream.hop)
    }

    fn slots_of(&self, stream: StreamId) -> impl Iterator<Item = (usize, &Slot)> {
        self.table.slots.iter().enumerate().filter(move |(_, slot)| slot.stream == stream)
    }
}

fn stays(line: &LineLoad) -> LineStays {
    let mut stays = [Err(Why::NotReached); 8];
    for class in line.queued.iter().map(|one| one.class).filter(|class| *class < CONTROL) {
        let stay = &mut stays[usize::from(class)];
        if *stay == Err(Why::NotReached) {
            *stay = line.stay(class).map_err(Why::Overload);
        }
    }
    stays
}
