//! A segment of several switches, or of links with rates and delays of their own, as [`Routed`] wants it.
//!
//! Each stream takes its way over the switches as the medium does, and so do the frames that keep clocks together
//! ([`super::control`]). Streams in slots are no traffic there: they keep to the schedule table, and the links
//! are closed to all others around their frames.

use std::collections::{BTreeMap, BTreeSet};

use chronoseal_core::{Duration, NodeId, Priority, StreamId};
use chronoseal_media::ethernet::Integration;
use chronoseal_media::schedule::{ScheduleTable, Slot};
use chronoseal_plan::{
    Dispatch, Ethernet, EthernetStream, LinkParameters, NetworkName, PortEnd, StreamWay, Sync, VirtualLink,
    relayed_frame_len,
};

use super::super::line::Reserved;
use super::super::losses::{Cause, Risk};
use super::super::{Arrivals, HopBound, Span, Why, without_bound};
use super::losses::{clocks, in_slots, waiting_in_slots};
use super::ports;
use super::routed::{Closed, Regulated, Routed, RoutedLink, RoutedPort, RoutedStream, Solved};
use super::slots::Slots;
use super::{control, copies};
use super::{stream_filters, threats, virtual_links};
use crate::bounds::ways;

/// When frames are at their receivers.
pub(super) fn bounds(view: Ethernet<'_>, table: &ScheduleTable, arrivals: &Arrivals) -> Vec<HopBound> {
    let mut wired = match Wired::new(view, table, arrivals) {
        Ok(wired) => wired,
        Err(why) => return without_bound(view.plan, view.id, why),
    };
    let in_windows = wired.take_windows();
    let mut found = copies::joined(wired.routed.bounds());
    found.extend(in_windows);
    let late = |index: usize, _: &Slot| wired.slots.late[index];
    for (stream, ways) in view.streams().zip(ways(view, table, &late)) {
        if !stream.class.is_time_triggered() {
            continue;
        }
        let can_miss_slots = threats::can_miss_slots(view, &stream);
        found.extend(ways.into_iter().map(|way| HopBound {
            stream: stream.id,
            receiver: way.receiver,
            received: if can_miss_slots { Err(Why::ArrivalUnbounded) } else { wired.slots.received(&stream, &way) },
        }));
    }
    found
}

/// The segment's links, with what goes over them.
pub(super) fn routed(view: Ethernet<'_>, table: &ScheduleTable, arrivals: &Arrivals) -> Result<Routed, Why> {
    Ok(Wired::new(view, table, arrivals)?.routed)
}

/// What can lose a frame there although its latency has a bound, or spoil the clocks.
pub(super) fn risks(view: Ethernet<'_>, table: &ScheduleTable, arrivals: &Arrivals) -> Vec<Risk> {
    // Nothing is bounded else, so nothing is said that a loss could prove wrong.
    let Ok(mut wired) = Wired::new(view, table, arrivals) else { return Vec::new() };
    wired.take_windows();
    let Wired { routed, slots, .. } = &wired;
    let solved = routed.solved();
    let mut beacon: BTreeMap<NodeId, Duration> = BTreeMap::new();
    for index in (0..routed.streams.len()).filter(|index| routed.streams[*index].stream.is_none()) {
        let ends = solved.received(index);
        beacon.extend(ends.into_iter().filter_map(|(node, received)| Some((node, received.ok()?.max))));
    }
    let mut found = clocks(view, arrivals, &|node| beacon.get(&node).copied(), &|node| slots.are_at(node));
    found.extend(control_delay(view, routed, &solved));
    found.extend(in_slots(slots));
    found.extend(wired.closed_behind());
    found.extend(copies::too_late(view, arrivals, &wired.transits(&solved)));
    found.extend(stream_filters::risks(&wired, &solved));
    found.extend(threats::risks(&wired));
    for (index, sent) in routed.streams.iter().enumerate() {
        let Some(stream) = sent.stream.and_then(|id| view.stream(id)) else { continue };
        let made = (arrivals.at(stream.id, view.id), arrivals.busy(stream.hop.from));
        let entered = solved.entered(index).into_iter();
        // Once is enough: at the switch where it is worst.
        let policed = entered.filter_map(|entered| virtual_links::policed(view, &stream, made, entered));
        let worst = |risk: &Risk| match risk.cause {
            Cause::Policed { needed: Some(needed), .. } => needed,
            _ => Duration::from_ps(i64::MAX),
        };
        let policed = policed.max_by_key(worst);
        found.extend(policed.into_iter().flat_map(|risk| {
            let cause = risk.cause;
            sent.streams().map(move |stream| Risk { stream: Some(stream), cause: cause.clone(), ..risk })
        }));
    }
    found.extend(full_queues(&wired, &solved));
    found
}

/// The queues in front of links that are not known to have room for every frame, for every stream that waits there.
fn full_queues(wired: &Wired<'_>, solved: &Solved<'_>) -> Vec<Risk> {
    let (view, routed) = (wired.view, &wired.routed);
    let mut found = Vec::new();
    for (link, RoutedLink { from, to, port, .. }) in routed.links.iter().enumerate() {
        let passing = || routed.streams.iter().filter(|sent| sent.hops.iter().any(|(hop, _)| *hop == link));
        let in_slots = &wired.in_slots[link];
        let scheduled = (!in_slots.streams.is_empty()).then_some(Priority::TIME_TRIGGERED.0);
        let classes: BTreeSet<u8> = passing().map(|sent| sent.priority).chain(scheduled).collect();
        let is_shared = |class: &u8| view.segment.shares_queues && !port.rooms.contains_key(class);
        let (shared, own): (BTreeSet<u8>, BTreeSet<u8>) = classes.into_iter().partition(is_shared);
        for queue in own.into_iter().map(|class| BTreeSet::from([class])).chain([shared]) {
            let room = queue.iter().find_map(|class| port.rooms.get(class)).copied();
            let room = room.unwrap_or(view.segment.queue_len_max);
            let has_slots = scheduled.is_some_and(|class| queue.contains(&class));
            let bytes = solved.waiting_of(link, &|class| queue.contains(&class));
            let bytes = bytes.map(|bytes| bytes + if has_slots { in_slots.waiting } else { 0 });
            if bytes.is_some_and(|bytes| bytes <= room) {
                continue;
            }
            let cause = Cause::LinkFull { from: *from, to: *to, bytes, room };
            let queued = passing().filter(|sent| queue.contains(&sent.priority)).flat_map(RoutedStream::streams);
            let slots = in_slots.streams.iter().copied().filter(|_| has_slots);
            let streams: BTreeSet<StreamId> = queued.chain(slots).collect();
            let spoils_clocks =
                queue.contains(&Priority::PROTOCOL_CONTROL.0) && matches!(view.segment.sync, Sync::As6802 | Sync::Gptp);
            let streams = streams.into_iter().map(Some).chain(spoils_clocks.then_some(None));
            found.extend(streams.map(|stream| Risk { segment: view.id, stream, cause: cause.clone() }));
        }
    }
    found
}

/// Control frames of a cluster that slots can keep for longer than its devices wait for them, or that come too late to a switch whose
/// gates go by its clock.
fn control_delay(view: Ethernet<'_>, routed: &Routed, solved: &Solved<'_>) -> Option<Risk> {
    let has_slots = view.streams().any(|stream| stream.class.is_time_triggered());
    if view.segment.sync != Sync::As6802 || !(has_slots || view.has_gates()) {
        return None;
    }
    let is_control = |index: &usize| routed.streams[*index].priority == Priority::PROTOCOL_CONTROL.0;
    let control = (0..routed.streams.len()).filter(is_control);
    let delay = |index: usize| {
        let late = routed.streams[index].at.map_or(Duration::ZERO, |at| at.max);
        let received = solved.received(index).into_iter().map(|(_, received)| received);
        // What nothing bounds is told of the link where it waits.
        let ends = received.chain(solved.entered(index)).filter_map(Result::ok);
        ends.map(|span| span.max - late).max()
    };
    let (delay, limit) = (control.filter_map(delay).max()?, view.segment.max_transmission_delay);
    let cause = Cause::ControlDelay { delay, limit };
    (delay > limit).then_some(Risk { segment: view.id, stream: None, cause })
}

/// What scheduled frames are to a link.
#[derive(Clone, Debug, Default)]
pub(super) struct InSlots {
    /// Which streams have slots there.
    pub(super) streams: Vec<StreamId>,
    /// What they take of its queues at most `[byte]`.
    pub(super) waiting: u64,
}

/// The links of a segment, with what goes over them.
pub(super) struct Wired<'a> {
    pub(super) view: Ethernet<'a>,
    pub(super) arrivals: &'a Arrivals,
    /// The link from each station; that to it is the next one.
    pub(super) stations: BTreeMap<NodeId, usize>,
    /// The same of network B.
    second: BTreeMap<NodeId, usize>,
    /// The number of the first link between switches; each has two, the first from its first end.
    first_trunk: usize,
    pub(super) routed: Routed,
    pub(super) slots: Slots<'a>,
    /// By link.
    pub(super) in_slots: Vec<InSlots>,
    /// By link: the port that sends on it.
    pub(super) ends: Vec<PortEnd>,
    /// The ports by which frames of streams leave.
    used: BTreeSet<PortEnd>,
}

impl<'a> Wired<'a> {
    fn new(view: Ethernet<'a>, table: &'a ScheduleTable, arrivals: &'a Arrivals) -> Result<Self, Why> {
        let network = view.segment;
        let forwarding = network.forwarding_delay;
        let jitter = network.forwarding_jitter;
        let routed = Routed {
            overhead: network.counted_bytes(),
            // A draw is never below its least, and no frame overtakes another that came by its link.
            forwarding: Span { min: forwarding + jitter.min, max: forwarding + jitter.max.max(jitter.min) },
            cycle: control::cycle_min(view, table),
            links: Vec::new(),
            streams: Vec::new(),
            preemptable: BTreeSet::new(),
            regulated: BTreeSet::new(),
        };
        if control::gates_are_anywhere(view) {
            return Err(Why::TimeAwareClocks);
        }
        let classes = ports::classes(view).ok_or(Why::PortsDiffer)?;
        let is_filtered = !network.stream_filters.filters.is_empty() || threats::are_there(view);
        let has_copies = network.wiring.has_networks() || view.streams().any(|stream| stream.copies.are_several());
        if is_filtered && has_copies {
            return Err(Why::FilteredCopies);
        }
        if network.dispatch == Dispatch::Immediate && view.streams().any(|stream| stream.class.is_time_triggered()) {
            return Err(Why::ImmediateDispatch);
        }
        let has_slots = view.streams().any(|stream| stream.class.is_time_triggered());
        if network.integration != Integration::TimelyBlock && has_slots && threats::are_there(view) {
            return Err(Why::IntegrationUnderAttack);
        }
        if stream_filters::moves_classes(view, |priority| classes.of_priority[usize::from(priority.min(7))]) {
            return Err(Why::InternalPriority);
        }
        if threats::are_there(view) && virtual_links::are_shared(view) {
            return Err(Why::ThreatenedShares);
        }
        let slots = Slots::new(view, table, arrivals);
        let (stations, second, in_slots, ends) = (BTreeMap::new(), BTreeMap::new(), Vec::new(), Vec::new());
        let used = ports::used_ends(view);
        let mut wired = Self { view, arrivals, stations, second, first_trunk: 0, routed, slots, in_slots, ends, used };
        for node in view.stations() {
            let link = network.link_of(node);
            let switch = wired.switch(link.switch);
            wired.stations.insert(node, wired.routed.links.len());
            let ends = [PortEnd::Station(node), PortEnd::ToStation(node)];
            wired.link([node, switch], [true, false], link.parameters, ends);
        }
        for link in &network.wiring.second {
            let switch = wired.switch(link.switch);
            wired.second.insert(link.node, wired.routed.links.len());
            let ends = [PortEnd::Station(link.node), PortEnd::ToStation(link.node)];
            wired.link([link.node, switch], [true, false], link.parameters, ends);
        }
        wired.first_trunk = wired.routed.links.len();
        for trunk in &network.wiring.trunks {
            let [one, other] = trunk.ends;
            let ends = [PortEnd::Between(one, other), PortEnd::Between(other, one)];
            wired.link(trunk.ends.map(|end| wired.switch(end)), [true, true], trunk.parameters, ends);
        }
        wired.in_slots = vec![InSlots::default(); wired.routed.links.len()];
        for node in view.stations() {
            for name in network.wiring.networks() {
                wired.uplink(*name, node);
            }
        }
        for stream in view.streams() {
            if stream.class.is_time_triggered() {
                wired.scheduled(&stream)?;
                continue;
            }
            let ways = view.ways(&stream).map_err(|_| Why::NotReached)?;
            let priority = stream.class.priority();
            let class = match stream.class.virtual_link() {
                Some(_) => priority.0,
                None => classes.of_priority[usize::from(priority.0.min(7))],
            };
            // Those that share a virtual link are one flow, which is that of the first of them.
            let sharers: Vec<EthernetStream<'_>> = view.sub_virtual_links(&stream).collect();
            if sharers.first().is_some_and(|first| first.id != stream.id) {
                continue;
            }
            for way in &ways {
                let sent = wired.sent(&stream, class, way).ok_or(Why::NotReached)?;
                wired.routed.streams.push(wired.shared(sent, &sharers));
            }
        }
        (wired.routed.preemptable, wired.routed.regulated) = (classes.preemptable, classes.regulated);
        match network.sync {
            Sync::Beacon => wired.beacon(),
            Sync::As6802 => wired.cluster(),
            Sync::Gptp => wired.time_aware()?,
            Sync::None | Sync::Ideal => {}
        }
        let intruders = threats::intruders(&wired);
        wired.routed.streams.extend(intruders);
        Ok(wired)
    }

    /// A switch as messages call it.
    fn switch(&self, switch: u16) -> NodeId {
        self.view.plan.own_node(self.view.id, usize::from(switch))
    }

    /// Both directions of a link, the first from its first end. `enters` says which of them lead into a switch.
    fn link(&mut self, [one, other]: [NodeId; 2], enters: [bool; 2], parameters: LinkParameters, ends: [PortEnd; 2]) {
        let speed = self.view.segment.speed_over(parameters);
        let [there, back] = ends.map(|end| {
            if !self.used.contains(&end) {
                return RoutedPort::default();
            }
            let wander = control::wander(self.view, end, &speed);
            ports::port(self.view, end, wander.as_ref())
        });
        let link =
            |from, to, enters_switch, port| RoutedLink { from, to, speed, enters_switch, closed: Vec::new(), port };
        self.routed.links.extend([link(one, other, enters[0], there), link(other, one, enters[1], back)]);
        self.ends.extend(ends);
    }

    /// The links from stations into a network.
    pub(super) fn stations_in(&self, network: NetworkName) -> &BTreeMap<NodeId, usize> {
        match network {
            NetworkName::A => &self.stations,
            NetworkName::B => &self.second,
        }
    }

    /// What the slots of a station are to its link into a network.
    fn uplink(&mut self, name: NetworkName, node: NodeId) {
        let Some(&link) = self.stations_in(name).get(&node) else { return };
        let (line, slots) = self.slots.uplink(name, node);
        let ends = line.scheduled_ends();
        // The instant at which a reservation ends belongs to it.
        let moves = control::slots_move(self.view);
        let closed = |(slot, end): (&Reserved, &Duration)| Closed {
            from: slot.from - moves,
            until: (*end).max(slot.until + Duration::from_ps(1)) + moves,
        };
        self.routed.links[link].closed = line.reserved.iter().zip(&ends).map(closed).collect();
        self.in_slots[link] = InSlots {
            streams: slots.iter().map(|slot| self.slots.table.slots[*slot].stream).collect(),
            waiting: waiting_in_slots(self.view, self.slots.slots_from(name, node), &line),
        };
    }

    /// By stream and receiver: what each copy of a frame takes, counted from an instant that is the same for all of them; `None` for
    /// one that nothing bounds.
    fn transits<'s>(&'s self, solved: &'s Solved<'s>) -> impl Fn(StreamId, NodeId) -> Vec<Option<Span>> + 's {
        let late = |index: usize, _: &Slot| self.slots.late[index];
        let mut in_slots: BTreeMap<(StreamId, NodeId), Vec<Option<Span>>> = BTreeMap::new();
        for (stream, ways) in self.view.streams().zip(ways(self.view, self.slots.table, &late)) {
            for way in ways.iter().filter(|_| stream.class.is_time_triggered()) {
                let transits = self.slots.transits(&stream, way).into_iter().map(Some).collect();
                in_slots.insert((stream.id, way.receiver), transits);
            }
        }
        move |stream, node| in_slots.get(&(stream, node)).cloned().unwrap_or_else(|| solved.transits(stream, node))
    }

    /// What a stream's slots are to the links behind switches.
    fn scheduled(&mut self, stream: &EthernetStream<'_>) -> Result<(), Why> {
        let len = u64::from(self.view.secured_len(stream));
        let hops = self.view.hops(stream).map_err(|_| Why::NotReached)?;
        let moves = control::slots_move(self.view);
        for (hop, (name, at)) in hops.iter().enumerate() {
            let network = self.view.segment;
            let stations = self.stations_in(*name);
            let to_nodes = at
                .to
                .iter()
                .filter_map(|node| Some((stations.get(node)? + 1, network.link_in(*name, *node).parameters)));
            let trunks = &network.wiring.trunks;
            let onward = at.onward.iter().map(|trunk| (self.onward(*trunk, at.switch), trunks[*trunk].parameters));
            for (link, parameters) in to_nodes.chain(onward).collect::<Vec<_>>() {
                let occupancy = self.routed.links[link].speed.occupancy(len).max(Duration::from_ps(1));
                let over = self.view.integration_wait(parameters) + occupancy;
                let turns = self.slots.of(stream.id).filter_map(|(slot, _)| self.slots.table.turn(slot, hop));
                let closed =
                    turns.map(|turn| Closed { from: turn.dispatch - moves, until: turn.dispatch + over + moves });
                self.routed.links[link].closed.extend(closed);
                let in_slots = &mut self.in_slots[link];
                in_slots.streams.push(stream.id);
                // The table keeps its frames apart, so that they never wait for each other, but for what a clock is set on meanwhile.
                let at_once = if moves > Duration::ZERO { 2 } else { 1 };
                in_slots.waiting = in_slots.waiting.max(len * at_once);
            }
        }
        Ok(())
    }

    /// Frames that can come to a switch behind the first after that should pass them on. Clocks of switches, too, differ by the
    /// precision at most.
    fn closed_behind(&self) -> Vec<Risk> {
        let (view, network) = (self.view, self.view.segment);
        let mut found = Vec::new();
        for stream in view.streams().filter(|stream| stream.class.is_time_triggered()) {
            let len = u64::from(view.secured_len(&stream));
            for (hop, (_, at)) in view.hops(&stream).unwrap_or_default().iter().enumerate() {
                let Some(trunk) = at.trunk else { continue };
                let link = network.wiring.trunks[trunk].parameters;
                let reception = network.speed_over(link).reception(len) + view.integration_wait(link);
                let turns = self.slots.of(stream.id).filter_map(|(slot, _)| self.slots.table.turn(slot, hop));
                let by = turns
                    .map(|turn| turn.start + reception + network.precision + network.forwarding_delay - turn.dispatch);
                if let Some(by) = by.max().filter(|by| *by > Duration::ZERO) {
                    found.push(Risk { segment: view.id, stream: Some(stream.id), cause: Cause::SlotClosed { by } });
                }
            }
        }
        found
    }

    /// The link from a switch over a link between switches.
    pub(super) fn onward(&self, trunk: usize, from: u16) -> usize {
        let is_back = self.view.segment.wiring.trunks[trunk].ends[0] != from;
        self.first_trunk + 2 * trunk + usize::from(is_back)
    }

    /// A stream, or one of its copies, over its tree of links; `None` if an end has no link.
    fn sent(&self, stream: &EthernetStream<'_>, class: u8, way: &StreamWay) -> Option<RoutedStream> {
        let view = self.view;
        let stations = self.stations_in(way.network);
        let mut hops = vec![(*stations.get(&stream.hop.from)?, None)];
        let mut ends = Vec::new();
        // By link between switches: the hop over it.
        let mut over: BTreeMap<usize, usize> = BTreeMap::new();
        for at in &way.hops {
            let came_by = match at.trunk {
                None => 0,
                Some(trunk) => *over.get(&trunk)?,
            };
            for node in &at.to {
                ends.push((*node, hops.len()));
                hops.push((stations.get(node)? + 1, Some(came_by)));
            }
            for trunk in &at.onward {
                over.insert(*trunk, hops.len());
                hops.push((self.onward(*trunk, at.switch), Some(came_by)));
            }
        }
        let driver = view.plan.nodes[stream.hop.from.index()].driver;
        let later = threats::later(view, stream);
        let arrival = self.arrivals.at(stream.id, view.id);
        let len_max = view.secured_len(stream);
        // A PDU that counts by itself is alone in its frame; a frame of several takes no longer than one for each.
        let counted = view.plan.contained_len_max(stream.id);
        let counted =
            counted.filter(|_| self.arrivals.counts_pdus(stream.id, view.id)).map(|len| self.holding(stream, len));
        let gap = virtual_links::gap_of_frames(view, stream);
        // Of a message that the distance counts all frames come at once.
        let counted = counted
            .map_or_else(|| if gap.is_some() { u64::from(len_max) } else { view.message_len(stream) }, u64::from);
        let regulated = |link: &VirtualLink| {
            let busy = self.arrivals.busy(stream.hop.from).ok()?;
            let gap = virtual_links::shortest_gap(view, stream, link);
            Some(Regulated { gap, jitter: driver.max - driver.min + busy + later })
        };
        Some(RoutedStream {
            name: view.plan.streams[stream.id.index()].name.clone(),
            stream: Some(stream.id),
            priority: class,
            at: self.slots.released(stream).map(|at| at.later(driver.min, driver.max + later)),
            distance: gap.unwrap_or(arrival.distance),
            committed: Some(ports::bucket(view, stream)),
            regulated: stream.class.virtual_link().and_then(regulated),
            sharers: Vec::new(),
            counted_len: counted,
            len_max: u64::from(len_max),
            len_min: self.shortest(stream),
            hops,
            ends,
        })
    }

    /// A frame with so much of PDUs of several streams and their headers `[byte]`.
    fn holding(&self, stream: &EthernetStream<'_>, len: u32) -> u32 {
        let overhead = self.view.protection_of(stream).overhead_bytes();
        relayed_frame_len(len + stream.trailer_len(), overhead) + overhead + stream.tag_len()
    }

    /// The shortest frame of a stream: of those that hold PDUs of several streams, one with the shortest PDU alone `[byte]`.
    fn shortest(&self, stream: &EthernetStream<'_>) -> u64 {
        let alone = self.view.plan.container_len_min(stream.id).map(|len| self.holding(stream, len));
        u64::from(alone.unwrap_or_else(|| self.view.shortest_len(stream)))
    }

    /// A stream that shares its virtual link with others, as the flow of all of them: whatever they bring, their regulator lets one
    /// frame go in each gap. By the time at which it does its frames are later than it by what their sender takes.
    fn shared(&self, sent: RoutedStream, sharers: &[EthernetStream<'_>]) -> RoutedStream {
        let view = self.view;
        let Some(first) = sharers.first() else { return sent };
        let driver = view.plan.nodes[first.hop.from.index()].driver;
        let later = self.arrivals.busy(first.hop.from).map(|busy| driver.max + busy);
        let handed = |stream: &EthernetStream<'_>| {
            let at = self.slots.released(stream)?;
            Ok(at.later(driver.min, driver.max))
        };
        let lens = || sharers.iter().map(|stream| u64::from(view.secured_len(stream)));
        let len_max = lens().max().unwrap_or(sent.len_max);
        let shortest = sharers.iter().map(|stream| self.shortest(stream));
        RoutedStream {
            at: later.map(|later| Span { min: driver.min, max: later }),
            distance: sent.regulated.map_or(sent.distance, |regulated| regulated.gap),
            counted_len: len_max,
            len_max,
            len_min: shortest.min().unwrap_or(sent.len_min),
            name: sharers.iter().map(|stream| stream.stream.name.as_str()).collect::<Vec<_>>().join(" + "),
            sharers: sharers.iter().map(|stream| (stream.id, handed(stream))).collect(),
            ..sent
        }
    }
}
