//! Frames in slots: when they leave their senders, and when they are received.
//!
//! A sender begins in its slot by its own clock, and later if its processor or its driver is late; then its frame meets what
//! the reservation of its link keeps away else. Behind the first switch everything keeps to the table, in one switch or over
//! several.

use chronoseal_core::{Duration, NodeId, StreamId};
use chronoseal_media::ethernet::Integration;
use chronoseal_media::line::LineSpeed;
use chronoseal_media::schedule::{ScheduleTable, Slot};
use chronoseal_scenario::kinds::ethernet::relayed_frame_len;
use chronoseal_scenario::plan::{Dispatch, Ethernet, EthernetSegment, EthernetStream};
use chronoseal_wire::ethernet::FRAME_LEN_MIN;

use super::super::demand::Periodic;
use super::super::line::{LineLoad, Queued, Reserved};
use super::super::processor::Jobs;
use super::super::{Arrivals, Span, Why};
use super::virtual_links;
use crate::bounds::{Latency, why_unbounded};

/// The slots of a segment with what its stations send, as far as `arrivals` tell.
pub(super) struct Slots<'a> {
    pub(super) view: Ethernet<'a>,
    pub(super) table: &'a ScheduleTable,
    pub(super) arrivals: &'a Arrivals,
    /// By slot: how much later than its clock says its first bit can leave.
    pub(super) late: Vec<Duration>,
    /// By slot: when its first bit leaves its sender at the latest, whether the switch still takes it or not.
    pub(super) first_bit: Vec<Duration>,
}

impl<'a> Slots<'a> {
    pub(super) fn new(view: Ethernet<'a>, table: &'a ScheduleTable, arrivals: &'a Arrivals) -> Self {
        let none_yet = vec![Duration::ZERO; table.slots.len()];
        let mut slots = Self { view, table, arrivals, late: none_yet.clone(), first_bit: none_yet };
        for node in view.stations() {
            let (line, own) = slots.uplink(node);
            for (index, end) in own.iter().zip(line.scheduled_ends()) {
                let slot = &table.slots[*index];
                slots.first_bit[*index] = end - slot.frame_time;
                let first_bit = slots.first_bit[*index].min(first_bit_max(view, slot));
                let late = first_bit - slot.start - view.segment.precision;
                slots.late[*index] = late.max(Duration::ZERO);
            }
        }
        slots
    }

    /// The link from a station to its switch, and which slots of the table are in it.
    pub(super) fn uplink(&self, node: NodeId) -> (LineLoad, Vec<usize>) {
        let (view, network) = (self.view, self.view.segment);
        let speed = speed_from(network, node);
        let driver = view.plan.nodes[node.index()].driver;
        let waits = network.integration != Integration::TimelyBlock;
        let wait = waits.then(|| view.integration_wait(network.link_of(node).parameters));
        let mut line = LineLoad { cycle: self.table.cluster_cycle, wait, ..LineLoad::default() };
        for stream in view.streams().filter(|stream| stream.hop.from == node) {
            let Some(queue) = stream.class.queue() else { continue };
            let Ok(at) = self.released(&stream) else { continue };
            let at = at.later(driver.min, driver.max);
            let distance = self.arrivals.at(stream.id, view.id).distance;
            line.queued.push(self.queue(speed, &stream, queue, distance, at.jitter()));
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

    /// When a frame without a slot is handed to its sender's driver.
    pub(super) fn released(&self, stream: &EthernetStream<'_>) -> Result<Span, Why> {
        virtual_links::released(self.view, stream, self.arrivals)
    }

    /// What a stream's frames are on a link of this speed.
    pub(super) fn queue(
        &self,
        speed: LineSpeed,
        stream: &EthernetStream<'_>,
        class: u8,
        period: Duration,
        jitter: Duration,
    ) -> Queued {
        let longest = speed.occupancy(u64::from(self.view.secured_len(stream)));
        // A PDU that counts by itself is alone in its frame; a frame of several takes no longer than one for each.
        let overhead = self.view.protection_of(stream).overhead_bytes();
        let counted = self.view.plan.contained_len_max(stream.id);
        let counted = counted.filter(|_| self.arrivals.counts_pdus(stream.id, self.view.id));
        let alone = counted
            .map(|len| speed.occupancy(u64::from(relayed_frame_len(len, overhead) + overhead + stream.tag_len())));
        // All frames of a message come at once.
        let message = stream
            .datagram
            .map(|datagram| longest * i64::from(datagram.frames() - 1) + speed.occupancy(u64::from(datagram.last())));
        let cost = alone.or(message).unwrap_or(longest);
        Queued { class, frames: Periodic { period, jitter, cost }, longest }
    }

    /// When a frame that has a slot is received by a node, if its latency from the start of the slot is this.
    pub(super) fn received(
        &self,
        stream: &EthernetStream<'_>,
        receiver: NodeId,
        latency: Option<Latency>,
    ) -> Result<Span, Why> {
        let latency = latency.ok_or(Why::NotScheduled(why_unbounded(stream)))?;
        let (view, network) = (self.view, self.view.segment);
        let arrival = self.arrivals.at(stream.id, view.id);
        let start = arrival.at?;
        let late = self.of(stream.id).map(|(index, _)| self.late[index]).max().unwrap_or_default();
        let from_start = received_in_slot(network, stream.hop.from, receiver, latency, late);
        if arrival.begins {
            return Ok(start.later(from_start.min, from_start.max));
        }
        // The newest frame is taken when the slot's begin to be made ready; what comes right after that waits for the next. A
        // sender that is late with it may even take one that comes when the slot has begun.
        let len = u64::from(view.secured_len(stream));
        let over = |node| speed_from(network, node).reception(len);
        let min = over(stream.hop.from) + over(receiver) + network.forwarding_delay;
        let slots: Vec<&Slot> = self.of(stream.id).map(|(_, slot)| slot).collect();
        let ready = slots.iter().map(|slot| slot.start - slot.release).max().unwrap_or_default();
        let wait = distance_max(&slots, self.table.cluster_cycle) + ready + network.precision * 2;
        Ok(start.later(min, from_start.max + wait))
    }

    /// Slots of frames from a station, in the order of [`Self::uplink`]'s reservations.
    pub(super) fn slots_from(&self, node: NodeId) -> impl Iterator<Item = &Slot> {
        let is_from = move |slot: &&Slot| self.view.stream(slot.stream).is_some_and(|stream| stream.hop.from == node);
        self.table.slots.iter().filter(is_from)
    }

    /// Slots of frames to a station.
    pub(super) fn slots_to(&self, node: NodeId) -> impl Iterator<Item = &Slot> {
        let is_to =
            move |slot: &&Slot| self.view.stream(slot.stream).is_some_and(|stream| stream.hop.to.contains(&node));
        self.table.slots.iter().filter(is_to)
    }

    /// What sealing a stream costs its sender.
    fn seal(&self, stream: &EthernetStream<'_>) -> Duration {
        Jobs::new(self.view.plan, super::super::BOUNDS).sealing(stream.id, stream.hop)
    }

    /// The slots of a stream with their places in the table.
    pub(super) fn of(&self, stream: StreamId) -> impl Iterator<Item = (usize, &Slot)> {
        self.table.slots.iter().enumerate().filter(move |(_, slot)| slot.stream == stream)
    }
}

/// When a frame is received, counted from the start of its slot, if its first bit can be so `late`.
///
/// A frame that the switch holds until its dispatch leaves by the switch's clock; another one as its sender begins, whose
/// clock differs by the precision one way or the other.
pub(super) fn received_in_slot(
    network: &EthernetSegment,
    from: NodeId,
    receiver: NodeId,
    latency: Latency,
    late: Duration,
) -> Span {
    // The times of the table end with the gap behind a frame, a reception with its last bit. It counts on each link where a
    // frame is early, and on the last one in any case.
    let len = FRAME_LEN_MIN as u64;
    let gap = |node: NodeId| {
        let speed = speed_from(network, node);
        speed.occupancy(len) + speed.delay(len) - speed.reception(len)
    };
    let (min, max) = (latency.min - gap(from) - gap(receiver), latency.max - gap(receiver));
    match network.dispatch {
        Dispatch::Scheduled => Span { min, max },
        Dispatch::Immediate => Span { min: min - network.precision, max: max + network.precision + late },
    }
}

/// When the first bit of a frame that the switch still takes into its slot leaves its sender at the latest.
pub(super) fn first_bit_max(view: Ethernet<'_>, slot: &Slot) -> Duration {
    let Some(stream) = view.stream(slot.stream) else { return slot.start };
    let reception = speed_from(view.segment, stream.hop.from).reception(u64::from(view.secured_len(&stream)));
    (closes(view.segment, slot) - reception).max(slot.start)
}

/// When the first switch on its way takes a slot's frame at the latest.
pub(super) fn closes(network: &EthernetSegment, slot: &Slot) -> Duration {
    match network.dispatch {
        Dispatch::Scheduled => slot.dispatch - network.forwarding_delay,
        Dispatch::Immediate => slot.end,
    }
}

/// How long frames take on the link of a station.
pub(super) fn speed_from(network: &EthernetSegment, node: NodeId) -> LineSpeed {
    network.speed_over(network.link_of(node).parameters)
}

/// The longest distance of two slots of a stream.
fn distance_max(slots: &[&Slot], cycle: Duration) -> Duration {
    let starts = slots.iter().map(|slot| slot.start);
    let next = slots.iter().skip(1).map(|slot| slot.start).chain(slots.first().map(|slot| slot.start + cycle));
    starts.zip(next).map(|(start, next)| next - start).max().unwrap_or(cycle)
}
