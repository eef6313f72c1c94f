//! Frames in slots: when they leave their senders, and when they are received.
//!
//! A sender begins in its slot by its own clock, and later if its processor or its driver is late; then its frame meets what
//! the reservation of its link keeps away else. Behind the first switch everything keeps to the table, in one switch or over
//! several.
//!
//! Over the networks A and B a slot has a copy on each of its sender's two links. Both are handed over at once, and on each link
//! the copy meets what else goes over that one. By how much copies are apart at a receiver is what their ways can differ by, counted
//! from the start of their slot, which is the same for both.

use chronoseal_core::{Duration, NodeId, StreamId};
use chronoseal_media::ethernet::Integration;
use chronoseal_media::line::LineSpeed;
use chronoseal_media::schedule::{ScheduleTable, Slot};
use chronoseal_plan::{Dispatch, Ethernet, EthernetSegment, EthernetStream, NetworkName, relayed_frame_len};
use chronoseal_wire::ethernet::FRAME_LEN_MIN;

use super::super::demand::Periodic;
use super::super::line::{LineLoad, Queued, Reserved};
use super::super::processor::Jobs;
use super::super::{Arrivals, Span, Why};
use super::{control, virtual_links};
use crate::bounds::{Latency, Way, why_unbounded};

/// The slots of a segment with what its stations send, as far as `arrivals` tell.
pub(super) struct Slots<'a> {
    pub(super) view: Ethernet<'a>,
    pub(super) table: &'a ScheduleTable,
    pub(super) arrivals: &'a Arrivals,
    /// By slot: how much later than its clock says its first bit can leave.
    pub(super) late: Vec<Duration>,
    /// By network and slot: when its first bit leaves its sender at the latest, whether the switch still takes it or not.
    first_bits: [Vec<Duration>; 2],
}

impl<'a> Slots<'a> {
    pub(super) fn new(view: Ethernet<'a>, table: &'a ScheduleTable, arrivals: &'a Arrivals) -> Self {
        let none_yet = vec![Duration::ZERO; table.slots.len()];
        let mut slots =
            Self { view, table, arrivals, late: none_yet.clone(), first_bits: [none_yet.clone(), none_yet] };
        for node in view.stations() {
            for name in view.segment.wiring.networks() {
                let (line, own) = slots.uplink(*name, node);
                let ends = line.scheduled_ends();
                for (index, (reserved, end)) in own.iter().zip(line.reserved.iter().zip(ends)) {
                    let slot = &table.slots[*index];
                    let first_bit = end - reserved.frame_time;
                    slots.first_bits[usize::from(*name == NetworkName::B)][*index] = first_bit;
                    let late = first_bit.min(first_bit_max(view, slot)) - slot.start - view.segment.precision;
                    slots.late[*index] = slots.late[*index].max(late);
                }
            }
        }
        slots
    }

    /// When the first bit of a slot's frame leaves its sender into a network at the latest, whether the switch still takes it or not.
    pub(super) fn first_bit(&self, network: NetworkName, index: usize) -> Duration {
        self.first_bits[usize::from(network == NetworkName::B)][index]
    }

    /// The link from a station to its switch in one of the networks, and which slots of the table are in it.
    pub(super) fn uplink(&self, name: NetworkName, node: NodeId) -> (LineLoad, Vec<usize>) {
        let (view, network) = (self.view, self.view.segment);
        let link = network.link_in(name, node).parameters;
        let speed = network.speed_over(link);
        let driver = view.plan.nodes[node.index()].driver;
        let waits = network.integration != Integration::TimelyBlock;
        let wait = waits.then(|| view.integration_wait(link));
        let mut line = LineLoad { cycle: self.table.cluster_cycle, wait, ..LineLoad::default() };
        let is_on_it = |stream: &EthernetStream<'_>| stream.hop.from == node && goes_into(stream, name);
        for stream in view.streams().filter(is_on_it) {
            let Some(queue) = stream.class.queue() else { continue };
            let Ok(at) = self.released(&stream) else { continue };
            let at = at.later(driver.min, driver.max);
            let distance = self.arrivals.at(stream.id, view.id).distance;
            line.queued.push(self.queue(speed, &stream, queue, distance, at.jitter()));
        }
        line.queued.extend(control::of_master(view, node, speed));
        let mut slots = Vec::new();
        for (index, slot) in self.table.slots.iter().enumerate() {
            let Some(stream) = view.stream(slot.stream).filter(is_on_it) else { continue };
            let blocked = self.arrivals.blocked(view.id, index).unwrap_or_default();
            let seal = if stream.frame_in(slot.instance) == 0 { self.seal(&stream) } else { Duration::ZERO };
            let computed = (slot.release + blocked + seal).max(slot.start);
            line.reserved.push(Reserved {
                from: slot.start - network.precision,
                until: slot.start + network.precision,
                latest: computed + network.precision + driver.max,
                frame_time: network.frame_time_over(link, view.secured_len(&stream)),
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

    /// When the copies of a frame that has a slot are received, counted from the start of the slot; none without a slot.
    pub(super) fn transits(&self, stream: &EthernetStream<'_>, way: &Way) -> Vec<Span> {
        let late = self.of(stream.id).map(|(index, _)| self.late[index]).max().unwrap_or_default();
        received_in_slot(self.view.segment, stream.hop.from, way, late)
    }

    /// When a frame that has a slot is received over a way, whichever of its copies comes.
    pub(super) fn received(&self, stream: &EthernetStream<'_>, way: &Way) -> Result<Span, Why> {
        let from_start = self.transits(stream, way).into_iter().reduce(either);
        let from_start = from_start.ok_or(Why::NotScheduled(why_unbounded(stream)))?;
        let (view, network) = (self.view, self.view.segment);
        let arrival = self.arrivals.at(stream.id, view.id);
        let start = arrival.at?;
        if arrival.begins {
            return Ok(start.later(from_start.min, from_start.max));
        }
        // The newest frame is taken when the slot's begin to be made ready; what comes right after that waits for the next. A
        // sender that is late with it may even take one that comes when the slot has begun.
        let len = u64::from(view.shortest_len(stream));
        let over = |name: NetworkName, node| speed_from(network, name, node).reception(len);
        let names = stream.copies.networks().iter();
        let links = names.map(|name| over(*name, stream.hop.from) + over(*name, way.receiver));
        let min = links.min().unwrap_or_default() + network.forwarding_delay;
        let slots: Vec<&Slot> = self.firsts(stream).collect();
        let ready = slots.iter().map(|slot| slot.start - slot.release).max().unwrap_or_default();
        let wait = distance_max(&slots, self.table.cluster_cycle) + ready + network.precision * 2;
        Ok(start.later(min, from_start.max + wait))
    }

    /// Slots of frames from a station into one of the networks, in the order of [`Self::uplink`]'s reservations.
    pub(super) fn slots_from(&self, name: NetworkName, node: NodeId) -> impl Iterator<Item = &Slot> {
        let is_on_it = move |stream: EthernetStream<'_>| stream.hop.from == node && goes_into(&stream, name);
        self.table.slots.iter().filter(move |slot| self.view.stream(slot.stream).is_some_and(is_on_it))
    }

    /// True if a station sends or receives in slots.
    pub(super) fn are_at(&self, node: NodeId) -> bool {
        let is_its = |stream: EthernetStream<'_>| stream.hop.from == node || stream.hop.to.contains(&node);
        self.table.slots.iter().any(|slot| self.view.stream(slot.stream).is_some_and(is_its))
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

    /// The slots in which messages of a stream begin.
    pub(super) fn firsts(&self, stream: &EthernetStream<'_>) -> impl Iterator<Item = &Slot> {
        self.of(stream.id).map(|(_, slot)| slot).filter(|slot| stream.frame_in(slot.instance) == 0)
    }

    /// The slots of a stream with their places in the table.
    pub(super) fn of(&self, stream: StreamId) -> impl Iterator<Item = (usize, &Slot)> {
        self.table.slots.iter().enumerate().filter(move |(_, slot)| slot.stream == stream)
    }
}

/// True if frames of a stream, or copies of them, go into a network.
fn goes_into(stream: &EthernetStream<'_>, network: NetworkName) -> bool {
    stream.copies.networks().contains(&network)
}

/// All that two spans hold, and what is between them.
pub(super) fn either(one: Span, other: Span) -> Span {
    Span { min: one.min.min(other.min), max: one.max.max(other.max) }
}

/// When each copy of a frame is received over a way, counted from the start of its slot, if its first bit can be so `late`.
///
/// A frame that the switch holds until its dispatch leaves by the switch's clock; another one as its sender begins, whose
/// clock differs by the precision one way or the other.
pub(super) fn received_in_slot(network: &EthernetSegment, from: NodeId, way: &Way, late: Duration) -> Vec<Span> {
    // The times of the table end with the gap behind a frame, a reception with its last bit. It counts on each link where a
    // frame is early, and on the last one in any case.
    let len = FRAME_LEN_MIN as u64;
    let copy = |(name, latency): &(NetworkName, Latency)| {
        let gap = |node: NodeId| {
            let speed = speed_from(network, *name, node);
            speed.occupancy(len) + speed.delay(len) - speed.reception(len)
        };
        let (min, max) = (latency.min - gap(from) - gap(way.receiver), latency.max - gap(way.receiver));
        match network.dispatch {
            Dispatch::Scheduled => Span { min, max },
            Dispatch::Immediate => Span { min: min - network.precision, max: max + network.precision + late },
        }
    };
    way.copies.iter().map(copy).collect()
}

/// When the first bit of a frame that the switch still takes into its slot leaves its sender at the latest, on the link of the slot's
/// own turn.
pub(super) fn first_bit_max(view: Ethernet<'_>, slot: &Slot) -> Duration {
    let Some(stream) = view.stream(slot.stream) else { return slot.start };
    let speed = speed_from(view.segment, stream.copies.first_network(), stream.hop.from);
    let closes = closes(view.segment, slot.dispatch, slot.end);
    (closes - speed.reception(u64::from(view.secured_len(&stream)))).max(slot.start)
}

/// When a switch takes a frame at the latest that it passes on at `dispatch`, in a turn that is over at `end`.
pub(super) fn closes(network: &EthernetSegment, dispatch: Duration, end: Duration) -> Duration {
    match network.dispatch {
        Dispatch::Scheduled => dispatch - network.forwarding_delay,
        Dispatch::Immediate => end,
    }
}

/// How long frames take on the link of a station to one of the networks.
pub(super) fn speed_from(network: &EthernetSegment, name: NetworkName, node: NodeId) -> LineSpeed {
    network.speed_over(network.link_in(name, node).parameters)
}

/// The longest distance of two slots of a stream.
fn distance_max(slots: &[&Slot], cycle: Duration) -> Duration {
    let starts = slots.iter().map(|slot| slot.start);
    let next = slots.iter().skip(1).map(|slot| slot.start).chain(slots.first().map(|slot| slot.start + cycle));
    starts.zip(next).map(|(start, next)| next - start).max().unwrap_or(cycle)
}
